"""SVMlight: ``label index:count index:count …``, one document per line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from momentree.messages import Message
from momentree.readers.counts._raw import RawCounts, fault_in_file, quoted
from momentree.readers.tables.files import open_bytes

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
        return Message("svmlight_label", found=quoted(label))
    last = -1
    for feature in features:
        if feature.startswith(b"qid:"):
            continue
        index, _, value = feature.partition(b":")
        try:
            i, count = int(index), float(value)
        except ValueError:
            return Message("svmlight_feature", found=quoted(feature))
        if not 0 <= i < 2**31:
            return Message("svmlight_index", index=i)
        if i <= last:
            return Message("svmlight_order", index=i, last=last)
        if not 0 <= count < np.inf:
            return Message("count_out_of_range", value=count)
        last = i
    return None
