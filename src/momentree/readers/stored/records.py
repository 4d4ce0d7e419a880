"""Read coded records from a table larger than memory: from cells to counts on disk, in two stages.

The first stage numbers the different cells and writes, for each record, the numbers of its cells.
The second interprets the different cells, by the rules for a table in memory, and writes the codes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial, reduce
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._choices import Empty
from momentree._limits import memory_bytes
from momentree._pace import Pace
from momentree._pages import each_part
from momentree._types import Ints
from momentree.exceptions import EmptyCorpusError, InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.readers.records._binary_cells import read_binary_cells
from momentree.readers.records._choice import CodeCounts
from momentree.readers.records._code_cells import Entries, read_code_cells
from momentree.readers.records._guesses import holds_one_code, matching
from momentree.readers.records._layout import Layout, as_names, find_layout
from momentree.readers.records._mapping import SUFFIXES, Mapped
from momentree.readers.records._matrix import count_codes
from momentree.readers.records._names import names_of
from momentree.readers.records.coder import RecordCoder
from momentree.readers.records.objects import Records
from momentree.readers.records.records import (
    choose_columns,
    note_few_codes,
    possible_outcomes,
    with_rollup,
)
from momentree.readers.stored.arrays import ArrayWriter, open_array
from momentree.readers.stored.cells import (
    CellNumbers,
    Coding,
    CountedCells,
    DifferentCells,
    matrix_at,
    whole_records,
)
from momentree.readers.stored.copies import parts_of_equal
from momentree.readers.stored.counts import MOST_COLUMNS, CountsWriter, StoredCounts, new_folder
from momentree.readers.stored.strings import StoredStrings, StringsWriter
from momentree.readers.stored.work import WorkFolder, write_stage
from momentree.readers.tables.files import AUTO, check_exists
from momentree.readers.tables.reader import open_table
from momentree.readers.tables.table import Source, Table, excerpt
from momentree.readers.text.frequencies import BYTES_PER_WORD

log = logging.getLogger("momentree.readers")

CELLS, RECORDS = "1-cells", "2-records"
"""The stages, by the names of their folders."""
SHARE_OF_CELLS = 0.15
"""Fraction of the memory for the different cells."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StoredRecords(Records):
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
        return StoredCounts.open(self.folder / RECORDS / "fitted").X

    def blocks(self) -> Iterator[sp.csr_array[Any]]:
        """Yield X in order, in parts of about a million entries."""
        return self.counts.blocks()


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
    rollup: Mapped | None = None,
    names: Mapped | None = None,
    min_records: int | None = None,
    cumulative_frequency: float | None = None,
    min_codes: int = 1,
    drop_constant: bool = True,
    encoding: str = AUTO,
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
    source = check_exists(path)
    allowed = memory_bytes(memory)
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
    table = open_table(source, suffixes=SUFFIXES, check_titles=True, **opening)
    if table.parts is None:
        raise InvalidParameterError("table_not_streamed", parameter="memory", path=str(source))
    named = as_names("code_columns", code_columns)
    ignored = set(
        matching(table.head, "ignore_columns", as_names("ignore_columns", ignore_columns))
    )
    columns = {name: cells for name, cells in table.head.columns.items() if name not in ignored}
    layout = find_layout(
        replace(table.head, columns=columns),
        id_column=id_column,
        code_columns=named,
        union_by=union_by,
        outcome_columns=(),
    )
    work = WorkFolder(Path(folder))
    columns_of = {"id_column": id_column, "code_columns": named, "union_by": union_by}
    options = {
        **opening,
        **{name: _of_file(value) for name, value in choosing.items()},
        **columns_of,
        "ignore_columns": sorted(ignored),
        "empty": empty,
        "memory": allowed,
        **(also or {}),
    }
    work.begin(source, options, resume=resume)
    stages = _Stages(work, table, layout, opening, named, id_column, union_by, empty, allowed)
    if not work.has(CELLS):
        stages.read()
    if not work.has(RECORDS):
        stages.choose(**choosing)
    work.remove_stage(CELLS)
    return stages.records()


def _of_file(value: Any) -> Any:
    """Return the path of a file that an option names, so that a change of its content is found."""
    named = isinstance(value, str | PathLike) and Path(value).is_file()
    return Path(value) if named else value


def _write_some(counts: StoredCounts, chosen: NDArray[np.bool_], folder: Path) -> None:
    """Write some rows of counts to another folder."""
    folder.mkdir()
    writer, start = CountsWriter(folder, counts.shape[1]), 0
    try:
        for block in counts.blocks():
            stop = start + block.shape[0]
            writer.append(block[np.flatnonzero(chosen[start:stop])])
            start = stop
        writer.finish(None)
    finally:
        writer.close()


