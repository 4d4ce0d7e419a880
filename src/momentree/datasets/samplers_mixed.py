"""Counts of documents that mix topics, and of Poisson mixtures, with the truth beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from momentree.datasets._sampling import (
    RandomState,
    check_lengths,
    check_positive,
    check_size,
    check_weights,
    draw_counts,
    draw_labels,
    generator,
    random_topics,
)
from momentree.exceptions import InvalidParameterError

__all__ = ["LDASample", "PoissonSample", "make_lda", "make_poisson_mixture"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST, MOST = 1e-100, 1e15
"""Range of concentrations and totals, in which no draw underflows or is too large to count."""


@dataclass(frozen=True)
class LDASample:
    """Documents drawn from latent Dirichlet allocation, and the model.

    Attributes
    ----------
    X : csr_array of int64, shape (n_samples, n_features)
        Counts of words; indices sorted, no stored zeros.
    proportions : ndarray of shape (n_samples, n_components)
        Share of each topic in each document; rows sum to 1.
    alpha : ndarray of shape (n_components,)
        Parameter of the Dirichlet distribution of the proportions.
    components : ndarray of shape (n_components, n_features)
        Probability of each word in each topic; rows sum to 1.
    """

    X: sp.csr_array[Any]
    proportions: Floats
    alpha: Floats
    components: Floats


@dataclass(frozen=True)
class PoissonSample:
    """Counts drawn from a mixture of independent Poisson variables, and the model.

    Attributes
    ----------
    X : csr_array of int64, shape (n_samples, n_features)
        Counts; indices sorted, no stored zeros.
    labels : ndarray of int64, shape (n_samples,)
        Component of each row.
    weights : ndarray of shape (n_components,)
        Probability of each component; sum 1.
    means : ndarray of shape (n_components, n_features)
        Expected counts in each component.
    """

    X: sp.csr_array[Any]
    labels: Ints
    weights: Floats
    means: Floats


def make_lda(
    n_samples: int,
    n_features: int,
    n_components: int,
    *,
    alpha: float | ArrayLike | None = None,
    length: int | ArrayLike = 100,
    concentration: float = 0.5,
    exponent: float = 1.0,
    random_state: RandomState = None,
) -> LDASample:
    """Draw documents that mix random topics over a power-law vocabulary.

        mu_i[w] ~ g_iw / (w + 1)^exponent, with g_iw from Gamma(concentration);
        h ~ Dirichlet(alpha), each word: Y ~ Discrete(h), w | Y = i ~ Discrete(mu_i)

    Parameters
    ----------
    n_samples : int, >= 1
        Number of documents.
    n_features : int, >= 1
        Number of words in the vocabulary.
    n_components : int, >= 1
        Number of topics.
    alpha : float, array-like of shape (n_components,) or None, > 0, default=None
        An array is alpha itself. A number is the total concentration alpha_0, split evenly:
        alpha_i = alpha_0 / n_components; small values give documents of one topic, large ones
        documents that all mix alike. None is a total of 1.
    length : int or array-like of int of shape (n_samples,), >= 0, default=100
        Words in every document, or in each.
    concentration : float, > 0, default=0.5
        Smaller values make topics more unlike.
    exponent : float, >= 0, default=1.0
        How fast frequencies of words fall with their rank (1 is Zipf's law); with 0 the topics
        are draws of a symmetric Dirichlet distribution.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same sample.

    Returns
    -------
    LDASample
        Counts, topic proportions of the documents, alpha and topics.

    Raises
    ------
    InvalidParameterError
        If a number is out of its range, or `length` or `alpha` do not fit.

    Notes
    -----
    The generative model of section 2.2 of [1]. Time O(N log(k d)) and memory O(nnz + n k + k d)
    for N words in all.

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018.

    Examples
    --------
    >>> from momentree.datasets import make_lda
    >>> sample = make_lda(50, 20, 4, alpha=2.0, length=30, random_state=0)
    >>> sample.X.shape, int(sample.X.sum()), sample.proportions.shape
    ((50, 20), 1500, (50, 4))
    >>> sample.alpha
    array([0.5, 0.5, 0.5, 0.5])
    """
    n = check_size("n_samples", n_samples)
    d = check_size("n_features", n_features)
    k = check_size("n_components", n_components)
    a = _check_one_or_each("alpha", 1.0 if alpha is None else alpha, k)
    a = np.full(k, a / k) if a.ndim == 0 else a
    check_positive("concentration", concentration)
    check_positive("exponent", exponent, or_zero=True)
    lengths = check_lengths(length, n)
    rng = generator(random_state)
    mu = random_topics(k, d, concentration, exponent, rng)
    h = rng.dirichlet(a, n)

    def topics(start: int, stop: int) -> Ints:
        # How many words each topic has is all that matters: a document has no order of words.
        counts = rng.multinomial(lengths[start:stop], h[start:stop])
        return np.repeat(np.tile(np.arange(k), stop - start), counts.ravel())

    return LDASample(draw_counts(mu, lengths, topics, rng), h, a, mu)


def make_poisson_mixture(
    n_samples: int,
    n_features: int,
    n_components: int,
    *,
    total: float | ArrayLike = 5.0,
    weights: ArrayLike | None = None,
    components: ArrayLike | None = None,
    random_state: RandomState = None,
) -> PoissonSample:
    """Draw counts from a mixture of independent Poisson variables (Poisson naive Bayes).

        Y ~ Discrete(weights), x_j | Y = i ~ Poisson(means[i, j]) for each feature j

    Parameters
    ----------
    n_samples : int, >= 1
        Number of rows.
    n_features : int, >= 1
        Number of columns.
    n_components : int, >= 1
        Number of components.
    total : float or array-like of shape (n_components,), > 0, default=5.0
        Expected sum of a row, in every component or in each: means are scaled to it.
    weights : array-like of shape (n_components,) or None, default=None
        Probabilities of the components, sum 1; None for equal ones.
    components : array-like of shape (n_components, n_features) or None, default=None
        Means >= 0 of any scale; None draws them uniformly from [0, 1].
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same sample.

    Returns
    -------
    PoissonSample
        Counts, components of the rows, weights and means.

    Raises
    ------
    InvalidParameterError
        If a number is out of its range, or `total`, `weights` or `components` do not fit.

    Notes
    -----
    The model of Proposition 1.2.1 of [1]; the defaults are the experiment of its section 2.3,
    where components are hard to tell apart. A row is drawn as a Poisson number of words from
    the component scaled to sum 1, which is the same distribution: time O(n + N log(k d)) and
    memory O(nnz + k d) for N counts in all.

    References
    ----------
    .. [1] M. Ruffini. Methods of moments for learning latent variable models: algorithms and
       applications. PhD thesis, Universitat Politecnica de Catalunya, 2018.

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
    n = check_size("n_samples", n_samples)
    d = check_size("n_features", n_features)
    k = check_size("n_components", n_components)
    totals = np.full(k, _check_one_or_each("total", total, k))
    w = check_weights(weights, k)
    rng = generator(random_state)
    mu = rng.random((k, d)) if components is None else _check_components(components, k, d)
    mu = mu / mu.sum(axis=1, keepdims=True)
    labels = draw_labels(w, n, rng)
    lengths = rng.poisson(totals[labels])

    def topics(start: int, stop: int) -> Ints:
        return np.repeat(labels[start:stop], lengths[start:stop])

    return PoissonSample(draw_counts(mu, lengths, topics, rng), labels, w, totals[:, None] * mu)


def _check_one_or_each(name: str, value: float | ArrayLike, k: int) -> Floats:
    """Return one number above zero, shape (), or one for each component, shape (k,)."""
    try:
        values = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape not in {(), (k,)} or not ((values >= LEAST) & (values <= MOST)).all():
        msg = (
            f"{name}={value!r}; expected a number above 0 (from {LEAST:g} to {MOST:g}), or one for "
            f"each of {k} components"
        )
        raise InvalidParameterError(msg)
    return values


def _check_components(components: ArrayLike, k: int, d: int) -> Floats:
    try:
        mu = np.asarray(components, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"components is not a matrix of numbers: {error}"
        raise InvalidParameterError(msg) from error
    if mu.shape != (k, d):
        msg = f"components has shape {mu.shape}; expected {(k, d)}"
        raise InvalidParameterError(msg)
    if not ((mu >= 0) & np.isfinite(mu)).all() or not mu.any(axis=1).all():
        msg = "components needs finite numbers of at least 0, with a positive one in each row"
        raise InvalidParameterError(msg)
    return mu
