"""Read the steps of sequences: put rows in order, and split cells with several codes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.records.split import code_separators, split_cells
from momentree.readers.sequences.layout import Columns
from momentree.readers.sequences.times import is_known, read_times
from momentree.readers.tables.table import Table, excerpt, excerpts

_ARROWS = r"\s*(?:[-=]*>|→|⇒)\s*"


@dataclass(frozen=True)
class Steps:
    """Steps in order; `code` is a position in `written`, and `sequence` one in `ids`."""

    sequence: Ints
    code: Ints
    written: list[str]
    ids: list[str]
    times: list[str] | None  # as written

    def only(self, kept: NDArray[np.bool_]) -> Steps:
        """Return some of the steps."""
        times = self.times
        if times is not None:
            times = [times[i] for i in np.flatnonzero(kept)]
        return replace(self, sequence=self.sequence[kept], code=self.code[kept], times=times)


def read_steps(
    table: Table, columns: Columns, time_format: str | None
) -> tuple[Steps, list[Message]]:
    """Return the steps with an id, a time and a code, in order, and notes."""
    n = table.n_rows
    by_row = columns.id is None or len(set(table.columns[columns.id])) == n
    notes: list[Message] = []
    if columns.id is None:
        sequence, ids = np.arange(n), [str(i) for i in range(1, n + 1)]
        has_id = np.ones(n, dtype=bool)
        notes.append(Message("sequences_without_ids"))
    else:
        keys = table.cells(columns.id)
        sequence, ids = keys.index, list(map(str, keys.texts))
        has_id = is_known(keys.texts)[keys.index]
    cells = table.cells(columns.code)
    pattern, more = _separators(cells.texts, by_row=by_row)
    notes += more
    value, parts = split_cells(cells.texts, pattern)
    n_parts = np.bincount(value, minlength=len(cells.texts))
    if columns.id is None and n > 1 and n_parts.max(initial=0) <= 1:
        names = excerpts(table.names)
        raise ReadError(
            "no_sequence_ids", path=str(table.path), columns=names, parameter="id_column"
        )
    present = {columns.id: has_id, columns.code: n_parts[cells.index] > 0}
    times = np.zeros(n)
    if columns.time is not None:
        times, more = read_times(table, columns.time, table.cells(columns.time), time_format)
        notes += more
        present[columns.time] = ~np.isnan(times)
    elif not by_row:
        notes.append(Message("ordered_by_rows"))
    for name, known in present.items():
        if n_gone := int((~known).sum()):
            notes.append(Message("rows_without_id", n_rows=n_gone, column=excerpt(name or "")))
    order = np.lexsort((np.arange(n), times, sequence))
    row = order[np.all(list(present.values()), axis=0)[order]]
    if columns.time is not None:
        notes += _ties(sequence[row], times[row], cells.index[row])
    # Parts are in the order of the values, so those of a row are a slice.
    number, unique = pd.factorize(parts)
    starts, lengths = np.cumsum(n_parts) - n_parts, n_parts[cells.index[row]]
    row = np.repeat(row, lengths)
    within = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    code = number[starts[cells.index[row]] + within] if len(row) else np.empty(0, dtype=np.intp)
    written = None if columns.time is None else table.columns[columns.time]
    written = written and [written[i].strip() for i in row]
    # Sequences are numbered as they appear in the file, whatever their order in memory.
    return Steps(sequence[row], code, list(map(str, unique)), ids, written), notes


def _ties(sequence: Ints, times: NDArray[Any], code: Ints) -> list[Message]:
    """Return notes on rows with the same sequence and time as the row before."""
    tied = (np.diff(sequence) == 0) & (np.diff(times) == 0)
    if not tied.any():
        return []
    notes = [Message("equal_times", n_rows=int(tied.sum()))]
    keys = np.stack([sequence, pd.factorize(times)[0], code])
    if copies := len(sequence) - np.unique(keys, axis=1).shape[1]:
        notes.append(Message("repeated_steps", n_rows=copies))
    return notes


def _separators(texts: NDArray[Any], *, by_row: bool) -> tuple[str | None, list[Message]]:
    """Return the pattern of separators between the codes of a cell; None if it has one code."""
    sample = pd.Series(texts, dtype="string[pyarrow]")
    arrows = sample.str.contains(r"[^\s<>=-]\s*(?:[-=]*>|→|⇒)", regex=True)
    if by_row and 2 * int(arrows.sum()) > len(texts):
        return _ARROWS, []
    signs = [sign for sign in ";|" if sample.str.contains(sign, regex=False).any()]
    if not by_row:
        # A code may contain commas, blanks and slashes, as a page does.
        if not signs:
            return None, []
        return f"[{''.join(signs)}]+", [Message("several_codes_in_cells", signs=signs)]
    pattern, notes = code_separators(texts)
    if pattern is None and 2 * int(sample.str.contains(r"\S\s+\S", regex=True).sum()) > len(texts):
        pattern = r"\s+"
        notes.append(Message("split_at_blanks"))
    return pattern, notes
