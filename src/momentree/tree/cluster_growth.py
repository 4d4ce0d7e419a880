"""How a tree of clusters grows from features of the data, and EM over its leaves."""

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, cast

import numpy as np

import momentree.tree.leaves as tree_leaves
from momentree.assignment.posteriors import MixtureAssigner
from momentree.backends import RowArray, RowBlocks, Rows, collected, contents
from momentree.core.choices import CovarianceType
from momentree.core.ties import largest_first
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.objects import Family, MixtureParameters
from momentree.preprocessing import FeatureMap, kinds, leaf_mixture, outliers
from momentree.refinement.em import Refined, Samples
from momentree.tree import split, splitters, stopping
from momentree.tree.growth import Grown, Limits, TreeGrowth, log
from momentree.tree.selection import ComponentChoice, choose_n_components

Refine = Literal["em", "splits", "leaves"]

COVARIANCE_ITER = 15
"""EM steps with each kind of covariances before one is chosen."""
MAX_STATISTICS = 1 << 27
"""Products of two features of all samples, at most, for a choice that includes full covariances:
with more, an EM step takes a second or longer."""


class FittedClusters(NamedTuple):
    """The features of a tree of clusters with the mixture over its leaves, and its leaves."""

    feature_map: FeatureMap
    grown: Grown
    leaves: tree_leaves.RefinedLeaves


