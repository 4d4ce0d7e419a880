"""Read cells that contain one or more codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.exceptions import InvalidDataError, ReadError
from momentree.messages import Message
from momentree.readers.records._split import are_dates, code_separators, split_cells
from momentree.readers.tables.table import Cells, Table, excerpt

LONGEST_CODE = 100
"""Longer values are text, not codes."""

MAX_DATES = 0.05
"""With a larger fraction of dates, a column does not contain codes."""


@dataclass(frozen=True)
class Entries:
    """Row `row[i]` has code `codes[code[i]]`; likewise for missing cells."""

    row: Ints
    code: Ints
    codes: list[str]
    missing_row: Ints
    missing_code: Ints
    notes: list[Message]


@dataclass(frozen=True)
class _Column:
    """A column whose distinct values are split into parts."""

    name: str
    cells: Cells
    value: Ints  # index of the value of each part, ascending
    parts: NDArray[Any]
    is_date: NDArray[np.bool_]

    @property
    def n_rows(self) -> Ints:
        """Number of rows in which each part occurs."""
        return self.cells.counts[self.value]

    def first_row(self, wanted: NDArray[np.bool_]) -> int:
        """Return the first row that contains one of the parts."""
        return int(np.argmax(np.isin(self.cells.index, self.value[wanted])))

    def by_row(self) -> tuple[Ints, Ints]:
        """Return the row and the index of each part that is not a date, in row order."""
        value = self.value[~self.is_date]
        # Values are sorted, so the parts of each value, and of each row, are a slice.
        lengths = np.bincount(value, minlength=len(self.cells.texts))
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        n = lengths[self.cells.index]
        row = np.repeat(np.arange(len(n)), n)
        within = np.arange(len(row)) - np.repeat(np.cumsum(n) - n, n)
        return row, starts[self.cells.index][row] + within


def read_code_cells(table: Table, names: Sequence[str]) -> Entries:
    """Read columns of codes."""
    cells = [table.cells(name) for name in names]
    texts = np.concatenate([one.texts for one in cells])
    pattern, notes = code_separators(texts)
    columns = []
    for name, one in zip(names, cells, strict=True):
        value, parts = split_cells(one.texts, pattern)
        columns.append(_Column(name, one, value, parts, are_dates(parts)))
    notes += _check_dates(table, columns)
    rows, tokens, pieces = [], [], []
    n_pieces = 0
    for column in columns:
        _refuse_text(table, column)
        row, token = column.by_row()
        rows.append(row)
        tokens.append(token + n_pieces)
        pieces.append(column.parts[~column.is_date])
        n_pieces += len(pieces[-1])
    written, raw = pd.factorize(np.concatenate(pieces))
    upper = np.array([text.upper() for text in raw], dtype=object)
    canonical, codes = pd.factorize(upper)
    row, token = np.concatenate(rows), written[np.concatenate(tokens)]
    if n_padded := sum(one.n_padded for one in cells):
        notes.append(Message("blanks_removed", n_entries=n_padded))
    lower = (upper != raw)[written]
    n_rows = np.concatenate([one.n_rows[~one.is_date] for one in columns])
    if n_lower := int(n_rows[lower].sum()):
        notes.append(Message("upper_case", n_entries=n_lower))
    none = np.empty(0, dtype=np.intp)
    return Entries(row, canonical[token], list(map(str, codes)), none, none, notes)


def _check_dates(table: Table, columns: Sequence[_Column]) -> list[Message]:
    """Raise an error if there are many dates among the codes; return a note on a few."""
    n_dates = np.array([int(one.n_rows[one.is_date].sum()) for one in columns])
    n_entries = np.array([int(one.n_rows.sum()) for one in columns])
    if not n_dates.any():
        return []
    mostly = 2 * n_dates > n_entries
    j = int(np.argmax(mostly if mostly.any() else n_dates > 0))
    column = columns[j]
    row = column.first_row(column.is_date)
    place = table.place(row, column.name)
    if not mostly.any() and n_dates.sum() <= MAX_DATES * n_entries.sum():
        return [
            Message(
                "dates_left_out",
                n_entries=int(n_dates.sum()),
                origin=place["origin"],
                column=place["column"],
            )
        ]
    date = column.parts[column.is_date & (column.value == column.cells.index[row])][0]
    code = "column_of_dates" if mostly.any() else "dates_among_codes"
    counted = (n_dates[j], n_entries[j]) if mostly.any() else (n_dates.sum(), n_entries.sum())
    raise InvalidDataError(
        code,
        **place,
        value=excerpt(date),
        n_dates=int(counted[0]),
        n_entries=int(counted[1]),
        parameter="code_columns",
    )


def _refuse_text(table: Table, column: _Column) -> None:
    codes = pd.unique(column.parts[~column.is_date])
    too_long = {part for part in codes if len(part) > LONGEST_CODE}
    if too_long:
        first = next(i for i, part in enumerate(column.parts) if part in too_long)
        text = column.parts[first]
        row = int(np.argmax(column.cells.index == column.value[first]))
        raise ReadError(
            "too_long_for_a_code",
            **table.place(row, column.name),
            value=excerpt(text),
            length=len(text),
            longest=LONGEST_CODE,
            parameter="code_columns",
        )
