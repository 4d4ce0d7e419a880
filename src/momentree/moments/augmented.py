"""T eq. 6.5 and 6.6 for rows scaled and augmented with a constant feature, without a copy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats, Ints
from momentree.backends import Block, RowBlocks
from momentree.moments._base import BaseMoments, pairs_of
from momentree.moments._operators import symmetric


class AugmentedRawMoments(BaseMoments):
    """Estimate the raw moments of augmented rows y_i = f_i (s * x_i, c).

        M1 = sum v y,     M2 = sum v y y^T,     M3 = sum v y (x) y (x) y

    The constant c is an additional last feature with the same value in all rows. It gives linear
    scores of y an intercept, so that rows with the same direction but different sizes can differ
    in the sign of their score.

    Parameters
    ----------
    rows : RowBlocks of shape (n, p)
        x, any numbers.
    sample_weight : ndarray of shape (n,)
        v >= 0, scaled to sum 1 here.
    row_scale : ndarray of shape (n,)
        f.
    column_scale : ndarray of shape (p,)
        s; zero excludes a column.
    constant : float
        c.

    Notes
    -----
    T eq. 6.5 and 6.6 are the case f = s = 1, c = 0. Time O(nnz) for M2 v, O(nnz k^2) for the
    slices, O(nnz k + n k^3) for the tensor; memory O(p k^2 + n k).
    """

    def __init__(
        self,
        rows: RowBlocks,
        sample_weight: Floats,
        row_scale: Floats,
        column_scale: Floats,
        constant: float,
    ) -> None:
        self._rows, self._scale, self._constant = rows, column_scale, constant
        # Powers of the row scale are part of the weights, so that rows are never copied.
        self._r1 = sample_weight / sample_weight.sum() * row_scale
        self._r2 = self._r1 * row_scale
        self._r3 = self._r2 * row_scale

    @cached_property
    def m1(self) -> Floats:
        """M1, shape (p + 1,)."""
        right = self._r1
        sums = self._rows.sum(lambda B: np.append(B.tdot(right[B.at]), right[B.at].sum()))
        return self._scaled_back(sums)

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (p + 1, p + 1)."""

        def times(V: Floats) -> Floats:
            def weighted(scores: Floats, at: slice) -> Floats:
                scores *= self._r2[at] if V.ndim == 1 else self._r2[at, None]
                return scores

            return self._back_of(V, weighted)

        return symmetric(self._d, times)

    @property
    def _d(self) -> int:
        return len(self._scale) + 1

    def _slices(self, W: Floats) -> Floats:
        k, d = W.shape
        H, r3 = np.empty((d, k, k)), self._r3
        for a, b in pairs_of(k):

            def pairs(Z: Floats, at: slice, a: Ints = a, b: Ints = b) -> Floats:
                out = np.empty((len(Z), len(a)))
                for column, left, right in zip(out.T, Z.T[a], Z.T[b], strict=True):
                    np.multiply(left, right, out=column)
                out *= r3[at, None]
                return out

            H[:, a, b] = H[:, b, a] = self._back_of(W.T, pairs)
        return H

    def _tensor(self, W: Floats) -> Floats:
        k = W.shape[0]
        scores, r3 = self._scores(W.T), self._r3

        def cubes(B: Block) -> Floats:
            Z = scores(B)
            pairs = (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), k * k)
            return np.asarray((r3[B.at, None] * Z).T @ pairs)

        return self._rows.sum(cubes).reshape(k, k, k)

    def _scores(self, V: Floats) -> Callable[[Block], Floats]:
        """Return a function that maps a block to its scores (s * x, c) V."""
        right = V[:-1] * (self._scale if V.ndim == 1 else self._scale[:, None])
        right, last = np.ascontiguousarray(right), self._constant * V[-1]

        def of_block(B: Block) -> Floats:
            scores = B.dot(right)
            scores += last
            return scores

        return of_block

    def _back_of(self, V: Floats, weigh: Callable[[Floats, slice], Floats]) -> Floats:
        """Return Y^T Z with Z the weighted scores; `weigh` applies the weights, including f."""
        scores = self._scores(V)

        def kernel(B: Block) -> Floats:
            right = weigh(scores(B), B.at)
            return np.concatenate([B.tdot(right), right.sum(axis=0, keepdims=True)])

        return self._scaled_back(self._rows.sum(kernel))

    def _scaled_back(self, sums: Floats) -> Floats:
        scale = np.append(self._scale, self._constant)
        return np.asarray(sums * (scale if sums.ndim == 1 else scale[:, None]))
