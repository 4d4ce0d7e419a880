"""Sums over the rows of a sparse matrix as sums over row blocks, the same for any thread count.

Every statistic that reads data is a sum of one kernel over blocks of rows. The cuts between blocks
and the order of the additions depend only on the data.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse import _sparsetools

from momentree._sparse import as_csr
from momentree._types import Floats, Ints
from momentree._validation import check_integer
from momentree.backends.base import Kernel, RowArray, Rows
from momentree.backends.block import Block
from momentree.backends.threads import run
from momentree.exceptions import InvalidDataError

BLOCK_NNZ = 1 << 18
"""Stored values per block: 3 MB as float64 with indices, which fits in the cache."""
ROWS_PER_TASK = 4096
"""Copies of fewer rows are not distributed over threads."""
N_CHAINS = 16
"""Blocks are summed in this many chains for any number of threads, which fixes the order of
additions and limits the useful number of threads."""


FULL = 1 / 12
"""Fraction of nonzero values from which dense products take less time than sparse ones, measured
with eight columns or more."""
DENSE_COLUMNS = 8
DENSE_VALUES = 1 << 24
"""Values of a dense copy, at most: 128 MB."""


class RowBlocks(Rows):
    """Rows of a sparse matrix, processed block by block in double precision.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_rows, n_columns)
        Any numeric type. CSR is not copied; each block is converted to float64 only while a
        kernel uses it.
    block_nnz : int, default=None
        Stored values per block; None is 262,144 or four times the number of columns, whichever is
        larger. Results agree for any value up to rounding.

    Attributes
    ----------
    shape : tuple of int
        (n_rows, n_columns).

    Notes
    -----
    Memory beyond X: one block and one partial sum per thread, and the total.
    """

    def __init__(self, X: Any, block_nnz: int | None = None) -> None:
        self._hold(as_csr(X), block_nnz)

    def _hold(self, X: Any, block_nnz: int | None) -> None:
        """Set the attributes from a CSR array whose structure is sound."""
        check_integer("block_nnz", block_nnz, at_least=1, optional=True)
        self._X = X
        self.shape: tuple[int, int] = (int(self._X.shape[0]), int(self._X.shape[1]))
        n, d = self.shape
        self._block_nnz = block_nnz
        self._full = bool(X.nnz == n * d and X.has_canonical_format)
        # A partial sum has d rows: blocks grow with d, so that additions stay cheap.
        size = max(BLOCK_NNZ, 4 * d) if block_nnz is None else block_nnz
        indptr = self._X.indptr
        cuts = np.searchsorted(indptr, np.arange(size, int(indptr[-1]), size), side="left")
        self._cuts = np.unique(np.concatenate(([0], cuts, [n]))).astype(np.intp)
        self._dense: dict[int, Floats] = {}  # by the first row of a block
        self._only: Block | None = None  # if there is only one, kept for small data

    @property
    def matrix(self) -> Any:
        """The rows as a CSR array, not copied."""
        return self._X

    def for_products(self, n_columns: int) -> RowBlocks:
        """Return the same rows in the form for many products with matrices.

        Parameters
        ----------
        n_columns : int
            Number of columns of these matrices.

        Returns
        -------
        RowBlocks
            With a dense copy of the rows if at least a twelfth of the values are not zero, there
            are at most 16 million, and eight columns or more; otherwise this object. Results agree
            up to rounding.
        """
        n, d = self.shape
        few_zeros = FULL * n * d <= self._X.nnz and 0 < n * d <= DENSE_VALUES
        if self._full or self._dense or not few_zeros or n_columns < DENSE_COLUMNS:
            return self
        held = object.__new__(RowBlocks)
        held._hold(self._X, self._block_nnz)
        for a, b in pairwise(self._cuts):
            held._dense[int(a)] = self._X[a:b].toarray().astype(np.float64, copy=False)
        return held

    def take(self, rows: Ints) -> RowBlocks:
        """Return a copy of some rows.

        Parameters
        ----------
        rows : ndarray of intp
            Row numbers.

        Returns
        -------
        RowBlocks
            The rows, in the given order.
        """
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.shape[0]:
            raise InvalidDataError(
                "no_such_rows",
                first=int(rows.min()),
                last=int(rows.max()),
                most=self.shape[0] - 1,
            )
        part = object.__new__(RowBlocks)
        part._hold(self._rows(rows), self._block_nnz)
        if "row_sums" in self.__dict__:  # already computed
            part.row_sums = self.row_sums[rows]
        return part

    def _rows(self, rows: Ints) -> Any:
        """Return a copy of rows as a CSR array, using several threads."""
        X = self._X
        lengths = np.diff(X.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, dtype=X.indptr.dtype)
        np.cumsum(lengths, out=indptr[1:])
        data, indices = np.empty(indptr[-1], X.data.dtype), np.empty(indptr[-1], X.indices.dtype)
        rows = rows.astype(X.indptr.dtype, copy=False)
        ends = np.linspace(0, len(rows), min(N_CHAINS, len(rows) // ROWS_PER_TASK + 1) + 1).astype(
            int
        )

        def copy(i: int) -> None:
            a, b = ends[i], ends[i + 1]
            at = slice(indptr[a], indptr[b])
            _sparsetools.csr_row_index(
                b - a, rows[a:b], X.indptr, X.indices, X.data, indices[at], data[at]
            )

        for _ in run(copy, len(ends) - 1):
            pass
        part = sp.csr_array((data, indices, indptr), shape=(len(rows), self.shape[1]))
        part.has_canonical_format = X.has_canonical_format
        return part

    def sum(self, kernel: Kernel, *arrays: RowArray) -> Floats:
        """Return the sum of a kernel over all blocks; see :meth:`Rows.sum`."""
        chains = self._chains

        def add_chain(i: int) -> Floats:
            first, *rest = chains[i]
            total = self._apply(kernel, first, arrays)
            for at in rest:
                total += self._apply(kernel, at, arrays)
            return total

        parts = run(add_chain, len(chains))
        total = next(parts)
        for part in parts:
            total += part
        return total

    def map(self, kernel: Kernel, *arrays: RowArray) -> Floats:
        """Return the results of a kernel for all rows; see :meth:`Rows.map`."""
        chains = self._chains

        def map_chain(i: int) -> Floats:
            return np.concatenate([self._apply(kernel, at, arrays) for at in chains[i]])

        return np.concatenate(list(run(map_chain, len(chains))))

    def placed(self, values: RowArray) -> RowArray:
        """Return the array itself: it is where the rows are."""
        return np.asarray(values)

    def _apply(self, kernel: Kernel, at: slice, arrays: tuple[RowArray, ...]) -> Floats:
        return kernel(self._block(at), *(values[at] for values in arrays))

    def _block(self, at: slice) -> Block:
        if self._only is not None:
            return self._only
        X = self._X
        start, stop = X.indptr[at.start], X.indptr[at.stop]
        data = X.data[start:stop].astype(np.float64, copy=False)
        indptr = X.indptr[at.start : at.stop + 1] - start
        shape = (at.stop - at.start, self.shape[1])
        dense = data.reshape(shape) if self._full else self._dense.get(at.start)
        block = Block(at, data, X.indices[start:stop], indptr, self.shape[1], dense)
        if data.base is not None and len(self._cuts) == 2:  # no copy is kept
            self._only = block
        return block

    @cached_property
    def _chains(self) -> list[list[slice]]:
        blocks = [slice(int(a), int(b)) for a, b in pairwise(self._cuts)]
        blocks = blocks or [slice(0, 0)]
        ends = np.linspace(0, len(blocks), min(N_CHAINS, len(blocks)) + 1).astype(int)
        return [blocks[a:b] for a, b in pairwise(ends)]
