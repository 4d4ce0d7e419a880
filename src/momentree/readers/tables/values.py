"""Tell numbers, dates, links and words apart; judge by them whether a table has a header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import median

from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.tables.schema import is_name
from momentree.readers.tables.table import excerpts, rows_examined

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


HEADER_ROWS = 30
"""Rows in which to look for the names of the columns."""

HEADER_SAMPLE = 200
"""Rows by which to judge whether the first one is a header."""

_MANY_WORDS = 5
_MIN_SHARE = 0.9


def check_header(
    path: Path, rows: Sequence[Sequence[str]], n_above: Sequence[int], *, sheets: Message | str = ""
) -> None:
    """Reject a first row that names few columns if a later row names most of them.

    `n_above` contains the number of rows above each row in the file.
    """
    n_columns = max(map(len, rows))
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    # R and pandas leave the header above row numbers blank.
    named = filled[0] + (not rows[0][0].strip())
    if n_columns < 2 or 2 * named > n_columns:
        return
    for row, n, above in zip(rows[1:], filled[1:], n_above[1:], strict=True):
        if n > filled[0] and 5 * n >= 4 * n_columns and _may_be_names(row):
            raise ReadError(
                "[title_above_header] {path}: the first row names {named} of {n_columns} columns, "
                "and row {row:,} looks like the header ({names:quoted list}): pass "
                "{parameters.skip_rows:{above}}, or name all columns in the first row{sheets}",
                path=str(path),
                named=filled[0],
                n_columns=n_columns,
                row=above + 1,
                names=excerpts(row),
                above=above,
                sheets=sheets,
            )


def _may_be_names(row: Sequence[str]) -> bool:
    """Return whether all cells differ, some are words, and numbers are long enough for codes."""
    cells = [cell.strip() for cell in row if cell.strip()]
    numbers = [cell for cell in cells if cell.replace(",", ".").replace(".", "", 1).isdigit()]
    short = any(len(number) < 3 for number in numbers)
    return len(numbers) < len(cells) == len(set(cells)) and not short


def find_header(
    path: Path, rows: Sequence[Sequence[str]], header: bool | None
) -> tuple[int, list[Message]]:
    """Return the number of header rows, 0 or 1, as given or guessed, and a note on a guess."""
    if header is None and not has_header(rows[:HEADER_SAMPLE]):
        return 0, [
            Message(
                "[no_header] the first row of {source} looks like data, not like names of columns: "
                "read it as data, with columns named 'column 1', 'column 2' and so on; "
                "{parameter:True} takes it as names",
                source=path.name,
                parameter="header",
            )
        ]
    return int(header is not False), []


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns, judged by the rows below.

    Each cell of the first row is compared with those below it. A header differs from a column of
    numbers, dates, links or a few repeated values; a row of data resembles it. The first row is
    data only if a cell shows it and none contradicts.
    """
    if len(rows) < 3:
        return True
    first, *below = rows[: rows_examined(len(rows[0]))]
    votes = [
        _vote(cell.strip(), [value for row in below if j < len(row) and (value := row[j].strip())])
        for j, cell in enumerate(first)
    ]
    numbers = [number(cell) for cell in first]
    if None not in numbers and (len(first) == 1 or _successive(numbers)):
        return True  # columns named 0, 1, 2, ... as pandas does
    # A column of numbers below a number may be a header of years or codes among others.
    shown = votes.count("data") > 0 or (len(first) > 1 and votes.count("number") == len(first))
    return not shown or "name" in votes


def _vote(cell: str, values: Sequence[str]) -> str:
    """Return "name" or "data" if a cell is that, "number" if it may be either, or ""."""
    if not cell or len(values) < 2:
        return ""
    if is_name(cell):
        return "name"
    for test in (is_date, is_link):
        if sum(map(test, values)) >= _MIN_SHARE * len(values):
            return "data" if test(cell) else "name"
    numbers = [x for x in map(number, values) if x is not None]
    if len(numbers) >= _MIN_SHARE * len(values):
        x, low, high = number(cell), min(numbers), max(numbers)
        if x is None or not 2 * low - high <= x <= 2 * high - low:
            return "name"
        return "number" if x.is_integer() else "data"
    lengths = list(map(count_words, values))
    if median(lengths) >= _MANY_WORDS:
        if cell.endswith(("?", ":")):  # a question, above its answers
            return ""
        return "data" if count_words(cell) >= _MANY_WORDS else ""
    counts = Counter(values)
    if 2 <= len(counts) <= len(values) / 4:
        return "data" if cell in counts else "name"
    return ""


def _successive(numbers: Sequence[float | None]) -> bool:
    known = [x for x in numbers if x is not None]
    return all(b - a == 1 for a, b in pairwise(known))
