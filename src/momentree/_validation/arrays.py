"""Checks of arrays given to functions: shapes, sample weights, parameters of models."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.exceptions import ComplexWarning
from numpy.typing import ArrayLike, NDArray

from momentree._types import Floats
from momentree.core.pages import in_parts
from momentree.exceptions import InvalidDataError

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
        raise InvalidDataError("not_numbers", parameter=parameter, error=str(error)) from error


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
            "wrong_shape",
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
                "bad_sample_weight", row=start + at, value=value, largest=MAX_COUNT
            )
        start, top = start + len(part), max(top, float(part.max(initial=0.0)))
    if not top:
        raise InvalidDataError("no_sample_weight")
    if top < MIN_COUNT:
        raise InvalidDataError("tiny_sample_weights", largest=top, needed=MIN_COUNT)
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
        raise InvalidDataError("negative_or_not_finite", parameter="means")
    return w, mu


def check_distribution(parameter: str, values: Floats) -> None:
    """Check that an array, or each of its rows, is nonnegative and sums to 1."""
    sums = values.sum(axis=-1)
    if not (values >= 0).all() or not np.allclose(sums, 1.0, atol=SUM_TOLERANCE):
        raise InvalidDataError(
            "not_a_distribution",
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
                "wrong_length", name=name, n_entries=len(values), needed=needed, each=each
            )
