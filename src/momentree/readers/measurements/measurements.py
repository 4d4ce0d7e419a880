"""Read a table of measurements: one row per record, columns of any kind; and recognize one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from momentree._validation import check_choice
from momentree.core.choices import ColumnKind, Empty
from momentree.exceptions import EmptyCorpusError, InvalidParameterError
from momentree.messages import Message, wording
from momentree.readers.measurements import choice, objects
from momentree.readers.measurements.columns import Column, find_style, read_column
from momentree.readers.measurements.sample import draw
from momentree.readers.records.objects import EMPTY
from momentree.readers.stored.work import WorkFolder
from momentree.readers.tables import files, grid, reader, schema
from momentree.readers.tables.join import Joined, Paths, read_joined, read_outcomes
from momentree.readers.tables.roles import mostly_binary

_MIN_COLUMNS = 2
"""Columns of measurements by which a table is recognized."""
_MAX_CODES, _FEW = 3, 0.1
"""Columns with more different values, of which more than a tenth are not 0 or 1, contain counts.
With fewer, a value such as 9 may mean unknown."""


def read_measurements(
    path: str | PathLike[str],
    *,
    folder: str | PathLike[str] | None = None,
    memory: int | str = "1GB",
    resume: bool = False,
    also: Mapping[str, Any] | None = None,
    kinds: Mapping[str, ColumnKind] | None = None,
    id_column: str | None = None,
    outcome_columns: str | Sequence[str] = (),
    covariate_columns: str | Sequence[str] = (),
    ignore_columns: str | Sequence[str] = (),
    missing: str | Sequence[str] = (),
    join: Paths = (),
    on: str | Sequence[str] = (),
    empty: Empty = "missing",
    encoding: str = files.AUTO,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    coder: objects.MeasurementCoder | None = None,
) -> objects.Measurements:
    r"""Read a table of measurements: CSV, TSV, Parquet, Excel or OpenDocument.

    Each row is a record. A column contains numbers, yes or no, categories or counts; columns
    without information (constant, ids, dates, text, mostly missing) are left out with a note.

    Parameters
    ----------
    path : str or path-like
        The table: .csv, .tsv, .tab or .txt, plain or compressed with gzip; .parquet, .pq; .xlsx,
        .xlsm, .xlsb, .xls, .ods. The first row names the columns.
    folder : str, path-like or None, default=None
        A folder to make, to read the table in bounded memory: CSV, TSV or Parquet, in batches. Of a
        table that is larger, a random sample of the rows is read, and kept there. A model that is
        fitted to the sample then assigns all rows, in ``blocks()``. None reads all rows into
        memory.
    memory : int or str, default="1GB"
        With a `folder`, memory of the process: bytes, or "800MB", "1.5GB", "2GiB". At least 600 MB.
    resume : bool, default=False
        Whether to continue in a `folder` that an interrupted run has left.
    also : mapping of str to object, default=None
        With a `folder`, options of the work that follows, which must not change either when it is
        continued.
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
        If an option is invalid, or cannot be combined with a coder or a folder. With a folder: if
        the table can only be read as a whole, the folder contains unfinished work and `resume` is
        False, or the input or an option has changed since.
    MomentreeError
        If the folder cannot be written, for instance because the disk is full.

    Notes
    -----
    Numbers may have a unit ("5.1 mmol/l"), a decimal comma ("5,1"), separators of thousands
    ("1,234" or "1 234") and a limit ("<0.5", read as 0.5). Notes report each. Time and memory
    O(cells of the table).

    With a folder, the sample has all rows if they fit, otherwise those whose numbers have a hash
    below 2\ :sup:`-j`, with the least j for which they fit: the same in every run, and independent
    of the order of the values. Kinds, units and categories are those of the sample; a category that
    does not occur in it is a missing value in ``blocks()``.

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
    check_choice("empty", empty, EMPTY)
    asked = dict(kinds or {})
    for kind in asked.values():
        check_choice("kinds", kind, objects.KINDS)
    words_missing = schema.as_names("missing", missing)
    schema.check_coder(coder, objects.MeasurementCoder, kinds=asked, missing=words_missing)
    opening = grid.Opening(encoding, separator, sheet, skip_rows, header)
    columns: dict[str, Any] = {
        "outcome_columns": outcome_columns,
        "covariate_columns": covariate_columns,
        "ignore_columns": ignore_columns,
        "join": join,
        "on": on,
        "id_column": id_column,
    }
    reading: dict[str, Any] = {"kinds": asked, "missing": words_missing, "empty": empty}
    if folder is None:
        return _read(read_joined(path, opening, **columns), id_column, coder, **reading)
    if join:
        raise InvalidParameterError(wording.NEEDS_ALL_ROWS, parameter="join")
    allowed, source = reader.open_in_parts(path, memory, opening)
    options = {**vars(opening), **columns, **reading, "memory": allowed, **(also or {})}
    options["coder"] = None if coder is None else coder.to_dict()
    joined = Joined.of(source.head, outcome_columns, covariate_columns)
    names = schema.columns_read(source.head, ignore_columns, [*joined.outcomes, id_column])
    work = WorkFolder(Path(folder))
    with work.begun(Path(path), options, resume=resume):
        drawn = draw(source, names, allowed, work)
    return drawn.mark(_read(replace(joined, table=drawn.table), id_column, coder, **reading))


