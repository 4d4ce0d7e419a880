"""How much a file may unfold to in memory: small files of a few bytes can claim terabytes."""

from __future__ import annotations

import io
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from momentree.exceptions import ReadError

__all__ = ["BYTES_OF_A_ROW", "FLOOR", "Bounded", "check_unfolded", "limit_of"]

FLOOR = 1 << 25
"""Bytes that any file may unfold to."""

TIMES = 100
"""Bytes that each byte of a file may unfold to. Text unfolds 3 to 20 times, sparse counts 50."""

BYTES_OF_A_ROW = 64
"""What a document or record takes that holds nothing: an id, a label, an end of a row."""


def limit_of(path: str | PathLike[str]) -> int:
    """Return how many bytes of memory the content of a file may take.

    Raises
    ------
    OSError
        If the file is not there.
    """
    return FLOOR + TIMES * Path(path).stat().st_size


def check_unfolded(
    path: str | PathLike[str],
    n_bytes: int,
    what: str = "its content",
    remedy: str = "unpack it, or write it without compression",
) -> None:
    """Refuse a file that unfolds to more memory than a file of its size may.

    Parameters
    ----------
    path : str or path-like
        The file.
    n_bytes : int
        Bytes of memory that its content takes, or those known so far.
    what : str, default="its content"
        What takes them.
    remedy : str, default="unpack it, or write it without compression"
        What to do with a sound file.

    Raises
    ------
    ReadError
        If they are too many.
    OSError
        If the file is not there.
    """
    limit = limit_of(path)
    if n_bytes > limit:
        size = Path(path).stat().st_size
        msg = (
            f"cannot read {path}: {what} would take {_amount(n_bytes)} of memory or more, and a "
            f"file of {_amount(size)} may take {_amount(limit)}: it is damaged, or made to fill "
            f"the memory. If it is sound, {remedy}"
        )
        raise ReadError(msg)


def _amount(n_bytes: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:,.4g} {unit}"
    return f"{n_bytes} bytes"


class Bounded(io.RawIOBase):
    """The content of a compressed file, which ends with an error where it grows too large.

    Parameters
    ----------
    file : binary file
        The decompressed content; can be rewound.
    path : Path
        The compressed file.
    """

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self._limit = limit_of(path)

    def readable(self) -> bool:
        """Whether it can be read: it can."""
        return True

    def seekable(self) -> bool:
        """Whether it can be rewound: it can."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a place in the content."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the place in the content."""
        return self._file.tell()

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """Fill a buffer with what comes next, and return how many bytes these are."""
        content = self._file.read(len(buffer))
        buffer[: len(content)] = content
        if (at := self._file.tell()) > self._limit:
            check_unfolded(self._path, at)
        return len(content)
