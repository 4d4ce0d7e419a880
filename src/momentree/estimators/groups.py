"""Methods of all estimators that find groups: fit, predict, transform, score and sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree._validation import check_integer, generator
from momentree.backends.sources import by_partition

E = TypeVar("E")


def fit(
    self: E,
    X: Any,
    y: object = None,  # noqa: ARG001 - the convention of scikit-learn
    *,
    sample_weight: ArrayLike | None = None,
    feature_names: Sequence[str] | NDArray[Any] | None = None,
) -> E:
    """Fit the model.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame, Rows} of shape (n_samples, n_features)
        One sample per row, of the kind that the class says: counts >= 0; for
        :class:`BernoulliMixture`, 0 and 1 or False and True; NaN for missing values, except
        among counts.
    y : None
        Ignored.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0; a weight of 2 has the effect of two copies of the sample.
    feature_names : sequence of str of shape (n_features,), default=None
        Column names (words, codes or measurements), used in names and reports. None uses the
        column names of a data frame.

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
        If no sample of positive weight has a nonzero value, where zeros say nothing.
    InvalidParameterError
        If a parameter is out of its range.

    Warns
    -----
    ConvergenceWarning
        If fewer than `n_components` components were found; the message says why. If components,
        other than those of counts, have one sample or none.
    """
    model: Any = self
    model._fit(X, sample_weight=sample_weight, feature_names=feature_names)
    return self


def fit_predict(self: Any, X: Any, y: object = None, **fit_params: Any) -> Ints:
    """Fit, and return the component or leaf of each sample.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Samples, as for ``fit``.
    y : None
        Ignored.
    **fit_params
        Passed on to ``fit``.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        ``labels_``.
    """
    labels: Ints = self.fit(X, y, **fit_params).labels_
    return labels


@by_partition
def transform(self: Any, X: Any) -> Floats:
    """Return :meth:`predict_proba`, so that the estimator can be used as a transformer.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Samples with the columns of ``fit``; or texts, after a fit to texts.

    Returns
    -------
    ndarray of shape (n_samples, n_groups)
        Rows sum to 1.
    """
    found: Floats = self.predict_proba(X)
    return found


def score(self: Any, X: Any, y: object = None) -> float:  # noqa: ARG001 - scikit-learn's convention
    """Return the mean log-likelihood of samples.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Samples with the columns of ``fit``; or texts, after a fit to texts.
    y : None
        Ignored.

    Returns
    -------
    float
        Mean of :meth:`score_samples`, in nats; larger is better.
    """
    return float(self.score_samples(X).mean())


def bic(self: Any, X: Any) -> float:
    """Return the Bayesian information criterion.

        -2 sum_i log P[x_i] + p log n,   p the number of free parameters

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Samples with the columns of ``fit``; or texts, after a fit to texts.

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


def sample(
    self: Any, n_samples: int = 1, *, random_state: int | np.random.RandomState | None = None
) -> tuple[Any, Ints]:
    """Draw samples from the fitted mixture.

    Parameters
    ----------
    n_samples : int >= 0, default=1
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed; None means seed 0.

    Returns
    -------
    X : csr_array, ndarray, data frame or list of these, of n_samples rows
        Counts, or zeros and ones, as a csr_array of int64; other values as in the data of the fit.
    labels : ndarray of int of shape (n_samples,)
        Component of each sample.
    """
    check_is_fitted(self, "labels_")
    check_integer("n_samples", n_samples, at_least=0)
    rng = generator(random_state)
    labels = draw_components(self.weights_, n_samples, rng)
    return self._draw(labels, rng), labels


def draw_components(weights: Floats, n_samples: int, rng: np.random.RandomState) -> Ints:
    """Return the component of each new sample."""
    return rng.choice(len(weights), size=n_samples, p=weights).astype(np.intp)
