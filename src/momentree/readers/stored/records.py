"""Read coded records from a table larger than memory: from cells to counts on disk, in two stages.

The first stage numbers the different cells and writes, for each record, the numbers of its cells.
The second interprets the different cells, by the rules for a table in memory, and writes the codes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.core.choices import Empty
from momentree.core.progress import Pace
from momentree.readers.records import choice, icd, objects
from momentree.readers.records.cells import Entries, read_binary_cells, read_code_cells
from momentree.readers.records.layout import Layout, find_layout
from momentree.readers.records.records import count_codes, has_enough, note_few_codes
from momentree.readers.stored.arrays import open_array, write_array
from momentree.readers.stored.cells import (
    CELLS,
    CellStage,
    Coding,
    DifferentCells,
    matrix_at,
    open_in_parts,
)
from momentree.readers.stored.counts import CountsWriter, StoredCounts
from momentree.readers.stored.work import WorkFolder
from momentree.readers.tables import files, schema

log = logging.getLogger("momentree.readers")

RECORDS = "2-records"
"""The stage, by the name of its folder."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StoredRecords(objects.Records):
    """Coded records on disk, see :func:`store_records`.

    Parameters
    ----------
    X, codes, names, ids, enough, coder, outcomes, outcome_names : optional
        As in :class:`Records`.
    name, form, notes, covariates : optional
        As in :class:`Records`.
    counts : StoredCounts
        The codes of all records, whose ``blocks()`` are read one after the other.
    folder : Path
        The folder of the records.
    """

    counts: StoredCounts
    folder: Path

    @property
    def fitted(self) -> sp.csr_array[Any]:
        """The rows of X with enough codes, mapped from files."""
        if self.enough.all():
            return self.X
        return StoredCounts.open(self.counts.folder / "fitted").X

    def blocks(self) -> Iterator[sp.csr_array[Any]]:
        """Yield X in order, in parts of about a million entries."""
        return self.counts.blocks()


@dataclass(frozen=True)
class CodeStage:
    """Interprets the different cells, by the rules for a table in memory, and writes the codes."""

    cells: CellStage
    opening: Mapping[str, Any]  # how tables next to this one are read
    named: list[str]
    id_column: str | None
    union_by: str | None
    empty: Empty

    def write(self, *, min_codes: int | None, rollup: Any, names: Any, **limits: Any) -> None:
        """Interpret the cells, choose the codes, and write those of each record."""
        work, folder = self.cells.work, self.cells.work.path / CELLS
        numbered, stored = work.read(CELLS), StoredCounts.open(folder)
        layout, kept, notes = self.cells.joined(stored, numbered)
        table = self.cells.different(numbered)
        entries, coding = self._entries(table, layout)
        if layout.form == "wide" and entries.codes:
            layout = replace(layout, codes=entries.codes)
            notes = [*choice.possible_outcomes(entries, set(self.named)), *notes]
        head = self.cells.source.head
        notes = [*head.notes, layout.described(), *layout.notes, *notes, *entries.notes]
        pace = Pace(log, "choosing codes", 2 * len(stored))
        groups: list[Coding] = []

        def counted(column: Ints, d: int) -> choice.CodeCounts:
            groups.append(coding.grouped(column, d))
            blocks = _blocks(stored, kept, pace, 0)
            return reduce(
                choice.CodeCounts.__add__,
                (choice.CodeCounts.of(*groups[0].records(X)) for X, _ in blocks),
            )

        grouping = icd.read_rollup(rollup, **self.opening)
        keep, coder, more = choice.choose_columns(
            table,
            entries.codes,
            np.asarray(open_array(folder / "counts.npy") @ coding.ones).astype(np.int64),
            counted,
            objects.RecordCoder([], id_column=self.id_column, empty=self.empty, **grouping),
            layout,
            self.union_by,
            self.named,
            partial(icd.names_of, names=names, **self.opening),
            **limits,
        )
        n_none, dropped, enough = 0, False, [np.empty(0, dtype=np.bool_)]
        with work.stage(RECORDS) as (folder, noted), CountsWriter(folder, len(keep)) as writer:
            for block, ids in _blocks(stored, kept, pace, len(stored)):
                records = groups[0].records(block)[0]
                X = sp.csr_array(records[:, keep])
                n_codes = count_codes(X)
                n_none += int((n_codes == 0).sum())
                dropped |= bool((count_codes(records)[n_codes == 0] > 0).any())
                enough.append(has_enough(X, n_codes, min_codes, wide=layout.form == "wide"))
                writer.append(X, ids)
            writer.finish(coder.codes)
            fitted = np.concatenate(enough)
            write_array(folder / "enough.npy", fitted)
            n_few = int((~fitted).sum())
            if n_few:
                _write_some(StoredCounts.open(folder), fitted, folder / "fitted")
            notes += [
                *more,
                *note_few_codes(len(fitted), n_none, n_few, min_codes, dropped=dropped),
            ]
            noted |= {"notes": notes, "form": layout.form, "coder": coder.to_dict()}

    def _entries(self, table: DifferentCells, layout: Layout) -> tuple[Entries, Coding]:
        """Return the codes in the different cells."""
        n = sum(len(cells.texts) for cells in table.of.values())
        if layout.form != "wide":
            entries = read_code_cells(table, layout.codes[:1])
            return entries, Coding(matrix_at(entries.row, entries.code, (n, len(entries.codes))))
        how = {"chosen": layout.chosen, "empty_is_zero": self.empty == "zero", "known": False}
        entries = read_binary_cells(table, layout.codes, **how)
        place = self.cells.work.path / CELLS
        columns = np.asarray(open_array(place / "columns.npy"))
        cells_of = {name: np.flatnonzero(columns == j) for j, name in enumerate(layout.codes)}

        def matrix(row: Ints, code: Ints) -> sp.csr_array[Any]:
            pairs = zip(row.tolist(), code.tolist(), strict=True)
            cell = [cells_of[entries.codes[j]][i] for i, j in pairs]
            return matrix_at(np.array(cell, dtype=np.intp), code, (n, len(entries.codes)))

        gaps = matrix(entries.missing_row, entries.missing_code)
        return entries, Coding(matrix(entries.row, entries.code), gaps if gaps.nnz else None)


