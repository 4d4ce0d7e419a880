"""Open a table by its file suffix: CSV and its variants, JSON Lines, Parquet, Excel; or counts."""

from collections.abc import Iterator, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from momentree._types import Ints
from momentree._validation import check_flag, check_integer
from momentree.core.limits import memory_bytes
from momentree.exceptions import EmptyCorpusError, InvalidParameterError, ReadError
from momentree.messages import Message, wording
from momentree.readers.stored import arrays, counts
from momentree.readers.tables import files, grid, json_lines, separated

SEPARATED = (".csv", ".tsv", ".tab")
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
SUFFIXES = (*SEPARATED, ".txt", *PARQUET, *EXCEL)
"""Suffixes of tables of records."""


def open_table(
    path: str | PathLike[str],
    *,
    suffixes: Sequence[str] = SUFFIXES,
    encoding: str = files.AUTO,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    check_titles: bool = True,
    between: str = "; ",
) -> grid.Source:
    """Open a table with one of `suffixes` and read its first rows.

    A folder that ``store_counts`` has written is a table of codes. Files with a suffix in none of
    the lists above are text with a separator. `check_titles` rejects a title above the header;
    `header` is None to find out whether there is one. `between` joins the entries of lists in
    cells.
    """
    check_integer("skip_rows", skip_rows, at_least=0)
    check_flag("header", header, optional=True)
    path = files.check_exists(path)
    opening = grid.Opening(encoding, separator, sheet, skip_rows, header)
    if encoding != files.AUTO:
        files.check_encoding(encoding)
    _check_opening(path, opening)
    kind, where = files.suffix(path), str(path)
    stored = path.is_dir() and (path / counts.MARK).is_file()
    if path.is_dir() and not stored:
        raise ReadError(
            "[folder_not_table] {path} is a folder; expected a file with a table", path=where
        )
    if kind not in suffixes and not stored:
        raise ReadError(wording.UNKNOWN_SUFFIX, path=where, suffixes=", ".join(suffixes))
    if stored:
        source = _open_stored_counts(path)
    elif path.suffix.lower() in EXCEL:
        from momentree.readers.tables import spreadsheets

        source = spreadsheets.open_spreadsheet(path, opening, check_titles=check_titles)
    elif kind in PARQUET:
        from momentree.readers.tables import parquet

        source = parquet.open_parquet(path, between=between)
    else:
        guess = files.find_encoding(path, encoding)
        if kind in JSON_LINES:
            source = json_lines.open_json_lines(path, encoding=guess, between=between)
        else:
            source = separated.open_separated(path, guess, opening, check_titles=check_titles)
        source = source.with_notes(files.note_encoding(guess, path.name))
    if not source.head.columns and source.head.n_rows:
        raise ReadError("[no_columns] {path} has no columns", path=where)
    if not source.head.n_rows:
        raise EmptyCorpusError(
            wording.NO_ROWS, path=where, sheets=grid.other_sheets(source.head.sheets)
        )
    return source


def open_in_parts(
    path: str | PathLike[str], memory: int | str, opening: grid.Opening
) -> tuple[int, grid.Source]:
    """Return the bytes of memory that are allowed, and a table that can be read in parts."""
    path, allowed = files.check_exists(path), memory_bytes(memory)
    source = open_table(path, **vars(opening))
    if not source.streams:
        raise InvalidParameterError(
            "[table_not_streamed] {path} can only be read as a whole; save it as CSV or Parquet, "
            "or leave out {parameters.memory}",
            path=str(path),
        )
    return allowed, source


def _check_opening(path: Path, opening: grid.Opening) -> None:
    """Raise ``InvalidParameterError`` if an option does not apply to the kind of file."""
    typed, where = files.suffix(path) in (*PARQUET, *JSON_LINES), str(path)
    if opening.sheet is not None and path.suffix.lower() not in EXCEL:
        raise InvalidParameterError(
            "[spreadsheets_only] {parameters.sheet:=value} applies only to spreadsheets; {path} is "
            "not one",
            value=opening.sheet,
            path=where,
        )
    if typed and (opening.skip_rows or opening.header is not None):
        name = "skip_rows" if opening.skip_rows else "header"
        raise InvalidParameterError(
            "[always_names_columns] {parameter:{value}} applies only to text and spreadsheets; "
            "{path} always names its columns",
            parameter=name,
            value=getattr(opening, name),
            path=where,
        )


def _open_stored_counts(path: Path) -> grid.Source:
    """Open a folder of counts: a code for each count above zero, or an empty cell for none."""
    stored = counts.StoredCounts.open(path)
    names = stored.feature_names
    codes = np.array(arrays.Numbers(stored.shape[1])[:] if names is None else names, dtype=object)

    def batches(wanted: Sequence[str]) -> Iterator[grid.Table]:
        above = 0
        for block in stored.blocks():
            n_codes = np.diff(block.indptr)
            n_rows = np.maximum(n_codes, 1)  # one for each code of a record, and at least one
            records = np.arange(above, above := above + len(n_codes))
            cells = np.full(n_rows.sum(), "", dtype=object)
            cells[np.repeat(n_codes > 0, n_rows)] = codes[block.indices]
            ids = np.array(stored.ids[records[0] : above], dtype=object)
            columns = {"id": np.repeat(ids, n_rows), "code": cells}
            yield _table({name: columns[name] for name in wanted}, np.repeat(records, n_rows))

    def _table(columns: dict[str, Any], records: Ints) -> grid.Table:
        cells = {name: column.tolist() for name, column in columns.items()}
        return grid.Table(path, cells, len(records), partial(_record_number, records))

    empty = np.empty(0, dtype=np.intp)
    first = next(batches(["id", "code"]), _table({"id": empty, "code": empty}, empty))
    head = {name: cells[: grid.SAMPLE_ROWS] for name, cells in first.columns.items()}
    n_rows = min(first.n_rows, grid.SAMPLE_ROWS)
    return grid.Source(grid.Table(path, head, n_rows, first.origin), batches, stored.X.nnz)


def _record_number(records: Ints, row: int) -> Message:
    return Message(wording.AT_ROW, row=int(records[row]) + 1)
