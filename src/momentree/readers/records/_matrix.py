"""From rows with codes to a matrix of records, and the choice of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import EmptyCorpusError, InvalidDataError
from momentree.readers.records._cells import Found
from momentree.readers.records._forms import Layout
from momentree.readers.records._names import is_of_patient
from momentree.readers.records._tables import FEW, excerpt, few_or_many, many
from momentree.readers.records.coder import RecordCoder
from momentree.readers.records.codes import SYSTEMS, check_fits, looks_like, lost_zeros
from momentree.readers.tables.table import Table

__all__ = ["Rows", "choose_codes", "find_rules", "join_rows", "matrix_of", "ones_per_row"]

Ints = NDArray[np.intp]

LARGE = 1_000
"""Records from which on a code must be in five of them, not two."""


@dataclass(frozen=True)
class Rows:
    """Which record each row belongs to: -1 for none."""

    record: Ints
    ids: list[str]
    notes: list[str]


def join_rows(table: Table, layout: Layout) -> Rows:
    """Find the records: one a row, or one a value of the key; in the order of the file."""
    rows = _joined(table, layout)
    return replace(rows, notes=[*rows.notes, *_on_patients(table, layout, rows)])


def _on_patients(table: Table, layout: Layout, rows: Rows) -> list[str]:
    """Tell of a column of patients who have more than one record."""
    used = {layout.key, *layout.codes, *layout.outcomes}
    for name in table.names:
        if name in used or not is_of_patient(name):
            continue
        cells = table.cells(name)
        known = (rows.record >= 0) & (cells.texts != "")[cells.index]
        n = len(np.unique(rows.record[known]))
        patients = len(np.unique(cells.index[known]))
        # What has few values, such as a kind of patient, names none.
        if patients < n <= 100 * patients:
            return [
                f"{many(n, 'record')} are of {many(patients, 'subject')} by {name!r}: "
                f"union_by={name!r} joins those of each"
            ]
    return []


def _joined(table: Table, layout: Layout) -> Rows:
    n = table.n_rows
    if layout.key is None:
        ids = [str(i) for i in range(1, n + 1)]
        return Rows(np.arange(n), ids, ["records have no ids; they are numbered by row from 1"])
    cells = table.cells(layout.key)
    texts = cells.texts[cells.index]
    empty = texts == ""
    n_empty = int(empty.sum())
    notes = []
    if not layout.joined:
        n_again = n - n_empty - int((cells.texts != "").sum())
        if n_again:
            notes.append(
                f"an id of column {layout.key!r} is repeated in {few_or_many(n_again, 'row')}; "
                f"each is a record of its own (union_by={layout.key!r} would join them)"
            )
        if n_empty:
            notes.append(f"no id in column {layout.key!r} for {few_or_many(n_empty, 'record')}")
        return Rows(np.arange(n), texts.tolist(), notes)
    texts[empty] = None
    record, found = pd.factorize(texts)
    if not len(found):
        msg = f"{table.path}: column {layout.key!r} is empty in every row, so there is no record"
        raise EmptyCorpusError(msg)
    if n_empty:
        notes.append(f"left out {many(n_empty, 'row')} with nothing in column {layout.key!r}")
    notes.append(
        f"joined {many(n - n_empty, 'row')} into {many(len(found), 'record')} by {layout.key!r}"
    )
    return Rows(record, list(map(str, found)), notes)


def matrix_of(
    rows: Rows, found: Found, column: Ints, n_columns: int
) -> tuple[sp.csr_array[Any], Ints]:
    """Return 1 where a record has a code, NaN where that is missing; and repeats in each column.

    `column` is that of each of the codes found, -1 for none.
    """
    shape = (len(rows.ids), n_columns)
    X, repeated = _cells(rows.record[found.row], column[found.code], shape)
    if len(found.missing_row):
        gaps, _ = _cells(rows.record[found.missing_row], column[found.missing_code], shape)
        # A record with the code in one row has it, whatever its other rows leave open.
        gaps = sp.csr_array(gaps - gaps.multiply(X))
        gaps.eliminate_zeros()
        gaps.data[:] = np.nan
        X = sp.csr_array(X + gaps)
    return X, repeated


def _cells(record: Ints, column: Ints, shape: tuple[int, int]) -> tuple[sp.csr_array[Any], Ints]:
    there = (record >= 0) & (column >= 0)
    places = (record[there].astype(np.int32), column[there].astype(np.int32))
    X = sp.csr_array(sp.coo_array((np.ones(len(places[0])), places), shape=shape))
    X.sum_duplicates()
    X.data[:] = 1.0
    d = shape[1]
    return X, np.bincount(places[1], minlength=d) - np.bincount(X.indices, minlength=d)


def ones_per_row(X: sp.csr_array[Any]) -> Ints:
    """Count the codes of each record; a missing one is none."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(row[X.data == 1], minlength=X.shape[0])


