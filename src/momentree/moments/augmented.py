"""T eq. 6.5 and 6.6 for rows scaled and augmented with a constant feature, without a copy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats, Ints
from momentree.backends import Block, RowArray, Rows
from momentree.backends.kernels import kernel
from momentree.moments._base import BaseMoments, pairs_of, symmetric


@kernel
@dataclass(frozen=True)
class ScaledWeights:
    """v f, v f^2 and v f^3 with v scaled to sum 1: the weights in M1, M2 and M3, shape (n, 3)."""

    total: float

    def __call__(self, B: Block, v: Floats, f: Floats) -> Floats:  # noqa: ARG002
        """Return the weights of the rows of a block."""
        out = np.empty((len(v), 3))
        np.multiply(v / self.total, f, out=out[:, 0])
        np.multiply(out[:, 0], f, out=out[:, 1])
        np.multiply(out[:, 1], f, out=out[:, 2])
        return out


@kernel
@dataclass(frozen=True)
class AugmentedSums:
    """Sums of (x, 1) with the first weight, shape (p + 1,)."""

    def __call__(self, B: Block, r: Floats) -> Floats:
        """Return the sums of a block."""
        return np.append(B.tdot(r[:, 0]), r[:, 0].sum())


@dataclass(frozen=True, eq=False)
class _Scores:
    """Scores (s * x, c) V of rows, from V without its last row, times s, and c times this row."""

    right: Floats
    last: Floats

    def scores(self, B: Block) -> Floats:
        """Return the scores of a block."""
        scores = B.dot(self.right)
        scores += self.last
        return scores


def _back(B: Block, right: Floats) -> Floats:
    """Return (B, 1)^T Z."""
    return np.concatenate([B.tdot(right), right.sum(axis=0, keepdims=True)])


@kernel
class AugmentedSecondMoment(_Scores):
    """(X, 1)^T (r2 * scores), shape (p + 1,) or (p + 1, m)."""

    def __call__(self, B: Block, r: Floats) -> Floats:
        """Return the product of a block."""
        scores = self.scores(B)
        scores *= r[:, 1] if scores.ndim == 1 else r[:, 1, None]
        return _back(B, scores)


@kernel
@dataclass(frozen=True, eq=False)
class AugmentedPairs(_Scores):
    """(X, 1)^T (r3 z_a z_b) for some pairs a, b of scores, shape (p + 1, m)."""

    a: Ints
    b: Ints

    def __call__(self, B: Block, r: Floats) -> Floats:
        """Return the sums of a block."""
        Z = self.scores(B)
        out = np.empty((len(Z), len(self.a)))
        for column, left, right in zip(out.T, Z.T[self.a], Z.T[self.b], strict=True):
            np.multiply(left, right, out=column)
        out *= r[:, 2, None]
        return _back(B, out)


@kernel
class AugmentedCubes(_Scores):
    """sum r3 z_a z_b z_c, shape (k, k, k)."""

    def __call__(self, B: Block, r: Floats) -> Floats:
        """Return the sums of a block."""
        Z = self.scores(B)
        k = Z.shape[1]
        pairs = (Z[:, :, None] * Z[:, None, :]).reshape(len(Z), k * k)
        return np.asarray((r[:, 2, None] * Z).T @ pairs).reshape(k, k, k)


class AugmentedRawMoments(BaseMoments):
    """Estimate the raw moments of augmented rows y_i = f_i (s * x_i, c).

        M1 = sum v y,     M2 = sum v y y^T,     M3 = sum v y (x) y (x) y

    The constant c is an additional last feature with the same value in all rows. It gives linear
    scores of y an intercept, so that rows with the same direction but different sizes can differ
    in the sign of their score.

    Parameters
    ----------
    rows : Rows of shape (n, p)
        x, any numbers.
    sample_weight : row array of shape (n,)
        v >= 0, scaled to sum 1 here.
    row_scale : row array of shape (n,)
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
        rows: Rows,
        sample_weight: RowArray,
        row_scale: RowArray,
        column_scale: Floats,
        constant: float,
    ) -> None:
        self._rows, self._scale, self._constant = rows, column_scale, constant
        # Powers of the row scale are part of the weights, so that rows are never copied.
        weights = ScaledWeights(float(rows.total(sample_weight)))
        self._r = rows.map(weights, sample_weight, row_scale)

    @cached_property
    def m1(self) -> Floats:
        """M1, shape (p + 1,)."""
        return self._scaled_back(self._rows.sum(AugmentedSums(), self._r))

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (p + 1, p + 1)."""

        def times(V: Floats) -> Floats:
            kernel = AugmentedSecondMoment(*self._right(V))
            return self._scaled_back(self._rows.sum(kernel, self._r))

        return symmetric(self._d, times)

    @property
    def _d(self) -> int:
        return len(self._scale) + 1

    def _slices(self, W: Floats) -> Floats:
        k, d = W.shape
        H, right = np.empty((d, k, k)), self._right(W.T)
        for a, b in pairs_of(k):
            sums = self._rows.sum(AugmentedPairs(*right, a, b), self._r)
            H[:, a, b] = H[:, b, a] = self._scaled_back(sums)
        return H

    def _tensor(self, W: Floats) -> Floats:
        return self._rows.sum(AugmentedCubes(*self._right(W.T)), self._r)

    def _right(self, V: Floats) -> tuple[Floats, Floats]:
        """Return V without its last row, times s, and c times this row."""
        V = np.asarray(V, dtype=np.float64)
        right = V[:-1] * (self._scale if V.ndim == 1 else self._scale[:, None])
        return np.ascontiguousarray(right), np.asarray(self._constant * V[-1])

    def _scaled_back(self, sums: Floats) -> Floats:
        scale = np.append(self._scale, self._constant)
        return np.asarray(sums * (scale if sums.ndim == 1 else scale[:, None]))
