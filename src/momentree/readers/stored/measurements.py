"""Read a sample of a table of measurements that fits in memory, and all its rows in blocks."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.core.choices import ColumnKind, Empty
from momentree.core.progress import Pace
from momentree.messages import Message
from momentree.readers.measurements import choice, measurements, objects
from momentree.readers.measurements.columns import Style
from momentree.readers.stored.arrays import StoredStrings, open_array, write_array, write_strings
from momentree.readers.stored.cells import open_in_parts
from momentree.readers.stored.work import WorkFolder
from momentree.readers.tables import files, grid, schema

log = logging.getLogger("momentree.readers")

SAMPLE = "1-sample"
"""The stage, by the name of its folder."""
BYTES_OF_PROCESS, BYTES_PER_CELL, CELLS_PER_ROW = 400_000_000, 200, 8
"""Memory of Python with its libraries, and of each cell of the sample while groups are found; a row
takes as much as these cells more."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SampledMeasurements(objects.Measurements):
    """A sample of a table of measurements, see :func:`sample_measurements`.

    Parameters
    ----------
    columns, coder, ids, enough, units, words, outcomes, outcome_names : optional
        As in :class:`Measurements`, of the sample.
    left_out, name, notes, covariates : optional
        As in :class:`Measurements`, of the sample.
    rows : ndarray of shape (n,)
        Numbers of the records in the table, from 0.
    n_all : int
        Number of records in the table.
    source : Source
        The table.
    style : Style
        How numbers are written.
    answers : dict of str to list of str
        Different cells of the sample in each column of yes or no.
    """

    rows: Ints
    n_all: int
    source: grid.Source
    style: Style
    answers: Mapping[str, Sequence[str]]

    def blocks(self) -> Iterator[tuple[objects.Measurements, NDArray[np.bool_]]]:
        """Yield all records of the table in order, and which of them are in the sample.

        They have no outcomes.
        """
        assert self.source.parts is not None  # noqa: S101 - for the type checker; checked before
        key = self.coder.id_column
        names = dict.fromkeys([*self.kinds, *([] if key is None else [key])])
        # What an empty cell, or a minus, means depends on the other answers, which a part may lack.
        lead = max(map(len, self.answers.values()), default=0)
        above, pace = 0, Pace(log, f"reading all of {self.name}", self.n_all)
        for table in self.source.parts(list(names)):
            rows = np.arange(above, above := above + table.n_rows)
            cells = {name: [*self._led(name, lead), *table.columns[name]] for name in self.kinds}
            led = replace(table, columns=cells, n_rows=lead + table.n_rows)
            columns, notes = choice.read_known_columns(led, self.coder, self.style)
            block = objects.Measurements(
                {column.name: column.content[lead:] for column in columns},
                self.coder,
                _ids(table, key, rows),
                ~np.all([column.missing[lead:] for column in columns], axis=0),
                notes=notes,
            )
            yield block, np.isin(rows, self.rows, assume_unique=True)
            pace.reached(above)

    def _led(self, name: str, lead: int) -> list[str]:
        answers = list(self.answers.get(name, ()))
        return answers + [""] * (lead - len(answers))


