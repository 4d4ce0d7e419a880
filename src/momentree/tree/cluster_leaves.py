"""The nodes of a tree of clusters from sums over its leaves, and edits of leaves by hand."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from momentree import backends
from momentree._types import Floats, Ints
from momentree.estimators.editing import Groups, RefitData, merge_numbers, with_labels
from momentree.estimators.names import keep_names
from momentree.estimators.node import TreeNode
from momentree.exceptions import InvalidDataError
from momentree.messages import Message, wording
from momentree.objects import MixtureSums
from momentree.preprocessing import FeatureMap, kinds
from momentree.tree import cluster_growth, hierarchy
from momentree.tree.growth import Branch, Limits
from momentree.tree.leaves import branch_of, build_tree, drop, sort_children, word_shares


def tree_of_clusters(
    root: Branch, labels: Ints, leaves: MixtureSums, feature_map: FeatureMap, n_features: int
) -> tuple[TreeNode, hierarchy.Merges]:
    """Return the finished tree, with means of the values as centers, and its merges.

    `leaves` are sums over the leaves: `statistics` of the moments, and `counts` of the values.
    """
    sums, sizes, of_values, d = leaves.statistics, leaves.sizes, leaves.counts, n_features
    if feature_map.kind in ("binary", "counts"):
        of_values = sums[:d]
    elif feature_map.kind == "real":
        of_values = feature_map.restored(sums, sizes)

    def center(below: list[int]) -> Floats:
        missing = sums[-d:, below].sum(axis=1) if feature_map.incomplete else 0.0
        observed = np.maximum(sizes[below].sum() - missing, np.finfo(float).tiny)
        return np.asarray(of_values[:, below].sum(axis=1) / observed)

    return build_tree(root, labels, sums, sizes, feature_map.family, center)


def spread_within(
    rows: backends.Rows,
    weight: backends.RowArray,
    sums: Floats,
    sizes: Floats,
    feature_map: FeatureMap,
    n_features: int,
) -> Floats:
    """Return the standard deviation of real columns within leaves; huge if it is constant.

    Parameters
    ----------
    rows : Rows of shape (n, p)
        Statistics of the samples.
    weight : row array of shape (n,)
        Sample weights.
    sums, sizes : ndarray of shape (p, k) and (k,)
        Sums of the statistics, and total weight, of each leaf.
    feature_map : FeatureMap
        The map from values to statistics.
    n_features : int
        Number of columns d of the data.

    Returns
    -------
    ndarray of shape (d,)
        In units of the columns.
    """
    scale, d = feature_map.scale, n_features
    squares = rows.sum(lambda B, v: B.with_data(B.csr[0] ** 2).tdot(v), weight)[:d]
    missing = sums[-d:] if feature_map.incomplete else 0.0
    observed = np.maximum(sizes - missing, np.finfo(float).tiny) * np.ones((d, 1))
    within = squares - (sums[:d] ** 2 / observed).sum(axis=1)
    spread = np.sqrt(np.maximum(within, 1e-12 * squares) / observed.sum(axis=1))
    varies = (spread > 0) & np.isfinite(scale)
    return np.where(varies, spread * np.where(varies, scale, 1.0), kinds.MAX_SIZE)


def describe(root: TreeNode, counts: Any, weight: Floats) -> Callable[[list[int]], Floats]:
    """Set the center of each node to the distribution of the words of its samples.

    Return the function that computes it for a list of leaves.
    """
    leaves = list(root.leaves())
    labels: Ints = np.zeros(counts.shape[0], dtype=np.intp)
    for i, leaf in enumerate(leaves):
        labels[leaf.samples] = i
    sums, _ = backends.RowBlocks(counts).group_sums(labels, len(leaves), weight)
    center = word_shares(sums)
    for node in root.nodes():
        node.center = center([leaf.leaf_id or 0 for leaf in node.leaves()])
    return center


ClusterData: TypeAlias = tuple[backends.RowBlocks, backends.RowBlocks]
"""Statistics of the samples in canonical order, and their values in that of the data."""


def prepare_edit(
    tree: Any, X: Any, missing: Any | None, weight: Floats
) -> tuple[ClusterData, Ints]:
    """Check and prepare data as ``fit`` does; also return the row of each sample."""
    if tree._described:
        raise InvalidDataError(
            "[described_not_edited] groups of a tree that was fitted with counts cannot be split "
            "or merged, because the words of the new groups are not known; fit the tree with "
            "another {parameters.max_leaf_nodes}"
        )
    tree._feature_map.check(X, missing)
    rows, order = backends.in_canonical_order(tree._feature_map.rows(X, missing), weight)
    return (rows, backends.RowBlocks(X)), order


def split_leaf(tree: Any, refit: RefitData[ClusterData], group: int, n_groups: int) -> Any:
    """Return a copy of a tree with a leaf split."""
    here = np.flatnonzero(refit.groups.labels == group)
    part, weight = refit.data[0].take(here), refit.weight[here]
    alone = clone(tree).set_params(max_leaf_nodes=n_groups, max_depth=None, growth="best_first")
    growth = cluster_growth.ClusterGrowth(alone, Limits.of(alone))
    grown = growth.grow(tree._feature_map, part, weight)
    if not grown.root.children:
        raise InvalidDataError(wording.CANNOT_SPLIT, group=group, reason=grown.root.reason)
    refined = growth.refine_leaves(grown, tree._feature_map, part, weight)
    if not grown.root.children:
        raise InvalidDataError(
            wording.CANNOT_SPLIT,
            group=group,
            reason=Message(
                "[small_part_after_em] after EM, one part would have a total weight below "
                "{parameters.min_samples_leaf:{least:g}}",
                least=tree.min_samples_leaf,
            ),
        )
    root = branch_of(tree.tree_)
    leaf = root.leaves()[group]
    for branch in grown.root.branches():
        branch.depth += leaf.depth
    leaf.children, leaf.reason = grown.root.children, None
    groups = refit.groups.split(group, Groups(refined.assigner, refined.labels))
    return _edited(tree, refit, root, groups, converged=tree.converged_ and refined.converged)


def merge_leaves(tree: Any, refit: RefitData[ClusterData], groups: list[int]) -> Any:
    """Return a copy of a tree with leaves merged."""
    place, to = merge_numbers(groups, refit.sizes(tree.n_leaves_))
    root = branch_of(tree.tree_)
    for group in reversed(groups):  # from the right, so that the other numbers remain valid
        if group != place:
            drop(root, root.leaves()[group])
    root.leaves()[to[place]].reason = Message("[merged_by_hand] groups were merged by hand")
    merged = refit.groups.renumbered(to)
    # The merged leaf may be larger than those before it.
    sizes = backends.group_totals(merged.labels, refit.weight, len(root.leaves()))
    merged = merged.reordered(sort_children(root, sizes, np.empty((0, len(sizes)))))
    return _edited(tree, refit, root, merged, converged=tree.converged_)


def _edited(
    tree: Any, refit: RefitData[ClusterData], root: Branch, groups: Groups, *, converged: bool
) -> Any:
    out = with_labels(tree, groups.labels, refit.at)
    out._assigner, out.converged_ = groups.assigner, converged
    out._sums = out._leaf_sums = None
    in_given = backends.in_given_order(refit.weight, refit.at)
    out._set_tree(out._nodes(root, groups.labels, *refit.data, refit.weight, in_given))
    keep_names(out, tree)
    return out
