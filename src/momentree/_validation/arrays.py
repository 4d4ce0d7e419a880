"""Checks of arrays given to functions: shapes, weights, parameters of models, sequences."""

import warnings
from typing import Any

import numpy as np
from numpy.exceptions import ComplexWarning
from numpy.typing import ArrayLike, NDArray

from momentree._types import Floats, Ints
from momentree.core.pages import in_parts
from momentree.exceptions import InvalidDataError
from momentree.messages import wording

_NOT_SEQUENCE_LENGTHS = (
    "[not_sequence_lengths] lengths must be a list of whole numbers of 1 or more that sum to "
    "{n_rows:,}, the number of rows of X"
)
_NOT_NUMBERS = "[not_numbers] {parameter} is not an array of real numbers: {error}"


MAX_COUNT = 1e30
"""Largest count: single precision, used for log scaling, ends at 3e38, and sums need headroom."""
MIN_COUNT = 1e-30
"""Smallest positive count: single precision begins at 1e-38, and products need headroom."""
SUM_TOLERANCE = 1e-8
"""Allowed deviation of a sum of probabilities from 1, for rounding and printed digits."""


def as_floats(parameter: str, values: ArrayLike) -> Floats:
    """Return an argument as an array of float64; complex numbers are rejected, not truncated."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ComplexWarning)  # NumPy drops imaginary parts
            return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, ComplexWarning) as error:
        raise InvalidDataError(_NOT_NUMBERS, parameter=parameter, error=str(error)) from error


def check_shape(
    parameter: str, array: NDArray[np.generic], expected: tuple[int | str, ...]
) -> None:
    """Check the shape of an array; a string such as ``"n_samples"`` stands for any length."""
    same = array.ndim == len(expected) and all(
        isinstance(size, str) or found == size
        for found, size in zip(array.shape, expected, strict=True)
    )
    if not same:
        raise InvalidDataError(
            wording.WRONG_SHAPE,
            parameter=parameter,
            found=_in_parentheses(array.shape),
            expected=_in_parentheses(expected),
        )


def are_labels(labels: NDArray[Any], n_groups: int) -> bool:
    """Return whether an array contains only whole numbers from -1 (no group) to `n_groups` - 1."""
    parts = in_parts(labels)
    return labels.dtype.kind == "i" and all(((p >= -1) & (p < n_groups)).all() for p in parts)


def _in_parentheses(shape: tuple[int | str, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def check_sample_weight(sample_weight: ArrayLike | None, n_samples: int) -> Floats:
    """Return sample weights (n_samples,) as float64; ones for None, all equal for a scalar.

    Weights must be from 0 to 1e30, and at least one must be 1e-30 or more.
    """
    if sample_weight is None:
        return np.ones(n_samples)
    w = as_floats("sample_weight", sample_weight)
    if w.ndim == 0:
        w = np.full(n_samples, float(w))
    check_shape("sample_weight", w, (n_samples,))
    start, top = 0, 0.0
    for part in in_parts(w):
        bad = ~((part >= 0) & (part <= MAX_COUNT))
        if bad.any():
            at = int(np.argmax(bad))
            value = float(part[at])
            raise InvalidDataError(
                "[bad_sample_weight] sample_weight[{row}] is {value:g}; expected a number from 0 "
                "to {largest:g}",
                row=start + at,
                value=value,
                largest=MAX_COUNT,
            )
        start, top = start + len(part), max(top, float(part.max(initial=0.0)))
    if not top:
        raise InvalidDataError(
            "[no_sample_weight] all sample weights are zero; give at least one sample a positive "
            "weight"
        )
    if top < MIN_COUNT:
        raise InvalidDataError(
            "[tiny_sample_weights] the largest sample weight is {largest:g}; multiply the weights "
            "by a constant, so that at least one is {needed:g} or more",
            largest=top,
            needed=MIN_COUNT,
        )
    return w


def check_parameters(weights: ArrayLike, components: ArrayLike) -> tuple[Floats, Floats]:
    """Return mixing weights (k,) and topics (k, d), after checking that they are distributions."""
    w, mu = as_floats("weights", weights), as_floats("components", components)
    check_shape("components", mu, ("k", "d"))
    check_shape("weights", w, (mu.shape[0],))
    check_distribution("weights", w)
    check_distribution("components", mu)
    return w, mu


def check_means(weights: ArrayLike, means: ArrayLike) -> tuple[Floats, Floats]:
    """Return mixing weights (k,), which sum to 1, and finite, nonnegative means (k, d)."""
    w, mu = as_floats("weights", weights), as_floats("means", means)
    check_shape("means", mu, ("k", "d"))
    check_shape("weights", w, (mu.shape[0],))
    check_distribution("weights", w)
    if not ((mu >= 0) & np.isfinite(mu)).all():
        raise InvalidDataError(wording.NEGATIVE_OR_NOT_FINITE, parameter="means")
    return w, mu


def check_distribution(parameter: str, values: Floats) -> None:
    """Check that an array, or each of its rows, is nonnegative and sums to 1."""
    sums = values.sum(axis=-1)
    if not (values >= 0).all() or not np.allclose(sums, 1.0, atol=SUM_TOLERANCE):
        raise InvalidDataError(
            "[not_a_distribution] {parameter} must be nonnegative and sum to 1; the smallest value "
            "is {smallest:g}, the sums are {sums:list}",
            parameter=parameter,
            smallest=float(values.min(initial=0.0)),
            sums=np.atleast_1d(sums).tolist(),
        )


def check_map(W: ArrayLike, d: int) -> Floats:
    """Return a whitening matrix (k, d) as float64."""
    W = as_floats("W", W)
    check_shape("W", W, ("k", d))
    return W


def check_lengths(needed: int, each: str, **sequences: Any) -> None:
    """Raise ``InvalidDataError`` unless each sequence is None or has `needed` entries."""
    for name, values in sequences.items():
        if values is not None and len(values) != needed:
            raise InvalidDataError(
                "[wrong_length] {name} has {n_entries:~entry/entries}; expected {needed:,}, one "
                "per {each}",
                name=name,
                n_entries=len(values),
                needed=needed,
                each=each,
            )


MAX_SYMBOLS = 10_000_000
"""Symbols are columns of the parameters: more would not fit into memory."""


def check_sequence_lengths(lengths: ArrayLike | None, n_samples: int) -> Ints:
    """Return the lengths of sequences, which are 1 or more and sum to `n_samples`."""
    if lengths is None:
        return np.array([n_samples], dtype=np.intp)
    try:
        found = np.asarray(lengths)
    except ValueError as error:
        raise InvalidDataError(_NOT_SEQUENCE_LENGTHS, n_rows=n_samples) from error
    whole = found.dtype.kind in "iu" or (
        found.dtype.kind == "f" and bool((np.isfinite(found) & (np.trunc(found) == found)).all())
    )
    if found.ndim != 1 or not found.size or not whole or not (found >= 1).all():
        raise InvalidDataError(_NOT_SEQUENCE_LENGTHS, n_rows=n_samples)
    total = float(found.sum(dtype=np.float64))
    if total != n_samples:
        raise InvalidDataError(
            "[lengths_do_not_match] lengths sum to {total:,}, but X has {n_rows:~row}; give the "
            "length of each sequence, in the order of X",
            total=int(total),
            n_rows=n_samples,
        )
    return found.astype(np.intp)


def check_symbols(X: Any, n_symbols: int | None = None) -> Ints:
    """Return one column of symbols, whole numbers from 0, as a vector of integers.

    The error codes are ``not_one_column``, ``no_symbols``, ``not_a_symbol`` and, if `n_symbols` is
    given, ``symbol_too_large``.
    """
    try:
        values = np.asarray(X)
    except ValueError as error:
        raise InvalidDataError(_NOT_NUMBERS, parameter="X", error=str(error)) from error
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InvalidDataError(
            "[not_one_column] X has shape {shape}; expected one column of symbols, whole numbers "
            "from 0: use GaussianHMM for several columns of numbers",
            shape=str(values.shape),
        )
    if not len(values):
        raise InvalidDataError("[no_symbols] X is empty; expected at least one observation")
    if values.dtype.kind not in "iubf":
        bad = [0]
        if values.dtype.kind in "OU":
            bad = [i for i, value in enumerate(values) if not _is_number(value)]
        if bad:
            row = bad[0]
            raise InvalidDataError(
                "[symbols_not_numbers] X contains {value!r} in row {row}; expected symbols as "
                "whole numbers from 0: number them, as in pandas.factorize(X)[0]",
                row=row,
                value=str(values[row]),
            )
        values = as_floats("X", values)
    with np.errstate(invalid="ignore"):
        bad = ~((values >= 0) & (values < MAX_SYMBOLS) & (values % 1 == 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise InvalidDataError(
            "[not_a_symbol] X contains {value} in row {row}; expected symbols as whole numbers "
            "from 0 to 9,999,999: number them, as in pandas.factorize(X)[0], and leave out missing "
            "observations",
            row=at,
            value=values[at].item(),
        )
    found = values.astype(np.intp)
    if n_symbols is not None and int(found.max()) >= n_symbols:
        at = int(np.argmax(found >= n_symbols))
        raise InvalidDataError(
            "[symbol_too_large] X contains the symbol {value} in row {row}, but the model has "
            "{n:~symbol}, from 0; leave out other symbols, or fit with "
            "{parameters.n_features:{remedy}}",
            row=at,
            value=int(found[at]),
            n=n_symbols,
            remedy=int(found.max()) + 1,
        )
    return found


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
