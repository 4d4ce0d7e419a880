"""Of many documents, topics are searched in a sample."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import momentree.tree.topic_growth as growth
from momentree import SingleTopicModel, TopicTree
from momentree.datasets import make_single_topic

every_model = pytest.mark.parametrize(
    "model", [TopicTree, pytest.param(SingleTopicModel, marks=pytest.mark.long)]
)


@pytest.fixture(scope="module")
def sample():
    return make_single_topic(4_000, 200, 5, length=40, concentration=0.1, random_state=2)


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(growth, "SEARCHED", 500)
    monkeypatch.setattr(growth, "SEARCHED_OF_TOPIC", 100)


@every_model
def test_a_sample_leads_to_the_same_topics_for_any_order(sample, model, monkeypatch):
    whole = model(5).fit(sample.X)
    monkeypatch.setattr(growth, "SEARCHED", 500)
    monkeypatch.setattr(growth, "SEARCHED_OF_TOPIC", 100)
    sampled = model(5).fit(sample.X)
    order = np.random.default_rng(0).permutation(4_000)
    shuffled = model(5).fit(sample.X[order])
    np.testing.assert_array_equal(shuffled.labels_, sampled.labels_[order])
    assert adjusted_rand_score(sample.labels, sampled.labels_) > 0.99
    # EM over all documents ends at the same optimum, up to its tolerance.
    assert sampled.score(sample.X) == pytest.approx(whole.score(sample.X), rel=1e-4)
    assert sampled.n_passes_ < whole.n_passes_
    np.testing.assert_array_equal(sampled.predict(sample.X), sampled.labels_)


@pytest.mark.usefixtures("small_samples")
def test_leaves_keep_their_least_size(sample):
    tree = TopicTree(5, min_samples_leaf=600).fit(sample.X)
    assert min(np.bincount(tree.labels_)) >= 600


@pytest.mark.parametrize("refine", [None, "em"])
def test_a_tree_of_a_sample_is_nearly_that_of_all_documents(sample, refine, monkeypatch):
    tree = TopicTree(5, refine=refine, search="none")
    whole = tree.fit(sample.X)
    n_passes, labels = whole.n_passes_, whole.labels_
    monkeypatch.setattr(growth, "GROWN", 1_000)
    monkeypatch.setattr(growth, "GROWN_OF_LEAF", 100)
    assert tree.fit(sample.X).n_passes_ < n_passes / 1.5
    assert adjusted_rand_score(labels, tree.labels_) > (0.99 if refine else 0.85)
    np.testing.assert_array_equal(tree.predict(sample.X), tree.labels_)
    order = np.random.default_rng(0).permutation(4_000)
    shuffled = tree.labels_[order]
    np.testing.assert_array_equal(tree.fit(sample.X[order]).labels_, shuffled)
    exact = TopicTree(5, refine=None, exact=True).fit(sample.X)
    assert exact.n_passes_ > n_passes  # never of a sample


def test_a_leaf_that_is_too_small_outside_the_sample_is_not_made(sample, monkeypatch):
    monkeypatch.setattr(growth, "GROWN", 500)
    monkeypatch.setattr(growth, "GROWN_OF_LEAF", 0)
    for least in (100, 500, 780, 800):
        tree = TopicTree(5, refine=None, min_samples_leaf=least).fit(sample.X)
        assert min(np.bincount(tree.labels_)) >= least


@every_model
def test_topics_that_are_searched_by_frequent_words_have_all_words(sample, model, monkeypatch):
    whole = model(5).fit(sample.X)
    monkeypatch.setattr(growth, "SEARCHED_WORDS", 60)
    monkeypatch.setattr(growth, "SEARCHED_NNZ", 0)
    found = model(5).fit(sample.X)
    assert adjusted_rand_score(whole.labels_, found.labels_) > 0.99
    assert found.score(sample.X) == pytest.approx(whole.score(sample.X), rel=1e-4)
    occurs = np.bincount(sample.X.indices, minlength=200)
    rare = (occurs > 0) & (occurs < np.sort(occurs)[-60])
    topics = found.components_ if model is SingleTopicModel else found.tree_.center[None]
    assert (topics[:, rare] > 0).all()