def find_rules(
    table: Table, found: Found, rules: RecordCoder, *, wide: bool
) -> tuple[RecordCoder, list[str], list[str]]:
    """Return the rules, completed by what the codes show, the group of each code, and notes.

    Raises
    ------
    InvalidDataError
        If most codes are not of the system, or none is in the mapping.
    """
    codes = found.codes
    counts = np.bincount(found.code, minlength=len(codes))
    notes = []
    if rules.rollup in SYSTEMS:
        check_fits(codes, counts, rules.rollup, str(table.path))
        strange = counts[~looks_like(codes, rules.rollup)]
        if len(strange):
            notes.append(
                f"kept {many(len(strange), 'code')} ({many(strange.sum(), 'entry')}) as written: "
                f"not of the form of {rules.rollup}"
            )
        if rules.rollup == "icd9":
            short = sum(int(c) for code, c in zip(codes, counts, strict=True) if lost_zeros(code))
            if short:
                notes.append(
                    f"gave {many(short, 'entry')} the zeros back that were lost in front (38: 038)"
                )
    elif rules.rollup == "mapping":
        known = np.array([group is not None for group in rules.mapped(codes)], dtype=bool)
        lost, total = counts[~known], counts.sum()
        if total and lost.sum() == total:
            msg = (
                f"{table.path}: the mapping knows none of {many(total, 'entry')}; it lacks "
                f"{excerpt(codes[int(np.argmin(known))])}: look whether its codes are written in "
                f"the same way"
            )
            raise InvalidDataError(msg)
        if len(lost):
            notes.append(
                f"kept {many(len(lost), 'code')} ({many(lost.sum(), 'entry')}) as written: "
                f"not in the mapping"
            )
        if 2 * lost.sum() > total:
            notes.append(
                f"the mapping knows only {1 - lost.sum() / total:.1%} of the entries: look whether "
                f"its codes are written in the same way"
            )
    elif not wide:
        undotted, notes = _on_dots(codes, counts)
        rules = replace(rules, undotted=undotted)
    if rules.rollup not in SYSTEMS and not wide:
        notes += _on_numbers(table, codes, counts, rules)
    as_it_is = wide and rules.rollup is None
    return rules, [*codes] if as_it_is else rules.group(codes), notes


def _on_dots(codes: Sequence[str], counts: Ints) -> tuple[bool, list[str]]:
    """Tell whether the dots of codes mean nothing, so that they can be taken out."""
    icd = max(counts[looks_like(codes, name)].sum() for name in SYSTEMS)
    if 10 * icd < 9 * counts.sum():
        return False, []
    dotted = [code for code in codes if "." in code]
    twins = {code.replace(".", "") for code in dotted} & set(codes)
    short = {code: int(n) for code, n in zip(codes, counts, strict=True) if _short_head(code)}
    if short:
        # Without its dot 38.9, which is 038.9, would be 389; nor can 3891 be told from 038.91.
        first = min(short, key=lambda code: (-short[code], code))
        such = f", such as {excerpt(first)}" if short[first] >= FEW else ""
        return False, [
            f"kept the dots: fewer than three digits stand before that of "
            f"{many(len(short), 'code')} ({few_or_many(sum(short.values()), 'entry')}){such}: "
            f"procedures, or diagnoses that lost zeros, which rollup='icd9' gives back"
        ]
    if not twins:
        return False, []
    return True, [f"took the dots out: {many(len(twins), 'code')} stood with and without one"]


