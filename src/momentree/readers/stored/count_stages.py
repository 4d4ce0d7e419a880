"""Read a file of counts larger than memory: the first stages of a corpus on disk, in one pass."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.core.limits import BYTES_PER_ROW, check_memory
from momentree.core.progress import Pace
from momentree.exceptions import EmptyCorpusError, InvalidParameterError, ReadError
from momentree.messages import Message
from momentree.readers.counts._bag_of_words import (
    bag_of_words_shape,
    read_bag_of_words,
    stream_bag_of_words,
)
from momentree.readers.counts._companions import Lines, find_companion, lines_of, read_vocabulary
from momentree.readers.counts._formats import find_reader
from momentree.readers.counts._stored import read_stored
from momentree.readers.counts._svmlight import counts_from_one, read_svmlight, stream_svmlight
from momentree.readers.counts.files import check_number_of_words, find_matrix, merged_words
from momentree.readers.counts.filter import candidate_words
from momentree.readers.stored.arrays import ArrayWriter, write_array
from momentree.readers.stored.copies import checksums
from momentree.readers.stored.counts import MOST_COLUMNS, CountsWriter, StoredCounts, new_folder
from momentree.readers.stored.strings import StringsWriter, write_strings
from momentree.readers.stored.work import WorkFolder, write_stage

log = logging.getLogger("momentree.readers")

LINES_AT_ONCE, BYTES_AT_ONCE = 1 << 18, 1 << 22
"""Lines of a bag of words, or of a file of labels, and bytes of SVMlight in a block."""
RowNames = dict[str, Sequence[str]]
"""The "labels" and "ids" of some documents, as far as a file of counts has them itself."""


@dataclass(frozen=True)
class CountStream:
    """A file of counts, whose documents are read in blocks; words are None if not named."""

    path: Path
    name: str
    words: Sequence[str] | None
    blocks: Iterator[tuple[sp.csr_array[Any], RowNames]]
    notes: list[Message]
    n_rows: int | None = None  # if known before reading


def stream_counts(path: Path, vocabulary: Lines | None, encoding: str) -> CountStream:
    """Open a file of counts to be read in blocks."""
    path = find_matrix(path)
    read = find_reader(path)
    notes: list[Message] = []
    source, words = read_vocabulary(path, vocabulary, notes, encoding) or ("", None)
    if read is read_svmlight:
        return CountStream(path, path.name, words, _svmlight_blocks(path, source, words), notes)
    name = path.name
    blocks: Iterator[tuple[sp.csr_array[Any], RowNames]]
    if read is read_bag_of_words:
        n, d = bag_of_words_shape(path)
        check_memory(path, n * BYTES_PER_ROW, "too_many_documents", n_rows=n)
        blocks = ((X, RowNames()) for X in stream_bag_of_words(path, LINES_AT_ONCE))
    elif read is read_stored:
        stored = StoredCounts.open(path.parent)
        name, (n, d) = path.parent.name, stored.shape
        if words is None and stored.feature_names is not None:
            words = list(map(str, stored.feature_names))
        blocks = _stored_blocks(stored)
    else:
        raise InvalidParameterError("counts_not_streamed", parameter="memory", path=str(path))
    if words is None:
        raise ReadError("no_vocabulary", path=str(path), n_columns=d)
    check_number_of_words(source, len(words), n, d)
    return CountStream(path, name, words, blocks, notes, n)


def _stored_blocks(stored: StoredCounts) -> Iterator[tuple[sp.csr_array[Any], RowNames]]:
    start = 0
    for X in stored.blocks():
        stop = start + X.shape[0]
        yield X, {"ids": stored.ids[start:stop]} if stored.content.get("has_ids") else {}
        start = stop


def _svmlight_blocks(
    path: Path, source: str, words: Sequence[str] | None
) -> Iterator[tuple[sp.csr_array[Any], RowNames]]:
    # As in scikit-learn: a file that never uses index 0 counts from 1.
    first = int(words is not None and counts_from_one(path))
    n = 0
    for X, labels in stream_svmlight(path, BYTES_AT_ONCE):
        n += len(labels)
        d = int(X.indices.max(initial=-1)) + 1 - first
        if words is not None and d > len(words):
            check_number_of_words(source, len(words), n, d)
        X.indices -= first
        yield X, {"labels": labels}


class _Frequencies:
    """Number of documents with each column that occurs, and number of occurrences."""

    def __init__(self) -> None:
        self.columns: Ints = np.empty(0, dtype=np.int64)
        self.sums: Floats = np.zeros((2, 0))

    def add(self, X: sp.csr_array[Any]) -> None:
        new, at = np.unique(X.indices, return_inverse=True)
        columns = np.union1d(self.columns, new)
        sums = np.zeros((2, len(columns)))
        sums[:, np.searchsorted(columns, self.columns)] = self.sums
        here = np.searchsorted(columns, new)
        sums[0, here] += np.bincount(at, minlength=len(new))
        sums[1, here] += np.bincount(at, weights=X.data, minlength=len(new))
        self.columns, self.sums = columns, sums


def write_count_stages(
    stream: CountStream,
    work: WorkFolder,
    stages: tuple[str, str],
    *,
    encoding: str,
    language: str | None,
    stop_words: Iterable[str] | PathLike[str],
    token_pattern: str | None,
) -> None:
    """Write the row names of a file, and its counts with the words that may be kept."""
    notes, words, into = stream.notes, stream.words, None
    if words is not None:
        into, words = merged_words(words, notes)
    found = _Frequencies()
    n = 0
    work.remove_stage(stages[1])  # of a run that was stopped between the two
    pace = Pace(log, f"reading {stream.name}", stream.n_rows)
    with (
        new_folder(work.path / stages[0]) as names_place,
        new_folder(work.path / stages[1]) as place,
        ExitStack() as stack,
    ):
        writer = CountsWriter(place)
        stack.callback(writer.close)
        sums = stack.enter_context(ArrayWriter(place / "checksums.npy", np.uint64))
        own: dict[str, StringsWriter] = {}
        for block, row_names in stream.blocks:
            columns = block.indices if into is None else into[block.indices]
            X = sp.csr_array(
                (block.data, columns.astype(np.int32), block.indptr),
                shape=(block.shape[0], MOST_COLUMNS),
            )
            X.sum_duplicates()
            X.eliminate_zeros()
            found.add(X)
            writer.append(X)
            sums.append(checksums(X))
            for what, values in row_names.items():
                if what not in own:
                    own[what] = stack.enter_context(StringsWriter(names_place / what))
                own[what].extend(values)
            n += X.shape[0]
            pace.reached(n, f"{n:,} documents")
        if not len(found.columns):
            d = 0 if words is None else len(words)
            raise EmptyCorpusError("empty_matrix", path=str(stream.path), n_rows=n, n_columns=d)
        writer.finish(None)
        sums.finish()
        listed = found.columns.tolist()
        named = np.array([str(j) if words is None else words[j] for j in listed], dtype=object)
        kept, on_words = candidate_words(named, found.sums[0], language, stop_words, token_pattern)
        write_strings(place / "words", named[kept].tolist())
        arrays = (found.columns, *found.sums)
        for name, array in zip(("numbers", "documents", "occurrences"), arrays, strict=True):
            write_array(place / f"{name}.npy", array[kept])
        write_stage(place, {"error": 0})
        noted: dict[str, Any] = {"name": stream.name, "is_cut": False, "of_counts": True}
        for what in ("labels", "ids"):
            given = f"given_{what}"
            if _write_given(stream, what, n, names_place / given, encoding):
                noted[what] = given
            elif what in own:
                noted[what] = what
            if what in own:
                own[what].finish()
        write_stage(names_place, {**noted, "notes": [*notes, *on_words]})


def _write_given(stream: CountStream, what: str, n: int, place: Path, encoding: str) -> bool:
    """Write the labels or ids in the file next to the counts; return whether there is one."""
    source = find_companion(stream.path, what)
    if source is None:
        return False
    lines = lines_of(source, stream.notes, encoding)
    with StringsWriter(place) as writer:
        n_lines = 0
        while some := list(islice(lines, min(LINES_AT_ONCE, n - n_lines))):
            writer.extend(some)
            n_lines += len(some)
        writer.finish()
    for at, line in enumerate(lines, start=n + 1):
        n_lines = at if line else n_lines
    if n_lines != n:
        found = {"path": str(source), "n_lines": n_lines, "n_rows": n}
        stream.notes.append(Message("companion_ignored", **found))
    return n_lines == n
