"""Read one file as documents, by its suffix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from momentree.readers.tables._encodings import Encoding
from momentree.readers.tables.files import find_encoding, open_text, suffix
from momentree.readers.text._mailboxes import read_eml, read_mbox
from momentree.readers.text._office import read_docx, read_odt, read_rtf
from momentree.readers.text._pdf import PdfReader
from momentree.readers.text.markup import html_to_text

TEXT = (".txt", ".text", ".md", ".markdown", ".rst", ".tex", ".asc")
HTML = (".html", ".htm", ".xhtml")
MAILBOXES = (".mbox",)
PDF = (".pdf",)
_OTHERS: dict[str, Callable[[Path], str]] = {
    ".eml": read_eml,
    ".docx": read_docx,
    ".odt": read_odt,
    ".rtf": read_rtf,
}
FILES = (*TEXT, *HTML, *PDF, *_OTHERS, *MAILBOXES)
"""Suffixes of files of text; each is a document, and a mailbox contains one per message."""


class FileReader:
    """Reads files of text, and remembers which encodings were guessed."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._pdf = PdfReader()
        self.guessed: dict[str, Encoding] = {}

    def close(self) -> None:
        """End the process that reads PDF files, if there is one."""
        self._pdf.close()

    def read(self, path: Path) -> list[str]:
        """Return the documents in a file: one, but for a mailbox."""
        end = suffix(path)
        if end in MAILBOXES:
            return list(map(_printable, read_mbox(path)))
        if end in PDF:
            return [_printable(self._pdf.read(path))]
        if end in _OTHERS:
            return [_printable(_OTHERS[end](path))]
        found = find_encoding(path, self._encoding)
        with open_text(path, found) as file:
            text = file.read()
        if found.guessed:
            self.guessed[str(path)] = found
        return [html_to_text(text) if end in HTML else text]


def _printable(text: str) -> str:
    """Return a text without halves of surrogate pairs, which damaged files may contain."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
