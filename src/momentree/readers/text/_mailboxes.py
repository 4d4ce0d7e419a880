"""Read e-mail: single messages (.eml) and mailboxes (.mbox)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from email.parser import BytesParser
from email.policy import EmailPolicy
from pathlib import Path
from typing import Any, BinaryIO

from momentree.core.limits import BYTES_PER_ROW, check_memory
from momentree.exceptions import ReadError
from momentree.readers.tables._encodings import guess_encoding
from momentree.readers.tables.files import open_bytes
from momentree.readers.text.markup import html_to_text

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
    with open_bytes(path) as file:
        return message_text(file.read())


def read_mbox(path: Path) -> list[str]:
    """Return the texts of the messages in a mailbox, in order."""
    with open_bytes(path) as file:
        texts: list[str] = []
        for message in _messages(file):
            check_memory(path, len(texts) * BYTES_PER_ROW)
            texts.append(message_text(message))
    if not texts:
        raise ReadError("wrong_content", path=str(path), format="mailbox")
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
        return _decoded(content)
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
    return _decoded(payload)


def _decoded(content: bytes) -> str:
    found = guess_encoding(io.BytesIO(content))
    return content.decode(found.name, "replace") if found else ""
