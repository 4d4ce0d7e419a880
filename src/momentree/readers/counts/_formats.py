"""The formats of counts: how each is recognised, and which function reads it.

To add a format, write its reader in a file of its own, which returns ``RawCounts``, and give it an
entry in ``READERS`` and in ``SUFFIXES`` or :func:`count_format`.
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
from momentree.readers.counts._svmlight import read_svmlight
from momentree.readers.tables.files import open_bytes, suffix

READERS: dict[str, Callable[[Path], RawCounts]] = {
    "bag_of_words": read_bag_of_words,
    "matrix_market": read_matrix_market,
    "npz": read_npz,
    "svmlight": read_svmlight,
}
SUFFIXES = {
    ".npz": "npz",
    ".mtx": "matrix_market",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
# Files with these suffixes hold counts if their first lines look like counts.
OPEN_SUFFIXES = {"", ".txt", ".dat", ".data"}
HEAD_BYTES = 1 << 16
_INTEGER_LINE = re.compile(rb"\s*\d+\s*")
_SVMLIGHT_LINE = re.compile(rb"[-+]?\d+(\.\d*)?(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?")


def count_format(path: Path) -> str | None:
    """Return the format of a file of counts, by its suffix or its first lines; None for text."""
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
        return "bag_of_words" if named else None  # its reader names the fault
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines[0].startswith(BANNER):
        return "matrix_market"
    if named or (len(lines) > 3 and all(map(_INTEGER_LINE.fullmatch, lines[:3]))):
        return "bag_of_words"
    return "svmlight" if _SVMLIGHT_LINE.fullmatch(lines[0]) else None
