"""Counts drawn from known topics, with the truth beside them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from momentree.exceptions import InvalidParameterError

__all__ = ["TopicSample", "make_hierarchical_topics", "make_single_topic"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
RandomState = int | np.random.Generator | None

WORDS_IN_BLOCK = 1 << 20  # words drawn at once: bounds the memory beside the result


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
    n = _check_size("n_samples", n_samples)
    d = _check_size("n_features", n_features)
    k = _check_size("n_components", n_components)
    if not (isinstance(concentration, Real) and 0 < concentration < np.inf):
        msg = f"concentration={concentration!r}; expected a number above 0"
        raise InvalidParameterError(msg)
    if not (isinstance(exponent, Real) and 0 <= exponent < np.inf):
        msg = f"exponent={exponent!r}; expected a number of at least 0"
        raise InvalidParameterError(msg)
    lengths = _check_lengths(length, n)
    w = np.full(k, 1.0 / k) if weights is None else _check_weights(weights, k)
    rng = _generator(random_state)
    mu = rng.standard_gamma(concentration, (k, d)) * np.arange(1.0, d + 1.0) ** -exponent
    sums = mu.sum(axis=1, keepdims=True)
    if not (sums > 0).all():
        msg = (
            f"concentration={concentration!r} is so small that all words of a topic underflow "
            f"to zero; raise it"
        )
        raise InvalidParameterError(msg)
    return _sample(mu / sums, w, lengths, rng)


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
    n = _check_size("n_samples", n_samples)
    lengths = _check_lengths(length, n)
    if not (isinstance(noise, Real) and 0 <= noise < np.inf):
        msg = f"noise={noise!r}; expected a number of at least 0"
        raise InvalidParameterError(msg)
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
    rng = _generator(random_state)
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
    k, d = mu.shape
    labels = np.searchsorted(_cumulated(w), rng.random(len(lengths)), side="right")
    # One sorted array holds the distribution functions of all topics, topic i in [i, i + 1].
    steps = (_cumulated(mu) + np.arange(k)[:, None]).ravel()
    ends = np.cumsum(lengths)
    blocks = []
    start = 0
    while start < len(lengths):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + WORDS_IN_BLOCK, side="right")))
        topic = np.repeat(labels[start:stop], lengths[start:stop])
        # Rounding must not carry a draw into the next topic.
        u = np.minimum(topic + rng.random(len(topic)), np.nextafter(topic + 1.0, 0.0))
        words = (np.searchsorted(steps, u, side="right") - topic * d).astype(np.int32)
        indptr = np.concatenate([[0], ends[start:stop] - done]).astype(np.int32)
        block = sp.csr_array(
            (np.ones(len(words), dtype=np.int64), words, indptr), shape=(stop - start, d)
        )
        block.sum_duplicates()
        blocks.append(block)
        start = stop
    X = sp.csr_array(sp.vstack(blocks, format="csr"))
    return TopicSample(X, labels.astype(np.int64), w, mu)


def _cumulated(p: Floats) -> Floats:
    # Divided by the last sum, so that no draw below 1 falls behind the last possible value.
    c = np.cumsum(p, axis=-1)
    return np.asarray(c / c[..., -1:])


def _generator(random_state: RandomState) -> np.random.Generator:
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        msg = f"random_state={random_state!r}; expected an integer of at least 0, Generator or None"
        raise InvalidParameterError(msg) from error


def _check_size(name: str, value: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        msg = f"{name}={value!r}; expected an integer of at least 1"
        raise InvalidParameterError(msg)
    return int(value)


def _check_lengths(length: int | ArrayLike, n: int) -> Ints:
    lengths = np.asarray(length)
    if lengths.ndim == 0:
        lengths = np.full(n, lengths)
    if lengths.shape != (n,) or lengths.dtype.kind not in "iu" or (lengths < 0).any():
        msg = (
            f"length={length!r}; expected one integer of at least 0, or one for each of the "
            f"{n} documents"
        )
        raise InvalidParameterError(msg)
    return lengths.astype(np.int64)


def _check_weights(weights: ArrayLike, k: int) -> Floats:
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        w = np.empty(0)
    if w.shape != (k,) or not (w >= 0).all() or not np.isclose(w.sum(), 1.0, atol=1e-8):
        msg = f"weights={weights!r}; expected {k} numbers of at least 0 with sum 1"
        raise InvalidParameterError(msg)
    return np.asarray(w / w.sum())
