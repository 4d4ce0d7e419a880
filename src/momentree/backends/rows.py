"""Sums over the rows of a sparse matrix as sums over row blocks, the same for any thread count.

Every statistic that reads data is a sum of one kernel over blocks of rows. The cuts between blocks
and the order of the additions depend only on the data.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse import _sparsetools

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_shape
from momentree.backends.base import Kernel, OfDerived, RowArray, Rows, count_pass
from momentree.backends.block import Block, DenseBlock
from momentree.backends.kernels import block_type
from momentree.backends.products import MAX_LISTED
from momentree.backends.threads import MAX_CHAINS, blocks_of, chains_of, n_chains, run
from momentree.core import pages, progress, sparse
from momentree.exceptions import InvalidDataError

log = logging.getLogger("momentree.backends")

ROWS_PER_TASK = 4096
"""Copies of fewer rows are not distributed over threads."""
FULL = 1 / 12
"""Fraction of nonzero values from which dense products take less time than sparse ones, measured
with eight columns or more."""
MIN_DENSE_COLUMNS = 8
MAX_DENSE_VALUES = 1 << 24
"""Values of a dense copy, at most: 128 MB."""


class RowBlocks(Rows):
    """Rows of a sparse matrix, processed block by block in double precision.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_rows, n_columns)
        Any numeric type. CSR is not copied; compiled kernels read the values as they are stored.
    block_nnz : int, default=None
        Stored values per block; None is an eighth of all, within limits, or four times the number
        of columns if that is more. Results agree for any value up to rounding.
    values : array-like of shape (n_values,), default=None
        If given, X contains whole numbers from 0 to below n_values, and ``values[x]`` is the value
        that x stands for; ``values[0]`` must be 0.
    row_factor : array-like of shape (n_rows,), default=None
        Factor of each row, so that the rows stand for ``row_factor[:, None] * values[X]``.

    Attributes
    ----------
    shape : tuple of int
        (n_rows, n_columns).

    Raises
    ------
    InvalidDataError
        If the structure of X is damaged, if X contains numbers that `values` does not list, or if
        the lengths do not match.

    Notes
    -----
    Memory beyond X: one block and one partial sum per thread, and the total.

    Examples
    --------
    Log-scaled counts without a copy of the counts:

    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.backends import RowBlocks
    >>> X = sp.csr_array(np.array([[0, 1, 3], [7, 0, 0]]))
    >>> RowBlocks(X, values=np.log2(1 + np.arange(8.0))).row_sums
    array([3., 3.])
    """

    is_mapped = False
    """Whether the rows are mapped from files."""
    compiled = False
    """Whether compiled kernels compute the products, rather than SciPy's functions."""

    def __init__(
        self,
        X: Any,
        block_nnz: int | None = None,
        *,
        values: ArrayLike | None = None,
        row_factor: ArrayLike | None = None,
    ) -> None:
        check_integer("block_nnz", block_nnz, at_least=1, optional=True)
        X = sparse.as_csr(X)
        table = None if values is None else _table_of(X, values)
        factor = None if row_factor is None else _factors_of(X, row_factor)
        self._hold(X, table, factor, block_nnz, block_type(X.nnz))

    def _hold(
        self,
        X: Any,
        values: Floats | None,
        row_factor: Floats | None,
        block_nnz: int | None,
        block: type[Block],
        blocks: list[slice] | None = None,
    ) -> None:
        """Set the attributes from a CSR array whose structure is sound."""
        n, d = int(X.shape[0]), int(X.shape[1])
        self._X, self._values, self._factor, self.shape = X, values, row_factor, (n, d)
        self._block_nnz, self._type = block_nnz, block
        self.compiled = block is not Block
        self.is_mapped = pages.mapped(X.data) is not None
        self._full = bool(X.nnz == n * d and X.has_canonical_format)
        self._blocks = blocks or blocks_of(X, block_nnz, compiled=self.compiled)
        self._dense: dict[int, Floats] = {}  # by the first row of a block
        self._only: Block | None = None  # if there is only one, kept for small data

    def _like(self, X: Any, values: Floats | None, row_factor: Floats | None) -> RowBlocks:
        """Return other values in the same places, processed in the same blocks and way."""
        out = object.__new__(type(self))
        out._hold(X, values, row_factor, self._block_nnz, self._type, self._blocks)
        if X is self._X and "_compact" in vars(self):
            stored, table = self._compact
            out._compact = stored, table if values is None else values
        return out

    @property
    def local(self) -> RowBlocks:
        """These rows."""
        return self

    @property
    def nnz(self) -> int:
        """Number of stored values."""
        return int(self._X.nnz)

    @property
    def content(self) -> list[Any]:
        """All arrays that the rows depend on: the matrix, the table of values, the row factors."""
        others = [np.empty(0) if one is None else one for one in (self._values, self._factor)]
        return [self._X.data, self._X.indices, self._X.indptr, *others]

    @property
    def matrix(self) -> Any:
        """The rows as a CSR array, not copied; in single precision if they stand for others."""
        if self._values is None and self._factor is None:
            return self._X
        return self.with_values(lambda B: B.csr[0]).matrix

    def with_values(self, function: Callable[[Block], Floats]) -> RowBlocks:
        """Return a copy of the rows with other values, in single precision.

        Parameters
        ----------
        function : callable
            Returns the new values of a block, in the order of ``Block.csr``.

        Returns
        -------
        RowBlocks
            Rows with the same sparsity pattern, whose indices are not copied.
        """
        X = self._X
        data = np.empty(X.nnz, dtype=np.float32)
        for at in self._blocks:
            data[X.indptr[at.start] : X.indptr[at.stop]] = function(self._block(at))
        new = sp.csr_array((data, X.indices, X.indptr), shape=X.shape, copy=False)
        if not self.is_mapped:
            new.has_canonical_format = X.has_canonical_format
        return self._like(new, None, None)

    @property
    def has_table_of_values(self) -> bool:
        """Whether :meth:`mapped` needs only a table: whole numbers from 0 to 65,535 are stored."""
        plain = self._values is None and self._factor is None
        return plain and self._largest_whole is not None

    def mapped(self, function: Callable[[Floats], Floats]) -> RowBlocks:
        """Return rows with a function applied to each stored value.

        Parameters
        ----------
        function : callable
            Maps an array of numbers to an array of the same shape, and 0 to 0.

        Returns
        -------
        RowBlocks
            These rows with a table of values if all stored values are whole numbers from 0 to
            65,535; otherwise with a copy of the values in single precision.
        """
        largest = self._largest_whole if self.has_table_of_values else None
        if largest is None:
            return self.with_values(lambda B: function(B.csr[0]))
        table = np.asarray(function(np.arange(largest + 1.0)), dtype=np.float64)
        return self._like(self._X, table, None)

    def scaled(self, row_factor: Floats) -> RowBlocks:
        """Return rows multiplied by factors, without a copy.

        Parameters
        ----------
        row_factor : ndarray of shape (n_rows,)
            Factor of each row.

        Returns
        -------
        RowBlocks
            The products.
        """
        factor = row_factor if self._factor is None else row_factor * self._factor
        out = self._like(self._X, self._values, _factors_of(self._X, factor))
        if "row_sums" in self.__dict__:
            out.row_sums = row_factor * self.row_sums
        return out

    @cached_property
    def _largest_whole(self) -> int | None:
        """Largest stored number if all are whole, from 0 to 65,535; otherwise None."""
        low, high = getattr(self._X, "ends", None) or sparse.extent(self._X.data)
        return int(max(high, 0)) if low >= 0 and high <= MAX_LISTED and self.whole else None

    @cached_property
    def whole(self) -> bool:
        """Whether all stored values are whole numbers."""
        data = self._X.data
        return data.dtype.kind in "biu" or all(
            bool((part % 1 == 0).all()) for part in pages.in_parts(data, always=True)
        )

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
        few_zeros = FULL * n * d <= self._X.nnz and 0 < n * d <= MAX_DENSE_VALUES
        if self._full or self._dense or not few_zeros or n_columns < MIN_DENSE_COLUMNS:
            return self
        held = self._like(self._X, self._values, self._factor)
        for at in self._blocks:
            shape = (at.stop - at.start, d)
            held._dense[at.start] = sp.csr_array(self._block(at).csr, shape=shape).toarray()
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
                "[no_such_rows] rows {first} to {last} were requested; expected row numbers from 0 "
                "to {most}",
                first=int(rows.min()),
                last=int(rows.max()),
                most=self.shape[0] - 1,
            )
        if self.is_mapped and (np.diff(rows) < 0).any():
            # A file is read from its beginning to its end, and its rows are put in order in memory.
            there, at = np.unique(rows, return_inverse=True)
            return self.take(there).take(at)
        part = object.__new__(type(self))
        factor = None if self._factor is None else pages.picked(self._factor, rows)
        part._hold(self._rows(rows), self._values, factor, self._block_nnz, self._type)
        if "row_sums" in self.__dict__:  # already computed
            part.row_sums = pages.picked(self.row_sums, rows)
        return part

    def _rows(self, rows: Ints) -> Any:
        """Return a copy of rows as a CSR array, using several threads."""
        X = self._X
        starts = pages.picked(X.indptr, rows)
        lengths = pages.picked(X.indptr, rows + 1) - starts
        indptr = np.zeros(len(rows) + 1, dtype=X.indptr.dtype)
        np.cumsum(lengths, out=indptr[1:])
        data, indices = np.empty(indptr[-1], X.data.dtype), np.empty(indptr[-1], X.indices.dtype)
        rows = rows.astype(X.indptr.dtype, copy=False)
        if self.is_mapped:
            tasks = list(pages.windows(X.indices, starts))
        else:
            n_tasks = min(MAX_CHAINS, len(rows) // ROWS_PER_TASK + 1)
            ends = np.linspace(0, len(rows), n_tasks + 1).astype(int)
            tasks = [slice(a, b) for a, b in pairwise(ends)]

        def copy(i: int) -> None:
            part = tasks[i]
            some, at = rows[part], slice(indptr[part.start], indptr[part.stop])
            _sparsetools.csr_row_index(
                len(some), some, X.indptr, X.indices, X.data, indices[at], data[at]
            )
            if self.is_mapped:
                pages.release_at(X.indptr, some)
                for array in (X.indices, X.data):
                    pages.release_at(array, starts[part])

        for _ in run(copy, len(tasks)):
            pass
        part = sp.csr_array((data, indices, indptr), shape=(len(rows), self.shape[1]))
        if not self.is_mapped:  # to find out, all of a file would be read
            part.has_canonical_format = X.has_canonical_format
        return part

    def sum(self, kernel: Kernel, *arrays: RowArray) -> Floats:
        """Return the sum of a kernel over all blocks; see :meth:`Rows.sum`."""
        total: Floats = self._ask(None, kernel, arrays)[1]
        return total

    def map(self, kernel: Kernel, *arrays: RowArray) -> Floats:
        """Return the results of a kernel for all rows; see :meth:`Rows.map`."""
        values: Floats = self._ask(kernel, None, arrays)[0]
        return values

    def map_and_sum(self, mapping: Any, kernel: Any, *arrays: RowArray) -> tuple[Floats, Floats]:
        """Return the values of a kernel, and the sum of another; see :meth:`Rows.map_and_sum`."""
        return self._ask(mapping, kernel, arrays)

    def _ask(
        self, mapping: Kernel | None, kernel: Kernel | None, arrays: tuple[RowArray, ...]
    ) -> tuple[Any, Any]:
        """Return the values of one kernel, and the sum of the other, in one pass."""
        asked = kernel if mapping is None else mapping
        if isinstance(asked, OfDerived) and (asked.function is None or self.has_table_of_values):
            rows, arrays = self._derived(asked, arrays)
            first, second = (getattr(question, "kernel", None) for question in (mapping, kernel))
            return rows._ask(first, second, arrays)
        count_pass(self.shape[0])
        if len(self._blocks) == 1 and not self.is_mapped:
            # One block needs neither threads nor a running total.
            (at,) = self._blocks
            B, entries = self._block(at), [np.ascontiguousarray(array[at]) for array in arrays]
            if mapping is not None:
                entries.append(np.array(mapping(B, *entries), order="C"))
            total = None if kernel is None else kernel(B, *entries)
            return None if mapping is None else entries[-1], total
        pace, lock = progress.Detail(log, len(self._blocks)), Lock()
        values: Any = None

        def ask(at: slice, total: Any) -> Any:
            """Ask a block, store the values, and return the sum so far."""
            nonlocal values
            B, entries = self._block(at), [np.ascontiguousarray(array[at]) for array in arrays]
            B.total = total
            if mapping is not None:
                some = mapping(B, *entries)
                with lock:
                    if values is None:
                        new = pages.room if self.is_mapped else np.empty
                        values = new((self.shape[0], *some.shape[1:]), some.dtype)
                values[at] = some
                entries.append(values[at])
            part = None if kernel is None else kernel(B, *entries)
            if self.is_mapped:
                self._release(at, entries)
            pace.advance()
            if total is None or part is total:
                return part
            total += part
            return total

        def ask_chain(blocks: list[slice], total: Any) -> Any:
            for at in blocks:
                total = ask(at, total)
            return total

        # The first blocks of two chains tell how large a sum is, and so how many chains there are.
        firsts = [half[:1] for half in chains_of(self._blocks, 2)]
        begun = list(run(lambda i: ask_chain(firsts[i], None), len(firsts)))
        known = {at.start: total for (at,), total in zip(firsts, begun, strict=True)}
        size = 0 if begun[0] is None else begun[0].size
        chains = chains_of(self._blocks, n_chains(self.nnz, size))

        def finish(i: int) -> Any:
            start = chains[i][0].start
            return ask_chain(chains[i][start in known :], known.get(start))

        totals = run(finish, len(chains))
        total = next(totals)
        for part in totals:
            if part is not None:
                total += part
        return values, total

    def ones(self) -> RowArray:
        """Return a row array of ones."""
        return np.ones(self.shape[0])

    def pieces(self) -> Iterator[Any]:
        """Yield the rows as one CSR array."""
        yield self.matrix

    def placed(self, values: RowArray) -> RowArray:
        """Return the array itself: it is where the rows are."""
        return np.asarray(values)

    def each(self, function: Callable[..., Any], *arrays: RowArray) -> Any:
        """Return a function of row arrays, all at once; see :meth:`Rows.each`."""
        return function(*arrays)

    def _derived(
        self, asked: OfDerived, arrays: tuple[RowArray, ...]
    ) -> tuple[RowBlocks, tuple[RowArray, ...]]:
        """Return derived rows, with a table of values, and the row arrays of the question."""
        rows, function, kind = self, asked.function, np.float32 if asked.single else np.float64
        if function is not None:
            rows = self.mapped(lambda values: function(values).astype(kind))
        return (rows.scaled(arrays[0]), arrays[1:]) if asked.has_factor else (rows, arrays)

    def _release(self, at: slice, entries: list[RowArray]) -> None:
        """Release the pages that a block has read."""
        X = self._X
        start, stop = X.indptr[at.start], X.indptr[at.stop]
        used = [X.data[start:stop], X.indices[start:stop], X.indptr[at.start : at.stop + 1]]
        if self._factor is not None:
            used.append(self._factor[at])
        for part in [*entries, *used]:
            if isinstance(part, np.ndarray):
                pages.release(part)

    @cached_property
    def _compact(self) -> tuple[Any, Floats | None]:
        """The stored numbers as compiled kernels read them in each pass, and what they stand for.

        These kernels spend most of their time on reading, so counts of eight bytes are copied as
        single bytes if none is larger than 255. Counts stand for themselves in a table, so that no
        kernel is compiled with and without one.
        """
        stored, table = self._X.data, self._values
        counts = stored.dtype.kind in "iu"
        short = not self.is_mapped and stored.itemsize == 8
        largest = self._largest_whole if short or (counts and table is None) else None
        if largest is None:
            return stored, table
        if short and largest <= np.iinfo(np.uint8).max:
            stored, counts = stored.astype(np.uint8), True
        return stored, np.arange(largest + 1.0) if counts and table is None else table

    def _block(self, at: slice) -> Block:
        if self._only is not None:
            return self._only
        X, start, stop = self._X, self._X.indptr[at.start], self._X.indptr[at.stop]
        stored, table = self._compact if self.compiled else (X.data, self._values)
        factor = None if self._factor is None else self._factor[at]
        indices, pointers = X.indices[start:stop], X.indptr[at.start : at.stop + 1]
        arrays = at, stored[start:stop], indices, pointers, self.shape[1]
        scaling: Any = {"values": table, "row_factor": factor}
        if at.start in self._dense:
            block: Block = DenseBlock(*arrays, self._dense[at.start], **scaling)
        else:
            block = self._type(*arrays, **scaling)
        if self._full:
            data = block.csr[0]
            arrays = at, data, indices, pointers, self.shape[1]
            block = DenseBlock(*arrays, data.reshape(block.shape))
        if len(self._blocks) == 1:
            self._only = block
        return block


def _table_of(X: Any, values: ArrayLike) -> Floats:
    """Return the table of values, after checking that it lists all stored numbers."""
    table = np.ascontiguousarray(values, dtype=np.float64)
    check_shape("values", table, ("n_values",))
    data = X.data
    if not len(data):
        return table
    low, high = data.min(), data.max()
    whole = data.dtype.kind in "iu" or not (data % 1).any()
    if not (whole and low >= 0 and high < len(table) and table[0] == 0):
        raise InvalidDataError(
            "[values_not_listed] the stored values, from {low:g} to {high:g}, must be whole "
            "numbers that `values` lists, from 0 to {most}, and values[0] must be 0; pass `values` "
            "for each of them",
            low=float(low),
            high=float(high),
            most=len(table) - 1,
        )
    return table


def _factors_of(X: Any, row_factor: ArrayLike) -> Floats:
    """Return the factors of rows, after checking that there is one for each row."""
    factor = np.ascontiguousarray(row_factor, dtype=np.float64)
    check_shape("row_factor", factor, (X.shape[0],))
    return factor
