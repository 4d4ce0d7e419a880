"""Write tables as CSV, with formulas escaped on request, and plain values as JSON."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from momentree._version import __version__
from momentree.cli.screen import printable

if TYPE_CHECKING:
    import pandas as pd

    from momentree._types import Floats

# Start of a spreadsheet formula, also after characters that a spreadsheet skips.
_FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Smaller probabilities are rounding errors.
_LEAST = 1e-6


@dataclass(frozen=True)
class CsvTable:
    """A table to write as CSV, optionally with formulas escaped."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    more: Iterable[Sequence[object]] = ()  # further rows, made as they are written

    def with_columns(self, **columns: Sequence[object]) -> CsvTable:
        """Return the table with further columns, which have a value for each of `rows`."""
        rows = [
            (*row, *more)
            for row, more in zip(self.rows, zip(*columns.values(), strict=True), strict=True)
        ]
        return replace(self, header=[*self.header, *columns], rows=rows)

    def write(self, path: Path, *, escape_formulas: bool) -> None:
        """Write the table to a file, in UTF-8."""
        # An id may be a file name with bytes that are not text.
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            self._write_to(file, escape_formulas)

    def print(self, *, escape_formulas: bool) -> None:
        """Print the table; on a terminal, control characters are escaped."""
        self._write_to(sys.stdout, escape_formulas)

    def _write_to(self, file: TextIO, escape_formulas: bool) -> None:
        rows: Iterable[Sequence[object]] = chain(self.rows, self.more)
        if escape_formulas:
            rows = map(_escaped, rows)
        if file.isatty():
            rows = ([printable(cell) for cell in row] for row in rows)
        # The csv module quotes carriage returns only if lines end in one.
        writer: Any = csv.writer(_Lines(file), lineterminator="\r\n")
        writer.writerow(self.header)
        writer.writerows(rows)


@dataclass(frozen=True)
class _Lines:
    """Writes CSV rows that end in CR LF with LF alone."""

    file: TextIO

    def write(self, row: str) -> int:
        return self.file.write(row.removesuffix("\r\n") + "\n")


def _escaped(row: Sequence[object]) -> list[object]:
    return [f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell for cell in row]


def _is_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)


def write_frame(table: pd.DataFrame, path: Path, escape_formulas: bool) -> None:
    """Write a data frame of text as CSV, Excel or LaTeX."""
    from momentree.report import write_table

    if path.suffix.lower() == ".csv":
        rows = CsvTable(list(table.columns), table.to_numpy().tolist())
        rows.write(path, escape_formulas=escape_formulas)
    else:
        write_table(table, path)


def write_json(path: Path, kind: str, content: Mapping[str, Any]) -> None:
    """Write plain values as JSON, in UTF-8, after their format and the version."""
    content = {"format": f"momentree.{kind}", "momentree": __version__, **content}
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def decimals(value: float) -> str:
    """Format a probability or proportion with six significant digits."""
    return f"{value:.6g}" if value >= _LEAST else "0"


def assignments(
    kind: str,
    names: Sequence[str],
    places: Iterable[int],
    proba: Floats,
    *,
    every: bool,
    assigned: Iterable[bool] | None = None,
    undecided: Sequence[str] | None = None,
    **known: Sequence[object],
) -> CsvTable:
    """Return a table with the `known` columns and assignments to leaves, topics or groups.

    Each assignment has a name and a probability; `every` adds one column per leaf, topic or group.
    These cells are empty in rows that are not `assigned`.
    With `undecided`, the last column of these is the reason why a place is -1: its cells are empty.
    """
    explained = undecided is not None
    header = [*known, kind, "name", "probability", *(["reason"] if explained else [])]
    header += [f"{kind}_{j}" for j in range(len(names))] if every else []
    rows = [
        (
            *left,
            *((int(j), names[j], decimals(row[j])) if j >= 0 else ("", "", "")),
            *((reason if j < 0 else "",) if explained else ()),
            *(map(decimals, row) if every else ()),
        )
        for left, j, row, reason in zip(
            zip(*known.values(), strict=True),
            places,
            proba,
            [""] * len(proba) if undecided is None else undecided,
            strict=True,
        )
    ]
    if assigned is not None:
        n_known = len(known)
        empty = [""] * (len(header) - n_known)
        rows = [
            row if yes else (*row[:n_known], *empty)
            for row, yes in zip(rows, assigned, strict=True)
        ]
    return CsvTable(header, rows)
