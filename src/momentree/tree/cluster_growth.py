"""How a tree of clusters grows from features of the data, and EM over its leaves."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, Literal, cast

import numpy as np

from momentree._types import Floats
from momentree.assignment.posteriors import MixtureAssigner
from momentree.backends import RowArray, Rows, collected
from momentree.backends.contents import Contents
from momentree.core.choices import CovarianceType
from momentree.exceptions import ConvergenceWarning, InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.preprocessing import FeatureMap
from momentree.preprocessing.kinds import DIRECTIONS, Kind, detect_kind
from momentree.tree.described_clusters import DescribedClusters
from momentree.tree.dsidiwo_split import DSidiwoSplitter
from momentree.tree.growth import Branch, Grown, Limits, grow
from momentree.tree.leaf_covariances import candidates, with_covariances
from momentree.tree.merge_back import MORE_LEAVES, merge_back, merge_while_better
from momentree.tree.refine import RefinedLeaves
from momentree.tree.selection import ComponentChoice, choose_n_components
from momentree.tree.split import SPLIT_ITER
from momentree.tree.stopping import accept_all, mixture_bic

Refine = Literal["em", "splits", "leaves"]


class GrownClusters(DescribedClusters):
    """Trees of clusters that grow from moments, with the parameters of :class:`ClusterTree`."""

    n_components: int | None
    refine: Refine | None
    data: Literal["auto"] | Kind
    scaling: Literal["auto"] | None
    covariance_type: Literal["auto"] | CovarianceType
    random_state: int | np.random.RandomState | None

    def _for_sums_alone(self, rows: Rows) -> Mapping[str, Any] | None:
        kind = Contents.of(rows, rows.ones()).kind
        fits = self.data in ("auto", kind) or (self.data == "counts" and kind == "binary")
        if kind == "other" or not fits or self._described:
            return None
        alone = Limits.of(self).none and not self.n_components
        return {"max_leaf_nodes": 8} if alone else {}

    def _mapped(self, X: Any, missing: Any | None, weight: RowArray) -> FeatureMap:
        kind = self.data
        if isinstance(X, Rows):
            found = Contents.of(X, weight).kind if kind == "auto" else kind
            return FeatureMap.from_rows(X, weight, cast("Kind", found), scaled=bool(self.scaling))
        if kind == "auto" and self._described and detect_kind(X) == "real":
            kind = "directions"
        return FeatureMap.from_data(
            X,
            missing,
            weight,
            kind,
            scaled=self.scaling is not None,
            few=self.min_samples_leaf,
        )

    def _fitted(
        self, feature_map: FeatureMap, rows: Rows, weight: RowArray
    ) -> tuple[FeatureMap, Grown, RefinedLeaves]:
        """Grow the tree and refine it, with the covariances of lowest BIC for real data.

        EM with these covariances may reduce a leaf to less than `min_samples_leaf`, which drops it:
        a component that shrinks to few outliers or equal samples gains likelihood almost without
        bound. Then the covariances of the next lowest BIC are used, if they keep more leaves.
        """
        grown = self._grown(feature_map, rows, weight)
        options = [(feature_map, grown)]
        if self._over_leaves and feature_map.kind == "real":
            options = self._with_covariances(feature_map, grown, rows, weight)
        fits: list[tuple[FeatureMap, Grown, RefinedLeaves]] = []
        for found, start in options:
            one = replace(start, root=deepcopy(start.root))
            fits.append((found, one, self._refined(one, found, rows, weight)))
            if len(one.root.leaves()) == len(grown.root.leaves()):
                break
        return max(fits, key=lambda fit: len(fit[1].root.leaves()))

    def _check_covariances(self, feature_map: FeatureMap) -> None:
        wanted = self.covariance_type
        if wanted != "auto" and feature_map.kind != "real":
            raise InvalidParameterError(
                "covariances_of_real",
                covariance_type=wanted,
                kind=feature_map.kind,
                wider="real",
            )
        if wanted in ("tied", "full") and feature_map.incomplete:
            raise InvalidDataError("covariances_of_missing", covariance_type=wanted, instead="diag")

    def _with_covariances(
        self, feature_map: FeatureMap, grown: Grown, rows: Rows, weight: RowArray
    ) -> list[tuple[FeatureMap, Grown]]:
        """Return the covariances of the mixture over the leaves, those of lowest BIC first."""
        wanted, n = self.covariance_type, int(np.count_nonzero(np.asarray(weight)))
        types = candidates(feature_map, n, len(grown.root.leaves()))
        return with_covariances(
            feature_map,
            grown,
            collected(rows),
            weight,
            types if wanted == "auto" else [wanted],
            few=self.min_samples_leaf,
            smoothing=self.smoothing,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    @property
    def _over_leaves(self) -> bool:
        """Whether EM runs over the leaves; the clusters of a flat clustering are the leaves."""
        return self.refine in ("em", "leaves") or bool(self.refine and self.n_components)

    def _choose(self, kind: Kind, weight: Floats) -> ComponentChoice | None:
        """Choose the number of groups of directions from the words of the samples.

        BIC charges every dimension of a vector, and would end with one or two groups.
        """
        if kind not in DIRECTIONS or self.n_components or not Limits.of(self).none:
            return None
        if self._words_of_fit is None:
            raise InvalidParameterError(
                "leaves_of_embeddings", max_leaf_nodes=self.max_leaf_nodes, number=8
            )
        return choose_n_components(
            self._words_of_fit,
            criteria=["completion", "spectrum"],
            sample_weight=weight,
            random_state=self.random_state,
        )

    def _warn_of_fewer(self, root: Branch) -> None:
        found, asked = len(root.leaves()), self.n_components or 0
        if found < asked:
            reason = root.reason or Message("others_too_small")
            warning = ConvergenceWarning(
                "fewer_clusters", found=found, requested=asked, reason=reason
            )
            warnings.warn(warning, stacklevel=5)

    def _grown(self, feature_map: FeatureMap, rows: Rows, weight: RowArray) -> Grown:
        k = self.n_components
        choice = getattr(self, "choice_", None)  # a part of an edited tree chooses nothing
        limits = Limits(k, 1) if k else Limits.of(self, choice and choice.n_components)
        merged = (
            feature_map.kind in DIRECTIONS
            and self.refine in ("em", "leaves")
            and math.isfinite(limits.leaves)
            and math.isinf(limits.depth)
        )
        grown = grow(
            rows,
            weight,
            feature_map.row_scale(rows),
            DSidiwoSplitter(
                min_samples_leaf=self.min_samples_leaf,
                feature_map=feature_map,
                smoothing=self.smoothing,
                n_sides=k or 2,
                refine_iter=SPLIT_ITER if self.refine in ("em", "splits") else 0,
                exact=self.exact,
            ),
            Limits(MORE_LEAVES * limits.leaves) if merged else limits,
            growth="best_first" if k else self.growth,
            criterion=partial(mixture_bic, feature_map.family) if limits.none else accept_all,
        )
        if limits.none and self._over_leaves and feature_map.kind in ("binary", "counts"):
            return merge_while_better(
                grown,
                collected(rows),
                weight,
                family=feature_map.family,
                smoothing=self.smoothing,
                tol=self.tol,
            )
        if not merged:
            return grown
        return merge_back(
            grown,
            collected(rows),
            weight,
            int(limits.leaves),
            family=feature_map.family,
            smoothing=self.smoothing,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _refined(
        self, grown: Grown, feature_map: FeatureMap, rows: Rows, weight: RowArray
    ) -> RefinedLeaves:
        leaves, splits = feature_map.leaves, (rows, feature_map.family)
        if not self._over_leaves:
            return self._assigned(grown, rows, weight, family=None, smoothing=self.smoothing)
        if leaves is None:
            return self._assigned(
                grown, rows, weight, family=feature_map.family, smoothing=self.smoothing
            )
        values, _ = feature_map.standardized(rows)
        refined = self._assigned(
            grown,
            feature_map.leaf_rows(rows),
            weight,
            family=leaves.fitting_family(values, weight),
            smoothing=self.smoothing,
            splits=splits,
        )
        assigner = refined.assigner
        if isinstance(assigner, MixtureAssigner):
            stored = MixtureAssigner(leaves.stored(assigner.parameters), assigner.group)
            refined = refined._replace(assigner=stored)
        return refined
