"""Read a file of counts larger than memory: the first stages of a corpus on disk, in one pass."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.core.limits import BYTES_PER_ROW, check_memory
from momentree.core.progress import Pace
from momentree.exceptions import EmptyCorpusError, InvalidParameterError, ReadError
from momentree.messages import Message, wording
from momentree.readers.copies import checksums
from momentree.readers.counts import files, formats, lines
from momentree.readers.stored import arrays, corpus, counts
from momentree.readers.stored.work import WorkFolder

log = logging.getLogger("momentree.readers")

LINES_AT_ONCE, BYTES_AT_ONCE = 1 << 18, 1 << 22
"""Lines of a bag of words, or of a file of labels, and bytes of SVMlight in a block."""
Block = tuple[sp.csr_array[Any], dict[str, Sequence[str]]]
"""The counts of some documents, and their "labels" and "ids" as far as the file has them itself."""


@dataclass(frozen=True)
class CountStream:
    """A file of counts, whose documents are read in blocks; words are None if not named."""

    path: Path
    name: str
    words: Sequence[str] | None
    blocks: Iterator[Block]
    notes: list[Message]
    n_rows: int | None = None  # if known before reading


def stream_counts(path: Path, vocabulary: files.Lines | None, encoding: str) -> CountStream:
    """Open a file of counts to be read in blocks."""
    path = files.find_matrix(path)
    read = formats.find_reader(path)
    notes: list[Message] = []
    source, words = files.read_vocabulary(path, vocabulary, notes, encoding) or ("", None)
    if read is formats.read_svmlight:
        return CountStream(path, path.name, words, _svmlight_blocks(path, source, words), notes)
    name = path.name
    blocks: Iterator[Block]
    if read is lines.read_bag_of_words:
        n, d = lines.bag_of_words_shape(path)
        check_memory(path, n * BYTES_PER_ROW, wording.TOO_MANY_DOCUMENTS, n_rows=n)
        blocks = ((X, {}) for X in lines.stream_bag_of_words(path, LINES_AT_ONCE))
    elif read is formats.read_stored:
        stored = counts.StoredCounts.open(path.parent)
        name, (n, d) = path.parent.name, stored.shape
        if words is None and stored.feature_names is not None:
            words = list(map(str, stored.feature_names))
        blocks = _stored_blocks(stored)
    else:
        raise InvalidParameterError(
            "[counts_not_streamed] {path} can only be read as a whole; leave out "
            "{parameters.memory}, or give the counts as UCI bag-of-words, as SVMlight, or in a "
            "folder written by store_counts",
            path=str(path),
        )
    if words is None:
        raise ReadError(wording.NO_VOCABULARY, path=str(path), n_columns=d)
    files.check_number_of_words(source, len(words), n, d)
    return CountStream(path, name, words, blocks, notes, n)


def _stored_blocks(stored: counts.StoredCounts) -> Iterator[Block]:
    start = 0
    for X in stored.blocks():
        stop = start + X.shape[0]
        yield X, {"ids": stored.ids[start:stop]} if stored.has_ids else {}
        start = stop


def _svmlight_blocks(path: Path, source: str, words: Sequence[str] | None) -> Iterator[Block]:
    # As in scikit-learn: a file that never uses index 0 counts from 1.
    first = int(words is not None and formats.counts_from_one(path))
    n = 0
    for X, labels in formats.stream_svmlight(path, BYTES_AT_ONCE):
        n += len(labels)
        d = int(X.indices.max(initial=-1)) + 1 - first
        if words is not None and d > len(words):
            files.check_number_of_words(source, len(words), n, d)
        X.indices -= first
        yield X, {"labels": labels}


class _Frequencies:
    """Number of documents with each column that occurs, and number of occurrences."""

    def __init__(self) -> None:
        self.columns: Ints = np.empty(0, dtype=np.int64)
        self.sums: Floats = np.zeros((2, 0))

    def add(self, X: sp.csr_array[Any]) -> None:
        new, column = np.unique(X.indices, return_inverse=True)
        columns = np.union1d(self.columns, new)
        sums = np.zeros((2, len(columns)))
        sums[:, np.searchsorted(columns, self.columns)] = self.sums
        places = np.searchsorted(columns, new)
        sums[0, places] += np.bincount(column, minlength=len(new))
        sums[1, places] += np.bincount(column, weights=X.data, minlength=len(new))
        self.columns, self.sums = columns, sums


def write_count_stages(stream: CountStream, work: WorkFolder, encoding: str, **which: Any) -> None:
    """Write the row names of a file, and its counts with the words that may be kept.

    These are the first two stages of a corpus; `which` are options of `candidate_words`.
    """
    notes, words, into = stream.notes, stream.words, None
    if words is not None:
        into, words = files.merge_words(words, notes)
    frequencies = _Frequencies()
    n = 0
    pace = Pace(log, f"reading {stream.name}", stream.n_rows)
    with (
        work.stage(corpus.TEXTS) as (rows_folder, noted_rows),
        work.stage(corpus.WORDS) as (folder, noted),
        counts.CountsWriter(folder) as writer,
        arrays.ArrayWriter(folder / "checksums.npy", np.uint64) as sums,
        ExitStack() as stack,
    ):
        row_files: dict[str, arrays.StringsWriter] = {}
        for block, row_names in stream.blocks:
            columns = block.indices if into is None else into[block.indices]
            X = sp.csr_array(
                (block.data, columns.astype(np.int32), block.indptr),
                shape=(block.shape[0], counts.MAX_COLUMNS),
            )
            X.sum_duplicates()
            X.eliminate_zeros()
            frequencies.add(X)
            writer.append(X)
            sums.append(checksums(X))
            for what, values in row_names.items():
                if what not in row_files:
                    row_files[what] = stack.enter_context(arrays.StringsWriter(rows_folder / what))
                row_files[what].extend(values)
            n += X.shape[0]
            pace.reached(n, f"{n:,} documents")
        if not len(frequencies.columns):
            d = 0 if words is None else len(words)
            raise EmptyCorpusError(
                wording.EMPTY_MATRIX, path=str(stream.path), n_rows=n, n_columns=d
            )
        writer.finish()
        sums.finish()
        notes += _write_words(folder, frequencies, words, **which)
        noted["error"] = 0
        rows = {}
        for what in ("labels", "ids"):
            if what in row_files:
                row_files[what].finish()
                rows[what] = what
            if _write_given(stream, what, n, rows_folder / f"given_{what}", encoding):
                rows[what] = f"given_{what}"
        noted_rows |= {"name": stream.name, "notes": notes, "rows": rows, "is_cut": False}


def _write_words(
    folder: Path, frequencies: _Frequencies, words: Sequence[str] | None, **which: Any
) -> Sequence[Message]:
    """Write the words that may be kept, with their frequencies; return notes on the choice."""
    listed = frequencies.columns.tolist()
    named = np.array([str(j) if words is None else words[j] for j in listed], dtype=object)
    kept, notes = files.candidate_words(named, frequencies.sums[0], **which)
    arrays.write_strings(folder / "words", named[kept].tolist())
    values = (frequencies.columns, *frequencies.sums)
    for name, array in zip(("numbers", "documents", "occurrences"), values, strict=True):
        arrays.write_array(folder / f"{name}.npy", array[kept])
    return notes


def _write_given(stream: CountStream, what: str, n: int, path: Path, encoding: str) -> bool:
    """Write the labels or ids in the file next to the counts; return whether there is one."""
    source = files.find_companion(stream.path, what)
    if source is None:
        return False
    named = files.lines_of(source, stream.notes, encoding)
    n_lines = 0
    with arrays.StringsWriter(path) as writer:
        while some := list(islice(named, min(LINES_AT_ONCE, n - n_lines))):
            writer.extend(some)
            n_lines += len(some)
        writer.finish()
    for number, line in enumerate(named, start=n + 1):
        n_lines = number if line else n_lines
    if n_lines != n:
        facts = {"path": str(source), "n_lines": n_lines, "n_rows": n}
        stream.notes.append(Message(wording.COMPANION_IGNORED, **facts))
    return n_lines == n
