"""Trees that learn from batches: leaves by sums, branches that remain."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from momentree import ClusterTree, TopicTree, compare_models, load
from momentree.exceptions import EmptyCorpusError, InvalidDataError, MomentreeWarning
from momentree.metrics import recovery_error

from ..raising import raises

K, D = 4, 40
PROFILES = np.kron(np.eye(K + 1), np.ones(D // K)) * 0.6 + 0.05


def samples(tree, groups, n, seed=0):
    rng = np.random.default_rng(seed)
    which = rng.choice(groups, size=n)
    if isinstance(tree, ClusterTree) and tree.data != "counts":
        return (rng.random((n, PROFILES.shape[1])) < PROFILES[which]).astype(float), which
    return rng.poisson(PROFILES[which]), which


TREES = {
    "topics": TopicTree(K),
    "records": ClusterTree(K),
    "counts": ClusterTree(K, data="counts"),
    "splits of records": ClusterTree(K, refine=None),
    "splits of topics": TopicTree(K, refine=None),
}


def centers(tree):
    return np.stack([leaf.center for leaf in tree.leaves_])


@pytest.mark.parametrize("name", ["topics", "records", "counts"])
def test_batches_give_almost_what_a_fit_of_all_samples_gives(name):
    tree = clone(TREES[name])
    X, _ = samples(tree, range(K), 1600)
    for batch in np.split(X, 4):
        tree.partial_fit(batch)
    whole = clone(tree).fit(X)
    half = clone(tree).fit(X[:800])
    error = recovery_error(centers(half), centers(whole))
    assert recovery_error(centers(tree), centers(whole)) < 0.2 * error
    assert tree.tree_.gain == pytest.approx(whole.tree_.gain, rel=0.01)
    # Earlier samples are not assigned again: one in a hundred may belong to another leaf now.
    assert [leaf.weight for leaf in tree.leaves_] == pytest.approx(
        [np.mean(tree.predict(X) == j) for j in range(K)], abs=0.01
    )


@pytest.mark.parametrize("name", TREES)
def test_leaves_and_names_stay(name):
    tree = clone(TREES[name])
    X, _ = samples(tree, range(K), 800)
    tree.partial_fit(X).rename({0: "First"})
    tree = tree.rename({0: "First"})
    before = tree.predict(X)
    names = [node.name for node in tree.tree_.nodes()]
    tree.partial_fit(samples(tree, range(K), 800, 1)[0])
    assert np.mean(tree.predict(X) == before) > 0.98
    assert [node.name for node in tree.tree_.nodes()] == names
    assert tree.n_samples_seen_ == 1600
    assert len(tree.labels_) == tree.tree_.n_samples == 800
    assert tree.tree_.weight == pytest.approx(1.0)
    cut = tree.cut(2).partial_fit(X)
    assert cut.n_leaves_ == 2
    assert cut.n_samples_seen_ == 2400


@pytest.mark.parametrize("name", ["topics", "splits of records"])
def test_a_loaded_tree_continues_exactly(name, tmp_path):
    tree = clone(TREES[name])
    X, _ = samples(tree, range(K), 1200)
    tree.partial_fit(X[:600])
    tree.save(tmp_path / "tree.mt")
    loaded = load(tmp_path / "tree.mt")
    for one in (tree, loaded):
        one.partial_fit(X[600:])
    assert np.array_equal(centers(tree), centers(loaded))
    assert np.array_equal(tree.labels_, loaded.labels_)


@pytest.mark.parametrize("name", ["topics", "splits of records"])
def test_new_groups_and_vanished_leaves_are_reported(name):
    tree = clone(TREES[name])
    for seed in range(2):
        tree.partial_fit(samples(tree, range(K), 600, seed)[0])
    with pytest.warns(MomentreeWarning, match="unlike all 4 leaves"):
        tree.partial_fit(samples(tree, [0, 1, 2, 4], 600, 3)[0])


@pytest.mark.parametrize("covariance_type", ["spherical", "diag", "tied", "full"])
def test_measurements(covariance_type):
    X = load_iris().data[:, 2:]
    rng = np.random.default_rng(0)
    X = np.vstack([X + 0.1 * rng.standard_normal(X.shape) for _ in range(6)])
    X = X[rng.permutation(len(X))]
    tree = ClusterTree(2, covariance_type=covariance_type)
    for batch in np.split(X, 3):
        tree.partial_fit(batch)
    whole = clone(tree).fit(X)
    # One standard error of a mean is 0.04 cm; the two columns together count.
    assert recovery_error(centers(tree), centers(whole)) < 0.04


@pytest.mark.filterwarnings("ignore:100% .* unlike all")
def test_zeros_of_records_and_measurements_are_values():
    records = samples(ClusterTree(K), range(K), 600)[0]
    gaps = np.where(np.arange(records.size).reshape(records.shape) % 9, records, np.nan)
    numbers = np.vstack([records[:, :5] + [[4, 0, 0, 0, 0]], -records[:, :5]])
    for X in (records, gaps, numbers):
        tree = ClusterTree(2).partial_fit(X)
        zeros = np.zeros((50, X.shape[1]))
        expected, before = tree.predict(zeros), len(X)
        tree.partial_fit(zeros)
        np.testing.assert_array_equal(tree.labels_, expected)
        assert tree.n_samples_seen_ == before + 50
    tree = ClusterTree(2, data="counts").fit(records)
    with raises(EmptyCorpusError, "all_empty"):
        tree.partial_fit(np.zeros((50, records.shape[1])))


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_groups_of_numbers_that_stay_are_not_reported_as_moved(offset):
    """The last two columns have the same mean in all groups, whose estimates are noise."""
    rng = np.random.default_rng(0)
    tree, centers = ClusterTree(3), offset + 6 * np.eye(3, 5)
    for _ in range(3):
        tree.partial_fit(rng.standard_normal((600, 5)) + centers[rng.choice(3, 600)])
        assert len(tree.changes_.of("moved")) == 0
    assert max(group.distance for group in tree.changes_) < 0.2  # in deviations within groups
    moved = centers + 12 * np.eye(5)[4]
    tree.partial_fit(rng.standard_normal((6000, 5)) + moved[rng.choice(3, 6000)])
    assert len(tree.changes_.of("moved")) == 3


def test_directions_and_edited_trees_cannot_be_continued():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    with raises(InvalidDataError, "no_sums_of_kind"):
        ClusterTree(3).partial_fit(X)
    X, _ = samples(ClusterTree(), range(K), 400)
    tree = ClusterTree(K).fit(X).merge_groups(X, [0, 1])
    with raises(InvalidDataError, "no_sums_of_fit"):
        tree.partial_fit(X)


def test_a_tree_takes_names_from_another():
    old = TopicTree(K).fit(samples(TopicTree(), range(K), 800)[0]).rename({1: "Second"})
    new = TopicTree(K).fit(samples(TopicTree(), [0, 1, 1, 2, 2, 2, 3, 3, 3, 3], 800, 1)[0])
    named = new.relabeled(old)
    same = {group.new: group.old for group in compare_models(old, new)}
    assert sorted(same.values()) == list(range(K))
    assert [named.names_[j] for j in same] == [old.names_[i] for i in same.values()]
    assert "Second" in named.given_names_.values()
