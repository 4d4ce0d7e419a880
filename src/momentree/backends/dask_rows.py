"""Rows in the blocks of a Dask array or data frame, on one machine or on a cluster."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from hashlib import blake2b
from itertools import chain, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree._validation import check_canonical, check_shape
from momentree.backends.base import Kernel, RowArray, Rows, count_pass
from momentree.backends.dask_tasks import (
    Tasks,
    Value,
    alone,
    computed,
    memory_and_threads,
    persisted,
    value_of,
)
from momentree.backends.rows import RowBlocks
from momentree.exceptions import EmptyCorpusError, InvalidDataError

_BLOCKS_OF_OTHER_WIDTHS = (
    "[blocks_of_other_widths] partitions of the Dask collection differ in their number of columns "
    "({found:list}); give all of them the same columns"
)
_NO_ROWS_IN_COLLECTION = (
    "[no_rows_in_collection] the Dask collection has {n_blocks:~partition}, all without rows"
)


PART_BYTES = 1 << 26
"""Partitions that are smaller are joined to parts of about this size: 64 MB."""
MAX_JOINED = 32
MIN_PARTS = 16
"""So many parts are made, if there are so many partitions, to occupy the workers."""
SHARE = 0.5
"""Share of the memory of all workers for the data; the rest is for results and the system."""
DEEPEST = 8
"""A row array is fetched and sent again after so many steps, each computed from the last: until
then, the scheduler keeps all of them in order to replace a worker."""
AHEAD = 4
"""Parts whose results are brought to this machine at once."""
ARRAYS_SENT = 8
"""Arrays of the client whose entries stay with the rows until others replace them."""


class DaskRows(Rows):
    """Rows of a Dask array or data frame, which stay where Dask keeps them.

    Partitions are converted to sparse matrices, the parts. Each thread of the workers keeps a group
    of successive parts. A pass sends a kernel to every group, and adds the sums of parts in pairs,
    pairs of pairs, and so on. Borders between parts, and therefore the pairs, depend only on the
    collection. So results have the same bits on any number of workers. Without a distributed
    client, Dask's threads do the same on this machine.

    Parameters
    ----------
    X : dask.array.Array, dask.dataframe.DataFrame or Tasks of shape (n_rows, n_columns)
        Blocks are dense arrays, SciPy sparse matrices or data frames. Unknown chunk sizes are
        allowed, and so are several chunks per row.
    keep : bool or "auto", default="auto"
        Whether workers keep the converted rows in memory. If not, each pass reads them again.
        "auto" keeps them if they take at most half of the memory of all workers.

    Attributes
    ----------
    shape : tuple of int
        (n_rows, n_columns).
    feature_names : tuple of str or None
        Columns of a data frame.
    kept : bool
        Whether workers keep the rows.

    Notes
    -----
    A lost worker costs time only: each part and each row array can be computed again from the
    collection. Each task uses one thread, so that a worker of c threads works on c parts at once.

    Raises
    ------
    InvalidDataError
        If the collection is not a table, or partitions have different columns.
    EmptyCorpusError
        If there are no rows.
    ReadError
        If a partition cannot be read.
    ClusterError
        If the scheduler or too many workers are lost.
    """

    feature_names: tuple[str, ...] | None

    def __init__(self, X: Any, *, keep: bool | Literal["auto"] = "auto") -> None:
        read = X if isinstance(X, Tasks) else Tasks.of_collection(X)
        columns = getattr(X, "columns", None)
        self.feature_names = None if columns is None else tuple(str(name) for name in columns)
        part = partial(_part, names=None if columns is None else list(columns))
        n_sampled = sorted({0, len(read.keys) // 2, len(read.keys) - 1})
        sizes = read.at(n_sampled).then(part).then(_size)
        largest = max(computed(sizes, reading=True), default=0)
        # The largest of three, so that one small partition does not mislead.
        step = min(PART_BYTES // max(largest, 1), len(read.keys) // MIN_PARTS, MAX_JOINED)
        step = max(step, 1)
        parts, size = read.joined(part, step), largest * len(read.keys)
        memory, n_threads = memory_and_threads()
        self.kept = keep if keep != "auto" else size <= SHARE * memory
        # One for each thread: the scheduler moves data to move a task that waits for a thread.
        n_parts = -(-len(parts.keys) // max(n_threads, 1)) if self.kept else 1
        self._groups = parts.joined(_Group, n_parts).fuse()
        self._first = list(range(0, len(parts.keys), n_parts))
        if self.kept:
            self._groups = persisted(self._groups)
        found = computed(self._groups.then(_sizes), reading=True)
        self._part_sizes = [[n for n, _ in sizes] for sizes in found]
        self._sizes = [sum(sizes) for sizes in self._part_sizes]
        widths = sorted({d for sizes in found for n, d in sizes if n})
        if not sum(self._sizes):
            raise EmptyCorpusError(_NO_ROWS_IN_COLLECTION, n_blocks=len(read.keys))
        if len(widths) > 1:
            raise InvalidDataError(_BLOCKS_OF_OTHER_WIDTHS, found=widths)
        self.shape = (sum(self._sizes), widths[0])
        self._sent: OrderedDict[Any, DaskRowArray] = OrderedDict()

    def sum(self, kernel: Kernel, *arrays: RowArray) -> Floats:
        """Return the sum of a kernel over all blocks; see :meth:`Rows.sum`."""
        count_pass(self.shape[0])
        entries = [self._entries(values).tasks for values in arrays]
        sums = self._groups.then(_sum, self._first, Value(kernel), self.shape[1], *entries)
        (*others, last) = sums.merged(_merged)
        total = np.array(last.sum)
        for one in reversed(others):
            total = one.sum + total
        return total

    def map(self, kernel: Kernel, *arrays: RowArray) -> DaskRowArray:
        """Return the values of a kernel for all rows, which stay there; see :meth:`Rows.map`."""
        count_pass(self.shape[0])
        entries = [self._entries(values) for values in arrays]
        tasks = [values.tasks for values in entries]
        made = persisted(self._groups.then(_map, Value(kernel), self.shape[1], *tasks))
        depth = 1 + max((values.depth for values in entries), default=0)
        row_array = DaskRowArray(made, self._sizes, depth)
        return row_array if depth < DEEPEST else self._send(np.asarray(row_array))

    def placed(self, values: RowArray) -> DaskRowArray:
        """Return a row array that is where the rows are, and here; see :meth:`Rows.placed`."""
        found = self._entries(values)
        if found is not values:
            found = DaskRowArray(found.tasks, found.sizes, found.depth)
            found.here = np.asarray(values)
        return found

    def pieces(self) -> Iterator[Any]:
        """Yield the rows in order, as CSR arrays, one part at a time."""
        yield from self._ahead(self._of_parts(_matrix), 1)

    def pieces_of(self, at: Ints) -> Iterator[Any]:
        """Yield some rows in order, selected on the workers; see :meth:`Rows.pieces_of`."""
        ends = np.cumsum(self._sizes)
        chosen = np.split(at, np.searchsorted(at, ends[:-1]))
        inside = [rows - end + n for rows, end, n in zip(chosen, ends, self._sizes, strict=True)]
        places = [place for place, rows in enumerate(inside) if len(rows)]
        some = self._groups.at(places).then(_some, [inside[place] for place in places])
        yield from self._ahead(some, max(len(places), 1))

    def results(self, function: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield a function of the rows, computed on the workers, one part at a time.

        Parameters
        ----------
        function : callable
            Maps a CSR array to an array with one entry per row.

        Yields
        ------
        ndarray
            The results, in the order of rows.
        """
        yield from self._ahead(self._of_parts(_apply_to, Value(function)), AHEAD)

    def _of_parts(self, function: Callable[..., Any], *arguments: Any) -> Tasks:
        """Return a function of the group and the number in it of each part."""
        at = [(group, i) for group, n in enumerate(self._part_sizes) for i in range(len(n))]
        groups = self._groups.at([group for group, _ in at])
        return groups.then(function, [i for _, i in at], *arguments)

    @staticmethod
    def _ahead(tasks: Tasks, n: int) -> Iterator[Any]:
        """Yield the results of all parts with rows, of which n at once are on this machine."""
        for start in range(0, len(tasks.keys), n):
            places = range(start, min(start + n, len(tasks.keys)))
            for result in computed(tasks.at(places)):
                if result is not None and result.shape[0]:
                    yield result

    def _entries(self, values: RowArray) -> DaskRowArray:
        if isinstance(values, DaskRowArray) and values.sizes == self._sizes:
            return values
        values = np.asarray(values)
        check_shape("a row array", values, (self.shape[0], *values.shape[1:]))
        if not values.strides[0]:  # the same for all rows
            values = values[:1]
        content = blake2b(np.ascontiguousarray(values).data).digest()
        key = (content, values.shape, values.dtype.str)
        if key not in self._sent:
            self._sent[key] = self._send(values)
            if len(self._sent) > ARRAYS_SENT:
                self._sent.popitem(last=False)
        self._sent.move_to_end(key)
        return self._sent[key]

    def _send(self, values: Floats) -> DaskRowArray:
        """Place the entries of an array next to their rows, as a part of the graph of tasks."""
        ends = np.cumsum(self._sizes)
        each = [
            Value(values[b - n : b] if len(values) == ends[-1] else values)
            for n, b in zip(self._sizes, ends, strict=True)
        ]
        return DaskRowArray(persisted(self._groups.then(_placed, each)), self._sizes, 0)


