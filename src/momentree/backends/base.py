"""Rows that are known only by sums over them, wherever they are stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

import momentree.backends.products as products
from momentree._types import Floats, Ints
from momentree.backends.block import Block
from momentree.backends.kernels import kernel
from momentree.exceptions import InvalidDataError
from momentree.messages import wording

RowArray: TypeAlias = Any
"""One entry per row: an array whose first axis is that of the rows, or what `map` returned."""
Kernel: TypeAlias = Callable[..., Any]
"""Maps a block, and the entries of row arrays for its rows, to a new array."""


class Rows(ABC):
    """Rows of a table: in memory, in files, on a cluster or at several sites.

    An algorithm asks them questions. A question is a kernel, a function of a block of rows, and the
    answer is the sum of its values over all blocks, or its values themselves, one for each row. The
    blocks and the order of additions depend only on the data.

    A kernel must not use row numbers: what belongs to single rows is given to `sum` or `map` as row
    arrays, from which each block receives its own entries. They are arrays, or results of `map`,
    which stay where the rows are. To be answered on another machine, a kernel must be picklable and
    small.

    Attributes
    ----------
    shape : tuple of int
        (n_rows, n_columns).
    """

    shape: tuple[int, int]
    gives_rows: bool = True
    """Whether single rows and row arrays may be brought to this machine."""
    few_rounds: bool = False
    """Whether fewer passes over the data are worth larger sums."""

    @property
    def local(self) -> Any:
        """The rows as row blocks if they are on this machine, in memory or in files, else None."""
        return None

    @abstractmethod
    def sum(self, kernel: Kernel, *arrays: RowArray) -> Floats:
        """Return the sum of a kernel over all blocks: one pass over the data.

        Parameters
        ----------
        kernel : callable
            Maps a :class:`Block` and the entries of row arrays to a new array, of the same shape
            for every block. Later results are added to it in place.
        *arrays : array-like of shape (n_rows, ...)
            Row arrays.

        Returns
        -------
        ndarray
            ``sum(kernel(B, ...) for B in blocks)``, with the same bits for any number of threads
            or workers.
        """

    @abstractmethod
    def map(self, kernel: Kernel, *arrays: RowArray) -> RowArray:
        """Return the values of a kernel for all rows: one pass over the data.

        Parameters
        ----------
        kernel : callable
            Maps a :class:`Block` and the entries of row arrays to an array with one entry or row
            per row of the block.
        *arrays : array-like of shape (n_rows, ...)
            Row arrays.

        Returns
        -------
        ndarray or row array
            The values in row order. ``numpy.asarray`` returns them as an array wherever they are.
        """

    def map_and_sum(
        self, mapping: Kernel, kernel: Kernel, *arrays: RowArray
    ) -> tuple[RowArray, Floats]:
        """Return the values of a kernel for all rows, and the sum of another that receives them.

        In memory and in files, this is one pass over the data instead of two.

        Parameters
        ----------
        mapping : callable
            As in :meth:`map`.
        kernel : callable
            As in :meth:`sum`; the entries of the values are its last argument.
        *arrays : array-like of shape (n_rows, ...)
            Row arrays, for both.

        Returns
        -------
        values : ndarray or row array
            The result of :meth:`map`.
        total : ndarray
            The result of :meth:`sum`.
        """
        values = self.map(mapping, *arrays)
        return values, self.sum(kernel, *arrays, values)

    def each(self, function: Callable[..., Any], *arrays: RowArray) -> RowArray:
        """Return a function of row arrays alone, which reads no data.

        Parameters
        ----------
        function : callable
            Maps entries of row arrays to an array with one entry or row for each.
        *arrays : array-like of shape (n_rows, ...)
            Row arrays.

        Returns
        -------
        ndarray or row array
            The values in row order, stored as the results of :meth:`map` are.
        """
        with uncounted_passes():
            return self.map(partial(of_arrays, function=function), *arrays)

    @cached_property
    def _stored(self) -> Floats:
        """Numbers of stored values, those not in a table of values, and those not whole."""
        return self.sum(products.stored_values)

    @property
    def nnz(self) -> int:
        """Number of stored values."""
        return int(self._stored[0])

    @property
    def whole(self) -> bool:
        """Whether all stored values are whole numbers."""
        return not self._stored[2]

    @cached_property
    def row_sums(self) -> RowArray:
        """Sum of each row, shape (n_rows,)."""
        return self.map(partial(products.product, V=np.ones(self.shape[1])))

    def pieces(self) -> Iterator[Any]:
        """Yield the rows in order, as CSR arrays.

        Raises
        ------
        InvalidDataError
            If the rows cannot be brought to this machine.
        """
        raise InvalidDataError(wording.ROWS_STAY, n_rows=self.shape[0])

    def pieces_of(self, at: Ints) -> Iterator[Any]:
        """Yield some rows in order, as CSR arrays.

        Parameters
        ----------
        at : ndarray of intp
            Row numbers in ascending order, each once.

        Yields
        ------
        csr_array
            Successive ones of these rows.

        Raises
        ------
        InvalidDataError
            If the rows cannot be brought to this machine.
        """
        start = 0
        for piece in self.pieces():
            stop = start + piece.shape[0]
            first, last = np.searchsorted(at, (start, stop))
            yield piece[at[first:last] - start]
            start = stop

    def mapped(self, function: Callable[[Floats], Floats]) -> Rows:
        """Return the rows with a function applied to each stored value.

        Parameters
        ----------
        function : callable
            Maps an array of numbers to an array of the same shape, and 0 to 0; picklable by name.

        Returns
        -------
        Rows
            Rows whose values are computed for each question. As in memory, they are rounded to
            single precision unless all stored values are whole numbers up to 65,535.
        """
        return DerivedRows(self, function=function, single=self._stored[1] > 0)

    def scaled(self, row_factor: RowArray) -> Rows:
        """Return the rows multiplied by factors.

        Parameters
        ----------
        row_factor : row array of shape (n_rows,)
            Factor of each row.

        Returns
        -------
        Rows
            The products, computed for each question.
        """
        return DerivedRows(self, factor=row_factor)

    def ones(self) -> RowArray:
        """Return a row array of ones."""
        return self.placed(np.broadcast_to(1.0, self.shape[:1]))

    def placed(self, values: RowArray) -> RowArray:
        """Return a row array that is where the rows are, so that it is moved only once.

        Parameters
        ----------
        values : row array of shape (n_rows, ...)
            Entries, here or where the rows are.

        Returns
        -------
        row array
            The same entries.
        """
        return self.map(products.given, values)

    def total(self, values: RowArray) -> Floats:
        """Return the sum of a row array over its rows.

        Parameters
        ----------
        values : row array of shape (n_rows, ...)
            Entries to add.

        Returns
        -------
        ndarray of shape (...)
            The sum, without the first axis.
        """
        return self.sum(products.total, values)

    def group_sums(
        self, labels: RowArray, n_groups: int, weight: RowArray
    ) -> tuple[Floats, Floats]:
        """Return the weighted column sums of groups of rows, and their weights.

        Parameters
        ----------
        labels : row array of int of shape (n,)
            Group of each row, from 0; rows of other numbers are in no group.
        n_groups : int
            Number of groups.
        weight : row array of shape (n,)
            Weight of each row.

        Returns
        -------
        sums : ndarray of shape (p, n_groups)
            Sums in columns, one per group.
        sizes : ndarray of shape (n_groups,)
            Total weights.
        """
        total = self.sum(partial(products.group_sums, n_groups=n_groups), weight, labels)
        sums, sizes = products.parted(total, n_groups, 1, n_groups)
        return np.ascontiguousarray(sums[..., 0].T), sizes

    def group_sizes(self, labels: RowArray, n_groups: int, weight: RowArray) -> Floats:
        """Return the total weight of each group of rows.

        Parameters
        ----------
        labels : row array of int of shape (n,)
            Group of each row, from 0; rows of other numbers are in no group.
        n_groups : int
            Number of groups.
        weight : row array of shape (n,)
            Weight of each row.

        Returns
        -------
        ndarray of shape (n_groups,)
            Total weights.
        """
        return self.sum(partial(products.group_sizes, n_groups=n_groups), labels, weight)


class DerivedRows(Rows):
    """Rows elsewhere, with a function applied to each value, or a factor for each row.

    Parameters
    ----------
    base : Rows
        The rows as they are stored.
    function : callable, default=None
        Maps an array of values to one of the same shape; None keeps them.
    single : bool, default=False
        Whether its results are rounded to single precision.
    factor : row array of shape (n_rows,), default=None
        Factor of each row; None is 1.
    """

    def __init__(
        self,
        base: Rows,
        *,
        function: Callable[[Floats], Floats] | None = None,
        single: bool = False,
        factor: RowArray | None = None,
    ) -> None:
        self._base, self._function, self._single, self._factor = base, function, single, factor
        self.shape, self.gives_rows = base.shape, base.gives_rows
        self.few_rounds = base.few_rounds

    def sum(self, kernel: Kernel, *arrays: RowArray) -> Floats:
        """Return the sum of a kernel over all blocks; see :meth:`Rows.sum`."""
        return self._base.sum(*self._asked(kernel, arrays))

    def map(self, kernel: Kernel, *arrays: RowArray) -> RowArray:
        """Return the values of a kernel for all rows; see :meth:`Rows.map`."""
        return self._base.map(*self._asked(kernel, arrays))

    def map_and_sum(
        self, mapping: Kernel, kernel: Kernel, *arrays: RowArray
    ) -> tuple[RowArray, Floats]:
        """Return the values of a kernel, and the sum of another; see :meth:`Rows.map_and_sum`."""
        derived, *given = self._asked(mapping, arrays)
        return self._base.map_and_sum(derived, self._asked(kernel, arrays)[0], *given)

    def _asked(self, kernel: Kernel, arrays: tuple[RowArray, ...]) -> tuple[Any, ...]:
        given = arrays if self._factor is None else (self._factor, *arrays)
        derived = OfDerived(kernel, self._function, self._single, self._factor is not None)
        return derived, *given


@kernel
@dataclass(frozen=True)
class OfDerived:
    """A kernel of rows that are derived from those stored."""

    kernel: Kernel
    function: Callable[[Floats], Floats] | None
    single: bool
    has_factor: bool

    def __call__(self, B: Block, *arrays: Any) -> Any:
        """Return what the kernel returns for the derived block."""
        data, _, indptr = B.csr
        if self.function is not None:
            data = self.function(data)
            if self.single:
                data = data.astype(np.float32).astype(np.float64)
        if self.has_factor:
            factor, *others = arrays
            data, arrays = data * np.repeat(factor, np.diff(indptr)), tuple(others)
        derived = B.with_data(data)
        derived.total = B.total
        return self.kernel(derived, *arrays)


@kernel
def of_arrays(_: Block, *arrays: Any, function: Callable[..., Any]) -> Any:
    """Return a function of the entries of row arrays alone."""
    return function(*arrays)


# --- how often a computation reads the data --------------------------------------------------


@dataclass
class RowsRead:
    """How many rows were read.

    Attributes
    ----------
    n_rows : int
        Sum over all passes of the number of rows that a pass read.
    """

    n_rows: int = 0


_counting: ContextVar[tuple[RowsRead, ...]] = ContextVar("momentree_rows_read", default=())


@contextmanager
def counted_passes() -> Iterator[RowsRead]:
    """Count the rows that sums and maps over rows read within a ``with`` block.

    Yields
    ------
    RowsRead
        The count so far. Divided by the number of rows of the data, it is the number of passes over
        them; a pass over a part of the rows is a fraction of one.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.backends import RowBlocks, counted_passes
    >>> rows = RowBlocks(sp.eye_array(4, format="csr"))
    >>> with counted_passes() as read:
    ...     sums = rows.take(np.array([0, 1])).row_sums, rows.row_sums
    >>> read.n_rows / 4
    1.5
    """
    read = RowsRead()
    before = _counting.set((*_counting.get(), read))
    try:
        yield read
    finally:
        _counting.reset(before)


@contextmanager
def uncounted_passes() -> Iterator[None]:
    """Count no rows within a ``with`` block, which reads no data or whose passes are counted.

    Dask passes the count on to its threads, but not to other processes, so neither may add to it.

    Yields
    ------
    None
        The block runs.
    """
    before = _counting.set(())
    try:
        yield
    finally:
        _counting.reset(before)


def count_pass(n_rows: int) -> None:
    """Count a pass over rows, which every kind of rows does for each sum or map.

    Parameters
    ----------
    n_rows : int
        Number of rows read.
    """
    for read in _counting.get():
        read.n_rows += n_rows
