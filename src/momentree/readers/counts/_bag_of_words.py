"""UCI bag-of-words: the numbers of documents, words and counts, then ``document word count``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.counts._raw import RawCounts, fault_in_line, quoted
from momentree.readers.counts._triples import (
    BOM,
    Header,
    blocks_of_lines,
    read_lines,
    read_sizes,
)
from momentree.readers.tables.files import open_bytes


def read_bag_of_words(path: Path) -> RawCounts:
    """Read a bag-of-words file."""
    with open_bytes(path) as file:
        header = _read_header(path, file)
        rows, columns, counts = read_lines(path, file, header)
    shape = header.n_documents, header.n_words
    return RawCounts(sp.coo_array((counts, (rows - 1, columns - 1)), shape=shape))


def bag_of_words_shape(path: Path) -> tuple[int, int]:
    """Return the numbers of documents and words that a file declares."""
    with open_bytes(path) as file:
        header = _read_header(path, file)
    return header.n_documents, header.n_words


def stream_bag_of_words(path: Path, at_once: int) -> Iterator[sp.csr_array[Any]]:
    """Yield the documents of a file, in ascending order, in blocks of so many lines or rows."""
    with open_bytes(path) as file:
        header = _read_header(path, file)
        first = 0
        held: list[NDArray[Any]] = [np.empty(0, dtype=np.int32) for _ in header.fields]
        for block in blocks_of_lines(path, file, header, at_once):
            held = [np.concatenate(parts) for parts in zip(held, block, strict=True)]
            rows = held[0]
            if (rows[1:] < rows[:-1]).any():
                raise ReadError("documents_not_in_order", path=str(path), parameter="memory")
            # The last document may go on in the next block.
            last = int(rows[-1]) - 1
            done = int(np.searchsorted(rows, last + 1))
            here = [part[:done] for part in held]
            yield from _rows(here, range(first, last, at_once), last, header.n_words)
            held, first = [part[done:] for part in held], last
        end = header.n_documents
        yield from _rows(held, range(first, end, at_once), end, header.n_words)


def _rows(
    lines: list[NDArray[Any]], starts: range, end: int, d: int
) -> Iterator[sp.csr_array[Any]]:
    """Yield rows up to `end` in blocks with these starts, from their lines in ascending order."""
    rows, columns, counts = lines
    for start in starts:
        stop = min(start + starts.step, end)
        ends = np.searchsorted(rows, np.arange(start + 1, stop + 2))
        here = slice(ends[0], ends[-1])
        yield sp.csr_array(
            (counts[here], columns[here] - 1, ends - ends[0]), shape=(stop - start, d)
        )


def _read_header(path: Path, file: IO[bytes]) -> Header:
    sizes: list[int] = []
    for number in (1, 2, 3):
        line = file.readline().removeprefix(BOM)
        found = read_sizes(line, 1)
        if found is None:
            problem = Message("bag_of_words_header", found=quoted(line))
            raise fault_in_line(path, number, problem)
        sizes += found
    n, d, n_lines = sizes
    return Header(n, d, n_lines, last_line=3)
