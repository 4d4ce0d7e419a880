"""Binary data and a fitted Bernoulli mixture: posteriors (T eq. 4.1), scores, samples, edits."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree._validation import check_ones, check_values
from momentree.assignment.posteriors import IncompleteAssigner, MixtureAssigner
from momentree.assignment.rules import Assigner, NestedAssigner, RuleAssigner, check_assigner
from momentree.backends import RowArray, RowBlocks, Rows, as_rows, collected, in_canonical_order
from momentree.backends.sources import by_partition
from momentree.core.ties import largest_first
from momentree.estimators import editing, groups, names, node, page
from momentree.exceptions import InvalidDataError
from momentree.inference import log_joint, log_posterior
from momentree.messages import Message, wording
from momentree.models._base import FlatModel
from momentree.models._steps import FitResult, draw_rows
from momentree.moments import BernoulliMoments
from momentree.objects import BernoulliParameters, IncompleteBernoulliParameters
from momentree.persistence import fields
from momentree.preprocessing import FeatureMap


@dataclass(frozen=True)
class BinaryData:
    """Checked binary data of a fit in canonical order; `rows` are their statistics."""

    ones: Any  # 0 if a value is missing
    missing: Any | None  # 1 if a value is missing
    weight: RowArray
    feature_map: FeatureMap
    rows: Rows

    @classmethod
    def prepared(cls, ones: Any, missing: Any | None, weight: Floats) -> tuple[BinaryData, Ints]:
        """Return the data in canonical order, and the row of each sample in `ones`."""
        feature_map = FeatureMap.from_data(ones, missing, weight, "binary", scaled=True)
        rows, at = in_canonical_order(feature_map.rows(ones, missing), weight)
        matrix, d = rows.matrix, ones.shape[1]
        if missing is not None:
            ones, missing = matrix[:, :d], matrix[:, d:]
        else:
            ones = matrix
        return cls(ones, missing, weight[at], feature_map, rows), at

    @classmethod
    def of_rows(cls, rows: Rows, weight: RowArray) -> BinaryData:
        """Return rows elsewhere, which have no missing values and keep their order."""
        feature_map = FeatureMap.from_rows(rows, weight, "binary", scaled=True)
        return cls(rows, None, weight, feature_map, rows)

    @property
    def family(self) -> type[BernoulliParameters]:
        """The class of the parameters, which depends on whether values are missing."""
        return cast("type[BernoulliParameters]", self.feature_map.family)

    @property
    def observation_rates(self) -> Floats | None:
        """Weighted fraction of samples in which each feature is observed; None if all are."""
        if self.missing is None:
            return None
        return 1.0 / self.feature_map.moment_scale[: self.ones.shape[1]]

    @cached_property
    def moments(self) -> BernoulliMoments:
        """Raw moments of the data (T eq. 4.6 to 4.8)."""
        return BernoulliMoments(
            as_rows(self.ones),
            sample_weight=self.weight,
            observation_rates=self.observation_rates,
        )

    @property
    def bias_bound(self) -> float:
        """max_i M1_i - M1_i^2, which bounds the bias of M2_ii (T Theorem 4.3.1)."""
        m1 = np.clip(self.moments.m1, 0.0, 1.0)
        return float((m1 - m1**2).max())

    def take(self, here: Ints) -> BinaryData:
        """Return some of the samples, with the observation rates of all samples."""
        missing = None if self.missing is None else self.missing[here]
        rows = collected(self.rows).take(here)
        return BinaryData(self.ones[here], missing, self.weight[here], self.feature_map, rows)


class BernoulliGroups(FlatModel):
    """Mixtures of binary variables that assign and edit their groups."""

    _fields: ClassVar[fields.Fields] = {
        **FlatModel._fields,
        "_incomplete": fields.of_type(IncompleteAssigner).optional,
        "_edited": fields.of_type(
            MixtureAssigner, RuleAssigner, NestedAssigner
        ).optional,  # by an edit
    }

    posterior_: BernoulliParameters
    _incomplete: IncompleteAssigner | None
    _edited: Assigner | None

    sample = groups.sample
    split_group, merge_groups = editing.split_group, editing.merge_groups
    predict_incomplete = groups.predict_incomplete
    predict_incomplete_proba = groups.predict_incomplete_proba
    scoring = groups.scoring
    to_html = page.records_to_html

    @abstractmethod
    def _fit_result(self, data: BinaryData) -> FitResult:
        """Fit prepared data."""

    @property
    def means_(self) -> Floats:
        """Frequencies of the components, shape (n_components, n_features)."""
        return self.components_

    def _new_counts(self, X: Any) -> Any:
        return self._values(X)[0]

    def _values(self, X: Any) -> tuple[Any, Any | None]:
        check_is_fitted(self, "components_")
        ones, missing, _ = check_values(self, X, None, reset=False)
        check_ones(ones)
        return ones, missing

    @property
    def _groups_assigner(self) -> Assigner:
        """Assigner of samples without missing values to components, or to edited groups."""
        return self._edited or MixtureAssigner.of(self._without_missing)

    @property
    def _without_missing(self) -> BernoulliParameters:
        """The parameters for samples without missing values."""
        return BernoulliParameters(self.posterior_.weights, self.posterior_.centers)

    def _rows(self, X: Any) -> tuple[RowBlocks, bool]:
        """Return the statistics of checked samples, and whether values are missing."""
        ones, missing = self._values(X)
        if missing is None:
            return RowBlocks(ones), False
        return RowBlocks(IncompleteBernoulliParameters.statistics(ones, missing)), True

    def _ready(self, X: Any) -> tuple[Assigner, RowBlocks]:
        """Return the assigner, and the checked samples as rows for it."""
        rows, incomplete = self._rows(X)
        assigner = self._groups_assigner
        return assigner.for_missing_values() if incomplete else assigner, rows

    @by_partition
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each component for each sample (T eq. 4.1).

            P[j | x] = omega_j P[x | mu_j] / sum_i omega_i P[x | mu_i],
            P[x | mu_j] = prod_w mu_wj^x_w (1 - mu_wj)^(1 - x_w)

        omega and mu are the weights and centers of ``posterior_``, with mu clipped to [1e-9,
        1 - 1e-9]; with EM they are ``weights_`` and ``components_``. The product omits missing
        values.

        After :meth:`split_group`, the probability of a part is that of its group times that of the
        part within the group, by the same formula; :meth:`merge_groups` adds probabilities.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1, with the columns of ``fit``; NaN for missing values.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to 1.
        """
        assigner, rows = self._ready(X)
        return np.asarray(assigner.proba(rows))

    @by_partition
    def predict(self, X: Any) -> Ints:
        """Return the most probable component of each sample (T eq. 4.2).

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1, with the columns of ``fit``; NaN for missing values.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Component numbers; equal to ``labels_`` for the data of ``fit``. After an edit, a sample
            is first assigned to a group of the fit and then within it, so its component is not
            always the most probable one.
        """
        assigner, rows = self._ready(X)
        return np.asarray(assigner.labels(rows))

    @by_partition
    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each sample under ``weights_`` and ``components_``.

        Without EM these may contain zeros and ones; the likelihood then uses ``posterior_``, which
        is smoothed.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1, with the columns of ``fit``; NaN for missing values, which are ignored.

        Returns
        -------
        ndarray of shape (n_samples,)
            log P[x] in nats.
        """
        rows, incomplete = self._rows(X)
        assigner = MixtureAssigner.of(self._without_missing)
        assigner = assigner.for_missing_values() if incomplete else assigner
        return log_posterior(log_joint(rows, assigner.parameters))[1]

    @property
    def _profiles(self) -> Floats:
        return self.components_

    def _choose_words(self, counts: Any, weight: Floats) -> None:
        """Leave codes to their relevance: a record has too few of them to occur together."""

    def _name(self, root: node.TreeNode) -> None:
        names.name_by_codes(root, self.vocabulary_)

    def _draw(self, labels: Ints, rng: np.random.RandomState) -> Any:
        d = self.components_.shape[1]

        def draw(at: slice) -> Any:
            here = labels[at]
            return (rng.random_sample((len(here), d)) < self.components_[here]).astype(np.int64)

        return draw_rows(len(labels), d, draw)

    @property
    def _fitted_with_missing(self) -> bool:
        return isinstance(self.posterior_, IncompleteBernoulliParameters)

    def _prepared(self, X: Any, missing: Any | None, weight: Floats) -> tuple[BinaryData, Ints]:
        check_ones(X)
        return BinaryData.prepared(X, missing, weight)

    def _split(self, refit: editing.RefitData[BinaryData], group: int, n_groups: int) -> Any:
        part = refit.data.take(np.flatnonzero(refit.groups.labels == group))
        usable = int(np.count_nonzero(part.weight > 0))
        if usable < 2:
            raise InvalidDataError(
                wording.CANNOT_SPLIT,
                group=group,
                reason=Message(
                    "[too_few_samples] {found:~sample}; at least {needed} {needed:?is/are} "
                    "required",
                    found=usable,
                    needed=2,
                ),
            )
        alone = clone(self).set_params(n_components=min(n_groups, usable))
        result = alone._fit_result(part)
        p = result.parameters
        sizes = np.bincount(result.labels, weights=part.weight, minlength=p.n_components)
        kept = np.flatnonzero(sizes > 0)
        if len(kept) < 2:
            raise InvalidDataError(
                wording.CANNOT_SPLIT,
                group=group,
                reason=result.diagnostics.get("reason")
                or Message(
                    "[one_part] a single part is the most likely one for all of its {samples}"
                ),
            )
        weights = p.weights[kept] / p.weights[kept].sum()
        likely, centers = p.centers[:, kept], result.centers[:, kept]
        if part.missing is not None:
            # If the group has no value of a feature, the parts keep the frequency of the group.
            unseen = part.missing.T @ part.weight > (1 - 1e-12) * part.weight.sum()
            likely[unseen] = self.posterior_.centers[unseen, group, None]
            centers[unseen] = self.components_[group, unseen, None]
        within = MixtureAssigner.of(type(p)(weights, likely)).labels(part.rows)
        # The assigner of the model expects records without missing values.
        parts = editing.Groups(MixtureAssigner.of(BernoulliParameters(weights, likely)), within)
        w, before, after = self.weights_, slice(group), slice(group + 1, None)

        def divided(of_all: Floats, of_parts: Floats) -> Floats:
            return np.hstack([of_all[:, before], of_parts, of_all[:, after]])

        return self._edited_to(
            refit,
            refit.groups.split(group, parts),
            np.concatenate([w[before], w[group] * weights, w[after]]),
            divided(self.posterior_.centers, likely),
            divided(self.components_.T, centers),
            converged=self.converged_ and result.converged,
        )

    def _merge(self, refit: editing.RefitData[BinaryData], groups: list[int]) -> Any:
        w = self.weights_
        _, to = editing.merge_numbers(groups, refit.sizes(len(w)))
        weights = np.bincount(to, weights=w).astype(np.float64)
        # If all merged components have weight zero, they count equally.
        fraction = np.where(weights[to] > 0, w, 1.0)
        fraction /= np.bincount(to, weights=fraction)[to]
        union = fraction[:, None] * (to[:, None] == np.arange(len(weights)))
        return self._edited_to(
            refit,
            refit.groups.renumbered(to),
            weights,
            np.clip(self.posterior_.centers @ union, 0.0, 1.0),
            np.clip(self.components_.T @ union, 0.0, 1.0),
            converged=self.converged_,
        )

    def _edited_to(
        self,
        refit: editing.RefitData[BinaryData],
        groups: editing.Groups,
        weights: Floats,
        likely: Floats,
        centers: Floats,
        *,
        converged: bool,
    ) -> Any:
        order = largest_first(weights, centers)
        groups = groups.reordered(order)
        out = editing.with_labels(self, groups.labels, refit.at)
        out._incomplete = counted(refit.data, groups.labels, len(order))
        out._edited, out.converged_, out._sums = groups.assigner, converged, None
        out.posterior_ = type(self.posterior_)(weights[order], likely[:, order])
        out.weights_, out.components_ = out.posterior_.weights, centers[:, order].T.copy()
        # The log-likelihood belongs to the model before the edit.
        known = self.diagnostics_.items()
        out.diagnostics_ = {key: value for key, value in known if key != "log_likelihood"}
        names.keep_names(out, self)
        return out

    def _check_consistent(self) -> None:
        super()._check_consistent()
        k, d = self._n_groups, self.n_features_in_
        check_assigner(self._groups_assigner, BernoulliParameters, d, k)
        groups.check_incomplete(self, k, d, expected=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def counted(data: BinaryData, labels: RowArray, k: int) -> IncompleteAssigner:
    """Return the assigner of incomplete records, from the numbers of codes in each group."""
    sums, d = data.rows.group_sums(labels, k, data.weight), data.ones.shape[1]
    sizes = data.rows.group_sizes(labels, k, data.weight)
    return IncompleteAssigner.from_sums(sums[:d], sums[d:] if len(sums) > d else None, sizes)
