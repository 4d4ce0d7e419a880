"""Read coded records from tables: who has which code, in whatever form it is written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._validation import check_whole
from momentree.exceptions import InvalidParameterError
from momentree.readers.records.objects import Records
from momentree.readers.records._cells import Found, codes_in_cells, yes_or_no
from momentree.readers.records._columns import known_codes, names_of, same_columns
from momentree.readers.records._forms import Layout, as_names, find_layout, outcomes_among, without
from momentree.readers.records._matrix import (
    Rows,
    choose_codes,
    find_rules,
    join_rows,
    matrix_of,
    ones_per_row,
)
from momentree.readers.records._outcomes import read_outcome
from momentree.readers.records._tables import FEW, few_or_many, many, read_table
from momentree.readers.records.coder import EMPTY, RecordCoder
from momentree.readers.records.codes import SYSTEMS, read_mapping
from momentree.readers.tables.files import check_exists
from momentree.readers.tables.table import Table

__all__ = ["read_records"]

Mapped = str | PathLike[str] | Mapping[str, str]


def read_records(
    path: str | PathLike[str],
    *,
    id_column: str | None = None,
    code_columns: str | Sequence[str] | None = None,
    union_by: str | None = None,
    outcome_columns: str | Sequence[str] = (),
    ignore_columns: str | Sequence[str] = (),
    rollup: Mapped | None = None,
    names: Mapped | None = None,
    min_records: int | None = None,
    coverage: float | None = None,
    min_codes: int = 1,
    drop_constant: bool = True,
    empty: str = "missing",
    encoding: str = "utf-8",
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    coder: RecordCoder | None = None,
) -> Records:
    r"""Read coded records from a table: CSV, TSV, Parquet, Excel or OpenDocument.

    Four forms are told apart by the columns and what is in them:

    - *long*: a row for each (record, code); rows with one id make a record,
    - *lists*: a row for each record, one cell with its codes ("250.00; 401.9"),
    - *slots*: a row for each record, several columns with one code each (DX1, DX2, ...),
    - *wide*: a row for each record, a column for each code, with 0 or 1 (or true and false, yes
      and no, t and f, y and n). An empty cell or NA is a missing value, not a zero, unless
      ``empty="zero"``; only in a column that holds nothing but x (or +, ✓) and empty cells is an
      empty one a zero by itself.

    Parameters
    ----------
    path : str or path-like
        The table: .csv, .tsv, .tab or .txt, plain or compressed by gzip; .parquet, .pq; .xlsx,
        .xlsm, .xlsb, .xls, .ods. The first row names the columns.
    id_column : str or None, default=None
        Column of the ids of records. None finds one by its name ("id", "visit_id", ...) where only
        one fits, else rows are numbered.
    code_columns : str, sequence of str or None, default=None
        Columns with codes, by name or pattern such as "DX*". None finds them where that is safe.
    union_by : str or None, default=None
        Column whose rows are joined to one record, such as that of the patient of an admission.
    outcome_columns : str or sequence of str, default=()
        Columns, by name or pattern, that are kept as outcomes and not as codes. A pattern takes no
        column of codes or ids.
    ignore_columns : str or sequence of str, default=()
        Columns, by name or pattern, that are neither codes nor ids nor outcomes: read as if they
        were not there.
    rollup : {"icd9", "icd10"}, path, mapping or None, default=None
        To what codes are rolled up: the general diagnosis (see :func:`roll_up`), or the group that
        a table with columns code and group, or a dictionary, gives.
    names : path, mapping or None, default=None
        Names of codes (after the roll-up): a table with columns code and name, or a dictionary.
    min_records : int or None, >= 1, default=None
        Codes in fewer records are dropped; None is 5, or 2 for less than 1000 records.
    coverage : float or None, above 0, at most 1, default=None
        Keep the commonest codes that make up this share of all entries; None keeps all.
    min_codes : int, >= 0, default=1
        Records with fewer codes, of those kept, are not `enough` to learn from.
    drop_constant : bool, default=True
        Drop codes that every record (with any code) has: they tell records apart in no way.
    empty : {"missing", "zero"}, default="missing"
        What an empty cell of a wide table means: that it is not known whether the record has the
        code, or that it has not. NA and the like are missing values in either case.
    encoding : str, default="utf-8"
        Encoding of text.
    separator : str or None, default=None
        For text: the character between columns; None to find out which of comma, semicolon, tab
        and pipe it is.
    sheet : str or None, default=None
        For spreadsheets: the name of the sheet; None is the first.
    skip_rows : int, >= 0, default=0
        Rows of a spreadsheet, or lines of a text, above the one that names the columns.
    coder : RecordCoder or None, default=None
        That of records read before: the new ones get the same columns, from the same columns of
        the table where these are not named. Columns of a wide table that are not there become
        missing values.

    Returns
    -------
    Records
        In the order of the file; `notes` says what was found, repaired and left out.

    Raises
    ------
    ReadError
        If the file cannot be read (with the line), its first row does not name the columns, a
        column is not there, or it is not clear which columns hold codes and ids (with those that
        are there, and what to pass); or if a table has none of the columns of its coder.
    InvalidDataError
        If a value of a wide table is neither 0 nor 1, most of its columns hold 1 or nothing, more
        than 5 % of the entries or most of a column are dates (with line and column), no code is in
        the mapping of the roll-up or most are not of its system, or most are numbers that lost
        their zeros.
    EmptyCorpusError
        If there are no rows, or no code is left.
    InvalidParameterError
        If an option is out of its range, or given together with a coder that has its own.

    Notes
    -----
    Repairs that are made and reported: blanks around codes, lower case, repeated (record, code)
    pairs, codes with and without their dot, lost zeros at the front of ICD-9 codes where these are
    rolled up, a few dates among codes, codes in every record (as in Fig. 4.3 of [1], where the
    disease that all patients have tells nothing), rare codes. Codes in one cell are parted by
    semicolons, bars, commas or blanks, and also by ``^``, ``~``, ``&`` or ``/`` where what is
    between these looks like codes. The preparation of section 6.4.1 of [1] is ``rollup="icd9",
    coverage=0.9, min_codes=3``. Time and memory O(cells of the table).

    References
    ----------
    .. [1] M. Ruffini. Methods of moments for learning latent variable models: algorithms and
       applications. PhD thesis, Universitat Politecnica de Catalunya, 2018.

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
    _check_options(min_records, coverage, min_codes, skip_rows)
    if empty not in EMPTY:
        msg = f"empty={empty!r}; expected one of {EMPTY}"
        raise InvalidParameterError(msg)
    if coder is not None:
        _check_coder(coder, rollup=rollup, names=names, min_records=min_records, coverage=coverage)
    table = read_table(
        check_exists(path),
        encoding=encoding,
        separator=separator,
        sheet=sheet,
        skip_rows=skip_rows,
    )
    table = without(table, as_names("ignore_columns", ignore_columns))
    union_by = _known(table, union_by, coder.union_by if coder else None)
    layout = find_layout(
        table,
        id_column=_known(table, id_column, coder.id_column if coder else None),
        code_columns=as_names("code_columns", code_columns) or known_codes(table, coder),
        union_by=union_by,
        outcome_columns=as_names("outcome_columns", outcome_columns),
    )
    if coder is not None and coder.form == "wide" and code_columns is None and layout.chosen:
        layout = replace(layout, form="wide")
    wide = layout.form == "wide"
    rows = join_rows(table, layout)
    if wide:
        found = yes_or_no(
            table,
            layout.codes,
            chosen=layout.chosen,
            empty_is_no="zero" in (empty, coder.empty if coder else None),
            as_before=coder is not None,
        )
        named = {*as_names("code_columns", code_columns), *(coder.code_columns if coder else ())}
        guessed = outcomes_among([name for name in found.codes if name not in named])
    else:
        found, guessed = codes_in_cells(table, layout.codes), []
    # Columns of text or without a value were no codes after all.
    read = replace(layout, codes=found.codes) if wide and found.codes else layout
    notes = [*table.notes, read.described(), *layout.notes, *guessed, *rows.notes, *found.notes]
    if coder is None:
        rules = _first_rules(layout, id_column, union_by, rollup, encoding, separator)
        rules = replace(rules, empty=empty)
        rules, groups, more = find_rules(table, found, rules, wide=wide)
        all_codes, column = np.unique(np.array(groups, dtype=object), return_inverse=True)
        X, repeated = matrix_of(rows, found, column, len(all_codes))
        keep, choice = choose_codes(
            X,
            all_codes.tolist(),
            where=str(table.path),
            min_records=min_records,
            coverage=coverage,
            drop_constant=drop_constant,
            wide=wide,
        )
        X = sp.csr_array(X[:, keep])
        n_repeated = int(repeated[keep].sum())
        notes += [*more, *_on_repeated(n_repeated, rules, union_by), *choice]
        kept = all_codes[keep].tolist()
        known_names, more = names_of(
            kept, names, encoding, separator, rolled=rules.rollup is not None
        )
        # Patterns as they were given: new records may have more columns of codes.
        sources = as_names("code_columns", code_columns) or layout.codes
        if wide:
            known = set(kept)
            sources = [c for c, g in zip(found.codes, groups, strict=True) if g in known]
        coder = replace(rules, codes=kept, names=known_names, code_columns=sources)
    else:
        X, n_repeated, more = same_columns(rows, found, coder, wide=wide)
        notes += _on_repeated(n_repeated, coder, union_by)
    n_codes = ones_per_row(X)
    enough = n_codes >= min_codes
    outcomes, outcome_names, told = _outcomes(table, layout, rows)
    notes += [*more, *_on_few(rows, found, n_codes, min_codes), *told]
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
    )


