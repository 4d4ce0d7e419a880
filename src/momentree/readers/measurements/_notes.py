"""Notes on a table of measurements: what was guessed, repaired or left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np

from momentree.messages import Message
from momentree.readers.measurements._columns import not_numbers
from momentree.readers.measurements._kinds import Column
from momentree.readers.tables.roles import fits
from momentree.readers.tables.table import Table, excerpt, excerpts

_ANSWERS = frozenset({"class", "classes", "label", "labels", "target", "species", "diagnosis",
                      "outcome", "group", "cluster", "result", "y"})  # fmt: skip
"""Names of columns that often contain the answer."""
_FAR = 1_000.0
"""Interquartile ranges from the quartiles to a value that is hardly a measurement."""
_KINDS = {"number": "n_numbers", "yes_no": "n_yes_no", "category": "n_categories",
          "count": "n_counts"}  # fmt: skip


def describe(
    table: Table,
    columns: Sequence[Column],
    left_out: Mapping[str, str],
    answers: Sequence[str],
    *,
    chosen: Mapping[str, str],
) -> list[Message]:
    """Return the notes on newly chosen columns; `chosen` are kinds by name or pattern."""
    parts = []
    for kind, code in _KINDS.items():
        if n := sum(column.kind == kind for column in columns):
            parts.append(Message(code, n_columns=n))
    notes = [Message("form_measurements", parts=parts)]
    for why in dict.fromkeys(left_out.values()):
        names = [name for name, code in left_out.items() if code == why]
        notes.append(Message(why, n_columns=len(names), columns=excerpts(names)))
    guessed = [c.name for c in columns if not any(fnmatchcase(c.name, p) for p in chosen)]
    free = [column for column in columns if column.name in set(guessed)]
    grades = [c.name for c in free if c.kind == "category" and c.read is not None]
    if grades:
        notes.append(
            Message("numbers_as_categories", n_columns=len(grades), columns=excerpts(grades))
        )
    counts = [c.name for c in free if c.kind == "count"]
    if counts:
        notes.append(Message("numbers_as_counts", n_columns=len(counts), columns=excerpts(counts)))
    if answers:
        notes.append(
            Message("columns_are_outcomes", n_columns=len(answers), columns=excerpts(answers))
        )
    likely = [c.name for c in free if _is_answer(c) and fits("outcome", c.name)]
    if likely:
        notes.append(
            Message("columns_may_be_outcomes", n_columns=len(likely), columns=excerpts(likely))
        )
    return [*notes, *_on_numbers(columns), *not_numbers(table, columns), *_on_missing(columns)]


def set_answers_apart(
    columns: Sequence[Column], chosen: Mapping[str, str]
) -> tuple[list[Column], list[str]]:
    """Return the columns without those named like the answer, such as species; and their names."""
    answers = [
        column.name
        for column in columns
        if column.name.strip().lower() in _ANSWERS
        and _is_answer(column)
        and not any(fnmatchcase(column.name, pattern) for pattern in chosen)
    ]
    kept = [column for column in columns if column.name not in answers]
    return (kept, answers) if kept else (list(columns), [])


def _is_answer(column: Column) -> bool:
    return column.kind in ("category", "yes_no") or column.few_valued


def _on_numbers(columns: Sequence[Column]) -> list[Message]:
    """Return notes on units, limits, separators and codes of missing values."""
    notes = []
    read = [(column.name, column.read) for column in columns if column.read is not None]
    units = [name for name, found in read if found.units]
    if units:
        notes.append(Message("units_removed", n_columns=len(units), columns=excerpts(units)))
    if n := sum(found.n_limits for _, found in read):
        names = [name for name, found in read if found.n_limits]
        notes.append(Message("limits_as_numbers", n_entries=n, columns=excerpts(names)))
    guessed = [name for name, found in read if found.n_guessed]
    if guessed:
        notes.append(Message("guessed_separators", columns=excerpts(guessed)))
    if far := [column.name for column in columns if _has_far_values(column)]:
        notes.append(Message("far_values", columns=excerpts(far)))
    notes += [
        Message(
            "may_mean_missing",
            column=excerpt(column.name),
            value=f"{column.suspect:g}",
            n_entries=int((column.numbers == column.suspect).sum()),
            parameter="missing",
        )
        for column in columns
        if column.suspect is not None
    ]
    return notes


def _has_far_values(column: Column) -> bool:
    if column.kind not in ("number", "count"):
        return False
    known = column.numbers[~np.isnan(column.numbers)]
    low, high = np.quantile(known, [0.25, 0.75])
    reach = _FAR * (high - low)
    return bool(reach > 0 and (known.max() - high > reach or low - known.min() > reach))


def _on_missing(columns: Sequence[Column]) -> list[Message]:
    gaps = {column.name: int(column.missing.sum()) for column in columns}
    n = sum(gaps.values())
    if not n:
        return []
    most = max(gaps, key=lambda name: gaps[name])
    with_gaps = sum(count > 0 for count in gaps.values())
    return [
        Message(
            "missing_measurements",
            n_missing=n,
            n_columns=with_gaps,
            column=excerpt(most),
            n_missing_first=gaps[most],
        )
    ]