def _read(
    joined: Joined,
    id_column: str | None,
    coder: objects.MeasurementCoder | None,
    *,
    kinds: Mapping[str, ColumnKind],
    missing: Sequence[str],
    empty: Empty,
) -> objects.Measurements:
    """Read the measurements in a table."""
    table = joined.table
    if coder is not None:
        id_column = schema.known_column(table, id_column, coder.id_column)
    roles = _find_roles(table, id_column=id_column, outcomes=joined.outcomes)
    if coder is None:
        words = [text.strip().lower() for text in missing]
        rules = objects.MeasurementCoder({"": "number"}, missing=words, empty=empty)
        columns, left_out = choice.choose_columns(table, roles.features, kinds, rules)
        left_out |= roles.left_out
        columns, answers = choice.set_answers_apart(columns, kinds)
        coder = _coder(columns, rules, roles.id_column)
        notes = choice.describe(table, columns, left_out, answers, chosen=kinds)
    else:
        columns, notes = choice.read_known_columns(table, coder)
        left_out, answers = roles.left_out, []
    n = table.n_rows
    read = read_outcomes(table, [*roles.outcomes, *answers], np.arange(n), n)
    result = objects.Measurements(
        {column.name: column.content for column in columns},
        coder,
        roles.ids,
        ~np.all([column.missing for column in columns], axis=0),
        {c.name: unit for c in columns if (unit := _unit(c))},
        {c.name: c.words for c in columns if c.kind == "yes_no"},
        read.columns,
        read.words,
        {name: Message(why).code for name, why in left_out.items()},
        table.path.name,
        (),
        tuple(name for name in read.columns if name in joined.covariates),
    )
    n_empty = int((~result.enough).sum())
    if n_empty == len(result):
        raise EmptyCorpusError(
            "{path}: every value is missing, so there are no records", path=str(table.path)
        )
    if n_empty:
        notes.append(
            Message(
                "[records_without_values] {n_records:,} of {n_all:~record} {n_records:?has/have} "
                "no known value: not in any group",
                n_records=n_empty,
                n_all=len(result),
            )
        )
    return replace(result, notes=(*table.notes, *notes, *roles.notes, *joined.notes, *read.notes))


@dataclass(frozen=True)
class _Roles:
    """The roles of the columns of a table."""

    id_column: str | None
    ids: list[str]
    outcomes: list[str]
    features: list[str]
    left_out: dict[str, str]
    notes: list[Message]


def _find_roles(table: grid.Table, *, id_column: str | None, outcomes: Sequence[str]) -> _Roles:
    """Find the columns of ids, of outcomes and of measurements."""
    profile = schema.Schema(table)
    if id_column is not None:
        table.require(id_column, "id_column")
    answers = schema.matching(table, "outcome_columns", outcomes)
    if id_column in answers:
        raise schema.id_as_outcome(table, str(id_column))
    free = [name for name in table.names if name not in answers and name != id_column]
    ids = [name for name in free if profile[name].is_id]
    id_column = id_column or profile.unique_id(ids)
    notes = []
    if id_column is not None:
        values = [text.strip() for text in table.columns[id_column]]
    else:
        values = [str(i) for i in range(1, table.n_rows + 1)]
        if repeated := [name for name in ids if not profile[name].is_unique]:
            n = table.n_rows - len(set(table.columns[repeated[0]]))
            notes.append(
                Message(
                    "[rows_of_same_id] {n_rows:~row} {n_rows:?repeats/repeat} an id of column "
                    "{column!r}; each row is a separate record",
                    n_rows=n,
                    column=grid.excerpt(repeated[0]),
                )
            )
    left_out = {name: wording.COLUMNS_OF_IDS for name in ids if name != id_column}
    features = [name for name in free if name not in ids]
    return _Roles(id_column, values, answers, features, left_out, notes)


