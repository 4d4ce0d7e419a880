"""Read the text of word processor files: Word (.docx), OpenDocument (.odt), Rich Text (.rtf)."""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from momentree.core.container import DAMAGE
from momentree.core.limits import check_memory
from momentree.exceptions import MomentreeError, ReadError
from momentree.readers.tables.files import open_bytes, open_text

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main "
_MC = "http://schemas.openxmlformats.org/markup-compatibility/2006 "
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0 "
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 "
_BLOCK = 1 << 16


@dataclass(frozen=True)
class _Format:
    """Where a zip file has its text."""

    name: str
    members: tuple[str, ...]  # the first one is required
    holds: Collection[str]  # elements whose direct content is text
    ends: Mapping[str, str]  # what stands after an element
    skips: Collection[str]


_DOCX = _Format(
    "Word document",
    ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml"),
    {_W + "t"},
    {
        _W + "p": "\n",
        _W + "br": "\n",
        _W + "cr": "\n",
        _W + "tab": "\t",
        _W + "noBreakHyphen": "-",
    },
    # A text box has a second copy for old programs.
    {_MC + "Fallback", _W + "moveFrom", _W + "tabs"},
)
_ODT = _Format(
    "OpenDocument text",
    ("content.xml",),
    {_TEXT + name for name in ("p", "h", "span", "a")},
    {
        _TEXT + "p": "\n",
        _TEXT + "h": "\n",
        _TEXT + "line-break": "\n",
        _TEXT + "tab": "\t",
        _TEXT + "s": " ",
    },
    {_TEXT + "tracked-changes", _OFFICE + "annotation"},
)


def read_docx(path: Path) -> str:
    """Return the text of a Word document with its notes, without its headers and deletions."""
    return _read(path, _DOCX)


def read_odt(path: Path) -> str:
    """Return the text of an OpenDocument file, without comments and deletions."""
    return _read(path, _ODT)


def read_rtf(path: Path) -> str:
    """Return the text of a Rich Text file, whose bytes beyond ASCII are those of its code page."""
    from striprtf.striprtf import rtf_to_text

    convert: Any = rtf_to_text
    with open_text(path, "latin-1") as file:
        content = file.read()
    if not content.lstrip().startswith("{\\rtf"):
        raise ReadError("wrong_content", path=str(path), format="Rich Text")
    try:
        return str(convert(content, errors="replace"))
    except DAMAGE as error:
        raise ReadError("damaged_file", path=str(path), format="Rich Text") from error


def _read(path: Path, form: _Format) -> str:
    with open_bytes(path) as raw:
        try:
            with zipfile.ZipFile(raw) as archive:
                return _text(path, archive, form)
        except MomentreeError:
            raise
        except (*DAMAGE, expat.ExpatError, OSError) as error:
            raise ReadError("damaged_file", path=str(path), format=form.name) from error


def _text(path: Path, archive: zipfile.ZipFile, form: _Format) -> str:
    first, *others = form.members
    names = set(archive.namelist())
    if first not in names:
        raise ReadError("wrong_content", path=str(path), format=form.name)
    members = [first, *(name for name in others if name in names)]
    check_memory(path, sum(archive.getinfo(name).file_size for name in members))
    texts = []
    for name in members:
        with archive.open(name) as file:
            texts.append(_Extractor(form).read(file))
    return "".join(texts)


class _Extractor:
    """The text of an XML file, collected without a tree of its elements."""

    def __init__(self, form: _Format) -> None:
        self._form = form
        self._open: list[bool] = []  # whether each open element holds text
        self._skipped = 0  # number of open elements inside one to skip, with it
        self._texts: list[str] = []

    def read(self, file: IO[bytes]) -> str:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._refuse  # entities could expand without limit
        while block := file.read(_BLOCK):
            parser.Parse(block, False)
        parser.Parse(b"", True)
        return "".join(self._texts)

    def _refuse(self, *_: object) -> None:
        raise expat.ExpatError

    def _start(self, name: str, _attributes: object) -> None:
        self._open.append(name in self._form.holds)
        if self._skipped or name in self._form.skips:
            self._skipped += 1

    def _end(self, name: str) -> None:
        self._open.pop()
        if self._skipped:
            self._skipped -= 1
        elif name in self._form.ends:
            self._texts.append(self._form.ends[name])

    def _text(self, text: str) -> None:
        if self._open and self._open[-1] and not self._skipped:
            self._texts.append(text)
