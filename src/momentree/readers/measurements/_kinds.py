"""Find out what each column of a table of measurements contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Floats
from momentree.core.choices import ColumnKind
from momentree.core.counts import are_counts
from momentree.metrics.outcomes import MAX_CLASSES
from momentree.readers.measurements._numbers import MISSING, Numbers, Style, read_numbers
from momentree.readers.tables.roles import MARKS, ONES, ZEROS, fits
from momentree.readers.tables.values import is_date

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


def read_column(
    name: str,
    cells: Sequence[str],
    *,
    kind: ColumnKind | None,
    missing: frozenset[str],
    style: Style,
    empty_is_zero: bool = False,
) -> Column:
    """Read a column as the given kind, or as the kind that its values show."""
    if kind in ("number", "count"):
        found = read_numbers(cells, missing, style)
        return Column(name, kind, found.numbers, read=found)
    clean = _cleaned(cells, missing)
    known = {text for text in set(clean) if text}
    signs = {text.strip() for text in set(cells)} if known and known <= {"+"} else set()
    if "-" in signs:  # beside a plus, a minus is an answer, not a missing value
        clean = np.array([t.strip() or "" for t in cells], dtype=object)
        known = {"+", "-"}
    if not known:
        return Column(name, kind or "number", np.full(len(cells), np.nan), clean,
                      why_left_out="columns_without_values")  # fmt: skip
    if kind == "yes_no" or (kind is None and {text.lower() for text in known} <= ONES | ZEROS):
        return _yes_no(name, clean, known, empty_is_zero=empty_is_zero)
    if kind == "category":
        return Column(name, "category", texts=clean)
    found = read_numbers(cells, missing, style)
    if found.mostly and not (found.units and _are_dates(known)):
        return _number(name, found)
    return _category(name, clean, known)


def _number(name: str, found: Numbers) -> Column:
    values = found.numbers
    known = values[~np.isnan(values)]
    distinct, counts = np.unique(known, return_counts=True)
    whole = bool((distinct == np.floor(distinct)).all())
    if whole and _are_compact_dates(distinct):
        return Column(name, why_left_out="columns_of_dates")
    if whole and _are_row_numbers(distinct, len(values)):
        return Column(name, why_left_out="columns_of_ids")
    few = whole and len(distinct) <= FEW_NUMBERS and not found.units
    kind: ColumnKind = "category" if few and len(distinct) == 2 else "number"
    # Only few numbers can become categories.
    texts = _texts_of(values) if few else np.empty(0, dtype=object)
    column = Column(name, kind, values, texts, found, few_valued=few)
    if kind == "number" and (suspect := _suspect(distinct, counts)) is not None:
        return Column(name, kind, values, column.texts, found, "", few, suspect)
    return column


def as_category(column: Column) -> Column:
    """Return a column of few whole numbers as a category."""
    return Column(column.name, "category", column.numbers, column.texts, column.read)


def is_count(column: Column) -> bool:
    """Return whether numbers are counts, which as numbers would form groups at 0, 1 and 2."""
    values, times = np.unique(column.numbers[~np.isnan(column.numbers)], return_counts=True)
    return column.kind == "number" and are_counts(values, times.astype(np.float64))


def _category(name: str, clean: NDArray[np.object_], known: set[str]) -> Column:
    if _are_dates(known):
        return Column(name, why_left_out="columns_of_dates")
    n_known = int((clean != "").sum())
    if len(known) > MAX_CLASSES or (len(known) > FEW_NUMBERS and 2 * len(known) > n_known):
        return Column(name, why_left_out="columns_of_texts")
    if len(known) > 2 and len(known) == n_known:
        return Column(name, why_left_out="columns_of_texts")
    return Column(name, "category", texts=clean)


def _yes_no(
    name: str, clean: NDArray[np.object_], known: set[str], *, empty_is_zero: bool
) -> Column:
    lower = np.array([text.lower() for text in clean], dtype=object)
    values = np.full(len(clean), np.nan)
    values[np.isin(lower, list(ONES))] = 1.0
    values[np.isin(lower, list(ZEROS))] = 0.0
    if empty_is_zero or {text.lower() for text in known} <= MARKS:
        values[lower == ""] = 0.0
    spelled = {float(text.lower() in ONES): text for text in sorted(known)}
    words = (spelled.get(0.0, "no"), spelled.get(1.0, "yes"))
    return Column(name, "yes_no", values, clean, words=words)


def _cleaned(cells: Sequence[str], missing: frozenset[str]) -> NDArray[np.object_]:
    """Return stripped cells, "" where missing."""
    after: dict[str, str] = {}
    for text in set(cells):
        plain = text.strip()
        lower = plain.lower()
        after[text] = "" if lower in MISSING or lower in missing else plain
    return np.array([after[text] for text in cells], dtype=object)


def _texts_of(values: Floats) -> NDArray[np.object_]:
    distinct, at = np.unique(values, return_inverse=True)
    texts = ["" if np.isnan(v) else f"{v:.10g}" for v in distinct.tolist()]
    return np.array(texts, dtype=object)[at]


def _are_dates(known: set[str]) -> bool:
    sample = sorted(known)[:_NO_DATE]
    dates = sum(is_date(text) and not _is_decimal(text) for text in sample)
    return dates >= _MOSTLY * len(sample)


def _is_decimal(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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


def is_id(name: str, cells: Sequence[str]) -> bool:
    """Return whether a column contains ids, by its name."""
    lower = {text.strip().lower() for text in cells[:FEW_NUMBERS]}
    return (fits("id", name) or fits("patient", name)) and not lower <= ONES | ZEROS | MISSING


def is_constant(column: Column) -> bool:
    """Return whether all known values are equal."""
    return len(pd.unique(pd.Series(column.content[~column.missing]))) < 2
