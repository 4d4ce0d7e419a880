"""Leaves split and merged by hand: nested, exact, and the same for new records and for files."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from momentree import ClusterTree
from momentree.assignment.posteriors import MixtureAssigner
from momentree.assignment.rules import Division, NestedAssigner
from momentree.backends import RowBlocks
from momentree.objects import BernoulliParameters

from ..incomplete import probabilities
from .cluster_data import PAIRS, REFINE, every_kind, of_kind

every_refine = pytest.mark.parametrize("refine", REFINE)
every_pair = pytest.mark.parametrize(("kind", "refine"), PAIRS)


@cache
def fitted(kind="binary", refine="em", k=3, growth="best_first"):
    """Data and a tree of them; edits leave both as they are."""
    X, _ = of_kind(kind)
    return X, ClusterTree(k, refine=refine, growth=growth).fit(X)


def assert_whole(tree, X):
    """What holds of every fitted tree: labels, nodes, probabilities and predictions agree."""
    assert [leaf.leaf_id for leaf in tree.leaves_] == list(range(tree.n_leaves_))
    for i, leaf in enumerate(tree.leaves_):
        np.testing.assert_array_equal(leaf.samples, np.flatnonzero(tree.labels_ == i))
        assert leaf.reason
        path = [node for node in tree.tree_.nodes() if np.isin(leaf.samples, node.samples).all()]
        assert leaf.depth == len(path) - 1
    assert [node.node_id for node in tree.tree_.nodes()] == list(
        range(tree.decision_path(X).shape[1])
    )
    for node in tree.tree_.nodes():
        assert len(node.children) != 1
        sizes = [child.n_samples for child in node.children]
        assert sizes == sorted(sizes, reverse=True)
        assert all(child.depth == node.depth + 1 for child in node.children)
        expected = np.nanmean(X[node.samples], axis=0)
        np.testing.assert_allclose(node.center, expected, rtol=1e-9, atol=1e-12)
        assert node.weight == pytest.approx(node.n_samples / len(X))
    np.testing.assert_array_equal(tree.predict(X), tree.labels_)
    proba = tree.predict_proba(X)
    assert proba.shape == (len(X), tree.n_leaves_)
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-9)


@every_pair
def test_a_split_divides_one_group_and_no_other(kind, refine):
    X, tree = fitted(kind, refine)
    before = tree.to_dict()
    labels = tree.labels_.copy()
    for group in range(tree.n_leaves_):
        found = tree.split_group(X, group)
        assert_whole(found, X)
        assert found.n_leaves_ == tree.n_leaves_ + 1
        inside = labels == group
        assert set(found.labels_[inside]) == {group, group + 1}
        expected = labels[~inside] + (labels[~inside] > group)
        np.testing.assert_array_equal(found.labels_[~inside], expected)
    assert tree.to_dict() == before
    np.testing.assert_array_equal(tree.labels_, labels)
    np.testing.assert_array_equal(tree.predict(X), labels)


@every_pair
def test_a_merge_is_the_union(kind, refine):
    X, tree = fitted(kind, refine, k=5)
    before = tree.to_dict()
    for groups in ([0, 1], [4, 0, 2], np.array([1, 3])):
        found = tree.merge_groups(X, groups)
        assert_whole(found, X)
        union = np.isin(tree.labels_, groups)
        (merged,) = set(found.labels_[union])
        np.testing.assert_array_equal(found.labels_ == merged, union)
        # What the others were, they are.
        pairs = set(zip(tree.labels_[~union], found.labels_[~union], strict=True))
        assert len(pairs) == tree.n_leaves_ - len(groups) == found.n_leaves_ - 1
        assert found.leaves_[merged].reason.code == "merged_by_hand"
    assert tree.to_dict() == before


@every_refine
def test_merged_siblings_become_their_parent(refine):
    X, tree = fitted(refine=refine, k=4, growth="depth")  # with levels, also of similar splits
    for node in tree.tree_.nodes():
        if node.children and all(child.is_leaf for child in node.children):
            found = tree.merge_groups(X, [child.leaf_id for child in node.children])
            (leaf,) = (x for x in found.leaves_ if np.array_equal(x.samples, node.samples))
            assert (leaf.depth, leaf.name) == (node.depth, node.name)
            assert found.tree_.gain == pytest.approx(tree.tree_.gain)


def test_a_merged_leaf_takes_the_place_of_its_largest_part():
    X, tree = fitted(k=4, growth="depth")
    first, last = tree.leaves_[0], tree.leaves_[-1]
    assert first.parent is not last.parent
    large, small = sorted([first, last], key=lambda leaf: leaf.n_samples, reverse=True)
    found = tree.merge_groups(X, [first.leaf_id, last.leaf_id])
    (leaf,) = (x for x in found.leaves_ if np.isin(large.samples, x.samples).all())
    sibling = next(child for child in large.parent.children if child is not large)
    others = [child for child in leaf.parent.children if child is not leaf]
    np.testing.assert_array_equal(others[0].samples, np.setdiff1d(sibling.samples, small.samples))


@every_kind
def test_all_groups_merged_leave_the_root_which_can_be_split_again(kind):
    X, tree = fitted(kind)
    root = tree.merge_groups(X, range(3))
    assert_whole(root, X)
    assert root.n_leaves_ == 1
    assert root.tree_.is_leaf
    again = root.split_group(X, 0, 3)
    assert_whole(again, X)
    np.testing.assert_array_equal(again.labels_, tree.labels_)


@every_pair
def test_edits_follow_one_another(kind, refine):
    X, tree = fitted(kind, refine)
    rng = np.random.default_rng(0)
    found = tree
    for step in range(4):
        if step != 2:
            group = int(np.bincount(found.labels_).argmax())
            found = found.split_group(X, group, int(rng.integers(2, 4)))
        else:
            found = found.merge_groups(X, rng.permutation(found.n_leaves_)[:2])
        assert_whole(found, X)


def test_a_split_in_more_than_two_keeps_its_tree():
    X, tree = fitted(k=2)
    found = tree.split_group(X, 0, 3)
    assert_whole(found, X)
    assert found.n_leaves_ == 4
    again = found.merge_groups(X, [0, 1, 2])
    np.testing.assert_array_equal(again.labels_, tree.labels_)


@every_refine
def test_a_split_is_that_of_the_group_alone(refine):
    """Binary data are scaled by no statistic of others: a tree of the group is the same tree."""
    X, tree = fitted(refine=refine, k=2)
    inside = tree.labels_ == 0
    alone = ClusterTree(3, refine=refine).fit(X[inside])
    found = tree.split_group(X, 0, 3)
    np.testing.assert_array_equal(found.labels_[inside], alone.labels_)


@every_refine
def test_weights_are_repetitions_in_edits_too(refine):
    X, _ = of_kind("binary")
    weight = np.random.default_rng(3).integers(0, 3, size=len(X))
    repeated = np.repeat(np.arange(len(X)), weight)
    one = ClusterTree(3, refine=refine).fit(X, sample_weight=weight)
    other = ClusterTree(3, refine=refine).fit(X[repeated])
    one, other = one.split_group(X, 0, sample_weight=weight), other.split_group(X[repeated], 0)
    np.testing.assert_array_equal(one.labels_[repeated], other.labels_)
    one = one.merge_groups(X, [0, 3], sample_weight=weight)
    other = other.merge_groups(X[repeated], [0, 3])
    np.testing.assert_array_equal(one.labels_[repeated], other.labels_)
    for a, b in zip(one.tree_.nodes(), other.tree_.nodes(), strict=True):
        np.testing.assert_allclose(a.center, b.center, rtol=1e-10)
        assert (a.weight, a.gain) == (pytest.approx(b.weight), pytest.approx(b.gain))


def test_the_order_of_rows_does_not_matter_to_edits():
    X, tree = fitted()
    found = tree.split_group(X, 1).merge_groups(X, [0, 2])
    order = np.random.default_rng(0).permutation(len(X))
    other = ClusterTree(3).fit(X[order]).split_group(X[order], 1).merge_groups(X[order], [0, 2])
    np.testing.assert_array_equal(other.labels_, found.labels_[order])


@every_refine
def test_new_records_are_assigned_like_those_of_the_fit(refine):
    """A new record with the values of an old one takes its leaf, gaps or not."""
    X, tree = fitted(refine=refine)
    found = tree.split_group(X, 0).split_group(X, 0)
    np.testing.assert_array_equal(found.predict(sp.csr_array(X[::-1])), found.labels_[::-1])
    gap = X[:5].copy()
    gap[0, 0] = np.nan
    proba = found.predict_proba(gap)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_allclose(proba[1:], found.predict_proba(X[1:5]), rtol=1e-9)
    if refine in ("em", "leaves"):  # likelihoods know nothing of a column that is missing
        expected = less_first(found._assigner).proba(RowBlocks(sp.csr_array(gap[:1, 1:])))
        np.testing.assert_allclose(proba[:1], expected, rtol=1e-9)


def less_first(assigner):
    """The same mixtures without the first column."""
    if isinstance(assigner, MixtureAssigner):
        p = assigner.parameters
        return MixtureAssigner(BernoulliParameters(p.weights, p.centers[1:]), assigner.group)
    parts = (
        Division(less_first(part.assigner), part.groups) if isinstance(part, Division) else part
        for part in assigner.parts
    )
    return NestedAssigner(less_first(assigner.base), tuple(parts))


def test_an_edited_tree_assigns_incomplete_records_by_its_own_groups():
    for refine in REFINE:
        X, tree = fitted(refine=refine)
        found = tree.split_group(X, 1, 3).merge_groups(X, [0, 2]).split_group(X, 0)
        scoring = found.scoring()
        assert scoring["sizes"] == np.bincount(found.labels_).tolist()
        P = found.predict_incomplete_proba(X[:20])
        np.testing.assert_allclose(P, probabilities(scoring, X[:20]), rtol=1e-9, atol=1e-12)
