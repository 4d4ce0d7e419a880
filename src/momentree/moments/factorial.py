"""Factorial moments of counts as sums over rows: kernels shared by S Theorem 1 and others."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats, Ints
from momentree.backends import Block, RowBlocks
from momentree.moments._base import BaseMoments, chunks, pairs_of
from momentree.moments._operators import symmetric


class FactorialMoments(BaseMoments):
    """Compute M1, M2, M3 of counts, corrected for words paired with themselves.

    With r1, r2, r3 the weights of rows x, and u the count per token (1 for unscaled counts),

        M1 = sum r1 x,     M2 = sum r2 (x x^T - u diag(x)),
        M3[a, b, c] = sum r3 x_a (x_b - u [a = b]) (x_c - u [a = c] - u [b = c]).

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Counts.
    row_weights : ndarray of shape (3, n)
        r1, r2, r3.
    count_per_token : ndarray of shape (n,) or float, default=1.0
        u, the value of one occurrence of a word in each row: 1 for counts, 0 for raw moments,
        another value for scaled counts.

    Notes
    -----
    The d x d x d tensor is never formed. Time O(nnz) for M2 v, O(nnz k^2) for the slices,
    O(nnz k + n k^3 + d k^3) for the tensor; memory O(d k^2 + n k).
    """

    def __init__(
        self, rows: RowBlocks, row_weights: Floats, count_per_token: Floats | float = 1.0
    ) -> None:
        self._rows = rows
        r1, self._r2, self._r3 = row_weights
        self._r3u = self._r3 * count_per_token
        # One pass computes M1 and the column sums of the diagonal corrections.
        right = np.stack([r1, self._r2 * count_per_token, self._r3u * count_per_token], axis=1)
        sums = rows.sum(lambda B: B.tdot(right[B.at]))
        self._s1, self._s2, self._s3 = sums.T

    @property
    def has_triples(self) -> bool:
        """Whether any document has the three words required for M3."""
        return bool(self._r3.any())

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return np.asarray(self._s1)

    @property
    def m2(self) -> LinearOperator:
        """M2 v = X^T (r2 * (X v)) - s2 * v as an operator of shape (d, d)."""

        def matmat(V: Floats) -> Floats:
            V = np.asarray(V, dtype=np.float64)
            r2 = self._r2 if V.ndim == 1 else self._r2[:, None]
            s2 = self._s2 if V.ndim == 1 else self._s2[:, None]
            product = self._rows.sum(lambda B: B.tdot(r2[B.at] * B.dot(V)))
            return np.asarray(product - s2 * V)

        return symmetric(self._d, matmat)

    @property
    def _d(self) -> int:
        return self._rows.shape[1]

    def _slices(self, W: Floats) -> Floats:
        # With z = W x and P_ab = w_a * w_b, for all pairs a <= b,
        #   H_ab = X^T (r3 (z_a z_b - u X P_ab)) - w_a * X^T(r3 u z_b) - w_b * X^T(r3 u z_a)
        #          + 2 s3 * P_ab.
        k, d = W.shape
        Z = self._scores(W)
        Xz = self._weighted_words(Z)
        r3, r3u = self._r3[:, None], self._r3u[:, None]
        corrected = bool(self._r3u.any())
        H = np.empty((d, k, k))
        for a, b in pairs_of(k):
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

    def _tensor(self, W: Floats) -> Floats:
        # With z = W x, V = X^T (r3 u z) and P_bc = w_b * w_c,
        #   T_abc = sum r3 z_a z_b z_c - (V_a . P_bc + V_b . P_ac + V_c . P_ab)
        #           + 2 (s3 * w_a) . P_bc.
        k = W.shape[0]
        Z = self._scores(W)
        V = self._weighted_words(Z)

        def cubes(B: Block) -> Floats:
            z = Z[B.at]
            zr = self._r3[B.at, None] * z
            out = np.zeros((k, k, k))
            for a in range(k):  # only a >= b, c; the others follow by symmetry
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

        return np.hstack([some(columns) for columns in chunks(Z.shape[1])])
