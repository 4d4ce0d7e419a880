"""The top eigenpairs of symmetric operators, one or several at once, by block Krylov iterations.

The starts are given, so that results repeat. A block of one column is the Lanczos iteration.
"""

from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias

import numpy as np
from scipy.linalg import eig_banded, eigh
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats
from momentree.core.ties import fixed_vectors

DENSE_FEATURES = 64
"""Up to this d, a dense eigensolver costs no more than a few products and is exact."""
RANK_TOLERANCE = 1e-12
"""Eigenvalues below this fraction of the largest are rounding error."""
ROUNDING = 1e-14
"""Smallest residual attainable in double precision."""
DEPENDENT = 1e-10
"""A column that keeps less than this fraction of its length beside a basis is rounding error."""
TINY = 1e-300

Eigenpairs: TypeAlias = tuple[Floats, Floats, float]
"""Eigenvalues, vectors and the largest relative residual."""


def top_eigenpairs(
    M2: LinearOperator, start: Floats, k: int, tol: float, max_products: int
) -> Eigenpairs:
    """Return up to k + 1 top eigenvalues, k vectors, and the largest relative residual.

    The eigenvalues descend, and the largest entry of each vector is positive. `start` has shape
    (d,).
    """

    def times(V: Floats, _: Sequence[int]) -> Floats:
        product = M2 @ (V[0] if V.shape[2] > 1 else V[0, :, 0])
        return np.asarray(product.reshape(V.shape))

    return top_eigenpairs_of_groups(times, unit(start[None, :, None]), k, tol, max_products)[0]


def top_eigenpairs_of_groups(
    times: Callable[[Floats, Sequence[int]], Floats],
    starts: Floats,
    k: int,
    tol: float,
    max_products: int,
    n_vectors: int | None = None,
) -> list[Eigenpairs]:
    """Return those of several operators of shape (d, d), computed with the same products.

    `times` receives matrices of shape (h, d, m) and the numbers of h operators, and returns the
    product of each of these operators with its own matrix. `starts` has shape (g, d, m), with
    columns that are orthonormal or zero. The results are those of each operator alone; one whose
    iteration has ended is not asked for again. It ends when the residuals of the first k pairs are
    below `tol`, or after `max_products` products with m columns. `n_vectors` is k by default.
    """
    steps = [_pairs(start, k, n_vectors or k, tol, max_products) for start in starts]
    asked = {j: next(one) for j, one in enumerate(steps)}
    found: dict[int, Eigenpairs] = {}
    V = starts if starts.shape[1] > DENSE_FEATURES else np.stack(list(asked.values()))
    while asked:
        which = list(asked)
        for j, product in zip(which, times(V, which), strict=True):
            try:
                asked[j] = steps[j].send(product)
            except StopIteration as end:
                found[j] = end.value
                del asked[j]
        V = np.stack(list(asked.values())) if asked else V
    return [found[j] for j in range(len(steps))]


def _pairs(
    start: Floats, k: int, n_vectors: int, tol: float, max_products: int
) -> Generator[Floats, Floats, Eigenpairs]:
    """Yield what is to be multiplied with the operator, and receive the product."""
    d = len(start)
    if d <= DENSE_FEATURES:
        dense = yield np.eye(d)
        values, U = eigh(0.5 * (dense + dense.T))
        # The space of the first k may end among vectors of equal values.
        values, U = values[::-1], U[:, ::-1]
        return values[: k + 1], fixed_vectors(values, U)[:, :n_vectors], 0.0
    values, U, residual = yield from _krylov(start, k, n_vectors, tol, max_products)
    fixed = fixed_vectors(values, U[:, :n_vectors])
    values = np.pad(values, (0, max(k - len(values), 0)))  # a span of fewer than k dimensions
    return values[: k + 1], padded(fixed, n_vectors), residual


