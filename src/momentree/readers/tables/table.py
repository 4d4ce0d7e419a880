"""Read documents from tables: CSV and its relatives, and Parquet."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from momentree.exceptions import InvalidParameterError, ReadError
from momentree.readers.tables._parquet import check_content, open_parquet
from momentree.readers.tables.files import open_text
from momentree.readers.text.columns import SAMPLE_ROWS, Columns, choose_columns
from momentree.readers.text.gather import Gatherer
from momentree.readers.text.objects import Documents

__all__ = ["find_separator", "read_csv", "read_parquet"]

SEPARATORS = (",", ";", "\t", "|")
_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
SAMPLE_CHARACTERS = 1 << 16
_MOST_COLUMNS = 5_000
_ROWS_AT_ONCE = 20_000
# Separates the units of a record in ASCII and stands in no text: a table of one column.
NO_SEPARATOR = "\x1f"


def read_csv(
    path: Path,
    *,
    text_column: str | None,
    label_column: str | None,
    id_column: str | None,
    encoding: str,
    separator: str | None,
) -> Documents:
    """Read documents from a table of text whose first line names the columns.

    Parameters
    ----------
    path : Path
        The file, plain or compressed by gzip. Fields may stand in double quotes and then hold
        separators and line ends.
    text_column, label_column, id_column : str or None
        Columns; see :func:`read_documents`.
    encoding : str
        Encoding of the file.
    separator : str or None
        One character; None to find out which of comma, semicolon, tab and pipe it is.

    Returns
    -------
    Documents
        In the order of the file.

    Raises
    ------
    ReadError
        If a line has too many fields (with its number), a quote is never closed, a column is
        missing, the separator does not fit, or the file is not in this encoding.
    InvalidParameterError
        If the separator is not one character.
    EmptyCorpusError
        If there is not one row.
    """
    separator = checked_separator(separator)
    with open_text(path, encoding, newline="") as file:
        sample = file.read(SAMPLE_CHARACTERS)
    found = find_separator(sample, cut=len(sample) == SAMPLE_CHARACTERS)
    if not sample.strip():
        msg = f"cannot read {path}: the file is empty"
        raise ReadError(msg)
    if separator is not None:
        check_fit(path, sample, separator, found)
    _check_width(path, sample, separator or found)
    gatherer = Gatherer(path)
    columns: Columns | None = None
    with (
        open_text(path, encoding, newline="") as file,
        faults_of_tables(path, separator or found, encoding),
    ):
        for frame in _frames(file, separator or found):
            names = [str(name) for name in frame.columns]
            if columns is None:
                columns = choose_columns(
                    path,
                    names,
                    {name: frame[name].iloc[:SAMPLE_ROWS].tolist() for name in names},
                    text_column=text_column,
                    label_column=label_column,
                    id_column=id_column,
                    any_text=frame.empty,
                )
            _gather(gatherer, columns, {name: frame[name].tolist() for name in columns.used()})
    return gatherer.documents(columns or Columns("text", None, None))


def find_separator(sample: str, *, cut: bool) -> str:
    r"""Find what stands between the columns of a table.

    Parameters
    ----------
    sample : str
        The first lines.
    cut : bool
        Whether the sample ends in the middle of the file, and so perhaps of a record.

    Returns
    -------
    str
        That of comma, semicolon, tab and pipe which is in the first line and in the most other
        lines as often; the ASCII unit separator if the first line has none of them, which makes a
        table of one column.

    Examples
    --------
    >>> from momentree.readers.tables.table import find_separator
    >>> find_separator('id;text\n1;"yes, we can"\n2;no, never\n', cut=False)
    ';'
    """
    best, best_score = NO_SEPARATOR, (0.0, 1)
    for separator in SEPARATORS:
        records = _records(sample, separator, cut=cut)
        n_fields = len(records[0]) if records else 0
        if n_fields > 1:
            same = sum(len(record) == n_fields for record in records) / len(records)
            if (same, n_fields) > best_score:
                best, best_score = separator, (same, n_fields)
    return best


def _records(sample: str, separator: str, *, cut: bool) -> list[list[str]]:
    records: list[list[str]] = []
    try:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator)
        records.extend(record for record in reader if record)
    except csv.Error:  # a field of more characters than the module likes; what was read will do
        pass
    return records[:-1] if cut and len(records) > 1 else records


def checked_separator(separator: str | None) -> str | None:
    if separator is None:
        return None
    one = _NAMES.get(separator, separator) if isinstance(separator, str) else separator
    # A byte that is no text reaches Python as a surrogate, which pandas cannot encode.
    if not isinstance(one, str) or not re.fullmatch(r'[^"\r\n\0\ud800-\udfff]', one):
        msg = (
            f"separator={separator!r} is not one character such as ',', ';', '|' or a tab; leave "
            f"it out to have it found"
        )
        raise InvalidParameterError(msg)
    return one


def check_fit(path: Path, sample: str, separator: str, found: str) -> None:
    """Refuse a separator that makes one column of what another one makes several of."""
    records = _records(sample, separator, cut=False)
    if found in (NO_SEPARATOR, separator) or not records or len(records[0]) > 1:
        return
    msg = (
        f"{path} has one column with separator {separator!r}, and several with {found!r}: leave "
        f"the separator out, or pass separator={found!r}"
    )
    raise ReadError(msg)


def _check_width(path: Path, sample: str, separator: str) -> None:
    """Refuse more columns than documents have: each takes pandas as long as many rows."""
    records = _records(sample, separator, cut=False)
    if records and len(records[0]) > _MOST_COLUMNS:
        msg = (
            f"{path} has more than {_MOST_COLUMNS:,} columns; documents have few, one of them with "
            f"the text. Give a matrix of counts as .npz, .mtx or .svm"
        )
        raise ReadError(msg)


def _frames(file: TextIO, separator: str) -> Iterator[pd.DataFrame]:
    # All as strings, nothing taken for missing: "NA" and "null" are words.
    return iter(
        pd.read_csv(
            file,
            sep=separator,
            dtype=str,
            na_filter=False,
            index_col=False,
            chunksize=_ROWS_AT_ONCE,
            engine="c",
        )
    )


@contextmanager
def faults_of_tables(path: Path, separator: str, encoding: str, *, skip: int = 0) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            # Only warned of: that all rows are longer than the first line.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            yield
    except pd.errors.EmptyDataError as error:
        msg = f"cannot read {path}: the file is empty"
        raise ReadError(msg) from error
    except pd.errors.ParserWarning as error:
        msg = (
            f"{path}: the rows have more fields than the first line has names of columns; name "
            f"all columns there, or pass another separator"
        )
        raise ReadError(msg) from error
    except pd.errors.ParserError as error:
        problem = str(error).strip()
        raise ReadError(_explain(path, separator, encoding, problem, skip)) from error


def _explain(path: Path, separator: str, encoding: str, problem: str, skip: int) -> str:
    fields = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", problem)
    if fields:
        expected, record, saw = map(int, fields.groups())
        where = _line_of_record(path, separator, encoding, record, skip)
        return (
            f"{path}, {where}, has {saw} fields where the first line has {expected}: put fields "
            f"that hold {separator!r} in double quotes, or pass another separator"
        )
    opened = re.search(r"EOF inside string starting at row (\d+)", problem)
    if opened:
        where = _line_of_record(path, separator, encoding, int(opened[1]) + 1, skip)
        return (
            f"{path}, {where}, opens a double quote that is never closed; close it, or write "
            f'"" for a quote inside a field'
        )
    return f"cannot read {path} as a table: {problem.removeprefix('Error tokenizing data. ')}"


def _line_of_record(path: Path, separator: str, encoding: str, number: int, skip: int) -> str:
    """Say where a record starts: pandas counts records, people count lines."""
    try:
        with open_text(path, encoding, newline="") as file:
            for _ in range(skip):
                file.readline()
            reader = csv.reader(file, delimiter=separator)
            for _ in range(number - 1):
                next(reader)
            return f"line {skip + reader.line_num + 1:,}"
    except (csv.Error, StopIteration):
        return f"record {number:,}"


def _gather(gatherer: Gatherer, columns: Columns, values: dict[str, list[Any]]) -> None:
    texts = values[columns.text]
    nothing = [None] * len(texts)
    labels = nothing if columns.label is None else values[columns.label]
    ids = nothing if columns.id is None else values[columns.id]
    for text, label, identity in zip(texts, labels, ids, strict=True):
        gatherer.add(text, label, identity)


def read_parquet(
    path: Path, *, text_column: str | None, label_column: str | None, id_column: str | None
) -> Documents:
    """Read documents from a Parquet file; only the columns that are used are read.

    Parameters
    ----------
    path : Path
        The file.
    text_column, label_column, id_column : str or None
        Columns; see :func:`read_documents`.

    Returns
    -------
    Documents
        In the order of the file.

    Raises
    ------
    ReadError
        If the file is damaged or no Parquet, a column is missing, or the text column holds
        something else than strings.
    EmptyCorpusError
        If there is not one row.
    """
    gatherer = Gatherer(path)
    with open_parquet(path) as file:
        types = {field.name: field.type for field in file.schema_arrow}
        strings = [name for name, kind in types.items() if is_text(kind)]
        first = next(file.iter_batches(batch_size=SAMPLE_ROWS, columns=strings), None)
        rows = {}
        if first is not None:
            check_content(path, first)
            rows = first.to_pydict()
        columns = choose_columns(
            path,
            list(types),
            {name: rows.get(name, []) for name in types},
            text_column=text_column,
            label_column=label_column,
            id_column=id_column,
            any_text=first is None,
        )
        if first is not None and columns.text not in strings:
            msg = (
                f"{path}: column {columns.text!r} holds {types[columns.text]}, not text; name "
                f"a column of strings with text_column"
            )
            raise ReadError(msg)
        known = 0
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=columns.used()):
            known = check_content(path, batch, known)
            _gather(gatherer, columns, batch.to_pydict())
    return gatherer.documents(columns)


def is_text(kind: Any) -> bool:
    import pyarrow.types as pt  # type: ignore[import-untyped]

    if pt.is_dictionary(kind):
        kind = kind.value_type
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))
