"""Memory limits for the content of files: a few bytes can declare terabytes."""

import io
import re
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from momentree.exceptions import InvalidParameterError, ReadError

FLOOR = 1 << 25
"""Bytes allowed for the content of any file."""

BYTES_PER_BYTE = 100
"""Bytes allowed per byte of a file. Text expands 3 to 20 times, sparse counts 50 times."""

BYTES_PER_ROW = 64
"""Bytes used by an empty document or record: an id, a label, the end of a row."""


MIN_MEMORY = 600_000_000
"""Bytes of memory with which anything can be done: Python with its libraries takes half of it."""

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def memory_bytes(memory: int | str) -> int:
    """Return an amount of memory in bytes, given as a number or with a unit, as in "1.5GB".

    Raises
    ------
    InvalidParameterError
        If it cannot be read as such, or is less than 600 MB.
    """
    given = str(memory).strip().upper()
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([KMGT]?I?B?)", given)
    if isinstance(memory, bool) or match is None or match[2] not in _UNITS:
        raise InvalidParameterError(
            "[not_a_size] {parameters.memory:=value} is not an amount of memory; give one such as "
            "800MB or 1.5GB",
            value=memory,
        )
    n_bytes = int(float(match[1]) * _UNITS[match[2]])
    if n_bytes < MIN_MEMORY:
        least = f"{MIN_MEMORY // 10**6}MB"
        raise InvalidParameterError(
            "[too_little_memory] {parameters.memory:=value} is too little; expected at least "
            "{parameters.memory:=least}: Python with its libraries takes half of that",
            value=memory,
            least=least,
        )
    return n_bytes


Source: TypeAlias = str | PathLike[str] | bytes
"""A file, or its content."""


def name_of(source: Source) -> str:
    """Return the path of a file, or a word for its content."""
    return "the content" if isinstance(source, bytes) else str(source)


def _size(source: Source) -> int:
    return len(source) if isinstance(source, bytes) else Path(source).stat().st_size


def memory_limit(path: Source) -> int:
    """Return the memory limit for the content of a file, in bytes."""
    return FLOOR + BYTES_PER_BYTE * _size(path)


def check_memory(
    path: Source,
    n_bytes: int,
    code: str = (
        "[file_too_large] cannot read {path}: its content would take at least {megabytes:,.0f} MB "
        "of memory, but the limit for a file of {size:~byte} is {most:,.0f} MB. The file is "
        "damaged, or was made to exhaust memory; if you trust it, decompress it or write it "
        "without compression"
    ),
    /,
    **values: Any,
) -> None:
    """Raise ``ReadError`` if the content of a file takes `n_bytes` or more, above its limit."""
    limit = memory_limit(path)
    if n_bytes > limit:
        values |= {"size": _size(path), "megabytes": n_bytes / 1e6, "most": limit / 1e6}
        raise ReadError(code, path=name_of(path), **values)


class BoundedReader(io.RawIOBase):
    """Content of a compressed file; reading fails once it takes too much memory."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self._limit = memory_limit(path)

    def readable(self) -> bool:
        """Say that content can be read."""
        return True

    def seekable(self) -> bool:
        """Say that any position can be reached."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to a position, and return it."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the position."""
        return self._file.tell()

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """Read into memory; fail if all of the content so far is too large."""
        content = self._file.read(len(buffer))
        buffer[: len(content)] = content
        if (position := self._file.tell()) > self._limit:
            check_memory(self._path, position)
        return len(content)
