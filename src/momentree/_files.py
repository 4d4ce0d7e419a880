"""Check files before they are opened; write files completely or not at all."""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from momentree.exceptions import InvalidParameterError, MomentreeError, ReadError
from momentree.messages import wording

# Paths here are open files of a process, which are written to, never replaced.
_DESCRIPTORS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))


def check_readable(path: str | PathLike[str]) -> Path:
    """Check that a file or folder can be read, and return its path.

    Pipes, sockets and devices are rejected: they may never end, and files are read more than once.
    """
    try:
        given = os.fspath(path)
        checked = Path(given)
    except TypeError as error:
        raise InvalidParameterError(
            "[not_a_path] {parameters.path:=value} is not a path; give a file or folder as str or "
            "pathlib.Path",
            value=path,
        ) from error
    if not given:
        raise InvalidParameterError(wording.EMPTY_PATH)
    try:
        mode = checked.stat().st_mode
    except FileNotFoundError as error:
        raise ReadError(
            "[no_such_file] cannot read {path}: there is no such file or folder", path=str(checked)
        ) from error
    except (OSError, ValueError) as error:  # also a zero byte in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise ReadError(wording.UNREADABLE_PATH, path=str(checked), error=reason) from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ReadError(
            "[not_a_regular_file] cannot read {path}: it is a pipe, a socket or a device; save its "
            "content as a file first",
            path=str(checked),
        )
    return checked


def read_file(path: str | PathLike[str]) -> bytes:
    """Return the content of a file."""
    checked = check_readable(path)
    try:
        return checked.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ReadError(wording.UNREADABLE_PATH, path=str(checked), error=reason) from error


def is_special(path: Path) -> bool:
    """Return whether a path leads to a pipe, a socket or a device."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def destination(path: Path) -> tuple[Path, bool]:
    """Return the path that a file is written to, after links, and whether it is a stream.

    Streams are pipes, sockets, devices and open files of a process. Their content is copied into
    them; all other files are replaced.
    """
    if is_special(path) or (path.parent in _DESCRIPTORS and path.is_file()):
        return path, True
    return Path(os.path.realpath(path)), False


@contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing, and put it in place only when it is complete.

    If the block raises an error, nothing is written, and an existing file is unchanged. An
    ``OSError``, as from a full disk, names the file. Links and streams stay what they are; see
    :func:`destination`.
    """
    target, is_stream = destination(Path(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(target.parent))
    try:
        with staging(None if is_stream else target.parent) as folder:
            temporary = folder / target.name
            with temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())  # or else the name may outlive a power cut, not the content
            if is_stream:
                with temporary.open("rb") as source, target.open("wb") as stream:
                    shutil.copyfileobj(source, stream)
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
        raise MomentreeError(
            "[no_scratch] cannot write temporary files to {path}: {reason}; set the environment "
            "variable TMPDIR to a folder with more room",
            path=tempfile.gettempdir(),
            reason=reason,
        ) from error


@contextmanager
def staging(beside: Path | None) -> Iterator[Path]:
    """Make a hidden folder for unfinished files, and remove it at the end.

    It is next to the finished files, so that these are moved within one disk; None stands for the
    folder of temporary files.
    """
    folder = Path(tempfile.mkdtemp(prefix=".momentree-", dir=beside))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
