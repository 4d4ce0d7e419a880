"""Files of each format of documents, made for tests."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime
from email.message import EmailMessage

_ODT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text>
<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>
{paragraphs}</office:text></office:body></office:document-content>"""


def pdf(*pages: str, password: str | None = None) -> bytes:
    """Return a PDF file with one text per page; a blank page for an empty text."""
    from fpdf import FPDF

    document = FPDF()
    document.set_creation_date(datetime(2024, 1, 1, tzinfo=UTC))
    document.set_font("helvetica", size=11)
    for text in pages:
        document.add_page()
        if text:
            document.multi_cell(0, 5, text)
    if password is not None:
        document.set_encryption(owner_password="owner", user_password=password)
    return bytes(document.output())


def docx(*paragraphs: str) -> bytes:
    """Return a Word document, with the last paragraph in a table."""
    from docx import Document

    document = Document()
    for text in paragraphs[:-1]:
        document.add_paragraph(text)
    document.sections[0].header.paragraphs[0].text = "running head"
    document.add_table(1, 1).cell(0, 0).text = paragraphs[-1]
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def zipped(**members: str) -> bytes:
    """Return a zip file; "__" in a name stands for "/", "_" for "."."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return file.getvalue()


def odt(*paragraphs: str) -> bytes:
    """Return an OpenDocument text."""
    body = "".join(f"<text:p>{text}</text:p>" for text in paragraphs)
    return zipped(content_xml=_ODT.format(paragraphs=body))


def rtf(text: str) -> bytes:
    """Return a Rich Text file."""
    letters = (f"\\'{ord(c):02x}" if "\x7f" < c < "\u0100" else c for c in text)
    return (
        b"{\\rtf1\\ansi\\ansicpg1252 {\\fonttbl{\\f0 Arial;}} " + "".join(letters).encode() + b"}"
    )


def mail(subject: str, text: str, *, html: bool = False, charset: str = "utf-8") -> bytes:
    """Return a message with an attachment."""
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "a@example.org", "b@example.org"
    message.set_content(text, subtype="html" if html else "plain", charset=charset)
    message.add_attachment(b"\x00\x01", "application", "octet-stream", filename="a.bin")
    return message.as_bytes()
