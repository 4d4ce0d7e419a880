"""Run EM over all leaves of a grown tree; drop small leaves, join chains and sort children."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from momentree._types import Floats, Ints
from momentree.assignment.nested import Assigner
from momentree.assignment.posteriors import MixtureAssigner
from momentree.assignment.rules import LinearRule, Rule
from momentree.assignment.tree_rules import RuleAssigner
from momentree.backends import RowArray, Rows, products
from momentree.core.ties import largest, largest_first
from momentree.objects import MixtureParameters, TopicParameters
from momentree.refinement import Refined, em
from momentree.refinement.em import column_sums, expected_statistics, m_step_of_groups
from momentree.tree.chains import join_chains
from momentree.tree.growth import Branch, Grown, log

P = TypeVar("P", bound=MixtureParameters)


class RefinedLeaves(NamedTuple):
    """The leaves of a tree after EM, with the expected statistics of its last step if it ran."""

    assigner: Assigner
    labels: RowArray
    n_iter: int
    converged: bool
    statistics: Floats | None = None
    sizes: Floats | None = None


def refine_leaves(
    grown: Grown,
    rows: Rows,
    weight: RowArray,
    *,
    family: type[P],
    smoothing: float,
    min_samples_leaf: float,
    max_iter: int,
    tol: float,
    chains: tuple[Rows, type[MixtureParameters]] | None = None,
) -> RefinedLeaves:
    """Run EM over all leaves, and assign every sample to its most likely leaf.

    If the weight of a leaf falls below `min_samples_leaf`, the leaf is dropped, an only child
    replaces its parent, and EM continues. Chains of splits are joined at the end if `chains` gives
    the statistics and the family of the splits. All steps together are `max_iter` at most; after
    them, a further leaf may be dropped, but parameters no longer change.
    """
    root, labels = grown.root, grown.labels
    leaves, n_iter = root.leaves(), 0
    log.info("refining %d leaves", len(leaves))
    parameters: MixtureParameters | None = grown.parameters  # may come from other samples
    if parameters is None:
        parameters = m_step_of_groups(family, rows, labels, len(leaves), weight, smoothing)
    while True:
        if n_iter < max_iter:
            result = em(
                rows,
                parameters,
                sample_weight=weight,
                smoothing=smoothing,
                max_iter=max_iter - n_iter,
                tol=tol,
            )
        else:
            words = column_sums(rows, weight)
            sums, of_leaves, likelihood = expected_statistics(rows, parameters, weight, words)
            result = Refined(parameters, likelihood, 0, converged=False, sums=sums, sizes=of_leaves)
        n_iter += result.n_iter
        parameters = result.parameters
        labels = MixtureAssigner.of(parameters).labels(rows)
        sizes = rows.group_sizes(labels, len(leaves), weight)
        counts = rows.group_sizes(labels, len(leaves), rows.ones())
        small = int(largest(-sizes))
        if len(leaves) == 1 or (sizes[small] >= min_samples_leaf and counts.min() > 0):
            break
        drop(root, leaves[small])
        parameters = parameters.without(small)
        leaves = root.leaves()
    if chains is not None:
        of_splits, split_family = chains
        join_chains(root, of_splits.group_sums(labels, len(leaves), weight), sizes, split_family)
    order = sort_children(root, sizes, result.sums)
    assigner = MixtureAssigner.of(parameters.reordered(order))
    return RefinedLeaves(
        assigner,
        rows.map(partial(products.renumbered, to=np.argsort(order)), labels),
        n_iter,
        result.converged,
        result.sums[:, order],
        result.sizes[order],
    )


def drop(root: Branch, leaf: Branch) -> None:
    """Remove a leaf; an only child replaces its parent."""
    parent = next(b for b in root.branches() if leaf in b.children)
    parent.children.remove(leaf)
    parent.rule = None
    if len(parent.children) == 1:
        (sibling,) = parent.children
        for branch in sibling.branches():
            branch.depth -= 1
        parent.children, parent.rule, parent.reason = sibling.children, sibling.rule, sibling.reason


def sort_children(root: Branch, sizes: Floats, sums: Floats) -> Ints:
    """Sort children by size, largest first, and return the old position of each leaf.

    Equal sizes are in the order of the sums of the statistics over each leaf, shape (p, k).
    """
    before = {leaf: i for i, leaf in enumerate(root.leaves())}

    for branch in root.branches():
        below = [[before[leaf] for leaf in child.leaves()] for child in branch.children]
        content = [sums[:, leaves].sum(axis=1) for leaves in below]
        order = largest_first([sizes[leaves].sum() for leaves in below], np.transpose(content))
        by_size = [branch.children[i] for i in order]
        if by_size != branch.children:
            branch.children, branch.rule = by_size, None
    return np.array([before[leaf] for leaf in root.leaves()], dtype=np.intp)


def use_topics_of_sides(root: Branch, sums: Floats, sizes: Floats, smoothing: float) -> None:
    """Let the rules of all splits compare the topics of the samples on their two sides.

    On twelve labeled corpora this agrees better with the labels than the pseudo-centers by which
    the sides were found (``docs/choices.md``), and it serves words that were left out before.
    """
    place = {leaf: i for i, leaf in enumerate(root.leaves())}
    for branch in root.branches():
        sides = [[place[leaf] for leaf in child.leaves()] for child in branch.children]
        if sides:
            of_sides = np.stack([sums[:, side].sum(axis=1) for side in sides], axis=1)
            n = np.array([sizes[side].sum() for side in sides])
            topics = TopicParameters.m_step(of_sides, n, smoothing)
            branch.rule = LinearRule.between(topics, prior=False)


def rule_assigner(root: Branch) -> RuleAssigner:
    """Return the rules of the splits as an assigner."""
    inner = [b for b in root.branches() if b.children]
    place = {b: i for i, b in enumerate(inner)}
    place |= {leaf: -1 - i for i, leaf in enumerate(root.leaves())}
    rules: list[Rule] = [b.rule for b in inner if b.rule is not None]
    return RuleAssigner(tuple(rules), tuple(tuple(place[c] for c in b.children) for b in inner))
