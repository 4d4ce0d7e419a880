"""Samplers of mixtures of independent variables: Poisson and Bernoulli."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from momentree._types import Floats, Int64s
from momentree._validation import as_floats, check_choice, check_shape
from momentree.datasets._sampling import (
    RandomState,
    check_nonnegative_rows,
    check_one_or_each,
    check_sizes,
    check_weights,
    draw_counts,
    draw_labels,
    generator,
)
from momentree.datasets.samples import MixtureSample
from momentree.exceptions import InvalidDataError

ScaledBy = Literal["feature", "component", "all"]


def make_poisson_mixture(
    n_samples: int,
    n_features: int,
    n_components: int,
    *,
    total: float | ArrayLike = 5.0,
    weights: ArrayLike | None = None,
    components: ArrayLike | None = None,
    random_state: RandomState = None,
) -> MixtureSample:
    """Draw counts from a mixture of independent Poisson variables (Poisson naive Bayes).

        Y ~ Discrete(weights), x_j | Y = i ~ Poisson(means[i, j]) for each feature j

    Parameters
    ----------
    n_samples, n_features, n_components : int, >= 1
        Number of rows, columns and components.
    total : float or array-like of shape (n_components,), > 0, default=5.0
        Expected sum of a row, for all components or for each; means are scaled to match.
    weights : array-like of shape (n_components,) or None, default=None
        Probabilities of the components, with sum 1; None for equal probabilities.
    components : array-like of shape (n_components, n_features) or None, default=None
        Means >= 0 on any scale; None draws them uniformly from [0, 1].
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    MixtureSample
        Counts, labels, weights and means.

    Raises
    ------
    InvalidDataError
        If `weights` are not probabilities, or `components` are not means, of these shapes.
    InvalidParameterError
        If another parameter is invalid.

    Notes
    -----
    The model of Proposition 1.2.1 of [1]; the defaults are those of the experiment in its section
    2.3, whose components are hard to distinguish. Time O(n + N log(k d)) and memory O(nnz + k d)
    for N counts in total.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.datasets import make_poisson_mixture
    >>> sample = make_poisson_mixture(1000, 4, 2, components=np.eye(2, 4), random_state=0)
    >>> sample.means
    array([[5., 0., 0., 0.],
           [0., 5., 0., 0.]])
    >>> sample.X[sample.labels == 0].mean(axis=0).round(1)
    array([4.9, 0. , 0. , 0. ])
    """
    n, d, k = check_sizes(n_samples=n_samples, n_features=n_features, n_components=n_components)
    totals = np.full(k, check_one_or_each("total", total, k))
    w = check_weights(weights, k)
    rng = generator(random_state)
    if components is None:
        mu = rng.random((k, d))
    else:
        mu = check_nonnegative_rows("components", components, (k, d))
    mu = mu / mu.sum(axis=1, keepdims=True)
    labels = draw_labels(w, n, rng)
    # A Poisson number of words from the component scaled to sum 1 has the same distribution.
    lengths = rng.poisson(totals[labels])
    X = draw_counts(mu, lengths, lambda a, b: np.repeat(labels[a:b], lengths[a:b]), rng)
    return MixtureSample(X, labels, w, totals[:, None] * mu)


def make_bernoulli_mixture(
    n_samples: int = 10_000,
    n_features: int = 99,
    n_components: int = 12,
    *,
    weights: ArrayLike | None = None,
    means: ArrayLike | None = None,
    scaled_by: ScaledBy = "feature",
    random_state: RandomState = None,
) -> MixtureSample:
    """Draw rows from a mixture of independent Bernoulli variables (Bernoulli naive Bayes).

        Y ~ Discrete(weights), x_j | Y = i ~ Bernoulli(means[i, j]) for each feature j

    Parameters
    ----------
    n_samples : int, >= 1, default=10_000
        Number of rows.
    n_features : int, >= 1, default=99
        Number of columns.
    n_components : int, >= 1, default=12
        Number of components.
    weights : array-like of shape (n_components,) or None, default=None
        Probabilities of the components, with sum 1; None draws them (see Notes).
    means : array-like of shape (n_components, n_features) or None, default=None
        Probability that each feature is 1, in [0, 1]; None draws them (see Notes).
    scaled_by : {"feature", "component", "all"}, default="feature"
        Scale of random means: the largest is 1 for each feature, for each component, or in the
        whole matrix.
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    MixtureSample
        Zeros and ones, labels, weights and means.

    Raises
    ------
    InvalidDataError
        If `weights` or `means` are not probabilities of these shapes.
    InvalidParameterError
        If another parameter is invalid.

    Notes
    -----
    The defaults are those of the largest case of section 4.5 of [1], whose parameters are
    "exponentially distributed random numbers, normalized to be between 0 and 1". [1] does not
    specify the normalization; here means are E / max(E) and weights E / sum(E), with E independent
    standard exponential variables. With the maximum of the whole matrix, even the true parameters
    give an adjusted Rand index of only 0.92 to 0.99, below the accuracy reported in [1]; they give
    at least 0.995 with the maximum of each component, and 1 with the maximum of each feature.

    Time O(nnz log nnz + n + k d) and memory O(nnz + n + k d).

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    >>> from momentree.datasets import make_bernoulli_mixture
    >>> sample = make_bernoulli_mixture(1000, 3, 2, means=[[1, 0.5, 0], [0, 0, 1]], random_state=0)
    >>> sample.X[sample.labels == 0].mean(axis=0).round(1)
    array([1. , 0.5, 0. ])
    >>> make_bernoulli_mixture(random_state=0).X.shape
    (10000, 99)
    """
    n, d, k = check_sizes(n_samples=n_samples, n_features=n_features, n_components=n_components)
    check_choice("scaled_by", scaled_by, get_args(ScaledBy))
    rng = generator(random_state)
    if weights is None:
        drawn = rng.standard_exponential(k)
        w = drawn / drawn.sum()
    else:
        w = check_weights(weights, k)
    if means is None:
        mu = rng.standard_exponential((k, d))
        axis = {"feature": 0, "component": 1, "all": None}[scaled_by]
        mu /= mu.max(axis=axis, keepdims=True)
    else:
        mu = _check_probabilities(means, (k, d))
    labels = draw_labels(w, n, rng)
    return MixtureSample(draw_ones(mu, labels, rng), labels, w, mu)


def draw_ones(mu: Floats, labels: Int64s, rng: np.random.Generator) -> sp.csr_array[Any]:
    """Draw x_j ~ Bernoulli(mu[label, j]) for each row, in time O(number of ones)."""
    n, (k, d) = len(labels), mu.shape
    order = np.argsort(labels, kind="stable").astype(np.int32)
    sizes = np.bincount(labels, minlength=k)
    counts = rng.binomial(sizes[:, None], mu)
    members = np.split(order, np.cumsum(sizes)[:-1])
    rows = [
        members[i][rng.choice(sizes[i], counts[i, j], replace=False, shuffle=False)]
        for j in range(d)
        for i in range(k)
        if counts[i, j]
    ]
    indptr = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    indices = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
    # Use 32-bit indices if they suffice, because some libraries reject 64-bit ones.
    indptr = indptr.astype(np.int32 if indptr[-1] <= np.iinfo(np.int32).max else np.int64)
    by_column = sp.csc_array((np.ones(len(indices), dtype=np.int64), indices, indptr), shape=(n, d))
    return by_column.tocsr()


def _check_probabilities(means: ArrayLike, shape: tuple[int, int]) -> Floats:
    mu = as_floats("means", means)
    check_shape("means", mu, shape)
    if not ((mu >= 0) & (mu <= 1)).all():
        low, high = float(mu.min()), float(mu.max())
        raise InvalidDataError("not_probabilities", parameter="means", low=low, high=high)
    return mu
