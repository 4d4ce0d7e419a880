"""Build a hierarchy over given leaves: merge the pair that loses least log-likelihood."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats, Ints
from momentree.core.ties import largest, largest_first
from momentree.objects import MixtureParameters
from momentree.tree.growth import Branch

Merge = tuple[int, int, float]
"""Two groups and the log-likelihood lost by merging them, in nats. Groups are numbered as in SciPy:
leaves from 0 to k - 1; merge t makes group k + t."""

ROUNDING = 1e-13
"""Rounding error of a loss, relative to the largest log-likelihood of a leaf."""
_BLOCK = 1 << 16
"""Numbers in a block of sums: 512 kB, so that it remains in the cache of a processor."""


def hierarchy(sums: Floats, sizes: Floats, family: type[MixtureParameters]) -> tuple[Branch, Ints]:
    """Build a binary tree over leaves by merging groups, the most similar first.

    A merge of groups a and b loses l(a) + l(b) - l(a + b) nats, where l is the maximized
    log-likelihood of a group under one component; for counts this is the agglomerative information
    bottleneck of N. Slonim and N. Tishby (1999). On corpora whose labels have two levels, these
    trees agree better with both than trees grown from the root (``docs/choices.md``).

    Parameters
    ----------
    sums, sizes : ndarray of shape (p, k) and (k,)
        Sums of the statistics over each leaf, and its total sample weight.
    family : type of MixtureParameters
        Family of the likelihood.

    Returns
    -------
    tuple of Branch and ndarray of intp of shape (k,)
        The root, whose children are sorted by size, largest first; and the given leaf at each
        position from left to right.

    Notes
    -----
    Time O(p k^2), memory O(p k).
    """
    groups = [(float(size), Branch(), [i]) for i, size in enumerate(sizes)]
    for a, b, loss in least_loss_merges(sums, sizes, family):
        both = groups[a], groups[b]
        content = np.stack([sums[:, leaves].sum(axis=1) for *_, leaves in both], axis=1)
        pair = [both[i] for i in largest_first([size for size, *_ in both], content)]
        branch = Branch(gain=loss, children=[child for _, child, _ in pair])
        leaves = [leaf for _, _, below in pair for leaf in below]
        groups.append((groups[a][0] + groups[b][0], branch, leaves))
    _, root, order = groups[-1]
    set_depths(root)
    return root, np.array(order, dtype=np.intp)


def least_loss_merges(sums: Floats, sizes: Floats, family: type[MixtureParameters]) -> list[Merge]:
    """Merge groups until one remains, each time the pair that loses least log-likelihood.

    If several pairs lose the same, the first of them is merged. Parameters are those of
    :func:`hierarchy`.
    """
    k = len(sizes)
    # Columns are contiguous, because pairs of groups are added.
    S, N = np.array(sums, dtype=np.float64, order="F"), np.array(sizes, dtype=np.float64)
    own = np.array(family.maximized_log_likelihood(S, N), dtype=np.float64)
    losses = np.full((k, k), np.inf)
    active = np.ones(k, dtype=bool)
    number = np.arange(k)
    merges: list[Merge] = []

    def update(i: int, others: Ints) -> None:
        if others.size:
            merged = merged_log_likelihoods(S, N, family, i, others)
            losses[np.minimum(i, others), np.maximum(i, others)] = own[i] + own[others] - merged

    for i in range(k):
        update(i, np.arange(i + 1, k))
    least = ROUNDING * float(np.abs(own).max())
    while len(merges) < k - 1:
        i, j = divmod(int(largest(-losses.ravel(), least=least)), k)
        a, b = sorted((int(number[i]), int(number[j])))
        merges.append((a, b, max(0.0, float(losses[i, j]))))
        S[:, i] += S[:, j]
        N[i] += N[j]
        own[i] = family.maximized_log_likelihood(S[:, i], N[i])
        active[j], number[i] = False, k + len(merges) - 1
        losses[[i, j]] = losses[:, [i, j]] = np.inf
        update(i, np.flatnonzero(active & (np.arange(k) != i)))
    return merges


def merged_log_likelihoods(
    S: Floats, N: Floats, family: type[MixtureParameters], i: int, others: Ints
) -> Floats:
    """Return the maximized log-likelihood of group i merged with each of several others."""
    step = max(1, _BLOCK // max(1, len(S)))
    parts = [
        family.maximized_log_likelihood(S[:, [i]] + S[:, some], N[i] + N[some])
        for some in np.split(others, range(step, len(others), step))
    ]
    return np.concatenate(parts)


def set_depths(root: Branch) -> None:
    """Set the depth of every branch below a root from its place in the tree."""
    stack = [root]
    while stack:
        branch = stack.pop()
        for child in branch.children:
            child.depth = branch.depth + 1
        stack += branch.children
