"""Join columns of other tables to a table of records by a key, such as the id of the admission."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike

import numpy as np

from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message
from momentree.readers.records._guesses import fits_pattern
from momentree.readers.records._mapping import SUFFIXES
from momentree.readers.records._outcomes import read_outcome
from momentree.readers.tables.files import check_exists
from momentree.readers.tables.reader import open_table
from momentree.readers.tables.roles import fits
from momentree.readers.tables.table import Table, as_written, excerpt, excerpts

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]

_NUMBER = re.compile(r"0*(\d+)(\.0*)?")


def as_paths(value: Paths) -> list[str | PathLike[str]]:
    """Return one or several paths as a list."""
    return [value] if isinstance(value, str | PathLike) else list(value)


def join_tables(
    table: Table,
    paths: Sequence[str | PathLike[str]],
    on: Sequence[str],
    wanted: Sequence[str],
    *,
    covariates: Sequence[str],
    encoding: str,
    separator: str | None,
) -> tuple[Table, list[Message]]:
    """Add the `wanted` columns of other tables, by name or pattern, to the rows with equal keys.

    `covariates` are those of the wanted columns that are covariates, for the error if they are in
    no table. `on` has the key of each table, or one key for all: the name of a column in both
    tables, or the two names as "left=right". A column that `table` has is not replaced.
    """
    if len(on) not in (0, 1, len(paths)):
        found = {"n_keys": len(on), "n_tables": len(paths)}
        raise InvalidParameterError("not_one_key_each", parameter="on", **found)
    if on and not paths:
        raise InvalidParameterError("key_without_table", parameter="on")
    notes: list[Message] = []
    known = set(table.names)
    for place, path in enumerate(paths):
        opened = open_table(
            check_exists(path),
            suffixes=SUFFIXES,
            encoding=encoding,
            separator=separator,
            check_titles=True,
        )
        notes += opened.head.notes
        key = on[min(place, len(on) - 1)] if on else _shared(table, opened.head)
        left, right = _sides(key, table, opened.head)
        new = [name for name in opened.head.names if name not in {*table.names, right}]
        taken = [name for name in new if fits_pattern(name, wanted)]
        known.update(new)
        if not taken:
            notes.append(_nothing_taken(opened.head, new))
            continue
        other = opened.read([right, *taken])
        joined, more = _join(table, other, left, right)
        table = replace(table, columns={**table.columns, **joined})
        notes += more
    lacking = [p for p in wanted if not any(fits_pattern(name, [p]) for name in known)]
    if paths and lacking:
        raise ReadError(
            "no_such_column_joined",
            parameter="covariate_columns" if lacking[0] in covariates else "outcome_columns",
            column=excerpt(lacking[0]),
            columns=excerpts(sorted(known)),
        )
    return table, notes


def _shared(table: Table, other: Table) -> str:
    """Return the only column in both tables that can be a key."""
    shared = [
        name for name in table.names if name in other.columns and not fits("row number", name)
    ]
    if len(shared) != 1:
        raise InvalidParameterError(
            "which_key", parameter="on", path=str(other.path), columns=excerpts(shared) or ["none"]
        )
    return shared[0]


def _sides(key: str, table: Table, other: Table) -> tuple[str, str]:
    left, equals, right = key.partition("=")
    sides = (left.strip(), right.strip() if equals else left.strip())
    if key in table.columns and key in other.columns:  # a name that contains "="
        sides = (key, key)
    found = []
    for name, side in zip(sides, (table, other), strict=True):
        same = [column for column in side.names if column.lower() == name.lower()]
        if name not in side.columns and len(same) != 1:
            raise side.lacks(name, "on")
        found.append(name if name in side.columns else same[0])
    return found[0], found[1]


def _nothing_taken(other: Table, columns: Sequence[str]) -> Message:
    """Say that a table adds nothing, and which of its columns could be outcomes."""
    likely = [name for name in columns if fits("outcome", name)]
    return Message(
        "joined_without_outcome",
        source=other.path.name,
        columns=excerpts(likely or columns),
        parameter="outcome_columns",
    )


def _join(
    table: Table, other: Table, left: str, right: str
) -> tuple[dict[str, list[str]], list[Message]]:
    """Return the columns of `other` but its key, with one value for each row of `table`."""
    ours, theirs, n_rewritten = _keys(table.columns[left], other.columns[right])
    at = {key: i for i, key in enumerate(dict.fromkeys(filter(None, theirs)))}
    wanted = set(filter(None, ours))
    n_lacking = len(wanted - at.keys())
    if not wanted or n_lacking == len(wanted):
        raise ReadError(
            "no_key_matches",
            parameter="on",
            left=excerpt(left),
            ours=excerpt(next(filter(None, ours), "")),
            path=str(other.path),
            right=excerpt(right),
            theirs=excerpt(next(filter(None, theirs), "")),
        )
    place = np.array([at.get(key, -1) for key in theirs], dtype=np.intp)
    row_of = [at.get(key, -1) for key in ours]
    notes = [Message("joined", source=other.path.name, column=excerpt(left))]
    if n_rewritten:
        notes.append(Message("keys_rewritten", n_records=n_rewritten, column=excerpt(left)))
    if n_lacking:
        notes.append(
            Message(
                "keys_without_row",
                n_missing=n_lacking,
                n_all=len(wanted),
                column=excerpt(left),
                source=other.path.name,
            )
        )
    joined = {}
    for name in other.names:
        if name == right:
            continue
        cells = other.cells(name)
        # A key with several rows has one value, by the rule for several rows of a record.
        values, words, more = read_outcome(name, cells, place, len(at))
        notes += [note for note in more if note.code == "outcome_differs"]
        texts = [
            words[int(value)] if words and value == value else as_written(value)
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
