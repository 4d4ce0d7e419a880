"""Merge the most similar leaves of a grown tree: a start for EM over the leaves."""

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
from momentree.tree.split import SPLIT_ITER
from momentree.tree.stopping import log_likelihood, n_added

MORE_LEAVES = 2
"""A tree is grown to this many times the leaves requested."""
PATIENCE = 3
"""Stop after so many merges in a row without a lower BIC."""


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


def merge_while_better(
    grown: Grown,
    rows: RowBlocks,
    weight: Floats,
    *,
    family: type[MixtureParameters],
    smoothing: float,
    tol: float,
) -> Grown:
    """Merge the pair of leaves that loses least, with EM after each merge, while BIC falls.

    A criterion that judges splits one by one keeps both parts of a group that an early split has
    cut. The result is a binary tree over the merged leaves, or the same tree if no merge is better.
    """
    k = len(grown.root.leaves())
    penalty = 0.5 * n_added(family, rows, weight) * float(np.log(max(float(weight.sum()), 2.0)))
    parameters: MixtureParameters = m_step_of_groups(
        family, rows, grown.labels, k, weight, smoothing
    )
    found, scores = list[MixtureParameters](), list[float]()
    while True:
        refined = em(
            rows,
            parameters,
            sample_weight=weight,
            smoothing=smoothing,
            max_iter=SPLIT_ITER,
            tol=tol,
        )
        sums, sizes = refined.sums.copy(), refined.sizes.copy()
        found.append(refined.parameters)
        likelihood = log_likelihood(family, rows, weight, sums, sizes)
        scores.append(likelihood - penalty * len(sizes))
        best = int(np.argmax(scores))
        if len(sizes) == 1 or len(scores) > best + PATIENCE:
            break
        a, b, _ = least_loss_merges(sums, sizes, family)[0]
        sums[:, a] += sums[:, b]
        sizes[a] += sizes[b]
        parameters = family.m_step(np.delete(sums, b, axis=1), np.delete(sizes, b), smoothing)
    if best == 0:
        return grown
    labels = MixtureAssigner.of(found[best]).labels(rows)
    log.info("merged %d leaves into %d", k, k - best)
    labels = np.unique(labels, return_inverse=True)[1]
    k = int(labels.max()) + 1
    root, order = hierarchy(
        rows.group_sums(labels, k, weight), rows.group_sizes(labels, k, weight), family
    )
    gain = scores[best - 1] - scores[best] + penalty
    for leaf in root.leaves():
        leaf.reason = Message("bic_penalty", gain=gain, penalty=penalty)
    return Grown(root, np.argsort(order)[labels])
