"""Choose the covariances of a mixture of Gaussians over the leaves of a tree, by BIC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from momentree._types import Floats
from momentree.assignment.posteriors import MixtureAssigner
from momentree.backends import RowBlocks
from momentree.core.choices import CovarianceType
from momentree.core.ties import largest_first
from momentree.preprocessing import FeatureMap
from momentree.preprocessing.leaf_mixture import LeafMixture
from momentree.preprocessing.outliers import varying_columns
from momentree.refinement.em import Refined, em, m_step_of_groups
from momentree.tree.growth import Grown, log

SHORT_ITER = 15
"""EM steps with each kind of covariances before one is chosen."""
MOST_STATISTICS = 1 << 27
"""Products of two features of all samples, at most, for a choice that includes full covariances:
with more, an EM step takes a second or longer."""


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
    others = [refined(one, SHORT_ITER) for one in types if one != "spherical"]
    if "spherical" in types:
        others.append(best)
    others = [others[i] for i in largest_first([-bic for *_, bic in others])]
    return [(found, replace(grown, parameters=result.parameters)) for found, result, _ in others]


def candidates(feature_map: FeatureMap, n_samples: int, n_leaves: int) -> list[CovarianceType]:
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
