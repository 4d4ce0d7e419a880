"""A table of strings, read from any file format, for texts and for records."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.core.limits import BYTES_PER_ROW, check_memory
from momentree.exceptions import ReadError
from momentree.messages import Message, wording

SAMPLE_ROWS = 1_000
"""Number of rows used to guess the content of columns."""
_CELLS, _MIN_ROWS = 200_000, 20
"""Cells examined in wide tables, but never fewer rows than these."""

_FEW_VALUES = 10
_MAX_EXCERPT = 40
"""Maximum length of an excerpt, in characters."""


@dataclass(frozen=True)
class Opening:
    """How to open a table; see ``open_table``."""

    encoding: str
    separator: str | None
    sheet: str | None
    skip_rows: int
    header: bool | None


@dataclass(frozen=True)
class Cells:
    """The distinct values of a column."""

    texts: NDArray[Any]  # of str, stripped of blanks; "" for an empty cell
    counts: Ints  # rows with each value
    first: Ints  # the first row with each value
    n_padded: int  # rows whose value had leading or trailing blanks


@dataclass(frozen=True)
class IndexedCells(Cells):
    """The distinct values of a column and, for each row, the index of its value."""

    index: Ints


@dataclass(frozen=True)
class Table:
    """Columns of strings, with the position of each row in the file."""

    path: Path
    columns: Mapping[str, list[str]]  # "" where a cell is missing
    n_rows: int  # not counting the header
    origin: Callable[[int], Message]  # maps a row, from 0, to its place in the file
    # Type of each column that does not contain text, such as "int64".
    kinds: Mapping[str, str] = field(default_factory=dict)
    # Number of numeric cells, for columns in which a number has a fraction.
    fractional: Mapping[str, int] = field(default_factory=dict)
    sheets: Sequence[str] = ()  # of the spreadsheet
    notes: Sequence[Message] = ()  # on how the file was read
    complete: bool = True  # False if more columns may appear in later rows

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self.columns)

    def require(self, column: str, parameter: str) -> None:
        """Raise ``ReadError`` if a column is missing, unless later rows may contain it."""
        if self.complete and column not in self.columns:
            raise self.lacks(column, parameter)

    def cells(self, name: str) -> IndexedCells:
        """Return a column by its distinct values."""
        # Dictionaries, because calling pandas for each column is slow if there are many.
        stripped = {cell: cell.strip() for cell in dict.fromkeys(self.columns[name])}
        place = {text: i for i, text in enumerate(dict.fromkeys(stripped.values()))}
        places = {cell: place[text] for cell, text in stripped.items()}
        padded = {cell for cell, text in stripped.items() if text and text != cell}
        index = np.fromiter(map(places.__getitem__, self.columns[name]), np.intp, self.n_rows)
        return IndexedCells(
            np.array(list(place), dtype=object),
            np.bincount(index, minlength=len(place)),
            _first_rows(index, len(place)),
            sum(cell in padded for cell in self.columns[name]) if padded else 0,
            index,
        )

    @property
    def row_size(self) -> float:
        """Characters of a row, with one for each separator."""
        size = sum(sum(map(len, cells)) + len(cells) for cells in self.columns.values())
        return max(size, 1) / max(self.n_rows, 1)

    def place(self, row: int, column: str) -> dict[str, Any]:
        """Return the location of a cell, as values of a message."""
        return {"path": str(self.path), "origin": self.origin(row), "column": excerpt(column)}

    def lacks(self, column: str, parameter: str) -> ReadError:
        """Return the error for a missing column."""
        return no_such_column(str(self.path), column, self.names, parameter)


def _first_rows(index: Ints, n_values: int) -> Ints:
    """Return the first row of each value, given the value of each row."""
    if n_values <= _FEW_VALUES:  # as in most columns of a wide table
        return np.array([np.argmax(index == value) for value in range(n_values)], dtype=np.intp)
    first = np.empty(n_values, dtype=np.intp)
    first[index[::-1]] = np.arange(len(index))[::-1]  # the last assignment wins
    return first


def no_such_column(path: str, column: str, names: Sequence[str], parameter: str) -> ReadError:
    """Return the error for a column that a file does not have; similar names come first."""
    columns = excerpts(dict.fromkeys([*get_close_matches(column, names), *names]))
    return ReadError(
        "[no_such_column] {path} has no column {column!r} for {parameter}; its columns are "
        "{columns:quoted all}",
        path=path,
        column=excerpt(column),
        parameter=parameter,
        columns=columns,
    )


@dataclass(frozen=True)
class Source:
    """An open table: its first rows, and all rows in batches."""

    head: Table  # all columns, of at most `SAMPLE_ROWS` rows
    batches: Callable[[Sequence[str]], Iterator[Table]]  # of some columns, limited in size
    n_rows: float | None = None  # about how many there are, if that is known before reading
    streams: bool = True  # whether batches are read one by one, not all with the head

    def read(self, names: Sequence[str]) -> Table:
        """Return all rows of some columns."""
        columns: dict[str, list[str]] = {name: [] for name in names}
        fractional: Counter[str] = Counter()
        starts, origins, n_rows = list[int](), list[Callable[[int], Message]](), 0
        present: Mapping[str, list[str]] = self.head.columns
        for batch in self.batches(names):
            for name, cells in columns.items():
                cells += batch.columns.get(name, [""] * batch.n_rows)
            fractional.update(batch.fractional)
            present = batch.columns
            starts.append(n_rows)
            origins.append(batch.origin)
            n_rows += batch.n_rows
            if self.streams and self.head.path.is_file():
                check_memory(self.head.path, n_rows * BYTES_PER_ROW)

        def origin(row: int) -> Message:
            i = bisect_right(starts, row) - 1
            return origins[i](row - starts[i])

        columns = {name: cells for name, cells in columns.items() if name in present}
        return replace(
            self.head, columns=columns, n_rows=n_rows, origin=origin,
            fractional=fractional, complete=True,
        )  # fmt: skip

    def origin(self, row: int) -> Message:
        """Return the place of a row, from 0, in the part of the table that contains it."""
        above = 0
        for batch in self.batches(self.head.names[:1]) if self.streams else ():
            if row < above + batch.n_rows:
                return batch.origin(row - above)
            above += batch.n_rows
        return Message(wording.AT_ROW, row=row + 1)

    def with_notes(self, notes: Sequence[Message]) -> Source:
        """Return the source with further notes, before those of its head."""
        return replace(self, head=replace(self.head, notes=[*notes, *self.head.notes]))


def numbered_rows(above: int, row: int) -> Message:
    """Return the place of a row that is known by its number: its origin below `above` rows."""
    return Message(wording.AT_ROW, row=above + row + 1)


PART_BYTES = 1 << 23
"""Characters of a part of a table, and rows of one at most."""
PART_ROWS = 20_000


def is_part(n_rows: int, n_characters: int) -> bool:
    """Return whether so many rows with so much text are a part of a table."""
    return n_rows >= PART_ROWS or n_characters >= PART_BYTES


def rows_of_part(characters_per_row: float) -> int:
    """Return how many rows make a part of a table, given the typical length of a row."""
    return max(1, min(PART_ROWS, int(PART_BYTES / max(1.0, characters_per_row))))


def rows_examined(n_columns: int) -> int:
    """Return how many rows to examine closely: fewer in a wide table."""
    return max(_MIN_ROWS, _CELLS // max(1, n_columns))


def excerpt(text: str) -> str:
    """Return the start of a cell or name: enough to find it, but never a whole record."""
    return text if len(text) <= _MAX_EXCERPT else f"{text[: _MAX_EXCERPT - 3]}..."


def excerpts(texts: Iterable[str]) -> list[str]:
    """Return the start of each text."""
    return list(map(excerpt, texts))


def listed(names: Sequence[str]) -> dict[str, Any]:
    """Return the number of columns and their names, as values of a message."""
    return {"n_columns": len(names), "columns": excerpts(names)}


def as_written(value: object, between: str = "; ") -> str:
    """Return a cell as a person would type it: no ".0" after whole numbers, lists joined."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list | tuple):
        return between.join(as_written(entry, between) for entry in value)
    return str(value)


def check_names(path: Path, header: Sequence[str]) -> list[str]:
    """Return stripped column names; a missing name is replaced with "column" and its number."""
    stripped = [name.strip() for name in header]
    names = [name or f"column {j}" for j, name in enumerate(stripped, start=1)]
    repeated = excerpts(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ReadError(wording.DUPLICATE_COLUMNS, path=str(path), columns=repeated)
    return names


def other_sheets(names: Sequence[str]) -> Message | str:
    """Return a hint about the other sheets of a spreadsheet, for an error about the first."""
    if len(names) < 2:
        return ""
    return Message(
        "[other_sheets] ; its sheets are {sheets:quoted list}, and {parameter:=second} reads the "
        "second",
        sheets=list(names),
        parameter="sheet",
        second=names[1],
    )
