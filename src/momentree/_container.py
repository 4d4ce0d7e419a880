"""The file of a model: a zip of one JSON manifest and .npy arrays, with a version and no pickle."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._files import whole_file
from momentree._version import __version__
from momentree.exceptions import ReadError

__all__ = [
    "check_format",
    "check_shape",
    "plain",
    "plain_params",
    "read_container",
    "reading",
    "write_container",
]

Arrays = dict[str, NDArray[Any]]

_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    EOFError,
    MemoryError,
    OverflowError,
    ValueError,
)
"""What reading a file raises that is no zip, is cut off, or holds something else."""


def write_container(
    path: str | PathLike[str], manifest: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a manifest and arrays to a file, whole or not at all; the same ones, the same bytes.

    Raises
    ------
    OSError
        If the file cannot be written; nothing is left behind.
    """
    with whole_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        # In ASCII, so that a name with half a character (a byte that is no text) comes back too.
        _add(archive, "manifest.json", json.dumps(manifest).encode())
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            _add(archive, f"{name}.npy", buffer.getvalue())


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    # A fixed date, so that the same model gives the same bytes.
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)


@contextmanager
def reading(path: str | PathLike[str]) -> Iterator[None]:
    """Turn what goes wrong while a model is read and put together into a ReadError.

    Raises
    ------
    ReadError
        If the file cannot be read, or the block found that it is damaged.
    """
    try:
        yield
    except ReadError:
        raise
    except OSError as error:
        msg = f"cannot read the model {path}: {error.strerror or error}"
        raise ReadError(msg) from error
    except _DAMAGE as error:
        msg = f"{path} is not a momentree model, or it is damaged ({error})"
        raise ReadError(msg) from error


def read_container(
    path: str | PathLike[str], known: Mapping[str, int]
) -> tuple[dict[str, Any], Arrays]:
    """Read a manifest and arrays, inside `reading`.

    Parameters
    ----------
    path : str or path-like
        The file.
    known : mapping of str to int
        The formats that are wanted, each with the newest version of it that can be read.

    Raises
    ------
    ReadError
        If the file holds another format, or a newer version.
    """
    with zipfile.ZipFile(path) as archive:
        manifest: dict[str, Any] = json.loads(archive.read("manifest.json"))
        check_format(manifest, path, known)
        arrays = {
            name[:-4]: np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
            for name in archive.namelist()
            if name.endswith(".npy")
        }
    return manifest, arrays


def check_format(
    manifest: Mapping[str, Any], path: str | PathLike[str], known: Mapping[str, int]
) -> None:
    """Refuse a manifest of another format, or of a newer version than is known.

    Raises
    ------
    ReadError
        With what the file holds.
    """
    found = str(manifest.get("format"))
    if found not in known:
        msg = f"{path} holds {found!r}, not a {' or a '.join(known)}"
        raise ReadError(msg)
    if manifest["format_version"] > known[found]:
        msg = (
            f"{path} has format version {manifest['format_version']}, this momentree "
            f"({__version__}) reads up to {known[found]}; it was written by momentree "
            f"{manifest.get('momentree')}: upgrade momentree"
        )
        raise ReadError(msg)


def check_shape(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Refuse an array of another shape: compiled code trusts shapes, so none goes unchecked.

    Raises
    ------
    ValueError
        With both shapes.
    """
    if array.shape != shape:
        msg = f"{name} has shape {array.shape}, not {shape}"
        raise ValueError(msg)


def plain(value: Any) -> Any:
    """Return a NumPy number as a number of Python, anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of an estimator as plain values.

    A generator of random numbers becomes None: its state is spent once the model is fitted.
    """
    out = {key: plain(value) for key, value in params.items()}
    if not isinstance(out["random_state"], int):
        out["random_state"] = None
    return out
