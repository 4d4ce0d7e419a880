"""Split and merge the leaves of a fitted cluster tree by hand."""

from __future__ import annotations

from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import clone

from momentree._types import Floats, Ints
from momentree.assignment.editing import EditableGroups, Groups, RefitData, merged_numbers
from momentree.assignment.nested import Assigner
from momentree.backends import RowBlocks, group_totals, in_canonical_order, in_given_order
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.preprocessing import FeatureMap
from momentree.tree._base import TreeEstimator
from momentree.tree.cluster_growth import ClusterGrowth
from momentree.tree.growth import Branch
from momentree.tree.leaves import branch_of, drop, sort_children

ClusterData: TypeAlias = tuple[RowBlocks, RowBlocks]
"""Statistics of the samples in canonical order, and their values in that of the data."""


class EditableClusters(EditableGroups[ClusterData], TreeEstimator):
    """The edits of a :class:`momentree.ClusterTree`, which grows and refines the new leaves."""

    n_components: int | None
    _feature_map: FeatureMap

    @property
    def _groups_assigner(self) -> Assigner:
        return self._assigner

    @property
    def _fitted_with_missing(self) -> bool:
        return self._feature_map.incomplete

    def _prepared(self, X: Any, missing: Any | None, weight: Floats) -> tuple[ClusterData, Ints]:
        if getattr(self, "_described", False):
            raise InvalidDataError("described_not_edited")
        self._feature_map.check(X, missing)
        rows, at = in_canonical_order(self._feature_map.rows(X, missing), weight)
        return (rows, RowBlocks(X)), at

    def _split(self, refit: RefitData[ClusterData], group: int, n_groups: int) -> Self:
        here = np.flatnonzero(refit.groups.labels == group)
        part, weight = refit.data[0].take(here), refit.weight[here]
        alone = clone(self).set_params(max_leaf_nodes=n_groups, max_depth=None, growth="best_first")
        if self.n_components is not None:
            alone.set_params(n_components=n_groups)
        growth = ClusterGrowth.of(alone)
        grown = growth.grow(self._feature_map, part, weight)
        if not grown.root.children:
            raise InvalidDataError("cannot_split", group=group, reason=grown.root.reason)
        refined = growth.refine_leaves(grown, self._feature_map, part, weight)
        if not grown.root.children:
            raise InvalidDataError(
                "cannot_split",
                group=group,
                reason=Message("small_part_after_em", least=self.min_samples_leaf),
            )
        root = branch_of(self.tree_)
        leaf = root.leaves()[group]
        for branch in grown.root.branches():
            branch.depth += leaf.depth
        leaf.children, leaf.reason = grown.root.children, None
        groups = refit.groups.split(group, Groups(refined.assigner, refined.labels))
        return self._edited(refit, root, groups, converged=self.converged_ and refined.converged)

    def _merge(self, refit: RefitData[ClusterData], groups: list[int]) -> Self:
        place, to = merged_numbers(groups, refit.sizes(self.n_leaves_))
        root = branch_of(self.tree_)
        for group in reversed(groups):  # from the right, so that the other numbers remain valid
            if group != place:
                drop(root, root.leaves()[group])
        root.leaves()[to[place]].reason = Message("merged_by_hand")
        merged = refit.groups.renumbered(to)
        # The merged leaf may be larger than those before it.
        sizes = group_totals(merged.labels, refit.weight, len(root.leaves()))
        merged = merged.reordered(sort_children(root, sizes, np.empty((0, len(sizes)))))
        return self._edited(refit, root, merged, converged=self.converged_)

    def _edited(
        self,
        refit: RefitData[ClusterData],
        root: Branch,
        groups: Groups,
        *,
        converged: bool,
    ) -> Self:
        out = self._with_labels(groups.labels, refit.at)
        out._assigner, out.converged_ = groups.assigner, converged
        out._sums = out._leaf_sums = None
        in_given = in_given_order(refit.weight, refit.at)
        out._set_tree(out._nodes(root, groups.labels, *refit.data, refit.weight, in_given))
        out._keep_names(self)
        return out
