"""Arrays in zip files (.npz and the files of models), read without trust in what they claim.

NumPy's own reader evaluates the header of an array as Python, ends with errors of the tokenizer
where it is damaged, and allocates what the header claims before it looks at what is there.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._limits import check_unfolded

__all__ = ["DAMAGE", "StoredArrays", "read_member"]

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
"""What reading a file raises that is no zip, is cut off, or holds something else."""

_MAGIC = re.compile(rb"\x93NUMPY(?:\x01\x00(?P<v1>..)|[\x02\x03]\x00(?P<v2>....))", re.DOTALL)
_FIELDS = {
    "descr": re.compile(r"'descr': *'([<>|=]?[?biufcSUO]\d*)'"),
    "fortran_order": re.compile(r"'fortran_order': *(True|False)"),
    "shape": re.compile(r"'shape': *\(([\d, L]*)\)"),  # Python 2 wrote 3L for 3
}
_LONGEST_HEADER = 10_000


class StoredArrays(Mapping[str, NDArray[Any]]):
    """The arrays of an open zip file by their names, each read when it is asked for.

    Parameters
    ----------
    archive : ZipFile
        Holds one .npy file for each array.
    path : path-like
        Where it lies.

    Raises
    ------
    KeyError
        From looking up a name that is not there.
    ReadError
        From looking up an array that takes more memory than a file of this size may.
    ValueError
        From looking up an array that is damaged, or holds objects.
    """

    def __init__(self, archive: zipfile.ZipFile, path: str | PathLike[str]) -> None:
        self._archive, self._path = archive, path
        self._names = [name[:-4] for name in archive.namelist() if name.endswith(".npy")]
        self._found: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return an array, the same each time."""
        if name not in self._found:
            known = sum(array.nbytes for array in self._found.values())
            content = read_member(self._archive, f"{name}.npy", self._path, known=known)
            self._found[name] = _parsed(name, content)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return the number of arrays."""
        return len(self._names)


def read_member(
    archive: zipfile.ZipFile, name: str, path: str | PathLike[str], *, known: int = 0
) -> bytes:
    """Read a file in an open zip file.

    Parameters
    ----------
    archive : ZipFile
        The zip file.
    name : str
        The file in it.
    path : path-like
        Where the zip file lies.
    known : int, default=0
        Bytes that others of its files took.

    Returns
    -------
    bytes
        The content.

    Raises
    ------
    KeyError
        If there is no such file.
    ReadError
        If it takes more memory than a file of this size may.
    ValueError
        If it is packed in a way that can take any memory.
    """
    info = archive.getinfo(name)
    check_unfolded(path, known + info.file_size, name)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        msg = f"{name} is compressed in another way than by deflate"
        raise ValueError(msg)
    with archive.open(info) as file:
        return file.read(info.file_size)  # without a number it may inflate to more


def _parsed(name: str, content: bytes) -> NDArray[Any]:
    magic = _MAGIC.match(content)
    if magic is None:
        msg = f"{name!r} is no array of NumPy"
        raise ValueError(msg)
    start = magic.end() + int.from_bytes(magic["v1"] or magic["v2"], "little")
    header = content[magic.end() : min(start, _LONGEST_HEADER)].decode("latin-1")
    fields = {key: pattern.search(header) for key, pattern in _FIELDS.items()}
    if not all(fields.values()):
        msg = f"the array {name!r} has a header that cannot be read: {header[:60].strip()!r}"
        raise ValueError(msg)
    descr, order, sizes = (field[1] for field in fields.values() if field is not None)
    dtype = np.dtype(descr)
    if dtype.hasobject:
        msg = f"the array {name!r} holds pickled objects, which are never read (allow_pickle)"
        raise ValueError(msg)
    shape = tuple(int(size.strip(" L")) for size in sizes.split(",") if size.strip())
    array = np.frombuffer(memoryview(content)[start:], dtype=dtype)
    return array.reshape(shape, order="F" if order == "True" else "C").copy(order="K")
