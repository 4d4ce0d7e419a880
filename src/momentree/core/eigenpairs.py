"""The top eigenpairs of a symmetric operator, from a given start, so that results repeat."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias

import numpy as np
from scipy.linalg import eigh, eigh_tridiagonal
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats
from momentree.core.ties import fixed_vectors

DENSE_FEATURES = 64
"""Up to this d, a dense eigensolver costs no more than a few products and is exact."""
RANK_TOLERANCE = 1e-12
"""Eigenvalues below this fraction of the largest are rounding error."""
ROUNDING = 1e-14
"""Smallest residual attainable in double precision."""
TINY = 1e-300


Eigenpairs: TypeAlias = tuple[Floats, Floats, float]
"""Eigenvalues, vectors and the largest relative residual."""


def top_eigenpairs(
    M2: LinearOperator, start: Floats, k: int, tol: float, max_iter: int
) -> Eigenpairs:
    """Return up to k + 1 top eigenvalues, k vectors, and the largest relative residual.

    The eigenvalues descend, and the largest entry of each vector is positive.
    """
    return top_eigenpairs_of_each(
        lambda V, _: (M2 @ (V[0] if V.shape[2] > 1 else V[0, :, 0])).reshape(V.shape),
        start[None],
        k,
        tol,
        max_iter,
    )[0]


def top_eigenpairs_of_each(
    times: Callable[[Floats, Sequence[int]], Floats],
    starts: Floats,
    k: int,
    tol: float,
    max_iter: int,
) -> list[Eigenpairs]:
    """Return those of several operators, of shape (d, d), computed with the same passes.

    `times` receives matrices of shape (h, d, m) and the numbers of h operators, and returns the
    product of each of these operators with its own matrix. `starts` has shape (g, d). The results
    are those of each operator alone; one whose iteration has ended is not asked for again.
    """
    steps = [_top_eigenpairs(start, k, tol, max_iter) for start in starts]
    asked = {j: next(one) for j, one in enumerate(steps)}
    found: dict[int, Eigenpairs] = {}
    while asked:
        which = list(asked)
        for j, product in zip(which, times(np.stack(list(asked.values())), which), strict=True):
            try:
                asked[j] = steps[j].send(product)
            except StopIteration as end:
                found[j] = end.value
                del asked[j]
    return [found[j] for j in range(len(steps))]


def _top_eigenpairs(
    start: Floats, k: int, tol: float, max_iter: int
) -> Generator[Floats, Floats, Eigenpairs]:
    """Yield what is to be multiplied with the operator, and receive the product."""
    d = len(start)
    if d <= DENSE_FEATURES:
        dense = yield np.eye(d)
        values, U = eigh(0.5 * (dense + dense.T))
        # The space of the first k may end among vectors of equal values.
        values, U = values[::-1], U[:, ::-1]
        return values[: k + 1], fixed_vectors(values, U)[:, :k], 0.0
    values, U, residual = yield from _lanczos(start, k, tol, max_iter)
    return values, fixed_vectors(values, U), residual


def _lanczos(
    start: Floats, k: int, tol: float, max_iter: int
) -> Generator[Floats, Floats, Eigenpairs]:
    """Return the k largest Ritz pairs, one more value, and the largest relative residual.

    SciPy's restarted solver returns no pairs if it does not converge, which is common for groups
    of documents on a single topic, whose spectrum is flat. This iteration, with full
    reorthogonalization, always returns its best pairs after `max_iter` products.
    """
    d = len(start)
    # RandomState draws the same numbers with every version of NumPy.
    rng = np.random.RandomState(0)
    q = start if start.any() else np.asarray(rng.standard_normal(d))
    Q = np.empty((d, min(max_iter, 2 * k + 8)), order="F")
    diagonal, beside = np.zeros(max_iter), np.zeros(max_iter)
    fresh = True
    for j in range(max_iter):
        if j == Q.shape[1]:
            Q = np.concatenate([Q, np.empty((d, min(j, max_iter - j)))], axis=1)
            Q = np.asfortranarray(Q)
        Q[:, j] = q / np.linalg.norm(q)
        q = (yield Q[:, j, None])[:, 0]
        diagonal[j] = Q[:, j] @ q
        q = _without(q, Q[:, : j + 1])
        beta = float(np.linalg.norm(q))
        size = float(max(np.abs(diagonal[: j + 1]).max(), beside[: j + 1].max()))
        closed = beta <= RANK_TOLERANCE * size
        last = j + 1 == max_iter or (closed and not fresh and j + 1 >= k)
        if last or (j + 1 >= k and _due(j)):
            values, S = _top_of_tridiagonal(diagonal[: j + 1], beside[:j], k)
            # Do not divide by an eigenvalue that is itself rounding error.
            sizes = np.maximum(np.abs(values[:k]), RANK_TOLERANCE * np.abs(values).max())
            residual = float((beta * np.abs(S[-1]) / np.maximum(sizes, TINY)).max())
            if last or (not closed and residual <= max(tol, ROUNDING)):
                break
        fresh = not closed
        if closed:
            # The span is invariant. Its complement may still contain components, for example if
            # two are exactly balanced: try a random direction in it, and stop if that adds none.
            q = _without(np.asarray(rng.standard_normal(d)), Q[:, : j + 1])
            beta = 0.0
        beside[j] = beta
    return values, Q[:, : S.shape[0]] @ S, 0.0 if closed or j + 1 == d else residual


def _due(j: int) -> bool:
    """Return whether to compute Ritz pairs after product j; less often for large j (cost O(j))."""
    return j % max(1, j // 16) == 0


def _top_of_tridiagonal(diagonal: Floats, beside: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the k + 1 largest eigenvalues, descending, and the vectors of the first k."""
    m = len(diagonal)
    values, S = eigh_tridiagonal(
        diagonal, beside, select="i", select_range=(max(0, m - k - 1), m - 1)
    )
    return np.asarray(values[::-1], np.float64), np.asarray(S[:, ::-1][:, :k], np.float64)


def _without(q: Floats, Q: Floats) -> Floats:
    """Return q minus its projection onto the columns of Q; twice is enough (Parlett)."""
    for _ in range(2):
        q = q - Q @ (Q.T @ q)
    return q
