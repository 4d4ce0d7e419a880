"""Read coded records from a table in any of four forms, in memory or on disk."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree._validation import check_choice, check_integer, check_number
from momentree.core.choices import Empty
from momentree.core.progress import Pace
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message, wording
from momentree.readers.records import choice, icd, objects
from momentree.readers.records.cells import Entries, read_binary_cells, read_code_cells
from momentree.readers.records.layout import Layout, find_layout
from momentree.readers.records.numbered import (
    Batch,
    Coding,
    NumberedTable,
    checksums,
    number_cells,
    whole_records,
)
from momentree.readers.stored import arrays
from momentree.readers.stored.counts import MAX_COLUMNS, CountsWriter, StoredCounts
from momentree.readers.stored.work import WorkFolder
from momentree.readers.tables import files, grid, reader, roles, schema
from momentree.readers.tables.join import Joined, Paths, read_joined, read_outcomes
from momentree.readers.text.selection import BYTES_PER_WORD

log = logging.getLogger("momentree.readers")

RECORDS = "1-records"
"""The stage on disk, by the name of its folder."""
SHARE_OF_CELLS = 0.15
"""Fraction of the memory for the different cells."""
_Encoded = tuple[sp.csr_array[Any], Ints, Sequence[str] | None]
"""Records, the repeated entries of each code, and ids."""
_Codes = tuple[Ints, objects.RecordCoder, Iterable[_Encoded], list[Message]]
"""Columns to keep, the coder with their codes, the records, and notes."""


def read_records(
    path: str | PathLike[str],
    *,
    folder: str | PathLike[str] | None = None,
    memory: int | str = "1GB",
    resume: bool = False,
    also: Mapping[str, Any] | None = None,
    id_column: str | None = None,
    code_columns: str | Sequence[str] | None = None,
    union_by: str | None = None,
    outcome_columns: str | Sequence[str] = (),
    covariate_columns: str | Sequence[str] = (),
    ignore_columns: str | Sequence[str] = (),
    join: Paths = (),
    on: str | Sequence[str] = (),
    rollup: icd.Mapped | None = None,
    names: icd.Mapped | None = None,
    min_records: int | None = None,
    cumulative_frequency: float | None = None,
    min_codes: int | None = None,
    drop_constant: bool = True,
    empty: Empty = "missing",
    encoding: str = files.AUTO,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    coder: objects.RecordCoder | None = None,
) -> objects.Records:
    r"""Read coded records from a table: CSV, TSV, Parquet, Excel or OpenDocument.

    The table has one of four forms, detected from its columns and their content:

    - *long*: one row per record and code; rows with the same id form a record,
    - *lists*: one row per record, with all its codes in one cell ("250.00; 401.9"),
    - *slots*: one row per record, with one code in each of several columns (DX1, DX2, ...),
    - *wide*: one row per record and one column per code, with 0 or 1 (or true and false, yes and
      no, t and f, y and n). An empty cell or NA is a missing value, not a zero, unless
      ``empty="zero"`` or the column contains only x (or +, ✓) and empty cells.

    Parameters
    ----------
    path : str or path-like
        The table: .csv, .tsv, .tab or .txt, plain or compressed with gzip; .parquet, .pq; .xlsx,
        .xlsm, .xlsb, .xls, .ods. The first row names the columns.
    folder : str, path-like or None, default=None
        A folder to make, in which the records are kept, and read in bounded memory: of a table in
        CSV, TSV or Parquet, which is read in batches, or of counts on disk. Rows of the same record
        must be together. The folder must exist as long as the records are used. None keeps all in
        memory.
    memory : int or str, default="1GB"
        With a `folder`, memory of the process: bytes, or "800MB", "1.5GB", "2GiB". At least 600 MB.
    resume : bool, default=False
        Whether to continue in a `folder` that an interrupted run has left.
    also : mapping of str to object, default=None
        With a `folder`, options of the work that follows, which must not change either when it is
        continued.
    id_column : str or None, default=None
        Column with the ids of the records. None uses the only column named like an id ("id",
        "visit_id", ...); if there is none, rows are numbered.
    code_columns : str, sequence of str or None, default=None
        Columns with codes, by name or pattern such as "DX*". None guesses them if that is safe.
    union_by : str or None, default=None
        Join rows with equal values in this column into one record, such as the admissions of a
        patient.
    outcome_columns : str or sequence of str, default=()
        Columns, by name or pattern, that are outcomes, not codes. A pattern skips columns of codes
        and ids.
    covariate_columns : str or sequence of str, default=()
        Columns, by name or pattern, that are covariates, such as age and sex. They are read and
        described like outcomes, and can predict the group.
    ignore_columns : str or sequence of str, default=()
        Columns to leave out, by name or pattern; one that another argument names, such as an
        outcome, has only that role.
    join : path or sequence of paths, default=()
        Other tables, whose outcome columns are added to the rows with the same key.
    on : str or sequence of str, default=()
        Key of each table to join, or one for all: a column of both tables, such as "HADM_ID", or
        "left=right" if it has two names. By default the only column that both tables have.
    rollup : {"icd9", "icd10"}, path, mapping or None, default=None
        How to roll codes up: to the general diagnosis (see :func:`roll_up`), or to the groups in a
        table with columns code and group, or in a dictionary.
    names : {"icd9", "icd10", "none"}, path, mapping or None, default=None
        Names of codes, after the roll-up: a table with columns code and name, or a dictionary; a
        longer code has the name of a shorter one with which it begins. The titles of
        :func:`code_titles` name the other codes, or with None all, if codes are rolled up by ICD or
        are clearly diagnoses. "icd9" and "icd10" always use these titles; "none" uses no names.
    min_records : int or None, >= 1, default=None
        Drop codes found in fewer records. None is 5, or 2 with fewer than 1000 records.
    cumulative_frequency : float or None, above 0, at most 1, default=None
        Keep the most frequent codes that make up this share of all entries; None keeps all.
    min_codes : int, >= 0, default=None
        Records with fewer of the codes kept are excluded from fitting (`enough` is False). None is
        1 or, in a wide table, 0: "no" in every column is an answer, but a record without any known
        value is excluded.
    drop_constant : bool, default=True
        Drop codes that occur in all records with any code, since they do not distinguish records.
    empty : {"missing", "zero"}, default="missing"
        Meaning of an empty cell in a wide table: a missing value, or that the record does not have
        the code. NA and similar values are always missing values.
    encoding : str, default="auto"
        Encoding of text; "auto" guesses it for each file.
    separator : str or None, default=None
        For text: the character between columns. None detects comma, semicolon, tab or pipe.
    sheet : str or None, default=None
        For spreadsheets: the name of the sheet; None for the first.
    skip_rows : int, >= 0, default=0
        Rows of a spreadsheet, or lines of text, above the header.
    header : bool or None, default=None
        For spreadsheets and text: whether the first row names the columns. None finds out; without
        names, they are "column 1", "column 2" and so on.
    coder : RecordCoder or None, default=None
        Coder of previously read records. The new records get the same columns, and their codes are
        read from the same columns of the table unless `code_columns` is given. Columns missing
        from a wide table become missing values.

    Returns
    -------
    Records
        In the order of the file; `notes` list what was guessed, repaired or left out.

    Raises
    ------
    ReadError
        If a file cannot be read, no key matches, a column is missing or has two roles, the columns
        of codes and ids are not clear, or the table has none of the columns of the coder.
    InvalidDataError
        If a value of a wide table is neither 0 nor 1, most code columns contain only ones and empty
        cells, more than 5% of the entries are dates, no code is in the mapping, or most codes are
        not in the system or have lost their zeros. With a folder: if rows of the same record are
        not together, or there are too many different cells for the memory.
    EmptyCorpusError
        If there are no rows, or no codes are kept.
    InvalidParameterError
        If an option is invalid, or cannot be combined with a coder or a folder, or the key of a
        table to join is not clear. With a folder: if the table can only be read as a whole, the
        folder contains unfinished work and `resume` is False, or the input or an option has changed
        since.
    MomentreeError
        If the folder cannot be written, for instance because the disk is full.

    Notes
    -----
    The reader repairs and reports blanks around codes, lower case, repeated entries in a record,
    codes with and without their dot, lost leading zeros of ICD-9 codes that are rolled up, and a
    few dates among the codes; it drops rare codes and codes found in every record (as in Fig. 4.3
    of [1], where all patients have the same disease). Codes in a cell are separated by semicolons,
    bars, commas or blanks, and also by ``^``, ``~``, ``&`` or ``/`` if the parts look like codes.
    Section 6.4.1 of [1] prepares its data with ``rollup="icd9", cumulative_frequency=0.9,
    min_codes=3``. Time and memory O(cells of the table).

    With a folder, columns are guessed from the first 1,000 rows. Memory: the different cells, at
    most 15% of `memory`, and about 9 bytes per record. Disk: up to 10 bytes per code of a record,
    and the ids.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications. PhD
       thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import read_records
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "visits.csv"
    ...     _ = file.write_text("visit_id,codes\na,250.01; 401.9\nb,25002\nc,401.1;428\nd,428\n")
    ...     records = read_records(file, rollup="icd9")
    >>> records.codes.tolist(), records.ids, records.form
    (['250', '401', '428'], ['a', 'b', 'c', 'd'], 'lists')
    >>> records.X.toarray()
    array([[1., 1., 0.],
           [1., 0., 0.],
           [0., 1., 1.],
           [0., 0., 1.]])
    """
    check_integer("min_records", min_records, at_least=1, optional=True)
    check_number("cumulative_frequency", cumulative_frequency, above=0, at_most=1, optional=True)
    check_integer("min_codes", min_codes, at_least=0, optional=True)
    check_choice("empty", empty, objects.EMPTY)
    limits: dict[str, Any] = {
        "min_records": min_records,
        "cumulative_frequency": cumulative_frequency,
    }
    grouping = {"rollup": rollup, "names": names}
    schema.check_coder(coder, objects.RecordCoder, **grouping, **limits)
    opening = grid.Opening(encoding, separator, sheet, skip_rows, header)
    columns: dict[str, Any] = {
        "id_column": id_column,
        "union_by": union_by,
        "outcome_columns": outcome_columns,
        "covariate_columns": covariate_columns,
        "ignore_columns": ignore_columns,
        "join": join,
        "on": on,
    }
    limits |= {"drop_constant": drop_constant, "min_codes": min_codes}
    named = schema.as_names("code_columns", code_columns)
    reading = _Reading(opening, coder, named, id_column, union_by, empty, grouping, limits)
    if folder is None:
        return reading.in_memory(read_joined(path, opening, **columns))
    keeping: dict[str, Any] = {"memory": memory, "resume": resume, "also": also or {}}
    return reading.on_disk(Path(path), Path(folder), columns, **keeping)


@dataclass(frozen=True)
class _Reading:
    """What to read from a table of records."""

    opening: grid.Opening
    coder: objects.RecordCoder | None
    named: list[str]  # columns of codes
    id_column: str | None
    union_by: str | None
    empty: Empty
    grouping: Mapping[str, Any]
    limits: Mapping[str, Any]

    @property
    def before(self) -> objects.RecordCoder:
        """The coder, or one without codes."""
        return objects.RecordCoder([]) if self.coder is None else self.coder

    def joined_by(self, table: grid.Table) -> str | None:
        """Return the column that joins rows."""
        return schema.known_column(table, self.union_by, self.before.union_by)

    def find_layout(self, joined: Joined) -> Layout:
        """Find the form of a table, by its rows or the first of them."""
        table, before = joined.table, self.before
        layout = find_layout(
            table,
            id_column=schema.known_column(table, self.id_column, before.id_column),
            code_columns=self.named or _columns_of_coder(table, before),
            union_by=self.joined_by(table),
            outcome_columns=joined.outcomes,
        )
        if before.form == "wide" and not self.named and layout.chosen:
            layout = replace(layout, form="wide")
        return layout

    def in_memory(self, joined: Joined) -> objects.Records:
        """Read the records of a table as one batch."""
        table, layout = joined.table, self.find_layout(joined)
        batches: list[Batch] = []
        numbered = number_cells([table], layout, batches.append)
        batch = batches[0]
        ids = None if batch.ids is None else batch.ids.tolist()
        numbered = replace(
            numbered,
            blocks=lambda heeded: [(batch.matrix(numbered.n_cells, heeded), ids)],
            sums=None if batch.ids is None else checksums(batch.ids),
        )
        patients = _note_patients(table, layout, batch.record)
        chosen = self.choose(table, numbered, layout, [*joined.notes], patients)
        blocks: list[sp.csr_array[Any]] = []
        enough, notes = _collect(chosen, self.limits["min_codes"], lambda X, _: blocks.append(X))
        n = blocks[0].shape[0]
        outcomes = read_outcomes(table, layout.outcomes, batch.record, n)
        return objects.Records(
            blocks[0],
            np.array(chosen.coder.codes, dtype=object),
            dict(chosen.coder.names),
            [str(i) for i in range(1, n + 1)] if ids is None else ids,
            enough,
            chosen.coder,
            outcomes.columns,
            outcomes.words,
            table.path.name,
            chosen.form,
            (*chosen.notes, *notes, *outcomes.notes),
            tuple(name for name in outcomes.columns if name in joined.covariates),
        )

    def on_disk(
        self,
        path: Path,
        folder: Path,
        columns: Mapping[str, Any],
        *,
        memory: int | str,
        resume: bool,
        also: Mapping[str, Any],
    ) -> objects.Records:
        """Read the records of a table in batches, and keep them in a folder."""
        for name in ("outcome_columns", "covariate_columns", "join"):
            if columns[name]:
                raise InvalidParameterError(wording.NEEDS_ALL_ROWS, parameter=name)
        allowed, source = reader.open_in_parts(path, memory, self.opening)
        options = {**columns, **self.grouping, **self.limits, **vars(self.opening)}
        options |= {"code_columns": self.named, "empty": self.empty, "memory": allowed}
        options |= {"coder": self.coder, **also}
        keys = (self.id_column, self.union_by)
        used = schema.columns_read(source.head, columns["ignore_columns"], keys)
        head = replace(source.head, columns={name: source.head.columns[name] for name in used})
        layout, work = self.find_layout(Joined(head, [], [], [])), WorkFolder(folder)
        with work.begun(path, options, resume=resume):
            if not work.has(RECORDS):
                self._store(source, head, layout, work, allowed)
            return _open(work.path / RECORDS, work.read(RECORDS), path.name)

    def _store(
        self, source: grid.Source, head: grid.Table, layout: Layout, work: WorkFolder, memory: int
    ) -> None:
        with work.stage(RECORDS) as (folder, noted):
            most = int(memory * SHARE_OF_CELLS / BYTES_PER_WORD)
            numbered = _number_on_disk(source, layout, folder / "cells", most)
            origin = head.origin if head.n_rows >= numbered.n_rows else source.origin
            table = replace(head, origin=origin, n_rows=numbered.n_rows)
            chosen = self.choose(table, numbered, layout, [], [])
            coder = chosen.coder
            with CountsWriter(folder, len(coder.codes)) as writer:
                enough, notes = _collect(chosen, self.limits["min_codes"], writer.append)
                writer.finish(coder.codes)
            shutil.rmtree(folder / "cells")
            arrays.write_array(folder / "enough.npy", enough)
            if not enough.all():
                _store_rows(StoredCounts.open(folder), enough, folder / "fitted")
            noted |= {"notes": [*chosen.notes, *notes], "form": chosen.form}
            noted["coder"] = coder.to_dict()

    def choose(
        self,
        table: grid.Table,
        numbered: NumberedTable,
        layout: Layout,
        joining: list[Message],
        patients: list[Message],
    ) -> _Chosen:
        """Interpret the cells, and choose the codes, or find those of the coder."""
        layout, numbered, notes_of_ids = numbered.join(table, layout)
        table = replace(table, fractional=numbered.fractional)
        wide, codes = layout.form == "wide", set(self.named)
        if wide:
            entries = read_binary_cells(
                table,
                numbered.cells,
                chosen=layout.chosen,
                empty_is_zero="zero" in (self.empty, self.before.empty),
                known=self.coder is not None,
            )
            layout = replace(layout, codes=entries.codes or layout.codes)
            joining += choice.possible_outcomes(entries, codes.union(self.before.code_columns))
        else:
            entries = read_code_cells(table, numbered.cells)
        notes = [*table.notes, layout.described(), *layout.notes, *joining]
        notes += [*notes_of_ids, *patients, *entries.notes]
        find = self._choose_codes if self.coder is None else self._find_codes
        keep, coder, rows, more = find(table, numbered, layout, entries)
        return _Chosen(coder, layout.form, rows, [*notes, *more], keep)

    def _find_codes(
        self, table: grid.Table, numbered: NumberedTable, layout: Layout, entries: Entries
    ) -> _Codes:
        """Find the columns of a coder."""
        coder = self.before
        n_entries, d = numbered.count(entries), len(coder.codes)
        column, notes = _columns_of_codes(entries, n_entries, coder, wide=layout.form == "wide")
        rows = _Rows(numbered, Coding.of(entries, numbered.n_cells, column, d))
        n_repeated = sum(int(repeated.sum()) for _, repeated, _ in rows)
        repeats = choice.note_repeats(n_repeated, coder, self.joined_by(table))
        return np.arange(d), coder, rows, [*repeats, *notes]

    def _choose_codes(
        self, table: grid.Table, numbered: NumberedTable, layout: Layout, entries: Entries
    ) -> _Codes:
        """Group codes, and choose the groups that become columns."""
        opening = self.opening
        text: dict[str, Any] = {"encoding": opening.encoding, "separator": opening.separator}
        wide, union_by, written = layout.form == "wide", self.joined_by(table), entries.codes
        rules = objects.RecordCoder(
            [],
            layout.form,
            self.id_column if union_by is not None else layout.key,
            layout.codes,
            union_by,
            empty=self.empty,
            **icd.read_rollup(self.grouping["rollup"], **text),
        )
        n_entries = numbered.count(entries)
        rules, groups, grouping = choice.group_codes(table, written, n_entries, rules, wide=wide)
        codes, column = np.unique(np.array(groups, dtype=object), return_inverse=True)
        rows = _Rows(numbered, Coding.of(entries, numbered.n_cells, column, len(codes)))
        counts = reduce(add, (choice.CodeCounts.of(X, repeated) for X, repeated, _ in rows))
        place = str(table.path)
        keep, notes = choice.choose_codes(counts, codes.tolist(), self.limits, place, wide=wide)
        chosen, names = codes[keep].tolist(), self.grouping["names"]
        titles, unnamed = icd.names_of(
            chosen, names=names, rollup=rules.rollup, written=written, **text
        )
        # Patterns are kept as patterns, because new records may have more code columns.
        columns = self.named or rules.code_columns
        if wide:
            known = set(chosen)
            columns = [c for c, group in zip(written, groups, strict=True) if group in known]
        coder = replace(rules, codes=chosen, names=titles, code_columns=columns)
        repeats = choice.note_repeats(int(counts.repeated[keep].sum()), coder, union_by)
        return keep, coder, rows, [*grouping, *repeats, *notes, *unnamed]


class _Rows:
    """The records of a table with all codes, in blocks, as often as they are asked for."""

    def __init__(self, numbered: NumberedTable, coding: Coding) -> None:
        self._numbered, self._coding = numbered, coding
        self._single: list[_Encoded] = []

    def __iter__(self) -> Iterator[_Encoded]:
        if self._single:
            yield from self._single
            return
        blocks, start = self._numbered.blocks(self._coding.heeded), 0
        for cells, ids in blocks:
            stop = start + cells.shape[0]
            if self._numbered.kept is not None:
                rows = np.flatnonzero(self._numbered.kept[start:stop])
                cells, ids = cells[rows], ids and [ids[i] for i in rows.tolist()]
            encoded = (*self._coding.records(cells), ids)
            if isinstance(blocks, list):
                self._single = [encoded]
            yield encoded
            start = stop


@dataclass(frozen=True)
class _Chosen:
    """The codes of records, and the records."""

    coder: objects.RecordCoder
    form: str
    rows: Iterable[_Encoded]
    notes: list[Message]
    keep: Ints  # columns of the rows


def _number_on_disk(source: grid.Source, layout: Layout, folder: Path, most: int) -> NumberedTable:
    """Give a number to each different cell, and write those of each record to a folder."""
    folder.mkdir()
    names = [*layout.codes, *([] if layout.key is None else [layout.key])]
    pace = Pace(log, f"reading {source.head.path.name}", source.n_rows)
    n_rows = n_records = 0
    with CountsWriter(folder) as writer, arrays.ArrayWriter(folder / "sums.npy", np.uint64) as sums:

        def keep(batch: Batch) -> None:
            nonlocal n_rows, n_records
            ids = batch.ids
            writer.append(batch.matrix(MAX_COLUMNS), None if ids is None else ids.tolist())
            if ids is not None:
                sums.append(checksums(ids))
            n_rows, n_records = n_rows + len(batch.record), n_records + batch.n_records
            pace.reached(n_rows, f"{n_records:,} records")

        tables = whole_records(source.batches(list(dict.fromkeys(names))), layout)
        numbered = number_cells(tables, layout, keep, most=most)
        writer.finish()
        sums.finish()
    stored = StoredCounts.open(folder)

    def blocks(_: object) -> Iterator[tuple[sp.csr_array[Any], Sequence[str] | None]]:
        start, pace = 0, Pace(log, "choosing codes", len(stored))
        for block in stored.blocks():
            stop = start + block.shape[0]
            yield block, list(stored.ids[start:stop]) if stored.has_ids else None
            start = stop
            pace.reached(stop)

    read = arrays.open_array(folder / "sums.npy") if stored.has_ids else None
    return replace(numbered, blocks=blocks, sums=read)


def _open(folder: Path, noted: Mapping[str, Any], name: str) -> objects.Records:
    """Open records on disk."""
    stored = StoredCounts.open(folder)
    coder = objects.RecordCoder.from_dict(noted["coder"])
    return objects.Records(
        X=stored.X,
        codes=np.array(coder.codes, dtype=object),
        names=dict(coder.names),
        ids=stored.ids,
        enough=np.asarray(arrays.open_array(folder / "enough.npy")),
        coder=coder,
        name=name,
        form=str(noted["form"]),
        notes=tuple(noted["notes"]),
        stored=stored,
    )


def _store_rows(counts: StoredCounts, chosen: NDArray[np.bool_], folder: Path) -> None:
    """Write some rows of counts to another folder."""
    folder.mkdir()
    start = 0
    with CountsWriter(folder, counts.shape[1]) as writer:
        for block in counts.blocks():
            stop = start + block.shape[0]
            writer.append(block[np.flatnonzero(chosen[start:stop])])
            start = stop
        writer.finish()


def _collect(
    chosen: _Chosen, min_codes: int | None, append: Callable[[sp.csr_array[Any], Any], None]
) -> tuple[NDArray[np.bool_], list[Message]]:
    """Append the records with the codes chosen; return which have enough codes, and notes."""
    wide = chosen.form == "wide"
    n_none, enough = 0, [np.empty(0, dtype=np.bool_)]
    for records, _, ids in chosen.rows:
        X = sp.csr_array(records[:, chosen.keep])
        n_codes = _count_of_rows(X, X.data == 1)
        n_none += int((n_codes == 0).sum())
        if min_codes is None and wide:  # all "no" is an answer
            enough.append(_count_of_rows(X, np.isnan(X.data)) < X.shape[1])
        else:
            enough.append(n_codes >= (1 if min_codes is None else min_codes))
        append(X, ids)
    fitted = np.concatenate(enough)
    n_few = int((~fitted).sum())
    return fitted, _note_few_codes(len(fitted), n_none, n_few, min_codes)


def _note_patients(table: grid.Table, layout: Layout, record: Ints) -> list[Message]:
    """Return the note that several records belong to one patient, according to a column."""
    used = {layout.key, *layout.codes, *layout.outcomes}
    for name in table.names:
        if name in used or not roles.fits("patient", name):
            continue
        cells = table.cells(name)
        known = (record >= 0) & (cells.texts != "")[cells.index]
        n_records = len(np.unique(record[known]))
        n_patients = len(np.unique(cells.index[known]))
        # A column with few values, such as the type of patient, does not identify patients.
        if n_patients < n_records <= 100 * n_patients:
            return [
                Message(
                    "[shared_patients] {n_records:~record} belong to {n_patients:~patient}, "
                    "according to column {column!r}: {parameter:=column} joins the records of each "
                    "patient",
                    n_records=n_records,
                    n_patients=n_patients,
                    parameter="union_by",
                    column=grid.excerpt(name),
                )
            ]
    return []


def _columns_of_coder(table: grid.Table, coder: objects.RecordCoder) -> list[str]:
    """Return the columns and patterns of the coder found in the table; raise an error if none.

    Other columns that look like codes are ignored: the model was not fitted to them.
    """
    patterns = [
        p for p in coder.code_columns if any(schema.fits_pattern(n, [p]) for n in table.names)
    ]
    if coder.code_columns and not patterns:
        raise ReadError(
            "[columns_of_coder_missing] {path} has none of the columns from which the model reads "
            "codes, {expected:quoted list}; its columns are {columns:quoted list}: name the code "
            "columns with {parameters.code_columns}",
            path=str(table.path),
            expected=grid.excerpts(coder.code_columns),
            columns=grid.excerpts(table.names),
        )
    return patterns


def _columns_of_codes(
    entries: Entries, n_entries: NDArray[Any], coder: objects.RecordCoder, *, wide: bool
) -> tuple[Ints, list[Message]]:
    """Return the column of each code, then those of columns that the table lacks; and notes."""
    notes = []
    absent = [name for name in coder.code_columns if name not in set(entries.codes)]
    if not wide or coder.form != "wide":
        absent = []
    if absent:
        notes.append(
            Message(wording.MISSING_COLUMNS, n_columns=len(absent), column=grid.excerpt(absent[0]))
        )
    codes = [*entries.codes, *absent]
    column = coder.columns_of(codes)
    unknown = np.flatnonzero(column < 0)
    if len(unknown):
        notes.append(
            Message(
                "[unknown_codes] left out {n_codes:~code} ({n_entries:~entry/entries}) unknown to "
                "the model, such as {code!r}",
                n_codes=len(unknown),
                n_entries=int(n_entries[unknown[unknown < len(n_entries)]].sum()),
                code=grid.excerpt(codes[unknown[0]]),
            )
        )
    return column, notes


def _count_of_rows(X: sp.csr_array[Any], chosen: NDArray[np.bool_]) -> Ints:
    """Return how many of the stored entries of each row are chosen."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(row[chosen], minlength=X.shape[0])


def _note_few_codes(n: int, n_none: int, n_few: int, min_codes: int | None) -> list[Message]:
    """Return notes on records without codes, and with too few to be fitted."""
    notes = []
    if n_none and n_none != n_few:
        notes.append(
            Message(
                "[records_without_codes] {n_records:,} of {n_all:~record} {n_records:?has/have} "
                "none of the codes",
                n_records=n_none,
                n_all=n,
            )
        )
    if n_few:
        notes.append(
            Message(
                "[too_few_codes] {n_records:,} of {n_all:~record} {n_records:?has/have} "
                "{min_codes:?none of the codes/fewer than {min_codes:,} codes}: excluded from "
                "fitting, assigned afterwards",
                n_records=n_few,
                n_all=n,
                min_codes=1 if min_codes is None else min_codes,
            )
        )
    return notes
