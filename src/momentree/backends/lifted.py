"""Rows of statistics that are computed from dense rows, one block at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.backends.block import Block, DenseBlock
from momentree.backends.rows import MAX_DENSE_VALUES, RowBlocks

BLOCK_VALUES = 1 << 18
"""Statistics per block: 2 MB."""
NO_INDICES = np.empty(0, dtype=np.intp)


class LiftedRows(RowBlocks):
    """Rows of statistics t(x) of dense rows x.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, d)
        The rows x.
    lift : callable
        Maps rows (m, d) to their statistics (m, n_columns), a new array.
    n_columns : int
        Number of statistics.

    Notes
    -----
    Up to 16 million statistics are kept (128 MB); more are computed again for each pass over the
    data, so memory beyond Z is one block per thread.
    """

    def __init__(self, Z: Floats, lift: Callable[[Floats], Floats], n_columns: int) -> None:
        self.dense = np.ascontiguousarray(Z)
        self._lift = lift
        n = len(Z)
        self.shape = (n, n_columns)
        step = max(1, max(BLOCK_VALUES, 4 * n_columns) // max(n_columns, 1))
        self._blocks = [slice(i, min(i + step, n)) for i in range(0, max(n, 1), step)]
        self._kept: dict[int, Block] = {}

    @property
    def kept(self) -> bool:
        """Whether statistics are kept."""
        return self.shape[0] * self.shape[1] <= MAX_DENSE_VALUES

    @property
    def nnz(self) -> int:
        """Number of statistics."""
        return self.shape[0] * self.shape[1]

    @property
    def matrix(self) -> Any:
        """All statistics as a CSR array, a copy."""
        return sp.csr_array(self._lift(self.dense))

    def lifted(self, rows: Ints) -> Floats:
        """Return the statistics of some rows.

        Parameters
        ----------
        rows : ndarray of intp
            Row numbers.

        Returns
        -------
        ndarray of shape (len(rows), n_columns)
            The statistics.
        """
        return self._lift(self.dense[rows])

    def for_products(self, n_columns: int) -> RowBlocks:  # noqa: ARG002
        """Return this object: products are dense already."""
        return self

    def take(self, rows: Ints) -> RowBlocks:
        """Return some rows, in the given order."""
        return LiftedRows(self.dense[rows], self._lift, self.shape[1])

    def _block(self, at: slice) -> Block:
        found = self._kept.get(at.start)
        if found is None:
            values = self._lift(self.dense[at])
            found = DenseBlock(at, values.ravel(), NO_INDICES, NO_INDICES, self.shape[1], values)
            if self.kept:
                self._kept[at.start] = found
        return found