def _checksums(ids: Any) -> NDArray[np.uint64]:
    """Return a number for each id; 0 if it is empty."""
    found = pd.util.hash_array(np.asarray(ids, dtype=object), categorize=False) | np.uint64(1)
    return np.where(ids == "", np.uint64(0), found)


@dataclass(frozen=True)
class _Stages:
    """The stages of reading records."""

    work: WorkFolder
    source: Source
    layout: Layout
    opening: Mapping[str, Any]
    named: list[str]
    id_column: str | None
    union_by: str | None
    empty: Empty
    memory: int

    def read(self) -> None:
        """Give a number to each different cell, and write those of each record."""
        layout, key = self.layout, self.layout.key
        path = self.source.head.path
        numbers = CellNumbers(layout, int(self.memory * SHARE_OF_CELLS / BYTES_PER_WORD), path)
        names = [*layout.codes, *([] if key is None else [key])]
        pace = Pace(log, f"reading {path.name}", self.source.n_rows)
        n_rows = n_records = n_without_id = above = 0
        kinds: dict[str, str] = {}
        with new_folder(self.work.path / CELLS) as place, ExitStack() as stack:
            writer = CountsWriter(place)
            stack.callback(writer.close)
            sums = stack.enter_context(ArrayWriter(place / "checksums.npy", np.uint64))
            for table in whole_records(self._parts(names), key if self._by_row else None):
                kinds |= table.kinds
                ids = (
                    None
                    if key is None
                    else np.array([one.strip() for one in table.columns[key]], dtype=object)
                )
                record, ids = self._records(table.n_rows, ids)
                cells = [
                    numbers.of(j, table.cells(name), above) for j, name in enumerate(layout.codes)
                ]
                row, number = np.tile(record, len(cells)), np.concatenate(cells)
                there = (row >= 0) & (number >= 0)
                n = int(record.max(initial=-1)) + 1
                ones = np.ones(int(there.sum()), dtype=np.int32)
                places = row[there].astype(np.int32), number[there].astype(np.int32)
                X = sp.csr_array(sp.coo_array((ones, places), shape=(n, MOST_COLUMNS)))
                X.sum_duplicates()
                writer.append(X, None if ids is None else ids.tolist())
                if ids is not None:
                    sums.append(_checksums(ids))
                    n_without_id += int((record < 0).sum())
                n_rows, n_records = n_rows + table.n_rows, n_records + n
                above += table.n_rows
                pace.reached(n_rows, f"{n_records:,} records")
            writer.finish(None)
            sums.finish()
            texts = stack.enter_context(StringsWriter(place / "texts"))
            texts.extend(text for _, text in numbers.cells)
            texts.finish()
            columns = np.array([column for column, _ in numbers.cells], dtype=np.int64)
            first = np.array(numbers.first, dtype=np.int64).reshape(-1, 2)
            for name, values in (
                ("columns", columns),
                ("counts", numbers.counts),
                ("first_column", first[:, 0]),
                ("first_row", first[:, 1]),
            ):
                array = stack.enter_context(ArrayWriter(place / f"{name}.npy", np.int64))
                array.append(values)
                array.finish()
            noted = {
                "n_rows": n_rows,
                "n_without_id": n_without_id,
                "n_padded": numbers.n_padded,
                "kinds": kinds,
            }
            write_stage(place, noted)

    @property
    def _by_row(self) -> bool:
        """Whether rows with the same id may be one record."""
        layout = self.layout
        one = len(layout.codes) == 1 and layout.form in ("long", "lists")
        return layout.key is not None and (layout.joined or one)

    def _parts(self, names: Sequence[str]) -> Iterator[Table]:
        assert self.source.parts is not None  # noqa: S101 - for the type checker; checked before
        return self.source.parts(list(dict.fromkeys(names)))

    def _records(self, n: int, ids: Any) -> tuple[Ints, Any]:
        """Return the record of each row, -1 for none, and the ids of records."""
        if ids is None or not self._by_row:
            return np.arange(n), ids
        kept = np.flatnonzero(ids != "") if self.layout.joined else np.arange(n)
        new = np.ones(len(kept), dtype=bool)
        # A row without an id is a record of its own.
        new[1:] = (ids[kept[1:]] != ids[kept[:-1]]) | (ids[kept[1:]] == "")
        record = np.full(n, -1, dtype=np.intp)
        record[kept] = np.cumsum(new) - 1
        return record, ids[kept[new]]

    def choose(self, *, min_codes: int, rollup: Any, names: Any, **limits: Any) -> None:
        """Interpret the cells, choose the codes, and write those of each record."""
        place, noted = self.work.path / CELLS, self.work.read(CELLS)
        stored = StoredCounts.open(place)
        layout, kept_records, notes = self._joined(stored, noted)
        table = self._different(place, noted)
        entries, coding = self._entries(table, layout)
        if layout.form == "wide" and entries.codes:
            layout = replace(layout, codes=entries.codes)
            notes = [*possible_outcomes(entries, set(self.named)), *notes]
        notes = [*self.source.head.notes, layout.described(), *layout.notes, *notes, *entries.notes]
        pace = Pace(log, "choosing codes", 2 * len(stored))
        n_read = 0

        def blocks() -> Iterator[tuple[sp.csr_array[Any], list[str] | None]]:
            """Yield the cells of records, and their ids."""
            nonlocal n_read
            start = 0
            for block in stored.blocks():
                stop = start + block.shape[0]
                ids = None if layout.key is None else list(stored.ids[start:stop])
                if kept_records is not None:
                    kept = np.flatnonzero(kept_records[start:stop])
                    block, ids = block[kept], ids and [ids[i] for i in kept]
                yield block, ids
                start = stop
                n_read += len(block.indptr) - 1
                pace.reached(n_read)

        groups: list[Coding] = []

        def counted(column: Ints, d: int) -> CodeCounts:
            groups.append(coding.grouped(column, d))
            parts = (CodeCounts.of(*groups[0].records(block)) for block, _ in blocks())
            return reduce(CodeCounts.__add__, parts)

        key = self.id_column if self.union_by is not None else layout.key
        rules = RecordCoder([], layout.form, key, layout.codes, self.union_by, empty=self.empty)
        opening = {name: self.opening[name] for name in ("encoding", "separator")}
        keep, coder, more = choose_columns(
            table,
            entries.codes,
            np.asarray(open_array(place / "counts.npy") @ coding.ones).astype(np.int64),
            counted,
            with_rollup(rules, rollup, **opening),
            self.named,
            partial(names_of, names=names, **opening),
            **limits,
        )
        notes += more
        n_none, dropped, enough = 0, False, [np.empty(0, dtype=np.bool_)]
        with new_folder(self.work.path / RECORDS) as folder, ExitStack() as stack:
            writer = CountsWriter(folder, len(keep))
            stack.callback(writer.close)
            for block, ids in blocks():
                found = groups[0].records(block)[0]
                X = sp.csr_array(found[:, keep])
                n_codes = count_codes(X)
                n_none += int((n_codes == 0).sum())
                dropped |= bool((count_codes(found)[n_codes == 0] > 0).any())
                enough.append(n_codes >= min_codes)
                writer.append(X, ids)
            writer.finish(coder.codes)
            array = stack.enter_context(ArrayWriter(folder / "enough.npy", np.bool_))
            array.append(np.concatenate(enough))
            array.finish()
            n_few = int((~np.concatenate(enough)).sum())
            if n_few:
                _write_some(StoredCounts.open(folder), np.concatenate(enough), folder / "fitted")
            n = sum(map(len, enough))
            notes += note_few_codes(n, n_none, n_few, min_codes, dropped=dropped)
            write_stage(folder, {"notes": notes, "form": layout.form, "coder": coder.to_dict()})

    def _joined(
        self, stored: StoredCounts, noted: Mapping[str, Any]
    ) -> tuple[Layout, Any, list[Message]]:
        """Return the layout, known for all rows; a mask of records to keep, or None; and notes."""
        layout, n = self.layout, len(stored)
        if layout.key is None:
            return layout, None, [Message("no_ids")]
        column = excerpt(layout.key)
        n_again = n_empty = 0
        sums = open_array(self.work.path / CELLS / "checksums.npy")
        for found, _ in parts_of_equal(sums):
            named = found[found != 0]
            n_empty += len(found) - len(named)
            n_again += len(named) - len(np.unique(named))
        joined = self._by_row and n_again + int(noted["n_rows"]) - int(noted["n_without_id"]) > n
        if self._by_row and n_again:
            raise InvalidDataError(
                "rows_not_together",
                path=str(self.source.head.path),
                n_returns=n_again,
                column=column,
                parameter="memory",
            )
        if layout.joined or joined:
            n_rows = int(noted["n_rows"])
            n_without = int(noted["n_without_id"]) + n_empty
            if n_without == n_rows:
                raise EmptyCorpusError("empty_key", path=str(self.source.head.path), column=column)
            notes = []
            if n_without:
                notes.append(Message("rows_without_id", n_rows=n_without, column=column))
            n_joined = {"n_rows": n_rows - n_without, "n_records": n - n_empty}
            notes.append(Message("rows_joined", **n_joined, column=column))
            if not layout.joined:  # ids of the first rows were all different
                cells = self.source.head.columns[layout.codes[0]]
                single = holds_one_code([cell for cell in cells if cell])
                layout = replace(layout, form="long" if single else "lists", joined=True)
            kept = None
            if n_empty:
                kept = each_part(lambda part: part != 0, sums)
            return layout, kept, notes
        notes = []
        if n_again:
            notes.append(
                Message("repeated_ids", n_rows=n_again, column=column, parameter="union_by")
            )
        if n_empty:
            notes.append(Message("records_without_id", n_records=n_empty, column=column))
        return layout, None, notes

    def _different(self, place: Path, noted: Mapping[str, Any]) -> DifferentCells:
        """Return the table of different cells."""
        texts = np.array(list(StoredStrings(place / "texts")), dtype=object)
        columns, counts, first_column, first_row = (
            np.asarray(open_array(place / f"{name}.npy"))
            for name in ("columns", "counts", "first_column", "first_row")
        )
        names = self.layout.codes
        of, first = {}, {}
        for j, name in enumerate(names if self.layout.form == "wide" else names[:1]):
            at = np.flatnonzero(columns == j)
            n_padded = int(noted["n_padded"]) if j == 0 else 0
            of[name] = CountedCells(np.arange(len(at)), texts[at], n_padded, counts[at])
            first[name] = [(names[first_column[i]], int(first_row[i])) for i in at]
        numeric = {
            name: int(counts.sum())
            for name in names[:1]
            if noted["kinds"].get(name, "").startswith(("float", "double"))
            and any("." in text for text in texts)
        }
        head = self.source.head
        origin = head.origin if head.n_rows >= int(noted["n_rows"]) else self._origin
        return DifferentCells(
            head.path, head.columns, int(noted["n_rows"]), origin, head.kinds, numeric,
            of=of, first=first,
        )  # fmt: skip

    def _origin(self, row: int) -> Message:
        """Return the place of a row, in the part of the table that contains it."""
        above = 0
        for table in self._parts(self.layout.codes[:1]):
            if row < above + table.n_rows:
                return table.origin(row - above)
            above += table.n_rows
        return Message("at_row", row=row + 1)

    def _entries(self, table: DifferentCells, layout: Layout) -> tuple[Entries, Coding]:
        """Return the codes in the different cells."""
        n = sum(len(cells.texts) for cells in table.of.values())
        if layout.form != "wide":
            entries = read_code_cells(table, layout.codes[:1])
            return entries, Coding(matrix_at(entries.row, entries.code, (n, len(entries.codes))))
        entries = read_binary_cells(
            table,
            layout.codes,
            chosen=layout.chosen,
            empty_is_zero=self.empty == "zero",
            known=False,
        )
        place = self.work.path / CELLS
        columns = np.asarray(open_array(place / "columns.npy"))
        cells_of = {name: np.flatnonzero(columns == j) for j, name in enumerate(layout.codes)}

        def matrix(row: Ints, code: Ints) -> sp.csr_array[Any]:
            pairs = zip(row.tolist(), code.tolist(), strict=True)
            cell = [cells_of[entries.codes[j]][i] for i, j in pairs]
            return matrix_at(np.array(cell, dtype=np.intp), code, (n, len(entries.codes)))

        gaps = matrix(entries.missing_row, entries.missing_code)
        n_missing = int((open_array(place / "counts.npy") @ gaps).sum())
        notes = [
            Message("missing_cells", n_entries=n_missing) if one.code == "missing_cells" else one
            for one in entries.notes
        ]
        coding = Coding(matrix(entries.row, entries.code), gaps if gaps.nnz else None)
        return replace(entries, notes=notes), coding

    def records(self) -> StoredRecords:
        """Open the result."""
        folder, noted = self.work.path / RECORDS, self.work.read(RECORDS)
        stored = StoredCounts.open(folder)
        coder = RecordCoder.from_dict(noted["coder"])
        return StoredRecords(
            X=stored.X,
            codes=np.array(coder.codes, dtype=object),
            names=dict(coder.names),
            ids=stored.ids,
            enough=np.asarray(open_array(folder / "enough.npy")),
            coder=coder,
            name=self.source.head.path.name,
            form=str(noted["form"]),
            notes=tuple(noted["notes"]),
            counts=stored,
            folder=self.work.path,
        )
