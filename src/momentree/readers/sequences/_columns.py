"""Guess which columns of a table hold the ids of sequences, times and codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.sequences._times import mostly_times
from momentree.readers.tables.roles import MISSING, Role, first_role, fits
from momentree.readers.tables.table import SAMPLE_ROWS, Table, excerpt, excerpts

NO_TIMES = "none"
"""In place of a column of times: the order of the rows."""
_MOST_COLUMNS = 4
"""Columns of a table that is taken for one of steps without being asked."""


def are_steps(table: Table) -> bool:
    """Return whether a table, by its names and first rows, has a step of a sequence in each row.

    It has little more than repeated ids of somebody, times and repeated events.
    """

    def some(*roles: Role, repeated: bool = True) -> bool:
        names = [name for name in table.names if any(fits(role, name) for role in roles)]
        return any(
            not repeated or 2 * len(set(table.columns[name])) <= table.n_rows for name in names
        )

    coded = any(fits("code", name, table.columns[name]) for name in table.names)
    few = len(table.names) <= _MOST_COLUMNS and not coded
    return few and some("sequence", "patient") and some("time", repeated=False) and some("event")


@dataclass
class Columns:
    """Columns of a table of sequences; notes say which were guessed."""

    id: str | None
    time: str | None
    code: str
    notes: list[Message] = field(default_factory=list)


def find_columns(
    table: Table, *, id_column: str | None, time_column: str | None, code_column: str | None
) -> Columns:
    """Find the columns from the arguments, and from the names and values of columns."""
    ordered_by_rows = time_column == NO_TIMES and NO_TIMES not in table.columns
    time = None if ordered_by_rows else time_column
    for parameter, name in (
        ("id_column", id_column),
        ("time_column", time),
        ("code_column", code_column),
    ):
        if name is not None:
            table.require(name, parameter)
    given = [name for name in (id_column, time, code_column) if name is not None]
    if len(set(given)) < len(given):
        repeated = next(name for name in given if given.count(name) > 1)
        raise ReadError(
            "sequence_column_of_two_roles", path=str(table.path), column=excerpt(repeated)
        )
    guess = _Guess(table, [name for name in table.names if name not in given])
    if time is None and not ordered_by_rows:
        time = guess.time()
    key = id_column or guess.id(time)
    code = code_column or guess.code()
    columns = Columns(key, time, code)
    if len(given) < len({key, time, code} - {None}):
        columns.notes.append(
            Message(
                "guessed_sequence_columns",
                columns=[
                    f"{excerpt(name)} ({role})"
                    for role, name in (("id", key), ("time", time), ("code", code))
                    if name is not None
                ],
            )
        )
    return columns


class _Guess:
    def __init__(self, table: Table, free: Sequence[str]) -> None:
        self.table = table
        self.free = list(free)  # without those that have a role
        self.sample = {name: _known(table.columns[name][:SAMPLE_ROWS]) for name in free}

    def _take(self, name: str | None) -> str | None:
        if name is not None:
            self.free.remove(name)
        return name

    def time(self) -> str | None:
        """Return the column of times with the most typical name; None if there is none."""
        times = [
            name for name in self.free if fits("time", name) and mostly_times(self.sample[name])
        ]
        best = first_role("time", times)
        if len(best) > 1:
            raise ReadError(
                "several_time_columns",
                path=str(self.table.path),
                columns=excerpts(best),
                parameter="time_column",
                value=NO_TIMES,
            )
        return self._take(next(iter(best), None))

    def id(self, time: str | None) -> str | None:
        """Return the column of repeated ids; None if each row is a sequence."""
        roles: tuple[Role, ...] = ("patient", "sequence", "id")
        ids = [name for role in roles for name in self.free if fits(role, name)]
        ids = [n for n in dict.fromkeys(ids) if not fits("row number", n) and self.sample[n]]
        repeated = [name for name in ids if not self.table.is_unique(name)]
        if not repeated:
            # One row per sequence.
            return self._take(ids[0] if ids else None)
        if time is not None:
            # Numbers of steps begin again in each sequence, as those of codes in an admission.
            apart = [name for name in repeated if self._apart(name, time)]
            repeated = apart or repeated
        for role in roles:
            fitting = [name for name in repeated if fits(role, name)]
            if len(fitting) == 1:
                return self._take(fitting[0])
            if fitting:
                raise ReadError(
                    "several_sequence_ids",
                    path=str(self.table.path),
                    columns=excerpts(fitting),
                    parameter="id_column",
                )
        return None

    def _apart(self, name: str, time: str) -> bool:
        """Return whether no two rows have the same id and time."""
        columns = self.table.columns
        return len(set(zip(columns[name], columns[time], strict=True))) == self.table.n_rows

    def code(self) -> str:
        """Return the column of codes: named and filled like codes or events, or the only one."""
        left = [
            name
            for name in self.free
            if self.sample[name] and not fits("row number", name) and not fits("id", name)
        ]
        codes = [name for name in left if fits("code", name, self.sample[name])]
        codes = codes or [name for name in left if fits("event", name)] or left
        if len(codes) != 1:
            code = "several_sequence_codes" if codes else "no_sequence_codes"
            raise ReadError(
                code,
                path=str(self.table.path),
                columns=excerpts(codes or self.table.names),
                parameter="code_column",
            )
        return str(self._take(codes[0]))


def _known(cells: Sequence[str]) -> list[str]:
    stripped = (cell.strip() for cell in cells)
    return [cell for cell in stripped if cell.lower() not in MISSING]
