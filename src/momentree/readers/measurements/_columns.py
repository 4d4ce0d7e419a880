"""Choose the columns of a table that contain measurements, or read those of a coder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from momentree.core.choices import ColumnKind
from momentree.exceptions import EmptyCorpusError, ReadError
from momentree.messages import Message
from momentree.readers.measurements._kinds import (
    MOSTLY_MISSING,
    Column,
    as_category,
    is_constant,
    is_count,
    read_column,
)
from momentree.readers.measurements._numbers import Style, find_style
from momentree.readers.measurements.coder import MeasurementCoder
from momentree.readers.records._guesses import matching
from momentree.readers.tables.table import Table, excerpt, excerpts

_STYLE_ROWS = 2_000
"""Rows examined for decimal commas."""


def choose_columns(
    table: Table,
    names: Sequence[str],
    kinds: Mapping[str, ColumnKind],
    rules: MeasurementCoder,
) -> tuple[list[Column], dict[str, str]]:
    """Read the columns; return those with information, and why the others are left out.

    `kinds` are those that the caller chose, by name or pattern.
    """
    matching(table, "kinds", list(kinds))  # each must match a column
    for name in kinds:
        if name in table.columns and name not in names:
            raise ReadError("kind_of_other_column", column=excerpt(name), parameter="kinds")
    style, missing = find_table_style(table, names), frozenset(rules.missing)
    found: list[Column] = []
    left_out: dict[str, str] = {}
    for name in names:
        kind = next((k for pattern, k in kinds.items() if fnmatchcase(name, pattern)), None)
        kind = kinds.get(name, kind)
        column = read_column(
            name,
            table.columns[name],
            kind=kind,
            missing=missing,
            style=style,
            empty_is_zero=rules.empty == "zero",
        )
        why = column.why_left_out or _why_left_out(column)
        if kind is not None:
            _check_kind(table, column, kind)
        if why:
            left_out[name] = why
            continue
        _check_units(table, column)
        found.append(column)
    chosen = {c.name for c in found if any(fnmatchcase(c.name, p) for p in kinds)}
    found = _in_mixed_table(found, chosen)
    if not found:
        raise EmptyCorpusError(
            "no_measurements", path=str(table.path), columns=excerpts(table.names)
        )
    return found, left_out


def read_known_columns(
    table: Table, coder: MeasurementCoder, style: Style | None = None
) -> tuple[list[Column], list[Message]]:
    """Read the columns of a coder; values that it does not know are missing.

    Numbers are written in a style, or that of this table.
    """
    present = [name for name in coder.kinds if name in table.columns]
    if not present:
        raise ReadError(
            "columns_of_model_missing",
            path=str(table.path),
            expected=excerpts(coder.kinds),
            columns=excerpts(table.names),
        )
    style, missing = style or find_table_style(table, present), frozenset(coder.missing)
    found, notes, n_unknown = [], list[Message](), 0
    for name, kind in coder.kinds.items():
        cells = table.columns.get(name, [""] * table.n_rows)
        column = read_column(
            name,
            cells,
            kind=kind,
            missing=missing,
            style=style,
            empty_is_zero=coder.empty == "zero" and name in table.columns,
        )
        if kind == "category":
            column = _as_numbers_are_written(column, coder.categories[name])
            unknown = ~np.isin(column.texts, [*coder.categories[name], ""])
            n_unknown += int(unknown.sum())
            column = replace(column, texts=np.where(unknown, "", column.texts))
        elif column.read is not None and (n_other := int(column.read.other.sum())):
            notes.append(_not_numbers(table, column, n_other))
        found.append(column)
    lacking = [name for name in coder.kinds if name not in table.columns]
    if lacking:
        notes.append(Message("missing_columns", n_columns=len(lacking), column=excerpt(lacking[0])))
    if n_unknown:
        notes.append(Message("unknown_categories", n_entries=n_unknown))
    return found, notes


def _as_numbers_are_written(column: Column, categories: Sequence[str]) -> Column:
    """Write numbers of a category as at the fit: 4.0 is 4."""
    known = set(categories)
    written = {}
    for text in set(column.texts):
        try:
            written[text] = text if text in known else f"{float(text):.10g}"
        except ValueError:
            written[text] = text
    return replace(column, texts=np.array([written[t] for t in column.texts], dtype=object))


def find_table_style(table: Table, names: Sequence[str]) -> Style:
    """Return how numbers are written in some columns of a table."""
    return find_style(table.columns[name][:_STYLE_ROWS] for name in names)


def _why_left_out(column: Column) -> str:
    missing = column.missing
    if missing.all():
        return "columns_without_values"
    if missing.mean() > MOSTLY_MISSING:
        return "columns_mostly_missing"
    return "constant_columns" if is_constant(column) else ""


def _in_mixed_table(columns: list[Column], chosen: set[str]) -> list[Column]:
    """Take counts for counts, and other whole numbers of few values for categories.

    Numbers that stand among many others remain numbers.
    """
    others = [column for column in columns if column.name not in chosen]
    few = [column for column in others if column.few_valued and column.kind == "number"]
    numbers = [column for column in columns if column.kind in ("number", "count")]
    only_numbers = len(numbers) == len(columns) and 2 * len(few) <= len(numbers)
    if only_numbers:
        return columns
    counts = {column.name for column in others if is_count(column)}
    names = {column.name for column in few} - counts
    columns = [as_category(column) if column.name in names else column for column in columns]
    return [replace(one, kind="count") if one.name in counts else one for one in columns]


def _check_kind(table: Table, column: Column, kind: ColumnKind) -> None:
    """Refuse values that the requested kind does not allow."""
    if kind == "category":
        return
    other = np.array([], dtype=np.intp)
    if column.read is not None:
        wrong = column.read.other
        if kind == "count":
            values = column.read.numbers
            wrong = wrong | (values < 0) | (values != np.floor(values)) & ~np.isnan(values)
        other = np.flatnonzero(wrong)
    elif column.kind == "yes_no":
        other = np.flatnonzero(np.isnan(column.numbers) & (column.texts != ""))
    if len(other):
        row = int(other[0])
        raise ReadError(
            "not_of_kind",
            **table.place(row, column.name),
            value=excerpt(table.columns[column.name][row]),
            kind=kind,
            parameter="kinds",
        )


def _check_units(table: Table, column: Column) -> None:
    """Refuse numbers in several units."""
    units = column.read.units if column.read is not None else None
    if not units:
        return
    if len({"".join(unit.lower().split()) for unit in units}) > 1:
        raise ReadError(
            "several_units",
            path=str(table.path),
            column=excerpt(column.name),
            units=[unit for unit, _ in units.most_common(3)],
        )


def _not_numbers(table: Table, column: Column, n_other: int) -> Message:
    """Return the note that some cells of a column of numbers are something else."""
    assert column.read is not None  # noqa: S101
    row = int(np.flatnonzero(column.read.other)[0])
    return Message(
        "cells_not_numbers",
        n_missing=n_other,
        column=excerpt(column.name),
        origin=table.origin(row),
        value=excerpt(table.columns[column.name][row]),
    )


def not_numbers(table: Table, columns: Sequence[Column]) -> list[Message]:
    """Return notes on cells that are not numbers in columns of numbers."""
    return [
        _not_numbers(table, column, n)
        for column in columns
        if column.read is not None and column.kind in ("number", "count")
        if (n := int(column.read.other.sum()))
    ]