def _coder(
    columns: Sequence[Column], rules: objects.MeasurementCoder, id_column: str | None
) -> objects.MeasurementCoder:
    categories = {
        column.name: in_natural_order({text for text in column.texts if text})
        for column in columns
        if column.kind == "category"
    }
    kinds = {column.name: column.kind for column in columns}
    return objects.MeasurementCoder(kinds, categories, id_column, rules.missing, rules.empty)


def in_natural_order(texts: set[str]) -> list[str]:
    """Return texts in the order of their numbers, or of the alphabet."""
    try:
        return sorted(texts, key=lambda text: (float(text), text))
    except ValueError:
        return sorted(texts)


def _unit(column: Column) -> str:
    units = column.read.units if column.read is not None else {}
    return max(units, key=lambda unit: (units[unit], unit)) if units else ""


def holds_measurements(
    path: str | PathLike[str],
    *,
    id_column: str | None = None,
    outcome_columns: Sequence[str] = (),
    ignore_columns: Sequence[str] = (),
    **opening: Any,
) -> bool:
    """Return whether a table contains measurements, not codes, judging by its first rows.

    It does if no column is named like one of codes, most do not contain only ones, and there are
    two or more columns of numbers, categories, or yes and no, of which at least one contains
    numbers other than 0 and 1.

    Parameters
    ----------
    path : str or path-like
        A table, as for :func:`read_measurements`.
    id_column : str or None, default=None
        Column with the ids of the records.
    outcome_columns : sequence of str, default=()
        Names or patterns of outcomes and covariates.
    ignore_columns : sequence of str, default=()
        Names or patterns of columns to leave out.
    **opening
        How to open the table: `encoding`, `separator`, `sheet`, `skip_rows` and `header` of
        :func:`read_measurements`.

    Returns
    -------
    bool
        Whether :func:`read_measurements` rather than :func:`read_records` should read it.

    Raises
    ------
    ReadError
        If the file cannot be read.
    EmptyCorpusError
        If it has no rows.
    """
    head = reader.open_table(path, **opening).head
    profile, known = schema.Schema(head), [*outcome_columns, *ignore_columns]
    free = [
        name for name in head.names if name != id_column and not schema.fits_pattern(name, known)
    ]
    if profile.codes(free):
        return False
    columns = _examine(head, [name for name in free if not profile[name].is_id])
    ticked = [column for column in columns if _is_ticked(column)]
    if 2 * len(ticked) > len(columns):
        return False
    numbers = [column for column in columns if _has_numbers(column)]
    fractions = any((column.numbers % 1 > 0).any() for column in numbers)
    return bool(numbers) and (len(columns) >= _MIN_COLUMNS or fractions)


def _examine(head: grid.Table, names: Sequence[str]) -> list[Column]:
    n_rows = grid.rows_examined(len(names))
    cells = {name: head.columns[name][:n_rows] for name in names}
    style = find_style(cells.values())
    columns = [read_column(name, texts, None, style) for name, texts in cells.items()]
    return [column for column in columns if not column.why_left_out]


def _is_ticked(column: Column) -> bool:
    """Return whether a column contains only yes and empty cells."""
    known = column.numbers[~np.isnan(column.numbers)]
    return column.kind == "yes_no" and bool((known == 1).all())


def _has_numbers(column: Column) -> bool:
    """Return whether a column contains numbers: more than 0 and 1, typing errors and one code."""
    if column.kind != "number" or column.read is None:
        return False
    known = column.numbers[~np.isnan(column.numbers)]
    texts = [f"{value:g}" for value in known.tolist()]
    n_different = len(set(texts))
    if n_different > _MAX_CODES and (~np.isin(known, (0.0, 1.0))).mean() > _FEW:
        return True
    return n_different > 2 and not mostly_binary(texts)
