"""Read and write memory-mapped arrays without keeping their pages in memory."""

import mmap
import os
import tempfile
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from momentree._files import scratch

_PART = 1 << 16
"""Entries of a part of a memory-mapped array."""
_AROUND = 1 << 21
"""Linux also maps pages up to so many bytes away from one that is read or written, if they are in
memory: the largest folio of a file."""
_WINDOW = 1 << 22
"""Bytes of a mapped file of which single entries are read before their pages are released."""
SMALL = 1 << 18
"""Arrays of fewer bytes stay in memory."""


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
    whole = np.frombuffer(file, np.uint8)
    start = array.ctypes.data - whole.ctypes.data
    first = max(start - start % mmap.PAGESIZE - _AROUND, 0)
    last = min(start + array.nbytes + _AROUND, whole.nbytes)
    file.madvise(mmap.MADV_DONTNEED, first, last - first)


def in_parts(array: NDArray[Any], *, always: bool = False) -> Iterator[NDArray[Any]]:
    """Yield an array, in parts that are released after use if it is mapped from a file.

    With `always`, arrays in memory come in parts too, which stay in the cache for several uses.
    """
    if mapped(array) is None and not always:
        yield array
        return
    for start in range(0, len(array), _PART):
        part = array[start : start + _PART]
        yield part
        release(part)


def digest(*arrays: NDArray[Any]) -> bytes:
    """Return 16 bytes that depend on all entries, types and shapes; no page stays in memory."""
    found = blake2b(digest_size=16)
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        rows = np.atleast_1d(array)
        # Of one number for all rows, only that is read.
        for part in in_parts(rows if rows.strides[0] else rows[:1], always=True):
            found.update(np.ascontiguousarray(part).data)
    return found.digest()


def windows(array: NDArray[Any], at: NDArray[Any]) -> Iterator[slice]:
    """Divide positions in an array, so that each part is within a few megabytes of the array.

    If positions ascend, there are as few parts as possible. An array in memory needs only one.
    """
    if mapped(array) is None:
        yield slice(0, len(at))
        return
    cuts = np.flatnonzero(np.diff(at // max(_WINDOW * len(array) // max(array.nbytes, 1), 1))) + 1
    yield from map(slice, [0, *cuts.tolist()], [*cuts.tolist(), len(at)])


def picked(array: NDArray[Any], at: NDArray[Any]) -> NDArray[Any]:
    """Return the entries of an array at some positions, without keeping pages of a mapped file."""
    if mapped(array) is None:
        return np.asarray(array[at])
    out = np.empty((len(at), *array.shape[1:]), array.dtype)
    for part in windows(array, at):
        out[part] = array[at[part]]
        release_at(array, at[part])
    return out


def release_at(array: NDArray[Any], at: NDArray[Any]) -> None:
    """Release the pages of an array from the first to the last of some positions."""
    if len(at):
        release(array[int(at.min()) : int(at.max()) + 1])


def room(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return a new array, mapped from a temporary file without a name if it is large.

    The file ends with the array, and even with a killed process. Its space is reserved at once,
    because a full disk would otherwise end the process when a page is written.

    Raises
    ------
    MomentreeError
        If the disk has no room.
    """
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if n_bytes < SMALL:
        return np.empty(shape, dtype)
    with scratch(), tempfile.TemporaryFile(prefix="momentree-") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, n_bytes)
        else:
            file.truncate(n_bytes)
        found: NDArray[Any] = np.memmap(file, dtype, "r+", shape=shape)
    return found


def each_part(function: Any, *arrays: NDArray[Any]) -> NDArray[Any]:
    """Return a function of arrays with one result for each entry, part by part."""
    n, out = len(arrays[0]), None
    for start in range(0, max(n, 1), _PART):
        parts = [array[start : start + _PART] for array in arrays]
        values = np.asarray(function(*parts))
        if out is None:
            out = room((n, *values.shape[1:]), values.dtype)
        out[start : start + _PART] = values
        for part in (*parts, out[start : start + _PART]):
            release(part)
    assert out is not None  # noqa: S101 - there is at least one part
    return out


def counted(labels: NDArray[Any], n_labels: int = 0) -> NDArray[np.int64]:
    """Return how often each label occurs, from 0 to the last one or to `n_labels` - 1.

    Labels of -1, for rows in no group, are not counted.
    """
    counts = np.zeros(n_labels, dtype=np.int64)
    for part in in_parts(labels):
        found = np.bincount(part + 1, minlength=len(counts) + 1)[1:]
        found[: len(counts)] += counts
        counts = found
    return counts


def grouped(group: NDArray[Any], n_groups: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sort entries by group, stably, without random access to the whole arrays.

    Parameters
    ----------
    group : ndarray of int of shape (n,)
        Group of each entry, from 0; -1 leaves it out.
    n_groups : int
        Number of groups.

    Returns
    -------
    order : ndarray of intp
        Positions of the entries of group 0, then of group 1, and so on, each in ascending order.
    ends : ndarray of int of shape (n_groups + 1,)
        Where groups begin and end in `order`.
    """
    ends = np.zeros(n_groups + 1, dtype=np.int64)
    for part in in_parts(group):
        ends[1:] += np.bincount(part + 1, minlength=n_groups + 1)[1:]
    np.cumsum(ends, out=ends)
    order, place, start = room((int(ends[-1]),), np.intp), ends[:-1].copy(), 0
    for part in in_parts(group):
        kept = np.flatnonzero(part >= 0)
        local = part[kept]
        at = kept[np.argsort(local, kind="stable")] + start
        sizes = np.bincount(local, minlength=n_groups)
        for j, found in zip(
            np.flatnonzero(sizes), np.split(at, np.cumsum(sizes[sizes > 0])[:-1]), strict=False
        ):
            order[place[j] : place[j] + len(found)] = found
            place[j] += len(found)
        release(order)
        start += len(part)
    return order, ends
