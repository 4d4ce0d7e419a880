"""Guess what names and cells of tables mean: roles of columns by one table of rules; values."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Role = Literal[
    "text", "row number", "id", "possible id", "patient", "sequence", "time", "code", "event",
    "outcome", "group", "title",
]  # fmt: skip

MARKS = frozenset({"x", "+", "✓", "✔"})
ONES = frozenset({"1", "1.0", "true", "t", "yes", "y"}) | MARKS
ZEROS = frozenset({"0", "0.0", "false", "f", "no", "n", "-"})
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", ".", "<na>"})
"""Values of single cells, in lower case."""


def _n_binary(values: Sequence[str]) -> int:
    return sum(n for value, n in Counter(values).items() if value.lower() in ONES | ZEROS)


def is_binary(values: Sequence[str]) -> bool:
    """Return whether all values are yes or no."""
    return len(values) == _n_binary(values)


def mostly_binary(values: Sequence[str]) -> bool:
    """Return whether there are values, and at least half of them are yes or no."""
    return 0 < len(values) <= 2 * _n_binary(values)


def _long(values: Sequence[str]) -> bool:
    """Return whether most values are long or have a letter: ids, not counts such as days."""
    long = sum(len(value) > 3 or not value.isdigit() for value in values)
    return 2 * long > len(values) and not is_binary(values)


def _any_code(values: Sequence[str]) -> bool:
    return not mostly_binary(values)


def _codes(values: Sequence[str]) -> bool:
    """Return whether nearly all words are short and contain a digit: codes, not sentences."""
    if mostly_binary(values):
        return False
    parts = [part for value in values[:200] for part in re.split(r"[;,|^~&/\s]+", value) if part]
    codes = sum(len(part) <= 16 and any(map(str.isdigit, part)) for part in parts)
    return bool(parts) and codes >= 0.9 * len(parts)


@dataclass(frozen=True)
class Rule:
    """The role of columns whose name matches and whose values pass the test."""

    role: Role
    name: str  # a pattern for the whole name as `_plain` writes it
    test: Callable[[Sequence[str]], bool] = lambda _: True


def _exactly(role: Role, names: str) -> Iterable[Rule]:
    return (Rule(role, name) for name in names.split(", "))


_SOMEBODY = "patient|pat|person|subject|member|beneficiary"
_STAY = "record|case|visit|encounter|admission|hadm|stay|episode|fall|aufenthalt"
_NUMBER = "id|no|nr|nbr|num|number|nummer|key|identifier"
_PATIENT_NUMBER = "mrn|nhc|patientid|patientnr|patientennummer|patientennr"
_STAY_NUMBER = "fallnummer|fallnr|fallid|aufenthaltsnummer|aufenthaltsnr|caseid|visitid"
_SYSTEM = "icd|dx|diag|cpt|atc|snomed"
# Payment groups, and the count, type and order of codes.
_ABOUT_CODES = "drg|n|no|nr|num|number|count|type|version|system|seq|sequence"
_PLACE = "post|postal|zip|area|region|country|state|ward|unit|department|hospital|site|provider"
_SOURCE = (
    "user|visitor|customer|client|session|sequence|trajectory|sentence|player|student|device|"
    "cookie|account|trace"
)
_TIME = "time|date|datetime|timestamp|day|month|year|week|datum|zeit|dttm|ts"
_DURATION = "in|to|of|since|spent|birth|dob|death|updated|end|until|discharge"
_OUTCOME = (
    "died|death|dead|deceased|decease|mortality|survived|survival|alive|expired|expire|outcome|"
    "icu|readmitted|readmission|readmit|sex|gender|female|male|woman|man|emergency|elective"
)


def _without(words: str) -> str:
    """Return a pattern that rejects names with one of the words, even if digits follow it."""
    return rf"(?!(.* )?({words})\d*( |$))"


RULES = (
    *_exactly(
        "text",
        "text, texts, content, contents, body, fulltext, full text, document, abstract, article, "
        "description, message, review, comment, summary",
    ),
    # R and pandas write row numbers in a first column without a name.
    Rule("row number", r"column 1|unnamed 0|index|(row|seq|line) ?(id|no|nr|num|number)?"),
    Rule("patient", rf"{_SOMEBODY}|{_PATIENT_NUMBER}"),
    Rule(
        "patient", rf"(\S+ )?({_SOMEBODY}|{_PATIENT_NUMBER}) (\S+ )?({_NUMBER}|{_PATIENT_NUMBER})"
    ),
    Rule("patient", rf"(\S+ ){{1,2}}({_PATIENT_NUMBER})"),
    Rule("id", rf"(.* )?id|column 1|unnamed 0|index|(row|seq|line) ?({_NUMBER})?"),
    Rule("id", rf"record|patient|person|subject|case|visit|encounter|admission|{_PATIENT_NUMBER}"),
    Rule("id", rf"(\S+ )?({_SOMEBODY}|{_STAY}) (\S+ )?({_NUMBER})|{_STAY_NUMBER}"),
    # These columns may also contain the length of a stay, or whether a patient fell.
    Rule("possible id", "stay|fall|aufenthalt|episode", _long),
    Rule("sequence", rf"({_SOURCE})( ({_NUMBER}))?"),
    Rule("sequence", rf"(\S+ )?({_SOURCE}) ({_NUMBER})"),
    *_exactly("time", "time, timestamp, datetime, date time, date, event time, event date"),
    Rule("time", rf"{_without(_DURATION)}(\S+ ){{0,2}}({_TIME})( time)?"),
    Rule("time", rf"{_without(_DURATION)}({_TIME}) (\S+)"),
    Rule("time", r"admit ?time|chart ?time|start ?time|(seq|sequence|visit) ?(num|number|no|nr)"),
    Rule("time", r"step|position|order|rank|t"),
    Rule(
        "event", r"(.* )?(event|action|activity|page|state|url|symbol|item|tag|word)( name| type)?"
    ),
    Rule("code", "codes?", _any_code),
    Rule("code", rf"{_without(_ABOUT_CODES)}(.*[^a-z])?({_SYSTEM}).*", _codes),
    Rule("code", rf"{_without(f'{_ABOUT_CODES}|{_PLACE}')}(.*[^a-z])?codes?([^a-z].*)?", _codes),
    Rule("outcome", rf"(?=(\S+ ?){{1,3}}$)(.* )?({_OUTCOME})(\d.*| .*)?"),
    *_exactly("group", "group, category, rollup, parent, target"),
    *_exactly(
        "title", "name, title, label, description, long desc, long title, short desc, short title"
    ),
)


_MAX_WORDS = 3
_SURE: tuple[Role, ...] = ("text", "row number", "id", "patient", "code", "title", "group")
"""Roles whose names are hardly ever values."""
_MAX_NAME = 100


@lru_cache(1 << 16)
def _plain(name: str) -> str:
    """Return a name in lower case, with one blank between words: "patient id"."""
    if len(name) > _MAX_NAME:
        return ""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return " ".join(re.findall(r"[^\W_]+", words)).lower()


def fits(role: Role, name: str, values: Sequence[str] | None = None) -> bool:
    """Return whether a column may have a role, by its name and, if given, its values."""
    plain = _plain(name)
    rules = (rule for rule in RULES if rule.role == role and re.fullmatch(rule.name, plain))
    return any(values is None or rule.test(values) for rule in rules)


def first_role(role: Role, names: Sequence[str]) -> list[str]:
    """Return the names that match the earliest rule of a role that any of them matches."""
    for rule in RULES:
        if rule.role == role:
            matches = [name for name in names if re.fullmatch(rule.name, _plain(name))]
            if matches:
                return matches
    return []


def pick(role: Role, names: Sequence[str]) -> str | None:
    """Return a name that matches the earliest rule of a role; None if no name matches a rule."""
    return next(iter(first_role(role, names)), None)


def is_name(cell: str) -> bool:
    """Return whether a cell is a common name of a column, whatever it would contain."""
    return _plain(cell).count(" ") < _MAX_WORDS and any(fits(role, cell) for role in _SURE)


_NUMERAL = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?%?")
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
_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[ap]m)?", re.IGNORECASE)
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
    elif not _NUMERAL.fullmatch(text):
        return None
    try:
        return float(text.rstrip("%").replace(",", "."))
    except ValueError:  # digits of other scripts
        return None


def is_date(cell: str) -> bool:
    """Return whether a cell is a date or a time: 2024-12-31, 31.12.24, Dec 31, 2024 23:59."""
    text = cell.strip()
    return len(text) <= _MAX_LENGTH and bool(_DATE.fullmatch(text) or _CLOCK.fullmatch(text))


def is_link(cell: str) -> bool:
    """Return whether a cell is one address: of a page, a person, a file or an article."""
    return _LINK.fullmatch(cell.strip()) is not None


def count_words(text: str) -> int:
    """Return about how many words a text has: two characters each in scripts without blanks."""
    n = len(text.split())
    return n if text.isascii() else n + len(_UNSPACED.findall(text)) // 2


def n_letters(cell: str) -> float:
    """Count the characters that are part of words; numbers, dates, links and ids count as none.

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
