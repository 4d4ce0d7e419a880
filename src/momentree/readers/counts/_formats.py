"""Formats of counts: how each is recognized, and which function reads it.

To add a format, write a reader that returns ``RawCounts`` in a new file, and add it to ``SUFFIXES``
or :func:`find_reader`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from momentree.exceptions import ReadError
from momentree.readers.counts._bag_of_words import read_bag_of_words
from momentree.readers.counts._matrix_market import BANNER, read_matrix_market
from momentree.readers.counts._npz import read_npz
from momentree.readers.counts._raw import RawCounts
from momentree.readers.counts._stored import is_stored, read_stored
from momentree.readers.counts._svmlight import read_svmlight
from momentree.readers.stored.counts import MARK
from momentree.readers.tables.files import open_bytes, suffix

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
