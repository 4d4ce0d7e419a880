"""Open files of text, plain or compressed, and say precisely why one cannot be read."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from momentree._files import check_readable
from momentree._limits import BoundedReader
from momentree.exceptions import InvalidParameterError, ReadError

__all__ = ["check_encoding", "check_exists", "open_bytes", "open_text", "suffix"]

_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Bytes without a meaning in Windows' western encoding, which has all letters of Latin-1 and more.
_NOT_WINDOWS = frozenset({0x81, 0x8D, 0x8F, 0x90, 0x9D})


def suffix(path: Path) -> str:
    """Return the suffix of a path in lower case, without that of the compression.

    Parameters
    ----------
    path : Path
        A file; need not exist.

    Returns
    -------
    str
        Such as ".csv" for both ``a.csv`` and ``A.CSV.GZ``; "" when there is none.

    Examples
    --------
    >>> from pathlib import Path
    >>> from momentree.readers.tables.files import suffix
    >>> suffix(Path("news.CSV.gz")), suffix(Path("README"))
    ('.csv', '')
    """
    bare = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return bare.suffix.lower()


def check_exists(path: str | PathLike[str]) -> Path:
    """Return the path after checking that there is something that can be read.

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
        If there is nothing, or it is neither a file nor a folder, or a file is empty.
    InvalidParameterError
        If it is no path at all, or an empty one.
    """
    found = check_readable(path)
    if found.is_file() and found.stat().st_size == 0:
        msg = f"cannot read {found}: the file is empty"
        raise ReadError(msg)
    return found


def check_encoding(encoding: str) -> str:
    """Return the name of an encoding after checking that Python knows it.

    Parameters
    ----------
    encoding : str
        Such as "utf-8" or "cp1252".

    Returns
    -------
    str
        The same, but "utf-8-sig" for "utf-8", so that a mark at the start is not taken for text.

    Raises
    ------
    InvalidParameterError
        If there is no such encoding of text.
    """
    try:
        "".encode(encoding)
        name = codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError) as error:
        msg = f"encoding={encoding!r} is unknown; try utf-8, cp1252, latin-1 or utf-16"
        raise InvalidParameterError(msg) from error
    return "utf-8-sig" if name == "utf-8" else name


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file, decompressed if it is compressed by gzip whatever its name.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    binary file
        Closed at the end.

    Raises
    ------
    ReadError
        If it cannot be opened or read, or unfolds to far more than a file of its size may, also
        inside the ``with`` block.
    """
    try:
        with check_readable(path).open("rb") as raw:
            start = raw.read(2)
            raw.seek(0)
            if start == _GZIP:
                with gzip.GzipFile(fileobj=raw) as file:
                    yield cast(
                        BinaryIO, io.BufferedReader(BoundedReader(cast(BinaryIO, file), path))
                    )
            else:
                yield raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        msg = f"cannot read {path}: the compressed file is damaged or cut short ({error})"
        raise ReadError(msg) from error
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise ReadError(msg) from error


@contextmanager
def open_text(path: Path, encoding: str, *, newline: str | None = None) -> Iterator[TextIO]:
    """Open a file of text, decompressed if need be.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str
        Its encoding.
    newline : str or None, default=None
        As in :func:`open`; "" keeps line ends as they are.

    Yields
    ------
    text file
        Closed at the end.

    Raises
    ------
    ReadError
        If it cannot be opened, is binary, or is not in this encoding, also inside the ``with``
        block; the message says at which byte and line, and which encoding to try.
    InvalidParameterError
        If the encoding is unknown.
    """
    name = check_encoding(encoding)
    with open_bytes(path) as raw:
        if name == "utf-8-sig":
            start = raw.read(8192)
            raw.seek(0)
            if b"\0" in start and not start.startswith(_UTF16):
                msg = (
                    f"cannot read {path}: it is a binary file, not text (byte "
                    f"{start.index(0):,} is zero)"
                )
                raise ReadError(msg)
        try:
            with io.TextIOWrapper(raw, encoding=name, newline=newline) as file:
                yield file
        except UnicodeError as error:
            raise ReadError(_where_not_decoded(path, encoding, name, error)) from error


def _where_not_decoded(path: Path, encoding: str, name: str, error: UnicodeError) -> str:
    """Say where a file leaves its encoding; `error` counts bytes from the chunk it was met in."""
    try:
        offset, line, bad = _first_bad_byte(path, name)
    except (OSError, EOFError, zlib.error, ReadError, UnicodeError):
        # It changed under our hands, or it is all of another encoding: UTF-16 without its mark.
        return f"cannot read {path}: it is not {encoding} ({error})"
    where = f"byte {offset:,}, line {line:,}, is 0x{bad[:1].hex()}" if bad else str(error)
    return f"cannot read {path}: it is not {encoding} ({where}). {_suggestion(path, encoding)}"


def _first_bad_byte(path: Path, name: str) -> tuple[int, int, bytes]:
    decoder = codecs.getincrementaldecoder(name)()
    done, lines, pending = 0, 1, b""
    with open_bytes(path) as raw:
        while True:
            chunk = raw.read(_CHUNK)
            pending = decoder.getstate()[0]
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                before = (pending + chunk)[: error.start]
                return (
                    done - len(pending) + error.start,
                    lines + before.count(b"\n") - pending.count(b"\n"),
                    (pending + chunk)[error.start :],
                )
            if not chunk:
                return done, lines, b""
            done += len(chunk)
            lines += chunk.count(b"\n")


def _suggestion(path: Path, encoding: str) -> str:
    with open_bytes(path) as raw:
        sample = raw.read(_CHUNK)
    if sample.startswith(_UTF16):
        guess = "utf-16"
    else:
        try:
            sample.decode("utf-8")
            guess = "utf-8"
        except UnicodeDecodeError:
            guess = "latin-1" if _NOT_WINDOWS & set(sample) else "cp1252"
    if codecs.lookup(guess) == codecs.lookup(encoding):
        return "Find out its encoding and pass it as encoding=..."
    return f"Try encoding={guess!r}"
