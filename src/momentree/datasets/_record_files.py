"""Read tables of records: CSV and its relatives, Parquet, Excel and its kin."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pandas as pd

from momentree.datasets._record_heads import (
    HEAD_ROWS,
    check_head,
    check_head_of_text,
    skip_lines,
)
from momentree.datasets._record_tables import Table, checked_names
from momentree.datasets.columns import listed
from momentree.datasets.files import open_text, suffix
from momentree.datasets.tables import (
    SAMPLE_CHARACTERS,
    check_fit,
    checked_separator,
    faults_of_tables,
    find_separator,
)
from momentree.exceptions import EmptyCorpusError, InvalidParameterError, ReadError

__all__ = ["read_table"]

EXCEL_SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
LISTED = ";"  # what a list of codes in Parquet becomes, so that all forms share one road


def read_table(
    path: Path,
    *,
    encoding: str,
    separator: str | None,
    sheet: str | None = None,
    skip_rows: int = 0,
) -> Table:
    """Read a table by the suffix of its file; every cell becomes a string.

    Raises
    ------
    ReadError
        If it cannot be read, has no such suffix, or two columns of one name.
    EmptyCorpusError
        If it has no row.
    InvalidParameterError
        If an option does not go with the form.
    """
    kind = suffix(path)
    excel = path.suffix.lower() in EXCEL_SUFFIXES
    if sheet is not None and not excel:
        msg = f"sheet={sheet!r} goes with Excel files; {path.name} is none"
        raise InvalidParameterError(msg)
    if skip_rows and kind in PARQUET_SUFFIXES:
        msg = f"skip_rows={skip_rows} is for text and spreadsheets; {path.name} is neither"
        raise InvalidParameterError(msg)
    if path.is_dir():
        msg = f"{path} is a folder; records are read from one file"
        raise ReadError(msg)
    if excel:
        table = _read_excel(path, sheet, skip_rows)
    elif kind in PARQUET_SUFFIXES:
        table = _read_parquet(path)
    elif kind in TEXT_SUFFIXES:
        table = _read_text(path, encoding, separator, skip_rows)
    else:
        known = ", ".join((*TEXT_SUFFIXES, *PARQUET_SUFFIXES, *EXCEL_SUFFIXES))
        msg = f"cannot tell what {path} is from its suffix; records are read from {known}"
        raise ReadError(msg)
    if table.n_rows == 0:
        msg = (
            f"no records in {path}: it has no rows below the names of its columns"
            f"{_other_sheets(table.sheets)}"
        )
        raise EmptyCorpusError(msg)
    return table


def _read_text(path: Path, encoding: str, separator: str | None, skip: int) -> Table:
    separator = checked_separator(separator)
    with open_text(path, encoding, newline="") as file:
        skip_lines(file, skip)
        sample = file.read(SAMPLE_CHARACTERS)
    if not sample.strip():
        below = f" below its first {skip:,} lines" if skip else ""
        msg = f"cannot read {path}: the file is empty{below}"
        raise ReadError(msg)
    found = find_separator(sample, cut=len(sample) == SAMPLE_CHARACTERS)
    if separator is not None:
        check_fit(path, sample, separator, found)
    used = separator or found
    check_head_of_text(path, sample, separator, found, skip)
    with (
        open_text(path, encoding, newline="") as file,
        faults_of_tables(path, used, encoding, skip=skip),
    ):
        skip_lines(file, skip)
        # All as strings: a code such as "00845" must keep its zeros.
        frame = pd.read_csv(
            file, sep=used, dtype=str, na_filter=False, index_col=False, header=None, engine="c"
        )
    names = checked_names(path, frame.iloc[0].fillna("").tolist())
    rows = frame.iloc[1:]

    def line(row: int) -> str:
        return _line_of_row(path, used, encoding, row + 1, skip)

    columns = {name: rows[j] for j, name in enumerate(names)}
    return Table(path, columns, len(rows), line)


def _line_of_row(path: Path, separator: str, encoding: str, number: int, skip: int) -> str:
    """Say where a record starts: quoted fields may hold line ends, and blank lines are none."""
    try:
        with open_text(path, encoding, newline="") as file:
            skip_lines(file, skip)
            reader = csv.reader(file, delimiter=separator)
            before = skip
            for record in reader:
                if record and number == 0:
                    return f"line {before + 1:,}"
                number -= bool(record)
                before = skip + reader.line_num
    except csv.Error:  # a cell longer than the module reads
        pass
    return "a line"


def _read_parquet(path: Path) -> Table:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    try:
        with path.open("rb") as raw:
            table = pq.read_table(raw)
        names = checked_names(path, table.column_names)
        columns = {name: _strings(table.column(j)) for j, name in enumerate(names)}
    except (pa.ArrowException, OSError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        msg = f"cannot read {path} as Parquet: {reason}"
        raise ReadError(msg) from error
    numbers = {name: _numbers(table.column(j)) for j, name in enumerate(names)}
    return Table(path, columns, table.num_rows, lambda row: f"row {row + 1:,}", numbers=numbers)


def _numbers(column: Any) -> int:
    """Count the numbers of a column if one has a fraction."""
    import pyarrow.types as pt  # type: ignore[import-untyped]

    if not (pt.is_floating(column.type) or pt.is_decimal(column.type)):
        return 0
    values = column.to_pandas().astype(float).dropna()
    return len(values) if (values % 1 != 0).any() else 0


def _strings(column: Any) -> pd.Series[str]:
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped]
    import pyarrow.types as pt

    kind = column.type
    if pt.is_list(kind) or pt.is_large_list(kind):
        column = pc.binary_join(pc.cast(column, pa.list_(pa.string())), LISTED)
    elif pt.is_nested(kind):  # no codes are there, and it may not be needed
        return pd.Series(map(str, column.to_pylist()), dtype=str)
    elif not pt.is_string(kind):
        column = pc.cast(column, pa.string())
    if pt.is_floating(kind) or pt.is_decimal(kind):
        column = pc.replace_substring_regex(column, r"\.0+$", "")
    strings: pd.Series[str] = column.to_pandas()
    return strings


def _read_excel(path: Path, sheet: str | None, skip: int) -> Table:
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with path.open("rb") as raw:
            book = CalamineWorkbook.from_filelike(io.BytesIO(raw.read()))
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            msg = f"{path} has no sheet {sheet!r}; its sheets are {listed(names)}"
            raise ReadError(msg)
        if not names:
            msg = f"cannot read {path}: it has no sheets"
            raise ReadError(msg)
        page = book.get_sheet_by_name(names[0] if sheet is None else sheet)
        start = page.start
        cells = page.to_python()
    except (CalamineError, OSError, ValueError) as error:
        if isinstance(error, ReadError):
            raise
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        msg = f"cannot read {path} as a spreadsheet: {reason}"
        raise ReadError(msg) from error
    if not cells:
        msg = f"cannot read {path}: sheet {page.name!r} is empty{_other_sheets(names)}"
        raise ReadError(msg)
    # Blank rows above the first that holds something are not among the cells.
    above = start[0] if start else 0
    dropped = max(0, skip - above)
    cells = cells[dropped:]
    if not cells:
        msg = f"cannot read {path}: sheet {page.name!r} has no more than {skip:,} rows"
        raise ReadError(msg)
    written = [[_as_written(cell) for cell in row] for row in cells[:HEAD_ROWS]]
    skips = [above + dropped + i for i in range(len(written))]
    check_head(path, written, skips, more=_other_sheets(names))
    names_of_columns = checked_names(path, written[0])
    rows = cells[1:]
    columns, numbers = {}, {}
    for j, name in enumerate(names_of_columns):
        column = [row[j] for row in rows]
        columns[name] = pd.Series([_as_written(cell) for cell in column], dtype=str)
        found = [cell for cell in column if isinstance(cell, float)]
        numbers[name] = 0 if all(map(float.is_integer, found)) else len(found)
    first = above + dropped + 2
    notes = (
        [f"read sheet {page.name!r}, the first of {len(names)}"]
        if sheet is None and len(names) > 1
        else []
    )
    return Table(
        path,
        columns,
        len(rows),
        lambda row: f"row {row + first:,}",
        notes,
        numbers,
        names,
    )


def _other_sheets(names: Sequence[str]) -> str:
    if len(names) < 2:
        return ""
    return f"; its sheets are {listed(names)}, and sheet={names[1]!r} reads the second"


def _as_written(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell.isoformat() if isinstance(cell, date | datetime | time) else str(cell)
