"""Tables of records, and words for what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from momentree.readers.tables import EXCEL, PARQUET, SEPARATED, Table, open_table

__all__ = ["excerpt", "few_or_many", "listed", "many", "read_table", "some"]

SUFFIXES = (*SEPARATED, ".txt", *PARQUET, *EXCEL)

FEW = 5
"""Notes tell no smaller number of records; reports, which hold them, hide the same by default."""


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


def listed(names: Sequence[str], most: int = 20) -> str:
    """Return names for an error message, not more than a person reads."""
    shown = ", ".join(repr(str(name)[:60]) for name in names[:most])
    more = len(names) - most
    return f"{shown} and {more:,} more" if more > 0 else shown or "none"


def read_table(
    path: Path,
    *,
    encoding: str,
    separator: str | None,
    sheet: str | None = None,
    skip_rows: int = 0,
) -> Table:
    """Read all columns of a table."""
    source = open_table(
        path,
        suffixes=SUFFIXES,
        encoding=encoding,
        separator=separator,
        sheet=sheet,
        skip_rows=skip_rows,
        check_titles=True,
    )
    return source.read(source.head.names)
