"""Read the steps of sequences: order rows by their times, split cells with several codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.exceptions import InvalidDataError, ReadError
from momentree.messages import Message, wording
from momentree.readers.records.cells import Parts, code_separators, split_cells
from momentree.readers.tables.grid import IndexedCells, Table, excerpt, excerpts
from momentree.readers.tables.roles import MISSING, number

_DATES = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y",
    "%m-%d-%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y",
    "%d %B %Y", "%b %d %Y", "%b %d, %Y", "%B %d, %Y",
)  # fmt: skip
_CLOCKS = (
    "", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", "T%H:%M", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p",
)  # fmt: skip
_FORMATS = (
    *(date + clock for date, clock in product(_DATES, _CLOCKS)),
    *(clock.strip() for clock in _CLOCKS if clock.startswith(" ")),
)
_TRIED = 200
"""Values on which formats are tried first."""
_NANOSECONDS = 1e9


def read_times(
    table: Table, name: str, cells: IndexedCells, time_format: str | None
) -> tuple[Floats, list[Message]]:
    """Return the time of each row, NaN where it is missing, and notes.

    Times are numbers as in the file, or seconds since 1970. Raise an error if a value is not a
    time, or the order of day and month is not clear.
    """
    texts = cells.texts
    known = is_known(texts)
    values = np.full(len(texts), np.nan)
    notes: list[Message] = []
    if time_format is None:
        values[known], formats = _guess(texts[known])
        if len(formats) > 1:
            raise InvalidDataError(
                "[day_or_month_first] {path}: the dates of column {column!r}, such as {value!r}, "
                "can be read in two ways; choose {parameters.time_format:{first}} or "
                "{parameters.time_format:{second}}",
                path=str(table.path),
                column=excerpt(name),
                value=excerpt(str(texts[known][0])),
                first=formats[0],
                second=formats[1],
            )
        if formats and formats != ["ISO8601"]:
            notes.append(
                Message(
                    "[guessed_time_format] read the times of column {column!r} in the format "
                    "{format}",
                    column=excerpt(name),
                    format=formats[0],
                )
            )
    else:
        values[known] = _dates(texts[known], time_format)
    wrong = np.flatnonzero(np.isnan(values) & known)
    if len(wrong):
        row = int(np.flatnonzero(np.isin(cells.index, wrong))[0])
        raise InvalidDataError(
            "[cell_not_a_time] {path}, {origin}, column {column!r}, contains {value!r}, which is "
            "not a time{format} like the others ({n_rows:~such row}). Correct it, empty the cell "
            "to leave the row out, or name the format of all times with {parameters.time_format}",
            **table.place(row, name),
            value=excerpt(str(texts[cells.index[row]])),
            n_rows=int(cells.counts[wrong].sum()),
            format=""
            if time_format is None
            else Message("[in_format]  of the format {format}", format=time_format),
        )
    return values[cells.index], notes


def is_known(texts: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which texts are not missing values."""
    return np.array([text.lower() not in MISSING for text in texts], dtype=bool)


def mostly_times(texts: Sequence[str]) -> bool:
    """Return whether at least half of the values are numbers, or dates of one format."""
    if not texts:
        return False
    times, _ = _guess(np.array(sorted(set(texts))[:_TRIED], dtype=object))
    return 2 * int(np.isnan(times).sum()) <= len(times)


def _guess(texts: NDArray[Any]) -> tuple[Floats, list[str]]:
    """Return times in the only way in which all values are times, else of the best; and formats."""
    numbers = _numbers(texts)
    if not np.isnan(numbers).any():
        return numbers, []
    iso = _dates(texts, "ISO8601")
    if not np.isnan(iso).any():
        return iso, ["ISO8601"]
    first = texts[np.unique(np.linspace(0, len(texts) - 1, _TRIED).astype(np.intp))]
    n_wrong = {fmt: int(np.isnan(_dates(first, fmt)).sum()) for fmt in _FORMATS}
    least = min(n_wrong.values())
    read = {fmt: _dates(texts, fmt) for fmt in _FORMATS if n_wrong[fmt] == least < len(first)}
    good = [fmt for fmt in read if not np.isnan(read[fmt]).any()]
    if good:
        # Formats that agree on all values are one, such as "%b" and "%B" in May.
        others = [fmt for fmt in good[1:] if not np.array_equal(read[fmt], read[good[0]])]
        return read[good[0]], [good[0], *others]
    return min((numbers, iso, *read.values()), key=lambda times: int(np.isnan(times).sum())), []


def _numbers(texts: NDArray[Any]) -> Floats:
    values = np.array(pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce"), np.float64)
    for i in np.flatnonzero(np.isnan(values)):
        value = number(str(texts[i]))
        if value is None:  # one is enough to know that these are no numbers
            break
        values[i] = value
    return np.where(np.isfinite(values), values, np.nan)


def _dates(texts: NDArray[Any], time_format: str) -> Floats:
    try:
        dates = pd.to_datetime(
            pd.Series(texts, dtype=object), format=time_format, errors="coerce", utc=True
        )
    except ValueError as error:
        raise InvalidDataError(
            "[not_a_time_format] {parameters.time_format:=value} is not a format of times; "
            "expected one such as %d/%m/%Y or %Y-%m-%d %H:%M",
            value=time_format,
        ) from error
    stamps = dates.dt.tz_localize(None).to_numpy().astype("datetime64[ns]")
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / _NANOSECONDS)


_ARROWS = r"\s*(?:[-=]*>|→|⇒)\s*"


@dataclass
class Columns:
    """Columns of a table of sequences; notes say which were guessed."""

    id: str | None
    time: str | None
    code: str
    notes: list[Message] = field(default_factory=list)


