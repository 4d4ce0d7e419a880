"""How much memory the content of a file may take: a few bytes can announce terabytes."""

from __future__ import annotations

import io
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from momentree.exceptions import ReadError

FLOOR = 1 << 25
"""Bytes that the content of any file may take."""

BYTES_PER_BYTE = 100
"""Bytes allowed per byte of a file. Text expands 3 to 20 times, sparse counts 50 times."""

BYTES_PER_ROW = 64
"""Bytes that an empty document or record takes: an id, a label, the end of a row."""


def memory_limit(path: str | PathLike[str]) -> int:
    """Return how many bytes of memory the content of a file may take."""
    return FLOOR + BYTES_PER_BYTE * Path(path).stat().st_size


def check_memory(
    path: str | PathLike[str], n_bytes: int, code: str = "file_too_large", /, **values: Any
) -> None:
    """Refuse a file whose content, of which `n_bytes` are known, takes more memory than it may."""
    limit = memory_limit(path)
    if n_bytes > limit:
        size = Path(path).stat().st_size
        values |= {"size": size, "megabytes": n_bytes / 1e6, "most": limit / 1e6}
        raise ReadError(code, path=str(path), **values)


class BoundedReader(io.RawIOBase):
    """The content of a compressed file; reading fails once it takes too much memory."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self._limit = memory_limit(path)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        content = self._file.read(len(buffer))
        buffer[: len(content)] = content
        if (position := self._file.tell()) > self._limit:
            check_memory(self._path, position)
        return len(content)
