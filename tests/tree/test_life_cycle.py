"""Fitting again, interruption, copies, other processes, pipelines, data on disk."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from momentree import SingleTopicModel, TopicTree
from momentree.datasets import make_single_topic

both = pytest.mark.parametrize("refine", ["em", None])


@pytest.fixture(scope="module")
def X():
    return make_single_topic(120, 30, 4, length=40, exponent=0.5, random_state=0).X


@both
def test_a_second_fit_forgets_the_first(X, refine):
    tree = TopicTree(4, refine=refine).fit(X, feature_names=[f"w{j}" for j in range(30)])
    tree.fit(X[:50, :20])
    fresh = TopicTree(4, refine=refine).fit(X[:50, :20])
    assert tree.to_dict() == fresh.to_dict()
    np.testing.assert_array_equal(tree.labels_, fresh.labels_)
    np.testing.assert_array_equal(tree.vocabulary_, np.arange(20).astype(str))
    assert tree.n_features_in_ == 20


def test_a_tree_and_a_flat_model_can_be_exchanged(X):
    for model in (TopicTree(3), SingleTopicModel(3)):
        model.fit(X)
        assert model.components_.shape == (3, 30)
        assert model.transform(X).shape == (120, 3)
        np.testing.assert_allclose(model.weights_.sum(), 1.0)
        np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
        for words, center in zip(model.top_words(5), model.components_, strict=True):
            assert len(words) == 5
            assert (center[[int(word) for word in words]] > 0).all()
        most = [[row[0]] for row in np.argsort(-model.components_, axis=1).astype(str)]
        assert model.top_words(1, lam=1.0) == most
        assert len(model.names_) == 3


def interrupt(*args, **kwargs):
    raise KeyboardInterrupt


def test_a_fit_interrupted_anywhere_changes_nothing(X, monkeypatch):
    first, again = TopicTree(3), TopicTree(3).fit(X[:, :20])
    before = again.to_dict()
    for at in (
        "tree.topic_growth.log_scale",
        "tree.topic_growth.TreeGrowth",
        "tree.topic_tree.build_tree",
        "estimators.names.name_by_words",
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"momentree.{at}", interrupt)
            for tree in (first, again):
                with pytest.raises(KeyboardInterrupt):
                    tree.fit(X)
        with pytest.raises(NotFittedError):
            first.predict(X)
        assert again.to_dict() == before
        np.testing.assert_array_equal(again.predict(X[:, :20]), again.labels_)
    for tree in (first, again):
        assert tree.fit(X).n_leaves_ == 3


@both
@pytest.mark.parametrize("copy", [lambda tree: pickle.loads(pickle.dumps(tree)), "joblib"])
def test_copies_predict_alike(X, tmp_path, refine, copy):
    tree = TopicTree(4, refine=refine).fit(X)
    if copy == "joblib":
        joblib.dump(tree, tmp_path / "tree.joblib")
        again = joblib.load(tmp_path / "tree.joblib")
    else:
        again = copy(tree)
    np.testing.assert_array_equal(tree.predict_proba(X), again.predict_proba(X))
    assert again.to_dict() == tree.to_dict()
    assert again.leaves_[0] is next(iter(again.tree_.leaves()))  # one tree, not two


def test_a_clone_has_the_parameters_and_no_tree(X):
    tree = TopicTree(4, log_scaling=None, smoothing=0.1, verbose=False).fit(X)
    copy = clone(tree)
    assert copy.get_params() == tree.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(X)
    np.testing.assert_array_equal(copy.fit(X).labels_, tree.labels_)


def test_a_tree_stands_at_the_end_of_a_pipeline():
    texts = ["the cat and the dog", "a dog, a cat", "cat dog cat", "the dog sleeps"] * 5
    texts += ["stock and market", "market price of stock", "price, stock", "a stock market"] * 5
    pipeline = make_pipeline(CountVectorizer(stop_words=["the", "and", "of"]), TopicTree(2))
    pipeline.fit(texts)
    labels = pipeline[-1].labels_
    assert len(set(labels[:20])) == len(set(labels[20:])) == 1
    assert labels[0] != labels[-1]
    np.testing.assert_array_equal(pipeline.predict(texts), labels)
    (other,) = pipeline.predict(["stock prices: the market"])
    assert other == labels[-1]


@both
def test_data_on_disk_are_read_and_left_alone(X, tmp_path, refine):
    parts = {}
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(X, name))
        parts[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    mapped = sp.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=X.shape)
    tree = TopicTree(4, refine=refine)
    np.testing.assert_array_equal(
        tree.fit(mapped).labels_, TopicTree(4, refine=refine).fit_predict(X)
    )
    np.testing.assert_array_equal(tree.predict(mapped), tree.labels_)


def test_many_trees_at_once_on_threads_are_the_trees_alone(X):
    alone = [TopicTree(k).fit(X).labels_ for k in (2, 3, 4, 5)]
    together = joblib.Parallel(n_jobs=4, backend="threading")(
        joblib.delayed(TopicTree(k).fit_predict)(X) for k in (2, 3, 4, 5)
    )
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_fit_draws_nothing_from_the_global_generator(X):
    np.random.seed(0)  # noqa: NPY002 - the global generator is what this is about
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TopicTree(4).fit(X)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_three_words_repeat_with_a_seed_and_take_any_order_of_rows(X):
    options = {"weighting": "three_words", "log_scaling": None, "random_state": 0}
    tree = TopicTree(4, **options).fit(X)
    order = np.random.default_rng(0).permutation(X.shape[0])
    np.testing.assert_array_equal(
        TopicTree(4, **options).fit(X[order]).labels_, tree.labels_[order]
    )
