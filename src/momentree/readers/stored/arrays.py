"""Arrays and texts in files, written batch by batch, and read as needed without staying in memory.

An array of one dimension is a ``.npy`` file. Texts are a ``.bin`` file of UTF-8 with an array of
their ends.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, Self, overload

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from momentree.core.container import DAMAGE
from momentree.core.pages import in_parts
from momentree.exceptions import ReadError

_STORED_FILE_DAMAGED = "[stored_file_damaged] {path} is missing, cut off or changed; write it again"


_BLOCK = 1 << 20
"""Entries copied at a time when the type of a file changes."""
_TEXTS = 1 << 12
"""Texts read at a time when all are read in order."""


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
        self.path, self.dtype, self.size = path, np.dtype(dtype), 0
        self._file: BinaryIO = path.open("xb")
        self._write_header()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def append(self, values: NDArray[Any]) -> None:
        """Add values, whose type must be that of the file or narrower."""
        self._file.write(np.ascontiguousarray(values, dtype=self.dtype).data)
        self.size += len(values)

    def widen(self, dtype: DTypeLike) -> None:
        """Change the type of the file, and of the entries written so far."""
        if self.dtype == np.dtype(dtype):
            return
        self.finish()
        wide = self.path.with_name(f"{self.path.name}.wide")
        with ArrayWriter(wide, dtype) as writer:
            written = ArrayReader(self.path)
            for start in range(0, self.size, _BLOCK):
                writer.append(written.read(start, min(start + _BLOCK, self.size)))
        wide.replace(self.path)
        self.dtype, self._file = writer.dtype, self.path.open("r+b")
        self._file.seek(0, os.SEEK_END)

    def finish(self) -> None:
        """Write the length, and everything to disk."""
        self._file.seek(0)
        self._write_header()
        self._file.flush()
        os.fsync(self._file.fileno())  # fails here at the latest if the disk is full
        self._file.close()

    def _write_header(self) -> None:
        # NumPy leaves room for a longer first axis, so that the header can be written again.
        descr = npy.dtype_to_descr(self.dtype)
        header = {"shape": (self.size,), "fortran_order": False, "descr": descr}
        npy.write_array_header_1_0(self._file, header)


def write_array(path: Path, values: NDArray[Any]) -> None:
    """Write an array of one dimension to a ``.npy`` file, and to disk."""
    with ArrayWriter(path, values.dtype) as file:
        for part in in_parts(values):
            file.append(part)
        file.finish()


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of numbers or texts to a Parquet file."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    pq.write_table(pa.table(dict(columns)), path)


def read_table(path: Path) -> dict[str, NDArray[Any]]:
    """Return the columns of a table that :func:`write_table` has written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise ReadError(_STORED_FILE_DAMAGED, path=str(path)) from error
    columns = zip(table.column_names, table.columns, strict=True)
    return {name: column.to_numpy() for name, column in columns}


class ArrayReader:
    """Reads parts of a ``.npy`` file of one dimension, which do not stay in memory.

    A file that is missing or not as long as it should be is a ``ReadError``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                npy.read_magic(file)
                (self.size,), _, self.dtype = npy.read_array_header_1_0(file)
                self.start = file.tell()
            if path.stat().st_size != self.start + self.size * self.dtype.itemsize:
                raise EOFError
        except (OSError, *DAMAGE, SyntaxError, TokenError) as error:
            raise ReadError(_STORED_FILE_DAMAGED, path=str(path)) from error

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return the entries from `start` to `stop`."""
        offset = self.start + start * self.dtype.itemsize
        return np.fromfile(self.path, self.dtype, stop - start, offset=offset)


def open_array(path: Path) -> NDArray[Any]:
    """Open a ``.npy`` file of one dimension as a memory map, which is read as needed."""
    file = ArrayReader(path)
    if not file.size:
        return np.empty(0, file.dtype)
    return np.memmap(path, file.dtype, "r", file.start, (file.size,))


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
        sizes = []
        for text in texts:
            content = text.encode("utf-8", "surrogatepass")
            self._file.write(content)
            sizes.append(len(content))
        if sizes:
            ends = self._end + np.cumsum(sizes, dtype=np.int64)
            self._ends.append(ends)
            self._end = int(ends[-1])

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
        self._ends, self._file = ArrayReader(path.with_suffix(".npy")), path.with_suffix(".bin")
        n = self._ends.size
        self.n_bytes = int(self._ends.read(n - 1, n)[0]) if n else 0
        if not self._file.is_file() or self._file.stat().st_size != self.n_bytes:
            raise ReadError(_STORED_FILE_DAMAGED, path=str(self._file))

    def __len__(self) -> int:
        return self._ends.size

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _TEXTS):
            yield from self[start : start + _TEXTS]

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        chosen = range(len(self))[place]
        if isinstance(chosen, int):
            return self._read(chosen, chosen + 1)[0]
        if chosen.step != 1:
            return [self[i] for i in chosen]
        return self._read(chosen.start, max(chosen.start, chosen.stop))

    def batches(self, n_bytes: int) -> Iterator[list[str]]:
        """Yield all texts in order, in lists of about so many bytes."""
        end_before = 0
        for start in range(0, len(self), _TEXTS):
            ends = self._ends.read(start, min(start + _TEXTS, len(self)))
            first = 0
            while first < len(ends):
                last = int(np.searchsorted(ends, end_before + n_bytes, "right"))
                last = max(first + 1, last)
                yield self._read(start + first, start + last)
                first, end_before = last, int(ends[last - 1])

    def _read(self, start: int, stop: int) -> list[str]:
        """Read texts without mapping the file into memory."""
        if start == stop:
            return []
        cause: Exception | None = None
        try:
            ends = self._ends.read(max(start - 1, 0), stop).tolist()
            ends = ends if start else [0, *ends]
            size = ends[-1] - ends[0]
            content = np.fromfile(self._file, np.uint8, size, offset=ends[0]).tobytes()
            if len(content) == size:
                parts = (content[a - ends[0] : b - ends[0]] for a, b in pairwise(ends))
                return [part.decode("utf-8", "surrogatepass") for part in parts]
        except (OSError, EOFError, ValueError, OverflowError, MemoryError) as error:
            cause = error
        raise ReadError(_STORED_FILE_DAMAGED, path=str(self._file)) from cause


class Numbers(Sequence[str]):
    """The numbers from 1 to n as texts: names of documents that have none."""

    def __init__(self, n: int) -> None:
        self._range = range(1, n + 1)

    def __len__(self) -> int:
        return len(self._range)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        chosen = self._range[place]
        return str(chosen) if isinstance(chosen, int) else list(map(str, chosen))
