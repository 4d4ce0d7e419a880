"""Read a table with columns of other tables joined by a key, and the outcomes in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message
from momentree.readers.tables import grid, reader, roles, schema

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
Names = str | Sequence[str]

_NUMBER = re.compile(r"0*(\d+)(\.0*)?")
_PAIRS = (("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"))


@dataclass(frozen=True)
class Joined:
    """A table with the columns of others."""

    table: grid.Table
    outcomes: list[str]  # names and patterns, those of covariates last
    covariates: list[str]  # the columns
    notes: list[Message]

    @classmethod
    def of(
        cls,
        table: grid.Table,
        outcome_columns: Names,
        covariate_columns: Names,
        notes: Sequence[Message] = (),
    ) -> Joined:
        """Return a table with the columns that describe records but form no groups."""
        covariates = schema.as_names("covariate_columns", covariate_columns)
        outcomes = [*schema.as_names("outcome_columns", outcome_columns), *covariates]
        matches = schema.matching(table, "covariate_columns", covariates)
        return cls(table, outcomes, matches, [*notes])


def read_joined(
    path: str | PathLike[str],
    opening: grid.Opening,
    *,
    outcome_columns: Names,
    covariate_columns: Names,
    ignore_columns: Names,
    join: Paths,
    on: Names,
    id_column: str | None,
    union_by: str | None = None,
) -> Joined:
    """Read a table without the columns to ignore, and join the outcomes in other tables."""
    source = reader.open_table(path, **vars(opening))
    covariates = schema.as_names("covariate_columns", covariate_columns)
    outcomes = [*schema.as_names("outcome_columns", outcome_columns), *covariates]
    keys = schema.as_names("on", on)
    lefts = [key.partition("=")[0] for key in keys]
    names = schema.columns_read(
        source.head, ignore_columns, [*outcomes, *lefts, id_column, union_by]
    )
    table, notes = _join_tables(
        source.read(names),
        [join] if isinstance(join, str | PathLike) else list(join),
        keys,
        [*outcomes, *([] if union_by is None else [union_by])],
        covariates=covariates,
        encoding=opening.encoding,
        separator=opening.separator,
    )
    return Joined.of(table, outcome_columns, covariate_columns, notes)


def _join_tables(
    table: grid.Table,
    paths: Sequence[str | PathLike[str]],
    on: Sequence[str],
    wanted: Sequence[str],
    *,
    covariates: Sequence[str],
    encoding: str,
    separator: str | None,
) -> tuple[grid.Table, list[Message]]:
    """Add the `wanted` columns of other tables, by name or pattern, to the rows with equal keys.

    `covariates` are those of the wanted columns that are covariates, for the error if they are in
    no table. `on` has the key of each table, or one key for all: the name of a column in both
    tables, or the two names as "left=right". A column that `table` has is not replaced.
    """
    if len(on) not in (0, 1, len(paths)):
        raise InvalidParameterError(
            "[not_one_key_each] {n_keys:~key} for {n_tables:~table} to join; expected one "
            "{parameters.on} for each, or one for all",
            n_keys=len(on),
            n_tables=len(paths),
        )
    if on and not paths:
        raise InvalidParameterError(
            "[key_without_table] {parameters.on} is the key of a table to join; name the table "
            "with {parameters.join}"
        )
    notes: list[Message] = []
    known = set(table.names)
    for place, path in enumerate(paths):
        opened = reader.open_table(path, encoding=encoding, separator=separator)
        notes += opened.head.notes
        key = on[min(place, len(on) - 1)] if on else _shared(table, opened.head)
        left, right = _sides(key, table, opened.head)
        new = [name for name in opened.head.names if name not in {*table.names, right}]
        taken = [name for name in new if schema.fits_pattern(name, wanted)]
        known.update(new)
        if not taken:
            likely = grid.excerpts([name for name in new if roles.fits("outcome", name)] or new)
            source = opened.head.path.name
            notes.append(
                Message(
                    "[joined_without_outcome] no columns were joined from {source}: name outcomes "
                    "in it with {parameter}, such as {columns:quoted or}",
                    source=source,
                    columns=likely,
                    parameter="outcome_columns",
                )
            )
            continue
        other = opened.read([right, *taken])
        joined, more = _join(table, other, left, right)
        table = replace(table, columns={**table.columns, **joined})
        notes += more
    lacking = [p for p in wanted if not any(schema.fits_pattern(name, [p]) for name in known)]
    if paths and lacking:
        raise ReadError(
            "[no_such_column_joined] no table has a column {column!r}, named in {parameter}; their "
            "columns are {columns:quoted list}",
            parameter="covariate_columns" if lacking[0] in covariates else "outcome_columns",
            column=grid.excerpt(lacking[0]),
            columns=grid.excerpts(sorted(known)),
        )
    return table, notes


def _shared(table: grid.Table, other: grid.Table) -> str:
    """Return the only column in both tables that can be a key."""
    shared = [
        name for name in table.names if name in other.columns and not roles.fits("row number", name)
    ]
    if len(shared) != 1:
        raise InvalidParameterError(
            "[which_key] {path}: it is not clear by which column to join it; columns of both "
            "tables: {columns:quoted list}. Name one with {parameters.on}, or two as 'left=right'",
            path=str(other.path),
            columns=grid.excerpts(shared) or ["none"],
        )
    return shared[0]


def _sides(key: str, table: grid.Table, other: grid.Table) -> tuple[str, str]:
    left, equals, right = key.partition("=")
    if key in table.columns and key in other.columns:  # a name that contains "="
        return key, key
    return _side(table, left.strip()), _side(other, right.strip() if equals else left.strip())


def _side(table: grid.Table, name: str) -> str:
    """Return the column of a table with a name, whose case may differ if it is the only one."""
    same = [column for column in table.names if column.lower() == name.lower()]
    if name not in table.columns and len(same) != 1:
        raise table.lacks(name, "on")
    return name if name in table.columns else same[0]


def _join(
    table: grid.Table, other: grid.Table, left: str, right: str
) -> tuple[dict[str, list[str]], list[Message]]:
    """Return the columns of `other` but its key, with one value for each row of `table`."""
    ours, theirs, n_rewritten = _keys(table.columns[left], other.columns[right])
    place_of = {key: i for i, key in enumerate(dict.fromkeys(filter(None, theirs)))}
    wanted = set(filter(None, ours))
    n_lacking = len(wanted - place_of.keys())
    if not wanted or n_lacking == len(wanted):
        raise ReadError(
            "[no_key_matches] no value of {left!r}, such as {ours!r}, is in column {right!r} of "
            "{path}, such as {theirs!r}: name another column with {parameters.on}",
            left=grid.excerpt(left),
            ours=grid.excerpt(next(filter(None, ours), "")),
            path=str(other.path),
            right=grid.excerpt(right),
            theirs=grid.excerpt(next(filter(None, theirs), "")),
        )
    place = np.array([place_of.get(key, -1) for key in theirs], dtype=np.intp)
    row_of = [place_of.get(key, -1) for key in ours]
    notes = [
        Message(
            "[joined] joined {source} by {column!r}",
            source=other.path.name,
            column=grid.excerpt(left),
        )
    ]
    if n_rewritten:
        notes.append(
            Message(
                "[keys_rewritten] {n_records:~value} of {column!r} {n_records:?matches/match} only "
                "if leading zeros, '.0' and case are ignored",
                n_records=n_rewritten,
                column=grid.excerpt(left),
            )
        )
    if n_lacking:
        notes.append(
            Message(
                "[keys_without_row] {n_missing:,} of {n_all:~value} of {column!r} "
                "{n_missing:?has/have} no row in {source}, so the outcomes from there are missing",
                n_missing=n_lacking,
                n_all=len(wanted),
                column=grid.excerpt(left),
                source=other.path.name,
            )
        )
    # A key with several rows has one value, by the rule for several rows of a record.
    names = [name for name in other.names if name != right]
    outcomes = read_outcomes(other, names, place, len(place_of))
    notes += [note for note in outcomes.notes if note.code == "outcome_differs"]
    joined = {}
    for name, values in outcomes.columns.items():
        words = outcomes.words.get(name)
        texts = [
            words[int(value)] if words and value == value else grid.as_written(value)
            for value in values.tolist()
        ]
        joined[name] = ["" if i < 0 else texts[i] for i in row_of]
    return joined, notes


def _keys(ours: Sequence[str], theirs: Sequence[str]) -> tuple[list[str], list[str], int]:
    """Return comparable keys of both tables, and how many match only after they were rewritten.

    Keys are compared as written; if that leaves some without a row, without leading zeros, ".0" and
    case, unless different keys of a table would then be equal.
    """
    plain = [[key.strip() for key in keys] for keys in (ours, theirs)]
    rewritten = [[_rewritten(key) for key in keys] for keys in plain]
    if any(len(set(a)) != len(set(b)) for a, b in zip(plain, rewritten, strict=True)):
        return plain[0], plain[1], 0
    n_plain, n_rewritten = (len((set(a) & set(b)) - {""}) for a, b in (plain, rewritten))
    if n_rewritten == n_plain:
        return plain[0], plain[1], 0
    return rewritten[0], rewritten[1], n_rewritten - n_plain


def _rewritten(key: str) -> str:
    number = _NUMBER.fullmatch(key)
    return number[1] if number else key.casefold()


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of records by column; the words for 0 and 1 of those of yes and no; and notes."""

    columns: dict[str, NDArray[Any]]
    words: dict[str, tuple[str, str]]
    notes: list[Message]


