"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

__all__ = ["whole_file"]


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
