"""Read a table of measurements: one row per record, columns of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._validation import check_choice, check_flag, check_integer
from momentree.core.choices import ColumnKind, Empty
from momentree.exceptions import EmptyCorpusError, InvalidParameterError
from momentree.messages import Message
from momentree.readers.measurements._columns import choose_columns, read_known_columns
from momentree.readers.measurements._kinds import Column
from momentree.readers.measurements._notes import describe, set_answers_apart
from momentree.readers.measurements.coder import KINDS, MeasurementCoder
from momentree.readers.measurements.guesses import find_roles
from momentree.readers.measurements.objects import Measurements
from momentree.readers.records._guesses import matching
from momentree.readers.records._join import Paths, as_paths, join_tables
from momentree.readers.records._layout import as_names, columns_read
from momentree.readers.records._mapping import SUFFIXES
from momentree.readers.records._outcomes import read_outcome
from momentree.readers.records.coder import EMPTY
from momentree.readers.tables.files import AUTO, check_exists
from momentree.readers.tables.reader import open_table
from momentree.readers.tables.table import Table


def read_measurements(
    path: str | PathLike[str],
    *,
    kinds: Mapping[str, ColumnKind] | None = None,
    id_column: str | None = None,
    outcome_columns: str | Sequence[str] = (),
    covariate_columns: str | Sequence[str] = (),
    ignore_columns: str | Sequence[str] = (),
    missing: str | Sequence[str] = (),
    join: Paths = (),
    on: str | Sequence[str] = (),
    empty: Empty = "missing",
    encoding: str = AUTO,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    coder: MeasurementCoder | None = None,
) -> Measurements:
    r"""Read a table of measurements: CSV, TSV, Parquet, Excel or OpenDocument.

    Each row is a record. A column contains numbers, yes or no, categories or counts; columns
    without information (constant, ids, dates, text, mostly missing) are left out with a note.

    Parameters
    ----------
    path : str or path-like
        The table: .csv, .tsv, .tab or .txt, plain or compressed with gzip; .parquet, .pq; .xlsx,
        .xlsm, .xlsb, .xls, .ods. The first row names the columns.
    kinds : mapping of str to {"number", "yes_no", "category", "count"} or None, default=None
        Kinds of columns, by name or pattern, where the guess is wrong. The others are numbers if
        nearly all their values are, yes or no, or categories if a few texts repeat. Whole numbers
        of at most ten values are categories if the table contains other columns than numbers.
    id_column : str or None, default=None
        Column with the ids of the records. None uses a column named like an id whose values are
        unique; if there is none, rows are numbered.
    outcome_columns : str or sequence of str, default=()
        Columns, by name or pattern, that are outcomes: not used to form groups. Categories with a
        name such as class, species or diagnosis are outcomes too, unless `kinds` names them.
    covariate_columns : str or sequence of str, default=()
        Columns, by name or pattern, that are covariates, such as age and sex. They are read and
        described like outcomes, and can predict the group.
    ignore_columns : str or sequence of str, default=()
        Columns to leave out, by name or pattern; one that another argument names, such as an
        outcome, has only that role.
    missing : str or sequence of str, default=()
        Values that stand for a missing one, such as "999", besides empty cells, NA, ?, - and the
        like.
    join : path or sequence of paths, default=()
        Other tables, whose outcome columns are added to the rows with the same key.
    on : str or sequence of str, default=()
        Key of each table to join; see :func:`read_records`.
    empty : {"missing", "zero"}, default="missing"
        Meaning of an empty cell in a column of yes and no.
    encoding : str, default="auto"
        Encoding of text; "auto" guesses it for each file.
    separator : str or None, default=None
        For text: the character between columns. None detects comma, semicolon, tab or pipe.
    sheet : str or None, default=None
        For spreadsheets: the name of the sheet; None for the first.
    skip_rows : int, >= 0, default=0
        Rows of a spreadsheet, or lines of text, above the header.
    header : bool or None, default=None
        For spreadsheets and text: whether the first row names the columns. None finds out.
    coder : MeasurementCoder or None, default=None
        Coder of previously read records. The new records get the same columns; columns missing
        from the table become missing values.

    Returns
    -------
    Measurements
        In the order of the file; `notes` list what was guessed, repaired or left out.

    Raises
    ------
    ReadError
        If a file cannot be read, a column is missing or has two roles, a column has several units,
        or the table has none of the columns of the coder.
    EmptyCorpusError
        If there are no rows, or no column remains.
    InvalidParameterError
        If an option is invalid, or cannot be combined with a coder.

    Notes
    -----
    Numbers may have a unit ("5.1 mmol/l"), a decimal comma ("5,1"), separators of thousands
    ("1,234" or "1 234") and a limit ("<0.5", read as 0.5). Notes report each. Time and memory
    O(cells of the table).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import read_measurements
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "patients.csv"
    ...     rows = "id;hb;smoker;sex\na;13,5;yes;f\nb;9,25 g/dl;no;f\nc;NA;yes;m\nd;11,0;no;m\n"
    ...     _ = file.write_text(rows)
    ...     table = read_measurements(file)
    >>> dict(table.kinds), table.ids
    ({'hb': 'number', 'smoker': 'yes_no', 'sex': 'category'}, ['a', 'b', 'c', 'd'])
    >>> table.columns["hb"], table.units
    (array([13.5 ,  9.25,   nan, 11.  ]), {'hb': 'g/dl'})
    """
    check_integer("skip_rows", skip_rows, at_least=0)
    check_flag("header", header, optional=True)
    check_choice("empty", empty, EMPTY)
    asked = dict(kinds or {})
    for kind in asked.values():
        check_choice("kinds", kind, KINDS)
    words_missing = as_names("missing", missing)
    if coder is not None:
        _check_coder(coder, kinds=asked, missing=words_missing)
    source = open_table(
        check_exists(path),
        suffixes=SUFFIXES,
        encoding=encoding,
        separator=separator,
        sheet=sheet,
        skip_rows=skip_rows,
        header=header,
        check_titles=True,
    )
    covariates = as_names("covariate_columns", covariate_columns)
    outcomes = [*as_names("outcome_columns", outcome_columns), *covariates]
    keys = as_names("on", on)
    lefts = [key.partition("=")[0] for key in keys]
    table, joining = join_tables(
        source.read(columns_read(source.head, ignore_columns, [*outcomes, *lefts, id_column])),
        as_paths(join),
        keys,
        outcomes,
        covariates=covariates,
        encoding=encoding,
        separator=separator,
    )
    return measurements_of(
        table,
        asked,
        words_missing,
        id_column=id_column,
        outcomes=outcomes,
        covariates=covariates,
        empty=empty,
        coder=coder,
        joining=joining,
    )


def measurements_of(
    table: Table,
    asked: Mapping[str, ColumnKind],
    words_missing: Sequence[str],
    *,
    id_column: str | None,
    outcomes: Sequence[str],
    covariates: Sequence[str],
    empty: Empty,
    coder: MeasurementCoder | None = None,
    joining: Sequence[Message] = (),
) -> Measurements:
    """Return the measurements in a table, as :func:`read_measurements` does for one in a file."""
    if coder is not None and id_column is None and coder.id_column in table.columns:
        id_column = coder.id_column
    roles = find_roles(table, id_column=id_column, outcomes=outcomes)
    known_before = matching(table, "covariate_columns", covariates)
    if coder is None:
        rules = MeasurementCoder({"": "number"}, missing=[], empty=empty)
        rules = replace(rules, missing=[text.strip().lower() for text in words_missing])
        columns, left_out = choose_columns(table, roles.features, asked, rules)
        columns, answers = set_answers_apart(columns, asked)
        coder = _coder(columns, rules, roles.id_column)
        notes = describe(table, columns, {**left_out, **roles.left_out}, answers, chosen=asked)
    else:
        columns, notes = read_known_columns(table, coder)
        left_out, answers = {}, []
    values, names, more = _outcomes(table, [*roles.outcomes, *answers])
    result = Measurements(
        {column.name: column.content for column in columns},
        coder,
        roles.ids,
        ~np.all([column.missing for column in columns], axis=0),
        {c.name: unit for c in columns if (unit := _unit(c))},
        {c.name: c.words for c in columns if c.kind == "yes_no"},
        values,
        names,
        {**left_out, **roles.left_out},
        table.path.name,
        (),
        tuple(name for name in values if name in known_before),
    )
    n_empty = int((~result.enough).sum())
    if n_empty == len(result):
        raise EmptyCorpusError("no_known_value", path=str(table.path))
    if n_empty:
        notes.append(Message("records_without_values", n_records=n_empty, n_all=len(result)))
    return replace(result, notes=(*table.notes, *notes, *roles.notes, *joining, *more))


def _coder(
    columns: Sequence[Column], rules: MeasurementCoder, id_column: str | None
) -> MeasurementCoder:
    categories = {
        column.name: in_natural_order({text for text in column.texts if text})
        for column in columns
        if column.kind == "category"
    }
    kinds = {column.name: column.kind for column in columns}
    return MeasurementCoder(kinds, categories, id_column, rules.missing, rules.empty)


def in_natural_order(texts: set[str]) -> list[str]:
    """Return texts in the order of their numbers, or of the alphabet."""
    try:
        return sorted(texts, key=lambda text: (float(text), text))
    except ValueError:
        return sorted(texts)


def _unit(column: Column) -> str:
    units = column.read.units if column.read is not None else {}
    return max(units, key=lambda unit: (units[unit], unit)) if units else ""


def _outcomes(
    table: Table, columns: Sequence[str]
) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[str, str]], list[Message]]:
    outcomes, words, notes = {}, {}, []
    rows = np.arange(table.n_rows)
    for name in columns:
        cells = table.cells(name)
        outcomes[name], pair, more = read_outcome(name, cells, rows, table.n_rows)
        if pair is not None:
            words[name] = pair
        notes += more
    return outcomes, words, notes


def _check_coder(coder: object, **options: object) -> None:
    if not isinstance(coder, MeasurementCoder):
        raise InvalidParameterError("not_a_coder", parameter="coder", type=type(coder).__name__)
    for name, value in options.items():
        if value:
            raise InvalidParameterError("coder_has_its_own", parameter=name)
