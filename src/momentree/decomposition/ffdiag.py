"""FFDIAG: joint diagonalization of symmetric matrices by an invertible matrix."""

import numpy as np

from momentree._types import Floats
from momentree.decomposition._result import TINY

MAX_STEP = 0.9
"""A step I + Y with |Y| < 1 is invertible (Ziehe et al., section 2.2)."""
MIN_STEP = 1e-10
"""Steps converge quadratically near a joint diagonalizer: the next would be rounding error."""
HALVINGS = 8
"""Maximum number of times that a step is halved."""


def ffdiag(C: Floats, start: Floats, max_iter: int) -> tuple[Floats, float, int]:
    """Minimize the off-diagonal parts of B C_l B^T over invertible B, for all l at once.

    C has shape (m, k, k). Returns B, the objective sum_l sum_{i != j} (B C_l B^T)_ij^2, with rows
    of B scaled so that sum_l (B C_l B^T)_ii^2 = 1, and the number of steps, O(m k^3) each.

    FFDIAG (A. Ziehe et al., Journal of Machine Learning Research 5, 2004) steps to (I + Y) B: with
    D the diagonal and F the off-diagonal of B C_l B^T, Y has a zero diagonal and minimizes
    |F + Y D + D Y^T| pair by pair. Here a step is also halved until it decreases the objective.
    Steps neglect changes in D: the result is a minimum only if a joint diagonalizer exists.
    """
    B, F, off = _scaled(C, start)
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        Y = _step(F)
        size = float(np.linalg.norm(Y))
        Y *= min(1.0, MAX_STEP / max(size, TINY))
        for _ in range(HALVINGS):
            tried = _scaled(C, B + Y @ B)
            if tried[2] < off:
                break
            Y *= 0.5
        else:
            break
        B, F, off = tried
        if size < MIN_STEP:
            break
    return B, off, n_iter


def _scaled(C: Floats, B: Floats) -> tuple[Floats, Floats, float]:
    """Return B with scaled rows, the matrices B C_l B^T and the objective."""
    F = B @ C @ B.T
    diagonal = np.square(np.einsum("lii->li", F)).sum(axis=0)
    scale = np.maximum(diagonal, TINY) ** -0.25
    F = F * (scale[:, None] * scale)
    off = np.square(F).sum(axis=0)
    np.fill_diagonal(off, 0.0)
    return B * scale[:, None], F, float(off.sum())


def _step(F: Floats) -> Floats:
    D = np.einsum("lii->li", F)
    z = D.T @ D
    y = np.einsum("lij,lj->ij", F, D)
    own = np.diag(z)
    determinant = np.maximum(np.outer(own, own) - z * z, TINY)
    np.fill_diagonal(determinant, 1.0)
    Y = (z * y.T - own[:, None] * y) / determinant
    np.fill_diagonal(Y, 0.0)
    return np.asarray(Y)