class DaskRowArray:
    """Values for each row, next to the rows; ``numpy.asarray`` fetches them in row order.

    Parameters
    ----------
    tasks : Tasks
        One per part.
    sizes : list of int
        Rows of each part.
    depth : int
        Steps that separate it from an array that was sent.
    """

    def __init__(self, tasks: Tasks, sizes: list[int], depth: int) -> None:
        self.tasks, self.sizes, self.depth = tasks, sizes, depth

    def __len__(self) -> int:
        return sum(self.sizes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return self.here if dtype is None else self.here.astype(dtype, copy=False)

    @cached_property
    def here(self) -> Floats:
        """The values as an array, fetched once."""
        found = zip(computed(self.tasks), self.sizes, strict=True)
        return np.concatenate([_all_rows(piece, n) for piece, n in found if n])


class _Part(RowBlocks):
    """Rows whose partial sums are those of one task; Dask learns their size in memory."""

    def __sizeof__(self) -> int:
        X = self.matrix
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


class _Group:
    """Successive parts on a worker; Dask learns their size in memory."""

    def __init__(self, *parts: _Part) -> None:
        self.parts = parts
        self.ends: list[int] = np.cumsum([0, *(part.shape[0] for part in parts)]).tolist()

    def __sizeof__(self) -> int:
        return sum(map(sys.getsizeof, self.parts))

    def asked(self, d: int, entries: Sequence[Floats]) -> Iterator[tuple[RowBlocks, list[Floats]]]:
        """Yield the parts, and their entries of row arrays, which may be one entry for all rows."""
        for part, (a, b) in zip(self.parts, pairwise(self.ends), strict=True):
            of_part = [
                values[a:b]
                if len(values) == self.ends[-1]
                else np.broadcast_to(values, (b - a, *values.shape[1:]))
                for values in entries
            ]
            # An empty part may have another number of columns.
            yield part if part.shape[1] == d else RowBlocks(sp.csr_array((0, d))), of_part


def _part(*tables: Any, names: list[Any] | None) -> _Part:
    """Convert one or several partitions to a part."""
    filled = _of_one_width([_as_matrix(table, names) for table in tables])
    return _Part(filled[0] if len(filled) == 1 else sp.vstack(filled, format="csr"))


def _of_one_width(tables: list[Any]) -> list[Any]:
    """Return the tables that have rows, or one, after a check of their numbers of columns."""
    filled = [table for table in tables if table.shape[0]] or tables[:1]
    widths = sorted({table.shape[1] for table in filled})
    if len(widths) > 1:
        raise InvalidDataError(_BLOCKS_OF_OTHER_WIDTHS, found=widths)
    return filled


def _as_matrix(table: Any, names: list[Any] | None) -> Any:
    """Convert a block, or the blocks of the same rows and different columns, to a CSR array."""
    if isinstance(table, list):
        if len(table) > 1:
            return sp.hstack([_as_matrix(block, names) for block in table], format="csr")
        (table,) = table
    _check_columns(table, names)
    if len(table.shape) != 2:
        raise InvalidDataError(
            "[block_not_two_dimensional] a block of the Dask array has shape {shape}; expected "
            "rows by columns",
            shape=str(table.shape),
        )
    if not table.shape[0]:  # scikit-learn rejects empty tables
        return sp.csr_array(table.shape)
    return check_canonical(table)


def _check_columns(table: Any, names: list[Any] | None) -> None:
    found = getattr(table, "columns", None)
    if found is not None and list(found) != names:
        raise InvalidDataError(
            "[partition_of_other_columns] a partition of the Dask data frame has other columns "
            "than the first (missing: {missing:list}; unknown: {unknown:list}); give all "
            "partitions the same columns in the same order",
            missing=[str(name) for name in names or [] if name not in list(found)],
            unknown=[str(name) for name in found if name not in (names or [])],
        )


def gathered(X: Any) -> Any:
    """Bring a Dask collection to this machine, with columns of any type.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_rows, n_columns)
        A collection.

    Returns
    -------
    ndarray or data frame of shape (n_rows, n_columns)
        All rows in order.
    """
    names = None if (columns := getattr(X, "columns", None)) is None else list(columns)
    whole = partial(_whole, names=names)
    tables = _of_one_width(computed(Tasks.of_collection(X).then(whole), reading=True))
    if names is not None:
        from dask.dataframe.dispatch import concat

        return concat(tables)
    return np.vstack([table.toarray() if hasattr(table, "toarray") else table for table in tables])


def of_partitions(function: Callable[[Any], Any], X: Any) -> Any:
    """Return a function of each row of a Dask collection, as one array in the order of rows.

    Parameters
    ----------
    function : callable
        Maps a block, a matrix or data frame, to an array with one entry per row.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_rows, n_columns)
        A collection.

    Returns
    -------
    ndarray of shape (n_rows, ...)
        The results.
    """
    results = computed(Tasks.of_collection(X).then(_apply, Value(function)), reading=True)
    found = [result for result in results if result is not None]
    if not found:
        raise EmptyCorpusError(_NO_ROWS_IN_COLLECTION, n_blocks=len(results))
    return np.concatenate(found)


def _whole(blocks: list[Any], names: list[Any] | None) -> Any:
    """Return a partition, or the blocks of the same rows and different columns as one."""
    table = blocks[0] if len(blocks) == 1 else _beside(blocks)
    _check_columns(table, names)
    return table


def _beside(blocks: list[Any]) -> Any:
    return (sp.hstack if any(map(sp.issparse, blocks)) else np.hstack)(blocks)


def _apply(table: Any, function: Any) -> Any:
    if isinstance(table, list):
        table = table[0] if len(table) == 1 else _beside(table)
    if not table.shape[0]:
        return None
    with alone():
        return value_of(function)(table)


def _size(part: _Part) -> int:
    return sys.getsizeof(part)


def _sizes(group: _Group) -> list[tuple[int, int]]:
    return [part.shape for part in group.parts]


def _matrix(group: _Group, i: int) -> Any:
    return group.parts[i].matrix


def _apply_to(group: _Group, i: int, function: Any) -> Any:
    return _apply(_matrix(group, i), function)


def _some(group: _Group, at: Ints) -> Any:
    chosen = np.split(at, np.searchsorted(at, group.ends[1:-1]))
    taken = [
        part.take(rows - start).matrix
        for part, rows, start in zip(group.parts, chosen, group.ends, strict=False)
        if len(rows)
    ]
    return sp.vstack(taken, format="csr")


class _Sum(NamedTuple):
    """The sum over n successive parts."""

    first: int
    n: int
    sum: Floats


def _sum(group: _Group, first: int, kernel: Value | Kernel, d: int, *entries: Any) -> list[_Sum]:
    with alone():
        asked = value_of(kernel)
        sums = (part.sum(asked, *values) for part, values in group.asked(d, entries))
        return _added((_Sum(first + i, 1, one) for i, one in enumerate(sums)), in_place=True)


def _map(group: _Group, kernel: Value | Kernel, d: int, *entries: Any) -> Floats:
    with alone():
        asked = value_of(kernel)
        found = [part.map(asked, *values) for part, values in group.asked(d, entries)]
        filled = [values for values in found if len(values)] or found[:1]
        return filled[0] if len(filled) == 1 else np.concatenate(filled)


def _all_rows(values: Floats, n: int) -> Floats:
    """Return one entry per row, of entries that may be one for all."""
    return values if len(values) == n else np.broadcast_to(values, (n, *values.shape[1:]))


def _placed(group: _Group, values: Value) -> Floats:  # noqa: ARG001 - runs where the rows are
    return np.asarray(values())


def _merged(*found: list[_Sum]) -> list[_Sum]:
    return _added(chain.from_iterable(found))


def _added(sums: Iterable[_Sum], *, in_place: bool = False) -> list[_Sum]:
    """Add sums of two successive parts, 0 and 1, 2 and 3, ..., then of two such pairs, and so on.

    What is added does not depend on which parts are in one group.
    """
    held: list[_Sum] = []
    for one in sums:
        held.append(one)
        while len(held) > 1:
            (first, n, a), (_, m, b) = held[-2:]
            if m != n or first % (2 * n):
                break
            held[-2:] = [_Sum(first, 2 * n, np.add(a, b, out=a if in_place else None))]
    return held
