"""Which columns of a table of records hold what, and in which of four forms its codes lie."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from momentree.exceptions import InvalidParameterError, ReadError
from momentree.readers.records._names import (
    MISSING,
    ONES,
    ZEROS,
    hints_at_codes,
    hints_at_outcome,
    is_id,
    is_number_of_row,
    is_of_patient,
    may_be_id,
)
from momentree.readers.records._parts import between_codes
from momentree.readers.records._tables import excerpt, listed, many, some
from momentree.readers.tables.table import SAMPLE_ROWS, Table

__all__ = ["Layout", "as_names", "find_layout", "outcomes_among", "without"]

_YES_OR_NO = ONES | ZEROS
_NUMBERED = re.compile(r"(.*?)[_ .-]?\d+")
_ROWS_OF_A_RECORD = 100
"""More rows of one value, in the mean, are no record."""


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
        joined = ", rows of one id joined" if self.joined and self.form != "long" else ""
        return f"form {self.form}, {what[self.form]}{joined}: codes in {where}"


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


def without(table: Table, ignored: Sequence[str]) -> Table:
    """Return a table without some of its columns, by name or pattern.

    Raises
    ------
    ReadError
        If there is no such column.
    """
    names = set(_matching(table, "ignore_columns", ignored))
    return replace(table, columns={n: c for n, c in table.columns.items() if n not in names})


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
    codes = _matching(table, "code_columns", code_columns)
    taken = {name for name in (id_column, union_by) if name is not None}
    sample = {name: _sample(table, name) for name in table.names}
    hinted = codes or _hinted([n for n in table.names if n not in taken], sample)
    ids = taken | {name for name in table.names if _is_own_id(table, sample, name)}
    outcomes, notes = _outcomes(table, outcome_columns, ids, {*hinted}, chosen=bool(codes))
    for name in outcomes:
        if name in taken:
            raise ReadError(_no_outcome(table, name))
    for name in codes:
        if name in taken or name in outcomes:
            raise ReadError(_twice(table, name))
    chosen = bool(codes)
    form = ""
    if not chosen:
        used = {*taken, *outcomes}
        rest = [name for name in table.names if name not in used]
        form, codes, more = _guess_codes(table, sample, rest)
        notes += more
    elif _mostly_binary([value for name in codes for value in sample[name]]):
        form = "wide"
    elif len(codes) > 1:
        form = "slots"
    if union_by is not None:
        single = not form and _single(sample[codes[0]])
        form = form or ("long" if single else "lists")
        return Layout(form, union_by, True, codes, outcomes, chosen, notes)
    used = {*codes, *outcomes}
    others = [name for name in table.names if name not in used]
    if form:
        key = id_column or _unique_id(table, others)
        _refuse_ids(table, sample, outcomes, alone=False)
        return Layout(form, key, False, codes, outcomes, chosen, notes)
    # One column of codes: whether ids repeat tells a long table from lists.
    single = _single(sample[codes[0]])
    if id_column is None:
        id_column = _found_id(table, sample, others, codes[0], single=single)
        if id_column is not None:
            notes.append(f"took column {id_column!r} for the ids of records")
    _refuse_ids(table, sample, outcomes, alone=single and id_column is None)
    joined = id_column is not None and not table.is_unique(id_column)
    form = "long" if joined and single else "lists"
    return Layout(form, id_column, joined, codes, outcomes, chosen, notes)


def outcomes_among(codes: Sequence[str]) -> list[str]:
    """Tell of columns of codes whose names are those of outcomes."""
    strange = [name for name in codes if hints_at_outcome(name)]
    if not strange:
        return []
    return [
        f"took {many(len(strange), 'column')} for codes that may be outcomes: {some(strange)} "
        f"(name them in outcome_columns, or leave them out with ignore_columns)"
    ]


def _found_id(
    table: Table, sample: dict[str, list[str]], names: Sequence[str], codes: str, *, single: bool
) -> str | None:
    """Find the column of ids where one column holds the codes; None where rows are records."""
    # Many rows of two values make no records, whatever the name of the column.
    few = table.n_rows <= 2 * _ROWS_OF_A_RECORD
    ids = [name for name in names if is_id(name) and (few or not _is_binary(sample[name]))]
    open_to_doubt = [name for name in names if not _is_binary(sample[name])]
    rows = [name for name in ids if is_number_of_row(name)]
    ids = [name for name in ids if name not in rows]
    if not ids and single:
        ids = [name for name in open_to_doubt if may_be_id(name) and _long(sample[name])]
    unique = [name for name in ids if table.is_unique(name)]
    if unique and not single:
        return unique[0]
    repeated = [name for name in ids if name not in unique]
    if len(repeated) > 1:
        msg = (
            f"{table.path} has several columns that may tell which rows make a record, "
            f"{listed(repeated)}: name one with id_column"
        )
        raise ReadError(msg)
    if single and not ids:
        candidates = [name for name in open_to_doubt if name not in rows and _repeats(table, name)]
        if candidates:
            msg = (
                f"{table.path}: each row has one code, in column {codes[:60]!r}, and it is not "
                f"clear which rows make a record: values repeat in {listed(candidates)}. Name the "
                f"column of the ids with id_column; if each row is a record, leave these out with "
                f"ignore_columns"
            )
            raise ReadError(msg)
    return next(iter([*repeated, *unique, *rows]), None)


def _repeats(table: Table, name: str) -> bool:
    """Tell whether the values of a column may be ids of records with several rows."""
    values: Any = pd.Series(table.columns[name], dtype=object).replace("", None).dropna()
    different = values.nunique()
    enough = 2 * len(values) > table.n_rows and len(values) <= _ROWS_OF_A_RECORD * different
    return bool(2 <= different < len(values) and enough)


def _long(values: Sequence[str]) -> bool:
    """Tell ids from counts, such as those of days: most have four characters, or a letter."""
    return 2 * sum(len(value) > 3 or not value.isdigit() for value in values) > len(values)


def _single(values: Sequence[str]) -> bool:
    """Tell whether almost every cell holds one code."""
    pattern = between_codes(values)
    if pattern is None:
        return True
    several = sum(len([part for part in re.split(pattern, v) if part.strip()]) > 1 for v in values)
    return 20 * several < len(values)


def _outcomes(
    table: Table, patterns: Sequence[str], ids: set[str], codes: set[str], *, chosen: bool
) -> tuple[list[str], list[str]]:
    """Return the columns of outcomes: by name, or by a pattern that takes no codes and no ids."""
    found: dict[str, None] = {}
    notes = []
    for pattern in patterns:
        names = _matching(table, "outcome_columns", [pattern])
        free = [name for name in names if name == pattern or name not in ids | codes]
        if not free:
            raise ReadError(_twice(table, names[0]))
        left = [name for name in names if name not in free and name in codes]
        if left and not chosen:
            notes.append(
                f"left to the codes, though outcome_columns={pattern!r} fits: {some(left)}"
            )
        found.update(dict.fromkeys(free))
    return list(found), notes


def _refuse_ids(
    table: Table, sample: dict[str, list[str]], outcomes: Sequence[str], *, alone: bool
) -> None:
    """Refuse outcomes that are ids of records or of patients.

    Values of an id that repeat may be classes, such as the ways of discharge, but not where rows
    make records and nothing else tells which, `alone`.
    """
    for name in outcomes:
        if _is_own_id(table, sample, name) or (
            alone and is_id(name) and not _is_binary(sample[name])
        ):
            raise ReadError(_no_outcome(table, name))


def _is_own_id(table: Table, sample: dict[str, list[str]], name: str) -> bool:
    """Tell ids of single rows, and of patients."""
    of_rows = is_id(name) and table.is_unique(name)
    return (of_rows or is_of_patient(name)) and not _is_binary(sample[name])


def _no_outcome(table: Table, name: str) -> str:
    return (
        f"{table.path}: column {name!r} holds the ids of records or patients, which are no "
        f"outcome: leave it out of outcome_columns"
    )


def _twice(table: Table, name: str) -> str:
    return f"{table.path}: column {name!r} cannot hold codes and be an id or outcome as well"


def _hinted(names: Sequence[str], sample: dict[str, list[str]]) -> list[str]:
    """Return the columns whose names and values say that they hold codes, no yes and no."""
    return [
        name
        for name in names
        if hints_at_codes(name)
        and not _mostly_binary(sample[name])
        and (name.lower() in {"code", "codes"} or _short(sample[name]))
    ]


def _guess_codes(
    table: Table, sample: dict[str, list[str]], rest: Sequence[str]
) -> tuple[str, list[str], list[str]]:
    """Return the form ("" for one column of codes), columns that say so or hold 0/1, and notes."""
    hinted = _hinted(rest, sample)
    stems: dict[str, list[str]] = {}
    for name in hinted:
        if numbered := _NUMBERED.fullmatch(name):
            stems.setdefault(numbered[1], []).append(name)
    slots = [names for names in stems.values() if len(names) > 1]
    if len(slots) == 1:
        return "slots", slots[0], []
    if len(hinted) == 1:
        return "", hinted, []
    binary = [name for name in rest if _mostly_binary(sample[name])]
    open_to_doubt = [name for name in rest if not is_id(name)]
    if not hinted and len(binary) >= 2 and 2 * len(binary) >= len(open_to_doubt):
        unique = _unique_id(table, rest)
        no = {unique, *binary}
        ids = [name for name in rest if name not in no and is_id(name) and sample[name]]
        notes = [f"left out {many(len(ids), 'column')} of ids: {some(ids)}"] if ids else []
        no = {unique, *ids}
        return "wide", [name for name in rest if name not in no], notes
    msg = (
        f"cannot tell which columns of {table.path} hold codes; its columns are "
        f"{listed(table.names)}{_why(rest, hinted, sample)}. Name them with code_columns (patterns "
        f"such as 'DX*' are fine), and with id_column the one that tells records apart"
    )
    raise ReadError(msg)


def _why(names: Sequence[str], hinted: Sequence[str], sample: dict[str, list[str]]) -> str:
    """Say what stands against the columns that may hold codes."""
    if len(hinted) > 1:
        return f"; several may hold codes, {listed(hinted, 5)}"
    for name in names:
        if hints_at_codes(name):
            strange = (v for v in sample[name] if not _short([v]))
            if (value := next(strange, None)) is not None:
                return (
                    f"; {name[:60]!r} is a name for codes, but {excerpt(value)} is not only codes"
                )
    return ""


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
    first = table.columns[name][:SAMPLE_ROWS]
    known = {value: value.strip() for value in {*first} if isinstance(value, str)}
    known = {value: text for value, text in known.items() if text.lower() not in MISSING}
    return [known[value] for value in first if value in known]


def _mostly_binary(values: Sequence[str]) -> bool:
    return 0 < len(values) <= 2 * _n_binary(values)


def _is_binary(values: Sequence[str]) -> bool:
    return len(values) == _n_binary(values)


def _n_binary(values: Sequence[str]) -> int:
    return sum(n for value, n in Counter(values).items() if value.lower() in _YES_OR_NO)


def _short(values: Sequence[str]) -> bool:
    """Tell codes, and lists of them, from sentences: almost all of their parts have a digit."""
    parts = [part for value in values[:200] for part in re.split(r"[;,|^~&/\s]+", value) if part]
    codes = sum(len(part) <= 16 and any(map(str.isdigit, part)) for part in parts)
    return bool(parts) and codes >= 0.9 * len(parts)


def _unique_id(table: Table, names: Sequence[str]) -> str | None:
    ids = [name for name in names if is_id(name) and table.is_unique(name)]
    return next(iter(sorted(ids, key=is_number_of_row)), None)
