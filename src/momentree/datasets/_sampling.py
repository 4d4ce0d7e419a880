"""Draw words, labels and topics, and check the parameters of samplers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from momentree._types import Floats, Int64s
from momentree._validation import as_floats, check_distribution, check_integer, check_shape
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import wording

RandomState = int | np.random.Generator | None

WORDS_IN_BLOCK = 1 << 20
"""Number of words drawn at once, which limits memory use beyond the result."""
SMALLEST, LARGEST = 1e-100, 1e15
"""Range of concentrations and totals in which no draw underflows or is too large to count."""


def draw_counts(
    mu: Floats, lengths: Int64s, topics: Callable[[int, int], Int64s], rng: np.random.Generator
) -> sp.csr_array[Any]:
    """Draw n documents of given lengths word by word, as counts of shape (n, d).

    ``topics(start, stop)`` returns the topics of all words of these documents, in order. Time
    O(N log(k d)) for N words.
    """
    d = mu.shape[1]
    steps = steps_of(mu)
    ends = np.cumsum(lengths)
    blocks = []
    start = 0
    while start < len(lengths):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + WORDS_IN_BLOCK, side="right")))
        topic = topics(start, stop)
        words = draw_from_rows(steps, topic, d, rng).astype(np.int32)
        indptr = np.concatenate([[0], ends[start:stop] - done]).astype(np.int32)
        block = sp.csr_array(
            (np.ones(len(words), dtype=np.int64), words, indptr), shape=(stop - start, d)
        )
        block.sum_duplicates()
        blocks.append(block)
        start = stop
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def draw_labels(w: Floats, n: int, rng: np.random.Generator) -> Int64s:
    """Draw n independent components with probabilities w."""
    return np.searchsorted(_cumulative(w), rng.random(n), side="right").astype(np.int64)


def steps_of(P: Floats) -> Floats:
    """Return the cumulative distributions of rows as one sorted array, row i in [i, i + 1]."""
    return np.asarray((_cumulative(P) + np.arange(len(P))[:, None]).ravel())


def draw_from_rows(steps: Floats, rows: Int64s, d: int, rng: np.random.Generator) -> Int64s:
    """Draw one of d values from the distribution of each of some rows, given `steps_of` them."""
    # Rounding must not move a draw into the next row.
    u = np.minimum(rows + rng.random(len(rows)), np.nextafter(rows + 1.0, 0.0))
    return np.asarray(np.searchsorted(steps, u, side="right") - rows * d, dtype=np.int64)


def random_topics(
    k: int, d: int, concentration: float, exponent: float, rng: np.random.Generator
) -> Floats:
    """Return k topics over d words, mu_i[w] ~ Gamma(concentration) / (w + 1)^exponent, scaled."""
    mu = rng.standard_gamma(concentration, (k, d)) * np.arange(1.0, d + 1.0) ** -exponent
    sums = mu.sum(axis=1, keepdims=True)
    if not (sums > 0).all():
        raise InvalidParameterError(
            "[concentration_too_small] {parameters.concentration:=value} is so small that every "
            "word of a topic has probability zero; increase it",
            value=float(concentration),
        )
    return np.asarray(mu / sums)


def _cumulative(p: Floats) -> Floats:
    """Return the cumulative distributions of the rows of p."""
    # Divide by the last sum, so that every draw below 1 has a value.
    c = np.cumsum(p, axis=-1)
    return np.asarray(c / c[..., -1:])


def generator(random_state: RandomState) -> np.random.Generator:
    """Return a Generator for a seed, or the given Generator."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            "[not_a_generator] {parameters.random_state:=value}; expected an integer of at least "
            "0, a Generator or None",
            value=random_state,
        ) from error


def check_sizes(**sizes: int) -> tuple[int, ...]:
    """Return parameters after checking that they are whole numbers of at least 1."""
    for parameter, value in sizes.items():
        check_integer(parameter, value, at_least=1)
    return tuple(map(int, sizes.values()))


def document_lengths(length: int | ArrayLike, n: int) -> Int64s:
    """Return the number of words of each of n documents."""
    lengths = np.asarray(length)
    if lengths.ndim == 0:
        lengths = np.full(n, lengths)
    if lengths.shape != (n,) or lengths.dtype.kind not in "iu" or (lengths < 0).any():
        raise InvalidParameterError(wording.NOT_LENGTHS, parameter="length", least=0, n_rows=n)
    return lengths.astype(np.int64)


def check_weights(weights: ArrayLike | None, k: int) -> Floats:
    """Return k probabilities, equal if `weights` is None."""
    if weights is None:
        return np.full(k, 1.0 / k)
    w = as_floats("weights", weights)
    check_shape("weights", w, (k,))
    check_distribution("weights", w)
    return np.asarray(w / w.sum())


def check_one_or_each(parameter: str, value: float | ArrayLike, k: int) -> Floats:
    """Return one positive number, shape (), or k positive numbers, shape (k,)."""
    values = as_floats(parameter, value)
    if values.shape not in {(), (k,)} or not ((values >= SMALLEST) & (values <= LARGEST)).all():
        raise InvalidParameterError(
            "[not_one_or_each] {parameter} must be a number from {low:g} to {high:g}, or one for "
            "each of {k:~component}",
            parameter=parameter,
            low=SMALLEST,
            high=LARGEST,
            k=k,
        )
    return values


def check_nonnegative_rows(
    parameter: str, values: ArrayLike, shape: tuple[int | str, int | str]
) -> Floats:
    """Return a matrix of finite numbers >= 0 with a positive number in each row."""
    mu = as_floats(parameter, values)
    check_shape(parameter, mu, shape)
    if not mu.size or not ((mu >= 0) & np.isfinite(mu)).all() or not mu.any(axis=1).all():
        raise InvalidDataError(
            "[row_without_positive_number] each row of {parameter} must contain finite numbers of "
            "at least 0, with at least one above 0",
            parameter=parameter,
        )
    return mu
