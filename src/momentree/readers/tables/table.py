"""A table of strings, from any format of file, for texts and for records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.exceptions import ReadError
from momentree.messages import Message

SAMPLE_ROWS = 1_000
"""Rows from which the content of columns is guessed."""

_LONGEST = 40
"""Characters of an excerpt."""


@dataclass(frozen=True)
class Cells:
    """A column as its distinct values, and the index of the value of each row."""

    index: Ints
    texts: NDArray[Any]  # of str, without blanks at their ends; "" where a cell is empty
    n_padded: int  # rows whose value had blanks at its ends

    @cached_property
    def counts(self) -> Ints:
        """Rows with each value."""
        return np.bincount(self.index, minlength=len(self.texts))


@dataclass(frozen=True)
class Table:
    """Columns of strings, and where their rows are in the file."""

    path: Path
    columns: Mapping[str, list[str]]  # "" where a cell is missing
    n_rows: int  # below the header
    origin: Callable[[int], Message]  # from the number of a row, from 0, to its place in the file
    # What columns hold that do not hold text, such as "int64".
    kinds: Mapping[str, str] = field(default_factory=dict)
    # Number of cells that hold numbers, for columns in which a number has a fraction.
    fractional: Mapping[str, int] = field(default_factory=dict)
    sheets: Sequence[str] = ()  # of the spreadsheet
    notes: Sequence[Message] = ()  # on how the file was read
    complete: bool = True  # False if other columns may follow further down

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self.columns)

    def require(self, column: str, parameter: str) -> None:
        """Refuse a table without a column, unless it may follow further down."""
        if self.complete and column not in self.columns:
            raise self.lacks(column, parameter)

    def cells(self, name: str) -> Cells:
        """Return a column by its distinct values."""
        found = self.columns[name]
        # Dictionaries: a call of pandas for each column takes long where there are many.
        before = {text: i for i, text in enumerate(dict.fromkeys(found))}
        index = np.fromiter(map(before.__getitem__, found), np.intp, len(found))
        after = [text.strip() for text in before]
        at = {text: i for i, text in enumerate(dict.fromkeys(after))}
        merged = np.array([at[text] for text in after], dtype=np.intp)
        padded = [bool(new) and new != old for old, new in zip(before, after, strict=True)]
        n_padded = int(np.count_nonzero(np.array(padded, dtype=bool)[index]))
        return Cells(merged[index], np.array(list(at), dtype=object), n_padded)

    def is_unique(self, name: str) -> bool:
        """Whether no two rows have the same value in a column."""
        return len(set(self.columns[name])) == self.n_rows

    def place(self, row: int, column: str) -> dict[str, Any]:
        """Return where a cell is, as values of a message."""
        return {"path": str(self.path), "origin": self.origin(row), "column": excerpt(column)}

    def lacks(self, column: str, parameter: str) -> ReadError:
        """Return the error about a missing column."""
        return ReadError(
            "no_such_column",
            path=str(self.path),
            column=excerpt(column),
            parameter=parameter,
            columns=excerpts(self.names),
        )


@dataclass(frozen=True)
class Source:
    """A file whose first rows are known."""

    head: Table  # all columns, of at most `SAMPLE_ROWS` rows
    read: Callable[[Sequence[str]], Table]  # all rows of some columns


def excerpt(text: str) -> str:
    """Return the start of a cell or a name: enough to find it, but never a whole record."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def excerpts(texts: Iterable[str]) -> list[str]:
    """Return the start of each text."""
    return list(map(excerpt, texts))


def as_written(value: object, between: str = "; ") -> str:
    """Return a cell as a person would type it: whole numbers without a fraction, lists joined."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list | tuple):
        return between.join(as_written(one, between) for one in value)
    return str(value)


def check_names(path: Path, header: Sequence[str]) -> list[str]:
    """Return names of columns without blanks at their ends; a missing one becomes a number."""
    stripped = [name.strip() for name in header]
    names = [name or f"column {j}" for j, name in enumerate(stripped, start=1)]
    repeated = excerpts(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ReadError("duplicate_columns", path=str(path), columns=repeated)
    return names


def other_sheets(names: Sequence[str]) -> Message | str:
    """Return a hint at the other sheets of a spreadsheet, for an error about the first."""
    if len(names) < 2:
        return ""
    return Message("other_sheets", sheets=list(names), parameter="sheet", second=names[1])
