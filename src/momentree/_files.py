"""Files: inputs looked at before they are opened, outputs written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from momentree.exceptions import InvalidParameterError, ReadError

__all__ = ["check_readable", "whole_file"]


def check_readable(path: str | PathLike[str]) -> Path:
    """Return a path after checking that a file or folder is there: the door for every input.

    Parameters
    ----------
    path : str or path-like
        A file or folder.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    ReadError
        If there is nothing, or it is neither a file nor a folder. A pipe, a socket or a device is
        neither: it may never end, and files are read more than once.
    InvalidParameterError
        If it is no path at all, or an empty one, which would be the current folder.
    """
    try:
        given = os.fspath(path)
        found = Path(given)
    except TypeError as error:
        msg = f"path={path!r} is not a path; give a file or folder as str or pathlib.Path"
        raise InvalidParameterError(msg) from error
    if not given:
        msg = "the path is empty; give a file or folder ('.' is the current folder)"
        raise InvalidParameterError(msg)
    try:
        mode = found.stat().st_mode
    except FileNotFoundError as error:
        msg = f"cannot read {found}: there is no such file or folder"
        raise ReadError(msg) from error
    except (OSError, ValueError) as error:  # also a loop of links, or a zero byte
        msg = f"cannot read {found}: {getattr(error, 'strerror', None) or error}"
        raise ReadError(msg) from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        msg = (
            f"cannot read {found}: it is a pipe, a socket or a device; save its content as a file "
            "and give that"
        )
        raise ReadError(msg)
    return found


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its place only when all is written.

    Parameters
    ----------
    path : str or path-like
        File to write; one that exists is replaced.

    Yields
    ------
    file object
        For bytes. If the block ends by an exception nothing is left behind, and a file that was
        there is as it was.

    Raises
    ------
    OSError
        If the folder is missing or cannot be written, or the disk is full.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(target.parent))
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        # mkstemp keeps the file to its owner; this one has the rights of any new file.
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
