"""EM over all leaves of a grown tree, and what it changes: leaves dropped, children reordered."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from momentree.assignment.posteriors import MixtureAssigner
from momentree.assignment.rules import Rule
from momentree.assignment.tree_rules import RuleAssigner
from momentree.backends import RowBlocks
from momentree.objects import MixtureParameters
from momentree.refinement import em
from momentree.tree.growth import Branch, Grown, log

__all__ = ["drop", "refine_leaves", "rule_assigner", "sort_children"]

P = TypeVar("P", bound=MixtureParameters)

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def refine_leaves(
    grown: Grown,
    rows: RowBlocks,
    weight: Floats,
    *,
    family: type[P],
    smoothing: float,
    min_samples_leaf: float,
    max_iter: int,
    tol: float,
) -> tuple[MixtureAssigner, Ints, int, bool]:
    """Run EM over all leaves, and assign every sample to its most likely leaf.

    A leaf that EM leaves with a weight below `min_samples_leaf` is dropped, a sibling without
    others takes the place of its parent, and EM goes on.

    Parameters
    ----------
    grown : Grown
        The tree; its branches are changed in place.
    rows : RowBlocks of shape (n, p)
        Statistics of the samples.
    weight : ndarray of shape (n,)
        Sample weights.
    family : type of MixtureParameters
        Class of the mixture.
    smoothing, max_iter, tol
        See :func:`momentree.refinement.em`.
    min_samples_leaf : float
        Least total sample weight of a leaf.

    Returns
    -------
    assigner : MixtureAssigner
        One component per leaf.
    labels : ndarray of int of shape (n,)
        Leaf of each sample.
    n_iter : int
        EM steps in all.
    converged : bool
        Whether the last EM met its tolerance.
    """
    root, labels = grown.root, grown.labels
    leaves, n_iter = root.leaves(), 0
    log.info("refining %d leaves", len(leaves))
    sizes = np.bincount(labels, weights=weight, minlength=len(leaves)).astype(np.float64)
    parameters = family.m_step(rows.group_sums(labels, len(leaves), weight), sizes, smoothing)
    while True:
        result = em(
            rows,
            parameters,
            sample_weight=weight,
            smoothing=smoothing,
            max_iter=max_iter,
            tol=tol,
        )
        n_iter += result.n_iter
        parameters = result.parameters
        labels = MixtureAssigner.of(parameters).labels(rows)
        sizes = np.bincount(labels, weights=weight, minlength=len(leaves)).astype(np.float64)
        counts = np.bincount(labels, minlength=len(leaves))
        small = int(sizes.argmin())
        if len(leaves) == 1 or (sizes[small] >= min_samples_leaf and counts.min() > 0):
            break
        drop(root, leaves[small])
        parameters = parameters.without(small)
        leaves = root.leaves()
    order = sort_children(root, sizes)
    assigner = MixtureAssigner.of(parameters.reordered(order))
    return assigner, np.argsort(order)[labels], n_iter, result.converged


def drop(root: Branch, leaf: Branch) -> None:
    """Remove a leaf; a sibling without others takes the place of its parent."""
    parent = next(b for b in root.branches() if leaf in b.children)
    parent.children.remove(leaf)
    parent.rule = None
    if len(parent.children) == 1:
        (sibling,) = parent.children
        for branch in sibling.branches():
            branch.depth -= 1
        parent.children, parent.rule, parent.reason = sibling.children, sibling.rule, sibling.reason


def sort_children(root: Branch, sizes: Floats) -> Ints:
    """Put the larger child first everywhere.

    Parameters
    ----------
    root : Branch
        The tree, changed in place.
    sizes : ndarray of shape (n_leaves,)
        Size of each leaf.

    Returns
    -------
    ndarray of int of shape (n_leaves,)
        The old position of each leaf.
    """
    before = {leaf: i for i, leaf in enumerate(root.leaves())}

    def size(branch: Branch) -> float:
        return sum(float(sizes[before[leaf]]) for leaf in branch.leaves())

    for branch in root.branches():
        by_size = sorted(branch.children, key=size, reverse=True)
        if by_size != branch.children:
            branch.children, branch.rule = by_size, None
    return np.array([before[leaf] for leaf in root.leaves()], dtype=np.intp)


def rule_assigner(root: Branch) -> RuleAssigner:
    """Return the rules of the splits as an assigner."""
    inner = [b for b in root.branches() if b.children]
    place = {b: i for i, b in enumerate(inner)}
    place |= {leaf: -1 - i for i, leaf in enumerate(root.leaves())}
    rules: list[Rule] = [b.rule for b in inner if b.rule is not None]
    return RuleAssigner(tuple(rules), tuple(tuple(place[c] for c in b.children) for b in inner))
