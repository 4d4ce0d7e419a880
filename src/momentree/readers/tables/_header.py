"""Check that the first row of a table names its columns; if not, find the row that does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.tables.table import excerpts

HEADER_ROWS = 30
"""Rows in which to look for the names of the columns."""


def check_header(
    path: Path, rows: Sequence[Sequence[str]], n_above: Sequence[int], *, sheets: Message | str = ""
) -> None:
    """Reject a first row that names few columns if a later row names most of them.

    `n_above` contains the number of rows above each row in the file.
    """
    n_columns = max(map(len, rows))
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    # R and pandas leave the header above row numbers blank.
    named = filled[0] + (not rows[0][0].strip())
    if n_columns < 2 or 2 * named > n_columns:
        return
    for row, n, above in zip(rows[1:], filled[1:], n_above[1:], strict=True):
        if n > filled[0] and 5 * n >= 4 * n_columns and _may_be_names(row):
            raise ReadError(
                "title_above_header",
                path=str(path),
                named=filled[0],
                n_columns=n_columns,
                row=above + 1,
                names=excerpts(row),
                parameter="skip_rows",
                above=above,
                sheets=sheets,
            )


def _may_be_names(row: Sequence[str]) -> bool:
    """Return whether all cells differ, some are words, and numbers are long enough for codes."""
    cells = [cell.strip() for cell in row if cell.strip()]
    numbers = [cell for cell in cells if cell.replace(",", ".").replace(".", "", 1).isdigit()]
    short = any(len(number) < 3 for number in numbers)
    return len(numbers) < len(cells) == len(set(cells)) and not short