@dataclass(frozen=True)
class ClusterGrowth:
    """How a :class:`momentree.ClusterTree` grows within limits, by its parameters."""

    tree: Any
    limits: Limits

    @property
    def over_leaves(self) -> bool:
        """Whether EM runs over the leaves."""
        return self.tree.refine in ("em", "leaves")

    def map_features(
        self, X: Any, missing: Any | None, weight: RowArray, *, described: bool
    ) -> FeatureMap:
        """Return the map from values to statistics; described real data are directions."""
        kind, scaled = self.tree.data, self.tree.scaling is not None
        if isinstance(X, Rows):
            found = contents.Contents.of(X, weight).kind if kind == "auto" else kind
            return FeatureMap.from_rows(X, weight, cast("kinds.Kind", found), scaled=scaled)
        if kind == "auto" and described and kinds.detect_kind(X) == "real":
            kind = "directions"
        few = self.tree.min_samples_leaf
        return FeatureMap.from_data(X, missing, weight, kind, scaled=scaled, few=few)

    def check_covariances(self, feature_map: FeatureMap) -> None:
        """Raise an error if the covariances that are asked for do not apply."""
        wanted = self.tree.covariance_type
        if wanted != "auto" and not self.over_leaves:
            raise InvalidParameterError(
                "[covariances_of_em] {parameters.covariance_type:=covariance_type} applies to EM "
                "over the leaves, which {parameters.refine:=refine} does not run; leave it out, or "
                "set {parameters.refine:=em}",
                covariance_type=wanted,
                refine=self.tree.refine,
                em="em",
            )
        if wanted != "auto" and feature_map.kind != "real":
            raise InvalidParameterError(
                "[covariances_of_real] {parameters.covariance_type:=covariance_type} applies to "
                "real data, and these data are {kind:s}; leave it out, or set "
                "{parameters.data:=wider}",
                covariance_type=wanted,
                kind=feature_map.kind,
                wider="real",
            )
        if wanted in ("tied", "full") and feature_map.incomplete:
            raise InvalidDataError(
                "[covariances_of_missing] {parameters.covariance_type:=covariance_type} requires "
                "data without missing values; use {parameters.covariance_type:=instead}, or fill "
                "missing values first",
                covariance_type=wanted,
                instead="diag",
            )

    def choose_leaves(
        self, kind: kinds.Kind, words: Any, weight: RowArray
    ) -> ComponentChoice | None:
        """Choose the number of groups of directions from the words of the samples.

        BIC charges every dimension of a vector, and would end with one or two groups.
        """
        if kind != "directions" or not self.limits.by_criterion:
            return None
        if words is None:
            raise InvalidParameterError(
                "[leaves_of_embeddings] {parameters.max_leaf_nodes:=max_leaf_nodes} cannot choose "
                "the number of groups from directions alone; give a number, such as "
                "{parameters.max_leaf_nodes:=number}, or the word counts of the samples, fit(X, "
                "counts=counts), which choose it",
                max_leaf_nodes=self.tree.max_leaf_nodes,
                number=8,
            )
        return choose_n_components(
            words,
            sample_weight=weight,
            random_state=self.tree.random_state,
        )

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
        limits, kind, family = self.limits, feature_map.kind, feature_map.family
        merged = kind == "directions" and self.over_leaves and limits.by_number
        splitter = splitters.DSidiwoSplitter(
            min_samples_leaf=self.tree.min_samples_leaf,
            feature_map=feature_map,
            smoothing=self.tree.smoothing,
            refine_iter=split.SPLIT_ITER if self.tree.refine in ("em", "splits") else 0,
            exact=self.tree.exact,
        )
        growth = TreeGrowth(
            rows,
            weight,
            feature_map.row_scale(rows),
            splitter,
            growth=self.tree.growth,
            criterion=partial(stopping.mixture_bic, family) if limits.by_criterion else None,
        )
        grown = growth.grow(Limits(tree_leaves.MORE_LEAVES * limits.leaves) if merged else limits)
        criterion: stopping.Criterion = "aic3" if self.tree.max_leaf_nodes == "aic3" else "bic"
        while_better = self.over_leaves and kind in ("binary", "counts")
        while_better = while_better and (limits.by_criterion or criterion == "aic3")
        if not merged and not while_better:
            return grown
        samples = Samples(collected(rows), weight, self.tree.smoothing, self.tree.tol)
        if while_better:
            return tree_leaves.merge_while_better(grown, samples, criterion, family=family)
        return tree_leaves.merge_back(
            grown, samples, int(limits.leaves), family=family, max_iter=self.tree.max_iter
        )

    def refine_leaves(
        self, grown: Grown, feature_map: FeatureMap, rows: Rows, weight: RowArray
    ) -> tree_leaves.RefinedLeaves:
        """Run EM over the leaves of a tree, which it changes, if that is asked for."""
        if not self.over_leaves:
            return tree_leaves.assign_by_rules(grown)
        leaves, of_leaves = feature_map.leaves, rows
        family: Family[MixtureParameters] = feature_map.family
        if leaves is not None:
            of_leaves = feature_map.leaf_rows(rows)
            family = leaves.fitting_family(feature_map.standardized(rows)[0], weight)
        samples = Samples(of_leaves, weight, self.tree.smoothing, self.tree.tol)
        splits = (rows, feature_map.family)
        refined = tree_leaves.refine_leaves(self.tree, grown, samples, family, splits)
        assigner = refined.assigner
        if leaves is None or not isinstance(assigner, MixtureAssigner):
            return refined
        stored = MixtureAssigner(leaves.stored(assigner.parameters), assigner.group)
        return refined._replace(assigner=stored)

    def _with_covariances(
        self, feature_map: FeatureMap, grown: Grown, rows: RowBlocks, weight: RowArray
    ) -> list[tuple[FeatureMap, Grown]]:
        """Return the feature map with each mixture over the leaves, and a start for EM.

        EM with spherical covariances runs first; its groups are the start of the others. Types are
        sorted by their BIC after a few steps of EM, the lowest first:

            BIC = -2 log-likelihood + (number of parameters) log n.

        Columns that are constant but for a few samples are left out: covariances that differ
        between features would give them a likelihood almost without bound. If no column is left,
        the mixture over the leaves is that of the splits.
        """
        values, missing = feature_map.standardized(rows)
        columns = outliers.varying_columns(values, missing, weight, self.tree.min_samples_leaf)
        if not len(columns):
            return [(feature_map, grown)]
        labels, n = grown.labels, max(float(weight.sum()), 2.0)
        k, wanted = len(grown.root.leaves()), self.tree.covariance_type
        types = (
            [wanted]
            if wanted != "auto"
            else covariance_candidates(feature_map, int(np.count_nonzero(np.asarray(weight))), k)
        )

        def refined(kind: CovarianceType, n_iter: int) -> tuple[FeatureMap, Refined[Any], float]:
            features = feature_map.with_covariances(kind, columns)
            leaves = leaf_mixture.LeafMixture(kind, columns, features.incomplete)
            samples = Samples(features.leaf_rows(rows), weight, self.tree.smoothing, self.tree.tol)
            start = samples.m_step(leaves.fitting_family(values, weight), labels, k)
            result = samples.em(start, n_iter)
            bic = -2.0 * result.log_likelihood + leaves.n_parameters(k) * np.log(n)
            log.info("covariances %r: BIC %.6g", kind, bic)
            return features, result, bic

        best = refined("spherical", self.tree.max_iter)
        labels = MixtureAssigner.of(best[1].parameters).labels(best[0].leaf_rows(rows))
        others = [refined(kind, COVARIANCE_ITER) for kind in types if kind != "spherical"]
        if "spherical" in types:
            others.append(best)
        others = [others[i] for i in largest_first([-bic for *_, bic in others])]
        return [
            (features, replace(grown, parameters=one.parameters)) for features, one, _ in others
        ]


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
        few = n_samples * d * (d + 1) // 2 <= MAX_STATISTICS
        if n_samples > n_leaves * d and few:
            types.append("full")
    return types
