"""Read coded records from a table in any of four forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree._validation import check_choice, check_integer, check_number
from momentree.core.choices import Empty
from momentree.exceptions import EmptyCorpusError, ReadError
from momentree.messages import Message, wording
from momentree.readers.records import choice, icd, objects
from momentree.readers.records.cells import Entries, read_binary_cells, read_code_cells
from momentree.readers.records.layout import Layout, find_layout
from momentree.readers.tables import files, grid, roles, schema
from momentree.readers.tables.join import Joined, Paths, read_joined, read_outcomes

_Chosen = tuple[sp.csr_array[Any], objects.RecordCoder, list[Message]]


def read_records(
    path: str | PathLike[str],
    *,
    id_column: str | None = None,
    code_columns: str | Sequence[str] | None = None,
    union_by: str | None = None,
    outcome_columns: str | Sequence[str] = (),
    covariate_columns: str | Sequence[str] = (),
    ignore_columns: str | Sequence[str] = (),
    join: Paths = (),
    on: str | Sequence[str] = (),
    rollup: icd.Mapped | None = None,
    names: icd.Mapped | None = None,
    min_records: int | None = None,
    cumulative_frequency: float | None = None,
    min_codes: int | None = None,
    drop_constant: bool = True,
    empty: Empty = "missing",
    encoding: str = files.AUTO,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    coder: objects.RecordCoder | None = None,
) -> objects.Records:
    r"""Read coded records from a table: CSV, TSV, Parquet, Excel or OpenDocument.

    The table has one of four forms, detected from its columns and their content:

    - *long*: one row per record and code; rows with the same id form a record,
    - *lists*: one row per record, with all its codes in one cell ("250.00; 401.9"),
    - *slots*: one row per record, with one code in each of several columns (DX1, DX2, ...),
    - *wide*: one row per record and one column per code, with 0 or 1 (or true and false, yes and
      no, t and f, y and n). An empty cell or NA is a missing value, not a zero, unless
      ``empty="zero"`` or the column contains only x (or +, ✓) and empty cells.

    Parameters
    ----------
    path : str or path-like
        The table: .csv, .tsv, .tab or .txt, plain or compressed with gzip; .parquet, .pq; .xlsx,
        .xlsm, .xlsb, .xls, .ods. The first row names the columns.
    id_column : str or None, default=None
        Column with the ids of the records. None uses the only column named like an id ("id",
        "visit_id", ...); if there is none, rows are numbered.
    code_columns : str, sequence of str or None, default=None
        Columns with codes, by name or pattern such as "DX*". None guesses them if that is safe.
    union_by : str or None, default=None
        Join rows with equal values in this column into one record, such as the admissions of a
        patient.
    outcome_columns : str or sequence of str, default=()
        Columns, by name or pattern, that are outcomes, not codes. A pattern skips columns of codes
        and ids.
    covariate_columns : str or sequence of str, default=()
        Columns, by name or pattern, that are covariates, such as age and sex. They are read and
        described like outcomes, and can predict the group.
    ignore_columns : str or sequence of str, default=()
        Columns to leave out, by name or pattern; one that another argument names, such as an
        outcome, has only that role.
    join : path or sequence of paths, default=()
        Other tables, whose outcome columns are added to the rows with the same key.
    on : str or sequence of str, default=()
        Key of each table to join, or one for all: a column of both tables, such as "HADM_ID", or
        "left=right" if it has two names. By default the only column that both tables have.
    rollup : {"icd9", "icd10"}, path, mapping or None, default=None
        How to roll codes up: to the general diagnosis (see :func:`roll_up`), or to the groups in a
        table with columns code and group, or in a dictionary.
    names : {"icd9", "icd10", "none"}, path, mapping or None, default=None
        Names of codes, after the roll-up: a table with columns code and name, or a dictionary; a
        longer code has the name of a shorter one with which it begins. The titles of
        :func:`code_titles` name the other codes, or with None all, if codes are rolled up by ICD or
        are clearly diagnoses. "icd9" and "icd10" always use these titles; "none" uses no names.
    min_records : int or None, >= 1, default=None
        Drop codes found in fewer records. None is 5, or 2 with fewer than 1000 records.
    cumulative_frequency : float or None, above 0, at most 1, default=None
        Keep the most frequent codes that make up this share of all entries; None keeps all.
    min_codes : int, >= 0, default=None
        Records with fewer of the codes kept are excluded from fitting (`enough` is False). None is
        1 or, in a wide table, 0: "no" in every column is an answer, but a record without any known
        value is excluded.
    drop_constant : bool, default=True
        Drop codes that occur in all records with any code, since they do not distinguish records.
    empty : {"missing", "zero"}, default="missing"
        Meaning of an empty cell in a wide table: a missing value, or that the record does not have
        the code. NA and similar values are always missing values.
    encoding : str, default="auto"
        Encoding of text; "auto" guesses it for each file.
    separator : str or None, default=None
        For text: the character between columns. None detects comma, semicolon, tab or pipe.
    sheet : str or None, default=None
        For spreadsheets: the name of the sheet; None for the first.
    skip_rows : int, >= 0, default=0
        Rows of a spreadsheet, or lines of text, above the header.
    header : bool or None, default=None
        For spreadsheets and text: whether the first row names the columns. None finds out; without
        names, they are "column 1", "column 2" and so on.
    coder : RecordCoder or None, default=None
        Coder of previously read records. The new records get the same columns, and their codes are
        read from the same columns of the table unless `code_columns` is given. Columns missing
        from a wide table become missing values.

    Returns
    -------
    Records
        In the order of the file; `notes` list what was guessed, repaired or left out.

    Raises
    ------
    ReadError
        If a file cannot be read, no key matches, a column is missing or has two roles, the columns
        of codes and ids are not clear, or the table has none of the columns of the coder.
    InvalidDataError
        If a value of a wide table is neither 0 nor 1, most code columns contain only ones and empty
        cells, more than 5% of the entries are dates, no code is in the mapping, or most codes are
        not in the system or have lost their zeros.
    EmptyCorpusError
        If there are no rows, or no codes are kept.
    InvalidParameterError
        If an option is invalid, or cannot be combined with a coder, or the key of a table to join
        is not clear.

    Notes
    -----
    The reader repairs and reports blanks around codes, lower case, repeated entries in a record,
    codes with and without their dot, lost leading zeros of ICD-9 codes that are rolled up, and a
    few dates among the codes; it drops rare codes and codes found in every record (as in Fig. 4.3
    of [1], where all patients have the same disease). Codes in a cell are separated by semicolons,
    bars, commas or blanks, and also by ``^``, ``~``, ``&`` or ``/`` if the parts look like codes.
    Section 6.4.1 of [1] prepares its data with ``rollup="icd9", cumulative_frequency=0.9,
    min_codes=3``. Time and memory O(cells of the table).

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications. PhD
       thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import read_records
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "visits.csv"
    ...     _ = file.write_text("visit_id,codes\na,250.01; 401.9\nb,25002\nc,401.1;428\nd,428\n")
    ...     records = read_records(file, rollup="icd9")
    >>> records.codes.tolist(), records.ids, records.form
    (['250', '401', '428'], ['a', 'b', 'c', 'd'], 'lists')
    >>> records.X.toarray()
    array([[1., 1., 0.],
           [1., 0., 0.],
           [0., 1., 1.],
           [0., 0., 1.]])
    """
    check_integer("min_records", min_records, at_least=1, optional=True)
    check_number("cumulative_frequency", cumulative_frequency, above=0, at_most=1, optional=True)
    check_integer("min_codes", min_codes, at_least=0, optional=True)
    check_choice("empty", empty, objects.EMPTY)
    limits: dict[str, Any] = {
        "min_records": min_records,
        "cumulative_frequency": cumulative_frequency,
    }
    schema.check_coder(coder, objects.RecordCoder, rollup=rollup, names=names, **limits)
    joined = read_joined(
        path,
        grid.Opening(encoding, separator, sheet, skip_rows, header),
        outcome_columns=outcome_columns,
        covariate_columns=covariate_columns,
        ignore_columns=ignore_columns,
        join=join,
        on=on,
        id_column=id_column,
        union_by=union_by,
    )
    named = schema.as_names("code_columns", code_columns)
    text: dict[str, Any] = {"encoding": encoding, "separator": separator}
    choose = partial(
        _new_coder,
        rules=objects.RecordCoder(
            [], id_column=id_column, empty=empty, **icd.read_rollup(rollup, **text)
        ),
        named=named,
        name_codes=partial(icd.names_of, names=names, **text),
        drop_constant=drop_constant,
        **limits,
    )
    return _records(joined, named, id_column, union_by, empty, min_codes, coder, choose)


def _records(
    joined: Joined,
    named: list[str],
    id_column: str | None,
    union_by: str | None,
    empty: Empty,
    min_codes: int | None,
    coder: objects.RecordCoder | None,
    choose: Callable[..., _Chosen],
) -> objects.Records:
    """Encode the records of a table by a coder; without one, `choose` the codes."""
    table = joined.table
    before = objects.RecordCoder([]) if coder is None else coder
    union_by = schema.known_column(table, union_by, before.union_by)
    layout = find_layout(
        table,
        id_column=schema.known_column(table, id_column, before.id_column),
        code_columns=named or columns_of_coder(table, before),
        union_by=union_by,
        outcome_columns=joined.outcomes,
    )
    if before.form == "wide" and not named and layout.chosen:
        layout = replace(layout, form="wide")
    rows = join_rows(table, layout)
    layout, entries = _read_cells(table, layout, "zero" in (empty, before.empty), coder is not None)
    notes = [*table.notes, layout.described(), *layout.notes, *joined.notes]
    if layout.form == "wide":
        notes += choice.possible_outcomes(entries, {*named, *before.code_columns})
    notes += [*rows.notes, *entries.notes]
    if coder is None:
        X, coder, more = choose(table, rows, entries, layout, union_by)
    else:
        X, n_repeated, more = encode(rows, entries, coder, wide=layout.form == "wide")
        more = [*choice.note_repeats(n_repeated, coder, union_by), *more]
    n_codes = count_codes(X)
    none, record = n_codes == 0, rows.record[entries.row]
    enough = has_enough(X, n_codes, min_codes, wide=layout.form == "wide")
    dropped = bool(none[record[record >= 0]].any())
    few = note_few_codes(
        len(n_codes), int(none.sum()), int((~enough).sum()), min_codes, dropped=dropped
    )
    outcomes = read_outcomes(table, layout.outcomes, rows.record, len(rows.ids))
    return objects.Records(
        X,
        np.array(coder.codes, dtype=object),
        dict(coder.names),
        rows.ids,
        enough,
        coder,
        outcomes.columns,
        outcomes.words,
        table.path.name,
        layout.form,
        (*notes, *more, *few, *outcomes.notes),
        tuple(name for name in outcomes.columns if name in joined.covariates),
    )


def _read_cells(
    table: grid.Table, layout: Layout, empty_is_zero: bool, known: bool
) -> tuple[Layout, Entries]:
    """Read the cells of codes; return them with the layout, which excludes columns of text."""
    if layout.form != "wide":
        return layout, read_code_cells(table, layout.codes)
    entries = read_binary_cells(
        table, layout.codes, chosen=layout.chosen, empty_is_zero=empty_is_zero, known=known
    )
    return replace(layout, codes=entries.codes or layout.codes), entries


def _new_coder(
    table: grid.Table,
    rows: Rows,
    entries: Entries,
    layout: Layout,
    union_by: str | None,
    *,
    rules: objects.RecordCoder,
    named: list[str],
    **limits: Any,
) -> _Chosen:
    """Choose codes by the rules and limits; return X, the coder with these codes, and notes."""
    matrices: list[Any] = []

    def counted(column: Ints, d: int) -> choice.CodeCounts:
        matrices.extend(matrix_of(rows, entries, column, d))
        return choice.CodeCounts.of(*matrices)

    counts = np.bincount(entries.code, minlength=len(entries.codes))
    keep, coder, notes = choice.choose_columns(
        table, entries.codes, counts, counted, rules, layout, union_by, named, **limits
    )
    return sp.csr_array(matrices[0][:, keep]), coder, notes


@dataclass(frozen=True)
class Rows:
    """Record of each row (-1 for none), and the ids of records."""

    record: Ints
    ids: list[str]
    notes: list[Message]


def join_rows(table: grid.Table, layout: Layout) -> Rows:
    """Find the records, one per row or one per value of the key, in the order of the file."""
    rows = _join(table, layout)
    used = {layout.key, *layout.codes, *layout.outcomes}
    for name in table.names:
        if name in used or not roles.fits("patient", name):
            continue
        cells = table.cells(name)
        known = (rows.record >= 0) & (cells.texts != "")[cells.index]
        n_records = len(np.unique(rows.record[known]))
        n_patients = len(np.unique(cells.index[known]))
        # A column with few values, such as the type of patient, does not identify patients.
        if n_patients < n_records <= 100 * n_patients:
            rows.notes.append(
                Message(
                    "[shared_patients] {n_records:~record} belong to {n_patients:~patient}, "
                    "according to column {column!r}: {parameter:=column} joins the records of each "
                    "patient",
                    n_records=n_records,
                    n_patients=n_patients,
                    parameter="union_by",
                    column=grid.excerpt(name),
                )
            )
            break
    return rows


def _join(table: grid.Table, layout: Layout) -> Rows:
    n = table.n_rows
    if layout.key is None:
        return Rows(np.arange(n), [str(i) for i in range(1, n + 1)], [Message(wording.NO_IDS)])
    key = grid.excerpt(layout.key)
    cells = table.cells(layout.key)
    texts = cells.texts[cells.index]
    empty = texts == ""
    n_empty = int(empty.sum())
    facts: dict[str, Any] = {"path": table.path, "column": key, "n_rows": n, "n_without": n_empty}
    if not layout.joined:
        n_again = n - n_empty - int((cells.texts != "").sum())
        return Rows(np.arange(n), texts.tolist(), note_ids(**facts, n_again=n_again))
    texts[empty] = None
    record, ids = pd.factorize(texts)
    return Rows(record, list(map(str, ids)), note_ids(**facts, n_records=len(ids)))


def note_ids(
    path: Path,
    column: str,
    *,
    n_rows: int,
    n_without: int,
    n_again: int = 0,
    n_records: int | None = None,
) -> list[Message]:
    """Return notes on a column of ids: rows without one, repeated ones, and rows joined to records.

    `n_records` is None if each row is a record.
    """
    if n_records is None:
        again = Message(wording.REPEATED_IDS, n_rows=n_again, column=column, parameter="union_by")
        without = Message(wording.RECORDS_WITHOUT_ID, n_records=n_without, column=column)
        return [*([again] if n_again else []), *([without] if n_without else [])]
    if n_without == n_rows:
        raise EmptyCorpusError(wording.EMPTY_KEY, path=str(path), column=column)
    without = Message(wording.ROWS_WITHOUT_ID, n_rows=n_without, column=column)
    joined = Message(
        wording.ROWS_JOINED, n_rows=n_rows - n_without, n_records=n_records, column=column
    )
    return [*([without] if n_without else []), joined]


def matrix_of(
    rows: Rows, entries: Entries, column: Ints, n_columns: int
) -> tuple[sp.csr_array[Any], Ints]:
    """Return 1 where a record has a code, NaN where unknown; and repeated entries per column.

    `column` is the column of each code; -1 for none.
    """
    shape = (len(rows.ids), n_columns)
    X, n_repeated = _ones(rows.record[entries.row], column[entries.code], shape)
    if len(entries.missing_row):
        gaps, _ = _ones(rows.record[entries.missing_row], column[entries.missing_code], shape)
        X = with_gaps(X, gaps)
    return X, n_repeated


def with_gaps(X: sp.csr_array[Any], gaps: sp.csr_array[Any]) -> sp.csr_array[Any]:
    """Return X with NaN where `gaps` has 1 and X has none."""
    # A record with the code in one row has it, even if the code is missing in another.
    gaps = sp.csr_array(gaps - gaps.multiply(X))
    gaps.eliminate_zeros()
    gaps.data[:] = np.nan
    return sp.csr_array(X + gaps)


def _ones(record: Ints, column: Ints, shape: tuple[int, int]) -> tuple[sp.csr_array[Any], Ints]:
    known = (record >= 0) & (column >= 0)
    places = (record[known].astype(np.int32), column[known].astype(np.int32))
    X = sp.csr_array(sp.coo_array((np.ones(len(places[0])), places), shape=shape))
    X.sum_duplicates()
    X.data[:] = 1.0
    d = shape[1]
    return X, np.bincount(places[1], minlength=d) - np.bincount(X.indices, minlength=d)


def count_codes(X: sp.csr_array[Any]) -> Ints:
    """Count the codes of each record, without missing ones."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(row[X.data == 1], minlength=X.shape[0])


