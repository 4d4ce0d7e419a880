"""Tests of the hierarchy over given leaves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from momentree.datasets import make_hierarchical_topics
from momentree.objects import BernoulliParameters, TopicParameters
from momentree.tree.hierarchy import hierarchy, least_loss_merges


def leaf_sums(k=7, p=11, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(0.5, 8.0, size=(p, k))).astype(float), rng.uniform(50, 90, k)


def likelihood(family, sums, sizes, group):
    members = list(group)
    return family.maximized_log_likelihood(sums[:, members].sum(axis=1), sizes[members].sum())


@pytest.mark.parametrize("family", [TopicParameters, BernoulliParameters])
def test_each_merge_loses_least_of_all_pairs(family):
    sums, sizes = leaf_sums()
    sums = np.minimum(sums, 40.0)  # at most one per sample, for Bernoulli variables
    groups = {i: frozenset([i]) for i in range(7)}
    for t, (a, b, loss) in enumerate(least_loss_merges(sums, sizes, family)):
        losses = {
            (i, j): likelihood(family, sums, sizes, groups[i])
            + likelihood(family, sums, sizes, groups[j])
            - likelihood(family, sums, sizes, groups[i] | groups[j])
            for i, j in combinations(sorted(groups), 2)
        }
        assert (a, b) == min(losses, key=losses.__getitem__)
        # Relative to the likelihoods, of which the loss is a difference.
        assert loss == pytest.approx(losses[a, b], abs=1e-11 * abs(sums).sum())
        groups[7 + t] = groups.pop(a) | groups.pop(b)
    assert list(groups.values()) == [frozenset(range(7))]


def test_gains_add_up_to_the_gain_of_all_leaves():
    sums, sizes = leaf_sums()
    root, order = hierarchy(sums, sizes, TopicParameters)
    gains = [branch.gain for branch in root.branches()]
    parts = TopicParameters.maximized_log_likelihood(sums, sizes).sum()
    whole = TopicParameters.maximized_log_likelihood(sums.sum(axis=1), sizes.sum())
    assert sum(gains) == pytest.approx(parts - whole, rel=1e-10)
    assert sorted(order) == list(range(7))
    assert len(root.leaves()) == 7


def test_children_are_sorted_by_size_and_depths_count_edges():
    sums, sizes = leaf_sums()
    root, order = hierarchy(sums, sizes, TopicParameters)
    size = dict(zip(root.leaves(), sizes[order], strict=True))
    for branch in root.branches():
        below = [sum(size[leaf] for leaf in child.leaves()) for child in branch.children]
        assert below == sorted(below, reverse=True)
        assert all(child.depth == branch.depth + 1 for child in branch.children)


def test_levels_of_hierarchical_topics_are_recovered():
    sample = make_hierarchical_topics(2000, random_state=0)
    sums = np.stack([sample.X[sample.labels == j].sum(axis=0) for j in range(8)], axis=1)
    root, order = hierarchy(sums, np.bincount(sample.labels).astype(float), TopicParameters)
    # Each half of the words belongs to four topics, so a topic has most of its words there.
    first = set(order[: len(root.children[0].leaves())].tolist())
    own = {j for j in range(8) if sample.components[j, :50].sum() > 0.5}
    assert first in (own, set(range(8)) - own)


@pytest.mark.parametrize("k", [1, 2])
def test_few_leaves(k):
    sums, sizes = leaf_sums(k)
    root, order = hierarchy(sums, sizes, TopicParameters)
    assert len(root.leaves()) == k
    assert sorted(order) == list(range(k))


def test_order_of_leaves_does_not_matter():
    sums, sizes = leaf_sums()
    order = np.random.default_rng(2).permutation(7)
    one, at = hierarchy(sums, sizes, TopicParameters)
    other, place = hierarchy(sums[:, order], sizes[order], TopicParameters)
    np.testing.assert_array_equal(order[place], at)
    gains = [[b.gain for b in root.branches()] for root in (one, other)]
    np.testing.assert_allclose(*gains, rtol=1e-9)