def _check_options(
    min_records: int | None, coverage: float | None, min_codes: int, skip_rows: int
) -> None:
    check_whole("min_codes", min_codes)
    check_whole("skip_rows", skip_rows)
    if min_records is not None:
        check_whole("min_records", min_records)
        if min_records < 1:
            msg = f"min_records={min_records!r}; expected at least 1"
            raise InvalidParameterError(msg)
    if coverage is not None and not (isinstance(coverage, Real) and 0 < coverage <= 1):
        msg = f"coverage={coverage!r}; expected a share of all entries, above 0 and at most 1"
        raise InvalidParameterError(msg)


def _check_coder(coder: object, **options: Any) -> None:
    if not isinstance(coder, RecordCoder):
        msg = f"coder is {type(coder).__name__}; expected the coder of records read before"
        raise InvalidParameterError(msg)
    given = [name for name, value in options.items() if value is not None]
    if given:
        msg = f"{', '.join(given)} cannot be given with a coder: it has its own, leave them out"
        raise InvalidParameterError(msg)


def _known(table: Table, asked: str | None, before: str | None) -> str | None:
    """Return the column that was asked for, else the one of the records read before."""
    return before if asked is None and before in table.columns else asked


def _first_rules(
    layout: Layout,
    id_column: str | None,
    union_by: str | None,
    rollup: Mapped | None,
    encoding: str,
    separator: str | None,
) -> RecordCoder:
    key = id_column if union_by is not None else layout.key
    rules = RecordCoder([], layout.form, key, layout.codes, union_by)
    if rollup is None:
        return rules
    if isinstance(rollup, str) and rollup.lower() in SYSTEMS:
        return replace(rules, rollup=rollup.lower())
    if isinstance(rollup, str) and rollup and not os.path.lexists(rollup):
        msg = (
            f"rollup={rollup!r} is neither one of {SYSTEMS} nor the path of a file with columns "
            f"code and group"
        )
        raise InvalidParameterError(msg)
    mapping = read_mapping(rollup, "group", encoding=encoding, separator=separator)
    return replace(rules, rollup="mapping", mapping=mapping)


