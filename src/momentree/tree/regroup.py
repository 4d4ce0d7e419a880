"""Edits of the leaves of a tree by hand: divide one further, or make one of several."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from momentree._logging import console_logging
from momentree._validation import check_sample_weight, check_values
from momentree.assignment import editing as edit
from momentree.assignment.assigners import Assigner
from momentree.backends import RowBlocks, in_canonical_order, single_threaded_blas
from momentree.tree import build
from momentree.tree.growth import Branch, log
from momentree.tree.node import TreeNode

if TYPE_CHECKING:
    from momentree.tree.cluster_tree import ClusterTree

__all__ = ["merge_groups", "split_group"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def split_group(
    tree: ClusterTree,
    X: Any,
    group: int,
    n_groups: int,
    sample_weight: ArrayLike | None,
) -> ClusterTree:
    """Divide a leaf of a fitted tree; see ``ClusterTree.split_group``."""
    check_is_fitted(tree, "tree_")
    group, n_groups = edit.check_group(group, tree.n_leaves_), edit.check_n_groups(n_groups)
    data = Data.of(tree, X, sample_weight)
    here = np.flatnonzero(data.labels == group)
    part, weight = data.rows.take(here), data.weight[here]
    grower = clone(tree).set_params(max_leaf_nodes=n_groups, max_depth=None, growth="best_first")
    if tree.n_components is not None:
        grower.set_params(n_components=n_groups)
    with console_logging(log, bool(tree.verbose)), single_threaded_blas():
        grown = grower._grow(tree._feature_map, part, weight)
        if not grown.children:
            edit.refuse_split(group, grown.reason)
        inner, _, converged = grower._refined(grown, tree._feature_map, part, weight)
        if not grown.children:
            edit.refuse_split(
                group, f"EM leaves fewer than {tree.min_samples_leaf:g} records in a part"
            )
        root = branch_of(tree.tree_)
        leaf = root.leaves()[group]
        for branch in build.branches_of(grown):
            branch.depth += leaf.depth
        leaf.children, leaf.reason = grown.children, ""
        edited = edit.split(tree._assigner, data.labels, group, inner, build.leaf_labels(grown))
        return _edited(tree, root, *edited, tree.converged_ and converged, data)


def merge_groups(
    tree: ClusterTree, X: Any, groups: Sequence[int], sample_weight: ArrayLike | None
) -> ClusterTree:
    """Make one leaf of several; see ``ClusterTree.merge_groups``."""
    check_is_fitted(tree, "tree_")
    groups, k = edit.check_groups(groups, tree.n_leaves_), tree.n_leaves_
    data = Data.of(tree, X, sample_weight)
    place = edit.largest(groups, np.bincount(data.labels, weights=data.weight, minlength=k))
    root = branch_of(tree.tree_)
    for group in reversed(groups):  # from the right, so that the numbers of the others hold
        if group != place:
            build.drop(root, root.leaves()[group])
    assigner, labels = edit.merged(tree._assigner, data.labels, groups, data.weight)
    root.leaves()[edit.new_numbers(k, groups, place)[place]].reason = "groups were merged by hand"
    with single_threaded_blas():
        _fill(root, labels)
        # The merged leaf may have outgrown those that stood before it.
        edited = edit.renumbered(assigner, labels, build.order(root, data.weight))
        return _edited(tree, root, *edited, tree.converged_, data)


@dataclass(frozen=True)
class Data:
    """The data of a fit again, as the fit had them.

    Attributes
    ----------
    X : csr_array of shape (n, d)
        Values.
    rows : RowBlocks of shape (n, p)
        Statistics in canonical order.
    weight, labels : ndarray of shape (n,)
        Sample weights and leaves, in canonical order.
    at : ndarray of intp of shape (n,)
        Row in X of each.
    """

    X: Any
    rows: RowBlocks
    weight: Floats
    labels: Ints
    at: Ints

    @classmethod
    def of(cls, tree: ClusterTree, X: Any, sample_weight: ArrayLike | None) -> Data:
        """Return checked data of a fitted tree."""
        X, missing, _ = check_values(tree, X, None, reset=False)
        edit.check_same_rows(X.shape[0], tree.labels_)
        tree._feature_map.check(X, missing)
        edit.check_same_gaps(missing, held_gaps=tree._feature_map.incomplete)
        weight = check_sample_weight(sample_weight, X.shape[0])
        rows, at = in_canonical_order(tree._feature_map.rows(X, missing), weight)
        return cls(X, rows, weight[at], tree.labels_[at], at)


def branch_of(node: TreeNode) -> Branch:
    """Return a node and all below it as branches, without samples."""
    none = np.empty(0, dtype=np.intp)
    children = [branch_of(child) for child in node.children]
    return Branch(none, node.depth, None, node.reason, children)


def _fill(root: Branch, labels: Ints) -> None:
    """Give every branch its samples."""
    for i, leaf in enumerate(root.leaves()):
        leaf.samples = np.flatnonzero(labels == i)
    for branch in reversed(build.branches_of(root)):  # children come before their parents
        if branch.children:
            branch.samples = np.sort(np.concatenate([child.samples for child in branch.children]))


def _edited(
    tree: ClusterTree,
    root: Branch,
    assigner: Assigner,
    labels: Ints,
    converged: bool,
    data: Data,
) -> ClusterTree:
    _fill(root, labels)
    out = copy.copy(tree)  # nothing that the two share is written to
    out._assigner, out.converged_ = assigner, converged
    out.labels_ = np.empty_like(labels)
    out.labels_[data.at] = labels
    out._set_tree(
        out._nodes(root, tree._feature_map, data.rows, RowBlocks(data.X), data.weight, data.at)
    )
    return out
