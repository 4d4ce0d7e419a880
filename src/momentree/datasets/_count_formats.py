"""The forms in which counts of words lie in files; one function reads each.

A fast parser reads the file; only when it fails does a slow one look for the line at fault.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from momentree.datasets.files import open_bytes, suffix
from momentree.exceptions import InvalidDataError, ReadError

__all__ = ["READERS", "RawCounts", "count_format"]

LINES_AT_ONCE = 1 << 22
HEAD_BYTES = 1 << 16

SUFFIXES = {
    ".npz": "npz",
    ".mtx": "mtx",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
# Files of these names are counts when their first lines say so.
OPEN_SUFFIXES = {"", ".txt", ".dat", ".data"}
_BANNER = b"%%MatrixMarket"
_INTEGER_LINE = re.compile(rb"\s*\d+\s*")
_SVMLIGHT_LINE = re.compile(rb"[-+]?\d+(\.\d*)?(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?")


@dataclass(frozen=True)
class RawCounts:
    """What a file of counts holds; a file that names words or labels gives them too."""

    X: Any
    words: list[str] | None = None
    labels: list[str] | None = None
    one_based: bool = False


def count_format(path: Path) -> str | None:
    """Name the form of counts of a file, by its suffix or else its first lines; None if text."""
    end = suffix(path)
    if end in SUFFIXES:
        return SUFFIXES[end]
    named = path.name.lower().startswith("docword.")
    if not (named or end in OPEN_SUFFIXES) or not path.is_file():
        return "bag_of_words" if named else None
    try:
        with open_bytes(path) as file:
            head = file.read(HEAD_BYTES)
    except ReadError:
        return "bag_of_words" if named else None  # its reader says what is wrong
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines[0].startswith(_BANNER):
        return "mtx"
    if named or (len(lines) > 3 and all(map(_INTEGER_LINE.fullmatch, lines[:3]))):
        return "bag_of_words"
    return "svmlight" if _SVMLIGHT_LINE.fullmatch(lines[0]) else None


def read_bag_of_words(path: Path) -> RawCounts:
    """Read UCI bag-of-words: numbers of documents, words and lines, then document word count."""
    with open_bytes(path) as file:
        n, d, n_lines = _header(path, file)
        try:
            chunks = [_triples(chunk, n, d) for chunk in _table(file)] if n_lines else []
        except (ValueError, OverflowError) as error:
            raise _fault(path, _lines_of_bag(n, d), error) from error
    found = sum(len(chunk[0]) for chunk in chunks)
    if found != n_lines:
        msg = (
            f"{path}: line 3 says that {n_lines} lines of counts follow, but {found} do; the file "
            f"is {'cut short' if found < n_lines else 'not what its head says'}"
        )
        raise ReadError(msg)
    empty = (np.empty(0, np.int64),) * 3
    rows, columns, counts = map(np.concatenate, zip(*(chunks or [empty]), strict=True))
    return RawCounts(sp.coo_array((counts, (rows, columns)), shape=(n, d)), one_based=True)


def _header(path: Path, file: IO[bytes]) -> tuple[int, int, int]:
    heads = ("documents", "words", "lines of counts")
    values = []
    for number, what in enumerate(heads, start=1):
        line = file.readline().removeprefix(b"\xef\xbb\xbf").strip()
        # More than 18 digits are no number of anything, and no 64-bit integer.
        if not line.isdigit() or len(line) > 18:
            msg = (
                f"{path}, line {number}: expected the number of {what}, got {_shown(line)}; a "
                f"bag-of-words file starts with three lines of one number each"
            )
            raise ReadError(msg)
        values.append(int(line))
    return values[0], values[1], values[2]


def _table(file: IO[bytes]) -> Iterator[NDArray[np.int64]]:
    with suppress(pd.errors.EmptyDataError):  # the number of lines tells what is missing
        for frame in pd.read_csv(
            file,
            sep=r"\s+",
            header=None,
            dtype=np.int64,
            quoting=csv.QUOTE_NONE,
            chunksize=LINES_AT_ONCE,
        ):
            yield frame.to_numpy()


def _triples(table: NDArray[np.int64], n: int, d: int) -> list[NDArray[Any]]:
    low, high = np.array([1, 1, 0]), np.array([n, d, np.iinfo(np.int64).max])
    if table.shape[1] != 3 or (table < low).any() or (table > high).any():
        msg = "a line is not a document, a word and a count in their ranges"
        raise ValueError(msg)
    rows, columns, counts = table.T
    return [_narrow(rows - 1), _narrow(columns - 1), _narrow(counts)]


def _narrow(values: NDArray[np.int64]) -> NDArray[Any]:
    # Half the memory; files of this form may have a hundred million lines.
    fits = values.max(initial=0) <= np.iinfo(np.int32).max
    return values.astype(np.int32 if fits else np.int64)


def _lines_of_bag(n: int, d: int) -> Callable[[int, bytes], str | None]:
    def fault(number: int, line: bytes) -> str | None:
        if number <= 3 or not line.strip():
            return None
        form = f"expected 'document word count' as three integers, got {_shown(line)}"
        try:
            values = [int(part) for part in line.split()]
        except ValueError:
            return form
        if len(values) != 3:
            return form
        document, word, count = values
        if not 1 <= document <= n:
            return f"document {document} is not from 1 to {n}, as line 1 says"
        if not 1 <= word <= d:
            return f"word {word} is not from 1 to {d}, as line 2 says"
        return None if 0 <= count < 2**63 else f"the count {count} is negative or too large"

    return fault


def read_svmlight(path: Path) -> RawCounts:
    """Read SVMlight: ``label index:count …`` a line. Words are named by their index."""
    with open_bytes(path) as file:
        try:
            X, y = load_svmlight_file(file, zero_based=True)
        except (ValueError, OverflowError) as error:
            raise _fault(path, _line_of_svmlight, error) from error
    if not ((X.data >= 0) & np.isfinite(X.data)).all():
        raise _fault(path, _line_of_svmlight, ValueError("a count is negative or not finite"))
    # Only indices that occur become columns: an index may be any number, and has no other name.
    used, columns = np.unique(X.indices, return_inverse=True)
    X = sp.csr_array((X.data, columns, X.indptr), shape=(X.shape[0], len(used)))
    return RawCounts(X, words=[str(i) for i in used], labels=[f"{v:.15g}" for v in y])


def _line_of_svmlight(number: int, line: bytes) -> str | None:
    del number
    label, *features = line.partition(b"#")[0].split() or [b"0"]
    try:
        float(label)
    except ValueError:
        return f"expected one number as the label, got {_shown(label)}"
    last = -1
    for feature in features:
        if feature.startswith(b"qid:"):
            continue
        index, _, value = feature.partition(b":")
        try:
            i, count = int(index), float(value)
        except ValueError:
            return f"expected 'label index:count ...', got {_shown(feature)}"
        if not 0 <= i < 2**31:
            return f"index {i} is negative or too large"
        if i <= last:
            return f"index {i} comes after {last}; indices must ascend"
        if not 0 <= count < np.inf:
            return f"{_shown(feature)} is not a count: counts are finite numbers of at least 0"
        last = i
    return None


def read_matrix_market(path: Path) -> RawCounts:
    """Read a Matrix Market file; documents are its rows."""
    with open_bytes(path) as file:
        # The parser is compiled code that may go back to a stream after an error, and ends the
        # process if that is closed by then; so it gets a path, or bytes that stay.
        source = io.BytesIO(file.read()) if isinstance(file, gzip.GzipFile) else str(path)
    try:
        return RawCounts(scipy.io.mmread(source))
    except (ValueError, OverflowError) as error:
        # The parser names the line itself.
        msg = f"{path}: not a whole Matrix Market file: {_one_line(error)}"
        raise ReadError(msg) from error


def read_npz(path: Path) -> RawCounts:
    """Read a matrix written by ``scipy.sparse.save_npz``; nothing is unpickled."""
    with open_bytes(path) as file:
        try:
            X = sp.load_npz(file)
            if hasattr(X, "check_format"):
                X.check_format(full_check=True)  # an index outside would crash compiled code
        except (EOFError, zlib.error):
            raise
        except (
            AttributeError,
            KeyError,
            NotImplementedError,
            OSError,
            TypeError,
            ValueError,
            zipfile.BadZipFile,
        ) as error:
            msg = (
                f"{path} holds no sparse matrix ({_one_line(error)}); expected a file written by "
                f"scipy.sparse.save_npz"
            )
            raise ReadError(msg) from error
    if X.dtype.kind not in "biuf":
        msg = f"{path} holds values of type {X.dtype}; counts are integers or real numbers"
        raise InvalidDataError(msg)
    return RawCounts(X)


READERS = {
    "bag_of_words": read_bag_of_words,
    "mtx": read_matrix_market,
    "npz": read_npz,
    "svmlight": read_svmlight,
}


def _fault(path: Path, fault_of: Callable[[int, bytes], str | None], error: Exception) -> ReadError:
    """Find the first line at fault; where there is none, repeat what the fast parser said."""
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if (fault := fault_of(number, line)) is not None:
                return ReadError(f"{path}, line {number}: {fault}")
    return ReadError(f"{path} cannot be read: {_one_line(error)}")


def _shown(line: bytes) -> str:
    text = line.strip().decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