def sample_measurements(
    path: str | PathLike[str],
    folder: str | PathLike[str],
    *,
    memory: int | str = "1GB",
    resume: bool = False,
    kinds: Mapping[str, ColumnKind] | None = None,
    id_column: str | None = None,
    outcome_columns: str | Sequence[str] = (),
    covariate_columns: str | Sequence[str] = (),
    ignore_columns: str | Sequence[str] = (),
    missing: str | Sequence[str] = (),
    empty: Empty = "missing",
    encoding: str = files.AUTO,
    separator: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    also: Mapping[str, Any] | None = None,
) -> SampledMeasurements:
    r"""Read a table of measurements as :func:`read_measurements` does, in bounded memory.

    If the table is larger than the memory allows, a random sample of its rows is read. A model that
    is fitted to the sample then assigns all rows, in blocks.

    Parameters
    ----------
    path : str or path-like
        A table in CSV, TSV or Parquet, which is read in batches.
    folder : str or path-like
        The folder to make. The sample is kept there, and `resume` continues with it.
    memory : int or str, default="1GB"
        Memory of the process: bytes, or "800MB", "1.5GB", "2GiB". At least 600 MB.
    resume : bool, default=False
        Whether to continue in a folder that an interrupted run has left.
    kinds, id_column, outcome_columns, covariate_columns, ignore_columns : optional
        Columns and their kinds, as in :func:`read_measurements`.
    missing, empty, encoding, separator, skip_rows, header : optional
        How to read the table, as in :func:`read_measurements`.
    also : mapping of str to object, default=None
        Options of the work that follows, which must not change either when it is continued.

    Returns
    -------
    SampledMeasurements
        The measurements of the sample, in the order of the table; ``blocks()`` yields all rows.

    Raises
    ------
    InvalidParameterError
        If the table can only be read as a whole; if the folder contains unfinished work and
        `resume` is False; if the input or an option has changed since; or as in
        :func:`read_measurements`.
    ReadError, EmptyCorpusError
        As in :func:`read_measurements`.
    MomentreeError
        If the folder cannot be written, for instance because the disk is full.

    Notes
    -----
    The sample has all rows if they fit, otherwise those whose numbers have a hash below
    2\ :sup:`-j`, with the least j for which they fit: the same in every run, and independent of the
    order of the table. Kinds, units and categories are those of the sample; a category that does
    not occur in it is a missing value in ``blocks()``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import sample_measurements
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = Path(place) / "patients.csv"
    ...     _ = file.write_text("hb,age\n" + "".join(f"{9 + i / 7:.2f},{i}\n" for i in range(50)))
    ...     sample = sample_measurements(file, f"{place}/sample")
    ...     len(sample), sample.n_all, [len(block) for block, _ in sample.blocks()]
    (50, 50, [50])
    """
    asked = measurements.check_kinds(kinds, empty)
    opening: dict[str, Any] = {
        "encoding": encoding,
        "separator": separator,
        "skip_rows": skip_rows,
        "header": header,
    }
    allowed, table = open_in_parts(path, memory, opening)
    covariates = schema.as_names("covariate_columns", covariate_columns)
    columns: dict[str, Any] = {
        "id_column": id_column,
        "outcomes": [*schema.as_names("outcome_columns", outcome_columns), *covariates],
        "covariates": covariates,
        "empty": empty,
    }
    names = schema.columns_read(table.head, ignore_columns, [*columns["outcomes"], id_column])
    words = schema.as_names("missing", missing)
    work = WorkFolder(Path(folder))
    options = {**opening, **columns, "columns": names, "kinds": asked, "missing": words}
    options |= {"memory": allowed, **(also or {})}
    with work.begun(Path(path), options, resume=resume):
        if not work.has(SAMPLE):
            _draw(table, names, (allowed - BYTES_OF_PROCESS) // BYTES_PER_CELL, work)
        drawn, rows, n_all = _drawn(table, work)
    measured = measurements.measurements_of(drawn, asked, words, **columns)
    return _sampled(measured, table, drawn, rows, n_all)


def _sampled(
    measured: objects.Measurements, source: grid.Source, drawn: grid.Table, rows: Ints, n_all: int
) -> SampledMeasurements:
    """Return the measurements of a sample, which know their table."""
    values = {name: getattr(measured, name) for name in objects.Measurements.__dataclass_fields__}
    values["ids"] = _ids(drawn, measured.coder.id_column, rows)
    if len(rows) < n_all:
        note = Message(
            "[sample_of_records] the table has {n_all:~record}, more than {parameter} allows: "
            "groups and all numbers are those of a random sample of {n_rows:,}; all records are "
            "assigned to these groups",
            n_rows=len(rows),
            n_all=n_all,
            parameter="memory",
        )
        values["notes"] = (*measured.notes, note)
    return SampledMeasurements(
        **values,
        rows=rows,
        n_all=n_all,
        source=source,
        style=choice.find_table_style(drawn, list(measured.kinds)),
        answers={name: sorted(set(drawn.columns[name])) for name in measured.words},
    )


def _ids(table: grid.Table, column: str | None, rows: Ints) -> list[str]:
    """Return the ids of the rows with these numbers, which start at 0."""
    if column is None:
        return [str(row) for row in (rows + 1).tolist()]
    return [text.strip() for text in table.columns[column]]


def _draw(source: grid.Source, names: Sequence[str], n_cells: int, work: WorkFolder) -> None:
    """Write as large a sample as has so many cells, without reading more than one part at a time.

    While it has too many rows, half of them are left out, by a hash of their numbers.
    """
    assert source.parts is not None  # noqa: S101 - for the type checker; checked before
    most = max(1, n_cells // (len(names) + CELLS_PER_ROW))
    columns: dict[str, list[str]] = {name: [] for name in names}
    rows = np.empty(0, dtype=np.int64)
    level = n_all = 0
    kinds: dict[str, str] = {}
    pace = Pace(log, f"reading {source.head.path.name}", source.n_rows)
    for table in source.parts(names):
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
        write_strings(folder / "texts", chain.from_iterable(columns.values()))
        write_array(folder / "rows.npy", rows)
        noted |= {"names": list(names), "n_all": n_all, "kinds": kinds}


def _drawn(source: grid.Source, work: WorkFolder) -> tuple[grid.Table, Ints, int]:
    """Return the sample, the numbers of its rows in the table, from 0, and how many there are."""
    noted, place = work.read(SAMPLE), work.path / SAMPLE
    rows = np.array(open_array(place / "rows.npy"))
    texts, m = StoredStrings(place / "texts"), len(rows)
    columns = {name: texts[i * m : (i + 1) * m] for i, name in enumerate(noted["names"])}
    origin = partial(_origin, source, rows)
    head = source.head
    table = grid.Table(head.path, columns, m, origin, kinds=noted["kinds"], notes=head.notes)
    return table, rows, int(noted["n_all"])


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