def count_missing(X: sp.csr_array[Any]) -> Ints:
    """Count the missing values of each record."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(row[np.isnan(X.data)], minlength=X.shape[0])


def columns_of_coder(table: grid.Table, coder: objects.RecordCoder) -> list[str]:
    """Return the columns and patterns of the coder found in the table; raise an error if none.

    Other columns that look like codes are ignored: the model was not fitted to them.
    """
    patterns = [
        p for p in coder.code_columns if any(schema.fits_pattern(n, [p]) for n in table.names)
    ]
    if coder.code_columns and not patterns:
        raise ReadError(
            "[columns_of_coder_missing] {path} has none of the columns from which the model reads "
            "codes, {expected:quoted list}; its columns are {columns:quoted list}: name the code "
            "columns with {parameters.code_columns}",
            path=str(table.path),
            expected=grid.excerpts(coder.code_columns),
            columns=grid.excerpts(table.names),
        )
    return patterns


def encode(
    rows: Rows, entries: Entries, coder: objects.RecordCoder, *, wide: bool
) -> tuple[sp.csr_array[Any], int, list[Message]]:
    """Return the matrix of new records, the number of repeated entries, and notes."""
    notes = []
    absent = [name for name in coder.code_columns if name not in set(entries.codes)]
    if wide and coder.form == "wide" and absent:
        n = len(rows.record)
        new = np.arange(len(entries.codes), len(entries.codes) + len(absent))
        entries = replace(
            entries,
            codes=[*entries.codes, *absent],
            missing_row=np.concatenate([entries.missing_row, np.tile(np.arange(n), len(new))]),
            missing_code=np.concatenate([entries.missing_code, np.repeat(new, n)]),
        )
        notes.append(
            Message(wording.MISSING_COLUMNS, n_columns=len(absent), column=grid.excerpt(absent[0]))
        )
    column = coder.columns_of(entries.codes)
    X, repeated = matrix_of(rows, entries, column, len(coder.codes))
    unknown = np.flatnonzero(column < 0)
    if len(unknown):
        notes.append(
            Message(
                "[unknown_codes] left out {n_codes:~code} ({n_entries:~entry/entries}) unknown to "
                "the model, such as {code!r}",
                n_codes=len(unknown),
                n_entries=int(np.isin(entries.code, unknown).sum()),
                code=grid.excerpt(entries.codes[unknown[0]]),
            )
        )
    return X, int(repeated.sum()), notes


def has_enough(
    X: Any, n_codes: NDArray[Any], min_codes: int | None, *, wide: bool
) -> NDArray[np.bool_]:
    """Return whether each record is fitted: it has `min_codes` codes.

    None requires one code or, in a wide table, where all "no" is an answer, one known value.
    """
    if min_codes is None and wide:
        return np.asarray(count_missing(X) < X.shape[1])
    return np.asarray(n_codes >= (1 if min_codes is None else min_codes))


def note_few_codes(
    n: int, n_none: int, n_few: int, min_codes: int | None, *, dropped: bool
) -> list[Message]:
    """Return notes on records without codes, all `dropped` perhaps, and with few of them."""
    notes = []
    if n_none and n_none != n_few:
        code = (
            (
                "[all_codes_dropped] {n_records:,} of {n_all:~record} {n_records:?has/have} no "
                "codes, or none of those kept"
            )
            if dropped
            else (
                "[records_without_codes] {n_records:,} of {n_all:~record} {n_records:?has/have} no "
                "codes"
            )
        )
        notes.append(Message(code, n_records=n_none, n_all=n))
    if n_few:
        needed = 1 if min_codes is None else min_codes
        notes.append(
            Message(
                "[too_few_codes] {n_records:,} of {n_all:~record} {n_records:?has/have} "
                "{min_codes:?none of the codes/fewer than {min_codes:,} codes}: excluded from "
                "fitting, assigned afterwards",
                n_records=n_few,
                n_all=n,
                min_codes=needed,
            )
        )
    return notes
