"""Tables as CSV, in a file or on standard output."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from momentree.cli._screen import printable

__all__ = ["Table"]

# What a spreadsheet takes for the start of a formula, or skips on the way to one.
_FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Table:
    """A table to write.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : iterable of sequence
        What they hold.
    escape_formulas : bool
        Whether text that a spreadsheet would take for a formula gets an apostrophe before it.
    """

    header: Sequence[str]
    rows: Iterable[Sequence[object]]
    escape_formulas: bool

    def write(self, path: Path) -> None:
        """Write the table as a CSV file, in UTF-8."""
        # A document may be named by a file whose name holds bytes that are no text.
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            self._write_to(file, self._cells())

    def print(self) -> None:
        """Print the table as CSV; on a terminal, control characters in cells are written out."""
        rows = self._cells()
        if sys.stdout.isatty():
            rows = ([printable(cell) for cell in row] for row in rows)
        self._write_to(sys.stdout, rows)

    def _cells(self) -> Iterator[Sequence[object]]:
        return map(_escaped, self.rows) if self.escape_formulas else iter(self.rows)

    def _write_to(self, file: TextIO, rows: Iterable[Sequence[object]]) -> None:
        # The csv module puts a carriage return in quotes only where lines end in one.
        writer: Any = csv.writer(_Lines(file), lineterminator="\r\n")
        writer.writerow(self.header)
        writer.writerows(rows)


@dataclass(frozen=True)
class _Lines:
    """Takes rows of CSV that end in CR LF, and ends them in LF."""

    file: TextIO

    def write(self, row: str) -> int:
        return self.file.write(row.removesuffix("\r\n") + "\n")


def _escaped(row: Sequence[object]) -> list[object]:
    return [f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell for cell in row]


def _is_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)
