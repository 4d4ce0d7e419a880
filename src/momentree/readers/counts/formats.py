"""Formats of counts: how each is recognized, and which function reads it."""

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from momentree.core.container import DAMAGE, StoredArrays
from momentree.core.sparse import check_structure
from momentree.exceptions import InvalidDataError, InvalidParameterError, MomentreeError, ReadError
from momentree.messages import Message, wording
from momentree.readers.counts.lines import (
    BANNER,
    Block,
    CountFile,
    fault_in_file,
    open_bag_of_words,
    open_matrix_market,
    quoted,
)
from momentree.readers.stored.counts import MARK, StoredCounts
from momentree.readers.tables.files import open_bytes, suffix


def open_npz(path: Path, *, in_parts: bool) -> CountFile:
    """Read a SciPy sparse matrix; nothing is unpickled."""
    if in_parts:
        raise InvalidParameterError(
            "[counts_not_streamed] {path} can only be read as a whole; leave out "
            "{parameters.memory}, or give the counts as UCI bag-of-words, as Matrix Market, as "
            "SVMlight, or in a folder written by store_counts",
            path=str(path),
        )
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
    if X.dtype.kind not in "biuf":
        raise InvalidDataError(
            "[counts_not_numeric] {path} contains values of type {type}; counts must be integers "
            "or real numbers",
            path=str(path),
            type=str(X.dtype),
        )
    if X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):
        X = X.astype(np.float64)  # no kernels for other precisions
    elif X.dtype.kind != "f" and X.dtype.itemsize < 4:
        X = X.astype(np.int32)  # sums of bytes would overflow, and sums of True would be True
    return CountFile(iter([(X, {})]), *X.shape)


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
BYTES_AT_ONCE = 1 << 22
"""Bytes of SVMlight in a block."""


def open_svmlight(path: Path, *, in_parts: bool) -> CountFile:
    """Open an SVMlight file, whose columns are indices, or numbers of words from 0 or 1."""

    def blocks() -> Iterator[Block]:
        with open_bytes(path) as file:
            if not in_parts:
                yield _parse(path, file)
            while lines := file.readlines(BYTES_AT_ONCE):
                yield _parse(path, io.BytesIO(b"".join(lines)))

    return CountFile(blocks())


def counts_from_one(path: Path) -> bool:
    """Return whether an SVMlight file never uses index 0, as scikit-learn decides it."""
    with open_bytes(path) as file:
        return not any(b"0:" in line and _ZERO.search(line.partition(b"#")[0]) for line in file)


def _parse(path: Path, file: Any) -> Block:
    """Return the counts and labels in lines of a file."""
    try:
        X, y = load_svmlight_file(file, zero_based=True)
    except (ValueError, OverflowError) as error:
        raise fault_in_file(path, _find_fault, error) from error
    if not ((X.data >= 0) & np.isfinite(X.data)).all():
        raise fault_in_file(path, _find_fault)
    return sp.csr_array(X), {"labels": [f"{v:.15g}" for v in y]}


def _find_fault(line: bytes) -> Message | None:
    found, *features = line.partition(b"#")[0].split() or [b"0"]
    last = -1
    try:
        float(found)
        for found in features:
            if found.startswith(b"qid:"):
                continue
            index, _, count = found.partition(b":")
            if not (last < int(index) < 2**31 and 0 <= float(count) < np.inf):
                raise ValueError  # noqa: TRY301
            last = int(index)
    except ValueError:
        return Message(
            "[svmlight_line] expected a number and 'index:count ...', with ascending indices and "
            "counts of at least 0, got {found!r}",
            found=quoted(found),
        )
    return None


def is_stored(folder: Path) -> bool:
    """Return whether a folder contains counts, rather than other files of such a name."""
    return all((folder / name).is_file() for name in (MARK, "indptr.npy"))


def open_stored(mark: Path, *, in_parts: bool) -> CountFile:
    """Open the counts of a folder, given the file that marks it."""
    stored = StoredCounts.open(mark.parent)

    def blocks() -> Iterator[Block]:
        start = 0
        for X in stored.blocks() if in_parts else [stored.in_memory()]:
            stop = start + X.shape[0]
            yield X, {"ids": stored.ids[start:stop]} if stored.has_ids else {}
            start = stop

    names = stored.feature_names
    return CountFile(blocks(), *stored.shape, None if names is None else list(map(str, names)))


class Opener(Protocol):
    """Opens a file of counts to read its documents together, or in parts."""

    def __call__(self, path: Path, /, *, in_parts: bool) -> CountFile:
        """Return the file, of which at most the header is read yet."""


SUFFIXES: dict[str, Opener] = {
    ".npz": open_npz,
    ".mtx": open_matrix_market,
    ".svm": open_svmlight,
    ".svmlight": open_svmlight,
    ".libsvm": open_svmlight,
}
_INTEGER_LINE = re.compile(rb"\s*\d+\s*")
_SVMLIGHT_LINE = re.compile(rb"[-+]?\d+(\.\d*)?(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?")


def find_opener(path: Path) -> Opener | None:
    """Return what opens a file of counts, by its suffix or its first lines; None for text."""
    end = suffix(path)
    if end in SUFFIXES:
        return SUFFIXES[end]
    if path.name == MARK and is_stored(path.parent):
        return open_stored
    named = path.name.lower().startswith("docword.")
    by_name = open_bag_of_words if named else None
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
        return open_matrix_market
    if named or (len(lines) > 3 and all(map(_INTEGER_LINE.fullmatch, lines[:3]))):
        return open_bag_of_words
    return open_svmlight if _SVMLIGHT_LINE.fullmatch(lines[0]) else None
