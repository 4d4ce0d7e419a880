"""Distinguish numbers, dates, links and words in single cells."""

from __future__ import annotations

import re
from functools import lru_cache

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?%?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"\d{1,2}(st|nd|rd|th)?"
_DATE = re.compile(
    r"((mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? +)?"
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|\d{8}"
    rf"|{_MONTH} +{_DAY}(,? +\d{{4}})?|{_DAY}[ -]{_MONTH}([ -]+\d{{2,4}})?|{_MONTH} +\d{{4}})"
    r"([T ,]+\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?)?"
    r"( ?([ap]m|z|[a-z]{3,4}|[+-]\d{2}:?\d{2})){0,2}"
    r"( +\d{4})?",
    re.IGNORECASE,
)
_TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[ap]m)?", re.IGNORECASE)
_LINK = re.compile(
    r"([a-z][a-z0-9+.-]*://|www\.|mailto:|doi:)\S+|[\w.+-]+@[\w-]+(\.[\w-]+)+|10\.\d{4,}/\S+"
    r"|(/|\./|~/|[a-z]:\\)[^\s]*|[\w-]+(\.[a-z]{2,6})+(/\S*)?",
    re.IGNORECASE,
)
_NO_WORD = re.compile(r"[\d_/\\@]")
_LETTER = re.compile(r"[^\W\d_]")
# Chinese and Japanese characters, kana, Thai, Lao, Burmese and Khmer: scripts without blanks.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_AROUND = "\"'()[]{}<>.,;:!?*_`\u2018\u2019\u201c\u201d\u2026\u00ab\u00bb-\u2013\u2014/&|#@=+$%~^"
_MAX_LENGTH = 200
"""Characters of the longest cell that can be a number or a date."""
_MAX_WORD = 40
_EXAMINED = 1_000
"""Characters of a cell that are examined for words."""


def number(cell: str) -> float | None:
    """Return the number that a cell contains; None if it is not a number."""
    text = cell.strip()
    if len(text) > _MAX_LENGTH:
        return None
    if _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    elif not _NUMBER.fullmatch(text):
        return None
    try:
        return float(text.rstrip("%").replace(",", "."))
    except ValueError:  # digits of other scripts
        return None


def is_date(cell: str) -> bool:
    """Return whether a cell is a date or a time: 2024-12-31, 31.12.24, Dec 31, 2024 23:59."""
    text = cell.strip()
    return len(text) <= _MAX_LENGTH and bool(_DATE.fullmatch(text) or _TIME.fullmatch(text))


def is_link(cell: str) -> bool:
    """Return whether a cell is one address: of a page, a person, a file or an article."""
    return _LINK.fullmatch(cell.strip()) is not None


def count_words(text: str) -> int:
    """Return about how many words a text has: two characters each in scripts without blanks."""
    n = len(text.split())
    return n if text.isascii() else n + len(_UNSPACED.findall(text)) // 2


def n_letters(cell: str) -> float:
    """Return the number of characters in words; numbers, dates, links and ids have none.

    It is estimated from the beginning of a long cell.
    """
    if is_date(cell):
        return 0.0
    start = cell[:_EXAMINED]
    return sum(map(_letters, start.split())) * max(1.0, len(cell) / _EXAMINED)


@lru_cache(1 << 14)
def _letters(token: str) -> int:
    word = token.strip(_AROUND)
    if _NO_WORD.search(word) or not _LETTER.search(word) or (len(word) > 3 and is_link(word)):
        return 0
    return 0 if word.isascii() and len(word) > _MAX_WORD else len(word)
