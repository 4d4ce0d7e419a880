"""Texts on disk, read one by one or in batches; their number does not matter for memory."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import Self, overload

import numpy as np

from momentree.exceptions import ReadError
from momentree.readers.stored.arrays import ArrayReader, ArrayWriter

_AT_ONCE = 1 << 12
"""Texts read at a time when all are read in order."""
_HEADER = 128
"""Bytes before the entries of a `.npy` file of one dimension."""
MAX_CODEST = 1 << 30
"""Bytes that any system reads at once."""


class StringsWriter:
    """Appends texts to a file in UTF-8, and their ends to another."""

    def __init__(self, path: Path) -> None:
        self._file = path.with_suffix(".bin").open("xb")
        self._ends = ArrayWriter(path.with_suffix(".npy"), np.int64)
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
        self._ends.__exit__(*error)

    def extend(self, texts: Iterable[str]) -> None:
        """Add texts."""
        ends = array("q")
        for text in texts:
            content = text.encode("utf-8", "surrogatepass")
            self._file.write(content)
            self._end += len(content)
            ends.append(self._end)
        self._ends.append(np.frombuffer(ends, np.int64))

    def finish(self) -> None:
        """Write everything to disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._ends.finish()


def write_strings(path: Path, texts: Iterable[str]) -> None:
    """Write texts to files, and to disk."""
    with StringsWriter(path) as file:
        file.extend(texts)
        file.finish()


class StoredStrings(Sequence[str]):
    """A sequence of texts in a file; a slice is read into a list.

    Parameters
    ----------
    path : Path
        The file without its suffix, as given to `StringsWriter`.

    Attributes
    ----------
    n_bytes : int
        Size of all texts.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        ends = ArrayReader(path.with_suffix(".npy"))
        self._n = len(ends)
        self.n_bytes = int(ends.read(self._n - 1, self._n)[0]) if self._n else 0
        texts = path.with_suffix(".bin")
        if not texts.is_file() or texts.stat().st_size != self.n_bytes:
            raise ReadError("stored_file_damaged", path=str(texts))

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[str]:
        for start in range(0, self._n, _AT_ONCE):
            yield from self[start : start + _AT_ONCE]

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            start, stop, step = at.indices(self._n)
            if step != 1:
                return [self[i] for i in range(start, stop, step)]
            return self._read(start, max(start, stop))
        i = int(at) + (self._n if at < 0 else 0)
        if not 0 <= i < self._n:
            raise IndexError(at)
        return self._read(i, i + 1)[0]

    def batches(self, n_bytes: int) -> Iterator[list[str]]:
        """Yield all texts in order, in lists of about so many bytes."""
        ends = ArrayReader(self._path.with_suffix(".npy"))
        last = 0
        for start in range(0, self._n, _AT_ONCE):
            found = ends.read(start, min(start + _AT_ONCE, self._n))
            at = 0
            while at < len(found):
                stop = max(at + 1, int(np.searchsorted(found, last + n_bytes, "right")))
                yield self._read(start + at, start + stop)
                at, last = stop, int(found[stop - 1])

    def _read(self, start: int, stop: int) -> list[str]:
        """Read texts without mapping the file into memory."""
        if start == stop:
            return []
        first, file = max(start - 1, 0), self._path.with_suffix(".bin")
        try:
            with self._path.with_suffix(".npy").open("rb", buffering=0) as ends:
                ends.seek(_HEADER + 8 * first)
                at = np.frombuffer(_exactly(ends, 8 * (stop - first)), np.int64).tolist()
            at = at if start else [0, *at]
            with file.open("rb", buffering=0) as texts:
                texts.seek(at[0])
                content = _exactly(texts, at[-1] - at[0])
            parts = (content[a - at[0] : b - at[0]] for a, b in pairwise(at))
            return [part.decode("utf-8", "surrogatepass") for part in parts]
        except (OSError, EOFError, ValueError) as error:
            raise ReadError("stored_file_damaged", path=str(file)) from error


def _exactly(file: FileIO, size: int) -> bytes:
    """Read so many bytes, which the operating system may return in parts."""
    parts = []
    while size:
        part = file.read(min(size, MAX_CODEST))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class Numbers(Sequence[str]):
    """The numbers from 1 to n as texts: names of documents that have none."""

    def __init__(self, n: int) -> None:
        self._range = range(1, n + 1)

    def __len__(self) -> int:
        return len(self._range)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        found = self._range[at]
        return str(found) if isinstance(found, int) else list(map(str, found))
