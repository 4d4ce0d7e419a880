"""How often a computation reads the data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


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
