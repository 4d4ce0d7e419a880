"""Which columns of a table of records hold what, and in which of four forms its codes lie."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from momentree.datasets._record_tables import Table
from momentree.datasets.columns import SAMPLE_ROWS, listed
from momentree.exceptions import InvalidParameterError, ReadError

__all__ = ["MARKS", "MISSING", "ONES", "ZEROS", "Layout", "as_names", "find_layout"]

MARKS = frozenset({"x", "+", "✓", "✔"})
ONES = frozenset({"1", "1.0", "true", "t", "yes", "y"}) | MARKS
ZEROS = frozenset({"0", "0.0", "false", "f", "no", "n", "-"})
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", ".", "<na>"})

_HINT = re.compile(r"(^|[^a-z])(icd|dx|diag|codes?($|[^a-z])|cpt|atc|snomed)")
_NUMBERED = re.compile(r"(.*?)[_ .-]?\d+")
# The first column of a table that R or pandas wrote has no name: it numbers the rows.
_ID = re.compile(
    r"(column 1|unnamed: 0|id|.*[_ .-]id"
    r"|record|patient|person|subject|case|visit|encounter|admission)"
)
_ID_CAMEL = re.compile(r".*[a-z](Id|ID)")


@dataclass(frozen=True)
class Layout:
    """What the columns of a table are."""

    form: str  # "long", "lists", "slots" or "wide"
    key: str | None  # names the records; rows with one value are one record where `joined`
    joined: bool
    codes: list[str]
    outcomes: list[str]
    chosen: bool  # whether the caller named the columns of codes
    notes: list[str] = field(default_factory=list)

    def described(self) -> str:
        """Say in which form the codes were found, and where."""
        where = f"column {self.codes[0]!r}"
        if len(self.codes) > 1:
            where = f"{len(self.codes):,} columns, {self.codes[0]!r} to {self.codes[-1]!r}"
        what = {
            "long": "a row for each code of a record",
            "lists": "a row for each record with a list of codes",
            "slots": "a row for each record with a code in each column",
            "wide": "a row for each record with yes or no for each code",
        }
        return f"form {self.form}, {what[self.form]}: codes in {where}"


def as_names(argument: str, value: str | Sequence[str] | None) -> list[str]:
    """Return names of columns as a list.

    Raises
    ------
    InvalidParameterError
        If they are no strings.
    """
    names = [value] if isinstance(value, str) else list(value or ())
    if not all(isinstance(name, str) for name in names):
        msg = f"{argument}={value!r}; expected the name of a column, or several"
        raise InvalidParameterError(msg)
    return names


def find_layout(
    table: Table,
    *,
    id_column: str | None,
    code_columns: Sequence[str],
    union_by: str | None,
    outcome_columns: Sequence[str],
) -> Layout:
    """Tell what the columns are, from what the caller says and from names and first rows.

    Raises
    ------
    ReadError
        If a column is not there, or it cannot be told safely; the message lists the columns.
    """
    for argument, name in (("id_column", id_column), ("union_by", union_by)):
        if name is not None:
            _matching(table, argument, [name])
    outcomes = _matching(table, "outcome_columns", outcome_columns)
    codes = _matching(table, "code_columns", code_columns)
    taken = {name for name in (id_column, union_by) if name is not None}
    for name in codes:
        if name in taken or name in outcomes:
            msg = f"{table.path}: column {name!r} cannot hold codes and be an id or outcome as well"
            raise ReadError(msg)
    sample = {name: _sample(table, name) for name in table.names}
    chosen = bool(codes)
    form = ""
    notes: list[str] = []
    if not chosen:
        form, codes = _guess_codes(table, sample, taken | set(outcomes))
    elif _mostly_binary([value for name in codes for value in sample[name]]):
        form = "wide"
    elif len(codes) > 1:
        form = "slots"
    if union_by is not None:
        return Layout(form or "long", union_by, True, codes, outcomes, chosen, notes)
    others = [name for name in table.names if name not in {*codes, *outcomes}]
    if form:
        key = id_column or _unique_id(table, others)
        return Layout(form, key, False, codes, outcomes, chosen, notes)
    # One column of codes: whether ids repeat tells a long table from lists.
    if id_column is None:
        ids = [name for name in others if _is_id(name)]
        repeated = [name for name in ids if not table.columns[name].is_unique]
        if len(repeated) > 1:
            msg = (
                f"{table.path} has several columns that may tell which rows make a record, "
                f"{listed(repeated)}: name one with id_column"
            )
            raise ReadError(msg)
        id_column = next(iter(repeated or ids), None)
        if id_column is not None:
            notes.append(f"took column {id_column!r} for the ids of records")
    long = id_column is not None and not table.columns[id_column].is_unique
    form = "long" if long else "lists"
    return Layout(form, id_column, long, codes, outcomes, chosen, notes)


def _guess_codes(
    table: Table, sample: dict[str, list[str]], taken: set[str]
) -> tuple[str, list[str]]:
    """Return the form ("" for one column of codes) and columns; of names that say so, or 0/1."""
    rest = [name for name in table.names if name not in taken]
    hinted = [
        name
        for name in rest
        if _HINT.search(name.lower())
        and not _mostly_binary(sample[name])
        and (name.lower() in {"code", "codes"} or _short(sample[name]))
    ]
    stems: dict[str, list[str]] = {}
    for name in hinted:
        if numbered := _NUMBERED.fullmatch(name):
            stems.setdefault(numbered[1], []).append(name)
    slots = [names for names in stems.values() if len(names) > 1]
    if len(slots) == 1:
        return "slots", slots[0]
    if len(hinted) == 1:
        return "", hinted
    binary = [name for name in rest if _mostly_binary(sample[name])]
    open_to_doubt = [name for name in rest if not _is_id(name)]
    if not hinted and len(binary) >= 2 and 2 * len(binary) >= len(open_to_doubt):
        unique = _unique_id(table, rest)
        return "wide", [name for name in rest if name != unique]
    msg = (
        f"cannot tell which columns of {table.path} hold codes; its columns are "
        f"{listed(table.names)}. Name them with code_columns (patterns such as 'DX*' are fine), "
        f"and with id_column the one that tells records apart"
    )
    raise ReadError(msg)


def _matching(table: Table, argument: str, patterns: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for pattern in patterns:
        if pattern in table.columns:
            found[pattern] = None
            continue
        names = [name for name in table.names if fnmatchcase(name, pattern)]
        if not names or argument in {"id_column", "union_by"}:
            msg = (
                f"{table.path} has no column {pattern!r} for {argument}; its columns are "
                f"{listed(table.names)}"
            )
            raise ReadError(msg)
        found.update(dict.fromkeys(names))
    return list(found)


def _sample(table: Table, name: str) -> list[str]:
    """Return the first values that are not missing."""
    first: Any = pd.Series(table.columns[name].iloc[:SAMPLE_ROWS], dtype=object).fillna("")
    return [text for value in first.tolist() if (text := value.strip()).lower() not in MISSING]


def _mostly_binary(values: Sequence[str]) -> bool:
    known = sum(value.lower() in ONES or value.lower() in ZEROS for value in values)
    return 0 < len(values) <= 2 * known


def _short(values: Sequence[str]) -> bool:
    """Tell codes, and lists of them, from sentences: almost all of their parts have a digit."""
    parts = [part for value in values[:200] for part in re.split(r"[;,|\s]+", value) if part]
    codes = sum(len(part) <= 16 and any(map(str.isdigit, part)) for part in parts)
    return bool(parts) and codes >= 0.9 * len(parts)


def _is_id(name: str) -> bool:
    return bool(_ID.fullmatch(name.lower()) or _ID_CAMEL.fullmatch(name))


def _unique_id(table: Table, names: Sequence[str]) -> str | None:
    ids = (name for name in names if _is_id(name) and table.columns[name].is_unique)
    return next(ids, None)
