"""Views of the data: checks, products, and leading singular vectors of a cross moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, svds

from momentree._types import Floats
from momentree._validation import as_floats, check_distribution, check_missing, check_shape
from momentree.backends import RowBlocks
from momentree.core.ties import fixed_vectors
from momentree.exceptions import InvalidDataError
from momentree.moments._base import chunks

DENSE_FEATURES = 256
"""Up to this many features of one view, a full SVD costs no more than a truncated one."""
RANK_TOLERANCE = 1e-10
"""Singular values below this fraction of the largest are rounding error."""


class View:
    """Rows x / p, with x = 0 where a value is missing and p the observation rates.

    Missing values then do not bias means.
    """

    def __init__(self, rows: RowBlocks, observation_rates: Floats | None) -> None:
        self.rows, self.d = rows, rows.shape[1]
        p = np.ones(self.d) if observation_rates is None else observation_rates
        self._scale = 1.0 / np.where(p > 0, p, 1.0)[:, None]

    def dot(self, A: Floats) -> Floats:
        """Return X A, shape (n, m), for A of shape (d, m)."""
        right = np.ascontiguousarray(self._scale * A)
        return self.rows.map(lambda B: B.dot(right))

    def tdot(self, Z: Floats) -> Floats:
        """Return X^T Z, shape (d, m), for Z of shape (n, m)."""

        def some(at: slice) -> Floats:
            return self.rows.sum(lambda B: B.tdot(Z[B.at, at]))

        parts = [some(at) for at in chunks(Z.shape[1])]
        return self.scaled(np.hstack([np.zeros((self.d, 0)), *parts]))

    def scaled(self, sums: Floats) -> Floats:
        """Convert sums over the stored rows x, shape (d, m), to sums over x / p."""
        return np.asarray(self._scale * sums)


def leading_pair(a: View, b: View, v: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """Return the k leading singular triples U, S, V of the cross moment E[x_a x_b^T].

    Uses a dense SVD if one view has few features, else Lanczos iteration (ARPACK) from a fixed
    start, so that the result is reproducible. Fewer triples are returned if the rank is lower.
    """
    least = min(a.d, b.d)
    if least <= max(DENSE_FEATURES, k):
        U, S, V = _dense(a, b, v)
    else:
        U, S, V = _lanczos(a, b, v, k)
    fixed = fixed_vectors(S, U)
    U, V = fixed, V @ (U.T @ fixed)
    keep = S[:k] > RANK_TOLERANCE * max(float(S.max(initial=0.0)), 0.0)
    r = int(keep.sum())
    return U[:, :r], S[:r], V[:, :r]


def _dense(a: View, b: View, v: Floats) -> tuple[Floats, Floats, Floats]:
    if b.d > a.d:
        V, S, U = _dense(b, a, v)
        return U, S, V
    eye = np.eye(b.d)
    P = np.hstack([a.tdot(v[:, None] * b.dot(eye[:, at])) for at in chunks(b.d)])
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


def checked_views(views: Sequence[Any]) -> list[tuple[Any, Any | None]]:
    """Return three views of the same samples, each with its missing cells."""
    if len(views) != 3:
        raise InvalidDataError("not_three_views", found=len(views))
    checked = [check_missing(X) for X in views]
    sizes = [int(X.shape[0]) for X, _ in checked]
    if len(set(sizes)) > 1:
        raise InvalidDataError("views_of_different_samples", n_rows=sizes)
    return checked


def checked_means(weights: ArrayLike, means: Sequence[ArrayLike]) -> tuple[Floats, list[Floats]]:
    """Return weights (k,) that sum to 1 and three finite matrices with k rows."""
    w = as_floats("weights", weights)
    check_shape("weights", w, ("k",))
    check_distribution("weights", w)
    mu = [as_floats("means", part) for part in means]
    if len(mu) != 3:
        raise InvalidDataError("not_three_views", found=len(mu))
    for part in mu:
        check_shape("means", part, (len(w), "d"))
        if not np.isfinite(part).all():
            raise InvalidDataError("not_finite", parameter="means")
    return w, mu
