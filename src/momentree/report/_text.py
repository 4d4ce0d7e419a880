"""Text from the data, made safe for a page: no control characters, and not too long."""

from __future__ import annotations

import re

__all__ = ["MAX_NAME", "clean_text", "snippet"]

MAX_NAME = 200
"""Longest name of a document or label that is shown, in characters."""

# C0 controls except white space, DEL and C1, surrogates and non-characters: HTML must not hold
# them, and UTF-8 cannot encode surrogates.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def clean_text(value: object) -> str:
    r"""Return ``str(value)`` with control characters and lone surrogates replaced by U+FFFD.

    Examples
    --------
    >>> clean_text("a\x00b") == "a\ufffdb"
    True
    """
    return _FORBIDDEN.sub("\ufffd", str(value))


def snippet(text: str, length: int) -> str:
    """Return the beginning of a text on one line, cut at a word if it exceeds `length` characters.

    Examples
    --------
    >>> snippet("one  two three", 9)
    'one two…'
    """
    # Of a long text, clean only as much as could be shown.
    line = " ".join(clean_text(text[: 8 * length]).split())
    if len(line) <= length and len(text) <= 8 * length:
        return line
    head = line[: length - 1]
    if len(line) > len(head) and not line[len(head)].isspace():
        space = head.rfind(" ")
        if space > length // 2:
            head = head[:space]
    return head.rstrip(" ,;:.-") + "…"
