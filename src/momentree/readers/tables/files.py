"""Open text files, plain or compressed, and report precisely why one cannot be read."""

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
from momentree.core.limits import BoundedReader
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message, wording
from momentree.readers.tables._encodings import MARKS, Encoding, guess_encoding

_BINARY_FILE = (
    "[binary_file] cannot read {path}: it is a binary file, not text (byte {offset:,} is zero)"
)


AUTO = "auto"
"""Name of the encoding to guess."""

_GZIP = b"\x1f\x8b"


def suffix(path: Path) -> str:
    """Return the suffix in lower case, without ".gz": ".csv" for ``A.CSV.GZ``, "" for none."""
    bare = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return bare.suffix.lower()


def check_exists(path: str | PathLike[str]) -> Path:
    """Check that the path is a folder or a nonempty file."""
    path = check_readable(path)
    if path.is_file() and path.stat().st_size == 0:
        raise ReadError(wording.EMPTY_FILE, path=str(path))
    return path


def check_encoding(encoding: str) -> str:
    """Return the name of a known encoding; "utf-8-sig" for UTF-8, to skip a byte order mark."""
    try:
        "".encode(encoding)
        name = codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError) as error:
        raise InvalidParameterError(
            "[unknown_encoding] {parameters.encoding:=value} is not a known encoding; try utf-8, "
            "cp1252, latin-1 or utf-16",
            value=encoding,
        ) from error
    return "utf-8-sig" if name == "utf-8" else name


def is_compressed(path: Path) -> bool:
    """Return whether the content of a file is gzip, regardless of its name."""
    with path.open("rb") as file:
        return file.read(2) == _GZIP


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file; decompress it if its content is gzip, regardless of its name."""
    try:
        with check_readable(path).open("rb") as raw:
            start = raw.read(2)
            raw.seek(0)
            if start == _GZIP:
                with gzip.GzipFile(fileobj=raw) as file:
                    bounded = BoundedReader(cast(BinaryIO, file), path)
                    yield cast(BinaryIO, io.BufferedReader(bounded))
            else:
                yield raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ReadError(
            "[damaged_gzip] cannot read {path}: the compressed file is damaged or truncated "
            "({details})",
            path=str(path),
            details=str(error),
        ) from error
    except OSError as error:
        details = error.strerror or str(error)
        raise ReadError(wording.UNREADABLE_PATH, path=str(path), error=details) from error


def find_encoding(path: Path, encoding: str) -> Encoding:
    """Return the encoding with a name; for "auto", guess that of a file."""
    if encoding != AUTO:
        return Encoding(check_encoding(encoding))
    with open_bytes(path) as file:
        guess = guess_encoding(file)
        if guess is not None:
            return guess
        file.seek(0)
        zero = file.read(8192).find(b"\0")
    if zero < 0:
        raise ReadError(
            "[binary_content] cannot read {path}: it looks like a binary file, not text; if it is "
            "text, pass its {parameters.encoding}",
            path=str(path),
        )
    raise ReadError(_BINARY_FILE, path=str(path), offset=zero)


def note_encoding(encoding: Encoding, source: str) -> list[Message]:
    """Return a note on a guess, if there was one."""
    if not encoding.guessed:
        return []
    if encoding.n_bad:
        return [
            Message(
                "[damaged_utf8] {source} is UTF-8 except for some damaged bytes, which are "
                "replaced; if letters look wrong, pass {parameter}",
                source=source,
                parameter="encoding",
            )
        ]
    return [
        Message(
            "[guessed_encoding] {source} is not UTF-8: read as {encoding}. If letters look wrong, "
            "pass {parameter}",
            encoding=encoding.name,
            source=source,
            parameter="encoding",
        )
    ]


@contextmanager
def open_text(
    path: Path, encoding: str | Encoding, *, newline: str | None = None
) -> Iterator[TextIO]:
    """Open a text file, decompressed if necessary; `newline` is as in :func:`open`."""
    known = encoding if isinstance(encoding, Encoding) else find_encoding(path, encoding)
    with open_bytes(path) as raw:
        if known.name == "utf-8-sig":
            start = raw.read(8192)
            raw.seek(0)
            if b"\0" in start and not start.startswith(tuple(MARKS)):
                raise ReadError(_BINARY_FILE, path=str(path), offset=start.index(0))
        try:
            with io.TextIOWrapper(raw, known.name, known.errors, newline) as file:
                yield file
        except UnicodeError as error:
            raise _wrong_encoding(path, known.name.removesuffix("-sig"), error) from error


def _wrong_encoding(path: Path, name: str, error: UnicodeError) -> ReadError:
    """Find the first wrong byte in the file; positions in `error` are relative to a chunk."""
    with open_bytes(path) as raw:
        content = raw.read()
        raw.seek(0)
        guess = guess_encoding(raw)
    try:
        content.decode(name)
    except UnicodeDecodeError as fault:
        return ReadError(
            "[wrong_encoding] cannot read {path}: it is not {encoding} (byte {offset:,}, line "
            "{line:,}, is {byte}). {remedy}",
            path=str(path),
            encoding=name,
            offset=fault.start,
            line=content.count(b"\n", 0, fault.start) + 1,
            byte=f"0x{content[fault.start]:02x}",
            remedy=_remedy(guess, name),
        )
    except UnicodeError:  # UTF-16 without a byte order mark
        pass
    return ReadError(
        "[undecodable] cannot read {path}: it is not {encoding} ({details})",
        path=str(path),
        encoding=name,
        details=str(error),
    )


def _remedy(guess: Encoding | None, name: str) -> Message:
    guessed = guess and guess.name.removesuffix("-sig")
    if guess is None or guess.n_bad or guessed == name:
        return Message(
            "[find_out_encoding] Pass its true encoding, or {parameter:=value} to have it guessed",
            parameter="encoding",
            value=AUTO,
        )
    return Message("[try_encoding] Try {parameter:=value}", parameter="encoding", value=guessed)
