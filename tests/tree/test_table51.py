"""Table 5.1 of the papers: eight topics that form a tree, from 400 documents of 200 words."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from momentree import SingleTopicModel, TopicTree
from momentree.datasets import make_hierarchical_topics

SEEDS = range(5)
ALGORITHM_2 = {"growth": "depth", "refine": None, "log_scaling": None}


@pytest.fixture(scope="module")
def samples():
    return [make_hierarchical_topics(random_state=seed) for seed in SEEDS]


@pytest.fixture(scope="module")
def trees(samples):
    return [TopicTree(max_leaf_nodes=8).fit(sample.X) for sample in samples]


def scores_of(samples, trees):
    return [
        adjusted_rand_score(sample.labels, tree.labels_)
        for sample, tree in zip(samples, trees, strict=True)
    ]


def test_the_topics_are_found(samples, trees):
    """In five samples at least as well as the papers report of ten, 0.98 +- 0.01."""
    assert np.mean(scores_of(samples, trees)) >= 0.98


def test_algorithm_2_finds_the_topics(samples):
    trees = [TopicTree(max_leaf_nodes=8, **ALGORITHM_2).fit(sample.X) for sample in samples]
    assert np.mean(scores_of(samples, trees)) >= 0.98
    assert [leaf.depth for leaf in trees[0].leaves_] == [3] * 8


@pytest.mark.long
def test_the_matrix_of_the_authors_gives_the_same(shared_data):
    topics = np.loadtxt(shared_data / "hierarchical_topics_M.csv", delimiter=",").T
    scores = []
    for seed in SEEDS[:3]:
        sample = make_hierarchical_topics(topics=topics, random_state=100 + seed)
        scores.append(adjusted_rand_score(sample.labels, TopicTree(8).fit(sample.X).labels_))
    assert np.mean(scores) >= 0.98


@pytest.mark.parametrize(
    "estimator",
    [
        pytest.param(TopicTree(8), id="tree"),
        pytest.param(SingleTopicModel(8), id="flat", marks=pytest.mark.long),
    ],
)
def test_rare_topics_of_random_weights_are_found(estimator):
    scores = []
    for seed in (1, 2, 3, 4):  # 8 to 12 documents of the rarest topic; a leaf has 5 or more
        rng = np.random.default_rng(seed)
        weights = rng.random(8)
        sample = make_hierarchical_topics(weights=weights / weights.sum(), random_state=rng)
        assert 5 < np.bincount(sample.labels, minlength=8).min() <= 12
        labels = estimator.fit(sample.X).labels_
        scores.append(adjusted_rand_score(sample.labels, labels))
    assert min(scores) >= 0.98
    assert np.mean(scores) >= 0.995


def test_inner_nodes_gather_similar_topics(samples, trees):
    # The first four topics use one half of the words, the others the other half: the root
    # separates them.
    for sample, tree in zip(samples, trees, strict=True):
        halves = [
            set((sample.labels[child.samples] // 4).tolist()) for child in tree.tree_.children
        ]
        assert sorted(map(sorted, halves)) == [[0], [1]]


def test_centers_estimate_the_topics(samples, trees):
    # A leaf of m documents of 200 words estimates p_w with a standard error of
    # sqrt(p_w (1 - p_w) / (200 m)); the few documents in the wrong leaf move it by less.
    sample, tree = samples[0], trees[0]
    found = set()
    for leaf in tree.leaves_:
        topic = np.bincount(sample.labels[leaf.samples]).argmax()
        found.add(int(topic))
        p = sample.components[topic]
        error = np.sqrt(p * (1 - p) / (200 * leaf.n_samples))
        assert (np.abs(leaf.center - p) <= 5 * error).all()
    assert found == set(range(8))