def _blocks(
    stored: StoredCounts, kept: NDArray[np.bool_] | None, pace: Pace, n_before: int
) -> Iterator[tuple[sp.csr_array[Any], list[str] | None]]:
    """Yield the cells of the records that are kept, and their ids if they have some."""
    start = 0
    for block in stored.blocks():
        stop = start + block.shape[0]
        ids = list(stored.ids[start:stop]) if stored.has_ids else None
        if kept is None:
            yield block, ids
        else:
            rows = np.flatnonzero(kept[start:stop])
            yield block[rows], ids and [ids[i] for i in rows]
        start = stop
        pace.reached(n_before + stop)


def _write_some(counts: StoredCounts, chosen: NDArray[np.bool_], folder: Path) -> None:
    """Write some rows of counts to another folder."""
    folder.mkdir()
    start = 0
    with CountsWriter(folder, counts.shape[1]) as writer:
        for block in counts.blocks():
            stop = start + block.shape[0]
            writer.append(block[np.flatnonzero(chosen[start:stop])])
            start = stop
        writer.finish()


def store_records(
    path: str | PathLike[str],
    folder: str | PathLike[str],
    *,
    memory: int | str = "1GB",
    resume: bool = False,
    id_column: str | None = None,
    code_columns: str | Sequence[str] | None = None,
    union_by: str | None = None,
    ignore_columns: str | Sequence[str] = (),
    empty: Empty = "missing",
    rollup: icd.Mapped | None = None,
    names: icd.Mapped | None = None,
    min_records: int | None = None,
    cumulative_frequency: float | None = None,
    min_codes: int | None = None,
    drop_constant: bool = True,
    encoding: str = files.AUTO,
    separator: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    also: Mapping[str, Any] | None = None,
) -> StoredRecords:
    r"""Read coded records as :func:`read_records` does, in bounded memory.

    The codes are kept in a folder on disk. The work has two stages: number the different cells of
    the table; interpret them and choose the codes. Each finished stage is kept, and `resume`
    continues after it, with the same result.

    Parameters
    ----------
    path : str or path-like
        A table in CSV, TSV or Parquet, which is read in batches. Rows of the same record must be
        together.
    folder : str or path-like
        The folder to make. It must exist as long as the records are used.
    memory : int or str, default="1GB"
        Memory of the process: bytes, or "800MB", "1.5GB", "2GiB". At least 600 MB.
    resume : bool, default=False
        Whether to continue in a folder that an interrupted run has left.
    id_column, code_columns, union_by, ignore_columns, empty : optional
        Columns and their meaning, as in :func:`read_records`; guessed from the first 1,000 rows.
    rollup, names, min_records, cumulative_frequency, min_codes, drop_constant : optional
        The codes to keep, as in :func:`read_records`.
    encoding, separator, skip_rows, header : optional
        How to read the table, as in :func:`read_records`.
    also : mapping of str to object, default=None
        Options of the work that follows, which must not change either when it is continued.

    Returns
    -------
    StoredRecords
        The records of :func:`read_records` without outcomes, with codes and ids on disk.

    Raises
    ------
    InvalidParameterError
        If the table can only be read as a whole; if the folder contains unfinished work and
        `resume` is False; if the input or an option has changed since; or as in
        :func:`read_records`.
    InvalidDataError
        If rows of the same record are not together, or there are too many different cells for the
        memory; or as in :func:`read_records`.
    ReadError, EmptyCorpusError
        As in :func:`read_records`.
    MomentreeError
        If the folder cannot be written, for instance because the disk is full.

    Notes
    -----
    Memory: the different cells, at most 15% of `memory`, and about 9 bytes per record. Disk: up to
    10 bytes per code of a record, and the ids.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import store_records
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = Path(place) / "codes.csv"
    ...     _ = file.write_text("visit_id,code\na,250\na,401\nb,250\nc,401\nc,428\nd,428\n")
    ...     records = store_records(file, f"{place}/codes")
    ...     records.codes.tolist(), list(records.ids), records.X.toarray().tolist()
    (['250', '401', '428'], ['a', 'b', 'c', 'd'], [[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]])
    """
    opening: dict[str, Any] = {
        "encoding": encoding,
        "separator": separator,
        "skip_rows": skip_rows,
        "header": header,
    }
    choosing: dict[str, Any] = {
        "rollup": rollup,
        "names": names,
        "min_records": min_records,
        "cumulative_frequency": cumulative_frequency,
        "min_codes": min_codes,
        "drop_constant": drop_constant,
    }
    columns: dict[str, Any] = {
        "id_column": id_column,
        "code_columns": schema.as_names("code_columns", code_columns),
        "union_by": union_by,
    }
    allowed, table = open_in_parts(path, memory, opening)
    used = schema.columns_read(table.head, ignore_columns, (id_column, union_by))
    head = replace(table.head, columns={name: table.head.columns[name] for name in used})
    layout = find_layout(head, **columns, outcome_columns=())
    options = {**opening, **{name: _of_file(value) for name, value in choosing.items()}, **columns}
    options |= {"ignore_columns": sorted({*table.head.names}.difference(used)), "empty": empty}
    work = WorkFolder(Path(folder))
    with work.begun(Path(path), {**options, "memory": allowed, **(also or {})}, resume=resume):
        cells = CellStage(work, table, layout)
        if not work.has(CELLS):
            cells.write(allowed)
        if not work.has(RECORDS):
            beside = {name: opening[name] for name in ("encoding", "separator")}
            stage = CodeStage(cells, beside, columns["code_columns"], id_column, union_by, empty)
            stage.write(**choosing)
        work.remove_stage(CELLS)
        return _open(work, table.head.path.name)


def _of_file(value: Any) -> Any:
    """Return the path of a file that an option names, so that a change of its content is found."""
    named = isinstance(value, str | PathLike) and Path(value).is_file()
    return Path(value) if named else value


def _open(work: WorkFolder, name: str) -> StoredRecords:
    """Open the result."""
    folder, noted = work.path / RECORDS, work.read(RECORDS)
    stored = StoredCounts.open(folder)
    coder = objects.RecordCoder.from_dict(noted["coder"])
    return StoredRecords(
        X=stored.X,
        codes=np.array(coder.codes, dtype=object),
        names=dict(coder.names),
        ids=stored.ids,
        enough=np.asarray(open_array(folder / "enough.npy")),
        coder=coder,
        name=name,
        form=str(noted["form"]),
        notes=tuple(noted["notes"]),
        counts=stored,
        folder=work.path,
    )
