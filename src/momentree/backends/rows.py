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
from momentree.backends.block import MAX_SPARE, Block, DenseBlock
from momentree.backends.kernels import block_type
from momentree.backends.products import MAX_LISTED
from momentree.backends.threads import MAX_CHAINS, chains_of, cuts_between_blocks, n_chains, run
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
    _max_chains = MAX_CHAINS

    def __init__(
        self,
        X: Any,
        block_nnz: int | None = None,
        *,
        values: ArrayLike | None = None,
        row_factor: ArrayLike | None = None,
    ) -> None:
        X = sparse.as_csr(X)
        self._hold(X, block_nnz, _table_of(X, values), _factors_of(X, row_factor))

    def _hold(
        self,
        X: Any,
        block_nnz: int | None,
        values: Floats | None,
        row_factor: Floats | None,
        block: type[Block] | None = None,
        cuts: Ints | None = None,
    ) -> None:
        """Set the attributes from a CSR array whose structure is sound."""
        check_integer("block_nnz", block_nnz, at_least=1, optional=True)
        self._X, self._values, self._factor = X, values, row_factor
        self.shape: tuple[int, int] = (int(self._X.shape[0]), int(self._X.shape[1]))
        n, d = self.shape
        self._block_nnz, self._type = block_nnz, block or block_type(X.nnz)
        self.is_mapped = pages.mapped(X.data) is not None
        self._full = bool(X.nnz == n * d and X.has_canonical_format)
        self._cuts = (
            cuts_between_blocks(X, block_nnz, compiled=self.compiled) if cuts is None else cuts
        )
        self._dense: dict[int, Floats] = {}  # by the first row of a block
        self._only: Block | None = None  # if there is only one, kept for small data

    def _like(self, X: Any, values: Floats | None, row_factor: Floats | None) -> RowBlocks:
        """Return other values in the same places, processed in the same blocks and way."""
        out = object.__new__(type(self))
        out._hold(X, self._block_nnz, values, row_factor, self._type, self._cuts)
        if X is self._X:
            out._stored_numbers = self._stored_numbers
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

    @property
    def compiled(self) -> bool:
        """Whether compiled kernels compute the products, rather than SciPy's functions."""
        return self._type is not Block

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
        part._hold(self._rows(rows), self._block_nnz, self._values, factor, self._type)
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
        if isinstance(kernel, OfDerived):
            rows, kernel, arrays = self._derived(kernel, arrays)
            if rows is not self:
                return rows.sum(kernel, *arrays)
        if len(self._cuts) != 2 or self.is_mapped:
            total: Floats = self._ask(None, kernel, arrays)[1]
            return total
        count_pass(self.shape[0])
        (at,) = self._blocks  # one block needs neither threads nor a running total
        only: Floats = kernel(self._block(at), *[_entries_of(one, at) for one in arrays])
        return only

    def map(self, kernel: Kernel, *arrays: RowArray) -> Floats:
        """Return the results of a kernel for all rows; see :meth:`Rows.map`."""
        if isinstance(kernel, OfDerived):
            rows, kernel, arrays = self._derived(kernel, arrays)
            if rows is not self:
                return rows.map(kernel, *arrays)
        if len(self._cuts) != 2 or self.is_mapped:
            return np.asarray(self._ask(kernel, None, arrays)[0])
        count_pass(self.shape[0])
        (at,) = self._blocks
        values = kernel(self._block(at), *[_entries_of(one, at) for one in arrays])
        return np.array(values, order="C")

    def map_and_sum(self, mapping: Any, kernel: Any, *arrays: RowArray) -> tuple[Floats, Floats]:
        """Return the values of a kernel, and the sum of another; see :meth:`Rows.map_and_sum`."""
        if isinstance(mapping, OfDerived) and isinstance(kernel, OfDerived):
            rows, inner, given = self._derived(kernel, arrays)
            if rows is not self:
                return rows.map_and_sum(mapping.kernel, inner, *given)
        return self._ask(mapping, kernel, arrays)

    def _ask(
        self, mapping: Kernel | None, kernel: Kernel | None, arrays: tuple[RowArray, ...]
    ) -> tuple[Any, Any]:
        """Return the values of one kernel, and the sum of the other, in one pass."""
        count_pass(self.shape[0])
        pace, spare, lock = progress.Detail(log, len(self._blocks)), list[Floats](), Lock()
        values: Any = None

        def put(at: slice, some: Any) -> Any:
            """Store values of a block in an array whose type that of the first block sets."""
            nonlocal values
            with lock:
                if values is None:
                    new = pages.room if self.is_mapped else np.empty
                    values = new((self.shape[0], *some.shape[1:]), some.dtype)
            values[at] = some
            return values[at]

        def add(total: Any, part: Any) -> None:
            total += part
            fit = part.dtype == np.float64 and part.flags.c_contiguous
            if fit and len(spare) < MAX_SPARE:
                spare.append(part)

        def add_blocks(blocks: list[slice], total: Floats | None) -> Floats | None:
            for at in blocks:
                B = self._block(at)
                B.total = total
                if len(self._blocks) > 1:
                    B.spare = spare
                entries = [_entries_of(one, at) for one in arrays]
                if mapping is not None:
                    entries.append(put(at, mapping(B, *entries)))
                part = total if kernel is None else kernel(B, *entries)
                if total is None:
                    total = part
                elif part is not total:
                    add(total, part)
                if self.is_mapped:
                    self._release(at, entries)
                pace.advance()
            return total

        # The first blocks of two chains tell how large a sum is, and so how many chains there are.
        halves = chains_of(self._blocks, min(2, self._max_chains))
        begun = list(run(lambda i: add_blocks(halves[i][:1], None), len(halves)))
        size = 0 if begun[0] is None else begun[0].size
        chains = chains_of(self._blocks, n_chains(self.nnz, size, self._max_chains))
        known = {half[0].start: total for half, total in zip(halves, begun, strict=True)}

        def add_chain(i: int) -> Floats | None:
            start = chains[i][0].start
            return add_blocks(chains[i][start in known :], known.get(start))

        parts = run(add_chain, len(chains))
        total = next(parts)
        for part in parts:
            if part is not None:
                add(total, part)
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
        self, kernel: OfDerived, arrays: tuple[RowArray, ...]
    ) -> tuple[RowBlocks, Kernel, tuple[RowArray, ...]]:
        """Return derived rows and the question to them; the same if they would copy values."""
        rows, function, kind = self, kernel.function, np.float32 if kernel.single else np.float64
        if function is not None:
            if not self.has_table_of_values:
                return self, kernel, arrays
            rows = self.mapped(lambda values: function(values).astype(kind))
        if kernel.has_factor:
            rows, arrays = rows.scaled(arrays[0]), arrays[1:]
        return rows, kernel.kernel, arrays

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

    def _block(self, at: slice) -> Block:
        if self._only is not None:
            return self._only
        X, d, dense = self._X, self.shape[1], self._dense.get(at.start)
        start, stop = X.indptr[at.start], X.indptr[at.stop]
        pointers = X.indptr[at.start : at.stop + 1]
        arrays = at, self._stored_numbers[start:stop], X.indices[start:stop], pointers, d
        factor = None if self._factor is None else self._factor[at]
        scaling: Any = {"values": self._table_of_values, "row_factor": factor}
        block = (
            self._type(*arrays, **scaling)
            if dense is None
            else DenseBlock(*arrays, dense, **scaling)
        )
        if self._full:
            block = block.with_data(block.csr[0], full=True)
        if len(self._cuts) == 2:
            self._only = block
        return block

    @cached_property
    def _table_of_values(self) -> Floats | None:
        """What stored values stand for; of whole counts themselves, too, if kernels are compiled.

        So there is no need to compile each kernel with and without a table.
        """
        counts = self.compiled and self._values is None and self._stored_numbers.dtype.kind in "iu"
        largest = self._largest_whole if counts else None
        return self._values if largest is None else np.arange(largest + 1.0)

    @cached_property
    def _stored_numbers(self) -> Any:
        """The stored numbers, as they are read in each pass.

        Compiled kernels spend most of their time on reading them. For these kernels, counts of
        eight bytes are copied as single bytes if none is larger than 255.
        """
        data = self._X.data
        if not self.compiled or self.is_mapped or data.itemsize < 8:
            return data
        largest = self._largest_whole
        return (
            data if largest is None or largest > np.iinfo(np.uint8).max else data.astype(np.uint8)
        )

    @cached_property
    def _blocks(self) -> list[slice]:
        return [slice(int(a), int(b)) for a, b in pairwise(self._cuts)]


def _entries_of(values: RowArray, at: slice) -> RowArray:
    """Return the entries of a block; of one number for all rows, a copy that kernels can use."""
    part = values[at]
    return part if getattr(part, "strides", (1,))[0] else np.array(part)


def _table_of(X: Any, values: ArrayLike | None) -> Floats | None:
    """Return the table of values, after checking that it lists all stored numbers."""
    if values is None:
        return None
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


def _factors_of(X: Any, row_factor: ArrayLike | None) -> Floats | None:
    """Return the factors of rows, after checking that there is one for each row."""
    if row_factor is None:
        return None
    factor = np.ascontiguousarray(row_factor, dtype=np.float64)
    check_shape("row_factor", factor, (X.shape[0],))
    return factor
