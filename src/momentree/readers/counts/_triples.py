"""Counts that lie in text as lines of row, column and count: bag-of-words and Matrix Market.

SciPy reads Matrix Market too, but its compiled parser ends the whole process on some damaged
files, so both forms share one parser here.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError, ReadError
from momentree.readers.counts._raw import RawCounts, first_fault, shown
from momentree.readers.tables.files import open_bytes

__all__ = ["BANNER", "read_bag_of_words", "read_matrix_market"]

BANNER = b"%%MatrixMarket"
BOM = b"\xef\xbb\xbf"
LINES_AT_ONCE = 1 << 22
LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class _Head:
    """The first lines of a file: what the others hold."""

    n: int  # documents
    d: int  # words
    n_lines: int
    at: int  # number of the last of the first lines
    form: tuple[str, ...] = ("document", "word", "count")
    real: bool = False

    def fault(self, number: int, line: bytes) -> str | None:
        """Say what is wrong with a line; None when nothing is."""
        parts = line.split()
        if number <= self.at or not parts:
            return None
        form = f"expected '{' '.join(self.form)}' as numbers, got {shown(line)}"
        if len(parts) != len(self.form):
            return form
        for what, part in zip(self.form, parts, strict=True):
            try:
                value = float(part) if self.real and what == "count" else int(part)
            except ValueError:
                return form
            highest = {"document": self.n, "word": self.d}.get(what)
            if highest is None:
                if not 0 <= value <= LARGEST:
                    return f"the count {value} is negative, not finite or too large"
            elif not 1 <= value <= highest:
                return f"{what} {value} is not from 1 to {highest}, as the first lines say"
        return None

    def check(self, table: NDArray[Any]) -> None:
        """Raise ``ValueError`` when one of the lines is at fault."""
        highest = {"document": self.n, "word": self.d, "count": LARGEST}
        if table.shape[1] == len(self.form):
            low = [0 if what == "count" else 1 for what in self.form]
            if ((table >= low) & (table <= [highest[what] for what in self.form])).all():
                return
        msg = "a line does not hold the numbers it should"
        raise ValueError(msg)


def read_bag_of_words(path: Path) -> RawCounts:
    """Read UCI bag-of-words: numbers of documents, words and lines, then document word count."""
    with open_bytes(path) as file:
        sizes = []
        for number, what in enumerate(("documents", "words", "lines of counts"), start=1):
            line = file.readline().removeprefix(BOM)
            found = _sizes(line, 1)
            if found is None:
                msg = (
                    f"{path}, line {number}: expected the number of {what}, got {shown(line)}; a "
                    f"bag-of-words file starts with three lines of one number each"
                )
                raise ReadError(msg)
            sizes += found
        head = _Head(sizes[0], sizes[1], sizes[2], at=3)
        rows, columns, counts = _read_lines(path, file, head)
    return RawCounts(sp.coo_array((counts, (rows - 1, columns - 1)), shape=(head.n, head.d)))


def read_matrix_market(path: Path) -> RawCounts:
    """Read a Matrix Market file; documents are its rows."""
    with open_bytes(path) as file:
        line = file.readline().removeprefix(BOM)
        layout, field, symmetry = _banner(path, line)
        number = 1
        while True:
            line, number = file.readline(), number + 1
            if not line or (line.strip() and not line.startswith(b"%")):
                break
        dense = layout == "array"
        sizes = _sizes(line, 2 if dense else 3)
        if sizes is None:
            what = "numbers of rows and columns" if dense else "numbers of rows, columns and lines"
            msg = f"{path}, line {number}: expected the {what}, got {shown(line)}"
            raise ReadError(msg)
        n, d = sizes[:2]
        mirrored = symmetry == "symmetric"
        if mirrored and n != d:
            msg = f"{path}, line {number}: {n} rows and {d} columns cannot be symmetric"
            raise ReadError(msg)
        n_lines = (n * (n + 1) // 2 if mirrored else n * d) if dense else sizes[2]
        place = () if dense else ("document", "word")
        value = () if field == "pattern" else ("count",)
        real = field in ("real", "double")
        head = _Head(n, d, n_lines, number, form=(*place, *value), real=real)
        columns = _read_lines(path, file, head)
    if dense:
        # Values go down the columns; of a symmetric matrix, from the diagonal on.
        j, i = np.triu_indices(n) if mirrored else np.divmod(np.arange(n * d), n)
    else:
        i, j = columns[0] - 1, columns[1] - 1
    counts = columns[-1] if value else np.ones(len(i), dtype=np.int32)
    if mirrored:
        off = i != j
        i, j = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
        counts = np.concatenate([counts, counts[off]])
    return RawCounts(sp.coo_array((counts, (i, j)), shape=(n, d)))


def _banner(path: Path, line: bytes) -> tuple[str, str, str]:
    words = line.decode("ascii", "replace").lower().split()
    if len(words) != 5 or words[0] != BANNER.decode().lower() or words[1] != "matrix":
        msg = (
            f"{path}, line 1: expected '%%MatrixMarket matrix' with its layout, field and "
            f"symmetry, got {shown(line)}"
        )
        raise ReadError(msg)
    layout, field, symmetry = words[2:]
    fields = {"real", "double", "integer", "unsigned-integer", "pattern"}
    if field == "complex":
        msg = f"{path}, line 1: the values are complex; counts are integers or real numbers"
        raise InvalidDataError(msg)
    if (
        layout not in {"coordinate", "array"}
        or field not in fields
        or symmetry not in {"general", "symmetric"}
        or (layout, field) == ("array", "pattern")
    ):
        msg = (
            f"{path}, line 1: {shown(line)} is no form of counts; expected coordinate or array, "
            f"integer, real or pattern, general or symmetric"
        )
        raise ReadError(msg)
    return layout, field, symmetry


def _sizes(line: bytes, k: int) -> list[int] | None:
    """Read `k` sizes from a line. More than 18 digits are no size, and no 64-bit integer."""
    parts = line.split()
    good = len(parts) == k and all(part.isdigit() and len(part) <= 18 for part in parts)
    return [int(part) for part in parts] if good else None


def _read_lines(path: Path, file: IO[bytes], head: _Head) -> list[NDArray[Any]]:
    """Read the columns of the lines that follow the first ones."""
    chunks: list[list[NDArray[Any]]] = []
    try:
        # An infinity in a column of integers is refused below; the cast need not warn of it.
        with np.errstate(invalid="ignore"):
            for frame in _frames(file, head):
                head.check(frame.to_numpy())
                chunks.append([_narrow(frame[name].to_numpy()) for name in frame])
    except (ValueError, OverflowError) as error:
        raise first_fault(path, head.fault, error) from error
    found = sum(len(chunk[0]) for chunk in chunks)
    if found != head.n_lines:
        short = "cut short" if found < head.n_lines else "not what its first lines say"
        msg = (
            f"{path}, line {head.at}: {head.n_lines} lines of counts should follow, but {found} "
            f"do; the file is {short}"
        )
        raise ReadError(msg)
    if not chunks:
        return [np.empty(0, dtype=np.int32) for _ in head.form]
    return [np.concatenate(parts) for parts in zip(*chunks, strict=True)]


def _frames(file: IO[bytes], head: _Head) -> Iterator[pd.DataFrame]:
    last = np.float64 if head.real else np.int64
    types: Any = dict.fromkeys(range(len(head.form)), np.int64) | {len(head.form) - 1: last}
    with suppress(pd.errors.EmptyDataError):  # the number of lines tells what is missing
        yield from pd.read_csv(
            file,
            sep=r"\s+",
            header=None,
            dtype=types,
            quoting=csv.QUOTE_NONE,
            chunksize=LINES_AT_ONCE,
        )


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    # Half the memory; files of these forms may have a hundred million lines.
    if values.dtype.kind == "f" or values.max(initial=0) > np.iinfo(np.int32).max:
        return values
    return values.astype(np.int32)
