"""Join chains of splits that separate about equally into one node with several children."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats
from momentree.objects import MixtureParameters
from momentree.tree.growth import Branch
from momentree.tree.hierarchy import merged_log_likelihoods, set_depths

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
