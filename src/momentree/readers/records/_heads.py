"""Whether the first row of a table names its columns, and which row does if it does not."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TextIO

from momentree.exceptions import ReadError
from momentree.readers.tables.table import find_separator
from momentree.readers.text.columns import listed

__all__ = ["HEAD_ROWS", "check_head", "check_head_of_text", "skip_lines"]

HEAD_ROWS = 30
"""Rows in which the names of the columns are looked for."""


def skip_lines(file: TextIO, n: int) -> None:
    """Read the lines above the table."""
    for _ in range(n):
        file.readline()


def check_head(
    path: Path, rows: Sequence[Sequence[str]], skips: Sequence[int], *, more: str = ""
) -> None:
    """Refuse a first row that names few columns where a later row names most of them.

    `skips` says how many rows stand above each in the file.

    Raises
    ------
    ReadError
        If so; the message proposes how many rows to skip.
    """
    width = max(map(len, rows))
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    # R and pandas write no name above the numbers of rows.
    named = filled[0] + (not rows[0][0].strip())
    if width < 2 or 2 * named > width:
        return
    for row, n, skip in zip(rows[1:], filled[1:], skips[1:], strict=True):
        if n > filled[0] and 5 * n >= 4 * width and _may_be_names(row):
            msg = (
                f"{path}: its first row names {filled[0]} of {width} columns, and row {skip + 1:,} "
                f"looks like their names ({listed(row, 4)}): pass skip_rows={skip}, or name all "
                f"columns in the first row{more}"
            )
            raise ReadError(msg)


def check_head_of_text(
    path: Path, sample: str, separator: str | None, found: str, skip: int
) -> None:
    """Refuse a text whose first line is a title, or anything else above the names of columns.

    Raises
    ------
    ReadError
        If so; the message proposes how many lines to skip.
    """
    lines = sample.splitlines(keepends=True)[: 2 * HEAD_ROWS]
    rows, skips = _parsed(lines, separator or found)
    if not rows:
        return
    if len(rows[0]) > 1:
        check_head(path, rows, [skip + n for n in skips])
        return
    # No separator in the first line: it may be a title, or the table may have one column.
    for start in range(1, min(HEAD_ROWS, len(lines) - 2)):
        used = separator or find_separator("".join(lines[start:]), cut=True)
        table, above = _parsed(lines[start:], used)
        width = len(table[0]) if table else 0
        same = sum(len(row) == width for row in table)
        # Lists of codes in one column differ in length, and each of their codes has a digit.
        words = width and all(table[0]) and any(not _has_digit(cell) for cell in table[0])
        if width > 1 and len(table) > 2 and words and 10 * same >= 9 * len(table):
            check_head(path, [*rows[:1], *table[:1]], [skip, skip + start + above[0]])
            return


def _parsed(lines: Sequence[str], separator: str) -> tuple[list[list[str]], list[int]]:
    """Return the first rows, and how many lines stand above each."""
    rows, above = [], []
    reader = csv.reader(io.StringIO("".join(lines), newline=""), delimiter=separator)
    before = 0
    try:
        for row in islice(reader, HEAD_ROWS):
            if row:
                rows.append(row)
                above.append(before)
            before = reader.line_num
    except csv.Error:  # a field of more characters than the module likes; what was read will do
        pass
    return rows, above


def _may_be_names(row: Sequence[str]) -> bool:
    """Tell names of columns from values: all differ, and numbers are long enough for codes."""
    cells = [cell.strip() for cell in row if cell.strip()]
    numbers = [cell for cell in cells if cell.replace(",", ".").replace(".", "", 1).isdigit()]
    short = any(len(number) < 3 for number in numbers)
    return len(numbers) < len(cells) == len(set(cells)) and not short


def _has_digit(cell: str) -> bool:
    return any(map(str.isdigit, cell))