def _on_repeated(repeated: int, coder: RecordCoder, union_by: str | None) -> list[str]:
    # That a patient has a code again in the next admission is what a union is for.
    if not repeated or union_by is not None:
        return []
    rolled = ", after the roll-up" if coder.rollup is not None else ""
    return [f"counted {many(repeated, 'repeated pair')} of a record and a code once{rolled}"]


def _on_few(rows: Rows, found: Found, n_codes: NDArray[Any], min_codes: int) -> list[str]:
    n = len(n_codes)
    none, few = n_codes == 0, int((n_codes < min_codes).sum())
    notes = []
    if none.any():
        record = rows.record[found.row]
        left = "left " if none[record[record >= 0]].any() else ""
        notes.append(f"no code {left}in {_of(int(none.sum()), n)}")
    if few:
        notes.append(
            f"too few to learn from, but to be assigned: {_of(few, n)} with fewer than "
            f"{many(min_codes, 'code')}"
        )
    return notes


def _of(some: int, n: int) -> str:
    # Beside the number of the others that of all would tell the few.
    return few_or_many(some, "record") + (f" of {n:,}" if some >= FEW else "")


def _outcomes(
    table: Table, layout: Layout, rows: Rows
) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[str, str]], list[str]]:
    outcomes, names, notes = {}, {}, []
    for name in layout.outcomes:
        values, pair, told = read_outcome(name, table.cells(name), rows.record, len(rows.ids))
        outcomes[name] = values
        if pair is not None:
            names[name] = pair
        notes += told
    return outcomes, names, notes
