"""Products with one view of the data, and the leading singular vectors of two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds

from momentree.backends import RowBlocks

__all__ = ["View", "leading_pair"]

Floats = NDArray[np.float64]

COLUMNS_AT_ONCE = 16
"""Columns in one pass over the data: each thread holds a sum of d rows of them."""
DENSE_FEATURES = 256
"""Up to this many features of one view, all singular vectors cost no more than a few of them."""
RANK_TOLERANCE = 1e-10
"""Singular values below this share of the largest are rounding error: their inverse is noise."""


class View:
    """Rows of some features, scaled so that missing values (zeros) do not lower a mean.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Values, zero where one is missing.
    observed : ndarray of shape (d,) or None
        The share p with which each feature is observed; the rows of the view are x / p.

    Attributes
    ----------
    rows : RowBlocks of shape (n, d)
        As given.
    d : int
        Number of features.
    """

    def __init__(self, rows: RowBlocks, observed: Floats | None) -> None:
        self.rows, self.d = rows, rows.shape[1]
        shares = np.ones(self.d) if observed is None else observed
        self._scale = 1.0 / np.where(shares > 0, shares, 1.0)[:, None]

    def dot(self, A: Floats) -> Floats:
        """Return X A, shape (n, m), for A of shape (d, m)."""
        right = np.ascontiguousarray(self._scale * A)
        return self.rows.map(lambda B: B.dot(right))

    def tdot(self, Z: Floats) -> Floats:
        """Return X^T Z, shape (d, m), for Z of shape (n, m)."""

        def some(at: slice) -> Floats:
            return self.rows.sum(lambda B: B.tdot(Z[B.at, at]))

        starts = range(0, Z.shape[1], COLUMNS_AT_ONCE)
        parts = [some(slice(start, start + COLUMNS_AT_ONCE)) for start in starts]
        return self.scaled(np.hstack([np.zeros((self.d, 0)), *parts]))

    def scaled(self, sums: Floats) -> Floats:
        """Return sums over the rows as they are stored, shape (d, m), as those of the view."""
        return np.asarray(self._scale * sums)


def leading_pair(a: View, b: View, v: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """Return the k leading singular triples U, S, V of the cross moment E[x_a x_b^T].

    Dense where one view has few features, else by Lanczos iteration (ARPACK) from a fixed start,
    so that the answer repeats. Fewer triples come back where there are no more.
    """
    least = min(a.d, b.d)
    if least <= max(DENSE_FEATURES, k):
        U, S, V = _dense(a, b, v)
    else:
        U, S, V = _lanczos(a, b, v, k)
    keep = S[:k] > RANK_TOLERANCE * max(float(S.max(initial=0.0)), 0.0)
    r = int(keep.sum())
    return U[:, :r], S[:r], V[:, :r]


def _dense(a: View, b: View, v: Floats) -> tuple[Floats, Floats, Floats]:
    if b.d > a.d:
        V, S, U = _dense(b, a, v)
        return U, S, V
    eye = np.eye(b.d)
    starts = range(0, b.d, COLUMNS_AT_ONCE)
    cuts = [slice(start, start + COLUMNS_AT_ONCE) for start in starts]
    P = np.hstack([a.tdot(v[:, None] * b.dot(eye[:, at])) for at in cuts])
    U, S, Vt = np.linalg.svd(P, full_matrices=False)
    return U, S, Vt.T


def _lanczos(a: View, b: View, v: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    def times(left: View, right: View, x: Floats) -> Floats:
        product = left.tdot(v[:, None] * right.dot(x.reshape(right.d, -1)))
        return product.reshape(left.d, *x.shape[1:])

    P = LinearOperator(
        shape=(a.d, b.d),
        dtype=np.float64,
        matvec=lambda x: times(a, b, x),
        rmatvec=lambda x: times(b, a, x),
        matmat=lambda x: times(a, b, x),
        rmatmat=lambda x: times(b, a, x),
    )
    start = np.random.RandomState(0).standard_normal(min(a.d, b.d))
    U, S, Vt = svds(P, k=k, v0=start, solver="arpack")
    order = np.argsort(-S, kind="stable")
    return U[:, order], np.asarray(S[order], dtype=np.float64), Vt[order].T
