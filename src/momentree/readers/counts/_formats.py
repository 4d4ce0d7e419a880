"""The forms in which counts of words lie in files; one function reads each."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from momentree._arrays import DAMAGE, StoredArrays
from momentree._sparse import check_structure
from momentree.exceptions import InvalidDataError, ReadError
from momentree.readers.counts._raw import RawCounts, first_fault, one_line, shown
from momentree.readers.counts._triples import BANNER, read_bag_of_words, read_matrix_market
from momentree.readers.tables.files import open_bytes, suffix

__all__ = ["READERS", "count_format"]

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
_INTEGER_LINE = re.compile(rb"\s*\d+\s*")
_SVMLIGHT_LINE = re.compile(rb"[-+]?\d+(\.\d*)?(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?")


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
    if lines[0].startswith(BANNER):
        return "mtx"
    if named or (len(lines) > 3 and all(map(_INTEGER_LINE.fullmatch, lines[:3]))):
        return "bag_of_words"
    return "svmlight" if _SVMLIGHT_LINE.fullmatch(lines[0]) else None


def read_svmlight(path: Path) -> RawCounts:
    """Read SVMlight: ``label index:count …`` a line. Words are named by their index."""
    with open_bytes(path) as file:
        try:
            X, y = load_svmlight_file(file, zero_based=True)
        except (ValueError, OverflowError) as error:
            raise first_fault(path, _line_of_svmlight, error) from error
    if not ((X.data >= 0) & np.isfinite(X.data)).all():
        raise first_fault(path, _line_of_svmlight, ValueError("a count is negative or not finite"))
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
        return f"expected one number as the label, got {shown(label)}"
    last = -1
    for feature in features:
        if feature.startswith(b"qid:"):
            continue
        index, _, value = feature.partition(b":")
        try:
            i, count = int(index), float(value)
        except ValueError:
            return f"expected 'label index:count ...', got {shown(feature)}"
        if not 0 <= i < 2**31:
            return f"index {i} is negative or too large"
        if i <= last:
            return f"index {i} comes after {last}; indices must ascend"
        if not 0 <= count < np.inf:
            return f"{shown(feature)} is not a count: counts are finite numbers of at least 0"
        last = i
    return None


def read_npz(path: Path) -> RawCounts:
    """Read a matrix written by ``scipy.sparse.save_npz``; nothing is unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            X = _sparse_matrix(StoredArrays(archive, path))
        check_structure(X)  # an index outside would crash compiled code
    except ReadError:
        raise
    except DAMAGE as error:
        msg = (
            f"{path} holds no sparse matrix ({one_line(error)}); expected a file written by "
            f"scipy.sparse.save_npz"
        )
        raise ReadError(msg) from error
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise ReadError(msg) from error
    if X.dtype.kind not in "biuf":
        msg = f"{path} holds values of type {X.dtype}; counts are integers or real numbers"
        raise InvalidDataError(msg)
    return RawCounts(X)


def _sparse_matrix(arrays: StoredArrays) -> Any:
    """Put a matrix together as ``scipy.sparse.load_npz`` does; its structure is not checked."""
    form = arrays["format"].item()
    form = form.decode("ascii") if isinstance(form, bytes) else form
    shape = tuple(arrays["shape"].tolist())
    if len(shape) != 2:
        msg = f"its shape is {shape}, not that of a matrix"
        raise ValueError(msg)
    where: Any
    if form in ("csr", "csc", "bsr"):
        where = [arrays["indices"], arrays["indptr"]]
    elif form == "dia":
        where = [arrays["offsets"]]
    elif form == "coo":
        where = [tuple(arrays["coords"] if "coords" in arrays else (arrays["row"], arrays["col"]))]
    else:
        msg = f"{form!r} is no format of a sparse matrix"
        raise ValueError(msg)
    return getattr(sp, f"{form}_array")((arrays["data"], *where), shape=shape)


READERS = {
    "bag_of_words": read_bag_of_words,
    "mtx": read_matrix_market,
    "npz": read_npz,
    "svmlight": read_svmlight,
}
