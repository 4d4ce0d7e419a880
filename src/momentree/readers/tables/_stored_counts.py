"""Read counts that ``store_counts`` has written as a table with one row per record and code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from momentree._types import Ints
from momentree.messages import Message
from momentree.readers.stored.arrays import Numbers
from momentree.readers.stored.counts import MARK, StoredCounts
from momentree.readers.tables.table import SAMPLE_ROWS, Source, Table

ID, CODE = "id", "code"
"""Names of the columns."""


def is_stored(path: Path) -> bool:
    """Return whether a folder contains counts."""
    return (path / MARK).is_file()


def open_stored_counts(path: Path) -> Source:
    """Open a folder of counts: a code for each count above zero, or an empty cell for none."""
    stored = StoredCounts.open(path)
    names = stored.feature_names
    codes = np.array(Numbers(stored.shape[1])[:] if names is None else names, dtype=object)

    def blocks() -> Iterator[tuple[Ints, dict[str, Any]]]:
        """Yield the numbers of records and their cells, one for each code and at least one."""
        above = 0
        for block in stored.blocks():
            n_codes = np.diff(block.indptr)
            n_rows = np.maximum(n_codes, 1)
            here = np.arange(above, above := above + len(n_codes))
            cells = np.full(n_rows.sum(), "", dtype=object)
            cells[np.repeat(n_codes > 0, n_rows)] = codes[block.indices]
            ids = np.array(stored.ids[here[0] : above], dtype=object)
            yield np.repeat(here, n_rows), {ID: np.repeat(ids, n_rows), CODE: cells}

    def parts(wanted: Sequence[str]) -> Iterator[Table]:
        for records, cells in blocks():
            yield _table(path, records, {name: cells[name].tolist() for name in wanted})

    def read(wanted: Sequence[str]) -> Table:
        found = list(blocks())
        cells = {name: np.concatenate([one[name] for _, one in found]).tolist() for name in wanted}
        return _table(path, np.concatenate([records for records, _ in found]), cells)

    nothing: tuple[Ints, dict[str, Any]] = np.empty(0, dtype=np.intp), {ID: [], CODE: []}
    records, cells = next(blocks(), nothing)
    some = {name: list(column[:SAMPLE_ROWS]) for name, column in cells.items()}
    return Source(_table(path, records[:SAMPLE_ROWS], some), read, parts, stored.X.nnz)


def _table(path: Path, records: Ints, columns: dict[str, list[str]]) -> Table:
    return Table(path, columns, len(records), partial(_origin, records))


def _origin(records: Ints, row: int) -> Message:
    return Message("at_row", row=int(records[row]) + 1)
