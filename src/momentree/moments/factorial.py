"""Factorial moments of counts as sums over rows: kernels shared by S Theorem 1 and others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from momentree._types import Floats, Ints
from momentree.backends import Block, RowArray, Rows
from momentree.backends.products import Product
from momentree.moments._base import BaseMoments, chunks, pairs_of
from momentree.moments._operators import symmetric
from momentree.moments.pairs import PAIR_COLUMNS, PairProducts, unpacked


@dataclass(frozen=True)
class _Kernel:
    """A sum over rows with the weights r and the count per token u, a number or a row array."""

    u: float

    def _u(self, u: tuple[Floats, ...]) -> Floats | float:
        return u[0] if u else self.u


class ColumnTerms(_Kernel):
    """sum r1 x, sum r2 u x and sum r3 u^2 x, shape (d, 3)."""

    def __call__(self, B: Block, r: Floats, *u: Floats) -> Floats:
        """Return the sums of a block."""
        one = self._u(u)
        return B.tdot(np.stack([r[:, 0], r[:, 1] * one, r[:, 2] * one * one], axis=1), out=B.total)


@dataclass(frozen=True, eq=False)
class SecondMoment:
    """X^T (r2 * (X V)), shape (d,) or (d, m)."""

    V: Floats

    def __call__(self, B: Block, r: Floats) -> Floats:
        """Return the product of a block."""
        return B.gram(self.V, r[:, 1], out=B.total)


@dataclass(frozen=True, eq=False)
class WeightedWords(_Kernel):
    """X^T (r3 u z) for some columns of the scores z, shape (d, m)."""

    columns: slice

    def __call__(self, B: Block, Z: Floats, r: Floats, *u: Floats) -> Floats:
        """Return the product of a block."""
        weight = r[:, 2] * self._u(u)
        return B.tdot(weight[:, None] * Z[:, self.columns], out=B.total)


@dataclass(frozen=True, eq=False)
class PairSums(_Kernel):
    """X^T (r3 (z_a z_b - u X P_ab)) for some pairs a, b, shape (d, m)."""

    a: Ints
    b: Ints
    P: Floats

    def __call__(self, B: Block, Z: Floats, r: Floats, *u: Floats) -> Floats:
        """Return the sums of a block."""
        r3 = r[:, 2, None]
        pairs = r3 * Z[:, self.a] * Z[:, self.b]
        if u or self.u:
            weight = r[:, 2] * self._u(u)
            pairs -= weight[:, None] * B.dot(self.P)
        return B.tdot(pairs, out=B.total)


@dataclass(frozen=True)
class Cubes:
    """sum r3 z_a z_b z_c for a >= b, c, shape (k, k, k); the others follow by symmetry."""

    def __call__(self, B: Block, Z: Floats, r: Floats) -> Floats:  # noqa: ARG002
        """Return the sums of a block."""
        k = Z.shape[1]
        weighted = r[:, 2, None] * Z
        out = np.zeros((k, k, k))
        for a in range(k):
            part = Z[:, : a + 1]
            out[a, : a + 1, : a + 1] = part.T @ (weighted[:, a, None] * part)
        return out


class FactorialMoments(BaseMoments):
    """Compute M1, M2, M3 of counts, corrected for words paired with themselves.

    With r1, r2, r3 the weights of rows x, and u the count per token (1 for unscaled counts),

        M1 = sum r1 x,     M2 = sum r2 (x x^T - u diag(x)),
        M3[a, b, c] = sum r3 x_a (x_b - u [a = b]) (x_c - u [a = c] - u [b = c]).

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Counts.
    row_weights : row array of shape (n, 3)
        r1, r2, r3, all >= 0.
    count_per_token : row array of shape (n,) or float, default=1.0
        u, the value of one occurrence of a word in each row: 1 for counts, 0 for raw moments,
        another value for scaled counts.

    Notes
    -----
    The d x d x d tensor is never formed. Time O(nnz) for M2 v, O(nnz k^2) for the slices,
    O(nnz k + n k^3 + d k^3) for the tensor; memory O(d k^2 + n k).
    """

    def __init__(
        self, rows: Rows, row_weights: RowArray, count_per_token: RowArray | float = 1.0
    ) -> None:
        self._rows, self._r = rows, row_weights
        constant = isinstance(count_per_token, (int, float))
        self._u = float(count_per_token) if constant else 1.0
        self._given = (row_weights,) if constant else (row_weights, count_per_token)

    @cached_property
    def _column_terms(self) -> Floats:
        # One pass computes M1 and the column sums of the diagonal corrections.
        return self._rows.sum(ColumnTerms(self._u), *self._given)

    @property
    def _s3(self) -> Floats:
        return np.asarray(self._column_terms[:, 2])

    @property
    def has_triples(self) -> bool:
        """Whether any document has the three words required for M3."""
        return bool(self._rows.total(self._r)[2] > 0)

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return np.asarray(self._column_terms[:, 0])

    @property
    def m2(self) -> LinearOperator:
        """M2 v = X^T (r2 * (X v)) - s2 * v as an operator of shape (d, d)."""
        s2 = self._column_terms[:, 1]
        if self._rows.few_rounds and self._d <= PAIR_COLUMNS:
            return aslinearoperator(self._pairs - np.diag(s2))

        def matmat(V: Floats) -> Floats:
            V = np.asarray(V, dtype=np.float64)
            product = self._rows.sum(SecondMoment(V), self._r)
            return np.asarray(product - (s2 if V.ndim == 1 else s2[:, None]) * V)

        return symmetric(self._d, matmat)

    @cached_property
    def _pairs(self) -> Floats:
        """Sum r2 x x^T, shape (d, d), in one pass."""
        return unpacked(self._rows.sum(PairProducts(), self._r))

    @property
    def _d(self) -> int:
        return self._rows.shape[1]

    def _slices(self, W: Floats) -> Floats:
        # With z = W x and P_ab = w_a * w_b, for all pairs a <= b,
        #   H_ab = X^T (r3 (z_a z_b - u X P_ab)) - w_a * X^T(r3 u z_b) - w_b * X^T(r3 u z_a)
        #          + 2 s3 * P_ab.
        k, d = W.shape
        Z = self._scores(W)
        Xz = self._weighted_words(Z, k)
        H = np.empty((d, k, k))
        for a, b in pairs_of(k):
            P = (W[a] * W[b]).T
            pairs = self._rows.sum(PairSums(self._u, a, b, P), Z, *self._given)
            pairs += 2.0 * self._s3[:, None] * P - W[a].T * Xz[:, b] - W[b].T * Xz[:, a]
            H[:, a, b] = H[:, b, a] = pairs
        return H

    def _tensor(self, W: Floats) -> Floats:
        # With z = W x, V = X^T (r3 u z) and P_bc = w_b * w_c,
        #   T_abc = sum r3 z_a z_b z_c - (V_a . P_bc + V_b . P_ac + V_c . P_ab)
        #           + 2 (s3 * w_a) . P_bc.
        k = W.shape[0]
        Z = self._scores(W)
        V = self._weighted_words(Z, k)
        cube = self._rows.sum(Cubes(), Z, self._r)
        T = np.empty((k, k, k))
        for a in range(k):
            T[a] = W[a, None] * W @ (2.0 * self._s3[:, None] * W.T)
        C = np.stack([(W * V[:, a]) @ W.T for a in range(k)])
        low, middle, high = np.sort(np.indices((k, k, k)), axis=0)
        T += cube[high, middle, low]
        T -= C + C.transpose(1, 0, 2) + C.transpose(1, 2, 0)
        return T

    def _scores(self, W: Floats) -> RowArray:
        """Return z = W x of every row, shape (n, k)."""
        return self._rows.map(Product(np.ascontiguousarray(W.T)))

    def _weighted_words(self, Z: RowArray, k: int) -> Floats:
        """Return X^T (r3 u z), shape (d, k)."""
        each = [WeightedWords(self._u, columns) for columns in chunks(k)]
        return np.hstack([self._rows.sum(kernel, Z, *self._given) for kernel in each])
