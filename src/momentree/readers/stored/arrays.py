"""Write an array of unknown length to a ``.npy`` file, batch by batch."""

from __future__ import annotations

import os
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from momentree.core.container import DAMAGE
from momentree.core.pages import in_parts
from momentree.exceptions import ReadError

_BLOCK = 1 << 20
"""Entries copied at a time when the type of a file changes."""


class ArrayWriter:
    """Appends arrays of one dimension to a ``.npy`` file.

    Parameters
    ----------
    path : Path
        The file, which must not exist.
    dtype : dtype-like
        Type of its entries.
    """

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self.path = path
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._file: BinaryIO = path.open("xb")
        self._header()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def append(self, values: NDArray[Any]) -> None:
        """Add values, whose type must be that of the file or narrower."""
        values = np.ascontiguousarray(values, dtype=self.dtype)
        self._file.write(values.data)
        self.size += len(values)

    def widen(self, dtype: DTypeLike) -> None:
        """Change the type of the file, and of the entries written so far."""
        self._file.flush()
        before, self.dtype = self.dtype, np.dtype(dtype)
        if before == self.dtype:
            return
        wide = self.path.with_name(f"{self.path.name}.wide")
        size, self.size = self.size, 0
        with self.path.open("rb") as old:
            self._file.close()
            self._file = wide.open("xb")
            self._header()
            old.seek(self._start)
            for start in range(0, size, _BLOCK):
                n = min(_BLOCK, size - start)
                self.append(np.frombuffer(old.read(n * before.itemsize), before))
        wide.replace(self.path)

    def finish(self) -> None:
        """Write the length, and everything to disk."""
        self._file.flush()
        self._file.seek(0)
        self._header()
        self._file.flush()
        os.fsync(self._file.fileno())  # fails here at the latest if the disk is full
        self._file.close()

    def _header(self) -> None:
        # NumPy leaves room for a longer first axis, so that the header can be written again.
        header = {
            "shape": (self.size,),
            "fortran_order": False,
            "descr": npy.dtype_to_descr(self.dtype),
        }
        npy.write_array_header_1_0(self._file, header)
        self._start = self._file.tell()


def write_array(path: Path, values: NDArray[Any]) -> None:
    """Write an array of one dimension to a ``.npy`` file, and to disk."""
    with ArrayWriter(path, values.dtype) as file:
        for part in in_parts(values):
            file.append(part)
        file.finish()


def _described(path: Path) -> tuple[int, np.dtype[Any], int]:
    """Return the length, the type and the place of the first entry of a file."""
    try:
        with path.open("rb") as file:
            npy.read_magic(file)
            shape, _, dtype = npy.read_array_header_1_0(file)
            start = file.tell()
        (n,) = shape
        if path.stat().st_size != start + n * dtype.itemsize:
            raise EOFError
    except (OSError, *DAMAGE, SyntaxError, TokenError) as error:
        raise ReadError("stored_file_damaged", path=str(path)) from error
    return int(n), dtype, start


def open_array(path: Path) -> NDArray[Any]:
    """Open a ``.npy`` file of one dimension as a memory map, which is read as needed.

    A file that is missing or not as long as it should be is a ``ReadError``.
    """
    n, dtype, start = _described(path)
    return np.memmap(path, dtype, "r", start, (n,)) if n else np.empty(0, dtype)


class ArrayReader:
    """Reads parts of a ``.npy`` file of one dimension, which do not stay in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._n, self.dtype, self._start = _described(path)

    def __len__(self) -> int:
        return self._n

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return the entries from `start` to `stop`."""
        offset = self._start + start * self.dtype.itemsize
        return np.fromfile(self._path, self.dtype, stop - start, offset=offset)
