"""What all flat models share: the checks of ``fit``, the decomposition, and views of the topics."""

from __future__ import annotations

import logging
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar, NoReturn, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from momentree import decomposition as methods
from momentree._validation import check_features, check_sample_weight, check_something, check_whole
from momentree.exceptions import (
    ConvergenceWarning,
    InvalidDataError,
    InvalidParameterError,
)
from momentree.inference import log_multinomial
from momentree.metrics import relevance
from momentree.models._stored import StoredModel
from momentree.objects import Decomposition, Moments
from momentree.tree.page import page_of
from momentree.whitening import whiten

__all__ = ["DECOMPOSITIONS", "FlatModel", "drawn_rows", "log", "package_log"]

Floats = NDArray[np.float64]
Method = Callable[..., Decomposition]

log = logging.getLogger("momentree.models")
package_log = logging.getLogger("momentree")

DECOMPOSITIONS: tuple[str, ...] = (
    "sidiwo",
    "svtd",
    "tensor_power_method",
    "als",
    "svd_method",
    "eigendecomposition",
    "jennrich",
    "random_projections",
)

WHITENING_TOL = 1e-4
"""Residual of eigenpairs of estimated moments, whose own error is larger by far."""
WHITENING_ITER = 30
"""Products with M2 beyond two for each component, where its spectrum is flat."""
DRAWN_AT_ONCE = 1 << 22
"""Counts of new samples that are dense at one time: 32 MB."""


