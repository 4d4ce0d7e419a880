"""The top eigenpairs of several symmetric operators at once, by a block Krylov iteration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats
from momentree.core.ties import fixed_vectors

Flags = NDArray[np.bool_]

LEAST = 1e-10
"""A column that keeps less than this fraction of its length beside a basis is rounding error."""
TINY = 1e-300


def top_eigenpairs_of_groups(
    times: Callable[[Floats], Floats], start: Floats, k: int, tol: float, max_passes: int
) -> tuple[Floats, Floats, Floats]:
    """Return m top Ritz values and vectors, and the largest relative residual of each operator.

    `times` multiplies each of g operators with its own matrix, shape (g, d, m), and `start` has
    that shape, with columns as by :func:`orthonormal`. The values descend, and the largest entry of
    each vector is positive. The iteration of an operator ends when the residuals of its first k
    pairs are below `tol`, or after `max_passes` products with m columns: its subspaces contain
    those of m Lanczos iterations with as many products. Others have no influence on it.
    """
    g, d, m = start.shape
    k = min(k, d)
    Q = basis = start
    kept = _used(Q)
    T = np.zeros((g, 0, 0))
    top, in_basis, error = np.zeros((g, m)), np.zeros((g, max_passes * m, m)), np.zeros(g)
    going = np.ones(g, dtype=bool)
    for step in range(1, max_passes + 1):
        Y = times(Q)
        beside = basis.transpose(0, 2, 1) @ Y
        T = _bordered(T, beside, m)
        values, S = _ritz(T, kept)
        rest = Y - basis @ beside
        # The residual of basis @ s is the part of the product with its last m entries beside it.
        parts = rest @ S[:, -m:, :k]
        sizes = np.maximum(np.abs(values[:, :k]), 1e-12 * np.abs(values[:, :1]))
        residual = (column_lengths(parts) / np.maximum(sizes, TINY)).max(axis=1)
        top[going], in_basis[going, : step * m] = values[going, :m], S[going, :, :m]
        error[going] = residual[going]
        going &= residual > tol
        if step == max_passes or basis.shape[2] + m > d or not going.any():
            break
        Q = orthonormal(rest, basis)
        basis, kept = np.concatenate([basis, Q], axis=2), np.concatenate([kept, _used(Q)], axis=1)
    return top, _fixed(top, basis @ in_basis[:, : basis.shape[2]]), error


def exact_eigenpairs_of_groups(M2: Floats) -> tuple[Floats, Floats]:
    """Return all eigenvalues, descending, and vectors of matrices of shape (g, d, d)."""
    values, U = np.linalg.eigh(0.5 * (M2 + M2.transpose(0, 2, 1)))
    values, U = values[:, ::-1], U[:, :, ::-1]
    return values, _fixed(values, U)


def _fixed(values: Floats, U: Floats) -> Floats:
    return np.stack([fixed_vectors(one, vectors) for one, vectors in zip(values, U, strict=True)])


def orthonormal(Y: Floats, basis: Floats | None = None) -> Floats:
    """Return orthonormal columns with the span of the columns of Y, of each of several matrices.

    They are orthogonal to the columns of a basis too. Instead of columns that depend on others, up
    to rounding, there are zeros.
    """
    limit = LEAST * column_lengths(Y).max(axis=1, keepdims=True)
    Q = Y
    for _ in range(2):  # twice is enough (Parlett)
        if basis is not None:
            Q = Q - basis @ (basis.transpose(0, 2, 1) @ Q)
        values, vectors = np.linalg.eigh(Q.transpose(0, 2, 1) @ Q)
        roots = np.sqrt(np.maximum(values, 0.0))
        used = roots > np.maximum(limit, 1e-7 * roots[:, -1:])
        limit = np.full_like(limit, 0.5)  # the columns are orthonormal by now
        Q = Q @ (vectors * np.divide(1.0, roots, out=np.zeros_like(roots), where=used)[:, None])
    return Q


def column_lengths(Y: Floats) -> Floats:
    """Return the length of each column of several matrices, shape (g, m)."""
    # By products, which BLAS computes: a sum along the middle axis takes NumPy many times as long.
    return np.asarray(np.sqrt(np.einsum("gii->gi", Y.transpose(0, 2, 1) @ Y)))


def _used(Q: Floats) -> Flags:
    return np.asarray(column_lengths(Q) > 0.5)


def _bordered(T: Floats, beside: Floats, m: int) -> Floats:
    """Return the symmetric matrix T with the last m columns added."""
    g, size = beside.shape[:2]
    out = np.zeros((g, size, size))
    out[:, : size - m, : size - m] = T
    out[:, :, size - m :] = beside
    out[:, size - m :, : size - m] = beside[:, : size - m].transpose(0, 2, 1)
    corner = out[:, size - m :, size - m :]
    corner[:] = 0.5 * (corner + corner.transpose(0, 2, 1))
    return out


def _ritz(T: Floats, kept: Flags) -> tuple[Floats, Floats]:
    """Return eigenvalues and vectors of T, descending; rows that are zero come last."""
    lowest = -2.0 * np.abs(T).sum(axis=(1, 2)) - 1.0
    T = T + np.where(kept, 0.0, lowest[:, None])[:, :, None] * np.eye(T.shape[1])
    values, S = np.linalg.eigh(T)
    return values[:, ::-1], S[:, :, ::-1]
