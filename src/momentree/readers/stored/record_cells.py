"""The first stage of coded records on disk: number the different cells, and read them back."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.core.pages import each_part
from momentree.core.progress import Pace
from momentree.exceptions import EmptyCorpusError, InvalidDataError
from momentree.messages import Message
from momentree.readers.records.layout import Layout, holds_one_code
from momentree.readers.stored.arrays import ArrayWriter, open_array, write_array
from momentree.readers.stored.cells import CellNumbers, CountedCells, DifferentCells, whole_records
from momentree.readers.stored.copies import parts_of_equal
from momentree.readers.stored.counts import MOST_COLUMNS, CountsWriter, StoredCounts, new_folder
from momentree.readers.stored.strings import StoredStrings, write_strings
from momentree.readers.stored.work import WorkFolder, write_stage
from momentree.readers.tables.table import Source, Table, excerpt
from momentree.readers.text.frequencies import BYTES_PER_WORD

log = logging.getLogger("momentree.readers")

CELLS = "1-cells"
"""The stage, by the name of its folder."""
SHARE_OF_CELLS = 0.15
"""Fraction of the memory for the different cells."""


@dataclass(frozen=True)
class CellStage:
    """The different cells of a table, and the numbers of the cells of each record."""

    work: WorkFolder
    source: Source
    layout: Layout

    def write(self, memory: int) -> None:
        """Give a number to each different cell, and write those of each record."""
        layout, key = self.layout, self.layout.key
        path = self.source.head.path
        numbers = CellNumbers(layout, int(memory * SHARE_OF_CELLS / BYTES_PER_WORD), path)
        names = [*layout.codes, *([] if key is None else [key])]
        pace = Pace(log, f"reading {path.name}", self.source.n_rows)
        n_rows = n_records = n_without_id = above = 0
        kinds: dict[str, str] = {}
        with (
            new_folder(self.work.path / CELLS) as place,
            closing(CountsWriter(place)) as writer,
            ArrayWriter(place / "checksums.npy", np.uint64) as sums,
        ):
            for table in whole_records(self.parts(names), key if self.by_row else None):
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
            write_strings(place / "texts", (text for _, text in numbers.cells))
            columns = np.array([column for column, _ in numbers.cells], dtype=np.int64)
            first = np.array(numbers.first, dtype=np.int64).reshape(-1, 2)
            for name, values in (
                ("columns", columns),
                ("counts", numbers.counts),
                ("first_column", first[:, 0]),
                ("first_row", first[:, 1]),
            ):
                write_array(place / f"{name}.npy", values)
            noted = {
                "n_rows": n_rows,
                "n_without_id": n_without_id,
                "n_padded": numbers.n_padded,
                "kinds": kinds,
            }
            write_stage(place, noted)

    @property
    def by_row(self) -> bool:
        """Whether rows with the same id may be one record."""
        layout = self.layout
        one = len(layout.codes) == 1 and layout.form in ("long", "lists")
        return layout.key is not None and (layout.joined or one)

    def parts(self, names: Sequence[str]) -> Iterator[Table]:
        """Yield columns of the table in parts."""
        assert self.source.parts is not None  # noqa: S101 - for the type checker; checked before
        return self.source.parts(list(dict.fromkeys(names)))

    def _records(self, n: int, ids: Any) -> tuple[Ints, Any]:
        """Return the record of each row, -1 for none, and the ids of records."""
        if ids is None or not self.by_row:
            return np.arange(n), ids
        kept = np.flatnonzero(ids != "") if self.layout.joined else np.arange(n)
        new = np.ones(len(kept), dtype=bool)
        # A row without an id is a record of its own.
        new[1:] = (ids[kept[1:]] != ids[kept[:-1]]) | (ids[kept[1:]] == "")
        record = np.full(n, -1, dtype=np.intp)
        record[kept] = np.cumsum(new) - 1
        return record, ids[kept[new]]

    def joined(
        self, stored: StoredCounts, noted: Mapping[str, Any]
    ) -> tuple[Layout, Any, list[Message]]:
        """Return the layout, known for all rows; a mask of records to keep, or None; and notes."""
        layout, n = self.layout, len(stored)
        if layout.key is None:
            return layout, None, [Message("no_ids")]
        column = excerpt(layout.key)
        sums = open_array(self.work.path / CELLS / "checksums.npy")
        n_again = n_empty = 0
        for found, _ in parts_of_equal(sums):
            named = found[found != 0]
            n_empty += len(found) - len(named)
            n_again += len(named) - len(np.unique(named))
        joined = self.by_row and n_again + int(noted["n_rows"]) - int(noted["n_without_id"]) > n
        if self.by_row and n_again:
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

    def different(self, place: Path, noted: Mapping[str, Any]) -> DifferentCells:
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
        origin = head.origin if head.n_rows >= int(noted["n_rows"]) else self.source.origin
        return DifferentCells(
            head.path, head.columns, int(noted["n_rows"]), origin, head.kinds, numeric,
            of=of, first=first,
        )  # fmt: skip


def _checksums(ids: Any) -> NDArray[np.uint64]:
    """Return a number for each id; 0 if it is empty."""
    found = pd.util.hash_array(np.asarray(ids, dtype=object), categorize=False) | np.uint64(1)
    return np.where(ids == "", np.uint64(0), found)
