"""The different cells of a table: numbered part by part, and interpreted when all are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Ints
from momentree.exceptions import InvalidDataError
from momentree.readers.records.layout import Layout
from momentree.readers.records.matrix import with_gaps
from momentree.readers.tables.roles import ZEROS
from momentree.readers.tables.table import Cells, Table


@dataclass(frozen=True)
class CountedCells(Cells):
    """The different cells of a column, one row each, with the number of rows in the table."""

    n_rows: Ints

    @property
    def counts(self) -> Ints:
        """Number of rows with each value."""
        return self.n_rows


@dataclass(frozen=True)
class DifferentCells(Table):
    """A table in which each different cell of a column is a row."""

    of: Mapping[str, CountedCells] = field(default_factory=dict)
    first: Mapping[str, list[tuple[str, int]]] = field(default_factory=dict)  # its column and row

    def cells(self, name: str) -> Cells:
        """Return the different cells."""
        return self.of[name]

    def place(self, row: int, column: str) -> dict[str, Any]:
        """Return the location of the first of these cells in the file."""
        name, first = self.first[column][row]
        return super().place(first, name)


class CellNumbers:
    """Numbers the different cells of columns, or of all code columns together."""

    def __init__(self, layout: Layout, most: int, path: Path) -> None:
        self._wide, self._most, self._path = layout.form == "wide", most, path
        self._number: dict[tuple[int, str], int] = {}
        self.skipped: set[int] = set()  # zeros of wide tables, and empty cells of others
        self.counts = np.zeros(0, dtype=np.int64)
        self.first: list[tuple[int, int]] = []  # column and row
        self.n_padded = 0

    @property
    def cells(self) -> list[tuple[int, str]]:
        """Column (0 for all code columns together) and text of each cell."""
        return list(self._number)

    def of(self, column: int, cells: Cells, above: int) -> Ints:
        """Return the number of the cell of each row; -1 for those that say nothing."""
        numbers = []
        _, first = np.unique(cells.index, return_index=True)
        for text, row in zip(cells.texts.tolist(), first.tolist(), strict=True):
            key = (column if self._wide else 0, text)
            number = self._number.setdefault(key, len(self._number))
            if number == len(self.first):
                self.first.append((column, above + row))
                if text.lower() in ZEROS if self._wide else not text:
                    self.skipped.add(number)
            numbers.append(number)
        if len(self._number) > self._most:
            raise InvalidDataError(
                "too_many_different_cells",
                path=str(self._path),
                most=self._most,
                parameter="memory",
            )
        self.n_padded += cells.n_padded
        self.counts = np.concatenate(
            [self.counts, np.zeros(len(self._number) - len(self.counts), np.int64)]
        )
        at_number = np.array(numbers, dtype=np.intp)
        np.add.at(self.counts, at_number, cells.counts)
        shown = np.array([-1 if one in self.skipped else one for one in numbers], dtype=np.intp)
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


def whole_records(parts: Iterable[Table], key: str | None) -> Iterator[Table]:
    """Yield the rows of a table in parts, so that rows with the same id are in one part."""
    held: Table | None = None
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


def _stacked(first: Table, second: Table) -> Table:
    columns = {name: [*cells, *second.columns[name]] for name, cells in first.columns.items()}
    return replace(first, columns=columns, n_rows=first.n_rows + second.n_rows)


def _rows(table: Table, start: int, stop: int) -> Table:
    columns = {name: cells[start:stop] for name, cells in table.columns.items()}
    return replace(table, columns=columns, n_rows=stop - start)
