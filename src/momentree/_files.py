"""Files: inputs looked at before they are opened, outputs written whole or not at all."""

from __future__ import annotations

import errno
import os
import platform
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from momentree.exceptions import InvalidParameterError, ReadError

try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None  # type: ignore[assignment]

__all__ = ["atomic_write", "check_readable", "staging"]


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
def atomic_write(path: str | PathLike[str]) -> Iterator[BinaryIO]:
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
    with staging(target.parent) as folder:
        temporary = folder / target.name
        with temporary.open("xb") as file:
            yield file
        temporary.replace(target)


@contextmanager
def staging(beside: Path) -> Iterator[Path]:
    """Make a hidden folder for unfinished files, and remove it at the end.

    The folder is locked for as long as the process lives. One that is not locked belongs to a
    process that was killed: it is removed before a new one is made.

    Parameters
    ----------
    beside : Path
        The folder in which it is made, so that files can be moved without being copied.

    Yields
    ------
    Path
        The new folder.

    Raises
    ------
    OSError
        If no folder can be made.

    Notes
    -----
    Locks of another machine may not be seen on a shared disk. So names hold that of the machine,
    and a folder of another one stays, as does any folder where the system has no locks.
    """
    prefix = f".momentree-{re.sub('[^A-Za-z0-9.]', '_', platform.node())}-"
    with suppress(OSError):  # a folder may be open to new files and not be read
        for name in os.listdir(beside):
            if name.startswith(prefix):
                _remove_if_abandoned(beside / name)
    folder, lock = _make(beside, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _make(beside: Path, prefix: str) -> tuple[Path, int | None]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=beside))
        lock = _lock(folder, wait=True)
        if folder.exists():
            return folder, lock
        # Another process took it for abandoned, before it was locked.
        if lock is not None:
            os.close(lock)


def _remove_if_abandoned(folder: Path) -> None:
    lock = _lock(folder, wait=False)
    if lock is not None:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _lock(folder: Path, *, wait: bool) -> int | None:
    """Lock a folder until its descriptor is closed; None where that cannot be done."""
    if fcntl is None:
        return None
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        return None
    return handle
