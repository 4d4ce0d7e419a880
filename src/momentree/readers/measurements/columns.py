"""Read a column of measurements as people write it, and find out what it contains."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Floats
from momentree.core.choices import ColumnKind
from momentree.core.counts import are_counts
from momentree.messages import wording
from momentree.metrics.outcomes import MAX_CLASSES
from momentree.readers.tables import roles

_COLUMNS_OF_DATES = (
    "[columns_of_dates] left out {n_columns:~column} of dates: {columns:quoted list}"
)


MISSING = roles.MISSING | {
    "-", "--", "---", "–", "—", "#n/a", "#null!", "n.a.", "n. a.", "nil",
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
FEW_NUMBERS = 10
"""Whole numbers with at most so many values may be grades or categories."""
MOSTLY_MISSING = 0.8
"""A column with a larger share of missing cells is left out."""
_MOSTLY = 0.9
"""A column with a larger share of dates contains dates."""
_NO_DATE = 1_000
"""Different values that are examined for dates."""
_CODES_OF_MISSING = frozenset(
    sign * value for sign in (1, -1) for value in (99.0, 888.0, 999.0, 8888.0, 9999.0, 99999.0)
) | {-1.0, -9.0, -88.0}
"""Numbers that often stand for a missing value."""
_MAX_LENGTH = 60
"""Longer cells are texts."""
_FEW = 0.05
"""Share of cells of a column of numbers that may be something else."""


@dataclass(frozen=True)
class Style:
    """How the cells of a table are written, where a single one does not show it."""

    comma_is_decimal: bool = False
    dot_groups: bool = False
    missing: frozenset[str] = frozenset()  # further texts without a value, in lower case
    empty_is_zero: bool = False  # in a column of yes and no

    def is_missing(self, text: str) -> bool:
        """Return whether a cell has no value."""
        lower = text.strip().lower()
        return lower in MISSING or lower in self.missing


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
                number, shown = text, "." if "." in text else ""
            elif ("," in text or "." in text) and (match := _match(text)):
                number = match["number"].translate(_BLANKS)
                shown = _decimal_sign(number)
            else:
                continue
            is_grouped = _DOT_GROUPS.fullmatch(number) is not None
            grouped += is_grouped
            commas += shown == ","
            dots += shown == "." and not is_grouped
    comma = commas > dots
    return Style(comma, comma and grouped > 0)


def read_numbers(cells: Sequence[str], style: Style) -> Numbers:
    """Read a column as numbers."""
    # Most cells are plain numbers, which pandas reads at once.
    texts = pd.Series(cells, dtype=object)
    values = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64).copy()
    values[~np.isfinite(values)] = np.nan
    asked = np.array([text for text in style.missing if is_plain(text)], dtype=np.float64)
    absent = np.isin(values, asked) if len(asked) else np.zeros(len(values), dtype=np.bool_)
    rest = np.isnan(values) if not style.dot_groups else np.ones(len(values), dtype=np.bool_)
    left: dict[str, list[int]] = {}
    for row in np.flatnonzero(rest).tolist():
        left.setdefault(cells[row], []).append(row)
    matches = {text: match for text in left if (match := _match(text))}
    numbers = {text: match["number"].translate(_BLANKS) for text, match in matches.items()}
    # Plain numbers above 1000 show that the commas in a column separate no groups.
    comma_is_decimal = (
        style.comma_is_decimal
        or any(_decimal_sign(number) == "," for number in numbers.values())
        or (
            any(map(_COMMA_GROUPS.fullmatch, numbers.values()))
            and bool((np.abs(values[~np.isnan(values)]) >= 1000).any())
        )
    )
    units: Counter[str] = Counter()
    n_limits = n_guessed = 0
    for text, rows in left.items():
        if style.is_missing(text):
            absent[rows] = True
            continue
        number = numbers.get(text, "")
        value = _value(number, comma_is_decimal=comma_is_decimal, dot_groups=style.dot_groups)
        if value is None:
            continue
        match = matches[text]
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


def _value(number: str, *, comma_is_decimal: bool, dot_groups: bool) -> float | None:
    sign = _decimal_sign(number)
    if not sign:
        comma = "," in number and comma_is_decimal and number.count(",") == 1
        dot = "." in number and not dot_groups and number.count(".") == 1
        sign = "," if comma else "." if dot else ""
    whole, _, fraction = number.partition(sign) if sign else (number, "", "")
    digits = whole.replace(",", "").replace(".", "")
    grouped = _COMMA_GROUPS.fullmatch(whole) or _DOT_GROUPS.fullmatch(whole)
    text = f"{digits}.{fraction}" if sign else digits
    return float(text) if (digits == whole or grouped) and is_plain(text) else None


def is_plain(text: str) -> bool:
    """Return whether Python reads a text as a finite number."""
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


@dataclass(frozen=True)
class Column:
    """A column that is kept, or left out for a reason (a code of messages)."""

    name: str
    kind: ColumnKind = "number"
    numbers: Floats = field(default_factory=lambda: np.empty(0))
    texts: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, dtype=object))
    read: Numbers | None = None
    why_left_out: str = ""
    few_valued: bool = False  # whole numbers that may be categories
    suspect: float | None = None  # a number that may stand for a missing value
    words: tuple[str, str] = ("no", "yes")

    @property
    def content(self) -> NDArray[np.float64] | NDArray[np.object_]:
        """The values: texts of a category, otherwise floats."""
        return self.texts if self.kind == "category" else self.numbers

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing."""
        if self.kind == "category":
            return np.asarray(self.texts == "", dtype=np.bool_)
        return np.isnan(self.numbers)


