"""Trees that learn from batches: leaf sums, EM with the sums of earlier batches, and names."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.assignment import posteriors, rules
from momentree.backends import Rows
from momentree.estimators.batches import BatchUpdate
from momentree.estimators.changes import ModelChanges, compare_models
from momentree.estimators.names import nodes_by_number
from momentree.objects import MixtureParameters, MixtureSums
from momentree.refinement import renewing_em
from momentree.refinement.em import column_sums
from momentree.tree.leaves import branch_of


@dataclass(frozen=True)
class TreeBatch:
    """A batch in canonical order."""

    rows: Rows  # statistics of the mixture over the leaves
    rows_of_rules: Rows  # statistics of the splits
    weight: Floats
    smoothing: float  # the one that was asked for, on the scale of `rows`
    smoothing_of_counts: float
    column_scale: Floats | None  # None if new groups are not searched for
    family: type[MixtureParameters]
    sums_of: Callable[[Ints, int], MixtureSums]  # sets labels_, and sums up the leaves
    continued: Callable[[MixtureParameters, float], MixtureParameters] = lambda p, _: p
    stored: Callable[[MixtureParameters], MixtureParameters] = lambda p: p


def update_tree(
    tree: Any, X: Any, missing: Any | None, weight: Floats, before: MixtureSums
) -> BatchUpdate:
    """Learn from checked samples."""
    batch = tree._batch(X, missing, weight)
    assigner, leaves = tree._assigner, tree._leaf_sums
    leaves = leaves.faded(before.weight / max(tree._sums.weight, 1e-300))
    k = tree.n_leaves_
    is_mixture = isinstance(assigner, posteriors.MixtureAssigner)
    n, m = before.weight, float(weight.sum())
    asked = (n * before.smoothing + m * batch.smoothing) / (n + m)
    total = before.statistics.sum() + column_sums(batch.rows, batch.weight).sum()
    smoothing = batch.family.limited_smoothing(asked, float(total), before.statistics.shape)
    if isinstance(assigner, posteriors.MixtureAssigner):
        start = batch.continued(assigner.parameters, n)
    else:  # rules remain as they are
        start = batch.family.m_step(before.statistics, before.sizes, smoothing)
    found = renewing_em(
        batch.rows if is_mixture else batch.rows_of_rules,
        start,
        before,
        # Leaves that a cut has merged are no component of a mixture.
        column_scale=None if _is_cut(assigner) else batch.column_scale,
        most=start.n_components,
        renew=False,
        sample_weight=batch.weight,
        smoothing=smoothing,
        unit=asked / batch.smoothing_of_counts,
        max_iter=tree.max_iter if is_mixture else 1,
        tol=tree.tol,
    )
    if isinstance(assigner, posteriors.MixtureAssigner):
        parameters = batch.stored(found.parameters)
        tree._assigner = assigner = posteriors.MixtureAssigner(parameters, assigner.group)
        tree.n_iter_, tree.converged_ = found.n_iter, found.converged
    here = batch.sums_of(assigner.labels(batch.rows if is_mixture else batch.rows_of_rules), k)
    added = here
    if is_mixture:
        none = np.empty((0, len(found.sizes)))
        added = replace(here, statistics=found.statistics, sizes=found.sizes, counts=none)
    tree._sums = before.plus(added)
    tree._leaf_sums = leaves.plus(here)
    root = tree._nodes_of(branch_of(tree.tree_), tree._leaf_sums)
    tree._describe_batch(root, X, weight)
    tree._set_tree(root)
    shares = here.sizes / here.sizes.sum()
    return BatchUpdate(np.arange(k), shares, m, found.unlike)


def keep_names_of(tree: Any, before: Any, changes: ModelChanges) -> None:
    """Keep names and words of nodes whose leaves all stayed, and names given by hand."""
    fresh = {g.new for g in changes if g.status in ("moved", "appeared")}
    given = before.given_names_
    if not fresh:
        tree.tree_.name, tree.tree_.words = before.tree_.name, before.tree_.words
    new = nodes_by_number(tree.tree_)
    for key, old in nodes_by_number(before.tree_).items():
        node = new[key]
        if key in given:
            node.name = given[key]
        elif not {leaf.leaf_id for leaf in node.leaves()} & fresh:
            node.name, node.words = old.name, old.words


def relabel(tree: Any, like: Any) -> None:
    """Take over the names that the same leaves have in another tree."""
    changes = compare_models(like, tree)
    names, given = like.names_, like.given_names_
    root = tree._copied_root()
    nodes = nodes_by_number(root)
    same = {g.new: g.old for g in changes if g.old is not None and g.new is not None}
    stayed = {g.new for g in changes if g.status == "stayed"}
    kept = {str(j): names[i] for j, i in same.items() if j in stayed or str(i) in given}
    others = {node.name for key, node in nodes.items() if key not in kept}
    for key, name in kept.items():
        if name not in others:
            nodes[key].name = name
    by_hand = {str(j): given[str(i)] for j, i in same.items() if str(i) in given}
    tree._given_names = by_hand or None
    tree._set_names(root)
    tree.changes_ = compare_models(like, tree)


def _is_cut(assigner: rules.Assigner) -> bool:
    """Whether several sides of rules lead to one leaf."""
    if not isinstance(assigner, rules.RuleAssigner):
        return False
    leaves = [side for sides in assigner.children for side in sides if side < 0]
    return len(leaves) > len(set(leaves))
