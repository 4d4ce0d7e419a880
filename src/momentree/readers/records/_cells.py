"""From cells to codes: cells with one code or several, and cells that say yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError, ReadError
from momentree.readers.records._names import MARKS, MISSING, ONES, ZEROS
from momentree.readers.records._parts import are_dates, between_codes, on_signs, split_cells
from momentree.readers.records._tables import excerpt, many, some
from momentree.readers.tables.table import Cells, Table

__all__ = ["Found", "codes_in_cells", "yes_or_no"]

Rows = NDArray[np.intp]

LONGEST_CODE = 100
"""More characters are text, not a code."""

DATES = 0.05
"""A larger share of dates among the codes is no slip: the column is another."""


@dataclass(frozen=True)
class Found:
    """Which row has which code: `codes[code[i]]` in row `row[i]`; also where a cell is missing."""

    row: Rows
    code: Rows
    codes: list[str]
    missing_row: Rows
    missing_code: Rows
    notes: list[str]


def codes_in_cells(table: Table, names: Sequence[str]) -> Found:
    """Read the codes that stand in cells, one or several in each.

    Raises
    ------
    InvalidDataError
        If most entries of a column are dates, or more than `DATES` of all.
    ReadError
        If a code is far too long to be one.
    """
    columns = [table.cells(name) for name in names]
    texts = np.concatenate([cells.texts for cells in columns])
    pattern = between_codes(texts)
    split = [split_cells(cells.texts, pattern) for cells in columns]
    dates = [are_dates(parts) for _, parts in split]
    notes = [*on_signs(texts), *_on_dates(table, names, columns, split, dates)]
    rows, tokens = [], []
    pieces: list[NDArray[Any]] = []
    n_pieces = 0
    for name, cells, (value, parts), date in zip(names, columns, split, dates, strict=True):
        value, parts = value[~date], parts[~date]
        _refuse_text(table, name, cells, value, parts)
        # Values come sorted, so the parts of each are a slice: rows take the slices of theirs.
        lengths = np.bincount(value, minlength=len(cells.texts))
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        n = lengths[cells.index]
        row = np.repeat(np.arange(len(n)), n)
        within = np.arange(len(row)) - np.repeat(np.cumsum(n) - n, n)
        tokens.append(starts[cells.index][row] + within + n_pieces)
        rows.append(row)
        pieces.append(parts)
        n_pieces += len(parts)
    written, raw = pd.factorize(np.concatenate(pieces))
    upper = np.array([text.upper() for text in raw], dtype=object)
    canonical, codes = pd.factorize(upper)
    row, token = np.concatenate(rows), written[np.concatenate(tokens)]
    padded = sum(cells.n_padded for cells in columns)
    if padded:
        notes.append(f"took away the blanks around the content of {many(padded, 'cell')}")
    lowered = int(np.count_nonzero((upper != raw)[token]))
    if lowered:
        notes.append(f"put {many(lowered, 'code')} in upper case")
    none = np.empty(0, dtype=np.intp)
    return Found(row, canonical[token], list(map(str, codes)), none, none, notes)


def _on_dates(
    table: Table,
    names: Sequence[str],
    columns: Sequence[Cells],
    split: Sequence[tuple[Rows, NDArray[Any]]],
    dates: Sequence[NDArray[np.bool_]],
) -> list[str]:
    """Refuse dates that are no slip among codes, and tell of the others."""
    n, total = np.zeros(len(names), dtype=np.intp), np.zeros(len(names), dtype=np.intp)
    for j, (cells, (value, _), date) in enumerate(zip(columns, split, dates, strict=True)):
        counts = cells.counts[value]
        n[j], total[j] = counts[date].sum(), counts.sum()
    if not n.any():
        return []
    most = 2 * n > total
    j = int(np.argmax(most if most.any() else n > 0))
    value, parts = split[j]
    with_date = np.isin(columns[j].index, value[dates[j]])
    row = int(np.argmax(with_date))
    if not most.any() and n.sum() <= DATES * total.sum():
        where = f"{table.origin(row)}, column {names[j][:60]!r}"
        return [f"left out {many(int(n.sum()), 'date')} among the codes, the first in {where}"]
    first = parts[dates[j] & (value == columns[j].index[row])][0]
    of = (
        f"{n[j]:,} of {total[j]:,} values of the column"
        if most.any()
        else f"{n.sum():,} of {total.sum():,} entries"
    )
    msg = (
        f"{table.path}, {table.origin(row)}, column {names[j][:60]!r}, holds {excerpt(first)}: {of} are dates, not codes; name "
        f"the column of codes with code_columns, or take the dates out of it"
    )
    raise InvalidDataError(msg)


def _refuse_text(table: Table, name: str, cells: Cells, value: Rows, parts: NDArray[Any]) -> None:
    too_long = {part for part in pd.unique(parts) if len(part) > LONGEST_CODE}
    if not too_long:
        return
    long = next(i for i, part in enumerate(parts) if part in too_long)
    row = int(np.argmax(cells.index == value[long]))
    msg = (
        f"{table.path}, {table.origin(row)}, column {name[:60]!r}, holds {excerpt(parts[long])}, {len(parts[long]):,} characters "
        f"with no sign between codes; a code has at most {LONGEST_CODE}: name the column of codes "
        f"with code_columns, or part codes by ';'"
    )
    raise ReadError(msg)


def yes_or_no(
    table: Table,
    names: Sequence[str],
    *,
    chosen: bool,
    empty_is_no: bool = False,
    as_before: bool = False,
) -> Found:
    """Read columns of 0 and 1, one a code; a cell that says neither is missing.

    Of new records in the columns of others, `as_before`, few may have a zero.

    Raises
    ------
    InvalidDataError
        If a value is neither; or if most columns hold 1 or nothing, which leaves no zero.
    """
    kept: list[str] = []
    texts: list[str] = []
    blank: list[str] = []
    unmarked: list[str] = []
    strange: dict[str, tuple[Cells, NDArray[Any]]] = {}
    taken = 0
    ones: list[Rows] = []
    empty: list[Rows] = []
    for name in names:
        cells = table.cells(name)
        kinds = np.array([_kind(text) for text in cells.texts])
        said = {text.lower() for text in cells.texts} - MISSING
        if not said and not (as_before and empty_is_no):
            blank.append(name)
            continue
        if (kinds == _OTHER).any():
            if not chosen and _is_text(cells, kinds):
                texts.append(name)
            else:
                strange[name] = cells, kinds
            continue
        if empty_is_no or said <= MARKS:
            # Marks alone are ticks on a form: nothing there means no.
            taken += int(cells.counts[cells.texts == ""].sum()) > 0
            kinds[cells.texts == ""] = _ZERO
        elif not (kinds == _ZERO).any() and (kinds == _MISSING).any():
            unmarked.append(name)
        row_kinds = kinds[cells.index]
        kept.append(name)
        ones.append(np.flatnonzero(row_kinds == _ONE))
        empty.append(np.flatnonzero(row_kinds == _MISSING))
    if strange:
        raise InvalidDataError(_neither(table, strange, chosen=chosen))
    notes = []
    if texts:
        notes.append(f"left out {many(len(texts), 'column')} of text: {some(texts)}")
    if blank:
        notes.append(f"left out {many(len(blank), 'column')} without a value: {some(blank)}")
    if taken:
        notes.append(f"took empty cells for no in {many(taken, 'column')}")
    if 2 * len(unmarked) > len(kept) and not as_before:
        msg = (
            f"{table.path}: {len(unmarked):,} of {many(len(kept), 'column')} of codes, such as "
            f"{unmarked[0][:60]!r}, hold 1 or nothing, and an empty cell is a missing value: pass "
            f"empty='zero' if it means that the record lacks the code, or write 0 where it does"
        )
        raise InvalidDataError(msg)
    if unmarked:
        notes.append(
            f"only 1 or nothing in {many(len(unmarked), 'column')}: {some(unmarked)}; their "
            f"empty cells are missing values (empty='zero' takes all empty cells for no)"
        )
    absent = sum(map(len, empty))
    if absent:
        notes.append(f"nothing or NA in {many(absent, 'cell')}: missing values, not zeros")
    row, code = _stacked(ones)
    missing_row, missing_code = _stacked(empty)
    return Found(row, code, kept, missing_row, missing_code, notes)


_ZERO, _ONE, _MISSING, _OTHER = range(4)


def _kind(text: str) -> int:
    lower = text.lower()
    if lower in ONES:
        return _ONE
    if lower in ZEROS:
        return _ZERO
    return _MISSING if lower in MISSING else _OTHER


def _stacked(rows: Sequence[Rows]) -> tuple[Rows, Rows]:
    lengths = [len(one) for one in rows]
    if not lengths:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    return np.concatenate(rows), np.repeat(np.arange(len(rows)), lengths)


def _is_text(cells: Cells, kinds: NDArray[Any]) -> bool:
    """Tell a column of words or dates from one of numbers, or of 0 and 1 with a slip."""
    counts = cells.counts
    other = kinds == _OTHER
    # Beside other letters, single ones say nothing of yes and no: the f of "f" and "m".
    clear = [len(text) > 1 or text in "01" for text in cells.texts]
    if counts[other].sum() <= counts[(kinds < _MISSING) & clear].sum():
        return False
    numbers = pd.to_numeric(pd.Series(cells.texts[other], dtype=object), errors="coerce")
    return bool(numbers.isna().any())


def _neither(table: Table, strange: dict[str, tuple[Cells, NDArray[Any]]], *, chosen: bool) -> str:
    """Say where the first value is that is no yes and no no, and which columns have others."""
    name, (cells, kinds) = next(iter(strange.items()))
    row = cells.first(kinds == _OTHER)
    others = list(strange)[1:]
    also = f"; other columns with such values are {some(others)}" if others else ""
    them = "them" if others else "it"
    todo = (
        f"leave {them} out of code_columns"
        if chosen
        else f"leave {them} out with ignore_columns, or choose the columns of codes with "
        "code_columns"
    )
    return (
        f"{table.path}, {table.origin(row)}, column {name[:60]!r}, holds {excerpt(cells.texts[cells.index[row]])}, expected 0 or "
        f"1 (or yes and no, true and false){also}: mend {them}, name outcomes in outcome_columns "
        f"and ids in id_column, or {todo}"
    )
