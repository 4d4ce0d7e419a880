"""Draw a sample of a table of measurements that fits in memory, and read all rows in blocks."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.core.progress import Pace
from momentree.messages import Message
from momentree.readers.measurements import choice, objects
from momentree.readers.measurements.columns import Style
from momentree.readers.stored.arrays import open_array, read_table, write_array, write_table
from momentree.readers.stored.work import WorkFolder
from momentree.readers.tables import grid

log = logging.getLogger("momentree.readers")

SAMPLE = "1-sample"
"""The stage, by the name of its folder."""
BYTES_OF_PROCESS, BYTES_PER_CELL, CELLS_PER_ROW = 400_000_000, 200, 8
"""Memory of Python with its libraries, and of each cell of the sample while groups are found; a row
takes as much as these cells more."""


@dataclass(frozen=True)
class DrawnRows:
    """A sample of the rows of a table; without a source, it has all rows."""

    table: grid.Table
    rows: Ints  # numbers in the whole table, from 0
    n_all: int
    source: grid.Source

    def mark(self, measured: objects.Measurements) -> objects.Measurements:
        """Return the measurements of the sample, which know those of all rows."""
        style = choice.find_table_style(self.table, list(measured.kinds))
        answers = {name: sorted(set(self.table.columns[name])) for name in measured.words}
        blocks = partial(self._blocks, measured.coder, style, answers)
        notes = [*measured.notes]
        if len(self.rows) < self.n_all:
            notes.append(
                Message(
                    "[sample_of_records] the table has {n_all:~record}, more than {parameter} "
                    "allows: groups and all numbers are those of a random sample of {n_rows:,}; "
                    "all records are assigned to these groups",
                    n_rows=len(self.rows),
                    n_all=self.n_all,
                    parameter="memory",
                )
            )
        return replace(
            measured,
            ids=_ids(self.table, measured.coder.id_column, self.rows),
            notes=tuple(notes),
            sample=objects.Sample(self.rows, self.n_all, blocks),
        )

    def _blocks(
        self, coder: objects.MeasurementCoder, style: Style, answers: Mapping[str, Sequence[str]]
    ) -> Iterator[tuple[objects.Measurements, NDArray[np.bool_]]]:
        """Yield all records of the table in order, and which of them are in the sample."""
        key = coder.id_column
        names = dict.fromkeys([*coder.kinds, *([] if key is None else [key])])
        # What an empty cell, or a minus, means depends on the other answers, which a part may lack.
        lead = max(map(len, answers.values()), default=0)
        leading = {name: [*answers.get(name, ()), *[""] * lead][:lead] for name in coder.kinds}
        above, pace = 0, Pace(log, f"reading all of {self.table.path.name}", self.n_all)
        for table in self.source.batches(list(names)):
            rows = np.arange(above, above := above + table.n_rows)
            cells = {name: [*texts, *table.columns[name]] for name, texts in leading.items()}
            led = replace(table, columns=cells, n_rows=lead + table.n_rows)
            columns, notes = choice.read_known_columns(led, coder, style)
            block = objects.Measurements(
                {column.name: column.content[lead:] for column in columns},
                coder,
                _ids(table, key, rows),
                ~np.all([column.missing[lead:] for column in columns], axis=0),
                notes=notes,
            )
            yield block, np.isin(rows, self.rows, assume_unique=True)
            pace.reached(above)


def _ids(table: grid.Table, column: str | None, rows: Ints) -> list[str]:
    """Return the ids of the rows with these numbers, which start at 0."""
    if column is None:
        return [str(row) for row in (rows + 1).tolist()]
    return [text.strip() for text in table.columns[column]]


def draw(source: grid.Source, names: Sequence[str], memory: int, work: WorkFolder) -> DrawnRows:
    """Draw as large a sample as the memory allows, or read the one that the folder has.

    While it has too many rows, half of them are left out, by a hash of their numbers. No more than
    one part of the table is read at a time.
    """
    if not work.has(SAMPLE):
        n_cells = (memory - BYTES_OF_PROCESS) // BYTES_PER_CELL
        _store_sample(source, names, max(1, n_cells // (len(names) + CELLS_PER_ROW)), work)
    noted, place = work.read(SAMPLE), work.path / SAMPLE
    rows = np.array(open_array(place / "rows.npy"))
    columns = {name: cells.tolist() for name, cells in read_table(place / "cells.parquet").items()}
    head = source.head
    table = replace(
        head,
        columns=columns,
        n_rows=len(rows),
        origin=partial(_origin, source, rows),
        kinds=noted["kinds"],
    )
    return DrawnRows(table, rows, int(noted["n_all"]), source)


def _store_sample(source: grid.Source, names: Sequence[str], most: int, work: WorkFolder) -> None:
    columns: dict[str, list[str]] = {name: [] for name in names}
    rows = np.empty(0, dtype=np.int64)
    level = n_all = 0
    kinds: dict[str, str] = {}
    pace = Pace(log, f"reading {source.head.path.name}", source.n_rows)
    for table in source.batches(names):
        kinds |= table.kinds
        here = np.arange(n_all, n_all := n_all + table.n_rows)
        kept = np.flatnonzero(_in_sample(here, level)).tolist()
        rows = np.concatenate([rows, here[kept]])
        for name, cells in columns.items():
            more = table.columns[name]
            cells.extend(more if len(kept) == len(more) else [more[i] for i in kept])
        while len(rows) > most:
            level += 1
            inside = _in_sample(rows, level)
            rows, kept = rows[inside], np.flatnonzero(inside).tolist()
            columns = {name: [cells[i] for i in kept] for name, cells in columns.items()}
        pace.reached(n_all, f"{n_all:,} records")
    with work.stage(SAMPLE) as (folder, noted):
        write_table(folder / "cells.parquet", columns)
        write_array(folder / "rows.npy", rows)
        noted |= {"n_all": n_all, "kinds": kinds}


def _origin(source: grid.Source, rows: Ints, row: int) -> Message:
    return source.origin(int(rows[row]))


def _in_sample(rows: Ints, level: int) -> NDArray[np.bool_]:
    """Return which rows have a hash below 2^-level: that of SplitMix64, which spreads them evenly.

    Every other row might be one of two visits of each patient.
    """
    x = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return np.asarray(x <= np.uint64((1 << 64) - 1) >> np.uint64(level), dtype=np.bool_)