def read_column(name: str, cells: Sequence[str], kind: ColumnKind | None, style: Style) -> Column:
    """Read a column as the given kind, or as the kind that its values show."""
    if kind in ("number", "count"):
        numbers = read_numbers(cells, style)
        return Column(name, kind, numbers.numbers, read=numbers)
    clean = _clean(cells, style)
    known = {text for text in set(clean) if text}
    signs = {text.strip() for text in set(cells)} if known and known <= {"+"} else set()
    if "-" in signs:  # beside a plus, a minus is an answer, not a missing value
        clean = np.array([t.strip() or "" for t in cells], dtype=object)
        known = {"+", "-"}
    if not known:
        return Column(name, kind or "number", np.full(len(cells), np.nan), clean,
                      why_left_out=wording.COLUMNS_WITHOUT_VALUES)  # fmt: skip
    if kind == "yes_no" or (
        kind is None and {text.lower() for text in known} <= roles.ONES | roles.ZEROS
    ):
        return _yes_no(name, clean, known, empty_is_zero=style.empty_is_zero)
    if kind == "category":
        return Column(name, "category", texts=clean)
    numbers = read_numbers(cells, style)
    if numbers.mostly and not (numbers.units and _are_dates(known)):
        return _number(name, numbers)
    return _category(name, clean, known)


def _number(name: str, numbers: Numbers) -> Column:
    values = numbers.numbers
    distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    whole = bool((distinct == np.floor(distinct)).all())
    if whole and _are_compact_dates(distinct):
        return Column(name, why_left_out=_COLUMNS_OF_DATES)
    if whole and _are_row_numbers(distinct, len(values)):
        return Column(name, why_left_out=wording.COLUMNS_OF_IDS)
    few = whole and len(distinct) <= FEW_NUMBERS and not numbers.units
    # Only few numbers can become categories.
    texts = _texts_of(values) if few else np.empty(0, dtype=object)
    if few and len(distinct) == 2:
        return Column(name, "category", values, texts, numbers, few_valued=True)
    suspect = _suspect(distinct, counts)
    return Column(name, "number", values, texts, numbers, few_valued=few, suspect=suspect)


