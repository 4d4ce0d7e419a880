"""The file of a model: a zip of one JSON manifest and .npy arrays, with a version and no pickle."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._arrays import DAMAGE, StoredArrays, read_member
from momentree._files import atomic_write, check_readable
from momentree._limits import FLOOR
from momentree._version import __version__
from momentree.exceptions import ReadError

__all__ = [
    "Arrays",
    "check_numbers",
    "check_shape",
    "check_types",
    "plain",
    "plain_params",
    "reading",
    "write_container",
]

Arrays = Mapping[str, NDArray[Any]]


LARGEST = 1e200
"""No parameter reaches this; larger ones overflow wherever they are used."""


def write_container(
    path: str | PathLike[str], manifest: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a manifest and arrays to a file, whole or not at all; the same ones, the same bytes.

    Raises
    ------
    OSError
        If the file cannot be written; nothing is left behind.
    """
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        # In ASCII, so that a name with half a character (a byte that is no text) comes back too.
        _add(archive, "manifest.json", json.dumps(manifest).encode())
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            _add(archive, f"{name}.npy", buffer.getvalue())


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    # A fixed date, so that the same model gives the same bytes.
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    # What is large may also compress further than a file may unfold.
    info.compress_type = zipfile.ZIP_STORED if len(content) > FLOOR else zipfile.ZIP_DEFLATED
    archive.writestr(info, content)


@contextmanager
def reading(
    path: str | PathLike[str], known: Mapping[str, int]
) -> Iterator[tuple[dict[str, Any], Arrays]]:
    """Open the file of a model, and turn what goes wrong in the block into a ReadError.

    Parameters
    ----------
    path : str or path-like
        The file.
    known : mapping of str to int
        The formats that are wanted, each with the newest version of it that can be read.

    Yields
    ------
    manifest : dict
        Its entries that all formats have are of their types.
    arrays : mapping of str to ndarray
        Each is read when it is used, so that others cost nothing.

    Raises
    ------
    ReadError
        If the file cannot be read, holds another format or a newer version, or the block found
        that it is damaged.
    InvalidParameterError
        If the path is none.
    """
    found = check_readable(path)
    try:
        with zipfile.ZipFile(found) as archive:
            manifest: dict[str, Any] = json.loads(read_member(archive, "manifest.json", path))
            _check_format(manifest, path, known)
            yield manifest, StoredArrays(archive, path)
    except ReadError:
        raise
    except OSError as error:
        msg = f"cannot read the model {path}: {error.strerror or error}"
        raise ReadError(msg) from error
    except DAMAGE as error:
        msg = f"{path} is not a momentree model, or it is damaged ({error})"
        raise ReadError(msg) from error


def _check_format(
    manifest: Mapping[str, Any], path: str | PathLike[str], known: Mapping[str, int]
) -> None:
    found = str(manifest.get("format"))
    if found not in known:
        msg = f"{path} holds {found!r}, not a {' or a '.join(known)}"
        raise ReadError(msg)
    types: dict[str, Any] = {"format_version": int, "params": dict, "vectorizer": dict | None}
    check_types(manifest, types)
    if manifest["format_version"] > known[found]:
        msg = (
            f"{path} has format version {manifest['format_version']}, this momentree "
            f"({__version__}) reads up to {known[found]}; it was written by momentree "
            f"{manifest.get('momentree')}: upgrade momentree"
        )
        raise ReadError(msg)
    if manifest["format_version"] < 1:
        msg = f"format version {manifest['format_version']}"
        raise ValueError(msg)


def check_types(record: Mapping[str, Any], types: Mapping[str, Any]) -> None:
    """Refuse a record of plain values that lacks an entry, or has one of another type.

    Parameters
    ----------
    record : mapping of str to object
        From a file.
    types : mapping of str to type
        What the entries must be. True is no number, and numbers are finite.

    Raises
    ------
    KeyError
        If one is not there.
    TypeError
        With the name and value of one that is something else.
    """
    for name, kind in types.items():
        value = record[name]
        good = isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool)
        if not good or (isinstance(value, float) and not math.isfinite(value)):
            msg = f"{name} is {value!r}"
            raise TypeError(msg)


def check_numbers(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Refuse an array of another shape than expected, or of something else than usable floats.

    Raises
    ------
    ValueError
        With what is wrong.
    """
    check_shape(name, array, shape)
    if array.dtype.kind != "f" or not (np.abs(array) < LARGEST).all():
        msg = f"{name} holds what is no finite number, or one beyond {LARGEST:g}"
        raise ValueError(msg)


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
