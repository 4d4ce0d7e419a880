"""Open a table by its file suffix: CSV and its variants, JSON Lines, Parquet, Excel; or counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from momentree.exceptions import EmptyCorpusError, InvalidParameterError, ReadError
from momentree.readers.tables._json_lines import open_json_lines
from momentree.readers.tables._parquet import open_parquet
from momentree.readers.tables._separated import open_separated
from momentree.readers.tables._spreadsheets import open_spreadsheet
from momentree.readers.tables._stored_counts import is_stored, open_stored_counts
from momentree.readers.tables.files import (
    AUTO,
    check_encoding,
    find_encoding,
    note_encoding,
    suffix,
)
from momentree.readers.tables.table import Source, other_sheets

SEPARATED = (".csv", ".tsv", ".tab")
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def open_table(
    path: Path,
    *,
    suffixes: Sequence[str],
    encoding: str = AUTO,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    check_titles: bool = False,
    between: str = "; ",
) -> Source:
    """Open a table with one of `suffixes` and read its first rows.

    A folder that ``store_counts`` has written is a table of codes. Files with a suffix in none of
    the lists above are text with a separator. `check_titles` rejects a title above the header;
    `header` is None to find out whether there is one. `between` joins the entries of lists in
    cells.
    """
    if encoding != AUTO:
        check_encoding(encoding)
    kind = suffix(path)
    excel = path.suffix.lower() in EXCEL
    if sheet is not None and not excel:
        raise InvalidParameterError(
            "spreadsheets_only", parameter="sheet", value=sheet, path=str(path)
        )
    if skip_rows and kind in (*PARQUET, *JSON_LINES):
        raise InvalidParameterError(
            "no_rows_to_skip", parameter="skip_rows", value=skip_rows, path=str(path)
        )
    if header is not None and kind in (*PARQUET, *JSON_LINES):
        raise InvalidParameterError(
            "no_header_row", parameter="header", value=header, path=str(path)
        )
    stored = path.is_dir() and is_stored(path)
    if path.is_dir() and not stored:
        raise ReadError("folder_not_table", path=str(path))
    if kind not in suffixes and not stored:
        raise ReadError("unknown_suffix", path=str(path), suffixes=", ".join(suffixes))
    if stored:
        source = open_stored_counts(path)
    elif excel:
        source = open_spreadsheet(
            path, sheet=sheet, skip_rows=skip_rows, check_titles=check_titles, header=header
        )
    elif kind in PARQUET:
        source = open_parquet(path, between=between)
    else:
        found = find_encoding(path, encoding)
        source = (
            open_json_lines(path, encoding=found, between=between)
            if kind in JSON_LINES
            else open_separated(
                path,
                encoding=found,
                separator=separator,
                skip_rows=skip_rows,
                check_titles=check_titles,
                header=header,
            )
        )
        source = source.with_notes(note_encoding(found, path.name))
    if not source.head.columns and source.head.n_rows:
        raise ReadError("no_columns", path=str(path))
    if not source.head.n_rows:
        sheets = other_sheets(source.head.sheets)
        raise EmptyCorpusError("no_rows", path=str(path), sheets=sheets)
    return source
