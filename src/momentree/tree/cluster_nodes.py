"""The nodes of a tree of clusters, from sums over its leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends import RowArray, Rows
from momentree.objects import MixtureSums
from momentree.preprocessing import FeatureMap
from momentree.preprocessing.kinds import MAX_SIZE
from momentree.tree.cuts import Merges
from momentree.tree.growth import Branch
from momentree.tree.leaves import build_nodes
from momentree.tree.node import TreeNode


def nodes_and_merges(
    root: Branch, labels: Ints, leaves: MixtureSums, feature_map: FeatureMap, n_features: int
) -> tuple[TreeNode, Merges]:
    """Return the finished tree, and the order in which its leaves can be merged.

    Parameters
    ----------
    root : Branch
        The splits.
    labels : ndarray of int of shape (n,)
        Leaf of each sample; empty if the samples are elsewhere.
    leaves : MixtureSums
        Sums over the leaves: `statistics` of the moments, and `counts` of the values.
    feature_map : FeatureMap
        The map from values to statistics.
    n_features : int
        Number of columns d of the data.

    Returns
    -------
    tree : TreeNode
        The root, with means of the values as centers, and gains in nats.
    merges : Merges
        The merges, with their losses in nats.
    """
    sums, sizes, of_values, d = leaves.statistics, leaves.sizes, leaves.counts, n_features
    if feature_map.kind in ("binary", "counts"):
        of_values = sums[:d]
    elif feature_map.kind == "real":
        of_values = feature_map.restored(sums, sizes)
    family = feature_map.family
    unit = family.nats_per_unit(sums, sizes)

    def center(leaves: list[int]) -> Floats:
        missing = sums[-d:, leaves].sum(axis=1) if feature_map.incomplete else 0.0
        observed = np.maximum(sizes[leaves].sum() - missing, np.finfo(float).tiny)
        return np.asarray(of_values[:, leaves].sum(axis=1) / observed)

    def gain(sides: list[list[int]]) -> float:
        S = np.stack([sums[:, side].sum(axis=1) for side in sides], axis=1)
        N = np.array([sizes[side].sum() for side in sides])
        whole = family.maximized_log_likelihood(S.sum(axis=1), N.sum())
        return float(family.maximized_log_likelihood(S, N).sum() - whole) * unit

    tree = build_nodes(root, labels, sizes, center=center, gain=gain)
    merges = Merges.of(tree, sums, sizes, family, center)
    return tree, replace(merges, losses=merges.losses * unit)


def spread_within(
    rows: Rows,
    weight: RowArray,
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
    return np.where(varies, spread * np.where(varies, scale, 1.0), MAX_SIZE)
