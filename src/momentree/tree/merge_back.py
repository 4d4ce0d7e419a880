"""Grow more leaves than requested, and merge the most similar: a start for EM over the leaves."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats
from momentree.assignment.posteriors import MixtureAssigner
from momentree.backends import RowBlocks
from momentree.messages import Message
from momentree.objects import MixtureParameters
from momentree.refinement.em import em, m_step_of_groups
from momentree.tree.growth import Grown, log
from momentree.tree.hierarchy import hierarchy, least_loss_merges

MORE_LEAVES = 2
"""A tree is grown to this many times the leaves requested."""


def merge_back(
    grown: Grown,
    rows: RowBlocks,
    weight: Floats,
    n_leaves: int,
    *,
    family: type[MixtureParameters],
    smoothing: float,
    max_iter: int,
    tol: float,
) -> Grown:
    """Run EM over the leaves of a grown tree, then merge the pair that loses least, to `n_leaves`.

    An early split may cut a group in halves, which EM over the leaves cannot join. The result is a
    binary tree over the merged leaves, made by the remaining merges.
    """
    if len(grown.root.leaves()) <= n_leaves:
        return grown
    log.info("merging %d leaves into %d", len(grown.root.leaves()), n_leaves)
    labels = grown.labels
    k = int(labels.max()) + 1
    start = m_step_of_groups(family, rows, labels, k, weight, smoothing)
    refined = em(rows, start, sample_weight=weight, smoothing=smoothing, max_iter=max_iter, tol=tol)
    labels = np.unique(MixtureAssigner.of(refined.parameters).labels(rows), return_inverse=True)[1]
    k = int(labels.max()) + 1
    sums = rows.group_sums(labels, k, weight)
    sizes = rows.group_sizes(labels, k, weight)
    merges = least_loss_merges(sums, sizes, family)[: max(0, k - n_leaves)]
    group = np.arange(k)
    for t, (a, b, _) in enumerate(merges):
        group[(group == a) | (group == b)] = k + t
    labels = np.unique(group, return_inverse=True)[1][labels]
    k = int(labels.max()) + 1
    sums = rows.group_sums(labels, k, weight)
    sizes = rows.group_sizes(labels, k, weight)
    root, order = hierarchy(sums, sizes, family)
    for leaf in root.leaves():
        leaf.reason = Message("max_leaf_nodes_reached", limit=n_leaves)
    return Grown(root, np.argsort(order)[labels])
