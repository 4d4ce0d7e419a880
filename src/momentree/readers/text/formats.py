"""Read one file as documents: text, HTML, mail, PDF, and files of word processors."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import EmailPolicy
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, BinaryIO

from lxml import etree

from momentree.core.container import DAMAGE
from momentree.core.limits import BYTES_PER_ROW, check_memory, memory_limit
from momentree.exceptions import MomentreeError, ReadError
from momentree.messages import wording
from momentree.readers.tables import extract, files
from momentree.readers.text.cleaning import html_to_text

_WRONG_CONTENT = (
    "[wrong_content] cannot read {path}: it is not a {format} file, whatever its name says, or it "
    "is protected by a password; open it in the program that wrote it and save it again"
)
_DAMAGED_FILE = (
    "[damaged_file] cannot read {path} as {format}: it is damaged, or takes too much memory or "
    "time; open it in the program that wrote it and save it again"
)


# The library raises many kinds of errors on damaged headers.
_FAULTS = (LookupError, ValueError, TypeError, AttributeError, AssertionError, RecursionError)
_LONGEST_HEADER = 2_000


class _Policy(EmailPolicy):
    """Cuts headers, which the library parses in quadratic time."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]


def read_eml(path: Path) -> str:
    """Return a message without attachments."""
    with files.open_bytes(path) as file:
        return message_text(file.read())


def read_mbox(path: Path) -> list[str]:
    """Return the texts of the messages in a mailbox, in order."""
    with files.open_bytes(path) as file:
        texts: list[str] = []
        for message in _messages(file):
            check_memory(path, len(texts) * BYTES_PER_ROW)
            texts.append(message_text(message))
    if not texts:
        raise ReadError(_WRONG_CONTENT, path=str(path), format="mailbox")
    return texts


def _messages(file: BinaryIO) -> Iterator[bytes]:
    """Yield messages; each follows a line that begins with "From " after an empty line."""
    lines: list[bytes] | None = None
    blank = True
    for line in file:
        if blank and line.startswith(b"From "):
            if lines is not None:
                yield b"".join(lines)
            lines = []
        elif lines is not None:
            # Quoted, because it would begin a message.
            lines.append(line[1:] if line.startswith(b">From ") else line)
        blank = not line.strip()
    if lines is not None:
        yield b"".join(lines)


def message_text(content: bytes) -> str:
    """Return the subject, the sender and the text of a message: plain, or made from its HTML.

    The first two are written as headers, by which cleaning recognizes a message.
    """
    try:
        message: Any = BytesParser(policy=_Policy()).parsebytes(content)
        headers = [f"{name}: {_header(message, name)}" for name in ("Subject", "From")]
        body = message.get_body(("plain", "html"))
    except _FAULTS:
        return _decode(content)
    text = ""
    if body is not None:
        text = _content(body)
        if body.get_content_subtype() == "html":
            text = html_to_text(text)
    return "\n".join([*headers, "", text])


def _header(message: Any, name: str) -> str:
    try:
        return " ".join(str(message[name] or "").split())
    except _FAULTS:
        return ""


def _content(part: Any) -> str:
    """Return the text of a part, in its declared encoding if that fits, or a guessed one."""
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    try:
        charset = part.get_content_charset()
        if charset and charset != "us-ascii":
            return payload.decode(charset)
    except _FAULTS:
        pass
    return _decode(payload)


def _decode(content: bytes) -> str:
    found = files.guess_encoding(io.BytesIO(content))
    return content.decode(found.name, "replace") if found else ""


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"


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
    {_W + "p": "\n", _W + "br": "\n", _W + "cr": "\n", _W + "tab": "\t", _W + "noBreakHyphen": "-"},
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
    with files.open_text(path, "latin-1") as file:
        content = file.read()
    if not content.lstrip().startswith("{\\rtf"):
        raise ReadError(_WRONG_CONTENT, path=str(path), format="Rich Text")
    try:
        return str(convert(content, errors="replace"))
    except DAMAGE as error:
        raise ReadError(_DAMAGED_FILE, path=str(path), format="Rich Text") from error


def _read(path: Path, form: _Format) -> str:
    with files.open_bytes(path) as raw:
        try:
            with zipfile.ZipFile(raw) as archive:
                return _text(path, archive, form)
        except MomentreeError:
            raise
        except (*DAMAGE, etree.XMLSyntaxError, OSError) as error:
            raise ReadError(_DAMAGED_FILE, path=str(path), format=form.name) from error


