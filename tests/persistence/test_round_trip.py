"""A saved estimator is the same after it is loaded, for every kind of estimator."""

import io
import json
import zipfile
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import momentree as mt
from momentree import BernoulliMixture, ClusterTree, PoissonMixture, SingleTopicModel, TopicTree
from momentree.exceptions import InvalidDataError, InvalidParameterError, ReadError
from momentree.messages import Message

from ..raising import raises
from .cases import CASES, COUNTS, case

METHODS = ("predict", "predict_proba", "apply", "score_samples", "transform")


def assert_equal(a, b):
    """Compare fitted attributes, arrays within objects included."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b)
    elif isinstance(a, list | tuple):
        for one, other in zip(a, b, strict=True):
            assert_equal(one, other)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_equal(a[key], b[key])
    elif hasattr(a, "__dict__") and not isinstance(a, type | Message):
        nodes = ("parent", "children")
        names = [f.name for f in fields(a)] if is_dataclass(a) else vars(a)  # caches excluded
        assert is_dataclass(a) or vars(a).keys() == vars(b).keys()
        assert_equal(*({k: getattr(x, k) for k in names if k not in nodes} for x in (a, b)))
    else:
        assert a == b or (a != a and b != b)


LONG = {  # much as others are
    *("topics by depth", "topics without limit", "three words", "clusters by rules"),
    *("topic model by moments", "one topic", "Poisson by moments", "mixed columns by moments"),
    *("Gaussians, tied", "Gaussians, spherical", "tied clusters", "diag clusters"),
    "edited clusters of counts data, refine=em",
    "edited clusters of non_negative data, refine=em",
    "edited clusters of gaps data, refine=splits",
}
assert CASES.keys() >= LONG


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in CASES]
)
def test_a_round_trip_changes_nothing(name, tmp_path):
    model, X = case(name)
    config = {"vocabulary": ["a", "è"], "lowercase": True, "n": None}
    model.save(tmp_path / "a.mt", vectorizer_config=config)
    again = mt.load(tmp_path / "a.mt")
    assert type(again) is type(model)
    assert again.vectorizer_config_ == config
    for method in METHODS:
        if hasattr(model, method):
            found = [getattr(m, method)(X) for m in (model, again)]
            np.testing.assert_array_equal(*found)
    params = model.get_params()
    if not isinstance(params["random_state"], int):
        params["random_state"] = None
    if callable(params.get("decomposition")):
        params["decomposition"] = params["decomposition"].__name__
    assert again.get_params() == params
    state = {key: value for key, value in vars(model).items() if key not in params}
    for key, value in state.items():
        found = vars(again)[key]
        if key == "diagnostics_":
            assert found.keys() == value.keys()
        else:
            assert_equal(found, value)
    assert vars(again).keys() == {*vars(model), "vectorizer_config_"}
    if hasattr(model, "tree_"):
        assert again.to_dict() == model.to_dict()
        assert again.to_newick() == model.to_newick()
        pd.testing.assert_frame_equal(again.to_frame(), model.to_frame())
        for node, other in zip(again.tree_.nodes(), model.tree_.nodes(), strict=True):
            np.testing.assert_array_equal(node.samples, other.samples)
    again.save(tmp_path / "b.mt", vectorizer_config=config)
    assert (tmp_path / "b.mt").read_bytes() == (tmp_path / "a.mt").read_bytes()


def test_a_loaded_tree_is_edited_like_the_saved_one(tmp_path):
    model, X = case("edited clusters of real data, refine=em")
    model.save(tmp_path / "a.mt")
    one, other = (m.split_group(X, 0) for m in (model, mt.load(tmp_path / "a.mt")))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("estimator", [TopicTree(3), SingleTopicModel(3)])
def test_names_of_a_data_frame_are_kept(estimator, tmp_path):
    frame = pd.DataFrame(COUNTS.toarray(), columns=[f"w{j}" for j in range(30)])
    estimator.fit(frame).save(tmp_path / "a.mt")
    again = type(estimator).load(tmp_path / "a.mt")
    assert again.feature_names_in_.tolist() == frame.columns.tolist()
    again.predict(frame)
    with raises(InvalidDataError, "refused_by_sklearn"):
        again.predict(frame.rename(columns={"w0": "other"}))


def test_names_may_hold_what_no_text_file_can(tmp_path):
    """JSON gives words with one half of a pair of surrogates, and such a model is saved."""
    names = ["\ud800" + str(j) for j in range(30)]
    SingleTopicModel(2).fit(COUNTS, feature_names=names).save(tmp_path / "m.mt")
    assert SingleTopicModel.load(tmp_path / "m.mt").vocabulary_.tolist() == names


def test_a_constant_column_of_real_data_is_kept(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 4))
    X[:20] += 5
    X[:, 2] = 3
    tree = ClusterTree(max_leaf_nodes=2).fit(X)
    tree.save(tmp_path / "t.mt")
    again = ClusterTree.load(tmp_path / "t.mt")
    np.testing.assert_array_equal(again.predict_proba(X), tree.predict_proba(X))


def test_the_same_model_gives_the_same_bytes_without_pickle(tmp_path):
    paths = [tmp_path / name for name in ("a.mt", "b.mt")]
    for path in paths:
        TopicTree(4).fit(COUNTS).save(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    with zipfile.ZipFile(paths[0]) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".npy"):
                np.load(io.BytesIO(content), allow_pickle=False)
            else:
                assert name == "manifest.json"
                json.loads(content)


def test_each_class_loads_its_own(tmp_path):
    path = tmp_path / "m.mt"
    case("topic model")[0].save(path)
    for cls in (PoissonMixture, BernoulliMixture, TopicTree):
        with raises(ReadError, "other_model", found="SingleTopicModel", expected=cls.__name__):
            cls.load(path)
    case("clusters by rules")[0].save(path)
    with raises(ReadError, "other_model", found="ClusterTree"):
        TopicTree.load(path)


def test_a_function_of_the_user_is_refused(tmp_path):
    def own(*arguments, **options):
        return mt.decomposition.svtd(*arguments, **options)

    model = SingleTopicModel(3, refine=None, decomposition=own).fit(COUNTS)
    with raises(InvalidParameterError, "own_decomposition", parameter="decomposition"):
        model.save(tmp_path / "m.mt")
    assert list(tmp_path.iterdir()) == []


def test_an_estimator_that_is_not_fitted_is_not_saved(tmp_path):
    for estimator in (TopicTree(), BernoulliMixture()):
        with pytest.raises(NotFittedError):
            estimator.save(tmp_path / "m.mt")
