"""Read memory-mapped arrays without keeping their pages in memory."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PART = 1 << 20
"""Entries of a part of a memory-mapped array."""


def mapped(array: NDArray[Any]) -> mmap.mmap | None:
    """Return the file that an array is mapped from, or None.

    None is also the answer for a mapping with changes that are not in the file (mode "c"): without
    its pages, they would be lost.
    """
    base: Any = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and base.mode == "c":
            return None
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def release(array: NDArray[Any]) -> None:
    """Release the pages of an array that is mapped from a file; they are read again if needed.

    Pages that have been read count as memory of the process, and the system removes them only
    when it has none left.
    """
    file = mapped(array)
    if file is None or not array.nbytes or not hasattr(file, "madvise"):
        return
    begin = np.frombuffer(file, np.uint8).ctypes.data
    start = array.ctypes.data - begin
    first = start - start % mmap.PAGESIZE
    file.madvise(mmap.MADV_DONTNEED, first, start + array.nbytes - first)


def in_parts(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield an array, in parts that are released after use if it is mapped from a file."""
    if mapped(array) is None:
        yield array
        return
    for start in range(0, len(array), _PART):
        part = array[start : start + _PART]
        yield part
        release(part)
