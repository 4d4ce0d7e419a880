"""Prepare text for a page: without control characters, not too long, in plain words."""

from __future__ import annotations

from momentree.messages import PYTHON, Audience, Message, in_words
from momentree.messages.catalogue.report import PAGE, PLAIN

MAX_NAME = 200
"""Maximum length of the name of a document or label, in characters."""

# C0 controls except white space, DEL and C1, surrogates and non-characters: HTML must not contain
# them, and UTF-8 cannot encode surrogates.
_FORBIDDEN = (
    *(c for c in range(0x20) if chr(c) not in "\t\n\r"),
    *range(0x7F, 0xA0),
    *range(0xD800, 0xE000),
    0xFFFE,
    0xFFFF,
)
_REPLACED = dict.fromkeys(_FORBIDDEN, "\ufffd")
_READERS = Audience(PYTHON.parameter, {**PLAIN, **PAGE})


def clean_text(value: object) -> str:
    r"""Return ``str(value)`` with control characters and lone surrogates replaced by U+FFFD."""
    return str(value).translate(_REPLACED)


def snippet(text: str, length: int) -> str:
    """Return the beginning of a text on one line: at most `length` characters, whole words."""
    # Clean only as much of a long text as could be shown.
    line = " ".join(clean_text(text[: 8 * length]).split())
    if len(line) <= length and len(text) <= 8 * length:
        return line
    head = line[: length - 1]
    if len(line) > len(head) and not line[len(head)].isspace():
        space = head.rfind(" ")
        if space > length // 2:
            head = head[:space]
    return head.rstrip(" ,;:.-") + "…"


def for_readers(message: Message | str) -> str:
    """Return a message or text in plain words, as clean text for a page."""
    return clean_text(in_words(message, _READERS) if isinstance(message, Message) else message)
