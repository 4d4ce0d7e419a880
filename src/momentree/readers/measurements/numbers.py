"""Read numbers as people write them: with units, decimal commas, separators and limits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Floats
from momentree.readers.tables import roles

MISSING = roles.MISSING | {"-", "--", "---", "–", "—", "#n/a", "#null!", "n.a.", "n. a.", "nil"} | {
    "missing", "unknown", "not known", "not done", "nd", "n.d.", "k.a.", "unbekannt", "#value!",
    "#div/0!", "#ref!", "#num!",
}  # fmt: skip
"""Cells without a value in a table of measurements, in lower case."""

_CELL = re.compile(
    r"(?P<limit>[<>≤≥~≈]=?\s*)?(?P<currency>[$€£¥]\s*)?"
    r"(?P<number>[+\-\u2212]?(?:\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+(?:[.,]\d*)?|\d[\d.,]*|[.,]\d+)"
    r"(?:[eE][+-]?\d+)?)"
    r"\s*(?P<unit>(?:[^\W\d_]|[%‰°µ$€£¥]|(?<=\s)10\^)[^\s]{0,15}(?:\s[^\d\s]{1,10})?)?"
)
_BLANKS = str.maketrans(dict.fromkeys(" '’\xa0\u202f", "") | {"\u2212": "-"})
_COMMA_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_DOT_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
_MAX_LENGTH = 60
"""Longer cells are texts."""
_FEW = 0.05
"""Share of cells of a column of numbers that may be something else."""


@dataclass(frozen=True)
class Style:
    """How the numbers of a table are written, where a single one does not show it."""

    comma_is_decimal: bool = False
    dot_groups: bool = False


@dataclass(frozen=True)
class Numbers:
    """A column read as numbers."""

    numbers: Floats  # NaN where missing or not a number
    missing: NDArray[np.bool_]
    units: Counter[str]  # number of rows by unit
    n_limits: int  # rows such as "<0.5"
    n_guessed: int  # rows with a comma or dot that could have another meaning

    @property
    def other(self) -> NDArray[np.bool_]:
        """Rows that are neither missing nor numbers."""
        return ~self.missing & np.isnan(self.numbers)

    @property
    def mostly(self) -> bool:
        """Whether nearly all known cells are numbers."""
        known = int((~self.missing).sum())
        return known > 0 and int(self.other.sum()) <= _FEW * known


def find_style(columns: Iterable[Sequence[str]]) -> Style:
    """Find out whether a table has decimal commas, from the cells in which they are clear."""
    commas = dots = grouped = 0
    for cells in columns:
        for text in set(cells):
            if "," not in text and is_plain(text):
                is_grouped = _DOT_GROUPS.fullmatch(text) is not None
                dots += "." in text and not is_grouped
                grouped += is_grouped
                continue
            if ("," not in text and "." not in text) or (match := _match(text)) is None:
                continue
            number = match["number"].translate(_BLANKS)
            shown = _decimal_sign(number)
            commas += shown == ","
            dots += shown == "."
            grouped += "," not in number and _DOT_GROUPS.fullmatch(number) is not None
    comma = commas > dots
    return Style(comma, comma and grouped > 0)


def read_numbers(cells: Sequence[str], missing: frozenset[str], style: Style) -> Numbers:
    """Read a column as numbers; `missing` are further texts, in lower case, without a value."""
    texts = pd.Series(cells, dtype=object)
    # Most cells are plain numbers, which pandas reads at once.
    values = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64).copy()
    values[~np.isfinite(values)] = np.nan
    absent = np.zeros(len(values), dtype=np.bool_)
    asked = np.array([text for text in missing if is_plain(text)], dtype=np.float64)
    if len(asked):
        absent |= np.isin(values, asked)
    units: Counter[str] = Counter()
    n_limits = n_guessed = 0
    rest = np.isnan(values) if not style.dot_groups else np.ones(len(values), dtype=np.bool_)
    left: dict[str, list[int]] = {}
    for row in np.flatnonzero(rest).tolist():
        left.setdefault(cells[row], []).append(row)
    comma_is_decimal = (
        style.comma_is_decimal
        or any(_decimal_sign(_number(text)) == "," for text in left)
        or _is_mixed(left, values)
    )
    for text, rows in left.items():
        plain = text.strip()
        if plain.lower() in MISSING or plain.lower() in missing:
            absent[rows] = True
            continue
        if (match := _match(plain)) is None:
            continue
        number = match["number"].translate(_BLANKS)
        value = _value(number, comma_is_decimal=comma_is_decimal, dot_groups=style.dot_groups)
        if value is None:
            continue
        values[rows] = value
        n_limits += len(rows) if match["limit"] else 0
        n_guessed += len(rows) if _is_ambiguous(number) else 0
        unit = (match["unit"] or match["currency"] or "").strip()
        if unit:
            units[unit] += len(rows)
    values[absent] = np.nan
    return Numbers(values, absent, units, n_limits, n_guessed)


def _match(text: str) -> re.Match[str] | None:
    return None if len(text) > _MAX_LENGTH else _CELL.fullmatch(text.strip())


def _number(text: str) -> str:
    match = _match(text)
    return match["number"].translate(_BLANKS) if match else ""


def _decimal_sign(number: str) -> str:
    """Return the decimal sign of a number if it is clear: a comma or a dot."""
    comma, dot = number.rfind(","), number.rfind(".")
    if comma < 0 and dot < 0:
        return ""
    if comma >= 0 and dot >= 0:
        return "," if comma > dot else "."
    if comma >= 0:
        return "" if _COMMA_GROUPS.fullmatch(number) or number.count(",") > 1 else ","
    return "" if _DOT_GROUPS.fullmatch(number) or number.count(".") > 1 else "."


def _is_ambiguous(number: str) -> bool:
    return number.count(",") + number.count(".") == 1 and not _decimal_sign(number)


def _is_mixed(left: dict[str, list[int]], values: Floats) -> bool:
    """Return whether plain numbers above 1000 show that commas in a column separate no groups."""
    grouped = any(_COMMA_GROUPS.fullmatch(_number(text)) for text in left)
    return grouped and bool((np.abs(values[~np.isnan(values)]) >= 1000).any())


def _value(number: str, *, comma_is_decimal: bool, dot_groups: bool) -> float | None:
    sign = _decimal_sign(number)
    if not sign:
        comma = "," in number and comma_is_decimal and number.count(",") == 1
        dot = "." in number and not dot_groups and number.count(".") == 1
        sign = "," if comma else "." if dot else ""
    whole, _, fraction = number.partition(sign) if sign else (number, "", "")
    if "," in fraction or "." in fraction:
        return None
    digits = whole.replace(",", "").replace(".", "")
    if digits != whole and not (_COMMA_GROUPS.fullmatch(whole) or _DOT_GROUPS.fullmatch(whole)):
        return None
    try:
        value = float(f"{digits}.{fraction}" if sign else digits)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def is_plain(text: str) -> bool:
    """Return whether Python reads a text as a finite number."""
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
