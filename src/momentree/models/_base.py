"""Base class of all flat models: ``fit``, checks, scores, and access to the components."""

from __future__ import annotations

import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from momentree import decomposition as decompositions
from momentree._fit import FitPredict, all_or_nothing
from momentree._logging import console_logging
from momentree._types import Floats, Ints
from momentree._validation import (
    check_choice,
    check_features,
    check_flag,
    check_integer,
    check_number,
    check_sample_weight,
    check_something,
)
from momentree.backends import RowBlocks, single_threaded_blas
from momentree.exceptions import ConvergenceWarning, InvalidDataError
from momentree.inference import log_multinomial
from momentree.messages import Message
from momentree.metrics import relevance
from momentree.models._fit_result import FitResult
from momentree.models._stored import StoredModel
from momentree.objects import Decomposition, Moments
from momentree.tree.page import TopicsPage
from momentree.whitening import whiten

DecompositionName = Literal[
    "sidiwo",
    "svtd",
    "tensor_power_method",
    "als",
    "svd_method",
    "eigendecomposition",
    "jennrich",
    "random_projections",
]
Decomposer = DecompositionName | Callable[..., Decomposition]

DECOMPOSITIONS: tuple[str, ...] = get_args(DecompositionName)
"""Names of the functions in ``momentree.decomposition`` that a flat model accepts."""

log = logging.getLogger("momentree.models")
package_log = logging.getLogger("momentree")

WHITENING_TOL = 1e-4
"""Residual of the eigenpairs of estimated moments, far below the error of the moments."""
WHITENING_ITER = 30
"""Products with M2, beyond two per component, if its spectrum is flat."""


