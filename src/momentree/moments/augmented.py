"""Raw moments of rows with a constant beside them, scaled by row and by column, without a copy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from momentree._validation import check_map
from momentree.backends import Block, RowBlocks
from momentree.moments._symmetric import symmetric
from momentree.moments.factorial import COLUMNS_AT_ONCE

__all__ = ["AugmentedRawMoments"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class AugmentedRawMoments:
    """Estimate the raw moments of lifted rows y_i = f_i (s * x_i, c).

        M1 = sum v y,     M2 = sum v y y^T,     M3 = sum v y (x) y (x) y

    The constant c makes one more feature, the last, that all rows share: with it linear scores of
    y have an intercept, so that rows differ by how much they hold and not only by of what.

    Parameters
    ----------
    rows : RowBlocks of shape (n, p)
        x, any numbers.
    sample_weight : ndarray of shape (n,)
        v >= 0, scaled to sum 1 here.
    factor : ndarray of shape (n,)
        f, by what each row is scaled.
    scale : ndarray of shape (p,)
        s, by what each column is scaled; zero leaves a column out.
    constant : float
        c.

    Notes
    -----
    T eq. 6.5 and 6.6 for f = s = 1 and c = 0. Time O(nnz) for M2 v, O(nnz k^2) for the slices,
    O(nnz k + n k^3) for the tensor; memory O(p k^2 + n k).
    """

    def __init__(
        self,
        rows: RowBlocks,
        sample_weight: Floats,
        factor: Floats,
        scale: Floats,
        constant: float,
    ) -> None:
        self._rows, self._scale, self._constant = rows, scale, constant
        self._factor = factor
        self._r1 = sample_weight / sample_weight.sum() * factor
        self._r2 = self._r1 * factor

    @cached_property
    def m1(self) -> Floats:
        """M1, shape (p + 1,)."""
        return self._back(self._r1)

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (p + 1, p + 1)."""

        def times(V: Floats) -> Floats:
            def weighted(scores: Floats, at: slice) -> Floats:
                scores *= self._r2[at] if V.ndim == 1 else self._r2[at, None]
                return scores

            return self._back_of(V, weighted)

        return symmetric(len(self._scale) + 1, times)

    def whitened_slices(self, W: ArrayLike) -> Floats:
        """Return H[r] = W M3[r] W^T, the slices of M3 whitened in two modes.

        Parameters
        ----------
        W : array-like of shape (k, p + 1)
            Whitening map.

        Returns
        -------
        ndarray of shape (p + 1, k, k)
            Symmetric in its last two axes.

        Raises
        ------
        InvalidDataError
            If W has not a column for each feature.
        """
        W = check_map(W, len(self._scale) + 1)
        k, d = W.shape
        H, r3 = np.empty((d, k, k)), self._r3
        rows, columns = np.triu_indices(k)
        for start in range(0, len(rows), COLUMNS_AT_ONCE):
            a, b = rows[start : start + COLUMNS_AT_ONCE], columns[start : start + COLUMNS_AT_ONCE]

            def pairs(Z: Floats, at: slice, a: Ints = a, b: Ints = b) -> Floats:
                out = np.empty((len(Z), len(a)))
                for column, left, right in zip(out.T, Z.T[a], Z.T[b], strict=True):
                    np.multiply(left, right, out=column)
                out *= r3[at, None]
                return out

            H[:, a, b] = H[:, b, a] = self._back_of(W.T, pairs)
        return H

    def whitened_tensor(self, W: ArrayLike) -> Floats:
        """Return T = M3(W, W, W), M3 whitened in all three modes.

        Parameters
        ----------
        W : array-like of shape (k, p + 1)
            Whitening map.

        Returns
        -------
        ndarray of shape (k, k, k)
            Symmetric.

        Raises
        ------
        InvalidDataError
            If W has not a column for each feature.
        """
        W = check_map(W, len(self._scale) + 1)
        k = W.shape[0]
        scores, r3 = self._scores(W.T), self._r3

        def cubes(B: Block) -> Floats:
            Z = scores(B)
            pairs = (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), k * k)
            return np.asarray((r3[B.at, None] * Z).T @ pairs)

        return self._rows.sum(cubes).reshape(k, k, k)

    def _scores(self, V: Floats) -> Callable[[Block], Floats]:
        """Return what gives s * x . V + c V_last for a block, factors left to the weights."""
        right = V[:-1] * (self._scale if V.ndim == 1 else self._scale[:, None])
        right, last = np.ascontiguousarray(right), self._constant * V[-1]

        def of_block(B: Block) -> Floats:
            scores = B.dot(right)
            scores += last
            return scores

        return of_block

    @property
    def _r3(self) -> Floats:
        return np.asarray(self._r2 * self._factor)

    def _back_of(self, V: Floats, weigh: Callable[[Floats, slice], Floats]) -> Floats:
        """Return Y^T of weighted scores, without the factors of Y: those are in the weights."""
        scores = self._scores(V)

        def kernel(B: Block) -> Floats:
            right = weigh(scores(B), B.at)
            return np.concatenate([B.tdot(right), right.sum(axis=0, keepdims=True)])

        return self._unlifted(self._rows.sum(kernel))

    def _back(self, right: Floats) -> Floats:
        def kernel(B: Block) -> Floats:
            return np.append(B.tdot(right[B.at]), right[B.at].sum())

        return self._unlifted(self._rows.sum(kernel))

    def _unlifted(self, sums: Floats) -> Floats:
        scale = np.append(self._scale, self._constant)
        return np.asarray(sums * (scale if sums.ndim == 1 else scale[:, None]))
