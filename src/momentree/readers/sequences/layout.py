"""Guess which columns of a table hold the ids of sequences, times and codes."""

from __future__ import annotations

from dataclasses import dataclass, field

from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.sequences.times import mostly_times
from momentree.readers.tables.roles import Role, first_role, fits
from momentree.readers.tables.schema import Schema
from momentree.readers.tables.table import Table, excerpt, excerpts

NO_TIMES = "none"
"""In place of a column of times: the order of the rows."""
_MAX_COLUMNS = 4
"""Columns of a table that is taken for one of steps without being asked."""


@dataclass
class Columns:
    """Columns of a table of sequences; notes say which were guessed."""

    id: str | None
    time: str | None
    code: str
    notes: list[Message] = field(default_factory=list)


def are_steps(table: Table) -> bool:
    """Return whether a table, by its names and first rows, has a step of a sequence in each row.

    It has little more than repeated ids of somebody, times and repeated events.
    """
    repeated = [n for n, cells in table.columns.items() if 2 * len(set(cells)) <= table.n_rows]
    few = len(table.names) <= _MAX_COLUMNS
    return (
        few
        and not any(fits("code", name, table.columns[name]) for name in table.names)
        and any(fits("sequence", name) or fits("patient", name) for name in repeated)
        and any(fits("time", name) for name in table.names)
        and any(fits("event", name) for name in repeated)
    )


def find_columns(
    table: Table, *, id_column: str | None, time_column: str | None, code_column: str | None
) -> Columns:
    """Find the columns from the arguments, and from the names and values of columns."""
    ordered_by_rows = time_column == NO_TIMES and NO_TIMES not in table.columns
    time = None if ordered_by_rows else time_column
    given = {"id_column": id_column, "time_column": time, "code_column": code_column}
    for parameter, name in given.items():
        if name is not None:
            table.require(name, parameter)
    names = [name for name in given.values() if name is not None]
    if repeated := [name for name in names if names.count(name) > 1]:
        column = excerpt(repeated[0])
        raise ReadError("sequence_column_of_two_roles", path=str(table.path), column=column)
    schema, free = Schema(table), [name for name in table.names if name not in names]
    if time is None and not ordered_by_rows:
        time = _find_time(schema, free)
        free = [name for name in free if name != time]
    key = id_column or _find_id(schema, free, time)
    code = code_column or _find_code(schema, [name for name in free if name != key])
    columns = Columns(key, time, code)
    roles = {"id": key, "time": time, "code": code}
    if len(names) < len({*roles.values()} - {None}):
        guessed = [f"{excerpt(name)} ({role})" for role, name in roles.items() if name is not None]
        columns.notes.append(Message("guessed_sequence_columns", columns=guessed))
    return columns


def _find_time(schema: Schema, free: list[str]) -> str | None:
    """Return the column of times with the most typical name; None if there is none."""
    times = [name for name in free if fits("time", name) and mostly_times(schema[name].known)]
    best = first_role("time", times)
    if len(best) > 1:
        raise ReadError(
            "several_time_columns",
            path=str(schema.table.path),
            columns=excerpts(best),
            parameter="time_column",
            value=NO_TIMES,
        )
    return next(iter(best), None)


def _find_id(schema: Schema, free: list[str], time: str | None) -> str | None:
    """Return the column of repeated ids; None if each row is a sequence."""
    roles: tuple[Role, ...] = ("patient", "sequence", "id")
    ids = dict.fromkeys(name for role in roles for name in free if fits(role, name))
    keys = [name for name in ids if not fits("row number", name) and schema[name].known]
    repeated = [name for name in keys if not schema[name].is_unique]
    if not repeated:  # one row per sequence
        return next(iter(keys), None)
    if time is not None:
        # Numbers of steps begin again in each sequence, as those of codes in an admission.
        columns = schema.table.columns
        pairs = {n: set(zip(columns[n], columns[time], strict=True)) for n in repeated}
        apart = [name for name in repeated if len(pairs[name]) == schema.table.n_rows]
        repeated = apart or repeated
    for role in roles:
        fitting = [name for name in repeated if fits(role, name)]
        if len(fitting) > 1:
            raise ReadError(
                "several_sequence_ids",
                path=str(schema.table.path),
                columns=excerpts(fitting),
                parameter="id_column",
            )
        if fitting:
            return fitting[0]
    return None


def _find_code(schema: Schema, free: list[str]) -> str:
    """Return the column of codes: named and filled like codes or events, or the only one."""
    left = [
        name
        for name in free
        if schema[name].known and not fits("row number", name) and not fits("id", name)
    ]
    codes = schema.codes(left) or [name for name in left if fits("event", name)] or left
    if len(codes) == 1:
        return codes[0]
    path, parameter = str(schema.table.path), "code_column"
    if codes:
        columns = excerpts(codes)
        raise ReadError("several_sequence_codes", path=path, columns=columns, parameter=parameter)
    columns = excerpts(schema.table.names)
    raise ReadError("no_sequence_codes", path=path, columns=columns, parameter=parameter)
