"""Factorial moments as sums over rows: the kernels that every model for counts shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from momentree._validation import check_map
from momentree.backends import Block, RowBlocks
from momentree.moments._symmetric import symmetric

__all__ = ["FactorialMoments"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

COLUMNS_AT_ONCE = 16
"""Columns of slices in one pass over the data: wider products are no faster a column, and each
thread holds a sum of d rows of them."""


class FactorialMoments:
    """Hold M1, M2, M3 of counts, weighted by row and corrected for words that pair with themselves.

    With r1, r2, r3 the weights of rows x,

        M1 = sum r1 x,     M2 = sum r2 (x x^T - diag(x)),
        M3[a, b, c] = sum r3 x_a (x_b - [a = b]) (x_c - [a = c] - [b = c]).

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Counts.
    row_weights : ndarray of shape (3, n)
        r1, r2, r3.
    unit : ndarray of shape (n,) or float, default=1.0
        What one word counts in each document; x - 1 and x - 2 above become x - unit, x - 2 unit.

    Attributes
    ----------
    m1 : ndarray of shape (d,)
        M1.
    m2 : LinearOperator of shape (d, d)
        M2, symmetric.

    Notes
    -----
    The d x d x d tensor is never formed. Time O(nnz) for M2 v, O(nnz k^2) for the slices,
    O(nnz k + n k^3 + d k^3) for the tensor; memory O(d k^2 + n k).
    """

    def __init__(self, rows: RowBlocks, row_weights: Floats, unit: Floats | float = 1.0) -> None:
        self._rows = rows
        r1, self._r2, self._r3 = row_weights
        self._r3u = self._r3 * unit
        # One pass gives M1 and the column sums that the diagonal corrections need.
        right = np.stack([r1, self._r2 * unit, self._r3u * unit], axis=1)
        sums = rows.sum(lambda B: B.tdot(right[B.at]))
        self._s1, self._s2, self._s3 = sums.T

    @property
    def has_triples(self) -> bool:
        """Whether any document has the three words that M3 needs."""
        return bool(self._r3.any())

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return np.asarray(self._s1)

    @property
    def m2(self) -> LinearOperator:
        """M2 v = X^T (r2 * (X v)) - s2 * v as an operator of shape (d, d)."""
        d = self._rows.shape[1]

        def matmat(V: Floats) -> Floats:
            V = np.asarray(V, dtype=np.float64)
            r2 = self._r2 if V.ndim == 1 else self._r2[:, None]
            s2 = self._s2 if V.ndim == 1 else self._s2[:, None]
            product = self._rows.sum(lambda B: B.tdot(r2[B.at] * B.dot(V)))
            return np.asarray(product - s2 * V)

        return symmetric(d, matmat)

    def whitened_slices(self, W: ArrayLike) -> Floats:
        """Return H[r] = W M3[r] W^T, the slices of M3 whitened in two modes (H eq. 3).

        With z = W x and P_ab = w_a * w_b,

            H_ab = X^T (r3 (z_a z_b - X P_ab)) - w_a * X^T(r3 z_b) - w_b * X^T(r3 z_a)
                   + 2 s3 * P_ab.

        Parameters
        ----------
        W : array-like of shape (k, d)
            Whitening map.

        Returns
        -------
        ndarray of shape (d, k, k)
            Symmetric in its last two axes. Time O(nnz k^2), memory O(d k^2 + n k).

        Raises
        ------
        InvalidDataError
            If W has not a column for each feature.
        """
        W = check_map(W, self._rows.shape[1])
        k, d = W.shape
        Z = self._scores(W)
        Xz = self._weighted_words(Z)
        r3, r3u = self._r3[:, None], self._r3u[:, None]
        corrected = bool(self._r3u.any())
        H = np.empty((d, k, k))
        pairs_a, pairs_b = np.triu_indices(k)
        for at in range(0, len(pairs_a), COLUMNS_AT_ONCE):
            a, b = pairs_a[at : at + COLUMNS_AT_ONCE], pairs_b[at : at + COLUMNS_AT_ONCE]
            P = (W[a] * W[b]).T

            def kernel(B: Block, a: Ints = a, b: Ints = b, P: Floats = P) -> Floats:
                z = Z[B.at]
                pairs = r3[B.at] * z[:, a] * z[:, b]
                if corrected:
                    pairs -= r3u[B.at] * B.dot(P)
                return B.tdot(pairs)

            pairs = self._rows.sum(kernel)
            pairs += 2.0 * self._s3[:, None] * P - W[a].T * Xz[:, b] - W[b].T * Xz[:, a]
            H[:, a, b] = H[:, b, a] = pairs
        return H

    def whitened_tensor(self, W: ArrayLike) -> Floats:
        """Return T = M3(W, W, W), M3 whitened in all three modes.

        With z = W x, V = X^T (r3 z) and P_bc = w_b * w_c,

            T_abc = sum r3 z_a z_b z_c - (V_a . P_bc + V_b . P_ac + V_c . P_ab)
                    + 2 (s3 * w_a) . P_bc.

        Parameters
        ----------
        W : array-like of shape (k, d)
            Whitening map.

        Returns
        -------
        ndarray of shape (k, k, k)
            Symmetric; it is sum_r W_ar H[r]_bc, without the d slices. Time
            O(nnz k + n k^3 + d k^3) in dense products, memory O(k^3 + (n + d) k).

        Raises
        ------
        InvalidDataError
            If W has not a column for each feature.
        """
        W = check_map(W, self._rows.shape[1])
        k = W.shape[0]
        Z = self._scores(W)
        V = self._weighted_words(Z)

        def cubes(B: Block) -> Floats:
            z = Z[B.at]
            zr = self._r3[B.at, None] * z
            out = np.zeros((k, k, k))
            for a in range(k):  # only a >= b, c: the rest is the same by symmetry
                part = z[:, : a + 1]
                out[a, : a + 1, : a + 1] = part.T @ (zr[:, a, None] * part)
            return out

        cube = self._rows.sum(cubes)
        T = np.empty((k, k, k))
        for a in range(k):
            T[a] = W[a, None] * W @ (2.0 * self._s3[:, None] * W.T)
        C = np.stack([(W * V[:, a]) @ W.T for a in range(k)])
        low, middle, high = np.sort(np.indices((k, k, k)), axis=0)
        T += cube[high, middle, low]
        T -= C + C.transpose(1, 0, 2) + C.transpose(1, 2, 0)
        return T

    def _scores(self, W: Floats) -> Floats:
        """Return z = W x of every row, shape (n, k)."""
        right = np.ascontiguousarray(W.T)
        return self._rows.map(lambda B: B.dot(right))

    def _weighted_words(self, Z: Floats) -> Floats:
        """Return X^T (r3 u z), shape (d, k)."""
        r3u = self._r3u[:, None]

        def some(columns: slice) -> Floats:
            return self._rows.sum(lambda B: B.tdot(r3u[B.at] * Z[B.at, columns]))

        cuts = range(0, Z.shape[1], COLUMNS_AT_ONCE)
        return np.hstack([some(slice(at, at + COLUMNS_AT_ONCE)) for at in cuts])

    def m3_dense(self) -> Floats:
        """Return M3 as an array of shape (d, d, d), for small d; memory O(d^3)."""
        return self.whitened_slices(np.eye(self._rows.shape[1]))
