"""New records in the columns of those that were read before."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.records._code_cells import Entries
from momentree.readers.records._matrix import Rows, matrix_of
from momentree.readers.records.coder import RecordCoder
from momentree.readers.tables.table import Table, excerpt, excerpts


def columns_of_coder(table: Table, coder: RecordCoder) -> list[str]:
    """Return the columns, and patterns, of the coder that the table has; refuse it if it has none.

    Other columns that look like codes are not those that the model was fitted to.
    """
    found = [
        pattern
        for pattern in coder.code_columns
        if any(name == pattern or fnmatchcase(name, pattern) for name in table.names)
    ]
    if coder.code_columns and not found:
        raise ReadError(
            "columns_of_coder_missing",
            path=str(table.path),
            expected=excerpts(coder.code_columns),
            columns=excerpts(table.names),
            parameter="code_columns",
        )
    return found


def encode(
    rows: Rows, entries: Entries, coder: RecordCoder, *, wide: bool
) -> tuple[sp.csr_array[Any], int, list[Message]]:
    """Return the matrix of new records, the number of repeated entries, and notes."""
    notes = []
    absent = [name for name in coder.code_columns if name not in set(entries.codes)]
    if wide and coder.form == "wide" and absent:
        n = len(rows.record)
        at = np.arange(len(entries.codes), len(entries.codes) + len(absent))
        entries = replace(
            entries,
            codes=[*entries.codes, *absent],
            missing_row=np.concatenate([entries.missing_row, np.tile(np.arange(n), len(at))]),
            missing_code=np.concatenate([entries.missing_code, np.repeat(at, n)]),
        )
        notes.append(Message("missing_columns", n_columns=len(absent), column=excerpt(absent[0])))
    column = coder.columns_of(entries.codes)
    X, repeated = matrix_of(rows, entries, column, len(coder.codes))
    unknown = np.flatnonzero(column < 0)
    if len(unknown):
        notes.append(
            Message(
                "unknown_codes",
                n_codes=len(unknown),
                n_entries=int(np.isin(entries.code, unknown).sum()),
                code=excerpt(entries.codes[unknown[0]]),
            )
        )
    return X, int(repeated.sum()), notes
