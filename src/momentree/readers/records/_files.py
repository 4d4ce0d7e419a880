"""Read tables of records: CSV and its relatives, Parquet, Excel and its kin."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree.exceptions import EmptyCorpusError, InvalidParameterError, ReadError
from momentree.readers.records._heads import (
    HEAD_ROWS,
    check_head,
    check_head_of_text,
    skip_lines,
)
from momentree.readers.records._tables import Table, checked_names
from momentree.readers.tables._parquet import check_content, open_parquet
from momentree.readers.tables._spreadsheets import EXCEL_SUFFIXES, other_sheets, read_sheet
from momentree.readers.tables.files import open_text, suffix
from momentree.readers.tables.table import (
    SAMPLE_CHARACTERS,
    check_fit,
    checked_separator,
    faults_of_tables,
    find_separator,
)

__all__ = ["read_table"]

TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
_MANY_COLUMNS = 1_000
"""Pandas takes 0.1 ms for each column, whatever is in it."""

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
            f"{other_sheets(list(table.sheets))}"
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
        cells = None
        if sample.partition("\n")[0].count(used) > _MANY_COLUMNS:
            cells = _regular_cells(file, used)
        if cells is None:
            file.seek(0)
            skip_lines(file, skip)
            # All as strings: a code such as "00845" must keep its zeros.
            cells = pd.read_csv(
                file,
                sep=used,
                dtype=object,
                na_filter=False,
                index_col=False,
                header=None,
                engine="c",
            ).to_numpy()
    names = checked_names(path, [name if isinstance(name, str) else "" for name in cells[0]])
    rows = cells[1:]

    def line(row: int) -> str:
        return _line_of_row(path, used, encoding, row + 1, skip)

    columns = {name: rows[:, j] for j, name in enumerate(names)}
    return Table(path, columns, len(rows), line)


def _regular_cells(file: TextIO, separator: str) -> NDArray[Any] | None:
    """Read a table without any fault; None if it has one, which pandas mends or explains."""
    try:
        rows = [row for row in csv.reader(file, delimiter=separator, strict=True) if row]
    except csv.Error:
        return None
    regular = len({len(row) for row in rows}) == 1
    return np.array(rows, dtype=object) if regular else None


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
    with open_parquet(path) as file:
        table = file.read()
        check_content(path, table)
        names = checked_names(path, table.column_names)
        columns = {name: _strings(table.column(j)) for j, name in enumerate(names)}
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
    found = read_sheet(path, sheet)
    more = other_sheets(found.names)
    if not found.rows:
        msg = f"cannot read {path}: sheet {found.name!r} is empty{more}"
        raise ReadError(msg)
    kept = [i for i, number in enumerate(found.numbers) if number >= skip]
    if not kept:
        msg = f"cannot read {path}: sheet {found.name!r} has no more than {skip:,} rows"
        raise ReadError(msg)
    numbers, rows = found.numbers[kept[0] :], found.rows[kept[0] :]
    written = [[_as_written(cell) for cell in row] for row in rows[:HEAD_ROWS]]
    check_head(path, written, numbers[:HEAD_ROWS], more=more)
    names = checked_names(path, written[0])
    columns, fractions = {}, {}
    for j, name in enumerate(names):
        column = [row[j] for row in rows[1:]]
        columns[name] = np.array([_as_written(cell) for cell in column], dtype=object)
        floats = [cell for cell in column if isinstance(cell, float)]
        fractions[name] = 0 if all(map(float.is_integer, floats)) else len(floats)
    notes = (
        [f"read sheet {found.name!r}, the first of {len(found.names)}"]
        if sheet is None and len(found.names) > 1
        else []
    )
    return Table(
        path,
        columns,
        len(rows) - 1,
        lambda row: f"row {numbers[row + 1] + 1:,}",
        notes,
        fractions,
        found.names,
    )


def _as_written(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).lower() if isinstance(cell, bool) else str(cell)
