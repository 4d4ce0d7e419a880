"""Break ties between computed numbers by content: numbers that differ by rounding are equal."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats, Ints

SAME = 1e-9
"""Relative difference of equal numbers. Processors round sums in different ways, to about 1e-14."""
SAME_OF_EM = 1e-6
"""Relative difference of equal results of EM, which stops before it reaches an optimum."""
SAME_ENTRY = 1e-6
"""The same of entries of eigenvectors, whose errors are those of M2 divided by a gap."""


def ranks(values: ArrayLike, same: float = SAME) -> Ints:
    """Return the rank of each value along the last axis, 0 for the largest; equal ones share it.

    A value is equal to the next smaller one if they differ by rounding only, relative to the
    largest of the row. So no border between ranks is near a value, as it may be after rounding.
    """
    v = np.asarray(values, dtype=np.float64)
    order = np.argsort(-v, axis=-1, kind="stable")
    v = np.take_along_axis(v, order, axis=-1)
    size = np.abs(np.where(np.isfinite(v), v, 0.0)).max(axis=-1, keepdims=True, initial=0.0)
    # A row near zero, such as a centered mean, consists of rounding errors of the others.
    least = same * np.maximum(size, 1e-4 * size.max(initial=0.0))
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        steps = np.cumsum(v[..., :-1] - v[..., 1:] > least, axis=-1)
    out = np.zeros(v.shape, dtype=np.intp)
    np.put_along_axis(out, order[..., 1:], steps, axis=-1)
    return out


def largest_first(values: ArrayLike, content: ArrayLike | None = None) -> Ints:
    """Return the order by descending values; equal ones by descending content, then by place.

    `content` has one column for each value, and its rows are compared one after the other. Values
    with content are mostly weights after EM, whose steps enlarge rounding errors.
    """
    first = ranks(values, SAME if content is None else SAME_OF_EM)
    if content is None or first.max(initial=-1) == len(first) - 1:
        return np.argsort(first, kind="stable")
    return np.lexsort((*ranks(np.atleast_2d(content))[::-1], first))


def largest(values: ArrayLike, same: float = SAME, least: float = 0.0) -> Any:
    """Return the place of the largest value along the last axis, of equal ones the first.

    `least` is a difference that is rounding error even where all values are small.
    """
    v = np.asarray(values, dtype=np.float64)
    top = np.fmax.reduce(v, axis=-1, keepdims=True)  # passes over NaN
    margin = np.where(np.isfinite(top), np.maximum(same * np.abs(top), least), 0.0)
    return (v >= top - margin).argmax(axis=-1)


def exceeds(a: float, b: float) -> bool:
    """Return whether a is larger than b by more than rounding."""
    return a - b > SAME * min(abs(a), abs(b))


def pivots(rows: Floats, k: int) -> Ints:
    """Return k rows, each the one farthest from the span of those before, of equal ones the first.

    This is QR decomposition of the transpose with pivoting. Time O(n k^2).
    """
    rest, found = rows.copy(), np.empty(k, dtype=np.intp)
    for i in range(k):
        found[i] = at = largest(np.einsum("ij,ij->i", rest, rest), SAME_ENTRY)
        q = rest[at] / max(float(np.linalg.norm(rest[at])), 1e-300)
        rest -= (rest @ q)[:, None] * q
    return found


def signed(U: Floats) -> Floats:
    """Make the largest entry of each column (d, k) positive, of equal ones the first."""
    rows = np.ascontiguousarray(np.swapaxes(U, -1, -2))  # NumPy is fast along the last axis
    at = largest(np.abs(rows), SAME_ENTRY)[..., None]
    top = np.take_along_axis(rows, at, axis=-1)
    return np.ascontiguousarray(U * np.swapaxes(np.where(top < 0, -1.0, 1.0), -1, -2))


def fixed_vectors(values: Floats, U: Floats) -> Floats:
    """Return eigenvectors that depend on the matrix alone, not on how they were computed.

    The vectors of equal eigenvalues are any basis of their space. They become the one with a
    triangular block at the pivots of the space; all have the sign of :func:`signed`.

    Parameters
    ----------
    values : ndarray of shape (k,) or more
        Eigenvalues in ascending or descending order; those without vectors are not used.
    U : ndarray of shape (d, k)
        Orthonormal eigenvectors in columns.

    Returns
    -------
    ndarray of shape (d, k)
        Eigenvectors.
    """
    rank = ranks(values[: U.shape[1]])
    out = U
    for r in np.flatnonzero(np.bincount(rank) > 1):
        if out is U:
            out = U.copy()
        same = rank == r
        basis = U[:, same]
        out[:, same] = basis @ np.linalg.qr(basis[pivots(basis, basis.shape[1])].T)[0]
    return signed(out)
