"""The different cells of a table: the first stage of coded records on disk.

The cells are numbered part by part, and interpreted when all are known.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.core.limits import memory_bytes
from momentree.core.pages import each_part
from momentree.core.progress import Pace
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message, wording
from momentree.readers.copies import parts_of_equal
from momentree.readers.records.layout import Layout, holds_one_code
from momentree.readers.records.records import note_ids, with_gaps
from momentree.readers.stored import arrays
from momentree.readers.stored.counts import MAX_COLUMNS, CountsWriter, StoredCounts
from momentree.readers.stored.work import WorkFolder
from momentree.readers.tables import files, grid, reader, roles
from momentree.readers.text.selection import BYTES_PER_WORD


@dataclass(frozen=True)
class CountedCells(grid.Cells):
    """The different cells of a column, one row each, with the number of rows in the table."""

    n_rows: Ints

    @property
    def counts(self) -> Ints:
        """Number of rows with each value."""
        return self.n_rows


@dataclass(frozen=True)
class DifferentCells(grid.Table):
    """A table in which each different cell of a column is a row."""

    of: Mapping[str, CountedCells] = field(default_factory=dict)
    first: Mapping[str, list[tuple[str, int]]] = field(default_factory=dict)  # its column and row

    def cells(self, name: str) -> grid.Cells:
        """Return the different cells."""
        return self.of[name]

    def place(self, row: int, column: str) -> dict[str, Any]:
        """Return the location of the first of these cells in the file."""
        name, first = self.first[column][row]
        return super().place(first, name)


def open_in_parts(
    path: str | PathLike[str], memory: int | str, opening: Mapping[str, Any]
) -> tuple[int, grid.Source]:
    """Return the bytes of memory that are allowed, and a table that can be read in parts."""
    source, allowed = files.check_exists(path), memory_bytes(memory)
    table = reader.open_table(source, **opening)
    if table.parts is None:
        raise InvalidParameterError(
            "[table_not_streamed] {path} can only be read as a whole; save it as CSV or Parquet, "
            "or leave out {parameters.memory}",
            path=str(source),
        )
    return allowed, table


class CellNumbers:
    """Numbers the different cells of columns, or of all code columns together."""

    def __init__(self, layout: Layout, most: int, path: Path) -> None:
        self._wide, self._most, self._path = layout.form == "wide", most, path
        self._number: dict[tuple[int, str], int] = {}
        self.skipped: set[int] = set()  # zeros of wide tables, and empty cells of others
        self.counts = np.zeros(0, dtype=np.int64)
        self.first: list[tuple[int, int]] = []  # column and row
        self.n_padded = 0

    def write(self, folder: Path) -> None:
        """Write the cells: column (0 for all code columns together), text, rows, first place."""
        arrays.write_strings(folder / "texts", (text for _, text in self._number))
        first = np.array(self.first, dtype=np.int64).reshape(-1, 2)
        columns = np.array([column for column, _ in self._number], dtype=np.int64)
        arrays.write_array(folder / "columns.npy", columns)
        arrays.write_array(folder / "counts.npy", self.counts)
        arrays.write_array(folder / "first_column.npy", first[:, 0])
        arrays.write_array(folder / "first_row.npy", first[:, 1])

    def of(self, column: int, cells: grid.Cells, above: int) -> Ints:
        """Return the number of the cell of each row; -1 for those that say nothing."""
        numbers = []
        _, first = np.unique(cells.index, return_index=True)
        for text, row in zip(cells.texts.tolist(), first.tolist(), strict=True):
            key = (column if self._wide else 0, text)
            number = self._number.setdefault(key, len(self._number))
            if number == len(self.first):
                self.first.append((column, above + row))
                if text.lower() in roles.ZEROS if self._wide else not text:
                    self.skipped.add(number)
            numbers.append(number)
        if len(self._number) > self._most:
            raise InvalidDataError(
                "[too_many_different_cells] {path} has more than {most:,} different cells, as many "
                "as {parameters.memory} allows; write one row per record and code, which takes "
                "little memory, or allow more",
                path=str(self._path),
                most=self._most,
            )
        self.n_padded += cells.n_padded
        self.counts = np.concatenate(
            [self.counts, np.zeros(len(self._number) - len(self.counts), np.int64)]
        )
        at_number = np.array(numbers, dtype=np.intp)
        np.add.at(self.counts, at_number, cells.counts)
        shown = np.array(
            [-1 if number in self.skipped else number for number in numbers], dtype=np.intp
        )
        return np.asarray(shown[cells.index])


@dataclass(frozen=True)
class Coding:
    """How many entries of each code are in a cell, and which codes it leaves unknown."""

    ones: sp.csr_array[Any]  # (n_cells, n_codes)
    gaps: sp.csr_array[Any] | None = None

    def grouped(self, column: Ints, d: int) -> Coding:
        """Return the coding of groups of codes, given the group of each code."""
        groups = matrix_at(np.arange(len(column)), column, (len(column), d))
        gaps = None if self.gaps is None else sp.csr_array(self.gaps @ groups)
        return Coding(sp.csr_array(self.ones @ groups), gaps)

    def records(self, cells: sp.csr_array[Any]) -> tuple[sp.csr_array[Any], Ints]:
        """Return records given their cells: 1 or NaN; and the repeated entries of each code."""
        shape = (cells.shape[0], self.ones.shape[0])
        cells = sp.csr_array((cells.data, cells.indices, cells.indptr), shape=shape)
        X = sp.csr_array(cells @ self.ones).astype(np.float64)
        X.sort_indices()
        repeated = np.asarray(X.sum(axis=0)).ravel().astype(np.int64)
        X.data[:] = 1.0
        repeated -= np.bincount(X.indices, minlength=X.shape[1])
        if self.gaps is not None:
            gaps = sp.csr_array(cells @ self.gaps).astype(np.float64)
            gaps.data[:] = 1.0
            X = with_gaps(X, gaps)
        return X, repeated


def matrix_at(row: Ints, column: Ints, shape: tuple[int, int]) -> sp.csr_array[Any]:
    """Return how often each place occurs."""
    places = (row.astype(np.int32), column.astype(np.int32))
    return sp.csr_array(sp.coo_array((np.ones(len(row), np.int64), places), shape=shape))


def whole_records(parts: Iterable[grid.Table], key: str | None) -> Iterator[grid.Table]:
    """Yield the rows of a table in parts, so that rows with the same id are in one part."""
    held: grid.Table | None = None
    for part in parts:
        if key is None:
            yield part
            continue
        table = part if held is None else _stacked(held, part)
        ids = table.columns[key]
        last = next((i for i in range(len(ids) - 1, -1, -1) if ids[i] != ids[-1]), -1) + 1
        if last:
            yield _rows(table, 0, last)
        held = _rows(table, last, table.n_rows)
    if held is not None:
        yield held


def _stacked(first: grid.Table, second: grid.Table) -> grid.Table:
    columns = {name: [*cells, *second.columns[name]] for name, cells in first.columns.items()}
    return replace(first, columns=columns, n_rows=first.n_rows + second.n_rows)


def _rows(table: grid.Table, start: int, stop: int) -> grid.Table:
    columns = {name: cells[start:stop] for name, cells in table.columns.items()}
    return replace(table, columns=columns, n_rows=stop - start)


log = logging.getLogger("momentree.readers")

CELLS = "1-cells"
"""The stage, by the name of its folder."""
SHARE_OF_CELLS = 0.15
"""Fraction of the memory for the different cells."""


@dataclass(frozen=True)
class CellStage:
    """The different cells of a table, and the numbers of the cells of each record."""

    work: WorkFolder
    source: grid.Source
    layout: Layout

    def write(self, memory: int) -> None:
        """Give a number to each different cell, and write those of each record."""
        layout, key = self.layout, self.layout.key
        path = self.source.head.path
        numbers = CellNumbers(layout, int(memory * SHARE_OF_CELLS / BYTES_PER_WORD), path)
        names = [*layout.codes, *([] if key is None else [key])]
        pace = Pace(log, f"reading {path.name}", self.source.n_rows)
        n_rows = n_records = n_without_id = 0
        kinds: dict[str, str] = {}
        with (
            self.work.stage(CELLS) as (folder, noted),
            CountsWriter(folder) as writer,
            arrays.ArrayWriter(folder / "checksums.npy", np.uint64) as sums,
        ):
            for table in whole_records(self.parts(names), key if self.by_row else None):
                kinds |= table.kinds
                record, ids = self._records(table)
                X = self._numbered(numbers, table, record, n_rows)
                writer.append(X, None if ids is None else ids.tolist())
                if ids is not None:
                    sums.append(_checksums(ids))
                    n_without_id += int((record < 0).sum())
                n_rows, n_records = n_rows + table.n_rows, n_records + X.shape[0]
                pace.reached(n_rows, f"{n_records:,} records")
            writer.finish()
            sums.finish()
            numbers.write(folder)
            noted |= {
                "n_rows": n_rows,
                "n_without_id": n_without_id,
                "n_padded": numbers.n_padded,
                "kinds": kinds,
            }

    def _numbered(
        self, numbers: CellNumbers, table: grid.Table, record: Ints, above: int
    ) -> sp.csr_array[Any]:
        """Return how often each cell is in each record."""
        cells = [
            numbers.of(j, table.cells(name), above) for j, name in enumerate(self.layout.codes)
        ]
        row, number = np.tile(record, len(cells)), np.concatenate(cells)
        there = (row >= 0) & (number >= 0)
        return matrix_at(row[there], number[there], (int(record.max(initial=-1)) + 1, MAX_COLUMNS))

    @property
    def by_row(self) -> bool:
        """Whether rows with the same id may be one record."""
        layout = self.layout
        one = len(layout.codes) == 1 and layout.form in ("long", "lists")
        return layout.key is not None and (layout.joined or one)

    def parts(self, names: Sequence[str]) -> Iterator[grid.Table]:
        """Yield columns of the table in parts."""
        assert self.source.parts is not None  # noqa: S101 - for the type checker; checked before
        return self.source.parts(list(dict.fromkeys(names)))

    def _records(self, table: grid.Table) -> tuple[Ints, Any]:
        """Return the record of each row, -1 for none, and the ids of records."""
        layout, n = self.layout, table.n_rows
        if layout.key is None:
            return np.arange(n), None
        ids = np.array([text.strip() for text in table.columns[layout.key]], dtype=object)
        if not self.by_row:
            return np.arange(n), ids
        kept = np.flatnonzero(ids != "") if layout.joined else np.arange(n)
        new = np.ones(len(kept), dtype=bool)
        # A row without an id is a record of its own.
        new[1:] = (ids[kept[1:]] != ids[kept[:-1]]) | (ids[kept[1:]] == "")
        record = np.full(n, -1, dtype=np.intp)
        record[kept] = np.cumsum(new) - 1
        return record, ids[kept[new]]

    def joined(
        self, stored: StoredCounts, noted: Mapping[str, Any]
    ) -> tuple[Layout, Any, list[Message]]:
        """Return the layout, known for all rows; a mask of records to keep, or None; and notes."""
        layout, n = self.layout, len(stored)
        if layout.key is None:
            return layout, None, [Message(wording.NO_IDS)]
        path, column = self.source.head.path, grid.excerpt(layout.key)
        sums = arrays.open_array(self.work.path / CELLS / "checksums.npy")
        n_again = n_empty = 0
        for part, _ in parts_of_equal(sums):
            named = part[part != 0]
            n_empty += len(part) - len(named)
            n_again += len(named) - len(np.unique(named))
        if self.by_row and n_again:
            raise InvalidDataError(
                "[rows_not_together] {path}: rows of the same record are not together; column "
                "{column!r} returns to an earlier id {n_returns:~time}. Sort the table by this "
                "column, or leave out {parameters.memory}",
                path=str(path),
                n_returns=n_again,
                column=column,
            )
        n_rows, n_without = int(noted["n_rows"]), int(noted["n_without_id"])
        if not layout.joined and not (self.by_row and n_rows - n_without > n):
            notes = note_ids(path, column, n_rows=n_rows, n_without=n_empty, n_again=n_again)
            return layout, None, notes
        n_without += n_empty
        notes = note_ids(path, column, n_rows=n_rows, n_without=n_without, n_records=n - n_empty)
        if not layout.joined:  # ids of the first rows were all different
            cells = self.source.head.columns[layout.codes[0]]
            single = holds_one_code([cell for cell in cells if cell])
            layout = replace(layout, form="long" if single else "lists", joined=True)
        return layout, each_part(lambda part: part != 0, sums) if n_empty else None, notes

    def different(self, noted: Mapping[str, Any]) -> DifferentCells:
        """Return the table of different cells."""
        place = self.work.path / CELLS
        texts = np.array(list(arrays.StoredStrings(place / "texts")), dtype=object)
        columns, counts, first_column, first_row = (
            np.asarray(arrays.open_array(place / f"{name}.npy"))
            for name in ("columns", "counts", "first_column", "first_row")
        )
        names = self.layout.codes
        of, first = {}, {}
        for j, name in enumerate(names if self.layout.form == "wide" else names[:1]):
            at = np.flatnonzero(columns == j)
            n_padded = int(noted["n_padded"]) if j == 0 else 0
            of[name] = CountedCells(np.arange(len(at)), texts[at], n_padded, counts[at])
            first[name] = [(names[first_column[i]], int(first_row[i])) for i in at]
        numeric = {
            name: int(counts.sum())
            for name in names[:1]
            if noted["kinds"].get(name, "").startswith(("float", "double"))
            and any("." in text for text in texts)
        }
        head = self.source.head
        origin = head.origin if head.n_rows >= int(noted["n_rows"]) else self.source.origin
        n_rows = int(noted["n_rows"])
        table = (head.path, head.columns, n_rows, origin, head.kinds, numeric)
        return DifferentCells(*table, of=of, first=first)


def _checksums(ids: Any) -> NDArray[np.uint64]:
    """Return a number for each id; 0 if it is empty."""
    found = pd.util.hash_array(np.asarray(ids, dtype=object), categorize=False) | np.uint64(1)
    return np.where(ids == "", np.uint64(0), found)