class FlatModel(StoredModel, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the models that are a list of topics or components, not a tree.

    Parameters
    ----------
    n_components : int >= 1
        Number of components.
    decomposition : str or callable
        Name of a function of ``momentree.decomposition``, or one of the same signature.
    random_state : int, RandomState or None
        For the decompositions that draw.
    """

    # Of each parameter that is a choice, the values; of each that is a number, the kind (Integral
    # or Real), the lowest value, and whether that value itself is allowed.
    _choices: ClassVar[dict[str, tuple[Any, ...]]] = {}
    _numbers: ClassVar[dict[str, tuple[type, float, bool]]] = {
        "n_components": (Integral, 1, True),
        "smoothing": (Real, 0, False),
        "max_iter": (Integral, 1, True),
        "tol": (Real, 0, True),
    }

    # Whether a sample is words that are drawn one by one, its length being given.
    _draws_words: ClassVar[bool] = False

    n_components: int
    decomposition: str | Method
    random_state: int | np.random.RandomState | None

    components_: Floats
    weights_: Floats
    vocabulary_: NDArray[Any]

    # --- fit: from user input to moments ---------------------------------------------------------

    def _check_fit(
        self,
        X: Any,
        sample_weight: ArrayLike | None,
        feature_names: Sequence[str] | NDArray[Any] | None,
    ) -> tuple[Any, Floats]:
        """Check everything that ``fit`` received; return counts and weights."""
        self._check_parameters()
        X, self.vocabulary_ = check_features(self, X, feature_names, reset=True)
        weight = check_sample_weight(sample_weight, X.shape[0])
        check_something(X, weight)
        usable = int(np.count_nonzero((weight > 0) & (np.diff(X.indptr) > 0)))
        if usable < self.n_components:
            msg = (
                f"n_samples = {usable} with a count above zero, n_components = "
                f"{self.n_components}: ask for no more components than samples"
            )
            raise InvalidDataError(msg)
        return X, weight

    def _check_parameters(self) -> None:
        choices = dict(self._choices)
        if not callable(self.decomposition):
            choices["decomposition"] = DECOMPOSITIONS
        for name, values in choices.items():
            value = getattr(self, name)
            if (value is not None and not isinstance(value, str)) or value not in values:
                _refuse(name, value, "one of " + ", ".join(map(repr, values)))
        for name in ("warm_start", "verbose"):
            if not isinstance(getattr(self, name, False), Integral | np.bool_):
                _refuse(name, getattr(self, name), "True or False")
        for name, (kind, low, closed) in self._numbers.items():
            number: Any = getattr(self, name)
            good = isinstance(number, kind) and not isinstance(number, bool)
            good = good and math.isfinite(number) and (number > low or (closed and number == low))
            if not good:
                whole = "whole number" if kind is Integral else "number"
                _refuse(name, number, f"a {whole} {'of at least' if closed else 'above'} {low}")

    def _decompose(self, moments: Moments, *, warn: bool = True) -> Decomposition:
        """Decompose moments by the method asked for; warn where fewer components come back."""
        limit = 2 * self.n_components + WHITENING_ITER
        white = whiten(moments, self.n_components, tol=WHITENING_TOL, max_iter=limit)
        found = self._method()(
            moments, self.n_components, random_state=self.random_state, whitening=white
        )
        if warn and found.n_components < self.n_components:
            reason = found.diagnostics.get("reason") or "the moments show no more"
            self._warn_of_fewer(found.n_components, reason)
        return found

    def _method(self) -> Method:
        method = self.decomposition
        return method if callable(method) else cast("Method", getattr(methods, method))

    def _warn_of_fewer(self, n_components: int, reason: str) -> None:
        msg = f"{n_components} of {self.n_components} components: {reason}"
        warnings.warn(msg, ConvergenceWarning, stacklevel=6)

    # --- views -----------------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return int(self.weights_.shape[0])

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "components_")
        return check_features(self, X, None, reset=False)[0]

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Return the share of each component in each sample, shape (n_samples, n_components)."""

    @abstractmethod
    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each sample, shape (n_samples,)."""

    @property
    @abstractmethod
    def _n_parameters(self) -> int:
        """Free parameters of the fitted model."""

    def transform(self, X: Any) -> Floats:
        """Return the share of each component in each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Counts in the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            What :meth:`predict_proba` returns; rows sum to 1.
        """
        return self.predict_proba(X)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the component of largest share for each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Counts in the columns of ``fit``.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Numbers of components.
        """
        return np.asarray(self.predict_proba(X).argmax(axis=1), dtype=np.intp)

    def fit_predict(self, X: Any, y: object = None, **fit_params: Any) -> NDArray[np.intp]:
        """Fit the model and return the component of each sample.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Counts >= 0.
        y : None
            Not used.
        **fit_params
            Passed on to ``fit``.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            ``labels_``.
        """
        labels: NDArray[np.intp] = self.fit(X, y, **fit_params).labels_
        return labels

    def score(self, X: Any, y: object = None) -> float:  # noqa: ARG002 - scikit-learn's convention
        """Return the mean log-likelihood of samples.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Counts in the columns of ``fit``.
        y : None
            Not used.

        Returns
        -------
        float
            Mean of :meth:`score_samples`, in nats; larger is better.
        """
        return float(self.score_samples(X).mean())

    def perplexity(self, X: Any, y: object = None) -> float:  # noqa: ARG002 - the same convention
        """Return the perplexity: the number of equally likely words that are as hard to guess.

            exp(-sum_i log P[x_i] / sum_i c_i),   c_i the sum of counts of sample i

        For topic models P[x_i] is here that of the words in their order, less than that of
        :meth:`score_samples` by the multinomial coefficient.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Counts in the columns of ``fit``.
        y : None
            Not used.

        Returns
        -------
        float
            From 1; smaller is better; nan where there are no counts. An upper bound where
            :meth:`score_samples` is a lower one, as for latent Dirichlet allocation.
        """
        counts = self._checked(X)
        words = float(counts.sum())
        total = float(self.score_samples(X).sum())
        if self._draws_words:
            total -= float(log_multinomial(counts).sum())
        return float(np.exp(-total / words)) if words else float("nan")

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion.

            -2 sum_i log P[x_i] + p log n,   p the number of free parameters

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Counts in the columns of ``fit``.

        Returns
        -------
        float
            Smaller is better.

        Notes
        -----
        It compares models of the same data: other numbers of components, and
        :class:`SingleTopicModel` with :class:`LatentDirichletAllocation`, whose value is an upper
        bound. These two take the lengths of documents as given; :class:`PoissonMixture` also has
        to predict them, so that its value is no measure against theirs.
        """
        values = self.score_samples(X)
        return float(-2.0 * values.sum() + self._n_parameters * np.log(len(values)))

    def top_words(self, n_words: int = 10, *, lam: float = 0.7) -> list[list[str]]:
        """Return the most relevant words of each component.

            lam log P[w | j] + (1 - lam) log (P[w | j] / P[w])     (S section 4.3)

        Parameters
        ----------
        n_words : int >= 0, default=10
            Words of each component, at most.
        lam : float in [0, 1], default=0.7
            1 ranks words by probability, 0 by lift.

        Returns
        -------
        list of list of str
            Names of columns, most relevant first, in the order of components.
        """
        check_is_fitted(self, "components_")
        check_whole("n_words", n_words)
        P = self.components_ / np.maximum(self.components_.sum(axis=1, keepdims=True), 1e-300)
        values = relevance(P, self.weights_ @ P, lam)
        order = np.argsort(-values, axis=1, kind="stable")[:, :n_words]
        return [
            [str(self.vocabulary_[w]) for w in row if p[w] > 0]
            for row, p in zip(order, P, strict=True)
        ]

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        X: Any = None,
        *,
        ids: Sequence[str] | None = None,
        texts: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        order: Collection[Any] | None = None,
        title: str | None = None,
    ) -> str:
        """Return the report of the model as one HTML page that needs no network.

        Parameters
        ----------
        path : str or path-like, default=None
            Also write the page to this file, whole or not at all.
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            The samples of ``fit``, for their shares, typical ones and coherence; left out when
            None.
        ids, texts, labels : sequence of str of shape (n_samples,), default=None
            Names, texts and known classes of the samples.
        order : sequence of numbers or dates of shape (n_samples,), default=None
            Where each sample stands in the chart of shares; None is the order of X.
        title : str, default=None
            Heading of the page.

        Returns
        -------
        str
            The page.
        """
        check_is_fitted(self, "components_")
        return page_of(self, path, X, ids=ids, texts=texts, labels=labels, order=order, title=title)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def drawn_rows(n_samples: int, d: int, draw: Callable[[slice], Any]) -> Any:
    """Return counts of new samples as a sparse array.

    `draw(at)` returns the rows `at`, in order; some are drawn at a time, so that they are never
    dense all together.
    """
    step = max(1, DRAWN_AT_ONCE // d)
    starts = range(0, n_samples, step)
    parts = [sp.csr_array(draw(slice(at, min(at + step, n_samples)))) for at in starts]
    return sp.vstack(parts, format="csr") if parts else sp.csr_array((0, d), dtype=np.int64)


def _refuse(name: str, value: object, expected: str) -> NoReturn:
    msg = f"{name}={value!r}; expected {expected}"
    raise InvalidParameterError(msg)
