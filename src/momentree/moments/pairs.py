"""M2 in one pass: sums over all pairs of columns, kept as the upper triangle of a matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats
from momentree.backends import Block, kernels

PAIR_COLUMNS = 1024
"""Up to this d, M2 is d (d + 1) / 2 numbers, 4 MB at most."""
DENSE = 1 / 12
"""Fraction of nonzero values from which dense products take less time."""


@kernels.kernel
@dataclass(frozen=True)
class PairProducts:
    """X^T diag(r2) X, the upper triangle row by row: O(sum of squared row lengths)."""

    def __call__(self, B: Block, r: Floats) -> Floats:
        """Return the sums of a block, shape (d (d + 1) / 2,)."""
        X = sp.csr_array(B.csr, shape=B.shape)
        weight = r[:, 1]
        if X.nnz > DENSE * X.shape[0] * X.shape[1]:
            dense = X.toarray()
            whole = dense.T @ (dense * weight[:, None])
        else:
            whole = (X.T @ (sp.diags_array(weight) @ X)).toarray()
        return np.asarray(whole[np.triu_indices(len(whole))])

    def suppressed(
        self, total: Floats, min_count: int, ask: Callable[[Any], Floats]
    ) -> tuple[Floats, int]:
        """Treat pairs of columns that few rows share as pairs that none does; count them."""
        n_rows = ask(PairRows())
        small = (n_rows > 0) & (n_rows < min_count)
        return np.where(small, 0.0, total), int(np.count_nonzero(small))


@dataclass(frozen=True)
class PairRows:
    """The number of rows that have both columns of each pair."""

    def __call__(self, B: Block, r: Floats) -> Floats:
        """Return the numbers of a block."""
        ones = B.with_data((B.csr[0] != 0).astype(np.float64))
        return PairProducts()(ones, np.ones((len(r), 2)))


def unpacked(triangle: Floats) -> Floats:
    """Return the matrix of an upper triangle, shape (d, d)."""
    d = round((np.sqrt(8 * len(triangle) + 1) - 1) / 2)
    a, b = np.triu_indices(d)
    whole = np.empty((d, d))
    whole[a, b] = whole[b, a] = triangle
    return whole
