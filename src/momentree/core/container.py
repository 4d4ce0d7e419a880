"""Arrays and JSON in zip files: saved models, states and .npz, read without trusting the file.

NumPy reads headers of arrays only: it would allocate the memory that a header declares before it
reads the content. Nothing is ever pickled.
"""

import io
import json
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from momentree._files import atomic_write, check_readable
from momentree.core.limits import FLOOR, Source, check_memory, name_of
from momentree.core.pages import in_parts, room
from momentree.exceptions import InvalidDataError, MomentreeError, ReadError

DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    RuntimeError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    MemoryError,
    ArithmeticError,
    ValueError,
)
"""Errors raised by a file that is not a zip file, is truncated, or has unexpected content."""

_MAX_HEADER = 10_000
_BAD_HEADER = "the array {name!r} has an unreadable header"


class StoredArrays(Mapping[str, NDArray[Any]]):
    """The arrays of an open zip file by name, each read when it is first looked up.

    Looking up a name raises ``KeyError`` if it is missing, ``ReadError`` if the array exceeds the
    memory limit for a file of this size, and ``InvalidDataError`` or ``ValueError`` if it is
    damaged or contains objects. With `in_files`, large ones are mapped from temporary files.
    """

    def __init__(self, archive: zipfile.ZipFile, path: Source, *, in_files: bool = False) -> None:
        self._archive, self._path, self._in_files = archive, path, in_files
        self._names = [name[:-4] for name in archive.namelist() if name.endswith(".npy")]
        self._arrays: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._arrays:
            known = sum(array.nbytes for array in self._arrays.values())
            member = f"{name}.npy"
            info = self._archive.getinfo(member)
            stored = info.compress_type == zipfile.ZIP_STORED
            if self._in_files and stored and info.file_size > FLOOR:
                check_memory(self._path, known + info.file_size)
                self._arrays[name] = _in_file(name, self._archive, info)
            else:
                content = read_member(self._archive, member, self._path, known=known)
                self._arrays[name] = _parse(name, content)
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def read_array(path: str | PathLike[str]) -> NDArray[Any]:
    """Return the array in a .npy file.

    Raises ``InvalidDataError`` or ``ValueError`` if it is damaged or contains objects.
    """
    return _parse(Path(path).name, Path(path).read_bytes())


def read_member(archive: zipfile.ZipFile, name: str, path: Source, *, known: int = 0) -> bytes:
    """Return the content of a zip member, after `known` bytes have been read from other members."""
    info = archive.getinfo(name)
    check_memory(path, known + info.file_size)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InvalidDataError("{name!r} is compressed with a method other than deflate", name=name)
    with archive.open(info) as file:
        return file.read(info.file_size)  # without a size, it could expand further


def _in_file(name: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """Return a large array, mapped from a temporary file without a name."""
    with archive.open(info) as file:
        head = file.read(_MAX_HEADER)
        dtype, order, shape, start = _described(name, head)
        array = room(((info.file_size - start) // dtype.itemsize,), dtype)
        rest = head[start:]
        for part in in_parts(array):
            part[:] = np.frombuffer(rest + file.read(part.nbytes - len(rest)), dtype)
            rest = b""
        file.read()  # to the end, where the checksum is compared
    return np.asarray(array).reshape(shape, order=order)


def _parse(name: str, content: bytes) -> NDArray[Any]:
    """Return the array stored in the content of a .npy file."""
    dtype, order, shape, start = _described(name, content)
    array = np.frombuffer(memoryview(content)[start:], dtype=dtype)
    return array.reshape(shape, order=order).copy(order="K")


def _described(
    name: str, content: bytes
) -> tuple[np.dtype[Any], Literal["F", "C"], tuple[int, ...], int]:
    """Return the type, order and shape of an array, and where its entries begin."""
    file = io.BytesIO(content[:_MAX_HEADER])
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # Python 2 wrote 3L for 3
            shape, in_columns, dtype = read(file)
    except (SyntaxError, TokenError, ValueError) as error:
        raise InvalidDataError(_BAD_HEADER, name=name) from error
    if min(shape, default=0) < 0:
        raise InvalidDataError(_BAD_HEADER, name=name)
    if dtype.hasobject:
        raise InvalidDataError(
            "[array_of_objects] the array {name!r} contains pickled objects, which are never "
            "loaded",
            name=name,
        )
    return dtype, "F" if in_columns else "C", shape, file.tell()


Arrays = Mapping[str, NDArray[Any]]

MANIFEST = "manifest.json"


def write_container(path: str | PathLike[str], manifest: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a manifest and arrays to a file atomically; equal content gives equal bytes."""
    with atomic_write(path) as file:
        _write(file, manifest, arrays)


def container_bytes(manifest: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Return the content of the file that :func:`write_container` writes."""
    buffer = io.BytesIO()
    _write(buffer, manifest, arrays)
    return buffer.getvalue()


def _write(file: BinaryIO, manifest: Mapping[str, Any], arrays: Arrays) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        # ASCII JSON also preserves names that contain unpaired surrogates.
        _add(archive, MANIFEST, json.dumps(manifest).encode())
        for name, array in arrays.items():
            head = io.BytesIO()
            npy.write_array_header_1_0(head, npy.header_data_from_array_1_0(array))
            _add(archive, f"{name}.npy", head.getvalue(), array)


def _add(
    archive: zipfile.ZipFile, name: str, content: bytes, array: NDArray[Any] | None = None
) -> None:
    """Write content, and after it the entries of an array, part by part."""
    # A fixed date, so that equal models give equal bytes.
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.file_size = len(content) + (0 if array is None else array.nbytes)
    # Store large content uncompressed: its compression ratio may exceed the limits for reading.
    info.compress_type = zipfile.ZIP_STORED if info.file_size > FLOOR else zipfile.ZIP_DEFLATED
    with archive.open(info, "w") as file:
        file.write(content)
        if array is None:
            return
        # Arrays in the order of Fortran are written as such.
        rows = np.atleast_1d(array.T if np.isfortran(array) else array)
        for part in in_parts(rows, always=True):
            file.write(np.ascontiguousarray(part).data)


@contextmanager
def reading(
    source: Source, *, unreadable: str, damaged: str
) -> Iterator[tuple[dict[str, Any], Arrays]]:
    """Open a file or its content, and convert errors within the block to ReadError.

    `unreadable` and `damaged` are the codes of these errors.
    """
    file = io.BytesIO(source) if isinstance(source, bytes) else check_readable(source)
    name = name_of(source)
    try:
        with zipfile.ZipFile(file) as archive:
            manifest: dict[str, Any] = json.loads(read_member(archive, MANIFEST, source))
            yield manifest, StoredArrays(archive, source, in_files=True)
    except ReadError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise ReadError(unreadable, path=name, error=reason) from error
    except DAMAGE as error:
        damage = error.message if isinstance(error, MomentreeError) else str(error)
        raise ReadError(damaged, path=name, error=damage) from error
