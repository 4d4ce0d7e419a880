"""All splits of a level in the same passes over the data, and the same tree as one by one."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree import ClusterTree, SingleTopicModel, TopicTree
from momentree.backends import RowBlocks, counted_passes, num_threads
from momentree.datasets import make_hierarchical_topics, make_single_topic
from momentree.preprocessing import FeatureMap
from momentree.tree.growth import Limits, TreeGrowth
from momentree.tree.split import SampleGroups, Split, Splits
from momentree.tree.splitters import DSidiwoSplitter, TopicSplitter

from .splitting import split_one

N = 300


@pytest.fixture(scope="module")
def X():
    return make_single_topic(N, 80, 6, length=30, exponent=0.3, random_state=0).X


def topics(**options):
    return TopicSplitter(**{"min_samples_leaf": 2, "smoothing": 1.0, **options})


def records(X, **options):
    seen = FeatureMap.from_data((X > 1).astype(float), None, np.ones(N), "binary", scaled=True)
    return DSidiwoSplitter(2, seen, **options)


SPLITTERS = {
    "topics": lambda X: (X, topics()),
    "algorithm 2": lambda X: (X, topics(refine_iter=0)),
    "uniform": lambda X: (X, topics(weighting="uniform")),
    "exact": lambda X: (X, topics(exact=True)),
    "few words": lambda X: (X[:, :40], topics()),
    "records": lambda X: ((X > 1).astype(float), records(X)),
}


@pytest.mark.parametrize("name", SPLITTERS)
def test_groups_are_split_as_each_alone(X, name):
    X, splitter = SPLITTERS[name](X)
    rng = np.random.default_rng(0)
    own, weight, factor = rng.integers(-1, 3, N), rng.uniform(0.5, 2, N), rng.uniform(0.5, 1.5, N)
    own[:2] = 3  # too few to split
    rows = RowBlocks(X, block_nnz=1000)
    splits = splitter(SampleGroups(rows, weight, factor, own, 4))
    side = np.asarray(splits.side)
    for j, found in enumerate(splits.found):
        at = np.flatnonzero(own == j)
        alone = split_one(splitter, rows.take(at), weight[at], factor[at])
        if not isinstance(found, Split):
            assert found == alone
            continue
        np.testing.assert_array_equal(side[at], alone.side)
        assert found.gain == pytest.approx(alone.gain, rel=1e-8)
        np.testing.assert_allclose(found.sums, alone.sums, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.sizes, alone.sizes, rtol=1e-9)
    assert splits.found[3].code == "too_few_to_split"


def test_the_tree_is_that_of_best_first_growth(X):
    """Splits that turn out not to be needed change nothing."""
    rows, one = RowBlocks(X), np.ones(N)

    def one_by_one(groups):
        parts = [(at, topics(exact=True)(alone)) for at, alone in groups.alone()]
        return Splits.joined(rows, parts)

    growing = TreeGrowth(rows, one, one, topics(exact=True))
    for k in (3, 7):
        expected = TreeGrowth(rows, one, one, one_by_one).grow(Limits(k))
        for grown in (
            growing.grow(Limits(k)),
            TreeGrowth(rows, one, one, topics(exact=True)).grow(Limits(k)),
        ):
            np.testing.assert_array_equal(grown.labels, expected.labels)


@pytest.mark.parametrize("steps", [0, 2])
def test_neither_threads_nor_blocks_change_a_tree(X, steps):
    one = np.ones(N)

    def grown(block_nnz):
        rows = RowBlocks(X, block_nnz=block_nnz)
        return TreeGrowth(rows, one, one, topics(refine_iter=steps)).grow(Limits(5))

    trees = [grown(600)]
    with num_threads(1):
        trees += [grown(600), grown(5000)]
    gains = [[branch.gain for branch in tree.root.branches()] for tree in trees]
    assert gains[0] == gains[1]  # to the bit
    np.testing.assert_allclose(gains[2], gains[0], rtol=1e-9)
    for tree in trees[1:]:
        np.testing.assert_array_equal(tree.labels, trees[0].labels)


@pytest.fixture(scope="module")
def balanced():
    """Sixteen topics that are split evenly four times: each half of them has words of its own."""
    rng = np.random.default_rng(0)
    bits = (np.arange(16)[:, None] >> np.arange(4)) & 1
    words = np.repeat(np.hstack([bits, 1 - bits]), 10, axis=1) * np.repeat([8, 6, 4, 3] * 2, 10)
    topics = (words + 0.05) / (words + 0.05).sum(axis=1, keepdims=True)
    return np.vstack([rng.multinomial(200, topic, 40) for topic in topics])


def n_passes(X, **options):
    with counted_passes() as read:
        one = np.ones(len(X))
        rows = RowBlocks(sp.csr_array(X.astype(float)))
        TreeGrowth(rows, one, one, topics(refine_iter=0)).grow(Limits(**options))
    return read.n_rows / len(X)


def test_passes_depend_on_the_depth_and_not_on_the_number_of_leaves(balanced):
    by_leaves = {k: n_passes(balanced, leaves=k) for k in (2, 3, 4, 6, 7, 8, 10, 16)}
    level = by_leaves[8] - by_leaves[4]
    assert by_leaves[6] == by_leaves[7] == by_leaves[8]
    assert by_leaves[10] == by_leaves[16] == by_leaves[8] + level
    assert by_leaves[4] == by_leaves[3] + level == by_leaves[2] + 2 * level
    assert level <= 4
    assert by_leaves[8] <= 19
    assert n_passes(balanced, depth=3) == by_leaves[4]


def test_fitted_estimators_show_their_passes():
    X = make_hierarchical_topics(random_state=0).X
    passes = [TopicTree(k, refine=None, log_scaling=None).fit(X).n_passes_ for k in (6, 8)]
    assert passes[0] == passes[1] < 40
    for estimator in (ClusterTree(2), SingleTopicModel(2)):
        assert estimator.fit(X).n_passes_ > 1


def test_unreached_groups_are_not_split(X):
    rows, one = RowBlocks(X), np.ones(N)
    rounds = []

    def counting(groups):
        rounds.append(groups.n_groups)
        return topics()(groups)

    growing = TreeGrowth(rows, one, one, counting)
    growing.grow(Limits(4))
    before = list(rounds)
    assert before[:2] == [1, 2]
    assert all(n <= 4 for n in before)
    growing.grow(Limits(3))
    assert rounds == before  # nothing new is needed
