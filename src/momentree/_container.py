"""Read and write files of models and states: ZIP archives of JSON and .npy arrays, no pickle."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from momentree._arrays import DAMAGE, StoredArrays, read_member
from momentree._files import atomic_write, check_readable
from momentree._limits import FLOOR, Source, name_of
from momentree._pages import in_parts
from momentree.exceptions import MomentreeError, ReadError

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
