"""Mixtures for counts: moments or directions give the start, EM the rest. One ``fit`` for all."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from momentree._fit import all_or_nothing
from momentree._logging import console_logging
from momentree._validation import check_whole, generator
from momentree.backends import RowBlocks, in_canonical_order, single_threaded_blas
from momentree.inference import log_joint, log_posterior
from momentree.models._base import FlatModel, drawn_rows, log, package_log
from momentree.moments import RawMoments
from momentree.objects import Decomposition, MixtureParameters, Moments
from momentree.preprocessing import LogScaling, log_scale, tfidf, typical_count_per_token
from momentree.refinement import em
from momentree.tree.growth import Limits, grow
from momentree.tree.split import SPLIT_ITER
from momentree.tree.topic_split import TopicSplitter

__all__ = ["CountMixture", "Start"]

POSSIBLE = 1e-3
"""Share of the average sample in every component of a start."""

Floats = NDArray[np.float64]
Start = Literal["auto", "tree", "tfidf", "moments"]


@dataclass(frozen=True)
class Corpus:
    """Counts and what they become on the way to a fit.

    Attributes
    ----------
    counts : RowBlocks of shape (n, d)
        Counts in canonical order.
    rows : RowBlocks of shape (n, d)
        Log-scaled counts.
    unit : ndarray of shape (n,)
        What one word counts in each sample after log scaling.
    weight : ndarray of shape (n,)
        Sample weights.
    smoothing : float
        What is added to fitted statistics, on the scale of log-scaled counts.
    """

    counts: RowBlocks
    rows: RowBlocks
    unit: Floats
    weight: Floats
    smoothing: float


class CountMixture(FlatModel):
    """Base of mixtures whose components are linear in the counts.

    A subclass names the class of its parameters, its moments, and how valid parameters come from
    a decomposition.
    """

    _choices: ClassVar[dict[str, tuple[Any, ...]]] = {
        "refine": ("em", None),
        "start": ("auto", "tree", "tfidf", "moments"),
    }
    _family: ClassVar[type[MixtureParameters]]

    refine: Literal["em"] | None
    start: Start
    smoothing: float
    max_iter: int
    tol: float
    warm_start: bool
    verbose: bool | int

    posterior_: MixtureParameters
    diagnostics_: Mapping[str, Any]
    labels_: NDArray[np.intp]
    n_iter_: int
    converged_: bool

    # --- what a model is -------------------------------------------------------------------------

    @abstractmethod
    def _moments(self, corpus: Corpus) -> Moments:
        """Estimate the moments of the model."""

    @abstractmethod
    def _valid_centers(self, found: Decomposition) -> Floats:
        """Return centers that the model allows, the closest to those found, shape (d, k)."""

    @abstractmethod
    def _chosen_start(self) -> str:
        """Return "tree", "tfidf" or "moments"."""

    def _chosen_log_scaling(self) -> LogScaling | None:
        """Return how counts are scaled before the fit."""
        return None

    # --- fit -------------------------------------------------------------------------------------

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002 - the convention of scikit-learn
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Counts >= 0, one sample a row.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0: a weight of 2 is the same as the sample twice.
        feature_names : sequence of str of shape (n_features,), default=None
            The words, for names and reports.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X is not a matrix of counts from 0 to 1e30, weights or names do not fit it, or
            there are fewer samples than components.
        EmptyCorpusError
            If no sample of positive weight holds a count.
        InvalidParameterError
            If a parameter is out of its range.
        """
        X, weight = self._check_fit(X, sample_weight, feature_names)
        with console_logging(package_log, bool(self.verbose)), single_threaded_blas():
            corpus, at = self._corpus(X, weight)
            start, centers, diagnostics = self._start_of(corpus)
            self.n_iter_, self.converged_ = 1, True
            if self.refine:
                log.info("refining %d components", start.n_components)
                refined = em(
                    corpus.rows,
                    start,
                    sample_weight=corpus.weight,
                    smoothing=corpus.smoothing,
                    max_iter=self.max_iter,
                    tol=self.tol,
                )
                fitted, centers = refined.parameters, refined.parameters.centers
                self.n_iter_, self.converged_ = refined.n_iter, refined.converged
                diagnostics = {**diagnostics, "log_likelihood": refined.log_likelihood}
            else:
                fitted = start
            shares, weights = _shares(corpus.rows, fitted), fitted.weights
            if self._chosen_log_scaling():
                # Weights and topics of the words as they were counted.
                right = shares * corpus.weight[:, None]
                sums = corpus.counts.sum(lambda B: B.tdot(right[B.at]))
                counted = self._family.m_step(sums, right.sum(axis=0), self.smoothing)
                weights, centers = counted.weights, counted.centers
            order = np.argsort(-weights, kind="stable")
            self.posterior_ = fitted.reordered(order)
            self.weights_, self.components_ = weights[order], centers[:, order].T.copy()
            self.labels_ = np.empty(len(at), dtype=np.intp)
            self.labels_[at] = shares[:, order].argmax(axis=1)
        self.diagnostics_ = diagnostics
        self.mean_count_ = float(corpus.weight @ corpus.counts.row_sums / weight.sum())
        return self

    def _corpus(self, X: Any, weight: Floats) -> tuple[Corpus, NDArray[np.intp]]:
        ordered, at = in_canonical_order(RowBlocks(X), weight)
        weight = weight[at]
        scaled = log_scale(ordered.matrix, self._chosen_log_scaling())
        rows = RowBlocks(scaled.X)
        smoothing = self.smoothing * typical_count_per_token(rows, scaled.count_per_token, weight)
        return Corpus(ordered, rows, scaled.count_per_token, weight, smoothing), at

    def _start_of(self, corpus: Corpus) -> tuple[MixtureParameters, Floats, Mapping[str, Any]]:
        """Return smoothed parameters to start from, centers as they were found, diagnostics."""
        goes_on = self.warm_start and self.refine  # what moments alone give has no past
        before = getattr(self, "posterior_", None) if goes_on else None
        if before is not None and before.centers.shape == (corpus.rows.shape[1], self.n_components):
            log.info("starting from the last fit")
            return before, before.centers, self.diagnostics_
        start = self._chosen_start()
        diagnostics: Mapping[str, Any]
        log.info("decomposing %s", "the moments of the model" if start == "moments" else start)
        if start == "moments":
            found = self._decompose(self._moments(corpus))
            centers = self._valid_centers(found)
            if float((centers @ found.weights).sum()) > 0:
                diagnostics = {**found.diagnostics, "start": start}
                return self._smoothed(found, centers, corpus), centers, diagnostics
            shares = np.ones((corpus.rows.shape[0], 1))
            diagnostics = found.diagnostics
        elif start == "tfidf":
            rows = RowBlocks(tfidf(corpus.counts.matrix, corpus.weight))
            found = self._decompose(RawMoments.from_rows(rows, sample_weight=corpus.weight))
            shares = _largest_score(rows, found, corpus.weight)
            diagnostics = found.diagnostics
        else:
            shares, diagnostics = self._leaves(corpus)
        shares *= corpus.weight[:, None]
        sums = corpus.rows.sum(lambda B: B.tdot(shares[B.at]))
        fitted = self._family.m_step(sums, shares.sum(axis=0), corpus.smoothing)
        return fitted, fitted.centers, {**diagnostics, "start": start}

    def _smoothed(self, found: Decomposition, centers: Floats, corpus: Corpus) -> MixtureParameters:
        """Return parameters without zeros: centers as the counts that they predict, smoothed."""
        weights = found.weights / found.weights.sum()
        if self.refine:
            # A small component of the moments is not to be starved before EM has seen it.
            weights = np.full_like(weights, 1.0 / len(weights))
        sums = centers * weights
        mass = float(corpus.weight @ corpus.rows.row_sums)
        sums *= mass / max(float(sums.sum()), 1e-300)
        # What occurs at all may occur in every component, also where the moments say it does not.
        words = corpus.rows.sum(lambda B: B.tdot(corpus.weight[B.at]))
        sums += POSSIBLE * words[:, None] * weights
        return self._family.m_step(sums, weights * corpus.weight.sum(), corpus.smoothing)

    def _leaves(self, corpus: Corpus) -> tuple[Floats, Mapping[str, Any]]:
        """Grow a tree of k leaves; return the leaf of each row as ones of shape (n, k)."""
        splitter = TopicSplitter(
            min_samples_leaf=1,
            refine_iter=SPLIT_ITER if self.refine else 0,
            weighting=getattr(self, "weighting", "length"),
            smoothing=corpus.smoothing,
            random_state=self.random_state,
            decompose=self._method(),
        )
        limits = Limits(self.n_components)
        grown = grow(corpus.rows, corpus.weight, corpus.unit, splitter, limits)
        leaves = grown.root.leaves()
        k, reason = len(leaves), ""
        if k < self.n_components:
            reason = f"no group of samples can be split further: {leaves[0].reason}"
            self._warn_of_fewer(k, reason)
        shares = np.eye(k)[grown.labels]
        return shares, {"rank": k, "reason": reason, "advice": []}

    # --- inference -------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each component for each sample (S eq. 1).

            P[j | x] = omega_j P[y | mu_j] / sum_i omega_i P[y | mu_i]

        with omega and mu the weights and centers of ``posterior_``, and y = x or, with log scaling,
        the log-scaled counts

            y_w = log2(1 + x_w) sqrt(24 / sum_v log2(1 + x_v)).

        With EM and without log scaling ``posterior_`` has ``weights_`` and ``components_``, and this
        is Bayes' rule with them. y is held in single precision, which is exact for whole counts up
        to 16 million.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Counts in the columns of ``fit``. For a sample without counts it is
            ``posterior_.weights``, or what the absence of counts says of it.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to 1.
        """
        X = self._checked(X)
        return _shares(RowBlocks(log_scale(X, self._chosen_log_scaling()).X), self.posterior_)

    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each sample under ``weights_`` and ``components_``.

        Without refinement and log scaling ``components_`` may hold zeros; the likelihood is then that
        of ``posterior_``, in which these are smoothed.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Counts in the columns of ``fit``, taken as they are: never scaled.

        Returns
        -------
        ndarray of shape (n_samples,)
            log P[x] in nats: of a :class:`PoissonMixture` that of the counts, of a
            :class:`SingleTopicModel` that of the counts given their sum, which is the multinomial
            coefficient times the probability of the words in any one order.
        """
        X = self._checked(X)
        parameters = self.posterior_
        if self._chosen_log_scaling():
            parameters = self._family(self.weights_, self.components_.T)
        joint = log_joint(RowBlocks(X), parameters)
        return log_posterior(joint)[1] + self._log_base(X)

    def _log_base(self, X: Any) -> Floats | float:  # noqa: ARG002 - models use it
        """Return what the log-likelihood of a sample has that no parameter changes."""
        return 0.0

    def _drawn(
        self, n_samples: int, random_state: int | np.random.RandomState | None
    ) -> tuple[np.random.RandomState, NDArray[np.intp]]:
        """Return random numbers and the component of each new sample."""
        check_is_fitted(self, "components_")
        check_whole("n_samples", n_samples)
        rng = generator(random_state)
        k = len(self.weights_)
        return rng, np.asarray(rng.choice(k, size=n_samples, p=self.weights_), dtype=np.intp)

    def _drawn_rows(self, labels: NDArray[np.intp], draw: Callable[[int, int], Any]) -> Any:
        """Return counts of new samples; `draw(j, n)` returns n rows of component j."""
        d = self.components_.shape[1]

        def rows(at: slice) -> Any:
            here = labels[at]
            X = np.zeros((len(here), d), dtype=np.int64)
            for j in np.unique(here):
                X[here == j] = draw(int(j), int(np.count_nonzero(here == j)))
            return X

        return drawn_rows(len(labels), d, rows)


def _shares(rows: RowBlocks, parameters: MixtureParameters) -> Floats:
    """Return P[component j | row], shape (n, k)."""
    return np.exp(log_posterior(log_joint(rows, parameters))[0])


def _largest_score(rows: RowBlocks, found: Decomposition, weight: Floats) -> Floats:
    """Put each row into the component of its largest rotated score, shape (n, k).

    Scores are D x with D = (M Omega^1/2)^+, each signed so that its third moment is positive: the
    rows that a component is about score high in it (T Algorithm 5, for k components).
    """
    if not found.n_components:
        return np.ones((rows.shape[0], 1))
    D = np.asarray(np.linalg.pinv(found.centers * np.sqrt(found.weights)).T, dtype=np.float64)
    scores = rows.map(lambda B: B.dot(D))
    scores *= np.where(weight @ scores**3 < 0, -1.0, 1.0)
    return np.asarray(np.eye(D.shape[1])[scores.argmax(axis=1)])