def read_outcomes(
    table: grid.Table, columns: Sequence[str], record_of_row: Ints, n_records: int
) -> Outcomes:
    """Read columns as outcomes: numbers, yes or no, or classes; rows of record -1 are ignored."""
    outcomes = Outcomes({}, {}, [])
    for name in columns:
        cells = table.cells(name)
        outcomes.columns[name], pair, notes = _read_outcome(name, cells, record_of_row, n_records)
        if pair is not None:
            outcomes.words[name] = pair
        outcomes.notes.extend(notes)
    return outcomes


def _read_outcome(
    name: str, cells: grid.IndexedCells, record_of_row: Ints, n_records: int
) -> tuple[NDArray[Any], tuple[str, str] | None, list[Message]]:
    """Return one value per record, the names of 0 and 1 for an outcome of two words, and notes.

    Rows of record -1 are ignored. If a record has several values, the largest number or the last
    string is used.
    """
    lower = [value.lower() for value in cells.texts]
    missing = np.array([value in roles.MISSING - {"none", "<na>"} for value in lower])
    numbers, pair = _as_numbers(cells.texts, lower, missing)
    rows = np.flatnonzero((record_of_row >= 0) & ~missing[cells.index])
    records = record_of_row[rows]
    outcome = grid.excerpt(name)
    notes = []
    if pair is not None:
        notes.append(
            Message(
                "[binary_outcome] column {outcome!r}: {one} is 1, {zero} is 0",
                outcome=outcome,
                zero=pair[0],
                one=pair[1],
            )
        )
    if numbers is not None:
        values = np.full(n_records, np.nan)
        lowest = np.full(n_records, np.nan)
        known = numbers[cells.index[rows]]
        np.fmax.at(values, records, known)
        np.fmin.at(lowest, records, known)
        n_differ, rule = int((values > lowest).sum()), "largest"
    else:
        values = np.full(n_records, "", dtype=object)
        texts = cells.texts[cells.index[rows]]
        values[records] = texts  # the last assignment wins
        n_differ, rule = len(np.unique(records[texts != values[records]])), "last"
    if n_differ:
        notes.append(
            Message(
                "[outcome_differs] column {outcome!r} differs between the rows of "
                "{n_records:~record}; the {rule} value is used",
                outcome=outcome,
                n_records=n_differ,
                rule=rule,
            )
        )
    if n_missing := n_records - len(np.unique(records)):
        notes.append(
            Message(
                "[outcome_missing] column {outcome!r} is missing in {n_missing:,} of "
                "{n_all:~record}",
                outcome=outcome,
                n_missing=n_missing,
                n_all=n_records,
            )
        )
    return values, pair, notes


def _as_numbers(
    values: NDArray[Any], lower: list[str], missing: NDArray[np.bool_]
) -> tuple[Floats | None, tuple[str, str] | None]:
    present = {text for text, absent in zip(lower, missing, strict=True) if not absent}
    for pair in _PAIRS:
        if present and present <= set(pair):
            spelled = dict(zip(lower, map(str, values), strict=True))
            zero, one = (spelled.get(text, text) for text in pair)
            numbers = np.array([pair.index(t) if t in pair else np.nan for t in lower])
            return numbers, (zero, one)
    numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").to_numpy(np.float64)
    return (numbers, None) if np.isfinite(numbers[~missing]).all() else (None, None)
