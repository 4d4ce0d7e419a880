"""Tables of records as columns of strings: CSV and its relatives, Parquet, Excel and its kin."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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

__all__ = ["EXCEL_SUFFIXES", "Cells", "Table", "excerpt", "many", "read_table"]

EXCEL_SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
LISTED = ";"  # what a list of codes in Parquet becomes, so that all forms share one road


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
    columns: Mapping[str, Any]
    n_rows: int
    lines: Any  # from the number of a row to where it is, such as "line 3"
    notes: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self.columns)

    def cells(self, name: str) -> Cells:
        """Return a column."""
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.compute as pc  # type: ignore[import-untyped]

        index, found = pd.factorize(self.columns[name])
        values = pa.array(found, pa.large_string())
        if (index < 0).any():  # cells that are not there: -1 is the last value
            values = pa.concat_arrays([values, pa.array([""], pa.large_string())])
        stripped = pc.utf8_trim_whitespace(values)
        rows = np.bincount(index % max(len(values), 1), minlength=len(values))
        padded = pc.and_(pc.not_equal(values, stripped), pc.not_equal(stripped, ""))
        again, unique = pd.factorize(stripped.to_numpy(zero_copy_only=False))
        return Cells(
            np.asarray(again)[index],
            np.asarray(unique, dtype=object),
            int(rows[padded.to_numpy(zero_copy_only=False)].sum()),
        )

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


def read_table(path: Path, *, encoding: str, separator: str | None, sheet: str | None) -> Table:
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
    if path.is_dir():
        msg = f"{path} is a folder; records are read from one file"
        raise ReadError(msg)
    if excel:
        table = _read_excel(path, sheet)
    elif kind in PARQUET_SUFFIXES:
        table = _read_parquet(path)
    elif kind in TEXT_SUFFIXES:
        table = _read_text(path, encoding, separator)
    else:
        known = ", ".join((*TEXT_SUFFIXES, *PARQUET_SUFFIXES, *EXCEL_SUFFIXES))
        msg = f"cannot tell what {path} is from its suffix; records are read from {known}"
        raise ReadError(msg)
    if table.n_rows == 0:
        msg = f"no records in {path}: it has no rows below the names of its columns"
        raise EmptyCorpusError(msg)
    return table


def _read_text(path: Path, encoding: str, separator: str | None) -> Table:
    separator = checked_separator(separator)
    with open_text(path, encoding, newline="") as file:
        sample = file.read(SAMPLE_CHARACTERS)
    if not sample.strip():
        msg = f"cannot read {path}: the file is empty"
        raise ReadError(msg)
    found = find_separator(sample, cut=len(sample) == SAMPLE_CHARACTERS)
    if separator is not None:
        check_fit(path, sample, separator, found)
    used = separator or found
    with open_text(path, encoding, newline="") as file, faults_of_tables(path, used, encoding):
        # All as strings: a code such as "00845" must keep its zeros.
        frame = pd.read_csv(
            file, sep=used, dtype=str, na_filter=False, index_col=False, header=None, engine="c"
        )
    names = _checked_names(path, frame.iloc[0].fillna("").tolist())
    rows = frame.iloc[1:]

    def line(row: int) -> str:
        return _line_of_row(path, used, encoding, row + 1)

    columns = {name: rows[j] for j, name in enumerate(names)}
    return Table(path, columns, len(rows), line)


def _line_of_row(path: Path, separator: str, encoding: str, number: int) -> str:
    """Say where a record starts: quoted fields may hold line ends, and blank lines are none."""
    try:
        with open_text(path, encoding, newline="") as file:
            reader = csv.reader(file, delimiter=separator)
            before = 0
            for record in reader:
                if record and number == 0:
                    return f"line {before + 1:,}"
                number -= bool(record)
                before = reader.line_num
    except csv.Error:  # a cell longer than the module reads
        pass
    return "a line"


def _checked_names(path: Path, header: Sequence[str]) -> list[str]:
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


def _read_parquet(path: Path) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    try:
        with path.open("rb") as raw:
            table = pq.read_table(raw)
        columns = {
            name: _strings(table.column(j))
            for j, name in enumerate(_checked_names(path, table.column_names))
        }
    except (pa.ArrowException, OSError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        msg = f"cannot read {path} as Parquet: {reason}"
        raise ReadError(msg) from error
    return Table(path, columns, table.num_rows, lambda row: f"row {row + 1:,}")


def _strings(column: Any) -> pd.Series[str]:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as pt  # type: ignore[import-untyped]

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


def _read_excel(path: Path, sheet: str | None) -> Table:
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
        msg = f"cannot read {path}: sheet {page.name!r} is empty"
        raise ReadError(msg)
    head, *rows = cells
    names_of_columns = _checked_names(path, [_as_written(cell) for cell in head])
    columns = {
        name: pd.Series([_as_written(row[j]) for row in rows], dtype=str)
        for j, name in enumerate(names_of_columns)
    }
    first = (start[0] if start else 0) + 2
    notes = (
        [f"read sheet {page.name!r}, the first of {len(names)}"]
        if sheet is None and len(names) > 1
        else []
    )
    return Table(path, columns, len(rows), lambda row: f"row {row + first:,}", notes)


def _as_written(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell.isoformat() if isinstance(cell, date | datetime | time) else str(cell)