@dataclass(frozen=True)
class Steps:
    """Steps in order; `code` is a position in `written`, and `sequence` one in `ids`."""

    sequence: Ints
    code: Ints
    written: list[str]
    ids: list[str]
    times: list[str] | None  # as written

    def only(self, kept: NDArray[np.bool_]) -> Steps:
        """Return some of the steps."""
        times = self.times
        if times is not None:
            times = [times[i] for i in np.flatnonzero(kept)]
        return replace(self, sequence=self.sequence[kept], code=self.code[kept], times=times)


def read_steps(
    table: Table, columns: Columns, time_format: str | None
) -> tuple[Steps, list[Message]]:
    """Return the steps with an id, a time and a code, in order, and notes."""
    n = table.n_rows
    by_row = columns.id is None or len(set(table.columns[columns.id])) == n
    notes: list[Message] = []
    if columns.id is None:
        sequence, ids = np.arange(n), [str(i) for i in range(1, n + 1)]
        has_id = np.ones(n, dtype=bool)
        notes.append(
            Message(
                "[sequences_without_ids] sequences have no ids; they are numbered by row from 1"
            )
        )
    else:
        keys = table.cells(columns.id)
        sequence, ids = keys.index, list(map(str, keys.texts))
        has_id = is_known(keys.texts)[keys.index]
    cells = table.cells(columns.code)
    pattern, more = _separators(cells.texts, by_row=by_row)
    notes += more
    parts = split_cells(cells, pattern)
    n_parts = np.bincount(parts.value, minlength=len(cells.texts))
    if columns.id is None and n > 1 and n_parts.max(initial=0) <= 1:
        names = excerpts(table.names)
        raise ReadError(
            "[no_sequence_ids] {path}: each row has one code, and it is not clear which rows form "
            "a sequence; its columns are {columns:quoted list}. Name the column with the id of the "
            "sequence, such as that of the patient or user, with {parameters.id_column}; if each "
            "row is a record of its own, use momentree clusters",
            path=str(table.path),
            columns=names,
        )
    present = {columns.id: has_id, columns.code: n_parts[cells.index] > 0}
    times = np.zeros(n)
    if columns.time is not None:
        times, more = read_times(table, columns.time, table.cells(columns.time), time_format)
        notes += more
        present[columns.time] = ~np.isnan(times)
    elif not by_row:
        notes.append(
            Message(
                "[ordered_by_rows] no column of times: the steps of each sequence are in the order "
                "of the rows ({parameters.time_column} names a column of times)"
            )
        )
    for name, known in present.items():
        if n_gone := int((~known).sum()):
            notes.append(
                Message(wording.ROWS_WITHOUT_ID, n_rows=n_gone, column=excerpt(name or ""))
            )
    order = np.lexsort((np.arange(n), times, sequence))
    row = order[np.all(list(present.values()), axis=0)[order]]
    if columns.time is not None:
        notes += _ties(sequence[row], times[row], cells.index[row])
    number, unique = pd.factorize(parts.texts)
    row, part = _in_rows(parts, cells.index, row)
    written = None if columns.time is None else table.columns[columns.time]
    written = written and [written[i].strip() for i in row]
    # Sequences are numbered as they appear in the file, whatever their order in memory.
    return Steps(sequence[row], number[part], list(map(str, unique)), ids, written), notes


def _in_rows(parts: Parts, index: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the row and the place of each part, row by row; `index` is the value of each row."""
    # Values are sorted, so the parts of each value, and of each row, are a slice.
    lengths = np.bincount(parts.value, minlength=len(parts.cells.texts))
    starts, values = np.cumsum(lengths) - lengths, index[rows]
    n = lengths[values]
    within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    return np.repeat(rows, n), np.repeat(starts[values], n) + within


def _ties(sequence: Ints, times: NDArray[Any], code: Ints) -> list[Message]:
    """Return notes on rows with the same sequence and time as the row before."""
    tied = (np.diff(sequence) == 0) & (np.diff(times) == 0)
    if not tied.any():
        return []
    notes = [
        Message(
            "[equal_times] {n_rows:~row} {n_rows:?has/have} the same time as the row before in the "
            "sequence; such rows keep their order",
            n_rows=int(tied.sum()),
        )
    ]
    keys = np.stack([sequence, pd.factorize(times)[0], code])
    if copies := len(sequence) - np.unique(keys, axis=1).shape[1]:
        notes.append(
            Message(
                "[repeated_steps] {n_rows:~row} {n_rows:?repeats/repeat} the id, time and code of "
                "another row and {n_rows:?counts as a step/count as steps} too; remove them if "
                "they are copies",
                n_rows=copies,
            )
        )
    return notes


def _separators(texts: NDArray[Any], *, by_row: bool) -> tuple[str | None, list[Message]]:
    """Return the pattern of separators between the codes of a cell; None if it has one code."""
    sample = pd.Series(texts, dtype="string[pyarrow]")
    arrows = sample.str.contains(r"[^\s<>=-]\s*(?:[-=]*>|→|⇒)", regex=True)
    if by_row and 2 * int(arrows.sum()) > len(texts):
        return _ARROWS, []
    signs = [sign for sign in ";|" if sample.str.contains(sign, regex=False).any()]
    if not by_row:
        # A code may contain commas, blanks and slashes, as a page does.
        if not signs:
            return None, []
        return f"[{''.join(signs)}]+", [
            Message(
                "[several_codes_in_cells] split cells at {signs:quoted and}: codes of one cell are "
                "steps in the order of the cell",
                signs=signs,
            )
        ]
    pattern, notes = code_separators(texts)
    if pattern is None and 2 * int(sample.str.contains(r"\S\s+\S", regex=True).sum()) > len(texts):
        pattern = r"\s+"
        notes.append(Message("[split_at_blanks] split cells at blanks: each word is a step"))
    return pattern, notes