def _short_head(code: str) -> bool:
    return "." in code and lost_zeros(code)


def _on_numbers(table: Table, codes: Sequence[str], counts: Ints, rules: RecordCoder) -> list[str]:
    """Tell of codes that a spreadsheet holds as numbers, which lose zeros at both ends."""
    found = {name: n for name in rules.code_columns if (n := table.fractional.get(name, 0))}
    icd9 = counts[looks_like(codes, "icd9")].sum()
    if not found or 2 * icd9 <= counts.sum():
        return []
    what = (
        f"{many(sum(found.values()), 'code')} of column {next(iter(found))[:60]!r} are numbers, "
        f"not text, and numbers lose zeros: 038.9 is read as 38.9 and 250.00 as 250"
    )
    if rules.rollup is None and 2 * sum(found.values()) > counts.sum():
        msg = (
            f"{table.path}: {what}; pass rollup='icd9', which needs only the digits before the "
            f"dot, or format the column as text and type the codes anew"
        )
        raise InvalidDataError(msg)
    return [what]


def choose_codes(
    X: sp.csr_array[Any],
    codes: Sequence[str],
    *,
    where: str,
    min_records: int | None,
    coverage: float | None,
    drop_constant: bool,
    wide: bool,
) -> tuple[Ints, list[str]]:
    """Choose the columns, in order: not too rare, not in every record, the commonest ones.

    Raises
    ------
    EmptyCorpusError
        If none is left.
    """
    n, d = X.shape
    ones = np.bincount(X.indices[X.data == 1], minlength=d)
    least = (5 if n >= LARGE else 2) if min_records is None else min_records
    # Of rows without an id the codes may be known and the records not.
    seen = np.full(d, wide) | (ones > 0)
    rare = seen & (ones < least)
    # A record without any code tells nothing of a code that all others have; a table of zeros
    # and ones says of each record what it lacks.
    empty = 0 if wide else int((np.diff(X.indptr) == 0).sum())
    observed = n - empty - np.bincount(X.indices[np.isnan(X.data)], minlength=d)
    constant = seen & ~rare & (ones == observed) if drop_constant else np.zeros(d, dtype=bool)
    names = np.array(codes, dtype=object)
    n_seen = int(seen.sum())
    notes = []
    if rare.any():
        notes.append(
            f"dropped {many(rare.sum(), 'code')} of {n_seen:,}, in fewer than "
            f"{many(least, 'record')}"
        )
    if constant.any():
        some = ", ".join(repr(name[:40]) for name in names[constant][:5])
        notes.append(f"dropped {many(constant.sum(), 'code')} that every record has: {some}")
    keep = np.flatnonzero(seen & ~rare & ~constant)
    if not len(keep):
        msg = f"{where}: no codes in {many(n, 'record')}"
        if n_seen:
            msg = (
                f"{where}: nothing left of {many(n_seen, 'code')}: {rare.sum():,} in fewer than "
                f"{least:,} of {many(n, 'record')}, and {constant.sum():,} in every one; lower "
                f"min_records, pass drop_constant=False, or roll codes up"
            )
        raise EmptyCorpusError(msg)
    if coverage is not None:
        # The commonest first; of equally common ones by name, so that rows may come in any order.
        order = keep[np.lexsort((names[keep], -ones[keep]))]
        share = np.cumsum(ones[order]) / ones[keep].sum()
        n_kept = int(np.searchsorted(share, coverage - 1e-12)) + 1
        if n_kept < len(keep):
            notes.append(
                f"kept the {n_kept:,} commonest of {many(len(keep), 'code')}, which make up "
                f"{share[n_kept - 1]:.1%} of all entries"
            )
        keep = order[:n_kept]
    return np.sort(keep), notes