def _krylov(
    start: Floats, k: int, n_vectors: int, tol: float, max_products: int
) -> Generator[Floats, Floats, Eigenpairs]:
    """Return the largest Ritz pairs, k + 1 values or more, and the largest relative residual.

    SciPy's restarted solver returns no pairs if it does not converge, which is common for groups
    of documents on a single topic, whose spectrum is flat. This iteration, with full
    reorthogonalization, always returns its best pairs after `max_products` products.
    """
    d, m = start.shape
    # RandomState draws the same numbers with every version of NumPy.
    rng = np.random.RandomState(0)
    Q = start[:, np.any(start != 0, axis=0)]
    if not Q.size:
        Q = orthonormal(rng.standard_normal((d, 1)))
    basis = np.empty((d, min(max_products, 2 * k + 8) * m), order="F")
    T = np.zeros((basis.shape[1], basis.shape[1]))
    n, fresh = 0, True
    for j in range(max_products):
        first, n = n, n + Q.shape[1]
        if n > basis.shape[1]:
            basis = np.asfortranarray(np.concatenate([basis, np.empty_like(basis)], axis=1))
            T = np.pad(T, (0, len(T)))
        basis[:, first:n] = Q
        known = basis[:, :n]
        Y = (yield padded(Q, m))[:, : n - first]
        beside = known.T @ Y
        T[:n, first:n] = beside
        T[first:n, first:n] = 0.5 * (beside[first:] + beside[first:].T)
        rest = Y - known @ beside
        rest -= known @ (known.T @ rest)  # twice is enough (Parlett)
        closed = lengths(rest).max() <= RANK_TOLERANCE * np.abs(T[:n, :n]).max()
        last = j + 1 == max_products or n + m > d or (closed and n >= k and (m > 1 or not fresh))
        if last or (n >= k and _due(j)):
            values, S = _top(T[:n, :n], max(k + 1, n_vectors), 2 * m - 1)
            # The residual of known @ s is the part of the product with its last entries beside it.
            parts = lengths(rest @ S[first:, :k])
            # Do not divide by an eigenvalue that is itself rounding error.
            sizes = np.maximum(np.abs(values[:k]), RANK_TOLERANCE * np.abs(values).max())
            residual = float((parts / np.maximum(sizes[: len(parts)], TINY)).max())
            if last or (not closed and residual <= max(tol, ROUNDING)):
                break
        fresh = not closed
        # A closed span is invariant. Its complement may still contain components, for example if
        # two are exactly balanced: try a random direction in it, and stop if that adds none.
        Q = orthonormal(rng.standard_normal((d, 1)) if closed else rest, known)
    return values, known @ S, 0.0 if closed or n == d else residual


def _due(j: int) -> bool:
    """Return whether to compute Ritz pairs after product j; less often for large j (cost O(j))."""
    return j % max(1, j // 16) == 0


def _top(T: Floats, n_top: int, bandwidth: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of a symmetric band matrix, descending, and their vectors."""
    n = len(T)
    bands = np.zeros((min(bandwidth, n - 1) + 1, n))
    for i in range(len(bands)):
        bands[i, i:] = T.diagonal(i)
    values, S = eig_banded(bands[::-1], select="i", select_range=(max(0, n - n_top), n - 1))
    return np.asarray(values[::-1], np.float64), np.asarray(S[:, ::-1], np.float64)


def orthonormal(Y: Floats, basis: Floats | None = None) -> Floats:
    """Return orthonormal columns with the span of the columns of Y, orthogonal to a basis too.

    There are fewer columns than in Y if some depend on others, up to rounding.
    """
    limit = DEPENDENT * float(lengths(Y).max())
    for _ in range(2):  # twice is enough (Parlett)
        if basis is not None:
            Y = Y - basis @ (basis.T @ Y)
        values, vectors = np.linalg.eigh(Y.T @ Y)
        roots = np.sqrt(np.maximum(values, 0.0))
        used = roots > max(limit, 1e-7 * roots.max(initial=0.0))
        limit = 0.5  # the columns are orthonormal by now
        Y = Y @ (vectors[:, used] / roots[used])
    return Y


def unit(Y: Floats) -> Floats:
    """Return columns of length 1, (..., d, m); those of length 0 are kept."""
    return np.asarray(Y / np.maximum(np.linalg.norm(Y, axis=-2, keepdims=True), TINY))


def lengths(Y: Floats) -> Floats:
    """Return the length of each column, shape (m,)."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", Y, Y)))


def padded(Q: Floats, m: int) -> Floats:
    """Return columns followed by zeros, (d, m)."""
    return Q if Q.shape[1] == m else np.pad(Q, ((0, 0), (0, m - Q.shape[1])))
