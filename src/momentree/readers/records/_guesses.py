"""Guess which columns of a table hold ids and codes, from their names and first values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.records._split import code_separators
from momentree.readers.records.coder import Form
from momentree.readers.tables.roles import MISSING, fits, is_binary, mostly_binary
from momentree.readers.tables.table import SAMPLE_ROWS, Table, excerpt, excerpts

_NUMBERED = re.compile(r"(.*?)[_ .-]?\d+")
_ROWS_OF_A_RECORD = 100
"""With more rows per value on average, a column does not identify records."""


def fits_pattern(name: str, patterns: Iterable[str]) -> bool:
    """Return whether the name of a column equals or matches one of some patterns."""
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def matching(table: Table, parameter: str, patterns: Sequence[str]) -> list[str]:
    """Return the columns whose names equal or match a pattern; each pattern must match one."""
    found: dict[str, None] = {}
    for pattern in patterns:
        names = [name for name in table.names if fnmatchcase(name, pattern)]
        if pattern in table.columns:
            names = [pattern]
        if not names:
            raise table.lacks(pattern, parameter)
        found.update(dict.fromkeys(names))
    return list(found)


@dataclass(frozen=True)
class Guess:
    """Guess the roles of columns from their names and first values."""

    table: Table

    @cached_property
    def sample(self) -> dict[str, list[str]]:
        """First nonmissing values of each column."""
        return {name: _known(self.table.columns[name][:SAMPLE_ROWS]) for name in self.table.names}

    def is_own_id(self, name: str) -> bool:
        """Return whether a column contains ids of single rows or of patients."""
        of_rows = fits("id", name) and self.table.is_unique(name)
        return (of_rows or fits("patient", name)) and not is_binary(self.sample[name])

    def unique_id(self, names: Sequence[str]) -> str | None:
        """Return a column with unique ids; row numbers are the last choice."""
        ids = [name for name in names if fits("id", name) and self.table.is_unique(name)]
        return next(iter(sorted(ids, key=lambda name: fits("row number", name))), None)

    def code_columns(self, names: Sequence[str]) -> list[str]:
        """Return the columns whose names and values look like codes."""
        return [name for name in names if fits("code", name, self.sample[name])]

    def outcomes(
        self, patterns: Sequence[str], keys: set[str], codes: Sequence[str]
    ) -> tuple[list[str], list[Message]]:
        """Return the outcome columns, by name or by a pattern that skips codes and ids."""
        if not patterns:
            return [], []
        ids = keys | {name for name in self.table.names if self.is_own_id(name)}
        likely = codes or self.code_columns([n for n in self.table.names if n not in keys])
        taken = ids.union(likely)
        found: dict[str, None] = {}
        notes = []
        for pattern in patterns:
            names = matching(self.table, "outcome_columns", [pattern])
            free = [name for name in names if name == pattern or name not in taken]
            if not free:
                raise two_roles(self.table, names[0])
            skipped = [name for name in names if name not in free and name in likely]
            if skipped and not codes:
                notes.append(
                    Message(
                        "codes_not_outcomes",
                        parameter="outcome_columns",
                        pattern=pattern,
                        columns=excerpts(skipped),
                    )
                )
            found.update(dict.fromkeys(free))
        return list(found), notes

    def refuse_ids(self, outcomes: Sequence[str], *, alone: bool) -> None:
        """Raise an error if an outcome is an id of records or patients.

        Repeated ids may be classes, such as types of discharge, unless the column is the only one
        that could identify records (`alone`).
        """
        for name in outcomes:
            repeated = alone and fits("id", name) and not is_binary(self.sample[name])
            if repeated or self.is_own_id(name):
                raise id_as_outcome(self.table, name)

    def codes(self, free: Sequence[str]) -> tuple[Form | None, list[str], list[Message]]:
        """Return the form, or None for a single code column; the code columns; and notes."""
        hinted = self.code_columns(free)
        stems: dict[str, list[str]] = {}
        for name in hinted:
            if numbered := _NUMBERED.fullmatch(name):
                stems.setdefault(numbered[1], []).append(name)
        slots = [names for names in stems.values() if len(names) > 1]
        if len(slots) == 1:
            return "slots", slots[0], []
        if len(hinted) == 1:
            return None, hinted, []
        binary = {name for name in free if mostly_binary(self.sample[name])}
        no_ids = [name for name in free if not fits("id", name)]
        if hinted or len(binary) < 2 or 2 * len(binary) < len(no_ids):
            raise self.unclear(free, hinted)
        key = self.unique_id(free)
        ids = [
            name
            for name in free
            if fits("id", name) and name not in binary and name != key and self.sample[name]
        ]
        notes = []
        if ids:
            notes.append(Message("ids_left_out", n_columns=len(ids), columns=excerpts(ids)))
        return "wide", [name for name in free if name != key and name not in ids], notes

    def unclear(self, free: Sequence[str], hinted: Sequence[str]) -> ReadError:
        """Return the error that the code columns are not clear."""
        why: Message | str = ""
        prose = (
            (name, value)
            for name in free
            if fits("code", name)
            for value in self.sample[name]
            if not fits("code", name, [value]) and not is_binary([value])
        )
        if hinted:
            why = Message("several_may_hold_codes", columns=excerpts(hinted))
        elif found := next(prose, None):
            why = Message("prose_among_codes", column=excerpt(found[0]), value=excerpt(found[1]))
        return ReadError(
            "no_code_columns",
            path=str(self.table.path),
            columns=excerpts(self.table.names),
            why=why,
        )

    def record_id(self, names: Sequence[str], codes: str, *, single: bool) -> str | None:
        """Find the id column, given one code column; return None if each row is a record."""
        # Two values in many rows do not identify records, regardless of the column name.
        few = self.table.n_rows <= 2 * _ROWS_OF_A_RECORD
        varied = [name for name in names if not is_binary(self.sample[name])]
        ids = [name for name in names if fits("id", name) and (few or name in varied)]
        row_numbers = [name for name in ids if fits("row number", name)]
        ids = [name for name in ids if name not in row_numbers]
        if not ids and single:
            ids = [name for name in varied if fits("possible id", name, self.sample[name])]
        unique = [name for name in ids if self.table.is_unique(name)]
        if unique and not single:
            return unique[0]
        repeated = self.finest([name for name in ids if name not in unique])
        if len(repeated) > 1:
            raise ReadError(
                "several_id_columns",
                path=str(self.table.path),
                columns=excerpts(repeated),
                parameter="id_column",
            )
        if single and not ids:
            candidates = [n for n in varied if n not in row_numbers and self.repeats(n)]
            if candidates:
                raise ReadError(
                    "no_id_column",
                    path=str(self.table.path),
                    codes=excerpt(codes),
                    columns=excerpts(candidates),
                )
        return next(iter([*repeated, *unique, *row_numbers]), None)

    def finest(self, ids: list[str]) -> list[str]:
        """Return only the id that determines all others, as admissions determine patients."""
        columns = [self.table.columns[name] for name in ids]
        n_all = len(set(zip(*columns, strict=True)))
        fine = [name for name, ones in zip(ids, columns, strict=True) if len(set(ones)) == n_all]
        return fine[:1] or ids

    def repeats(self, name: str) -> bool:
        """Return whether the values of a column may be ids of records with several rows."""
        values = [value for value in self.table.columns[name] if value]
        different = len(set(values))
        enough = 2 * len(values) > self.table.n_rows
        return enough and 2 <= different < len(values) <= _ROWS_OF_A_RECORD * different


def _known(cells: Sequence[str]) -> list[str]:
    stripped = {cell: cell.strip() for cell in set(cells)}
    return [stripped[cell] for cell in cells if stripped[cell].lower() not in MISSING]


def holds_one_code(values: Sequence[str]) -> bool:
    """Return whether nearly every cell contains one code."""
    pattern, _ = code_separators(values)
    if pattern is None:
        return True
    several = sum(len([part for part in re.split(pattern, v) if part.strip()]) > 1 for v in values)
    return 20 * several < len(values)


def id_as_outcome(table: Table, name: str) -> ReadError:
    """Return the error that a column of ids is not an outcome."""
    return ReadError(
        "id_as_outcome", path=str(table.path), column=excerpt(name), parameter="outcome_columns"
    )


def two_roles(table: Table, name: str) -> ReadError:
    """Return the error that a column has two roles."""
    return ReadError("column_of_two_roles", path=str(table.path), column=excerpt(name))
