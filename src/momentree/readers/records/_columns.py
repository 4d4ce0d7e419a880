"""The columns of records: names of their codes, and new records in columns that are known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree.exceptions import ReadError
from momentree.readers.records._cells import Found
from momentree.readers.records._matrix import Rows, matrix_of
from momentree.readers.records._tables import excerpt, listed, many
from momentree.readers.records.coder import RecordCoder
from momentree.readers.records.codes import lookup, read_mapping
from momentree.readers.tables.table import Table

__all__ = ["known_codes", "names_of", "same_columns"]

_PREFIX = re.compile(r"((HAS|DX|ICD|ICD9|ICD10|DIAG|DIAGNOSIS|CODE)[_ .:-]*)+")


def names_of(
    codes: list[str],
    names: str | PathLike[str] | Mapping[str, str] | None,
    encoding: str,
    separator: str | None,
    *,
    rolled: bool,
) -> tuple[dict[str, str], list[str]]:
    """Look up the names of codes, and tell how many have none."""
    if names is None:
        return {}, []
    titles = read_mapping(names, "name", encoding=encoding, separator=separator)
    clean = [code.upper() for code in codes]
    # Names of columns may begin with what all or some of them share, as in "has_250".
    first, last = min(clean), max(clean)
    n_shared = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    n_shared = max(first.rfind(sign, 0, n_shared) for sign in "_: ") + 1
    bare = [_PREFIX.sub("", code[n_shared:]) for code in clean]
    found = zip(lookup(titles, clean), lookup(titles, bare), strict=True)
    named = {
        code: title if title is not None else other
        for code, (title, other) in zip(codes, found, strict=True)
    }
    known = {code: title for code, title in named.items() if title is not None}
    n = len(codes) - len(known)
    if not n:
        return known, []
    when = ": names are looked up after the roll-up" if rolled else ""
    lacking = next(code for code in codes if code not in known)
    return known, [
        f"no name for {many(n, 'code')} of {len(codes):,}, such as {excerpt(lacking)}{when}"
    ]


def known_codes(table: Table, coder: RecordCoder | None) -> list[str]:
    """Return the columns, and patterns, of the records read before that this table has.

    Raises
    ------
    ReadError
        If it has none: what else may look like codes there is not what was learnt from.
    """
    before = coder.code_columns if coder else []
    found = [
        known
        for known in before
        if any(name == known or fnmatchcase(name, known) for name in table.names)
    ]
    if before and not found:
        msg = (
            f"{table.path} has none of the columns from which the model reads codes, "
            f"{listed(before, 5)}; its columns are {listed(table.names)}: name those of codes with "
            f"code_columns"
        )
        raise ReadError(msg)
    return found


def same_columns(
    rows: Rows, found: Found, coder: RecordCoder, *, wide: bool
) -> tuple[sp.csr_array[Any], int, list[str]]:
    """Return new records in the columns of those read before."""
    notes = []
    if wide:
        absent = [name for name in coder.code_columns if name not in set(found.codes)]
        if coder.form == "wide" and absent:
            n = len(rows.record)
            at = np.arange(len(found.codes), len(found.codes) + len(absent))
            found = replace(
                found,
                codes=[*found.codes, *absent],
                missing_row=np.concatenate([found.missing_row, np.tile(np.arange(n), len(at))]),
                missing_code=np.concatenate([found.missing_code, np.repeat(at, n)]),
            )
            notes.append(
                f"took {many(len(absent), 'column')} that this table lacks for missing values, "
                f"such as {excerpt(absent[0])}"
            )
    column = coder.columns_of(found.codes)
    X, repeated = matrix_of(rows, found, column, len(coder.codes))
    strange = np.flatnonzero(column < 0)
    if len(strange):
        entries = int(np.isin(found.code, strange).sum())
        notes.append(
            f"left out {many(len(strange), 'code')} ({many(entries, 'entry')}) that the "
            f"model does not know, such as {excerpt(found.codes[strange[0]])}"
        )
    return X, int(repeated.sum()), notes
