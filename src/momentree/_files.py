"""Check files before they are opened; write files completely or not at all."""

from __future__ import annotations

import errno
import os
import platform
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO, cast

from momentree.exceptions import InvalidParameterError, MomentreeError, ReadError

try:
    import fcntl
except ImportError:  # the system does not have these locks
    fcntl = None  # type: ignore[assignment]

# Paths here are open files of a process, which are written to, never replaced.
_DESCRIPTORS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))
_TRIES = 50
"""Time to wait for the reader of a pipe, in tenths of a second."""


def check_readable(path: str | PathLike[str]) -> Path:
    """Check that a file or folder can be read, and return its path.

    Pipes, sockets and devices are rejected: they may never end, and files are read more than once.
    """
    try:
        given = os.fspath(path)
        found = Path(given)
    except TypeError as error:
        raise InvalidParameterError("not_a_path", parameter="path", value=path) from error
    if not given:
        raise InvalidParameterError("empty_path")
    try:
        mode = found.stat().st_mode
    except FileNotFoundError as error:
        raise ReadError("no_such_file", path=str(found)) from error
    except (OSError, ValueError) as error:  # also a loop of links, or a zero byte
        reason = getattr(error, "strerror", None) or str(error)
        raise ReadError("unreadable_path", path=str(found), error=reason) from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ReadError("not_a_regular_file", path=str(found))
    return found


def read_file(path: str | PathLike[str]) -> bytes:
    """Return the content of a file."""
    found = check_readable(path)
    try:
        return found.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ReadError("unreadable_path", path=str(found), error=reason) from error


def is_special(path: Path) -> bool:
    """Return whether a path leads to a pipe, a socket or a device."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def destination(path: Path) -> tuple[Path, bool]:
    """Return the path that a file is written to, after links, and whether it is a stream.

    Streams are pipes, sockets, devices and open files of a process. Their content is poured into
    them; all other files are replaced.
    """
    if is_special(path) or (path.parent in _DESCRIPTORS and path.is_file()):
        return path, True
    return Path(os.path.realpath(path)), False


def pour(temporary: Path, stream: Path) -> None:
    """Write a complete file to a stream, and wait for a reader if it is a pipe."""
    sink: BinaryIO
    sink = _pipe_with_reader(stream) if stream.is_fifo() else stream.open("wb")
    with temporary.open("rb") as source, sink:
        shutil.copyfileobj(source, sink)


def _pipe_with_reader(pipe: Path) -> BinaryIO:
    """Open a pipe for writing; fail if no reader appears in time."""
    for left in range(_TRIES, -1, -1):
        try:
            descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO or not left:
                raise
            time.sleep(0.1)
        else:
            break
    os.set_blocking(descriptor, True)
    return cast("BinaryIO", os.fdopen(descriptor, "wb"))


@contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing, and put it in place only when it is complete.

    If the block raises an error, nothing is written, and an existing file is unchanged. An
    ``OSError``, as from a full disk, names the file. Links and streams stay what they are; see
    :func:`destination`.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        Path(path).stat()  # raises an error for a loop of links
    target, is_stream = destination(Path(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(target.parent))
    try:
        with staging(Path(tempfile.gettempdir()) if is_stream else target.parent) as folder:
            temporary = folder / target.name
            with temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())  # or else the name may outlive a power cut, not the content
            if is_stream:
                pour(temporary, target)
            else:
                temporary.replace(target)
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def scratch() -> Iterator[None]:
    """Name the folder of temporary files, within the block, if they cannot be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise MomentreeError("no_scratch", path=tempfile.gettempdir(), reason=reason) from error


@contextmanager
def staging(beside: Path) -> Iterator[Path]:
    """Make a hidden folder for unfinished files, and remove it at the end.

    The folder is locked while the process runs. Unlocked folders belong to killed processes and are
    removed first.

    Locks may not be visible to other machines on a shared disk, so the folder name contains the
    machine name. Folders of other machines are kept, as are all folders on systems without locks.
    """
    prefix = f".momentree-{re.sub('[^A-Za-z0-9.]', '_', platform.node())}-"
    with suppress(OSError):  # a folder may allow new files but no listing
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
        # Another process removed the folder as abandoned before it was locked.
        if lock is not None:
            os.close(lock)


def _remove_if_abandoned(folder: Path) -> None:
    lock = _lock(folder, wait=False)
    if lock is not None:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _lock(folder: Path, *, wait: bool) -> int | None:
    """Lock a folder until its descriptor is closed; return None if that is impossible."""
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
