"""Of many documents, topics are searched in a sample."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import momentree.tree.search_sample as search_sample
from momentree import SingleTopicModel, TopicTree
from momentree.datasets import make_single_topic


@pytest.fixture(scope="module")
def sample():
    return make_single_topic(4_000, 200, 5, length=40, concentration=0.1, random_state=2)


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(search_sample, "SEARCHED", 500)
    monkeypatch.setattr(search_sample, "SEARCHED_OF_TOPIC", 100)


@pytest.mark.parametrize("model", [SingleTopicModel, TopicTree])
def test_a_sample_leads_to_the_same_topics_for_any_order(sample, model, monkeypatch):
    whole = model(5).fit(sample.X)
    monkeypatch.setattr(search_sample, "SEARCHED", 500)
    monkeypatch.setattr(search_sample, "SEARCHED_OF_TOPIC", 100)
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
