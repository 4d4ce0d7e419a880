"""Find the ids and outcomes of a table of measurements, and recognize such a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from os import PathLike

import numpy as np

from momentree.messages import Message
from momentree.readers.measurements._kinds import Column, is_id, read_column
from momentree.readers.measurements._numbers import find_style
from momentree.readers.records._guesses import Guess, id_as_outcome, matching
from momentree.readers.records._mapping import SUFFIXES
from momentree.readers.tables.files import AUTO, check_exists
from momentree.readers.tables.reader import open_table
from momentree.readers.tables.roles import fits, mostly_binary
from momentree.readers.tables.table import Table, excerpt, rows_examined

_NUMBERS = 2
"""Fewest columns of measurements by which a table is recognized."""
_MAX_CODES, _FEW = 3, 0.1
"""Columns with more different values, of which more than a tenth are not 0 or 1, contain counts.
With fewer, a value such as 9 may mean unknown."""


@dataclass(frozen=True)
class Roles:
    """The roles of the columns of a table."""

    id_column: str | None
    ids: list[str]
    outcomes: list[str]
    features: list[str]
    left_out: dict[str, str]
    notes: list[Message]


def find_roles(table: Table, *, id_column: str | None, outcomes: Sequence[str]) -> Roles:
    """Find the columns of ids, of outcomes and of measurements."""
    if id_column is not None:
        table.require(id_column, "id_column")
    found = matching(table, "outcome_columns", outcomes)
    if id_column in found:
        raise id_as_outcome(table, str(id_column))
    free = [name for name in table.names if name not in found and name != id_column]
    ids = [name for name in free if is_id(name, table.columns[name])]
    if id_column is None:
        unique = [name for name in ids if table.is_unique(name)]
        id_column = next(iter(sorted(unique, key=lambda name: fits("row number", name))), None)
    notes = list[Message]()
    if id_column is None:
        values = [str(i) for i in range(1, table.n_rows + 1)]
        repeated = [name for name in ids if _repeats(table, name)]
        if repeated:
            n = table.n_rows - len(set(table.columns[repeated[0]]))
            notes.append(Message("rows_of_same_id", n_rows=n, column=excerpt(repeated[0])))
    else:
        values = [text.strip() for text in table.columns[id_column]]
    left_out = {name: "columns_of_ids" for name in ids if name != id_column}
    features = [name for name in free if name not in ids]
    return Roles(id_column, values, found, features, left_out, notes)


def _repeats(table: Table, name: str) -> bool:
    return len(set(table.columns[name])) < table.n_rows


def holds_measurements(
    path: str | PathLike[str],
    *,
    id_column: str | None = None,
    outcome_columns: Sequence[str] = (),
    ignore_columns: Sequence[str] = (),
    encoding: str = AUTO,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
) -> bool:
    """Return whether a table contains measurements, not codes, judging by its first rows.

    It does if no column is named like one of codes, most do not contain only ones, and there are
    two or more columns of numbers, categories, or yes and no, of which at least one contains
    numbers other than 0 and 1.

    Parameters
    ----------
    path : str or path-like
        A table, as for :func:`read_measurements`.
    id_column : str or None, default=None
        Column with the ids of the records.
    outcome_columns : sequence of str, default=()
        Names or patterns of outcomes and covariates.
    ignore_columns : sequence of str, default=()
        Names or patterns of columns to leave out.
    encoding : str, default="auto"
        Encoding of text.
    separator : str or None, default=None
        Character between columns.
    sheet : str or None, default=None
        Sheet of a spreadsheet.
    skip_rows : int, >= 0, default=0
        Rows above the header.
    header : bool or None, default=None
        Whether the first row names the columns.

    Returns
    -------
    bool
        Whether :func:`read_measurements` rather than :func:`read_records` should read it.

    Raises
    ------
    ReadError
        If the file cannot be read.
    EmptyCorpusError
        If it has no rows.
    """
    head = open_table(
        check_exists(path),
        suffixes=SUFFIXES,
        encoding=encoding,
        separator=separator,
        sheet=sheet,
        skip_rows=skip_rows,
        header=header,
        check_titles=True,
    ).head
    known = [*outcome_columns, *ignore_columns]
    used = {name for p in known for name in head.names if name in _matches(head, p)} | {id_column}
    free = [name for name in head.names if name not in used]
    if Guess(head).code_columns(free):
        return False
    free = [name for name in free if not is_id(name, head.columns[name])]
    columns = _examined(head, free)
    ticked = [column for column in columns if _is_ticked(column)]
    if 2 * len(ticked) > len(columns):
        return False
    numbers = [column for column in columns if _has_numbers(column)]
    fractions = any((column.numbers % 1 > 0).any() for column in numbers)
    return bool(numbers) and (len(columns) >= _NUMBERS or fractions)


def _matches(head: Table, pattern: str) -> list[str]:
    return [name for name in head.names if name == pattern or fnmatchcase(name, pattern)]


def _examined(head: Table, names: Sequence[str]) -> list[Column]:
    n_rows = rows_examined(len(names))
    cells = {name: head.columns[name][:n_rows] for name in names}
    style = find_style(cells.values())
    found = [
        read_column(name, texts, kind=None, missing=frozenset(), style=style)
        for name, texts in cells.items()
    ]
    return [column for column in found if not column.why_left_out]


def _is_ticked(column: Column) -> bool:
    """Return whether a column contains only yes and empty cells."""
    known = column.numbers[~np.isnan(column.numbers)]
    return column.kind == "yes_no" and bool((known == 1).all())


def _has_numbers(column: Column) -> bool:
    """Return whether a column contains numbers: more than 0 and 1, typing errors and one code."""
    if column.kind != "number" or column.read is None:
        return False
    known = column.numbers[~np.isnan(column.numbers)]
    texts = [f"{value:g}" for value in known.tolist()]
    n_different = len(set(texts))
    if n_different > _MAX_CODES and (~np.isin(known, (0.0, 1.0))).mean() > _FEW:
        return True
    return n_different > 2 and not mostly_binary(texts)
