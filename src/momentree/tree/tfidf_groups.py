"""Group documents by the leading directions of tf-idf, as a start for EM."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats, Ints
from momentree.backends import RowBlocks
from momentree.core.ties import largest, pivots
from momentree.moments import RawMoments
from momentree.moments._base import symmetric
from momentree.preprocessing.log_scaling import tfidf_scales
from momentree.whitening import whiten

WHITENING_TOL = 1e-3
"""The groups are only a start, so digits beyond these do not matter."""


def tfidf_groups(X: Any, sample_weight: Floats, n_groups: int) -> Ints | None:
    """Group documents by their tf-idf rows, without random numbers.

    The rows, whitened by their second moment M2 = sum v x x^T, are n points in k dimensions. If
    words differ between groups, they lie near k orthogonal axes. A QR decomposition with pivoting
    finds k rows near the axes, and the polar factor of these rows is the rotation onto them. Each
    row belongs to the axis of its largest absolute coordinate.

    Parameters
    ----------
    X : {csr_array, RowBlocks} of shape (n, d)
        Counts >= 0.
    sample_weight : ndarray of shape (n,)
        Weights >= 0, not all zero.
    n_groups : int >= 1
        Number of groups k.

    Returns
    -------
    ndarray of intp of shape (n,) or None
        The groups; None if there are fewer than k.

    Notes
    -----
    A. Damle, V. Minden and L. Ying, Simple, direct and efficient multi-way spectral clustering,
    Information and Inference 8, 2019. Unlike a joint diagonalization of third moments, it needs
    no k (k + 1) / 2 slices. Time O(nnz k + n k^2).
    """
    k, v = n_groups, sample_weight
    if k > min(X.shape):
        return None
    counts = X if isinstance(X, RowBlocks) else RowBlocks(X)
    idf, lengths = tfidf_scales(counts, v)
    rows = counts.scaled(1.0 / lengths)
    white = whiten(_TfidfMoments(rows, v, idf), k, tol=WHITENING_TOL, max_iter=2 * k + 10)
    if white.rank < k:
        return None
    W = np.ascontiguousarray(idf[:, None] * white.W.T)
    scores = rows.map(lambda B: B.dot(W))
    # A weight of two acts like two copies, so it must not make a row more likely to be a pivot.
    present = scores * (v > 0)[:, None]
    left, _, right = np.linalg.svd(scores[pivots(present, k)].T)
    groups = largest(np.abs(scores @ (left @ right)))
    found = np.bincount(groups, weights=v, minlength=k)
    return groups.astype(np.intp) if (found > 0).all() else None


class _TfidfMoments(RawMoments):
    """Raw moments of rows whose columns are multiplied by idf, without a copy of the rows."""

    def __init__(self, rows: RowBlocks, sample_weight: Floats, idf: Floats) -> None:
        super().__init__(rows, sample_weight)
        self._idf = idf

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return self._idf * super().m1

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (d, d)."""
        idf, of_rows = self._idf, super().m2

        def times(V: Floats) -> Floats:
            scale = idf if V.ndim == 1 else idf[:, None]
            return np.asarray(scale * (of_rows @ (scale * V)))

        return symmetric(len(idf), times)
