"""A table of records as columns of strings, and words for what is in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.exceptions import ReadError
from momentree.readers.text.columns import listed

__all__ = ["Cells", "Table", "checked_names", "excerpt", "few_or_many", "many", "some"]

FEW = 5
"""Notes tell no smaller number of records; reports, which hold them, hide the same by default."""


@dataclass(frozen=True)
class Cells:
    """A column as its different values, and which of them each row holds."""

    index: NDArray[np.intp]
    texts: NDArray[Any]  # of str, blanks at the ends removed; "" where a cell is empty
    padded: int = 0  # rows whose value had blanks at its ends

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """Rows with each value."""
        return np.bincount(self.index, minlength=len(self.texts))

    def first(self, wanted: NDArray[np.bool_]) -> int:
        """Return the first row that holds one of the values."""
        return int(np.argmax(wanted[self.index]))


@dataclass(frozen=True)
class Table:
    """The columns of a file, and where its rows are."""

    path: Path
    columns: Mapping[str, Any]  # arrays or Series of str; NaN or None where a cell is not there
    n_rows: int
    lines: Any  # from the number of a row to where it is, such as "line 3"
    notes: Sequence[str] = ()
    # Cells that hold numbers, not text, in columns in which some number has a fraction.
    numbers: Mapping[str, int] = field(default_factory=dict)
    sheets: Sequence[str] = ()  # of the spreadsheet

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self.columns)

    def cells(self, name: str) -> Cells:
        """Return a column."""
        found = [cell if isinstance(cell, str) else "" for cell in self.columns[name].tolist()]
        # Dictionaries: a call of pandas for each column takes long where there are many.
        before = {text: i for i, text in enumerate(dict.fromkeys(found))}
        index = np.fromiter(map(before.__getitem__, found), np.intp, len(found))
        after = [text.strip() for text in before]
        at = {text: i for i, text in enumerate(dict.fromkeys(after))}
        texts = np.array(list(at), dtype=object)
        padded = [bool(new) and new != old for old, new in zip(before, after, strict=True)]
        if not any(padded) and len(at) == len(before):
            return Cells(index, texts)
        again = np.array([at[text] for text in after], dtype=np.intp)
        return Cells(again[index], texts, int(np.count_nonzero(np.array(padded)[index])))

    def is_unique(self, name: str) -> bool:
        """Whether no two rows have the same value in a column."""
        return len(set(self.columns[name].tolist())) == self.n_rows

    def place(self, name: str, row: int) -> str:
        """Say where a cell is, for an error."""
        return f"{self.path}, {self.lines(row)}, column {name[:60]!r}"


def excerpt(text: str) -> str:
    """Quote the start of a cell: what a person needs, and not a whole record."""
    return repr(text if len(text) <= 30 else f"{text[:27]}...")


def many(n: int, noun: str) -> str:
    """Return a number with its noun: "1 row", "2 rows", "3 entries"."""
    if n == 1:
        return f"1 {noun}"
    return f"{n:,} {noun[:-1]}ies" if noun.endswith("try") else f"{n:,} {noun}s"


def few_or_many(n: int, noun: str) -> str:
    """Return a number of records with its noun, but of few only that they are: notes are shown."""
    return many(n, noun) if n >= FEW else f"fewer than {many(FEW, noun)}"


def some(names: Sequence[str]) -> str:
    """Return a few names for a note."""
    shown = ", ".join(repr(name[:40]) for name in names[:5])
    return f"{shown} and {len(names) - 5:,} more" if len(names) > 5 else shown


def checked_names(path: Path, header: Sequence[str]) -> list[str]:
    """Return names of columns: blank ones get a number, and all differ.

    Raises
    ------
    ReadError
        If two are the same.
    """
    names = [str(name).strip() for name in header]
    names = [name or f"column {j}" for j, name in enumerate(names, start=1)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        msg = (
            f"{path} has more than one column of the name {listed(twice, 5)}; give each column a "
            f"name of its own in the first line"
        )
        raise ReadError(msg)
    return names
