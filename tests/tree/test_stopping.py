"""Where growth ends by itself: as many leaves as topics, and the criterion by hand."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree import TopicTree, choose_n_components
from momentree.assignment.rules import LinearRule
from momentree.backends import RowBlocks
from momentree.datasets import make_hierarchical_topics, make_single_topic
from momentree.tree.split import SampleGroups, Split, Splits
from momentree.tree.stopping import topic_bic

from ..oracle import assert_near_oracle, multinomial_labels

SEEDS = range(2)


def oracle_of(sample):
    return multinomial_labels(sample.X, sample.weights, sample.components)


@pytest.mark.long
def test_the_eight_topics_of_table_51_are_found():
    """By the choice of the function of the same criteria."""
    sample = make_hierarchical_topics(random_state=0)
    tree = TopicTree("auto").fit(sample.X)
    assert tree.n_leaves_ == 8
    assert_near_oracle(sample.labels, oracle_of(sample), tree.labels_)
    choice = tree.choice_
    expected = choose_n_components(sample.X)
    assert (choice.n_components, choice.interval) == (expected.n_components, expected.interval)
    assert choice.interval[0] <= 8 <= choice.interval[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_bic_finds_them_too(seed):
    sample = make_hierarchical_topics(random_state=seed)
    tree = TopicTree("bic").fit(sample.X)
    assert tree.n_leaves_ == 8
    assert tree.choice_ is None


def test_eight_unrelated_topics_are_found():
    lengths = np.random.default_rng(0).poisson(200, size=400)
    sample = make_single_topic(400, 300, 8, length=lengths, random_state=0)
    tree = TopicTree("auto").fit(sample.X)
    assert tree.n_leaves_ == 8
    assert_near_oracle(sample.labels, oracle_of(sample), tree.labels_)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(("d", "length"), [(100, 200), (1_000, 60), (200, 8)])
def test_a_single_topic_is_not_split(seed, d, length):
    sample = make_single_topic(500, d, 1, length=length, random_state=seed)
    assert TopicTree("auto").fit(sample.X).n_leaves_ == 1


def test_a_limit_of_depth_ends_growth_instead():
    sample = make_single_topic(500, 100, 1, length=60, exponent=0.0, random_state=0)
    for limits in ({}, {"max_depth": 1}):
        assert TopicTree("bic", min_samples_leaf=1, **limits).fit(sample.X).n_leaves_ == 1
    # Without the criterion, a depth or a number of leaves ends growth.
    depth = {"max_leaf_nodes": None, "max_depth": 1}
    assert TopicTree(**depth, min_samples_leaf=1, refine=None).fit(sample.X).n_leaves_ == 2
    assert TopicTree(2, min_samples_leaf=1, refine=None).fit(sample.X).n_leaves_ == 2


@pytest.mark.parametrize("per_token", [(1.0, 1.0, 1.0, 1.0), (2.0, 0.5, 1.0, 3.0)])
@pytest.mark.parametrize("weight", [(1.0, 1.0, 1.0, 1.0), (2.0, 0.0, 1.5, 1.0)])
def test_the_penalty_by_hand(per_token, weight):
    X = np.array([[3, 1, 0, 0, 0], [0, 0, 0, 0, 2], [1, 0, 2, 0, 0], [0, 4, 0, 0, 0]], float)
    v, u = np.array(weight), np.array(per_token)
    occurring = {word for x, w in zip(X, v, strict=True) if w for word in np.flatnonzero(x)}
    mass = sum(w * x.sum() for x, w in zip(X, v, strict=True))
    typical = sum(w * x.sum() * one for x, w, one in zip(X, v, u, strict=True)) / mass
    penalty = typical * len(occurring) / 2 * np.log(v.sum())

    def reason(gain):
        split = Split(
            LinearRule(np.ones(5), 0.0),
            gain,
            np.ones((5, 2)),
            np.full(2, 2.0),
        )
        rows = RowBlocks(sp.csr_array(np.vstack([X, X, X])))
        v3, u3, own = np.tile(v, 3), np.tile(u, 3), np.repeat([1, -1, 0], 4)
        groups = SampleGroups(rows, v3, u3, own, 2)
        alone, again = topic_bic(Splits([split, split], own), groups)
        assert alone == again
        return alone

    assert reason(penalty * (1 + 1e-12)) is None
    found = reason(penalty * (1 - 1e-12))
    assert found.code == "bic_penalty"
    assert found.values["penalty"] == pytest.approx(penalty)
