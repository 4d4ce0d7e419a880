"""Words and numbers of a page: clean, not too long, in plain words, rounded like its scripts."""

import base64
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.messages import PYTHON, Audience, Message, in_words
from momentree.messages.plain import PAGE, PLAIN

MAX_NAME = 200
"""Maximum length of the name of a document or label, in characters."""
MAX_TITLE = 48
"""Maximum length of a short title, in characters."""

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


def clean_text(value: object) -> str:
    r"""Return ``str(value)`` with control characters and lone surrogates replaced by U+FFFD."""
    return str(value).translate(_REPLACED)


def clean_values(values: Any) -> NDArray[Any]:
    """Return an array whose texts are clean: pandas cannot hold lone surrogates."""
    array = np.asarray(values, dtype=object) if isinstance(values, list) else np.asarray(values)
    if array.dtype.kind not in "OU":
        return array
    return np.array([clean_text(v) if isinstance(v, str) else v for v in array], dtype=object)


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


def names_of_codes(codes: Iterable[object], titles: Mapping[Any, object]) -> dict[str, list[str]]:
    """Return each ``code``, its ``name``, by default the code, and its ``short`` name."""
    known = {str(code): clean_text(title) for code, title in titles.items()}
    texts = [clean_text(code) for code in codes]
    names = [known.get(code) or code for code in texts]
    return {"code": texts, "name": names, "short": short_titles(texts, names)}


def short_titles(codes: Sequence[str], titles: Sequence[str]) -> list[str]:
    """Return short titles; those of several codes end with the code in parentheses."""
    short = [short_title(title) for title in titles]
    n_codes = Counter(short)
    return [
        f"{title} ({code})" if n_codes[title] > 1 else title
        for code, title in zip(codes, short, strict=True)
    ]


def short_title(title: str) -> str:
    """Return a title in at most `MAX_TITLE` characters: without remarks, then cut at a word.

    A single long word is cut at twice the length.
    """
    last = ""
    head = _EMPTY.sub("", title) or title
    if (rest := _REST.match(head)) and len(head) > rest.end():
        begins = head[rest.end()]
        head = f"{begins.upper()}{head[rest.end() + 1 :]}"
        last = f" ({rest.group().split()[0].lower()})"
    length = MAX_TITLE - len(last)
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


def pack(items: Sequence[Mapping[str, Any]]) -> str:
    """Return dictionaries with equal keys as base64 of a zlib stream of JSON, by key.

    A browser reads it with ``DecompressionStream("deflate")``. Short texts shrink to about 60%.
    """
    columns = {key: [item[key] for item in items] for key in (items[0] if items else ())}
    text = json.dumps(columns, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


NO_VALUE = "–"
"""Stands for a value that does not exist."""


def finite_number(value: float | None, digits: int = 4) -> float | None:
    """Return a rounded number, or None if there is none that JSON can represent."""
    return None if value is None or not math.isfinite(value) else round(float(value), digits)


def finite_numbers(values: Iterable[float], digits: int = 4) -> list[float | None]:
    """Return `finite_number` of each value."""
    return [finite_number(value, digits) for value in values]


def fixed(value: float, digits: int) -> str:
    """Return a number >= 0 with a fixed number of decimals, like ``toFixed`` of JavaScript."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def percent(share: float) -> str:
    """Return a share in [0, 1] as a percentage with one decimal: "12.3%", or "< 0.1%"."""
    value = 100.0 * share
    return "< 0.1%" if 0.0 < value < 0.1 else f"{fixed(value, 1)}%"


def whole_percent(share: float) -> str:
    """Return a share in [0, 1] as a whole percentage: "12%", or "< 1%"."""
    value = 100.0 * share
    return "< 1%" if 0.0 < value < 0.5 else f"{math.floor(value + 0.5)}%"


def short_percent(share: float) -> str:
    """Return a share as a percentage with at least two digits: "12%", "1.2%"; "–" for NaN."""
    value = 100.0 * share
    if not math.isfinite(value):
        return NO_VALUE
    return f"{value:.0f}%" if value >= 10 or value == 0 else f"{value:.1f}%"


def share_text(share: float, *, estimated: bool) -> str:
    """Return a share as a percentage with one decimal, after "≈" if it is an estimate."""
    if not math.isfinite(share):
        return NO_VALUE
    return f"{'≈ ' if estimated else ''}{fixed(100.0 * share, 1)}%"
