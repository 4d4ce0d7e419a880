"""Build a hierarchy over given leaves by merges of least loss, and join chains of equal splits."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats, Ints
from momentree.core.ties import largest, largest_first
from momentree.messages import Message
from momentree.objects import MixtureParameters
from momentree.refinement.em import Samples
from momentree.tree.growth import Branch, Grown

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


def tree_of_groups(
    samples: Samples,
    labels: Ints,
    family: type[MixtureParameters],
    reason: Message | None,
    parameters: MixtureParameters | None = None,
) -> Grown:
    """Return a binary tree over groups of samples, whose leaves were not split for a reason."""
    k = int(labels.max()) + 1 if parameters is None else parameters.n_components
    root, order = hierarchy(*samples.group_sums(labels, k), family)
    for leaf in root.leaves():
        leaf.reason = reason
    in_order = None if parameters is None else parameters.reordered(order)
    return Grown(root, np.argsort(order)[labels], in_order)


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


ABOUT_THE_SAME = 0.85
"""A split that separates at least this fraction of the first split of a chain is joined to it. On
samples with known levels, every level is found, and few that do not exist; above this limit, more
and more unrelated topics are shown as pairs, and below it, levels that agree with labels are lost
(``docs/choices.md``)."""


def join_chains(root: Branch, sums: Floats, sizes: Floats, family: type[MixtureParameters]) -> None:
    """Join each split to the split above it, unless its sides are clearly more similar.

    The separation of a split is the mean, over pairs of leaves on different sides, of the
    log-likelihood gained by separating one sample of each leaf:

        l(S_i / N_i) + l(S_j / N_j) - l(S_i / N_i + S_j / N_j),

    where l is the maximized log-likelihood of sums under one component. Unlike the gain, it does
    not depend on the sizes of the leaves: it is about the same for all splits of unrelated groups,
    however many are on each side, and lower for the parts of one group.

    Parameters
    ----------
    root : Branch
        The tree; it is changed in place. Joined branches no longer have rules.
    sums, sizes : ndarray of shape (p, k) and (k,)
        Sums of the statistics over each leaf from left to right, and its total sample weight.
    family : type of MixtureParameters
        Family of the likelihood.

    Notes
    -----
    Time O(p k^2). Each split is compared with the first of its chain, so that a long chain of
    slightly different splits does not join different levels.
    """
    pairs = _separations(sums, sizes, family)
    place = {leaf: i for i, leaf in enumerate(root.leaves())}
    below = {branch: [place[leaf] for leaf in branch.leaves()] for branch in root.branches()}
    separation = {
        branch: _across([below[child] for child in branch.children], pairs)
        for branch in below
        if branch.children
    }

    def joined(branch: Branch, least: float) -> list[Branch]:
        """Return the children of a branch, with those of a joined child in its place."""
        children = []
        for child in branch.children:
            if child.children and separation[child] >= least:
                children += joined(child, least)
            else:
                children.append(child)
        return children

    for branch in below:  # from the root down
        if branch.children:
            children = joined(branch, ABOUT_THE_SAME * separation[branch])
            if len(children) > len(branch.children):
                branch.children, branch.rule = children, None
    set_depths(root)


def _across(sides: list[list[int]], pairs: Floats) -> float:
    """Return the mean over pairs of leaves on different sides."""
    total, n = 0.0, 0
    for i, side in enumerate(sides):
        for other in sides[:i]:
            total += float(pairs[np.ix_(side, other)].sum())
            n += len(side) * len(other)
    return total / n


def _separations(sums: Floats, sizes: Floats, family: type[MixtureParameters]) -> Floats:
    """Return the separation of each pair of leaves, shape (k, k)."""
    means = np.asfortranarray(sums / sizes)
    one = np.ones(len(sizes))
    own = family.maximized_log_likelihood(means, one)
    everything = np.arange(len(sizes))
    merged = [merged_log_likelihoods(means, one, family, i, everything) for i in range(len(sizes))]
    return np.asarray(own[:, None] + own - np.stack(merged))
