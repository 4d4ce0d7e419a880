"""Open text files, plain or compressed; guess their encoding, or say why one cannot be read."""

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from momentree._files import check_readable
from momentree.core.limits import BoundedReader
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message, wording

PLAUSIBLE = (
    *("utf-8", "cp1252", "cp1250", "cp1251", "koi8-r", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("cp1257", "cp874", "gb18030", "big5hkscs", "cp932", "euc_jis_2004", "cp949"),
    *("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"),
)
"""Encodings to choose from: those of Unicode, the web, Windows and East Asia."""

MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

_BLOCK = 1 << 20
_AROUND = 1 << 17
"""The guess examines this many bytes on either side of the first one that is not UTF-8."""
_FEW = 3
"""Different letters beyond ASCII that say little."""
_DECLARED = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,200}?\b(?:charset|encoding)=[\"' ]*([\w-]+)", re.I
)
_CONTROL = bytes({*range(32)} - {*b"\t\n\v\f\r\x1b"}) + b"\x7f"


@dataclass(frozen=True)
class Encoding:
    """How to decode a text, and whether this was guessed."""

    name: str
    errors: str = "strict"
    guessed: bool = False
    n_bad: int = 0
    """Bytes found that are not UTF-8 although most of the text is."""


def guess_encoding(file: BinaryIO) -> Encoding | None:
    """Return the encoding of a file; None if it is binary, not text.

    A byte order mark decides, then whether the whole file is UTF-8, then a declaration in HTML or
    XML, then the statistics of chardet around the first byte that is not UTF-8. A file that is
    nearly all UTF-8 is read as such. As few letters say little, a text whose only other letters are
    few stays in the encoding of western Europe.
    """
    start = file.read(8192)
    for mark, name in MARKS.items():
        if start.startswith(mark):
            return Encoding(name)
    if b"\0" in start:
        wide = _detect(start)
        return Encoding(wide, "replace", True) if wide and wide.startswith("utf-") else None
    file.seek(0)
    fault = _first_fault(file)
    if fault is None:
        return Encoding("utf-8-sig")
    file.seek(max(0, fault - _AROUND))
    sample = file.read(2 * _AROUND)
    n_good, n_bad = _utf8(sample)
    if n_good >= 4 * n_bad:
        return Encoding("utf-8-sig", "replace", True, n_bad)
    if _is_binary(sample):
        return None
    declared = _DECLARED.search(start)
    guess = (_known(declared[1].decode()) if declared else None) or _detect(sample)
    if guess == "utf-8":
        return Encoding("utf-8-sig", "replace", True, n_bad)
    return None if guess is None else Encoding(guess, "replace", True)


def _first_fault(file: BinaryIO) -> int | None:
    """Return the position of the first byte that is not UTF-8, or None."""
    offset = 0
    while block := file.read(_BLOCK) + file.readline():  # no character spans two lines
        try:
            block.decode()
        except UnicodeDecodeError as error:
            return offset + error.start
        offset += len(block)
    return None


def _utf8(sample: bytes) -> tuple[int, int]:
    """Return the number of characters beyond ASCII in UTF-8, and of faults, in a sample."""
    cut = sample.lstrip(bytes(range(0x80, 0xC0)))  # the sample may begin inside a character
    text = cut[: max(0, len(cut) - 3)].decode("utf-8", "replace")
    n_bad = text.count("\ufffd")
    return sum(character > "\x7f" for character in text) - n_bad, max(n_bad, 1)


def _is_binary(sample: bytes) -> bool:
    return len(sample) - len(sample.translate(None, _CONTROL)) > 0.02 * len(sample)


def _known(name: str) -> str | None:
    try:
        name = codecs.lookup(name).name
        "".encode(name)
    except (LookupError, ValueError):
        return None
    # Browsers read Latin-1 as its superset, and pages in UTF-16 declare it after it is known.
    name = "cp1252" if name in ("iso8859-1", "ascii") else name
    return None if name.startswith("utf") else name


def _detect(sample: bytes) -> str | None:
    import chardet

    name = chardet.detect(
        sample,
        max_bytes=len(sample),
        include_encodings=PLAUSIBLE,
        prefer_superset=True,
        compat_names=False,
    )["encoding"]
    if name is None or not name.startswith(("cp125", "koi8", "iso8859", "cp874")):
        return name
    high = [byte for byte in sample if byte > 0x7F]
    if len(set(high)) <= _FEW and 3 * len(high) < len(sample):
        name = "cp1252"
    try:
        sample.decode(name)
    except UnicodeDecodeError:
        return "latin-1"
    return name


_BINARY_FILE = (
    "[binary_file] cannot read {path}: it looks like a binary file, not text; if it is text, pass "
    "its {parameters.encoding}"
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
    if guess is None:
        raise ReadError(_BINARY_FILE, path=str(path))
    return guess


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
                raise ReadError(_BINARY_FILE, path=str(path))
        try:
            with io.TextIOWrapper(raw, known.name, known.errors, newline) as file:
                yield file
        except UnicodeError as error:
            raise ReadError(
                "[wrong_encoding] cannot read {path}: it is not {encoding} ({details}). Pass its "
                "true encoding, or {parameter:=value} to have it guessed",
                path=str(path),
                encoding=known.name.removesuffix("-sig"),
                details=getattr(error, "reason", str(error)),
                parameter="encoding",
                value=AUTO,
            ) from error
