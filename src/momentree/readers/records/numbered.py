"""Number the different cells of a table, batch by batch, and find those of each record.

Cells are interpreted when all are known. Until then, the numbers of those of each record are kept:
in memory as they were read, where the table is one batch, or on disk.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.core.pages import each_part
from momentree.exceptions import InvalidDataError
from momentree.messages import Message, wording
from momentree.readers.copies import parts_of_equal
from momentree.readers.records.cells import Entries, NumberedCells
from momentree.readers.records.layout import Layout, holds_one_code, note_ids
from momentree.readers.tables import grid, roles

log = logging.getLogger("momentree.readers")

Blocks = Callable[[NDArray[np.bool_]], Iterable[tuple[sp.csr_array[Any], Sequence[str] | None]]]
"""How often each cell is in each record, and ids, in blocks; for cells that say something."""


@dataclass
class _ColumnNumbers:
    """The different cells of a column so far."""

    wide: bool
    place: dict[str, int] = field(default_factory=dict)
    number: list[int] = field(default_factory=list)
    heeded: list[int] = field(default_factory=list)  # the numbers; -1 for cells that say nothing
    first: list[int] = field(default_factory=list)
    counts: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    n_padded: int = 0

    def add(self, cells: grid.Cells, start: int, above: int) -> Ints:
        """Return the number of each cell, -1 if it says nothing; the first new one is `start`."""
        texts = cells.texts.tolist()
        new = [i for i, text in enumerate(texts) if text not in self.place]
        for number, i in enumerate(new, start):
            text = texts[i]
            silent = text.lower() in roles.ZEROS if self.wide else not text
            self.place[text] = len(self.place)
            self.number.append(number)
            self.heeded.append(-1 if silent else number)
            self.first.append(above + int(cells.first[i]))
        places = [self.place[text] for text in texts]
        self.counts = np.concatenate([self.counts, np.zeros(len(new), np.int64)])
        self.counts[places] += cells.counts
        self.n_padded += cells.n_padded
        return np.array([self.heeded[i] for i in places], np.intp)

    def cells(self) -> NumberedCells:
        """Return the cells of all rows."""
        texts, first = np.array([*self.place], dtype=object), np.array(self.first, dtype=np.int64)
        number = np.array(self.number, dtype=np.intp)
        return NumberedCells(texts, self.counts, first, self.n_padded, number)


@dataclass(frozen=True)
class Batch:
    """Some records as they were read: the cells of their rows."""

    record: Ints  # of each row; -1 for none
    ids: NDArray[Any] | None  # of each record
    columns: list[tuple[Ints, Ints]]  # the numbers of different cells, and the place of each row's

    @property
    def n_records(self) -> int:
        """Number of records."""
        return len(self.record) if self.ids is None else len(self.ids)

    def matrix(self, n_cells: int, heeded: NDArray[np.bool_] | None = None) -> sp.csr_array[Any]:
        """Return how often each cell is in each record, without cells that are not `heeded`."""
        rows, cells = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
        known = self.record >= 0
        all_known = bool(known.all())
        for number, index in self.columns:
            kept = number >= 0 if heeded is None else (number >= 0) & heeded[number]
            row = np.flatnonzero(kept[index] if all_known else kept[index] & known)
            rows.append(self.record[row])
            cells.append(number[index[row]])
        shape = (self.n_records, n_cells)
        return count_pairs(np.concatenate(rows), np.concatenate(cells), shape)


@dataclass(frozen=True)
class NumberedTable:
    """The different cells of a table, and the numbers of the cells of each record."""

    cells: dict[str, NumberedCells]  # by column
    n_rows: int
    n_without_id: int
    fractional: dict[str, int]
    blocks: Blocks = lambda _: ()
    sums: NDArray[np.uint64] | None = None  # checksums of ids of records; 0 for an empty one
    kept: NDArray[np.bool_] | None = None  # records to keep, None for all

    @property
    def n_cells(self) -> int:
        """Number of different cells."""
        return sum(len(column.texts) for column in self.cells.values())

    def count(self, entries: Entries) -> Ints:
        """Return the number of entries of each code in all rows."""
        counts = np.empty(self.n_cells, dtype=np.int64)
        for column in self.cells.values():
            counts[column.number] = column.counts
        n_codes = len(entries.codes)
        return np.bincount(entries.code, counts[entries.cell], n_codes).astype(np.int64)

    def join(
        self, table: grid.Table, layout: Layout
    ) -> tuple[Layout, NumberedTable, list[Message]]:
        """Return the layout, known for all rows; the table with the records to keep; and notes."""
        if layout.key is None or self.sums is None:
            return layout, self, [Message(wording.NO_IDS)]
        path, column, n = table.path, grid.excerpt(layout.key), len(self.sums)
        n_again = n_empty = 0
        for part, _ in parts_of_equal(self.sums):
            named = part[part != 0]
            n_empty += len(part) - len(named)
            n_again += len(named) - len(np.unique(named))
        if layout.by_row and n_again:
            raise InvalidDataError(
                "[rows_not_together] {path}: rows of the same record are not together; column "
                "{column!r} returns to an earlier id {n_returns:~time}. Sort the table by this "
                "column, or leave out {parameters.memory}",
                path=str(path),
                n_returns=n_again,
                column=column,
            )
        n_without = self.n_without_id
        if not layout.joined and not (layout.by_row and self.n_rows - n_without > n):
            notes = note_ids(path, column, n_rows=self.n_rows, n_without=n_empty, n_again=n_again)
            return layout, self, notes
        n_without += n_empty
        notes = note_ids(
            path, column, n_rows=self.n_rows, n_without=n_without, n_records=n - n_empty
        )
        if not layout.joined:  # ids of the first rows were all different
            cells = table.columns[layout.codes[0]]
            single = holds_one_code([cell for cell in cells if cell])
            layout = replace(layout, form="long" if single else "lists", joined=True)
        kept = each_part(lambda part: part != 0, self.sums) if n_empty else None
        return layout, replace(self, kept=kept), notes


def number_cells(
    tables: Iterable[grid.Table],
    layout: Layout,
    keep: Callable[[Batch], None],
    *,
    most: int | None = None,
) -> NumberedTable:
    """Give a number to each cell of tables of whole records, and `keep` those of each record.

    More than `most` different cells are refused. The result has neither blocks nor checksums.
    """
    columns = {name: _ColumnNumbers(layout.form == "wide") for name in layout.codes}
    fractional: Counter[str] = Counter()
    n_cells = n_rows = n_without_id = 0
    for table in tables:
        record, ids = _find_records(table, layout)
        batch = Batch(record, ids, [])
        for name, column in columns.items():
            cells, n_before = table.cells(name), len(column.place)
            number = column.add(cells, n_cells, n_rows)
            n_cells += len(column.place) - n_before
            batch.columns.append((number, cells.index.astype(np.min_scalar_type(len(number)))))
        if most is not None and n_cells > most:
            raise InvalidDataError(
                "[too_many_different_cells] {path} has more than {most:,} different cells, as many "
                "as {parameters.memory} allows; write one row per record and code, which takes "
                "little memory, or allow more",
                path=str(table.path),
                most=most,
            )
        keep(batch)
        fractional.update(table.fractional)
        n_without_id += int((record < 0).sum())
        n_rows += table.n_rows
    cells_of = {name: column.cells() for name, column in columns.items()}
    return NumberedTable(cells_of, n_rows, n_without_id, dict(fractional))


def _find_records(table: grid.Table, layout: Layout) -> tuple[Ints, NDArray[Any] | None]:
    """Return the record of each row, -1 for none, and the ids of records."""
    rows = np.arange(table.n_rows)
    if layout.key is None:
        return rows, None
    ids = np.array([text.strip() for text in table.columns[layout.key]], dtype=object)
    if not layout.by_row:
        return rows, ids
    # A row without an id is a record of its own, or of none if rows are joined by their ids.
    empty, keys = ids == "", ids.copy()
    keys[empty] = None if layout.joined else rows[empty]
    record, unique = pd.factorize(keys)
    names = [key if isinstance(key, str) else "" for key in unique]
    return np.asarray(record, dtype=np.intp), np.array(names, dtype=object)


def whole_records(parts: Iterable[grid.Table], layout: Layout) -> Iterator[grid.Table]:
    """Yield the rows of a table in parts, so that adjacent rows with the same id are in one."""
    held: grid.Table | None = None
    for part in parts:
        if layout.key is None or not layout.by_row:
            yield part
            continue
        table = part if held is None else _stack(held, part)
        ids = table.columns[layout.key]
        last = next((i for i in range(len(ids) - 1, -1, -1) if ids[i] != ids[-1]), -1) + 1
        if last:
            yield _cut(table, 0, last)
        held = _cut(table, last, table.n_rows)
    if held is not None:
        yield held


def _stack(first: grid.Table, second: grid.Table) -> grid.Table:
    columns = {name: [*cells, *second.columns[name]] for name, cells in first.columns.items()}
    counts = Counter(first.fractional) + Counter(second.fractional)
    return replace(
        first, columns=columns, n_rows=first.n_rows + second.n_rows, fractional=dict(counts)
    )


def _cut(table: grid.Table, start: int, stop: int) -> grid.Table:
    columns = {name: cells[start:stop] for name, cells in table.columns.items()}
    fractional = {} if start else table.fractional  # counted with the first part
    return replace(table, columns=columns, n_rows=stop - start, fractional=fractional)


def checksums(ids: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a number for each id; 0 if it is empty."""
    sums = pd.util.hash_array(np.asarray(ids, dtype=object), categorize=False) | np.uint64(1)
    return np.where(ids == "", np.uint64(0), sums)


