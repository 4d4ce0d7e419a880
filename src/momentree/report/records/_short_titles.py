"""Shorten titles of codes for names and labels: what the code is about first, remarks last."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

MAX_LENGTH = 48
"""Maximum length of a short title, in characters."""

# "Other and unspecified disorders of metabolism" is about disorders of metabolism.
_REST = re.compile(
    r"(other|unspecified)( and (unspecified|ill-defined|other))?( specified)? ", re.IGNORECASE
)
_EMPTY = re.compile(r",? (not elsewhere classified|NEC|NOS)\b", re.IGNORECASE)
_REMARKS = re.compile(
    r",? in (conditions|diseases) classified elsewhere\b( and of unspecified site)?"
    r"|, (unspecified|organism unspecified)$|, so described$"
    r"|,? without mention of [^,]*|,? not stated as [^,]*| \[[^]]*\]| \([^)]*\)",
    re.IGNORECASE,
)
_WEAK = {"and", "or", "of", "the", "with", "without", "to", "in", "for", "due", "by", "as", "other"}


def short_titles(codes: Sequence[str], titles: Sequence[str]) -> list[str]:
    """Return short titles; those of several codes end with the code in parentheses."""
    short = [short_title(title) for title in titles]
    n_codes = Counter(short)
    return [
        f"{title} ({code})" if n_codes[title] > 1 else title
        for code, title in zip(codes, short, strict=True)
    ]


def short_title(title: str) -> str:
    """Return a title in at most `MAX_LENGTH` characters: without remarks, then cut at a word.

    A single long word is cut at twice the length.
    """
    last = ""
    head = _EMPTY.sub("", title) or title
    if (rest := _REST.match(head)) and len(head) > rest.end():
        begins = head[rest.end()]
        head = f"{begins.upper()}{head[rest.end() + 1 :]}"
        last = f" ({rest.group().split()[0].lower()})"
    length = MAX_LENGTH - len(last)
    if len(head) > length:
        head = _REMARKS.sub("", head) or head
    return _cut(head, length) + last


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
