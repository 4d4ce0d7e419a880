"""Read files of counts with one number of a document, a word and a count per line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError, ReadError
from momentree.messages import Message, wording
from momentree.readers.tables.files import open_bytes


@dataclass(frozen=True)
class RawCounts:
    """Content of a file of counts, with words, labels and ids if the file has them.

    If it is `numbered`, its words are numbers of words in a vocabulary.
    """

    X: Any
    words: list[str] | None = None
    labels: list[str] | None = None
    ids: list[str] | None = None
    numbered: bool = False


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


BOM = b"\xef\xbb\xbf"
LINES_AT_ONCE = 1 << 22
LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Header:
    """Content of the header of a file."""

    n_documents: int
    n_words: int
    n_lines: int
    last_line: int  # number of the last line of the header
    fields: tuple[str, ...] = ("document", "word", "count")
    real: bool = False

    def find_fault(self, line: bytes) -> Message | None:
        """Return what is wrong with a line; None if it is valid."""
        parts = line.split()
        if not parts:
            return None
        malformed = Message(
            "[counts_expected] expected {fields:list} as numbers, got {found!r}",
            fields=list(self.fields),
            found=quoted(line),
        )
        if len(parts) != len(self.fields):
            return malformed
        for what, part in zip(self.fields, parts, strict=True):
            try:
                value = float(part) if self.real and what == "count" else int(part)
            except ValueError:
                return malformed
            highest = {"document": self.n_documents, "word": self.n_words}.get(what)
            if highest is None:
                if not 0 <= value <= LARGEST:
                    return Message(wording.COUNT_OUT_OF_RANGE, value=value)
            elif not 1 <= value <= highest:
                return Message(
                    "[index_out_of_range] {index} {value} is outside the range of the header, 1 to "
                    "{highest}",
                    index=what,
                    value=value,
                    highest=highest,
                )
        return None

    def check(self, table: NDArray[Any]) -> None:
        """Raise ``ValueError`` if one of these lines is invalid."""
        low = [0 if what == "count" else 1 for what in self.fields]
        ends = {"document": self.n_documents, "word": self.n_words, "count": LARGEST}
        high = [ends[what] for what in self.fields]
        if table.shape[1] != len(low) or not ((table >= low) & (table <= high)).all():
            raise ValueError(table.shape)  # find_fault describes the line


def read_sizes(line: bytes, n: int) -> list[int] | None:
    """Return the `n` sizes in a line; None if it is invalid. 19 digits may exceed 64 bits."""
    parts = line.split()
    sound = len(parts) == n and all(part.isdigit() and len(part) <= 18 for part in parts)
    return [int(part) for part in parts] if sound else None


def read_lines(path: Path, file: IO[bytes], header: Header) -> list[NDArray[Any]]:
    """Read the fields of the lines after the header, as one array per field."""
    chunks = list(blocks_of_lines(path, file, header, LINES_AT_ONCE))
    if not chunks:
        return [np.empty(0, dtype=np.int32) for _ in header.fields]
    return [np.concatenate(parts) for parts in zip(*chunks, strict=True)]


def blocks_of_lines(
    path: Path, file: IO[bytes], header: Header, at_once: int
) -> Iterator[list[NDArray[Any]]]:
    """Yield the fields of some of the lines after the header, as one array per field."""
    found = 0
    frames = _frames(file, header, at_once)
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
        found += len(frame)
        yield [_narrow(frame[name].to_numpy()) for name in frame]
    if found != header.n_lines:
        problem = Message(
            "[counts_missing] the header declares {needed:~count}, but the file contains "
            "{n_entries:,}; it is truncated, or its header is wrong",
            n_entries=found,
            needed=header.n_lines,
        )
        raise fault_in_line(path, header.last_line, problem)


def _frames(file: IO[bytes], header: Header, at_once: int) -> Iterator[pd.DataFrame]:
    last = len(header.fields) - 1
    types: Any = dict.fromkeys(range(last), np.int64)
    types[last] = np.float64 if header.real else np.int64
    with suppress(pd.errors.EmptyDataError):  # the number of lines is checked later
        yield from pd.read_csv(
            file, sep=r"\s+", header=None, dtype=types, quoting=csv.QUOTE_NONE, chunksize=at_once
        )


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    # This halves the memory; these files may have a hundred million lines.
    if values.dtype.kind == "f" or values.max(initial=0) > np.iinfo(np.int32).max:
        return values
    return values.astype(np.int32)


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
                raise ReadError(
                    "[documents_not_in_order] the documents of {path} are not in ascending order, "
                    "which {parameters.memory} requires; sort the lines after the third by their "
                    "first number (sort -n), or leave out {parameters.memory}",
                    path=str(path),
                )
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
            problem = Message(
                "[bag_of_words_header] expected a whole number, got {found!r}; a bag-of-words file "
                "starts with the numbers of documents, words and counts, one per line",
                found=quoted(line),
            )
            raise fault_in_line(path, number, problem)
        sizes += found
    n, d, n_lines = sizes
    return Header(n, d, n_lines, last_line=3)


BANNER = b"%%MatrixMarket"
_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")


def read_matrix_market(path: Path) -> RawCounts:
    """Read a Matrix Market file; documents are its rows."""
    with open_bytes(path) as file:
        line = file.readline().removeprefix(BOM)
        layout, field, symmetry = _read_banner(path, line)
        number = 1
        while True:
            line, number = file.readline(), number + 1
            if not line or (line.strip() and not line.startswith(b"%")):
                break
        dense, symmetric = layout == "array", symmetry == "symmetric"
        sizes = read_sizes(line, 2 if dense else 3)
        if sizes is None:
            code = (
                "[array_sizes] expected the numbers of rows and columns, got {found!r}"
                if dense
                else (
                    "[coordinate_sizes] expected the numbers of rows, columns and entries, got "
                    "{found!r}"
                )
            )
            raise fault_in_line(path, number, Message(code, found=quoted(line)))
        n, d = sizes[:2]
        if symmetric and n != d:
            problem = Message(
                "[symmetric_not_square] a matrix with {n_rows:~row} and {n_columns:~column} cannot "
                "be symmetric",
                n_rows=n,
                n_columns=d,
            )
            raise fault_in_line(path, number, problem)
        n_lines = (n * (n + 1) // 2 if symmetric else n * d) if dense else sizes[2]
        place = () if dense else ("document", "word")
        value = () if field == "pattern" else ("count",)
        real = field in ("real", "double")
        columns = read_lines(path, file, Header(n, d, n_lines, number, (*place, *value), real))
    if dense:
        # Values are in column order; in a symmetric matrix, columns start at the diagonal.
        j, i = np.triu_indices(n) if symmetric else np.divmod(np.arange(n * d), n)
    else:
        i, j = columns[0] - 1, columns[1] - 1
    counts = columns[-1] if value else np.ones(len(i), dtype=np.int32)
    if symmetric:
        off = i != j
        i, j = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
        counts = np.concatenate([counts, counts[off]])
    return RawCounts(sp.coo_array((counts, (i, j)), shape=(n, d)))


def _read_banner(path: Path, line: bytes) -> list[str]:
    """Return layout, field and symmetry from the first line."""
    words = line.decode("ascii", "replace").lower().split()
    if len(words) != 5 or words[0] != BANNER.decode().lower() or words[1] != "matrix":
        raise fault_in_line(
            path,
            1,
            Message(
                "[matrix_market_banner] expected '%%MatrixMarket matrix' with layout, field and "
                "symmetry, got {found!r}",
                found=quoted(line),
            ),
        )
    layout, field, symmetry = words[2:]
    if field == "complex":
        raise InvalidDataError(
            "[complex_counts] {path} contains complex values; counts must be integers or real "
            "numbers",
            path=str(path),
        )
    if (
        layout not in ("coordinate", "array")
        or field not in _FIELDS
        or symmetry not in ("general", "symmetric")
        or (layout, field) == ("array", "pattern")
    ):
        raise fault_in_line(
            path,
            1,
            Message(
                "[matrix_market_form] cannot read counts from {found!r}; expected coordinate or "
                "array, integer, real or pattern, general or symmetric",
                found=quoted(line),
            ),
        )
    return words[2:]
