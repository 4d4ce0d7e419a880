"""Read files of counts with the numbers of a document and a word, and a count, in each line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import ReadError
from momentree.messages import Message, wording
from momentree.readers.tables.files import open_bytes

Block = tuple[sp.csr_array[Any], dict[str, Sequence[str]]]
"""The counts of some documents, and their "labels" and "ids" as far as the file has them itself."""


@dataclass(frozen=True)
class CountFile:
    """A file of counts, whose documents are read in one block or several.

    The numbers of documents and columns are None if only the blocks show them: columns are then
    numbers of words in a vocabulary.
    """

    blocks: Iterator[Block]
    n_rows: int | None = None
    n_columns: int | None = None
    words: Sequence[str] | None = None


def fault_in_line(path: Path, line: int, problem: Message) -> ReadError:
    """Return the error for a faulty line."""
    return ReadError(
        "[counts_line] {path}, line {line}: {problem}", path=str(path), line=line, problem=problem
    )


def fault_in_file(
    path: Path,
    find_fault: Callable[[bytes], Message | None],
    error: Exception | None = None,
    *,
    n_header: int = 0,
) -> ReadError:
    """Return the error for the first faulty line, or else the error of the fast parser."""
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if number > n_header and (problem := find_fault(line)) is not None:
                return fault_in_line(path, number, problem)
    return ReadError(wording.UNREADABLE_PATH, path=str(path), error=" ".join(str(error).split()))


def quoted(line: bytes) -> str:
    """Return a line for a message, truncated if it is long."""
    text = line.strip().decode("utf-8", "backslashreplace")
    return text if len(text) <= 60 else f"{text[:57]}..."


BANNER = b"%%MatrixMarket"
LINES_AT_ONCE = 1 << 18
"""Lines that are read at a time, and documents of a block."""
_MARK = b"\xef\xbb\xbf"
_MAX_COUNT = np.iinfo(np.int64).max
_KINDS: dict[bytes, tuple[type, ...]] = {
    b"integer": (int, int, int),
    b"unsigned-integer": (int, int, int),
    b"real": (int, int, float),
    b"double": (int, int, float),
    b"pattern": (int, int),
}
"""Types of the numbers in a line of a Matrix Market file: without a third one, the count is 1."""


@dataclass(frozen=True)
class _Header:
    """Content of the header of a file."""

    n_documents: int
    n_words: int
    n_lines: int
    last_line: int  # number of the last line of the header
    kinds: tuple[type, ...] = _KINDS[b"integer"]

    @property
    def limits(self) -> list[tuple[int, int]]:
        """Smallest and largest value of each number in a line."""
        ends = (1, self.n_documents), (1, self.n_words), (0, _MAX_COUNT)
        return list(ends[: len(self.kinds)])

    def find_fault(self, line: bytes) -> Message | None:
        """Return what is wrong with a line; None if it is valid."""
        parts = line.split()
        try:
            values = [kind(part) for kind, part in zip(self.kinds, parts, strict=True)]
            ends = zip(values, self.limits, strict=True)
            sound = all(low <= value <= high for value, (low, high) in ends)
        except ValueError:
            sound = not parts
        if sound:
            return None
        return Message(
            "[counts_expected] expected the number of a document (1 to {n_rows:,}), the number of "
            "a word (1 to {n_columns:,}) and a count of at least 0, got {found!r}",
            n_rows=self.n_documents,
            n_columns=self.n_words,
            found=quoted(line),
        )

    def check(self, table: NDArray[Any]) -> None:
        """Raise ``ValueError`` if one of these lines is invalid."""
        low, high = zip(*self.limits, strict=True)
        if table.shape[1] != len(low) or not ((table >= low) & (table <= high)).all():
            raise ValueError(table.shape)  # find_fault describes the line


def open_bag_of_words(path: Path, *, in_parts: bool) -> CountFile:
    """Open a bag-of-words file of UCI."""
    return _open(path, _read_three_sizes, in_parts=in_parts)


def open_matrix_market(path: Path, *, in_parts: bool) -> CountFile:
    """Open a Matrix Market file; documents are its rows."""
    return _open(path, _read_banner, in_parts=in_parts)


def _open(
    path: Path, read_header: Callable[[Path, IO[bytes]], _Header], *, in_parts: bool
) -> CountFile:
    with open_bytes(path) as file:
        header = read_header(path, file)

    def blocks() -> Iterator[Block]:
        with open_bytes(path) as file:
            parts = _blocks_of_lines(path, file, read_header(path, file))
            rows = _rows_in_order(path, parts, header) if in_parts else _all_rows(parts, header)
            yield from ((X, {}) for X in rows)

    return CountFile(blocks(), header.n_documents, header.n_words)


def _read_three_sizes(path: Path, file: IO[bytes]) -> _Header:
    sizes: list[int] = []
    for number in (1, 2, 3):
        line = file.readline().removeprefix(_MARK)
        size = _read_sizes(line, 1)
        if size is None:
            problem = Message(
                "[bag_of_words_header] expected a whole number, got {found!r}; a bag-of-words file "
                "starts with the numbers of documents, words and counts, one per line",
                found=quoted(line),
            )
            raise fault_in_line(path, number, problem)
        sizes += size
    n, d, n_lines = sizes
    return _Header(n, d, n_lines, 3)


def _read_banner(path: Path, file: IO[bytes]) -> _Header:
    line = file.readline().removeprefix(_MARK)
    words = line.lower().split()
    kinds = _KINDS.get(words[3]) if len(words) == 5 else None
    if kinds is None or words != [BANNER.lower(), b"matrix", b"coordinate", words[3], b"general"]:
        problem = Message(
            "[matrix_market_banner] expected '%%MatrixMarket matrix coordinate integer general', "
            "or real or pattern in place of integer, got {found!r}; write the counts with "
            "scipy.io.mmwrite(path, scipy.sparse.coo_array(X), symmetry='general')",
            found=quoted(line),
        )
        raise fault_in_line(path, 1, problem)
    number = 1
    while line := file.readline():
        number += 1
        if line.strip() and not line.startswith(b"%"):
            break
    sizes = _read_sizes(line, 3)
    if sizes is None:
        problem = Message(
            "[matrix_market_sizes] expected the numbers of rows, columns and entries, got "
            "{found!r}",
            found=quoted(line),
        )
        raise fault_in_line(path, number, problem)
    n, d, n_lines = sizes
    return _Header(n, d, n_lines, number, kinds)


def _read_sizes(line: bytes, n: int) -> list[int] | None:
    """Return the `n` sizes in a line; None if it is invalid. 19 digits may exceed 64 bits."""
    parts = line.split()
    sound = len(parts) == n and all(part.isdigit() and len(part) <= 18 for part in parts)
    return [int(part) for part in parts] if sound else None


def _blocks_of_lines(path: Path, file: IO[bytes], header: _Header) -> Iterator[_Lines]:
    """Yield the numbers in some of the lines after the header: documents, words and counts."""
    n_read = 0
    frames = _frames(file, header.kinds)
    while True:
        try:
            # Infinity among integers is rejected below, so its conversion need not warn.
            with np.errstate(invalid="ignore"):
                frame = next(frames, None)
                if frame is None:
                    break
                header.check(frame.to_numpy())
        except (ValueError, OverflowError) as error:
            fault = fault_in_file(path, header.find_fault, error, n_header=header.last_line)
            raise fault from error
        n_read += len(frame)
        numbers = [_narrow(frame[name].to_numpy()) for name in frame]
        counts = numbers[2] if len(numbers) > 2 else np.ones(len(frame), dtype=np.int32)
        yield numbers[0], numbers[1], counts
    if n_read != header.n_lines:
        problem = Message(
            "[counts_missing] the header declares {needed:~count}, but the file contains "
            "{n_entries:,}; it is truncated, or its header is wrong",
            n_entries=n_read,
            needed=header.n_lines,
        )
        raise fault_in_line(path, header.last_line, problem)


def _frames(file: IO[bytes], kinds: Sequence[type]) -> Iterator[pd.DataFrame]:
    types: Any = {i: np.float64 if kind is float else np.int64 for i, kind in enumerate(kinds)}
    with suppress(pd.errors.EmptyDataError):  # the number of lines is checked later
        yield from pd.read_csv(
            file,
            sep=r"\s+",
            header=None,
            dtype=types,
            quoting=csv.QUOTE_NONE,
            chunksize=LINES_AT_ONCE,
        )


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    # This halves the memory; these files may have a hundred million lines.
    if values.dtype.kind == "f" or values.max(initial=0) > np.iinfo(np.int32).max:
        return values
    return values.astype(np.int32)


_Lines = tuple[NDArray[Any], ...]
"""The documents, words and counts in some lines."""
_NOTHING: _Lines = (np.empty(0, dtype=np.int32),) * 3


def _all_rows(parts: Iterator[_Lines], header: _Header) -> Iterator[sp.csr_array[Any]]:
    """Yield all documents together."""
    rows, columns, counts = map(np.concatenate, zip(*(list(parts) or [_NOTHING]), strict=True))
    shape = header.n_documents, header.n_words
    yield sp.csr_array(sp.coo_array((counts, (rows - 1, columns - 1)), shape=shape))


def _rows_in_order(
    path: Path, parts: Iterator[_Lines], header: _Header
) -> Iterator[sp.csr_array[Any]]:
    """Yield documents, whose lines are in ascending order, in blocks."""
    first, held = 0, _NOTHING
    for part in parts:
        held = tuple(map(np.concatenate, zip(held, part, strict=True)))
        rows = held[0]
        if (rows[1:] < rows[:-1]).any():
            raise ReadError(
                "[documents_not_in_order] the documents of {path} are not in ascending order, "
                "which {parameters.memory} requires; sort the lines after the header by their "
                "first number (sort -n), or leave out {parameters.memory}",
                path=str(path),
            )
        # The last document may go on in the next block.
        last = int(rows[-1]) - 1
        n_done = int(np.searchsorted(rows, last + 1))
        done = tuple(numbers[:n_done] for numbers in held)
        yield from _rows(done, range(first, last, LINES_AT_ONCE), last, header.n_words)
        held, first = tuple(numbers[n_done:] for numbers in held), last
    n = header.n_documents
    yield from _rows(held, range(first, n, LINES_AT_ONCE), n, header.n_words)


def _rows(lines: _Lines, starts: range, end: int, d: int) -> Iterator[sp.csr_array[Any]]:
    """Yield rows up to `end` in blocks with these starts, from their lines in ascending order."""
    rows, columns, counts = lines
    for start in starts:
        stop = min(start + starts.step, end)
        ends = np.searchsorted(rows, np.arange(start + 1, stop + 2))
        some = slice(ends[0], ends[-1])
        yield sp.csr_array(
            (counts[some], columns[some] - 1, ends - ends[0]), shape=(stop - start, d)
        )
