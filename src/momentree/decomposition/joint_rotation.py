"""Joint diagonalization of symmetric slices by rotations: Jacobi sweeps, then H eq. 5.

Slices are stored as entry vectors: A[i, j] of shape (p,) contains entry (i, j) of all p slices. The
objective of H eq. 5 is the sum of the norms of A[i, j] over i != j, and a rotation of the plane
(i, j) combines contiguous vectors.
"""

import numpy as np

from momentree._types import Floats, Ints
from momentree.core.ties import SAME, largest

Plane = tuple[Ints, Ints]

SMALL_ANGLE = 1e-8
"""Jacobi converges quadratically near joint diagonality: one more sweep would rotate by 1e-16."""
SLOW = 1e-5
"""If the slices have no common diagonalizer, sweeps with a smaller relative gain do not improve the
start of the second stage."""
NO_SLICE = 1e-15
"""A compressed slice below this, relative to the largest, is rounding error."""
EXACT = 1e-14
"""An objective below this, relative to the norm of the slices, is rounding error."""
GRID = 12
"""Angles scanned in a plane: GRID equal steps on each side, and GRID halvings of one step."""
ZOOMS = 2
"""Each zoom narrows the angle by a factor of 8, to 2e-2 of a step."""
NEWTON = 3
"""Steps of Newton's method that follow; each doubles the number of correct digits."""

_even = np.linspace(-np.pi / 4, np.pi / 4, 2 * GRID + 1)
_fine = np.pi / (4 * GRID) * 0.5 ** np.arange(1, GRID + 1)
SCAN = np.sort(np.concatenate([_even, _fine, -_fine]))
"""A rotation by a right angle only swaps two components, so this interval suffices."""


def compress(H: Floats) -> Floats:
    """Return entry vectors (k, k, p), p <= k (k + 1) / 2, with the inner products of those of H."""
    d, k, _ = H.shape
    a, b = np.triu_indices(k)
    columns: Floats = H[:, a, b]
    if d > len(a):
        columns = np.asarray(np.linalg.qr(columns, mode="r"))
    size = np.abs(columns).max(axis=1, initial=0.0)
    columns = columns[size > NO_SLICE * size.max(initial=0.0)]
    A = np.empty((k, k, columns.shape[0]))
    A[a, b] = A[b, a] = columns.T
    return A


def objective(A: Floats) -> float:
    """Return the sum over i != j of the norms of the entry vectors, H eq. 5."""
    norms = np.linalg.norm(A, axis=2)
    return float(norms.sum() - np.trace(norms))


def jacobi(A: Floats, max_sweeps: int, slow: float = SLOW) -> tuple[Floats, Floats, int]:
    """Minimize the sum of squares of the off-diagonal entries by rotations of planes.

    Stops when a sweep decreases it by less than the fraction `slow`.
    Returns the rotated entry vectors, the rotation and the number of sweeps. The angles of disjoint
    planes do not interact, so all planes in a round of a tournament are rotated at once; k - 1
    rounds form a sweep (Cardoso & Souloumiac 1996, real case).
    """
    k = A.shape[0]
    A, Rt = A.copy(), np.eye(k)
    rounds = _tournament(k)
    n_sweeps, off = 0, _off_diagonal(A)
    while n_sweeps < max_sweeps:
        n_sweeps += 1
        angle, before = 0.0, off
        for i, j in rounds:
            h, half = A[i, j], 0.5 * (A[i, i] - A[j, j])
            hh, ff, hf = (np.einsum("np,np->n", x, y) for x, y in ((h, h), (half, half), (h, half)))
            hf[(ff < hh) & (np.abs(hf) <= SAME * hh)] = 0.0  # or rounding decides on +-pi / 4
            # |cos 2t h - sin 2t (f / 2)|^2 is least at this t in [-pi / 4, pi / 4].
            t = 0.25 * np.arctan2(2.0 * hf, ff - hh)
            angle = max(angle, float(np.abs(t).max(initial=0.0)))
            c, s = np.cos(t), np.sin(t)
            _rotate(Rt, i, j, c[:, None], s[:, None])
            _rotate(A, i, j, c[:, None, None], s[:, None, None])
            _rotate(A.transpose(1, 0, 2), i, j, c[:, None, None], s[:, None, None])
        off = _off_diagonal(A)
        if angle < SMALL_ANGLE or before - off <= slow * before:
            break
    return A, Rt.T.copy(), n_sweeps


def _off_diagonal(A: Floats) -> float:
    """Return the sum of squares of the off-diagonal entries."""
    squares = np.einsum("ijp,ijp->ij", A, A)
    return float(squares.sum() - np.trace(squares))


def minimize_norms(A: Floats, R: Floats, tol: float, max_sweeps: int) -> tuple[Floats, Floats, int]:
    """Minimize the sum of norms of H eq. 5 by rotations of one plane at a time, starting from R.

    Returns the same values as :func:`jacobi`. Stops when a sweep decreases the objective by less
    than the fraction `tol`.
    """
    k = A.shape[0]
    A, Rt = A.copy(), R.T.copy()
    squares = np.einsum("ijp,ijp->ij", A, A)
    floor = EXACT * float(np.sqrt(squares.sum()))
    value = objective(A)
    n_sweeps = 0
    while n_sweeps < max_sweeps:
        n_sweeps += 1
        for i in range(k - 1):
            for j in range(i + 1, k):
                _rotate_plane(A, Rt, squares, i, j)
        before, value = value, objective(A)
        if before - value <= tol * before or value <= floor:
            break
    return A, Rt.T.copy(), n_sweeps