class FlatModel(
    StoredModel,
    TopicsPage,
    FitPredict,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    ABC,
):
    """Base class of models with a list of components instead of a tree.

    A subclass sets its parameters in ``__init__`` and implements :meth:`_fit` and the inference.
    """

    # Whether `score_samples` includes the multinomial coefficient.
    _counts_orders: ClassVar[bool] = False

    n_components: int
    decomposition: Decomposer
    refine: str | None
    smoothing: float
    max_iter: int
    tol: float | None
    warm_start: bool
    random_state: int | np.random.RandomState | None
    verbose: bool | int

    labels_: Ints
    vocabulary_: NDArray[Any]
    n_iter_: int
    converged_: bool
    diagnostics_: Mapping[str, Any]
    mean_count_: float

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
            One sample per row: counts >= 0; for :class:`BernoulliMixture`, 0 and 1 or False and
            True, with NaN for missing values.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; a weight of 2 has the effect of two copies of the sample.
        feature_names : sequence of str of shape (n_features,), default=None
            Column names (words or codes). None uses the column names of a data frame.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X contains other values, if weights or names do not match it, or if there are fewer
            usable samples than components.
        EmptyCorpusError
            If no sample of positive weight has a nonzero value.
        InvalidParameterError
            If a parameter is out of its range.

        Warns
        -----
        ConvergenceWarning
            If fewer than `n_components` components were found; the message says why.
        """
        self._check_parameters()
        samples, counts, weight = self._check_samples(X, sample_weight, feature_names)
        with console_logging(package_log, bool(self.verbose)), single_threaded_blas():
            result, at = self._fit(samples, weight)
            totals = RowBlocks(counts).row_sums
        if (found := len(result.weights)) < self.n_components:
            reason = result.diagnostics.get("reason") or Message("moments_show_no_more")
            warning = ConvergenceWarning(
                "fewer_components", found=found, requested=self.n_components, reason=reason
            )
            warnings.warn(warning, stacklevel=3)
        self.posterior_, self.weights_ = result.parameters, result.weights
        self.components_ = result.centers.T.copy()
        self.labels_ = np.empty_like(result.labels)
        self.labels_[at] = result.labels
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        self.diagnostics_ = result.diagnostics
        self.mean_count_ = float(weight[at] @ totals[at] / weight.sum())
        return self

    @abstractmethod
    def _fit(self, samples: Any, weight: Floats) -> tuple[FitResult, Ints]:
        """Fit checked samples; return the result in canonical order, and this order."""

    def _check_samples(
        self,
        X: Any,
        sample_weight: ArrayLike | None,
        feature_names: Sequence[str] | NDArray[Any] | None,
    ) -> tuple[Any, Any, Floats]:
        """Check the data of ``fit``; return samples, their non-negative values, and weights."""
        counts, self.vocabulary_ = check_features(self, X, feature_names, reset=True)
        weight = check_sample_weight(sample_weight, counts.shape[0])
        check_something(counts, weight)
        usable = (weight > 0) & (np.diff(counts.indptr) > 0)
        self._check_enough("too_few_nonzero_samples", usable)
        return counts, counts, weight

    def _check_enough(self, code: str, usable: NDArray[np.bool_]) -> None:
        found = int(np.count_nonzero(usable))
        if found < self.n_components:
            raise InvalidDataError(code, n_rows=found, n_components=self.n_components)

    def _check_parameters(self) -> None:
        check_integer("n_components", self.n_components, at_least=1)
        if not callable(self.decomposition):
            check_choice("decomposition", self.decomposition, DECOMPOSITIONS)
        check_number("smoothing", self.smoothing, above=0)
        check_integer("max_iter", self.max_iter, at_least=1)
        check_flag("warm_start", self.warm_start)
        verbose = self.verbose
        check_flag("verbose", bool(verbose) if isinstance(verbose, Integral) else verbose)

    def _last_fit(self, n_features: int) -> Any | None:
        """Return the parameters of the last fit if a warm start continues from them."""
        if not (self.warm_start and self.refine):  # moments need no starting values
            return None
        last = getattr(self, "posterior_", None)
        if last is None or last.centers.shape != (n_features, self.n_components):
            return None
        log.info("starting from the last fit")
        return last

    def _decompose(self, moments: Moments) -> Decomposition:
        limit = 2 * self.n_components + WHITENING_ITER
        white = whiten(moments, self.n_components, tol=WHITENING_TOL, max_iter=limit)
        return self._decomposer()(
            moments, self.n_components, random_state=self.random_state, whitening=white
        )

    def _decomposer(self) -> Callable[..., Decomposition]:
        method = self.decomposition
        found: Callable[..., Decomposition]
        found = method if callable(method) else getattr(decompositions, method)
        return found

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability or proportion of each component, shape (n_samples, k)."""

    @abstractmethod
    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each sample, shape (n_samples,)."""

    @property
    def _n_parameters(self) -> int:
        """Number of free parameters: those of k weights and k unconstrained centers."""
        return int(self.components_.size + len(self.weights_) - 1)

    def _new_counts(self, X: Any) -> Any:
        """Return the checked counts of new samples."""
        check_is_fitted(self, "components_")
        return check_features(self, X, None, reset=False)[0]

    def score(self, X: Any, y: object = None) -> float:  # noqa: ARG002 - scikit-learn's convention
        """Return the mean log-likelihood of samples.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``.
        y : None
            Ignored.

        Returns
        -------
        float
            Mean of :meth:`score_samples`, in nats; larger is better.
        """
        return float(self.score_samples(X).mean())

    def perplexity(self, X: Any, y: object = None) -> float:  # noqa: ARG002 - the same convention
        """Return the perplexity, the effective number of equally likely words.

            exp(-sum_i log P[x_i] / sum_i c_i),   c_i the sum of sample i

        For topic models, P[x_i] is the probability of the sequence of words, without the
        multinomial coefficient that :meth:`score_samples` includes.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``.
        y : None
            Ignored.

        Returns
        -------
        float
            At least 1; smaller is better; NaN if all counts are zero. For
            :class:`LatentDirichletAllocation` an upper bound on the perplexity.
        """
        counts = self._new_counts(X)
        words = float(counts.sum())
        total = float(self.score_samples(X).sum())
        if self._counts_orders:
            total -= float(log_multinomial(counts).sum())
        return float(np.exp(-total / words)) if words else float("nan")

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion.

            -2 sum_i log P[x_i] + p log n,   p the number of free parameters

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``.

        Returns
        -------
        float
            Smaller is better.

        Notes
        -----
        Compare only models of the same data: different numbers of components, or a
        :class:`SingleTopicModel` with a :class:`LatentDirichletAllocation`, whose value is an upper
        bound. Both condition on the length of each document, whereas :class:`PoissonMixture` also
        models the lengths, so its value is not comparable with theirs.
        """
        values = self.score_samples(X)
        return float(-2.0 * values.sum() + self._n_parameters * np.log(len(values)))

    @property
    def _n_features_out(self) -> int:
        return int(self.weights_.shape[0])

    @property
    def _profiles(self) -> Floats:
        """P[feature | component] in rows."""
        P: Floats = self.components_
        return np.asarray(P / np.maximum(P.sum(axis=1, keepdims=True), 1e-300))

    def transform(self, X: Any) -> Floats:
        """Return :meth:`predict_proba`, so that the model can be used as a transformer.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to 1.
        """
        return self.predict_proba(X)

    def predict(self, X: Any) -> Ints:
        """Return the component with the largest probability or proportion for each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Samples with the columns of ``fit``.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Component numbers; equal to ``labels_`` for the data of ``fit``.
        """
        return np.asarray(self.predict_proba(X).argmax(axis=1), dtype=np.intp)

    def top_words(self, n_words: int = 10, *, lam: float = 0.7) -> list[list[str]]:
        """Return the most relevant words or codes of each component.

            lam log P[w | j] + (1 - lam) log (P[w | j] / P[w])     (S section 4.3, T eq. 4.12)

        Parameters
        ----------
        n_words : int >= 0, default=10
            Maximum number of words per component.
        lam : float in [0, 1], default=0.7
            1 ranks words by probability, 0 by lift.

        Returns
        -------
        list of list of str
            Column names, most relevant first, one list per component.
        """
        check_is_fitted(self, "components_")
        check_integer("n_words", n_words, at_least=0)
        P = self._profiles
        values = relevance(P, self.weights_ @ P, lam)
        order = np.argsort(-values, axis=1, kind="stable")[:, :n_words]
        return [
            [str(self.vocabulary_[w]) for w in row if p[w] > 0]
            for row, p in zip(order, P, strict=True)
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
