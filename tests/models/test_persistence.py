"""Saved flat models: the same after a round trip, and damage is told, never guessed at."""

import io
import json
import math
import zipfile

import numpy as np
import pandas as pd
import pytest

from momentree import LatentDirichletAllocation, PoissonMixture, SingleTopicModel, TopicTree
from momentree.datasets import make_single_topic
from momentree.decomposition import svtd
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.models import persistence

MODELS = [
    SingleTopicModel(4),
    SingleTopicModel(4, refine=None),
    SingleTopicModel(4, refine=None, decomposition=svtd),
    SingleTopicModel(3, log_scaling=None, weighting="uniform", random_state=3),
    SingleTopicModel(1),
    PoissonMixture(4),
    LatentDirichletAllocation(3),
    LatentDirichletAllocation(3, refine=None, alpha0=0.5, inference="gibbs"),
    PoissonMixture(4, refine=None, random_state=np.random.RandomState(0)),
]


@pytest.fixture(scope="module")
def X():
    return make_single_topic(150, 30, 4, length=40, exponent=0.5, random_state=0).X


@pytest.fixture
def saved(X, tmp_path):
    path = tmp_path / "model.mt"
    SingleTopicModel(4).fit(X).save(path)
    return path


def rewritten(path, change):
    """Write a saved model anew, with its manifest and arrays changed."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(content.pop("manifest.json"))
    arrays = {name[:-4]: np.load(io.BytesIO(data)) for name, data in content.items()}
    change(manifest, arrays)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array)
            archive.writestr(f"{name}.npy", buffer.getvalue())


@pytest.mark.parametrize("model", MODELS)
def test_a_round_trip_changes_nothing(X, tmp_path, model):
    names = ["città", *(f"word {j}" for j in range(1, 30))]
    model.fit(X[:100], feature_names=names).save(tmp_path / "a.mt")
    again = type(model).load(tmp_path / "a.mt")
    for method in ("predict", "predict_proba", "score_samples", "transform"):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
    for name in ("weights_", "components_", "labels_", "vocabulary_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.top_words() == model.top_words()
    assert again.bic(X) == model.bic(X)
    assert set(vars(again)) == {*vars(model), "vectorizer_config_"}
    assert set(again.diagnostics_) == set(model.diagnostics_)
    assert (again.sample(20)[0] != model.sample(20)[0]).nnz == 0
    assert isinstance(persistence.load_any(tmp_path / "a.mt"), type(model))
    again.save(tmp_path / "b.mt")
    assert (tmp_path / "b.mt").read_bytes() == (tmp_path / "a.mt").read_bytes()


def test_names_of_a_data_frame_and_the_vectorizer_are_kept(X, tmp_path):
    frame = pd.DataFrame(X.toarray(), columns=[f"w{j}" for j in range(30)])
    config = {"vocabulary": ["a", "è"], "lowercase": True, "n": None}
    SingleTopicModel(3).fit(frame).save(tmp_path / "m.mt", vectorizer_config=config)
    again = SingleTopicModel.load(tmp_path / "m.mt")
    assert again.vectorizer_config_ == config
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(frame.rename(columns={"w0": "other"}))


def test_names_may_hold_what_no_text_file_can(X, tmp_path):
    """JSON gives words with one half of a pair of surrogates, and such a model is saved."""
    names = ["\ud800" + str(j) for j in range(X.shape[1])]
    model = SingleTopicModel(2).fit(X, feature_names=names)
    model.save(tmp_path / "m.mt")
    assert SingleTopicModel.load(tmp_path / "m.mt").vocabulary_.tolist() == names


@pytest.mark.parametrize("name", ["warm_start", "verbose"])
def test_switches_are_true_or_false(X, name):
    """What is neither would be in the parameters, and so in the file."""
    with pytest.raises(InvalidParameterError, match=f"{name}=.*True or False"):
        SingleTopicModel(2, **{name: np.array([3])}).fit(X)


def test_a_function_of_the_user_is_refused(X, tmp_path):
    def own(*arguments, **options):
        return svtd(*arguments, **options)

    model = SingleTopicModel(3, refine=None, decomposition=own).fit(X)
    with pytest.raises(InvalidParameterError, match="set it to the name"):
        model.save(tmp_path / "m.mt")
    assert list(tmp_path.iterdir()) == []


def test_each_kind_loads_its_own(X, saved, tmp_path):
    with pytest.raises(ReadError, match="holds a SingleTopicModel, not a PoissonMixture"):
        PoissonMixture.load(saved)
    with pytest.raises(ReadError, match=r"not a momentree\.TopicTree"):
        TopicTree.load(saved)
    TopicTree(2).fit(X).save(tmp_path / "tree.mt")
    with pytest.raises(ReadError, match=r"not a momentree\.FlatModel"):
        SingleTopicModel.load(tmp_path / "tree.mt")
    assert isinstance(persistence.load_any(tmp_path / "tree.mt"), TopicTree)


def longer(name):
    def change(manifest, arrays):
        arrays[name] = np.concatenate([arrays[name], arrays[name]])

    return change


def set_in(part, name, value):
    def change(manifest, arrays):
        (manifest if part is None else manifest[part])[name] = value

    return change


DAMAGE = {
    "kind": set_in(None, "kind", "BaseEstimator"),
    "kind of a function": set_in(None, "kind", "__all__"),
    "version": set_in(None, "format_version", 99),
    "parameter": set_in("params", "n_components", -1),
    "unknown parameter": set_in("params", "nonsense", 1),
    "method": set_in("state", "predict", 1),
    "dunder": set_in("state", "__class__", 1),
    "no posterior": lambda manifest, arrays: manifest["state"].pop("posterior_"),
    "class": lambda manifest, arrays: manifest["state"]["posterior_"].update(
        parameters="Whitening"
    ),
    "missing array": lambda manifest, arrays: arrays.pop("components_"),
    "components": longer("components_"),
    "centers": longer("posterior_.centers"),
    "weights": lambda manifest, arrays: arrays.update(weights_=2.0 * arrays["weights_"]),
    "words": lambda manifest, arrays: manifest["state"]["vocabulary_"]["words"].pop(),
    "labels": lambda manifest, arrays: arrays.update(labels_=arrays["labels_"] + 9),
    "labels that are no numbers": set_in("state", "labels_", "many"),
    "infinite": lambda manifest, arrays: arrays["components_"].fill(np.inf),
    "no diagnostics": lambda manifest, arrays: manifest["state"].pop("diagnostics_"),
    "diagnostics as a list": set_in("state", "diagnostics_", {"items": []}),
    "advice as a number": lambda manifest, arrays: manifest["state"]["diagnostics_"][
        "mapping"
    ].update(warnings=3),
    "too large": lambda manifest, arrays: arrays["components_"].fill(1e200),
    "components below zero": lambda manifest, arrays: arrays["components_"].__imul__(-1),
    "complex": lambda manifest, arrays: arrays.update(components_=arrays["components_"] + 1j),
    "weights below zero": lambda manifest, arrays: arrays["posterior_.centers"].__imul__(-1),
    "version as text": set_in(None, "format_version", "1"),
    "version without number": set_in(None, "format_version", math.nan),
    "version below one": set_in(None, "format_version", 0),
    "settings as text": set_in(None, "vectorizer", "records"),
    "iterations as text": set_in("state", "n_iter_", "3"),
    "iterations as a list": set_in("state", "n_iter_", {"items": []}),
    "converged in numbers": set_in("state", "converged_", 1),
    "length without number": set_in("state", "mean_count_", math.nan),
    "words that are numbers": lambda manifest, arrays: manifest["state"]["vocabulary_"][
        "words"
    ].__setitem__(0, 3),
    "features": set_in("state", "n_features_in_", 7),
}


@pytest.mark.parametrize("change", DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_is_told(saved, change):
    rewritten(saved, change)
    with pytest.raises(ReadError, match=r"model\.mt"):
        SingleTopicModel.load(saved)


def test_a_cut_file_is_told_at_any_length(saved):
    whole = saved.read_bytes()
    for n in np.linspace(0, len(whole) - 1, 12).astype(int):
        saved.write_bytes(whole[:n])
        with pytest.raises(ReadError):
            persistence.load_any(saved)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(ReadError, match="no such file"):
        SingleTopicModel.load(tmp_path / "none.mt")


def test_nothing_is_left_where_it_cannot_be_written(X, tmp_path):
    with pytest.raises(OSError, match="no such folder"):
        SingleTopicModel(2).fit(X).save(tmp_path / "none" / "m.mt")
    with pytest.raises(TypeError):
        SingleTopicModel(2).fit(X).save(tmp_path / "m.mt", vectorizer_config={"a": object()})
    assert list(tmp_path.iterdir()) == []


def test_concentrations_without_likelihood_are_refused(X, tmp_path):
    path = tmp_path / "lda.mt"
    LatentDirichletAllocation(2, max_iter=1).fit(X).save(path)
    rewritten(path, lambda manifest, arrays: arrays["posterior_.alpha"].fill(1e308))
    with pytest.raises(ReadError, match=r"lda\.mt"):
        LatentDirichletAllocation.load(path)
