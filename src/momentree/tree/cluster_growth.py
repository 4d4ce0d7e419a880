"""How a tree of clusters grows from features of the data, and EM over its leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from momentree._types import Floats
from momentree.assignment.posteriors import MixtureAssigner
from momentree.backends import RowArray, RowBlocks, Rows, collected
from momentree.core.choices import CovarianceType, Growth
from momentree.core.ties import largest_first
from momentree.objects import Family, MixtureParameters
from momentree.preprocessing import FeatureMap
from momentree.preprocessing.kinds import DIRECTIONS
from momentree.preprocessing.leaf_mixture import LeafMixture
from momentree.preprocessing.outliers import varying_columns
from momentree.refinement.em import Refined, em, m_step_of_groups
from momentree.tree.growth import Grown, Limits, grow, log
from momentree.tree.leaves import (
    MORE_LEAVES,
    RefinedLeaves,
    assign_by_rules,
    merge_back,
    merge_while_better,
    refine_leaves,
)
from momentree.tree.split import SPLIT_ITER
from momentree.tree.splitters import DSidiwoSplitter
from momentree.tree.stopping import accept_all, mixture_bic

Refine = Literal["em", "splits", "leaves"]

COVARIANCE_ITER = 15
"""EM steps with each kind of covariances before one is chosen."""
MOST_STATISTICS = 1 << 27
"""Products of two features of all samples, at most, for a choice that includes full covariances:
with more, an EM step takes a second or longer."""


class FittedClusters(NamedTuple):
    """The features of a tree of clusters with the mixture over its leaves, and its leaves."""

    feature_map: FeatureMap
    grown: Grown
    leaves: RefinedLeaves


@dataclass(frozen=True)
class ClusterGrowth:
    """The parameters of :class:`momentree.ClusterTree` on which growth depends."""

    limits: Limits
    n_components: int | None
    growth: Growth
    refine: Refine | None
    covariance_type: Literal["auto"] | CovarianceType
    min_samples_leaf: float
    smoothing: float
    exact: bool
    max_iter: int
    tol: float

    @classmethod
    def of(cls, tree: Any, chosen: int | None = None) -> ClusterGrowth:
        """Return the parameters of an estimator, with a chosen number of leaves if there is one."""
        names = list(cls.__dataclass_fields__)[1:]
        k = tree.n_components
        limits = Limits(k, 1) if k else Limits.of(tree, chosen)
        return cls(limits, *(getattr(tree, name) for name in names))

    @property
    def over_leaves(self) -> bool:
        """Whether EM runs over the leaves; the clusters of a flat clustering are the leaves."""
        return self.refine in ("em", "leaves") or bool(self.refine and self.n_components)

    def fit(self, feature_map: FeatureMap, rows: Rows, weight: RowArray) -> FittedClusters:
        """Grow a tree and refine it, with the covariances of lowest BIC for real data.

        EM with these covariances may reduce a leaf to less than `min_samples_leaf`, which drops it:
        a component that shrinks to few outliers or equal samples gains likelihood almost without
        bound. Then the covariances of the next lowest BIC are used, if they keep more leaves.
        """
        grown = self.grow(feature_map, rows, weight)
        options = [(feature_map, grown)]
        if self.over_leaves and feature_map.kind == "real":
            options = self._with_covariances(feature_map, grown, collected(rows), weight)
        fits: list[FittedClusters] = []
        for features, start in options:
            start = replace(start, root=deepcopy(start.root))
            leaves = self.refine_leaves(start, features, rows, weight)
            fits.append(FittedClusters(features, start, leaves))
            if len(start.root.leaves()) == len(grown.root.leaves()):
                break
        return max(fits, key=lambda fit: len(fit.grown.root.leaves()))

    def grow(self, feature_map: FeatureMap, rows: Rows, weight: RowArray) -> Grown:
        """Grow a tree, and merge its leaves as far as the kind of data asks for."""
        k, limits, kind = self.n_components, self.limits, feature_map.kind
        by_number = math.isfinite(limits.leaves) and math.isinf(limits.depth)
        merged = kind in DIRECTIONS and self.refine in ("em", "leaves") and by_number
        splitter = DSidiwoSplitter(
            min_samples_leaf=self.min_samples_leaf,
            feature_map=feature_map,
            smoothing=self.smoothing,
            n_sides=k or 2,
            refine_iter=SPLIT_ITER if self.refine in ("em", "splits") else 0,
            exact=self.exact,
        )
        grown = grow(
            rows,
            weight,
            feature_map.row_scale(rows),
            splitter,
            Limits(MORE_LEAVES * limits.leaves) if merged else limits,
            growth="best_first" if k else self.growth,
            criterion=partial(mixture_bic, feature_map.family) if limits.none else accept_all,
        )
        em_settings: dict[str, Any] = {
            "family": feature_map.family,
            "smoothing": self.smoothing,
            "tol": self.tol,
        }
        if limits.none and self.over_leaves and kind in ("binary", "counts"):
            return merge_while_better(grown, collected(rows), weight, **em_settings)
        if merged:
            em_settings["max_iter"] = self.max_iter
            return merge_back(grown, collected(rows), weight, int(limits.leaves), **em_settings)
        return grown

    def refine_leaves(
        self, grown: Grown, feature_map: FeatureMap, rows: Rows, weight: RowArray
    ) -> RefinedLeaves:
        """Run EM over the leaves of a tree, which it changes, if that is asked for."""
        if not self.over_leaves:
            return assign_by_rules(grown)
        leaves, of_leaves = feature_map.leaves, rows
        family: Family[MixtureParameters] = feature_map.family
        if leaves is not None:
            of_leaves = feature_map.leaf_rows(rows)
            family = leaves.fitting_family(feature_map.standardized(rows)[0], weight)
        refined = refine_leaves(
            grown,
            of_leaves,
            weight,
            family=family,
            smoothing=self.smoothing,
            min_samples_leaf=self.min_samples_leaf,
            max_iter=self.max_iter,
            tol=self.tol,
            chains=(rows, feature_map.family) if self.growth == "best_first" else None,
        )
        assigner = refined.assigner
        if leaves is None or not isinstance(assigner, MixtureAssigner):
            return refined
        stored = MixtureAssigner(leaves.stored(assigner.parameters), assigner.group)
        return refined._replace(assigner=stored)

    def _with_covariances(
        self, feature_map: FeatureMap, grown: Grown, rows: RowBlocks, weight: RowArray
    ) -> list[tuple[FeatureMap, Grown]]:
        """Return the covariances of the mixture over the leaves, those of lowest BIC first."""
        n = int(np.count_nonzero(np.asarray(weight)))
        types = covariance_candidates(feature_map, n, len(grown.root.leaves()))
        return with_covariances(
            feature_map,
            grown,
            rows,
            weight,
            types if self.covariance_type == "auto" else [self.covariance_type],
            few=self.min_samples_leaf,
            smoothing=self.smoothing,
            max_iter=self.max_iter,
            tol=self.tol,
        )


def with_covariances(
    feature_map: FeatureMap,
    grown: Grown,
    rows: RowBlocks,
    weight: Floats,
    types: Sequence[CovarianceType],
    *,
    few: float,
    smoothing: float,
    max_iter: int,
    tol: float,
) -> list[tuple[FeatureMap, Grown]]:
    """Return the feature map with each mixture over the leaves, and a start for EM.

    EM with spherical covariances runs first; its groups are the start of the others. Types are
    sorted by their BIC after a few steps of EM, the lowest first:

        BIC = -2 log-likelihood + (number of parameters) log n.

    Columns that are constant but for `few` samples are left out: covariances that differ between
    features would give them a likelihood almost without bound. If no column is left, the mixture
    over the leaves is that of the splits.
    """
    values, missing = feature_map.standardized(rows)
    columns = varying_columns(values, missing, weight, few)
    if not len(columns):
        return [(feature_map, grown)]
    labels, n = grown.labels, max(float(weight.sum()), 2.0)
    k = len(grown.root.leaves())

    def refined(one: CovarianceType, n_iter: int) -> tuple[FeatureMap, Refined[Any], float]:
        found = feature_map.with_covariances(one, columns)
        leaves, of_leaves = LeafMixture(one, columns, found.incomplete), found.leaf_rows(rows)
        family = leaves.fitting_family(values, weight)
        result = em(
            of_leaves,
            m_step_of_groups(family, of_leaves, labels, k, weight, smoothing),
            sample_weight=weight,
            smoothing=smoothing,
            max_iter=n_iter,
            tol=tol,
        )
        bic = -2.0 * result.log_likelihood + leaves.n_parameters(k) * np.log(n)
        log.info("covariances %r: BIC %.6g", one, bic)
        return found, result, bic

    best = refined("spherical", max_iter)
    labels = MixtureAssigner.of(best[1].parameters).labels(best[0].leaf_rows(rows))
    others = [refined(one, COVARIANCE_ITER) for one in types if one != "spherical"]
    if "spherical" in types:
        others.append(best)
    others = [others[i] for i in largest_first([-bic for *_, bic in others])]
    return [(found, replace(grown, parameters=result.parameters)) for found, result, _ in others]


def covariance_candidates(
    feature_map: FeatureMap, n_samples: int, n_leaves: int
) -> list[CovarianceType]:
    """Return the kinds of covariances among which data of this size allow a choice.

    Missing values require covariances without entries off the diagonal. A covariance matrix is
    singular unless there are more samples than features, in each leaf for "full".
    """
    types: list[CovarianceType] = ["spherical", "diag"]
    d = len(feature_map.shift)
    if not feature_map.incomplete and n_samples > d:
        types.append("tied")
        few = n_samples * d * (d + 1) // 2 <= MOST_STATISTICS
        if n_samples > n_leaves * d and few:
            types.append("full")
    return types
