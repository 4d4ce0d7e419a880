"""Counts drawn from known topics, with the truth beside them."""

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

__all__ = ["TopicSample", "make_hierarchical_topics", "make_single_topic"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TopicSample:
    """Documents drawn from a single-topic model, and the model.

    Attributes
    ----------
    X : csr_array of int64, shape (n_samples, n_features)
        Counts of words; indices sorted, no stored zeros.
    labels : ndarray of int64, shape (n_samples,)
        Topic of each document.
    weights : ndarray of shape (n_components,)
        Probability of each topic; sum 1.
    components : ndarray of shape (n_components, n_features)
        Probability of each word in each topic; rows sum to 1.
    """

    X: sp.csr_array[Any]
    labels: Ints
    weights: Floats
    components: Floats


def make_single_topic(
    n_samples: int,
    n_features: int,
    n_components: int,
    *,
    length: int | ArrayLike = 100,
    weights: ArrayLike | None = None,
    concentration: float = 0.5,
    exponent: float = 1.0,
    random_state: RandomState = None,
) -> TopicSample:
    """Draw documents of one topic each from random topics over a power-law vocabulary.

        mu_i[w] ~ g_iw / (w + 1)^exponent, with g_iw from Gamma(concentration);
        Y ~ Discrete(weights), x | Y = i ~ Multinomial(length, mu_i)

    Parameters
    ----------
    n_samples : int, >= 1
        Number of documents.
    n_features : int, >= 1
        Number of words in the vocabulary.
    n_components : int, >= 1
        Number of topics.
    length : int or array-like of int of shape (n_samples,), >= 0, default=100
        Words in every document, or in each.
    weights : array-like of shape (n_components,) or None, default=None
        Probabilities of the topics, sum 1; None for equal ones.
    concentration : float, > 0, default=0.5
        Smaller values make topics more unlike.
    exponent : float, >= 0, default=1.0
        How fast frequencies of words fall with their rank (1 is Zipf's law); with 0 the topics
        are draws of a symmetric Dirichlet distribution.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same sample.

    Returns
    -------
    TopicSample
        Counts, topics of the documents, weights and topics.

    Raises
    ------
    InvalidParameterError
        If a number is out of its range, or `length` or `weights` do not fit.

    Notes
    -----
    The generative model of section 2 of [1]. Time O(N log(k d)) and memory O(nnz + k d) for N
    words in all.

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018.

    Examples
    --------
    >>> from momentree.datasets import make_single_topic
    >>> sample = make_single_topic(50, 20, 3, length=30, random_state=0)
    >>> sample.X.shape, int(sample.X.sum()), sample.components.shape
    ((50, 20), 1500, (3, 20))
    """
    n = check_size("n_samples", n_samples)
    d = check_size("n_features", n_features)
    k = check_size("n_components", n_components)
    check_positive("concentration", concentration)
    check_positive("exponent", exponent, or_zero=True)
    lengths = check_lengths(length, n)
    w = check_weights(weights, k)
    rng = generator(random_state)
    return _sample(random_topics(k, d, concentration, exponent, rng), w, lengths, rng)


def make_hierarchical_topics(
    n_samples: int = 400,
    length: int | ArrayLike = 200,
    *,
    topics: ArrayLike | None = None,
    noise: float = 0.1,
    random_state: RandomState = None,
) -> TopicSample:
    """Draw documents from topics that form a tree: the experiment of Table 5.1.

    The default has eight topics over 100 words. Each half of the words belongs to four topics
    and has four blocks of 13, 13, 13 and 11 words: words of all four topics, of the first and
    third, of the first pair, of the second pair. A word has weight 0.7 in its topics and 0.1
    elsewhere. Uniform noise is added, then each topic is scaled to sum 1.

    Parameters
    ----------
    n_samples : int, >= 1, default=400
        Number of documents.
    length : int or array-like of int of shape (n_samples,), >= 0, default=200
        Words in every document, or in each.
    topics : array-like of shape (n_components, n_features) or None, default=None
        Weights of the words in other topics, >= 0, of any scale; None for those above.
    noise : float, >= 0, default=0.1
        Noise is uniform between 0 and this.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same sample.

    Returns
    -------
    TopicSample
        Counts, topics of the documents, equal weights, and topics with the noise in them.

    Raises
    ------
    InvalidParameterError
        If a number is out of its range, or `topics` is not a matrix of finite numbers of at
        least 0 with a positive one in each row.

    Notes
    -----
    Section 4.1 of [1].

    References
    ----------
    .. [1] M. Ruffini, G. Rabusseau, B. Balle. Hierarchical methods of moments. NIPS 2017.

    Examples
    --------
    >>> from momentree.datasets import make_hierarchical_topics
    >>> sample = make_hierarchical_topics(random_state=0)
    >>> sample.X.shape, sample.components.shape
    ((400, 100), (8, 100))
    """
    lengths = check_lengths(length, check_size("n_samples", n_samples))
    check_positive("noise", noise, or_zero=True)
    try:
        mu = hierarchy() if topics is None else np.array(topics, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"topics is not a matrix of numbers: {error}"
        raise InvalidParameterError(msg) from error
    if mu.ndim != 2 or mu.size == 0:
        msg = f"topics has shape {mu.shape}; expected (n_components, n_features)"
        raise InvalidParameterError(msg)
    if not ((mu >= 0) & np.isfinite(mu)).all() or not mu.any(axis=1).all():
        msg = "topics needs finite numbers of at least 0, with a positive one in each row"
        raise InvalidParameterError(msg)
    rng = generator(random_state)
    mu = mu + noise * rng.random(mu.shape)
    mu /= mu.sum(axis=1, keepdims=True)
    return _sample(mu, np.full(len(mu), 1.0 / len(mu)), lengths, rng)


def hierarchy(n_features: int = 100, high: float = 0.7, low: float = 0.1) -> Floats:
    """Weights of the words in the eight topics of Table 5.1, shape (8, n_features)."""
    groups = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    words = np.arange(n_features)
    per_half = -(-n_features // 2)
    half, within = np.divmod(words, per_half)
    block = within // -(-per_half // 4)  # the last block of a half gets what is left
    mu = np.full((2, 4, n_features), low)
    mu[half, :, words] = np.where(groups[block], high, low)
    return mu.reshape(8, n_features)


def _sample(mu: Floats, w: Floats, lengths: Ints, rng: np.random.Generator) -> TopicSample:
    labels = draw_labels(w, len(lengths), rng)

    def topics(start: int, stop: int) -> Ints:
        return np.repeat(labels[start:stop], lengths[start:stop])

    return TopicSample(draw_counts(mu, lengths, topics, rng), labels, w, mu)