def _text(path: Path, archive: zipfile.ZipFile, form: _Format) -> str:
    first, *others = form.members
    names = set(archive.namelist())
    if first not in names:
        raise ReadError(_WRONG_CONTENT, path=str(path), format=form.name)
    members = [first, *(name for name in others if name in names)]
    check_memory(path, sum(archive.getinfo(name).file_size for name in members))
    texts = []
    for name in members:
        with archive.open(name) as file:
            texts.append(_extract(form, file))
    return "".join(texts)


def _extract(form: _Format, file: IO[bytes]) -> str:
    """Return the text of an XML file."""
    parser = etree.XMLParser(resolve_entities=False, remove_comments=True, remove_pis=True)
    tree: Any = etree.parse(file, parser)
    if tree.docinfo.doctype:
        raise ValueError(tree.docinfo.doctype)  # entities could expand without limit
    return "".join(_pieces(tree.getroot(), form))


def _pieces(element: Any, form: _Format) -> Iterator[str]:
    """Yield the direct content of elements that hold text, and what stands after elements."""
    if element.tag in form.skips:
        return
    holds = element.tag in form.holds
    if holds:
        yield element.text or ""
    for child in element:
        yield from _pieces(child, form)
        if holds:
            yield child.tail or ""
    yield form.ends.get(element.tag, "")


_PDF_FAULTS = {
    "encrypted": "[encrypted_pdf] cannot read {path}: it needs a password; save a copy without one",
    "no text": (
        "[pdf_without_text] cannot read {path}: its pages are images without a text layer, as from "
        "a scanner; run text recognition (OCR) first"
    ),
}


class PdfReader:
    """A process that extracts the text of PDF files; it starts with the first one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, path: Path) -> str:
        """Return the text of all pages.

        Raises
        ------
        ReadError
            If the file cannot be opened, is damaged, needs a password or has no text layer, or
            takes too much memory or time.
        """
        try:
            with path.open("rb") as file:
                start = file.read(1024)
            request = json.dumps([str(path.resolve()), memory_limit(path)]).encode()
        except OSError as error:
            reason = error.strerror or str(error)
            raise ReadError(wording.UNREADABLE_PATH, path=str(path), error=reason) from error
        if b"%PDF" not in start:
            raise ReadError(_WRONG_CONTENT, path=str(path), format="PDF")
        line = self._ask(request)
        if not line:
            self.close()
            raise ReadError(_DAMAGED_FILE, path=str(path), format="PDF")
        answer = json.loads(line)
        if "text" in answer:
            return str(answer["text"])
        if answer["fault"] == "large":
            check_memory(path, answer["length"])
        raise ReadError(
            _PDF_FAULTS.get(answer["fault"], _DAMAGED_FILE), path=str(path), format="PDF"
        )

    def _ask(self, request: bytes) -> bytes:
        """Return the answer of the process; nothing if it ended."""
        if self._process is None:
            self._process = _start()
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None  # noqa: S101 - it is a pipe
        assert stdout is not None  # noqa: S101
        try:
            stdin.write(request + b"\n")
            stdin.flush()
        except BrokenPipeError:
            return b""
        line = stdout.readline()
        return line if line.endswith(b"\n") else b""

    def close(self) -> None:
        """End the process; the next file starts another one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        process.wait()


def _start() -> subprocess.Popen[bytes]:
    spec = find_spec("pypdfium2")
    assert spec is not None  # noqa: S101 - it is a dependency
    assert spec.origin is not None  # noqa: S101 - and not a namespace package
    folder = str(Path(spec.origin).parents[1])
    return subprocess.Popen(  # noqa: S603 - runs this Python with a file of this package
        [sys.executable, "-I", "-S", extract.__file__, "pdf", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


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
        self.guessed: dict[str, files.Encoding] = {}

    def close(self) -> None:
        """End the process that reads PDF files, if there is one."""
        self._pdf.close()

    def read(self, path: Path) -> list[str]:
        """Return the documents in a file: one, but for a mailbox."""
        end = files.suffix(path)
        if end in MAILBOXES:
            return list(map(_printable, read_mbox(path)))
        if end in PDF:
            return [_printable(self._pdf.read(path))]
        if end in _OTHERS:
            return [_printable(_OTHERS[end](path))]
        found = files.find_encoding(path, self._encoding)
        with files.open_text(path, found) as file:
            text = file.read()
        if found.guessed:
            self.guessed[str(path)] = found
        return [html_to_text(text) if end in HTML else text]


def _printable(text: str) -> str:
    """Return a text without halves of surrogate pairs, which damaged files may contain."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
