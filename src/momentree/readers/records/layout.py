"""Find the layout of a table of records: its form, and the columns of ids, codes and outcomes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from momentree.exceptions import EmptyCorpusError, ReadError
from momentree.messages import Message, wording
from momentree.readers.records.cells import code_separators
from momentree.readers.records.objects import Form
from momentree.readers.tables import grid, roles
from momentree.readers.tables.schema import Schema, id_as_outcome, matching

_DESCRIPTIONS: Mapping[str, Message] = {
    "long": Message("[form_long] one row per record and code"),
    "lists": Message("[form_lists] one row per record, with a list of codes"),
    "slots": Message("[form_slots] one row per record, with one code in each column"),
    "wide": Message("[form_wide] one row per record, with yes or no for each code"),
}
_NUMBERED = re.compile(r"(.*?)[_ .-]?\d+")
_MAX_ROWS_OF_A_RECORD = 100
"""With more rows per value on average, a column does not identify records."""


@dataclass(frozen=True)
class Layout:
    """Form of a table of records, and the roles of its columns."""

    form: Form
    key: str | None  # ids of records; if `joined`, rows with the same id are one record
    joined: bool
    codes: list[str]
    outcomes: list[str]
    chosen: bool  # whether the caller named the code columns
    notes: list[Message] = field(default_factory=list)

    @property
    def by_row(self) -> bool:
        """Whether rows with the same id may be one record."""
        one = len(self.codes) == 1 and self.form in ("long", "lists")
        return self.key is not None and (self.joined or one)

    def described(self) -> Message:
        """Return a note that describes the form and the code columns."""
        first, last = grid.excerpt(self.codes[0]), grid.excerpt(self.codes[-1])
        n = len(self.codes)
        return Message(
            "[form] form {form}, {description}{joined}: codes in {columns}",
            form=self.form,
            description=_DESCRIPTIONS[self.form],
            joined=Message("[form_joined] , rows with the same id joined")
            if self.joined and self.form != "long"
            else "",
            columns=Message("[one_column] column {column!r}", column=first)
            if n == 1
            else Message(
                "[several_columns] {n_columns:~column}, {first!r} to {last!r}",
                n_columns=n,
                first=first,
                last=last,
            ),
        )


def find_layout(
    table: grid.Table,
    *,
    id_column: str | None,
    code_columns: Sequence[str],
    union_by: str | None,
    outcome_columns: Sequence[str],
) -> Layout:
    """Find the layout from the arguments, and from the names and values of columns.

    Raise an error if the layout cannot be guessed safely.
    """
    schema = Schema(table)
    for parameter, name in (("id_column", id_column), ("union_by", union_by)):
        if name is not None:
            table.require(name, parameter)
    codes = matching(table, "code_columns", code_columns)
    keys = {name for name in (id_column, union_by) if name is not None}
    outcomes, notes = _find_outcomes(schema, outcome_columns, keys, codes)
    if both := [name for name in outcomes if name in keys]:
        raise id_as_outcome(table, both[0])
    if both := [name for name in codes if name in keys or name in outcomes]:
        raise _two_roles(table, both[0])
    chosen = bool(codes)
    form: Form | None = None
    if not chosen:
        free = [name for name in table.names if name not in keys and name not in outcomes]
        form, codes, more = _find_codes(schema, free)
        notes += more
    elif roles.mostly_binary([value for name in codes for value in schema[name].known]):
        form = "wide"
    elif len(codes) > 1:
        form = "slots"
    single = form is None and holds_one_code(schema[codes[0]].known)
    if union_by is not None:
        form = form or ("long" if single else "lists")
        return Layout(form, union_by, True, codes, outcomes, chosen, notes)
    others = [name for name in table.names if name not in {*codes, *outcomes}]
    if form is not None:
        _refuse_ids(schema, outcomes, alone=False)
        key = id_column or schema.unique_id(name for name in others if roles.fits("id", name))
        return Layout(form, key, False, codes, outcomes, chosen, notes)
    # One code column: the form is "long" if ids repeat, else "lists".
    if id_column is None:
        id_column = _find_record_id(schema, others, codes[0], single=single)
        if id_column is not None:
            notes.append(
                Message(
                    "[guessed_id_column] used column {column!r} as the ids of records",
                    column=grid.excerpt(id_column),
                )
            )
    _refuse_ids(schema, outcomes, alone=single and id_column is None)
    joined = id_column is not None and not schema[id_column].is_unique
    form = "long" if joined and single else "lists"
    return Layout(form, id_column, joined, codes, outcomes, chosen, notes)


def _find_outcomes(
    schema: Schema, patterns: Sequence[str], keys: set[str], codes: Sequence[str]
) -> tuple[list[str], list[Message]]:
    """Return the outcome columns, by name or by a pattern that skips codes and ids."""
    if not patterns:
        return [], []
    table = schema.table
    ids = keys | {name for name, column in schema.columns.items() if column.is_key}
    likely = codes or schema.codes(name for name in table.names if name not in keys)
    taken = ids.union(likely)
    outcomes: dict[str, None] = {}
    notes = []
    for pattern in patterns:
        names = matching(table, "outcome_columns", [pattern])
        free = [name for name in names if name == pattern or name not in taken]
        if not free:
            raise _two_roles(table, names[0])
        skipped = [name for name in names if name not in free and name in likely]
        if skipped and not codes:
            notes.append(
                Message(
                    "[codes_not_outcomes] kept as codes although {parameter:=pattern} matches "
                    "them: {columns:quoted list}",
                    parameter="outcome_columns",
                    pattern=pattern,
                    columns=grid.excerpts(skipped),
                )
            )
        outcomes.update(dict.fromkeys(free))
    return list(outcomes), notes


def _refuse_ids(schema: Schema, outcomes: Sequence[str], *, alone: bool) -> None:
    """Raise an error if an outcome is an id of records or patients.

    Repeated ids may be classes, such as types of discharge, unless the column is the only one that
    could identify records (`alone`).
    """
    for name in outcomes:
        if schema[name].is_key or (alone and roles.fits("id", name) and not schema[name].is_binary):
            raise id_as_outcome(schema.table, name)


def _find_codes(
    schema: Schema, free: Sequence[str]
) -> tuple[Form | None, list[str], list[Message]]:
    """Return the form, or None for a single code column; the code columns; and notes."""
    hinted = schema.codes(free)
    stems: dict[str, list[str]] = {}
    for name in hinted:
        if numbered := _NUMBERED.fullmatch(name):
            stems.setdefault(numbered[1], []).append(name)
    slots = [names for names in stems.values() if len(names) > 1]
    if len(slots) == 1:
        return "slots", slots[0], []
    if len(hinted) == 1:
        return None, hinted, []
    binary = {name for name in free if schema[name].is_mostly_binary}
    no_ids = [name for name in free if not roles.fits("id", name)]
    if hinted or len(binary) < 2 or 2 * len(binary) < len(no_ids):
        raise _unclear(schema, free, hinted)
    key = schema.unique_id(name for name in free if roles.fits("id", name))
    ids = [
        name
        for name in free
        if roles.fits("id", name) and name not in binary and name != key and schema[name].known
    ]
    notes = [Message(wording.COLUMNS_OF_IDS, **grid.listed(ids))] if ids else []
    return "wide", [name for name in free if name != key and name not in ids], notes


def _unclear(schema: Schema, free: Sequence[str], hinted: Sequence[str]) -> ReadError:
    """Return the error that the code columns are not clear."""
    prose = (
        Message(
            "[prose_among_codes] ; {column!r} is named like a column of codes, but {value!r} "
            "contains other text",
            column=grid.excerpt(name),
            value=grid.excerpt(value),
        )
        for name in free
        if roles.fits("code", name)
        for value in schema[name].known
        if not roles.fits("code", name, [value]) and not roles.is_binary([value])
    )
    several = (
        Message(
            "[several_may_hold_codes] ; several may contain codes: {columns:quoted list}",
            columns=grid.excerpts(hinted),
        )
        if hinted
        else None
    )
    table = schema.table
    return ReadError(
        "[no_code_columns] {path}: it is not clear which columns contain codes; its columns are "
        "{columns:quoted list}{why}. Name them with {parameters.code_columns} (patterns such as "
        "'DX*' are allowed), and the ids of the records with {parameters.id_column}",
        path=str(table.path),
        columns=grid.excerpts(table.names),
        why=several or next(prose, ""),
    )


def _find_record_id(
    schema: Schema, names: Sequence[str], codes: str, *, single: bool
) -> str | None:
    """Find the id column, given one code column; return None if each row is a record."""
    table = schema.table
    # Two values in many rows do not identify records, regardless of the column name.
    few = table.n_rows <= 2 * _MAX_ROWS_OF_A_RECORD
    varied = [name for name in names if not schema[name].is_binary]
    ids = [name for name in names if roles.fits("id", name) and (few or name in varied)]
    row_numbers = [name for name in ids if roles.fits("row number", name)]
    ids = [name for name in ids if name not in row_numbers]
    if not ids and single:
        ids = [name for name in varied if roles.fits("possible id", name, schema[name].known)]
    unique = [name for name in ids if schema[name].is_unique]
    if unique and not single:
        return unique[0]
    repeated = _finest(table, [name for name in ids if name not in unique])
    if len(repeated) > 1:
        columns = grid.excerpts(repeated)
        raise ReadError(
            "[several_id_columns] {path}: several columns may contain the ids of records: "
            "{columns:quoted list}; name one with {parameters.id_column}",
            path=str(table.path),
            columns=columns,
        )
    if single and not ids:
        candidates = [n for n in varied if n not in row_numbers and _repeats(table, n)]
        if candidates:
            raise ReadError(
                "[no_id_column] {path}: each row has one code, in column {codes!r}, and it is not "
                "clear which rows form a record: values repeat in {columns:quoted list}. Name the "
                "id column with {parameters.id_column}; if each row is a record, leave these "
                "columns out with {parameters.ignore_columns}",
                path=str(table.path),
                codes=grid.excerpt(codes),
                columns=grid.excerpts(candidates),
            )
    return next(iter([*repeated, *unique, *row_numbers]), None)


def _finest(table: grid.Table, ids: list[str]) -> list[str]:
    """Return only the id that determines all others, as admissions determine patients."""
    columns = [table.columns[name] for name in ids]
    n_all = len(set(zip(*columns, strict=True)))
    fine = [name for name, cells in zip(ids, columns, strict=True) if len(set(cells)) == n_all]
    return fine[:1] or ids


def _repeats(table: grid.Table, name: str) -> bool:
    """Return whether the values of a column may be ids of records with several rows."""
    values = [value for value in table.columns[name] if value]
    different = len(set(values))
    enough = 2 * len(values) > table.n_rows
    return enough and 2 <= different < len(values) <= _MAX_ROWS_OF_A_RECORD * different


def holds_one_code(values: Sequence[str]) -> bool:
    """Return whether nearly every cell contains one code."""
    pattern, _ = code_separators(values)
    if pattern is None:
        return True
    several = sum(len([part for part in re.split(pattern, v) if part.strip()]) > 1 for v in values)
    return 20 * several < len(values)


def _two_roles(table: grid.Table, name: str) -> ReadError:
    return ReadError(
        "[column_of_two_roles] {path}: column {column!r} cannot contain codes and also be an id or "
        "an outcome",
        path=str(table.path),
        column=grid.excerpt(name),
    )


def note_ids(
    path: Path,
    column: str,
    *,
    n_rows: int,
    n_without: int,
    n_again: int = 0,
    n_records: int | None = None,
) -> list[Message]:
    """Return notes on a column of ids: rows without one, repeated ones, and rows joined to records.

    `n_records` is None if each row is a record.
    """
    if n_records is None:
        again = Message(wording.REPEATED_IDS, n_rows=n_again, column=column, parameter="union_by")
        without = Message(wording.RECORDS_WITHOUT_ID, n_records=n_without, column=column)
        return [*([again] if n_again else []), *([without] if n_without else [])]
    if n_without == n_rows:
        raise EmptyCorpusError(wording.EMPTY_KEY, path=str(path), column=column)
    without = Message(wording.ROWS_WITHOUT_ID, n_rows=n_without, column=column)
    joined = Message(
        wording.ROWS_JOINED, n_rows=n_rows - n_without, n_records=n_records, column=column
    )
    return [*([without] if n_without else []), joined]