def is_count(column: Column) -> bool:
    """Return whether numbers are counts, which as numbers would form groups at 0, 1 and 2."""
    values, times = np.unique(column.numbers[~np.isnan(column.numbers)], return_counts=True)
    return column.kind == "number" and are_counts(values, times.astype(np.float64))


def _category(name: str, clean: NDArray[np.object_], known: set[str]) -> Column:
    if _are_dates(known):
        return Column(name, why_left_out=_COLUMNS_OF_DATES)
    n, n_known = len(known), int((clean != "").sum())
    if n > MAX_CLASSES or (n > FEW_NUMBERS and 2 * n > n_known) or (n > 2 and n == n_known):
        return Column(
            name,
            why_left_out=(
                "[columns_of_texts] left out {n_columns:~column} of text with too many different "
                "values for categories: {columns:quoted list}"
            ),
        )
    return Column(name, "category", texts=clean)


def _yes_no(
    name: str, clean: NDArray[np.object_], known: set[str], *, empty_is_zero: bool
) -> Column:
    lower = np.array([text.lower() for text in clean], dtype=object)
    values = np.full(len(clean), np.nan)
    values[np.isin(lower, list(roles.ONES))] = 1.0
    values[np.isin(lower, list(roles.ZEROS))] = 0.0
    if empty_is_zero or {text.lower() for text in known} <= roles.MARKS:
        values[lower == ""] = 0.0
    spelled = {float(text.lower() in roles.ONES): text for text in sorted(known)}
    words = (spelled.get(0.0, "no"), spelled.get(1.0, "yes"))
    return Column(name, "yes_no", values, clean, words=words)


def _clean(cells: Sequence[str], style: Style) -> NDArray[np.object_]:
    """Return stripped cells, "" where missing."""
    after = {text: "" if style.is_missing(text) else text.strip() for text in set(cells)}
    return np.array([after[text] for text in cells], dtype=object)


def _texts_of(values: Floats) -> NDArray[np.object_]:
    distinct, place = np.unique(values, return_inverse=True)
    texts = ["" if np.isnan(v) else f"{v:.10g}" for v in distinct.tolist()]
    return np.array(texts, dtype=object)[place]


def _are_dates(known: set[str]) -> bool:
    sample = sorted(known)[:_NO_DATE]
    dates = sum(roles.is_date(text) and not is_plain(text) for text in sample)
    return dates >= _MOSTLY * len(sample)


def _are_compact_dates(distinct: Floats) -> bool:
    """Return whether all numbers are dates written as 20241231."""
    if len(distinct) < 2 or distinct[0] < 18_000_000 or distinct[-1] > 21_001_231:
        return False
    month, day = (distinct // 100) % 100, distinct % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _are_row_numbers(distinct: Floats, n_rows: int) -> bool:
    """Return whether a column numbers the rows."""
    if len(distinct) < max(n_rows, FEW_NUMBERS + 1):
        return False
    return bool(distinct[0] in (0.0, 1.0) and distinct[-1] - distinct[0] == n_rows - 1)


def _suspect(distinct: Floats, counts: NDArray[np.intp]) -> float | None:
    """Return a usual code of missing values that repeats far away from all other numbers."""
    for value in (distinct[-1], distinct[0]) if len(distinct) > FEW_NUMBERS else ():
        others = distinct[distinct != value]
        spread = max(float(others[-1] - others[0]), 1e-300)
        gap = min(abs(float(value - others[0])), abs(float(value - others[-1])))
        repeated = int(counts[distinct == value][0]) > 1
        negative = value < 0 <= others[0]
        if float(value) in _CODES_OF_MISSING and repeated and (gap > spread / 2 or negative):
            return float(value)
    return None


def is_constant(column: Column) -> bool:
    """Return whether all known values are equal."""
    return len(pd.unique(pd.Series(column.content[~column.missing]))) < 2
