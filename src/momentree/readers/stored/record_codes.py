"""The second stage of coded records on disk: interpret the different cells, choose the codes."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.core.choices import Empty
from momentree.core.progress import Pace
from momentree.messages import Message
from momentree.readers.records.cells import Entries, read_binary_cells, read_code_cells
from momentree.readers.records.choice import CodeCounts, choose_columns, possible_outcomes
from momentree.readers.records.layout import Layout
from momentree.readers.records.matrix import count_codes, has_enough, note_few_codes
from momentree.readers.records.names import names_of, with_rollup
from momentree.readers.records.objects import RecordCoder
from momentree.readers.stored.arrays import open_array, write_array
from momentree.readers.stored.cells import Coding, DifferentCells, matrix_at
from momentree.readers.stored.counts import CountsWriter, StoredCounts, new_folder
from momentree.readers.stored.record_cells import CELLS, CellStage
from momentree.readers.stored.work import write_stage

log = logging.getLogger("momentree.readers")

RECORDS = "2-records"
"""The stage, by the name of its folder."""


@dataclass(frozen=True)
class CodeStage:
    """Interprets the different cells, by the rules for a table in memory, and writes the codes."""

    cells: CellStage
    opening: Mapping[str, Any]
    named: list[str]
    id_column: str | None
    union_by: str | None
    empty: Empty

    def write(self, *, min_codes: int | None, rollup: Any, names: Any, **limits: Any) -> None:
        """Interpret the cells, choose the codes, and write those of each record."""
        source, work = self.cells.source, self.cells.work
        place, noted = work.path / CELLS, work.read(CELLS)
        stored = StoredCounts.open(place)
        layout, kept_records, notes = self.cells.joined(stored, noted)
        table = self.cells.different(place, noted)
        entries, coding = self._entries(table, layout)
        if layout.form == "wide" and entries.codes:
            layout = replace(layout, codes=entries.codes)
            notes = [*possible_outcomes(entries, set(self.named)), *notes]
        notes = [*source.head.notes, layout.described(), *layout.notes, *notes, *entries.notes]
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
        with (
            new_folder(work.path / RECORDS) as folder,
            closing(CountsWriter(folder, len(keep))) as writer,
        ):
            for block, ids in blocks():
                found = groups[0].records(block)[0]
                X = sp.csr_array(found[:, keep])
                n_codes = count_codes(X)
                n_none += int((n_codes == 0).sum())
                dropped |= bool((count_codes(found)[n_codes == 0] > 0).any())
                enough.append(has_enough(X, n_codes, min_codes, wide=layout.form == "wide"))
                writer.append(X, ids)
            writer.finish(coder.codes)
            fitted = np.concatenate(enough)
            write_array(folder / "enough.npy", fitted)
            n_few = int((~fitted).sum())
            if n_few:
                _write_some(StoredCounts.open(folder), fitted, folder / "fitted")
            notes += note_few_codes(len(fitted), n_none, n_few, min_codes, dropped=dropped)
            write_stage(folder, {"notes": notes, "form": layout.form, "coder": coder.to_dict()})

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
        place = self.cells.work.path / CELLS
        columns = np.asarray(open_array(place / "columns.npy"))
        cells_of = {name: np.flatnonzero(columns == j) for j, name in enumerate(layout.codes)}

        def matrix(row: Ints, code: Ints) -> sp.csr_array[Any]:
            pairs = zip(row.tolist(), code.tolist(), strict=True)
            cell = [cells_of[entries.codes[j]][i] for i, j in pairs]
            return matrix_at(np.array(cell, dtype=np.intp), code, (n, len(entries.codes)))

        gaps = matrix(entries.missing_row, entries.missing_code)
        n_missing = int((open_array(place / "counts.npy") @ gaps).sum())
        notes = [
            Message("missing_cells", n_missing=n_missing) if one.code == "missing_cells" else one
            for one in entries.notes
        ]
        coding = Coding(matrix(entries.row, entries.code), gaps if gaps.nnz else None)
        return replace(entries, notes=notes), coding


def _write_some(counts: StoredCounts, chosen: NDArray[np.bool_], folder: Path) -> None:
    """Write some rows of counts to another folder."""
    folder.mkdir()
    start = 0
    with closing(CountsWriter(folder, counts.shape[1])) as writer:
        for block in counts.blocks():
            stop = start + block.shape[0]
            writer.append(block[np.flatnonzero(chosen[start:stop])])
            start = stop
        writer.finish(None)