def _rotate_plane(A: Floats, Rt: Floats, squares: Floats, i: int, j: int) -> None:
    """Rotate the plane (i, j) by its best angle, if that decreases the objective."""
    h, half = A[i, j], 0.5 * (A[i, i] - A[j, j])
    others = np.ones(A.shape[0], dtype=bool)
    others[[i, j]] = False
    cross = np.einsum("mp,mp->m", A[i], A[j])[others]
    # The squared norms that change are these three rows times cos^2, sin^2 and 2 sin cos.
    rows = np.stack([squares[i, others], squares[j, others], cross])
    pair = np.array([h @ h, half @ half, -(h @ half)])

    def values(t: Floats) -> Floats:
        c, s = np.cos(t), np.sin(t)
        first = np.stack([c * c, s * s, 2.0 * c * s], axis=1)
        second = np.stack([s * s, c * c, -2.0 * c * s], axis=1)
        twice = np.stack([np.cos(2 * t) ** 2, np.sin(2 * t) ** 2, np.sin(4 * t)], axis=1)
        norms = np.sqrt(np.maximum(np.concatenate([first @ rows, second @ rows], axis=1), 0.0))
        return np.asarray(norms.sum(axis=1) + np.sqrt(np.maximum(twice @ pair, 0.0)))

    grid = SCAN
    for _ in range(ZOOMS + 1):
        at = values(grid)
        best = int(largest(-at, EXACT))
        t = float(grid[best])
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
        if t == 0.0:
            break
        grid = np.linspace(low, high, 17)
    refined = _without_slope(t, rows, pair)
    t = refined if low <= refined <= high else t
    if t == 0.0:
        return
    c, s = np.cos(t), np.sin(t)
    new_i, new_j = c * A[i] + s * A[j], c * A[j] - s * A[i]
    corner_i, corner_j = c * new_i[i] + s * new_i[j], c * new_j[j] - s * new_j[i]
    corner = c * new_i[j] - s * new_i[i]
    for row, own, other in ((new_i, i, j), (new_j, j, i)):
        row[other] = corner
        row[own] = corner_i if own == i else corner_j
    squares_i, squares_j = (np.einsum("mp,mp->m", row, row) for row in (new_i, new_j))
    # Check on the vectors themselves, because inner products lose half of the digits.
    before = np.sqrt(squares[[i, j]][:, others]).sum() + np.sqrt(squares[i, j])
    after = np.sqrt(squares_i[others]).sum() + np.sqrt(squares_j[others]).sum()
    if after + np.sqrt(squares_i[j]) > (1.0 + EXACT) * before:
        return
    for at_, row, square in ((i, new_i, squares_i), (j, new_j, squares_j)):
        A[at_] = A[:, at_] = row
        squares[at_] = squares[:, at_] = square
    Rt[i], Rt[j] = c * Rt[i] + s * Rt[j], c * Rt[j] - s * Rt[i]


def _without_slope(t: float, rows: Floats, pair: Floats) -> float:
    """Return the angle near t where the slope of the sum of norms is zero, by Newton's method.

    Values of the sum determine the angle to half of the digits only; rounding decides the others.
    """
    first, second, cross = rows
    mean, half = 0.5 * (first + second), 0.5 * (first - second)
    h, f, hf = pair
    # Each squared norm is m + a cos(w t) + b sin(w t).
    m = np.concatenate([mean, mean, [0.5 * (h + f)]])
    a = np.concatenate([half, -half, [0.5 * (h - f)]])
    b = np.concatenate([cross, -cross, [hf]])
    w = np.append(np.full(2 * len(cross), 2.0), 4.0)
    for _ in range(NEWTON):
        c, s = np.cos(w * t), np.sin(w * t)
        norms = np.sqrt(np.maximum(m + a * c + b * s, 0.0))
        if norms.min() <= SMALL_ANGLE * norms.max():  # the sum is not smooth where one is zero
            return t
        slopes = 0.5 * w * (b * c - a * s) / norms
        bend = float((-0.5 * w**2 * (a * c + b * s) / norms - slopes**2 / norms).sum())
        if bend <= 0.0:
            return t
        t -= float(slopes.sum()) / bend
    return t


def _rotate(A: Floats, i: Ints, j: Ints, c: Floats, s: Floats) -> None:
    first, second = A[i], A[j]
    A[i], A[j] = c * first + s * second, c * second - s * first


def _tournament(k: int) -> list[Plane]:
    """Return rounds of disjoint pairs in which each pair occurs once."""
    players = np.arange(k + k % 2)
    rounds = []
    for _ in range(len(players) - 1):
        i, j = players[: len(players) // 2], players[::-1][: len(players) // 2]
        real = (i < k) & (j < k)
        rounds.append((np.minimum(i, j)[real], np.maximum(i, j)[real]))
        players = np.concatenate([players[:1], players[-1:], players[1:-1]])
    return rounds
