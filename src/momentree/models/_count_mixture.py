"""Fit mixtures for counts: initialize from moments, tf-idf or a tree, then run EM."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, get_args

import numpy as np

from momentree import backends
from momentree._types import Floats, Ints
from momentree._validation import rules
from momentree.assignment.posteriors import MixtureAssigner
from momentree.backends import sources
from momentree.core.choices import AutoLogScaling, LogScaling, Weighting
from momentree.core.ties import largest
from momentree.estimators import names, page, texts
from momentree.estimators.batches import BatchUpdate
from momentree.inference import log_joint, log_posterior, posteriors
from momentree.messages import Message
from momentree.models._base import FlatModel, log
from momentree.models._steps import FitResult, Initialization, from_leaves
from momentree.objects import Decomposition, MixtureParameters, MixtureSums, Moments
from momentree.objects.mixtures import sums_over
from momentree.persistence import fields
from momentree.preprocessing import log_scale
from momentree.preprocessing.burstiness import with_scaling
from momentree.refinement import em, renewing_em
from momentree.refinement.em import column_sums, log_likelihood, soft_sums
from momentree.tree import split, splitters
from momentree.tree.growth import Grown, Limits, TreeGrowth
from momentree.tree.topic_growth import ScaledCounts, is_sampled, search_sample, with_all_words

SMALL = 5.0
"""Fewer documents are no topic for the search, unless documents are few."""
POSSIBLE = 1e-3
"""Fraction of the average sample mixed into every component initialized from moments."""


class CountMixture(FlatModel):
    """Base class of mixtures whose log-probabilities are linear in the counts."""

    _family: ClassVar[type[MixtureParameters]]

    _rules: ClassVar[rules.Rules] = {
        **FlatModel._rules,
        "tol": rules.number(at_least=0),
        "refine": rules.REFINE,
        "vectorizer": texts.check_vectorizer,
    }
    _fields: ClassVar[fields.Fields] = {
        **FlatModel._fields,
        "log_scaling_": fields.choice(*get_args(LogScaling), None),
        "vectorizer_": fields.DERIVED,
    }

    fit = texts.fit
    partial_fit = texts.partial_fit
    set_params = texts.set_params
    to_html = page.topics_to_html
    name_topics, languages_ = names.name_topics, names.languages_
    _counts, _unpack = texts.counts_of, texts.restore_vectorizer

    start: str
    tol: float
    posterior_: MixtureParameters
    log_scaling_: LogScaling | None

    @property
    def _weighting(self) -> Weighting:
        """The weighting of documents in the moments."""
        return "length"

    def _for_sums_alone(self, rows: backends.Rows) -> Mapping[str, Any] | None:
        instead: dict[str, Any] = {}
        if self._is_auto and self._auto_model:
            instead["n_components"] = 8
        if self._weighting == "three_words":
            instead["weighting"] = "length"
        start = self._choose_start()
        if start == "search" and not is_sampled(rows, self._wanted):
            instead["start"] = "tree"
        return instead

    @abstractmethod
    def _moments(self, data: ScaledCounts) -> Moments:
        """Estimate the moments of the model."""

    @abstractmethod
    def _valid_centers(self, found: Decomposition) -> Floats:
        """Project the estimated centers onto valid ones, shape (d, k)."""

    @abstractmethod
    def _choose_start(self) -> str:
        """Return "search", "tree" or "moments"."""

    def _requested_log_scaling(self) -> AutoLogScaling | None:
        """Return the requested scaling of counts."""
        return None

    def _log_base(self, X: Any) -> Floats:
        """Return the part of each sample's log-likelihood that does not depend on parameters."""
        raise NotImplementedError

    def _fit_components(
        self, samples: Any, weight: backends.RowArray
    ) -> tuple[FitResult, Ints | None]:
        data, at, start = self._start(backends.as_rows(samples), weight)
        while True:
            result = self._refined(data, start)
            k = len(result.weights)
            empty = data.rows.group_sizes(result.labels, k, data.weight) <= 0
            if not (self.refine and empty.any()):
                return result, at
            parameters = result.parameters
            for j in np.flatnonzero(empty)[::-1]:
                parameters = parameters.without(int(j))
            reason = start.diagnostics.get("reason") or Message(
                "[others_without_samples] EM left no samples in the others"
            )
            start = Initialization.of(parameters, {**start.diagnostics, "reason": reason})

    def _refined(self, data: ScaledCounts, start: Initialization[MixtureParameters]) -> FitResult:
        fitted, centers, diagnostics = start.parameters, start.centers, start.diagnostics
        refined = None
        if self.refine:
            log.info("refining %d components", fitted.n_components)
            refined = em(
                data.rows,
                fitted,
                sample_weight=data.weight,
                smoothing=data.smoothing,
                max_iter=self.max_iter,
                tol=self.tol,
            )
            fitted, centers = refined.parameters, refined.parameters.centers
            diagnostics = {**diagnostics, "log_likelihood": refined.log_likelihood}
        elif self._is_auto:
            likelihood = log_likelihood(data.rows, fitted, data.weight)
            diagnostics = {**diagnostics, "log_likelihood": likelihood}
        weights = fitted.weights
        counts = np.empty((0, len(weights)))
        if self.log_scaling_:  # report weights and topics of the raw counts
            R = posteriors.responsibilities(data.rows, fitted)
            counts, sizes = soft_sums(data.counts, R, data.weight)
            weights, centers = self._counted(counts, sizes)
        result = FitResult(fitted, weights, centers, diagnostics)
        if refined is not None:
            sums = sums_over(
                data.counts, data.weight, refined.sums, refined.sizes, counts, data.asked_smoothing
            )
            result = replace(result, n_iter=refined.n_iter, converged=refined.converged, sums=sums)
        return result.largest_first(lambda p: MixtureAssigner.of(p).labels(data.rows))

    def _counted(self, counts: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        """Return weights and topics of the raw counts."""
        smoothing = self._family.limited_smoothing(self.smoothing, counts.sum(), counts.shape)
        counted = self._family.m_step(counts, sizes, smoothing)
        return counted.weights, counted.centers

    def _updated(
        self,
        X: Any,
        missing: Any | None,  # noqa: ARG002 - counts are complete
        weight: Floats,
        before: MixtureSums,
    ) -> tuple[FitResult, Ints | None, BatchUpdate]:
        data, at = self._data(backends.as_rows(X), weight, self.log_scaling_)
        w, n = float(weight.sum()), before.weight
        asked = (n * before.smoothing + w * data.asked_smoothing) / (n + w)
        words = column_sums(data.rows, data.weight) + before.statistics.sum(axis=1)
        shape = len(words), self._wanted
        found = renewing_em(
            backends.collected(data.rows),
            self.posterior_,
            before,
            column_scale=np.ones(data.rows.shape[1]),
            most=self._wanted,
            sample_weight=data.weight,
            smoothing=self._family.limited_smoothing(asked, words.sum(), shape),
            unit=asked / self.smoothing,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        fitted = found.parameters
        R = posteriors.responsibilities(data.rows, fitted)
        counts = np.empty((0, fitted.n_components))
        if self.log_scaling_:
            counts, _ = soft_sums(data.counts, R, data.weight)
        batch = sums_over(
            data.counts, data.weight, found.statistics, found.sizes, counts, data.asked_smoothing
        )
        sums = found.before.plus(batch)
        weights, centers = fitted.weights, fitted.centers
        if self.log_scaling_:
            weights, centers = self._counted(sums.counts, sums.sizes)
        result = FitResult(
            fitted,
            weights,
            centers,
            self.diagnostics_,
            found.n_iter,
            found.converged,
            sums,
            labels=largest(R),
        )
        return result, at, BatchUpdate(found.to, found.sizes / found.sizes.sum(), w, found.unlike)

    def _start(
        self, counts: backends.Rows, weight: backends.RowArray
    ) -> tuple[ScaledCounts, Ints | None, Initialization[MixtureParameters]]:
        """Set ``log_scaling_``, and return the scaled counts, their order and a start for EM."""
        if self._choose_start() != "search":
            return self._started(counts, weight)
        part, part_weight, frequent = search_sample(counts, weight, self._wanted)
        if part is not counts:
            log.info("searching in %d documents", part.shape[0])
        data, at, start = self._started(frequent, part_weight)
        if frequent is not part:
            some = data
            data, at = self._data(part, part_weight, self.log_scaling_)
            fitted = with_all_words(start.parameters, some, data)
            start = Initialization.of(fitted, start.diagnostics)
        if part is not counts:
            data, at = self._data(counts, weight, self.log_scaling_)
        return data, at, start

    def _started(
        self, counts: backends.Rows, weight: backends.RowArray
    ) -> tuple[ScaledCounts, Ints | None, Initialization[MixtureParameters]]:
        name = self._choose_start()
        log.info("starting from %s", name)

        def attempt(
            log_scaling: LogScaling | None, counts: backends.Rows, weight: backends.RowArray
        ) -> tuple[Any, Callable[[], backends.RowArray], int]:
            data, at = self._data(counts, weight, log_scaling)
            grown = None if name == "moments" else self._grown(data)
            start = self._from_moments(data) if grown is None else self._from_leaves(data, grown)
            assigner = MixtureAssigner.of(start.parameters)

            def labels() -> backends.RowArray:
                return backends.in_given_order(assigner.labels(data.rows), at)

            return (data, at, start, grown), labels, assigner.n_groups

        requested = self._requested_log_scaling()
        self.log_scaling_, found = with_scaling(requested, attempt, counts, weight, self._wanted)
        data, at, start, grown = found
        if name == "search":
            return data, at, self._searched(data, start, grown)
        return data, at, replace(start, diagnostics={**start.diagnostics, "start": name})

    def _data(
        self, counts: backends.Rows, weight: backends.RowArray, log_scaling: LogScaling | None
    ) -> tuple[ScaledCounts, Ints | None]:
        k, family = self._wanted, self._family
        data = ScaledCounts.of(counts, weight, log_scaling, self.smoothing, k, family)
        return data, data.order

    def _from_moments(self, data: ScaledCounts) -> Initialization[MixtureParameters]:
        """Decompose the moments of the model."""
        found = self._decompose(self._moments(data))
        centers = self._valid_centers(found)
        if not float((centers @ found.weights).sum()) > 0:
            words = column_sums(data.rows, data.weight)[:, None]
            one = self._family.m_step(words, np.array([data.total_weight]), data.smoothing)
            return Initialization.of(one, found.diagnostics)
        parameters = self._smooth(found, centers, data)
        return Initialization(parameters, parameters.weights, centers, found.diagnostics)

    def _from_leaves(self, data: ScaledCounts, grown: Grown) -> Initialization[MixtureParameters]:
        k, rows, weight = self._wanted, data.rows, data.weight
        return from_leaves(grown, k, self._family, rows, weight, data.smoothing)

    def _searched(
        self, data: ScaledCounts, start: Initialization[MixtureParameters], grown: Grown
    ) -> Initialization[MixtureParameters]:
        """Search for the most likely topics from several starts, a tree among them."""
        # A few documents alone are hardly a topic, though they raise the likelihood.
        least = max(1.0, min(SMALL, data.total_weight / (4 * self._wanted)))
        splitter = replace(self._splitter(data), min_samples_leaf=least)
        found = data.search(grown, splitter, self.tol)
        return Initialization.of(found.parameters, {**start.diagnostics, "start": found.start})

    def _grown(self, data: ScaledCounts) -> Grown:
        splitter = self._splitter(data)
        growth = TreeGrowth(data.rows, data.weight, data.count_per_token, splitter)
        return growth.grow(Limits(self._wanted))

    def _splitter(self, data: ScaledCounts) -> splitters.TopicSplitter:
        return splitters.TopicSplitter(
            min_samples_leaf=1,
            refine_iter=split.SPLIT_ITER if self.refine else 0,
            weighting=self._weighting,
            smoothing=data.smoothing,
            random_state=self.random_state,
        )

    def _smooth(
        self, found: Decomposition, centers: Floats, data: ScaledCounts
    ) -> MixtureParameters:
        """Return parameters without zeros, by smoothing the counts that the centers predict."""
        weights = found.weights / found.weights.sum()
        if self.refine:  # equal weights, so that EM does not starve a small component
            weights = np.full_like(weights, 1.0 / len(weights))
        sums = centers * weights
        words = column_sums(data.rows, data.weight)
        sums *= float(words.sum()) / max(float(sums.sum()), 1e-300)
        # Every word that occurs is possible in every component, whatever the moments say.
        sums += POSSIBLE * words[:, None] * weights
        return self._family.m_step(sums, weights * data.total_weight, data.smoothing)

    @sources.by_partition
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each component for each sample (S eq. 1).

            P[j | x] = omega_j P[y | mu_j] / sum_i omega_i P[y | mu_i]

        omega and mu are the weights and centers of ``posterior_``; y = x or, with log scaling,

            y_w = log2(1 + x_w) min(1, sqrt(24 / sum_v log2(1 + x_v))).

        With EM and without log scaling, omega and mu are ``weights_`` and ``components_``.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Counts with the columns of ``fit``; converted to single precision, which is exact for
            integers up to 16 million.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to 1. For a :class:`SingleTopicModel`, a sample without counts has the
            probabilities ``posterior_.weights``.
        """
        X = self._new_counts(X)
        rows = log_scale(X, self.log_scaling_).rows
        return np.asarray(posteriors.responsibilities(rows, self.posterior_))

    def _likeliest(self, X: Any) -> Ints:
        rows = log_scale(self._new_counts(X), self.log_scaling_).rows
        fitted = self.posterior_
        found = rows.map(posteriors.LikeliestComponent(fitted.coefficients, fitted.offsets))
        return np.asarray(found, dtype=np.intp)

    @sources.by_partition
    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each sample under ``weights_`` and ``components_``.

        Without EM and log scaling, these may contain zeros; the likelihood then uses
        ``posterior_``, which is smoothed.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Counts with the columns of ``fit``; they are not log-scaled.

        Returns
        -------
        ndarray of shape (n_samples,)
            log P[x] in nats: for :class:`PoissonMixture`, of the counts; for
            :class:`SingleTopicModel`, of the counts given their sum, including the multinomial
            coefficient.
        """
        X = self._new_counts(X)
        parameters = self.posterior_
        if self.log_scaling_:
            parameters = self._family(self.weights_, self.components_.T)
        joint = log_joint(backends.RowBlocks(X), parameters)
        return log_posterior(joint)[1] + self._log_base(X)
