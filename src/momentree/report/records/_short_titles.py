"""Shorten titles of codes for names and labels: what the code is about first, remarks last."""

from __future__ import annotations

import re

MAX_LENGTH = 48
"""Maximum length of a short title, in characters."""

# "Other and unspecified disorders of metabolism" is about disorders of metabolism.
_REST = re.compile(r"(other|unspecified)( and (unspecified|ill-defined|other))?( specified)? ", re.I)
_REMARKS = re.compile(
    r",? (not elsewhere classified|NEC|NOS)\b|,? in (conditions|diseases) classified elsewhere\b"
    r"( and of unspecified site)?|, (unspecified|organism unspecified)$|, so described$"
    r"|,? without mention of [^,]*|,? not stated as [^,]*| \[[^]]*\]| \([^)]*[^)A-Z\d.][^)]*\)",
    re.I,
)
_CODE = re.compile(r" \([A-Z\d.]*\d[A-Z\d.]*\)$")
"""The code at the end of the title of a shorter code."""
_WEAK = {"and", "or", "of", "the", "with", "without", "to", "in", "for", "due", "by", "as", "other"}


def short_title(title: str) -> str:
    """Return a title in at most `MAX_LENGTH` characters: without remarks, then cut at a word.

    A single long word is cut at twice the length.
    """
    if not title.strip():
        return title
    code = match.group() if (match := _CODE.search(title)) else ""
    head = title.removesuffix(code)
    if (rest := _REST.match(head)) and len(head) > rest.end():
        begins = head[rest.end()]
        head = f"{begins.upper()}{head[rest.end() + 1 :]}"
        code = f" ({rest.group().split()[0].lower()}){code}"
    length = MAX_LENGTH - len(code)
    if len(head) > length:
        head = _REMARKS.sub("", head) or head
    return _cut(head, length) + code


def _cut(text: str, length: int) -> str:
    words = text.split()
    if len(text) <= length or len(words) < 2:
        return text if len(text) <= 2 * length else text[: 2 * length] + "…"
    kept = words[:1]
    while len(" ".join([*kept, words[len(kept)]])) < length:
        kept.append(words[len(kept)])
    while len(kept) > 1 and kept[-1].lower().strip(",") in _WEAK:
        kept.pop()
    return " ".join(kept).rstrip(",;") + "…"
