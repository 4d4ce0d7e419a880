"""What samplers of counts share: drawing words, topics over a power-law vocabulary, checks."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from momentree.exceptions import InvalidParameterError

__all__ = [
    "RandomState",
    "check_lengths",
    "check_positive",
    "check_size",
    "check_weights",
    "cumulated",
    "draw_counts",
    "draw_labels",
    "generator",
    "random_topics",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
RandomState = int | np.random.Generator | None

WORDS_IN_BLOCK = 1 << 20  # words drawn at once: bounds the memory beside the result


def draw_counts(
    mu: Floats, lengths: Ints, topics: Callable[[int, int], Ints], rng: np.random.Generator
) -> sp.csr_array[Any]:
    """Draw documents word by word, each word from its topic.

    Parameters
    ----------
    mu : ndarray of shape (k, d)
        Probabilities of the words; rows sum to 1.
    lengths : ndarray of int64 of shape (n,)
        Words in each document.
    topics : callable
        From (start, stop) to the topics of all words of the documents start to stop, in order.
    rng : Generator
        Draws the words.

    Returns
    -------
    csr_array of int64, shape (n, d)
        Counts; indices sorted, no stored zeros. Time O(N log(k d)) for N words.
    """
    k, d = mu.shape
    # One sorted array holds the distribution functions of all topics, topic i in [i, i + 1].
    steps = (cumulated(mu) + np.arange(k)[:, None]).ravel()
    ends = np.cumsum(lengths)
    blocks = []
    start = 0
    while start < len(lengths):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + WORDS_IN_BLOCK, side="right")))
        topic = topics(start, stop)
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
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def draw_labels(w: Floats, n: int, rng: np.random.Generator) -> Ints:
    """Draw n independent components with probabilities w."""
    return np.searchsorted(cumulated(w), rng.random(n), side="right").astype(np.int64)


def random_topics(
    k: int, d: int, concentration: float, exponent: float, rng: np.random.Generator
) -> Floats:
    """Return k topics over d words, mu_i[w] ~ Gamma(concentration) / (w + 1)^exponent, scaled."""
    mu = rng.standard_gamma(concentration, (k, d)) * np.arange(1.0, d + 1.0) ** -exponent
    sums = mu.sum(axis=1, keepdims=True)
    if not (sums > 0).all():
        msg = (
            f"concentration={concentration!r} is so small that all words of a topic underflow "
            f"to zero; raise it"
        )
        raise InvalidParameterError(msg)
    return np.asarray(mu / sums)


def cumulated(p: Floats) -> Floats:
    """Return the distribution functions of the rows of p."""
    # Divided by the last sum, so that no draw below 1 falls behind the last possible value.
    c = np.cumsum(p, axis=-1)
    return np.asarray(c / c[..., -1:])


def generator(random_state: RandomState) -> np.random.Generator:
    """Return a Generator from a seed, or the one that is given."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        msg = f"random_state={random_state!r}; expected an integer of at least 0, Generator or None"
        raise InvalidParameterError(msg) from error


def check_size(name: str, value: int) -> int:
    """Return an integer of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        msg = f"{name}={value!r}; expected an integer of at least 1"
        raise InvalidParameterError(msg)
    return int(value)


def check_positive(name: str, value: float, *, or_zero: bool = False) -> float:
    """Return a finite number above zero, or of at least zero."""
    if not (isinstance(value, Real) and 0 <= value < np.inf and (or_zero or value > 0)):
        expected = "of at least 0" if or_zero else "above 0"
        msg = f"{name}={value!r}; expected a number {expected}"
        raise InvalidParameterError(msg)
    return float(value)


def check_lengths(length: int | ArrayLike, n: int) -> Ints:
    """Return the number of words of each of n documents."""
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


def check_weights(weights: ArrayLike | None, k: int) -> Floats:
    """Return k probabilities; equal ones for None."""
    if weights is None:
        return np.full(k, 1.0 / k)
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        w = np.empty(0)
    if w.shape != (k,) or not (w >= 0).all() or not np.isclose(w.sum(), 1.0, atol=1e-8):
        msg = f"weights={weights!r}; expected {k} numbers of at least 0 with sum 1"
        raise InvalidParameterError(msg)
    return np.asarray(w / w.sum())
