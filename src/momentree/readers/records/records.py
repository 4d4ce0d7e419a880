"""Read coded records from a table in any of four forms."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree._validation import check_choice, check_flag, check_integer, check_number
from momentree.core.choices import Empty
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.readers.records._binary_cells import read_binary_cells
from momentree.readers.records._choice import CodeCounts, choose_codes, group_codes
from momentree.readers.records._code_cells import Entries, read_code_cells
from momentree.readers.records._guesses import matching
from momentree.readers.records._join import Paths, as_paths, join_tables
from momentree.readers.records._layout import as_names, columns_read, find_layout
from momentree.readers.records._mapping import SUFFIXES, Mapped, read_mapping
from momentree.readers.records._matrix import (
    Rows,
    columns_of_coder,
    count_codes,
    count_missing,
    encode,
    join_rows,
    matrix_of,
)
from momentree.readers.records._names import names_of
from momentree.readers.records._outcomes import read_outcome
from momentree.readers.records.coder import EMPTY, RecordCoder
from momentree.readers.records.codes import SYSTEMS
from momentree.readers.records.objects import Records
from momentree.readers.tables.files import AUTO, check_exists
from momentree.readers.tables.reader import open_table
from momentree.readers.tables.roles import fits
from momentree.readers.tables.table import Table, excerpts


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
    rollup: Mapped | None = None,
    names: Mapped | None = None,
    min_records: int | None = None,
    cumulative_frequency: float | None = None,
    min_codes: int | None = None,
    drop_constant: bool = True,
    empty: Empty = "missing",
    encoding: str = AUTO,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    coder: RecordCoder | None = None,
) -> Records:
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
    check_integer("skip_rows", skip_rows, at_least=0)
    check_flag("header", header, optional=True)
    check_choice("empty", empty, EMPTY)
    if coder is not None:
        _check_coder(
            coder,
            rollup=rollup,
            names=names,
            min_records=min_records,
            cumulative_frequency=cumulative_frequency,
        )
    before = RecordCoder([]) if coder is None else coder
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
    asked = [*as_names("outcome_columns", outcome_columns), *covariates]
    keys = as_names("on", on)
    lefts = [key.partition("=")[0] for key in keys]
    others = [*asked, *lefts, id_column, union_by]
    table, joining = join_tables(
        source.read(columns_read(source.head, ignore_columns, others)),
        as_paths(join),
        keys,
        [*asked, *([] if union_by is None else [union_by])],
        covariates=covariates,
        encoding=encoding,
        separator=separator,
    )
    named = as_names("code_columns", code_columns)
    known_before = matching(table, "covariate_columns", covariates)
    union_by = _known(table, union_by, before.union_by)
    layout = find_layout(
        table,
        id_column=_known(table, id_column, before.id_column),
        code_columns=named or columns_of_coder(table, before),
        union_by=union_by,
        outcome_columns=asked,
    )
    if before.form == "wide" and not named and layout.chosen:
        layout = replace(layout, form="wide")
    wide = layout.form == "wide"
    rows = join_rows(table, layout)
    if wide:
        entries = read_binary_cells(
            table,
            layout.codes,
            chosen=layout.chosen,
            empty_is_zero="zero" in (empty, before.empty),
            known=coder is not None,
        )
        if entries.codes:  # text columns and empty columns do not contain codes after all
            layout = replace(layout, codes=entries.codes)
    else:
        entries = read_code_cells(table, layout.codes)
    notes = [*table.notes, layout.described(), *layout.notes, *joining]
    if wide:
        notes += possible_outcomes(entries, {*named, *before.code_columns})
    notes += [*rows.notes, *entries.notes]
    if coder is None:
        key = id_column if union_by is not None else layout.key
        rules = RecordCoder([], layout.form, key, layout.codes, union_by, empty=empty)
        X, coder, more = _new_coder(
            table,
            rows,
            entries,
            with_rollup(rules, rollup, encoding, separator),
            named,
            partial(names_of, names=names, encoding=encoding, separator=separator),
            min_records=min_records,
            cumulative_frequency=cumulative_frequency,
            drop_constant=drop_constant,
        )
        notes += more
    else:
        X, n_repeated, unknown = encode(rows, entries, coder, wide=wide)
        notes += [*_repeats(n_repeated, coder, union_by), *unknown]
    n_codes = count_codes(X)
    enough = has_enough(X, n_codes, min_codes, wide=wide)
    notes += _few_codes(rows, entries, n_codes, enough, min_codes)
    outcomes, outcome_names, more = _outcomes(table, layout.outcomes, rows)
    notes += more
    return Records(
        X,
        np.array(coder.codes, dtype=object),
        dict(coder.names),
        rows.ids,
        enough,
        coder,
        outcomes,
        outcome_names,
        table.path.name,
        layout.form,
        tuple(notes),
        tuple(name for name in outcomes if name in known_before),
    )


def _new_coder(
    table: Table,
    rows: Rows,
    entries: Entries,
    rules: RecordCoder,
    named: list[str],
    name_codes: Callable[..., tuple[dict[str, str], list[Message]]],
    **limits: Any,
) -> tuple[Any, RecordCoder, list[Message]]:
    """Choose codes by the rules and limits; return X, the coder with these codes, and notes."""
    counts = np.bincount(entries.code, minlength=len(entries.codes))
    found: list[Any] = []

    def counted(column: Ints, d: int) -> CodeCounts:
        found.extend(matrix_of(rows, entries, column, d))
        return CodeCounts.of(*found)

    keep, coder, notes = choose_columns(
        table, entries.codes, counts, counted, rules, named, name_codes, **limits
    )
    return sp.csr_array(found[0][:, keep]), coder, notes


def choose_columns(
    table: Table,
    written: list[str],
    counts: Ints,
    counted: Callable[[Ints, int], CodeCounts],
    rules: RecordCoder,
    named: list[str],
    name_codes: Callable[..., tuple[dict[str, str], list[Message]]],
    **limits: Any,
) -> tuple[Ints, RecordCoder, list[Message]]:
    """Choose the columns from the codes as written; return them, a coder, and notes.

    `counts` are the entries of each code; `counted` counts the records, given the column of each
    code and the number of columns.
    """
    wide = rules.form == "wide"
    rules, groups, grouping = group_codes(table, written, counts, rules, wide=wide)
    codes, column = np.unique(np.array(groups, dtype=object), return_inverse=True)
    of_codes = counted(column, len(codes))
    keep, choice = choose_codes(
        of_codes, codes.tolist(), where=str(table.path), wide=wide, **limits
    )
    kept = codes[keep].tolist()
    titles, unnamed = name_codes(kept, rollup=rules.rollup, written=written)
    # Patterns are kept as patterns, because new records may have more code columns.
    columns = named or rules.code_columns
    if wide:
        known = set(kept)
        columns = [c for c, g in zip(written, groups, strict=True) if g in known]
    coder = replace(rules, codes=kept, names=titles, code_columns=columns)
    repeats = _repeats(int(of_codes.repeated[keep].sum()), coder, rules.union_by)
    return keep, coder, [*grouping, *repeats, *choice, *unnamed]


def _outcomes(
    table: Table, columns: Sequence[str], rows: Rows
) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[str, str]], list[Message]]:
    """Return the outcomes of the records by column, the words of those of yes and no, and notes."""
    outcomes, words, notes = {}, {}, []
    for name in columns:
        outcomes[name], pair, more = read_outcome(
            name, table.cells(name), rows.record, len(rows.ids)
        )
        if pair is not None:
            words[name] = pair
        notes += more
    return outcomes, words, notes


def _check_coder(coder: object, **options: object) -> None:
    if not isinstance(coder, RecordCoder):
        raise InvalidParameterError("not_a_coder", parameter="coder", type=type(coder).__name__)
    for name, value in options.items():
        if value is not None:
            raise InvalidParameterError("coder_has_its_own", parameter=name)


def _known(table: Table, asked: str | None, before: str | None) -> str | None:
    """Return the requested column, or else that of the coder if the table has it."""
    return before if asked is None and before in table.columns else asked


def with_rollup(
    rules: RecordCoder, rollup: Mapped | None, encoding: str, separator: str | None
) -> RecordCoder:
    """Return the rules with a roll-up of codes."""
    if rollup is None:
        return rules
    if isinstance(rollup, str) and rollup.lower() in SYSTEMS:
        return replace(rules, rollup=rollup.lower())
    if isinstance(rollup, str) and rollup and not os.path.lexists(rollup):
        raise InvalidParameterError("not_a_rollup", parameter="rollup", value=rollup)
    mapping = read_mapping(rollup, "group", encoding=encoding, separator=separator)
    return replace(rules, rollup="mapping", mapping=mapping)


def possible_outcomes(entries: Entries, named: set[str]) -> list[Message]:
    """Report code columns named like outcomes, unless the caller chose them."""
    columns = [name for name in entries.codes if name not in named and fits("outcome", name)]
    if not columns:
        return []
    return [Message("possible_outcomes", n_columns=len(columns), columns=excerpts(columns))]


def _repeats(n_repeated: int, coder: RecordCoder, union_by: str | None) -> list[Message]:
    # Admissions of a patient share codes, so repeats are expected when they are joined.
    if not n_repeated or union_by is not None:
        return []
    rolled_up = Message("after_rollup") if coder.rollup is not None else ""
    return [Message("repeated_entries", n_entries=n_repeated, when=rolled_up)]


def has_enough(
    X: Any, n_codes: NDArray[Any], min_codes: int | None, *, wide: bool
) -> NDArray[np.bool_]:
    """Return whether each record is fitted: it has `min_codes` codes.

    None requires one code or, in a wide table, where all "no" is an answer, one known value.
    """
    if min_codes is None and wide:
        return np.asarray(count_missing(X) < X.shape[1])
    return np.asarray(n_codes >= (1 if min_codes is None else min_codes))


def _few_codes(
    rows: Rows,
    entries: Entries,
    n_codes: NDArray[Any],
    enough: NDArray[np.bool_],
    min_codes: int | None,
) -> list[Message]:
    none = n_codes == 0
    record = rows.record[entries.row]
    dropped = none[record[record >= 0]].any()
    n_few = int((~enough).sum())
    return note_few_codes(len(n_codes), int(none.sum()), n_few, min_codes, dropped=bool(dropped))


def note_few_codes(
    n: int, n_none: int, n_few: int, min_codes: int | None, *, dropped: bool
) -> list[Message]:
    """Return notes on records without codes, all `dropped` perhaps, and with few of them."""
    notes = []
    if n_none and n_none != n_few:
        code = "all_codes_dropped" if dropped else "records_without_codes"
        notes.append(Message(code, n_records=n_none, n_all=n))
    if n_few:
        needed = 1 if min_codes is None else min_codes
        notes.append(Message("too_few_codes", n_records=n_few, n_all=n, min_codes=needed))
    return notes
