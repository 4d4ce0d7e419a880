"""Rows that are functions of other rows, computed block by block and never stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momentree._types import Floats
from momentree.backends.block import Block
from momentree.backends.rows import BLOCK_NNZ, RowBlocks

_NONE: Any = np.zeros(0)


class LiftedRows(RowBlocks):
    """Functions of the rows of a table, for sums and products with them.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Rows.
    lift : callable
        Maps a dense array (m, d) of rows to their functions, an array (m, p).
    n_columns : int
        p.

    Notes
    -----
    Memory beyond X: one block of at most 262,144 lifted values per thread, 2 MB, or one row.
    """

    def __init__(self, X: Any, lift: Callable[[Floats], Floats], n_columns: int) -> None:
        n = X.shape[0]
        rows = max(1, BLOCK_NNZ // max(1, n_columns))
        super().__init__(X, max(1, rows * max(1, X.nnz // max(1, n))))
        self._lift = lift
        self.shape = (n, n_columns)

    def for_products(self, n_columns: int) -> RowBlocks:  # noqa: ARG002 - blocks are dense
        """Return these rows."""
        return self

    def _block(self, at: slice) -> Block:
        values = self._lift(self._X[at].toarray().astype(np.float64, copy=False))
        return Block(at, _NONE, _NONE, _NONE, self.shape[1], values)
