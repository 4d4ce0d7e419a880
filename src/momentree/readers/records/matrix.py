"""Build the matrix of records from rows with codes, for fitting or for new records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.exceptions import EmptyCorpusError, ReadError
from momentree.messages import Message, wording
from momentree.readers.records.cells import Entries
from momentree.readers.records.layout import Layout
from momentree.readers.records.objects import RecordCoder
from momentree.readers.tables.grid import Table, excerpt, excerpts
from momentree.readers.tables.roles import fits
from momentree.readers.tables.schema import fits_pattern


@dataclass(frozen=True)
class Rows:
    """Record of each row (-1 for none), and the ids of records."""

    record: Ints
    ids: list[str]
    notes: list[Message]


def join_rows(table: Table, layout: Layout) -> Rows:
    """Find the records, one per row or one per value of the key, in the order of the file."""
    rows = _join(table, layout)
    used = {layout.key, *layout.codes, *layout.outcomes}
    for name in table.names:
        if name in used or not fits("patient", name):
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
                    column=excerpt(name),
                )
            )
            break
    return rows


def _join(table: Table, layout: Layout) -> Rows:
    n = table.n_rows
    if layout.key is None:
        return Rows(np.arange(n), [str(i) for i in range(1, n + 1)], [Message(wording.NO_IDS)])
    key = excerpt(layout.key)
    cells = table.cells(layout.key)
    texts = cells.texts[cells.index]
    empty = texts == ""
    n_empty = int(empty.sum())
    notes = []
    if not layout.joined:
        n_again = n - n_empty - int((cells.texts != "").sum())
        if n_again:
            notes.append(
                Message(wording.REPEATED_IDS, n_rows=n_again, column=key, parameter="union_by")
            )
        if n_empty:
            notes.append(Message(wording.RECORDS_WITHOUT_ID, n_records=n_empty, column=key))
        return Rows(np.arange(n), texts.tolist(), notes)
    texts[empty] = None
    record, ids = pd.factorize(texts)
    if not len(ids):
        raise EmptyCorpusError(wording.EMPTY_KEY, path=str(table.path), column=key)
    if n_empty:
        notes.append(Message(wording.ROWS_WITHOUT_ID, n_rows=n_empty, column=key))
    joined = Message(wording.ROWS_JOINED, n_rows=n - n_empty, n_records=len(ids), column=key)
    return Rows(record, list(map(str, ids)), [*notes, joined])


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


def columns_of_coder(table: Table, coder: RecordCoder) -> list[str]:
    """Return the columns and patterns of the coder found in the table; raise an error if none.

    Other columns that look like codes are ignored: the model was not fitted to them.
    """
    patterns = [p for p in coder.code_columns if any(fits_pattern(n, [p]) for n in table.names)]
    if coder.code_columns and not patterns:
        raise ReadError(
            "[columns_of_coder_missing] {path} has none of the columns from which the model reads "
            "codes, {expected:quoted list}; its columns are {columns:quoted list}: name the code "
            "columns with {parameters.code_columns}",
            path=str(table.path),
            expected=excerpts(coder.code_columns),
            columns=excerpts(table.names),
        )
    return patterns


def encode(
    rows: Rows, entries: Entries, coder: RecordCoder, *, wide: bool
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
            Message(wording.MISSING_COLUMNS, n_columns=len(absent), column=excerpt(absent[0]))
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
                code=excerpt(entries.codes[unknown[0]]),
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
