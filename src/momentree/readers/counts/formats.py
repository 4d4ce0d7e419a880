"""Formats of counts: how each is recognized, and which function reads it."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from momentree.core.container import DAMAGE, StoredArrays
from momentree.core.sparse import check_structure
from momentree.exceptions import InvalidDataError, MomentreeError, ReadError
from momentree.messages import Message, wording
from momentree.readers.counts.lines import (
    BANNER,
    RawCounts,
    fault_in_file,
    quoted,
    read_bag_of_words,
    read_matrix_market,
)
from momentree.readers.stored.counts import MARK, StoredCounts
from momentree.readers.tables.files import open_bytes, suffix


def read_npz(path: Path) -> RawCounts:
    """Read a SciPy sparse matrix; nothing is unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            X = _sparse_matrix(StoredArrays(archive, path))
        if X.dtype.kind in "biuf":
            check_structure(X)  # an index out of range would crash compiled code
    except ReadError:
        raise
    except DAMAGE as error:
        problem = error.message if isinstance(error, MomentreeError) else _in_one_line(error)
        raise ReadError(
            "[npz_damaged] {path} contains no sparse matrix: {problem}. Write it with "
            "scipy.sparse.save_npz",
            path=str(path),
            problem=problem,
        ) from error
    except OSError as error:
        raise ReadError(wording.UNREADABLE_PATH, path=str(path), error=error.strerror) from error
    return RawCounts(X)


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def _sparse_matrix(arrays: StoredArrays) -> Any:
    """Build a matrix as ``scipy.sparse.load_npz`` does, without checking its structure."""
    form = arrays["format"].item()
    form = form.decode("ascii") if isinstance(form, bytes) else form
    shape = tuple(arrays["shape"].tolist())
    if len(shape) != 2:
        raise InvalidDataError("its shape is {shape:list}, not that of a matrix", shape=list(shape))
    where: Any
    if form in ("csr", "csc", "bsr"):
        where = [arrays["indices"], arrays["indptr"]]
    elif form == "dia":
        where = [arrays["offsets"]]
    elif form == "coo":
        where = [tuple(arrays["coords"] if "coords" in arrays else (arrays["row"], arrays["col"]))]
    else:
        raise InvalidDataError("{format!r} is not a sparse format", format=str(form))
    return getattr(sp, f"{form}_array")((arrays["data"], *where), shape=shape)


_ZERO = re.compile(rb"\s0+:")


def read_svmlight(path: Path) -> RawCounts:
    """Read an SVMlight file; the indices serve as words."""
    with open_bytes(path) as file:
        X, labels = _parsed(path, file)
    # Only indices that occur become columns, because an index may be any number.
    used, columns = np.unique(X.indices, return_inverse=True)
    X = sp.csr_array((X.data, columns, X.indptr), shape=(X.shape[0], len(used)))
    return RawCounts(X, words=[str(i) for i in used], labels=labels, numbered=True)


def stream_svmlight(path: Path, n_bytes: int) -> Iterator[tuple[sp.csr_array[Any], list[str]]]:
    """Yield the documents of a file with their labels, in blocks; columns are indices."""
    with open_bytes(path) as file:
        while lines := file.readlines(n_bytes):
            X, labels = _parsed(path, io.BytesIO(b"".join(lines)))
            yield sp.csr_array((X.data, X.indices, X.indptr), shape=(len(labels), 1 << 31)), labels


def counts_from_one(path: Path) -> bool:
    """Return whether an SVMlight file never uses index 0."""
    with open_bytes(path) as file:
        return not any(_ZERO.search(line.partition(b"#")[0]) for line in file)


def _parsed(path: Path, file: Any) -> tuple[Any, list[str]]:
    """Return the counts and labels in lines of a file."""
    try:
        X, y = load_svmlight_file(file, zero_based=True)
    except (ValueError, OverflowError) as error:
        raise fault_in_file(path, _find_fault, error) from error
    if not ((X.data >= 0) & np.isfinite(X.data)).all():
        raise fault_in_file(path, _find_fault)
    return X, [f"{v:.15g}" for v in y]


def _find_fault(line: bytes) -> Message | None:
    label, *features = line.partition(b"#")[0].split() or [b"0"]
    try:
        float(label)
    except ValueError:
        return Message(
            "[svmlight_label] expected a number as the label, got {found!r}", found=quoted(label)
        )
    last = -1
    for feature in features:
        if feature.startswith(b"qid:"):
            continue
        index, _, value = feature.partition(b":")
        try:
            i, count = int(index), float(value)
        except ValueError:
            return Message(
                "[svmlight_feature] expected 'label index:count ...', got {found!r}",
                found=quoted(feature),
            )
        if not 0 <= i < 2**31:
            return Message("[svmlight_index] index {index} is negative or too large", index=i)
        if i <= last:
            return Message(
                "[svmlight_order] index {index} follows {last}; indices must increase",
                index=i,
                last=last,
            )
        if not 0 <= count < np.inf:
            return Message(wording.COUNT_OUT_OF_RANGE, value=count)
        last = i
    return None


def is_stored(folder: Path) -> bool:
    """Return whether a folder contains counts, rather than other files of such a name."""
    return all((folder / name).is_file() for name in (MARK, "indptr.npy"))


def read_stored(mark: Path) -> RawCounts:
    """Read all counts of a folder, given the file that marks it, into memory."""
    stored = StoredCounts.open(mark.parent)
    arrays = (np.array(array) for array in (stored.X.data, stored.X.indices, stored.X.indptr))
    data, indices, indptr = arrays
    X = sp.csr_array((data, indices, indptr), shape=stored.shape)
    stored.check(X)
    names = None if stored.feature_names is None else list(map(str, stored.feature_names))
    return RawCounts(X, words=names, ids=list(stored.ids))


Reader = Callable[[Path], RawCounts]

SUFFIXES: dict[str, Reader] = {
    ".npz": read_npz,
    ".mtx": read_matrix_market,
    ".svm": read_svmlight,
    ".svmlight": read_svmlight,
    ".libsvm": read_svmlight,
}
_INTEGER_LINE = re.compile(rb"\s*\d+\s*")
_SVMLIGHT_LINE = re.compile(rb"[-+]?\d+(\.\d*)?(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?")


def find_reader(path: Path) -> Reader | None:
    """Return the reader of a file of counts, by its suffix or its first lines; None for text."""
    end = suffix(path)
    if end in SUFFIXES:
        return SUFFIXES[end]
    if path.name == MARK and is_stored(path.parent):
        return read_stored
    named = path.name.lower().startswith("docword.")
    by_name = read_bag_of_words if named else None
    # Files with these suffixes contain counts if their first lines look like counts.
    if not (named or end in ("", ".txt", ".dat", ".data")) or not path.is_file():
        return by_name
    try:
        with open_bytes(path) as file:
            head = file.read(1 << 16)
    except ReadError:
        return by_name  # its reader reports the error
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines[0].startswith(BANNER):
        return read_matrix_market
    if named or (len(lines) > 3 and all(map(_INTEGER_LINE.fullmatch, lines[:3]))):
        return read_bag_of_words
    return read_svmlight if _SVMLIGHT_LINE.fullmatch(lines[0]) else None
