"""Guess the encoding of text: byte order mark, UTF-8, or what its bytes look like."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import BinaryIO

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
