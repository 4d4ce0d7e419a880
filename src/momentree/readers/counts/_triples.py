"""Read lines of document, word and count, as in bag-of-words and Matrix Market files."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree.messages import Message
from momentree.readers.counts._raw import fault_in_file, fault_in_line, quoted

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
        malformed = Message("counts_expected", fields=list(self.fields), found=quoted(line))
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
                    return Message("count_out_of_range", value=value)
            elif not 1 <= value <= highest:
                return Message("index_out_of_range", index=what, value=value, highest=highest)
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
        problem = Message("counts_missing", n_entries=found, needed=header.n_lines)
        raise fault_in_line(path, header.last_line, problem)


def _frames(file: IO[bytes], header: Header, at_once: int) -> Iterator[pd.DataFrame]:
    last = len(header.fields) - 1
    types: Any = dict.fromkeys(range(last), np.int64)
    types[last] = np.float64 if header.real else np.int64
    with suppress(pd.errors.EmptyDataError):  # the number of lines is checked later
        yield from pd.read_csv(
            file,
            sep=r"\s+",
            header=None,
            dtype=types,
            quoting=csv.QUOTE_NONE,
            chunksize=at_once,
        )


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    # This halves the memory; these files may have a hundred million lines.
    if values.dtype.kind == "f" or values.max(initial=0) > np.iinfo(np.int32).max:
        return values
    return values.astype(np.int32)