@dataclass(frozen=True)
class Coding:
    """How many entries of each code are in a cell, and which codes it leaves unknown."""

    ones: sp.csr_array[Any]  # (n_cells, n_codes)
    gaps: sp.csr_array[Any]
    absent: Ints  # codes that all cells leave unknown

    @classmethod
    def of(cls, entries: Entries, n_cells: int, column: Ints, d: int) -> Coding:
        """Return the coding of `d` columns, given the column of each code; -1 for none.

        Columns given for more codes than cells have, beyond the codes of the entries, are absent.
        """
        shape = (n_cells, d)

        def matrix(cell: Ints, code: Ints) -> sp.csr_array[Any]:
            known = column[code] >= 0
            return count_pairs(cell[known], column[code[known]], shape)

        ones = matrix(entries.cell, entries.code)
        gaps = matrix(entries.missing_cell, entries.missing_code)
        absent = column[len(entries.codes) :]
        return cls(ones, gaps, absent[absent >= 0])

    @property
    def heeded(self) -> NDArray[np.bool_]:
        """Which cells say something."""
        return np.diff(self.ones.indptr) + np.diff(self.gaps.indptr) > 0

    def records(self, cells: sp.csr_array[Any]) -> tuple[sp.csr_array[Any], Ints]:
        """Return records given their cells: 1 or NaN; and the repeated entries of each code."""
        n, (n_cells, d) = cells.shape[0], self.ones.shape
        cells = sp.csr_array((cells.data, cells.indices, cells.indptr), shape=(n, n_cells))
        X = sp.csr_array(cells @ self.ones).astype(np.float64)
        X.sort_indices()
        repeated = np.asarray(X.sum(axis=0)).ravel().astype(np.int64)
        X.data[:] = 1.0
        repeated -= np.bincount(X.indices, minlength=d)
        gaps = sp.csr_array(cells @ self.gaps)
        if len(self.absent):
            rows, columns = np.divmod(np.arange(n * len(self.absent)), len(self.absent))
            gaps = gaps + count_pairs(rows, self.absent[columns], (n, d))
        return (_with_gaps(X, gaps) if gaps.nnz else X), repeated


def _with_gaps(X: sp.csr_array[Any], gaps: sp.csr_array[Any]) -> sp.csr_array[Any]:
    """Return X with NaN where `gaps` has entries and X has none."""
    gaps = gaps.astype(np.float64)
    gaps.data[:] = 1.0
    # A record with the code in one row has it, even if the code is missing in another.
    gaps = sp.csr_array(gaps - gaps.multiply(X))
    gaps.eliminate_zeros()
    gaps.data[:] = np.nan
    return sp.csr_array(X + gaps)


def count_pairs(row: Ints, column: Ints, shape: tuple[int, int]) -> sp.csr_array[Any]:
    """Return a matrix with the number of times that each pair occurs."""
    places = (row.astype(np.int32), column.astype(np.int32))
    return sp.csr_array(sp.coo_array((np.ones(len(row), np.int64), places), shape=shape))
