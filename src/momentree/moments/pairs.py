"""Sums over all pairs of columns, kept as the upper triangle of a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats
from momentree.backends import Block

DENSE = 1 / 12
"""Fraction of nonzero values from which dense products take less time."""


@dataclass(frozen=True)
class WeightedGram:
    """Kernel X^T diag(r) X, as a dense matrix: O(sum of squared row lengths)."""

    n_columns: int

    def __call__(self, B: Block, r: Floats) -> Floats:
        """Return the products of all pairs of columns of a block."""
        data, indices, indptr = B.csr
        X = sp.csr_array((data, indices, indptr), shape=(len(r), self.n_columns))
        if X.nnz > DENSE * len(r) * self.n_columns:
            dense = X.toarray()
            return np.asarray(dense.T @ (dense * r[:, None]))
        weighted = sp.csr_array((data * np.repeat(r, np.diff(indptr)), indices, indptr), X.shape)
        return np.asarray((X.T @ weighted).toarray())


def packed(whole: Floats) -> Floats:
    """Return the upper triangle of a symmetric matrix, row by row, shape (d (d + 1) / 2,)."""
    return np.asarray(whole[np.triu_indices(len(whole))])


def unpacked(triangle: Floats) -> Floats:
    """Return the matrix of an upper triangle, shape (d, d)."""
    d = round((np.sqrt(8 * len(triangle) + 1) - 1) / 2)
    a, b = np.triu_indices(d)
    whole = np.empty((d, d))
    whole[a, b] = whole[b, a] = triangle
    return whole


def diagonal_places(d: int) -> Any:
    """Return the positions of the diagonal in an upper triangle, shape (d,)."""
    return np.concatenate([[0], np.cumsum(np.arange(d, 1, -1))])
