"""Read the cells of records: one or more codes in each, or yes and no in a column for each code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.exceptions import InvalidDataError, ReadError
from momentree.messages import Message
from momentree.readers.records.split import are_dates, code_separators, split_cells
from momentree.readers.tables.roles import MARKS, MISSING, ONES, ZEROS
from momentree.readers.tables.table import Cells, Table, excerpt, excerpts, listed

MAX_CODE = 100
"""Longer values are text, not codes."""

MAX_DATES = 0.05
"""With a larger fraction of dates, a column does not contain codes."""

_ZERO, _ONE, _MISSING, _OTHER = range(4)


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
    texts = np.concatenate([column_cells.texts for column_cells in cells])
    pattern, notes = code_separators(texts)
    columns = []
    for name, column_cells in zip(names, cells, strict=True):
        value, parts = split_cells(column_cells.texts, pattern)
        columns.append(_Column(name, column_cells, value, parts, are_dates(parts)))
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
    if n_padded := sum(column_cells.n_padded for column_cells in cells):
        notes.append(Message("blanks_removed", n_entries=n_padded))
    lower = (upper != raw)[written]
    n_rows = np.concatenate([column.n_rows[~column.is_date] for column in columns])
    if n_lower := int(n_rows[lower].sum()):
        notes.append(Message("upper_case", n_entries=n_lower))
    none = np.empty(0, dtype=np.intp)
    return Entries(row, canonical[token], list(map(str, codes)), none, none, notes)


def _check_dates(table: Table, columns: Sequence[_Column]) -> list[Message]:
    """Raise an error if there are many dates among the codes; return a note on a few."""
    n_dates = np.array([int(column.n_rows[column.is_date].sum()) for column in columns])
    n_entries = np.array([int(column.n_rows.sum()) for column in columns])
    if not n_dates.any():
        return []
    mostly = 2 * n_dates > n_entries
    j = int(np.argmax(mostly if mostly.any() else n_dates > 0))
    column = columns[j]
    row = column.first_row(column.is_date)
    place = table.place(row, column.name)
    if not mostly.any() and n_dates.sum() <= MAX_DATES * n_entries.sum():
        del place["path"]
        return [Message("dates_left_out", n_entries=int(n_dates.sum()), **place)]
    date = column.parts[column.is_date & (column.value == column.cells.index[row])][0]
    values = {**place, "value": excerpt(date), "parameter": "code_columns"}
    if mostly.any():
        counts = {"n_dates": int(n_dates[j]), "n_entries": int(n_entries[j])}
        raise InvalidDataError("column_of_dates", **values, **counts)
    counts = {"n_dates": int(n_dates.sum()), "n_entries": int(n_entries.sum())}
    raise InvalidDataError("dates_among_codes", **values, **counts)


def _refuse_text(table: Table, column: _Column) -> None:
    codes = pd.unique(column.parts[~column.is_date])
    too_long = {part for part in codes if len(part) > MAX_CODE}
    if too_long:
        first = next(i for i, part in enumerate(column.parts) if part in too_long)
        text = column.parts[first]
        row = int(np.argmax(column.cells.index == column.value[first]))
        raise ReadError(
            "too_long_for_a_code",
            **table.place(row, column.name),
            value=excerpt(text),
            length=len(text),
            longest=MAX_CODE,
            parameter="code_columns",
        )


@dataclass
class _Answers:
    """Yes-or-no columns that are kept, with the rows of ones and missing cells; and the others."""

    ones: dict[str, Ints] = field(default_factory=dict)
    missing: dict[str, Ints] = field(default_factory=dict)
    text: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)  # empty cells are zeros
    unmarked: list[str] = field(default_factory=list)  # only ones and empty cells
    invalid: dict[str, tuple[Cells, NDArray[Any]]] = field(default_factory=dict)


def read_binary_cells(
    table: Table, names: Sequence[str], *, chosen: bool, empty_is_zero: bool, known: bool
) -> Entries:
    """Read columns of 0 and 1, in which empty cells and NA are missing values.

    Text columns are left out unless the caller has `chosen` them. `known` columns, those of an
    existing coder, may lack zeros.
    """
    answers = _Answers()
    for name in names:
        _read_answers(
            answers, name, table.cells(name),
            chosen=chosen, empty_is_zero=empty_is_zero, known=known,
        )  # fmt: skip
    unmarked = answers.unmarked
    if answers.invalid:
        raise _not_binary(table, answers.invalid, chosen=chosen)
    if 2 * len(unmarked) > len(answers.ones) and not known:
        raise InvalidDataError(
            "no_zeros",
            path=str(table.path),
            n_columns=len(unmarked),
            n_code_columns=len(answers.ones),
            column=excerpt(unmarked[0]),
            parameter="empty",
        )
    notes = []
    if answers.text:
        notes.append(Message("text_left_out", **listed(answers.text)))
    if answers.empty:
        notes.append(Message("empty_columns_left_out", **listed(answers.empty)))
    if answers.filled:
        notes.append(Message("empty_is_zero", n_columns=len(answers.filled)))
    if unmarked:
        notes.append(Message("ones_or_nothing", **listed(unmarked), parameter="empty"))
    if n_missing := sum(map(len, answers.missing.values())):
        notes.append(Message("missing_cells", n_missing=n_missing))
    rows = _stacked([*answers.ones.values()]), _stacked([*answers.missing.values()])
    return Entries(*rows[0], list(answers.ones), *rows[1], notes)


def _read_answers(
    answers: _Answers, name: str, cells: Cells, *, chosen: bool, empty_is_zero: bool, known: bool
) -> None:
    kinds = np.array([_kind(text) for text in cells.texts])
    present = {text.lower() for text in cells.texts} - MISSING
    blank = cells.texts == ""
    if not present and not (known and empty_is_zero):
        answers.empty.append(name)
        return
    if (kinds == _OTHER).any():
        if not chosen and _is_text(cells, kinds):
            answers.text.append(name)
        else:
            answers.invalid[name] = cells, kinds
        return
    if empty_is_zero or present <= MARKS:
        # Marks alone are ticks on a form, where an empty cell means no.
        if cells.counts[blank].sum():
            answers.filled.append(name)
        kinds[blank] = _ZERO
    elif not (kinds == _ZERO).any() and (kinds == _MISSING).any():
        answers.unmarked.append(name)
    of_row = kinds[cells.index]
    answers.ones[name] = np.flatnonzero(of_row == _ONE)
    answers.missing[name] = np.flatnonzero(of_row == _MISSING)


def _kind(text: str) -> int:
    lower = text.lower()
    if lower in ONES:
        return _ONE
    if lower in ZEROS:
        return _ZERO
    return _MISSING if lower in MISSING else _OTHER


def _stacked(rows: Sequence[Ints]) -> tuple[Ints, Ints]:
    if not rows:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    return np.concatenate(rows), np.repeat(np.arange(len(rows)), list(map(len, rows)))


def _is_text(cells: Cells, kinds: NDArray[Any]) -> bool:
    """Return whether a column contains words or dates, not numbers or 0 and 1 with a typo."""
    counts = cells.counts
    other = kinds == _OTHER
    # Single letters beside others do not mean yes or no, such as the f of "f" and "m".
    clear = [len(text) > 1 or text in "01" for text in cells.texts]
    if counts[other].sum() <= counts[(kinds < _MISSING) & clear].sum():
        return False
    numbers = pd.to_numeric(pd.Series(cells.texts[other], dtype=object), errors="coerce")
    return bool(numbers.isna().any())


def _not_binary(
    table: Table, invalid: dict[str, tuple[Cells, NDArray[Any]]], *, chosen: bool
) -> InvalidDataError:
    """Return the error for the first invalid value, which also names other invalid columns."""
    name, (cells, kinds) = next(iter(invalid.items()))
    row = int(np.argmax((kinds == _OTHER)[cells.index]))
    others = list(invalid)[1:]
    choose = Message("leave_out_of", parameter="code_columns")
    return InvalidDataError(
        "cell_not_binary",
        **table.place(row, name),
        value=excerpt(cells.texts[cells.index[row]]),
        others=Message("other_columns", columns=excerpts(others)) if others else "",
        remedy=choose if chosen else Message("ignore_or_choose"),
    )
