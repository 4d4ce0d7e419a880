"""Read sequences of codes from a table of ids, times and codes."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from momentree._validation import check_integer
from momentree.exceptions import EmptyCorpusError, ReadError
from momentree.messages import Message, wording
from momentree.readers.records import choice, icd, objects
from momentree.readers.sequences.objects import SequenceCoder, Sequences
from momentree.readers.sequences.steps import Columns, Steps, mostly_times, read_steps
from momentree.readers.tables import files, grid, reader
from momentree.readers.tables.roles import Role, first_role, fits
from momentree.readers.tables.schema import Schema, check_coder, known_column

_NO_STEPS = (
    "[no_steps] {path} has no row with an id, a time and a known code among {n_rows:~row}; check "
    "the columns that were chosen"
)


NO_TIMES = "none"
"""In place of a column of times: the order of the rows."""
_MAX_COLUMNS = 4
"""Columns of a table that is taken for one of steps without being asked."""


def are_steps(table: grid.Table) -> bool:
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
    table: grid.Table, *, id_column: str | None, time_column: str | None, code_column: str | None
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
        column = grid.excerpt(repeated[0])
        raise ReadError(
            "[sequence_column_of_two_roles] {path}: column {column!r} cannot be two of id, time "
            "and code; name a different column for each with {parameters.id_column}, "
            "{parameters.time_column} and {parameters.code_column}",
            path=str(table.path),
            column=column,
        )
    schema, free = Schema(table), [name for name in table.names if name not in names]
    if time is None and not ordered_by_rows:
        time = _find_time(schema, free)
        free = [name for name in free if name != time]
    key = id_column or _find_id(schema, free, time)
    code = code_column or _find_code(schema, [name for name in free if name != key])
    columns = Columns(key, time, code)
    roles = {"id": key, "time": time, "code": code}
    if len(names) < len({*roles.values()} - {None}):
        guessed = [
            f"{grid.excerpt(name)} ({role})" for role, name in roles.items() if name is not None
        ]
        columns.notes.append(
            Message("[guessed_sequence_columns] used the columns {columns:and}", columns=guessed)
        )
    return columns


def _find_time(schema: Schema, free: list[str]) -> str | None:
    """Return the column of times with the most typical name; None if there is none."""
    times = [name for name in free if fits("time", name) and mostly_times(schema[name].known)]
    best = first_role("time", times)
    if len(best) > 1:
        raise ReadError(
            "[several_time_columns] {path}: several columns may contain the times: {columns:quoted "
            "list}; name one with {parameters.time_column}, or use the order of the rows: "
            "{parameters.time_column:=value}",
            path=str(schema.table.path),
            columns=grid.excerpts(best),
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
                "[several_sequence_ids] {path}: several columns may say which rows form a "
                "sequence: {columns:quoted list}; name one with {parameters.id_column}",
                path=str(schema.table.path),
                columns=grid.excerpts(fitting),
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
        columns = grid.excerpts(codes)
        raise ReadError(
            "[several_sequence_codes] {path}: several columns may contain the codes: "
            "{columns:quoted list}; name one with {parameter}, or use momentree clusters if each "
            "row is a record of its own",
            path=path,
            columns=columns,
            parameter=parameter,
        )
    columns = grid.excerpts(schema.table.names)
    raise ReadError(
        "[no_sequence_codes] {path}: no column is left that could contain codes; its columns are "
        "{columns:quoted list}. Name it with {parameter}",
        path=path,
        columns=columns,
        parameter=parameter,
    )


OTHER = "(other)"
"""Name of the symbol of rare codes."""


def read_sequences(
    path: str | PathLike[str] | pd.DataFrame,
    *,
    id_column: str | None = None,
    time_column: str | None = None,
    code_column: str | None = None,
    time_format: str | None = None,
    min_sequences: int | None = None,
    rollup: icd.Mapped | None = None,
    names: icd.Mapped | None = None,
    encoding: str = files.AUTO,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    coder: SequenceCoder | None = None,
) -> Sequences:
    r"""Read sequences of codes, such as the visits of patients or the clicks of users.

    The table has one row per step, with the id of its sequence, its time and its code; or one row
    per sequence, with all codes in one cell ("home > cart > pay").

    Parameters
    ----------
    path : str, path-like or DataFrame
        The table: .csv, .tsv, .tab or .txt, plain or compressed with gzip; .parquet, .pq; .xlsx,
        .xlsm, .xlsb, .xls, .ods; or a data frame.
    id_column : str or None, default=None
        Column that says which rows form a sequence, such as "patient_id". None guesses it.
    time_column : str or None, default=None
        Column that orders the steps: numbers or dates. None uses a column named like a time, if
        there is one, or else the order of the rows; "none" always uses that order.
    code_column : str or None, default=None
        Column with the code of each step. None guesses it if that is safe.
    time_format : str or None, default=None
        Format of the times, as of ``datetime.strptime``, such as "%d/%m/%Y". None finds it out, if
        all values have the same format.
    min_sequences : int or None, >= 1, default=None
        Codes found in fewer sequences are merged into the code "(other)". None is 5, or 2 with
        fewer than 1000 sequences.
    rollup : {"icd9", "icd10"}, path, mapping or None, default=None
        How to roll codes up, as in :func:`read_records`.
    names : {"icd9", "icd10", "none"}, path, mapping or None, default=None
        Names of codes, as in :func:`read_records`.
    encoding : str, default="auto"
        Encoding of text; "auto" guesses it.
    separator : str or None, default=None
        For text: the character between columns. None detects comma, semicolon, tab or pipe.
    sheet : str or None, default=None
        For spreadsheets: the name of the sheet; None for the first.
    skip_rows : int, >= 0, default=0
        Rows of a spreadsheet, or lines of text, above the header.
    header : bool or None, default=None
        For spreadsheets and text: whether the first row names the columns. None finds out.
    coder : SequenceCoder or None, default=None
        Coder of previously read sequences. The new ones get the same symbols.

    Returns
    -------
    Sequences
        In the order in which their ids first appear; `notes` list what was guessed, merged or left
        out.

    Raises
    ------
    ReadError
        If the file cannot be read, a column is missing, or it is not clear which columns contain
        ids, times and codes.
    InvalidDataError
        If a value is not a time, or may be read with the day or the month first.
    EmptyCorpusError
        If there are no rows, or none has an id and a code.
    InvalidParameterError
        If an option is invalid, or cannot be combined with a coder.

    Notes
    -----
    Rows without an id, a code or a time are left out. Rows of a sequence with equal times keep
    their order. Codes are strings, as written: "007" is not 7. Rare codes are merged rather than
    dropped, because the steps next to a dropped one would become neighbors. Time and memory
    O(cells of the table), and the time of a sort.

    Examples
    --------
    >>> import pandas as pd
    >>> from momentree.datasets import read_sequences
    >>> table = pd.DataFrame({
    ...     "user": ["ann", "bob", "ann", "bob", "ann"],
    ...     "time": ["09:20", "11:00", "09:10", "11:05", "09:30"],
    ...     "page": ["cart", "home", "home", "cart", "cart"],
    ... })
    >>> visits = read_sequences(table)
    >>> visits.ids, visits.lengths.tolist(), visits.codes[visits.symbols].tolist()
    (['ann', 'bob'], [3, 2], ['home', 'cart', 'cart', 'home', 'cart'])
    """
    check_integer("min_sequences", min_sequences, at_least=1, optional=True)
    check_coder(coder, SequenceCoder, min_sequences=min_sequences, rollup=rollup, names=names)
    if isinstance(path, pd.DataFrame):
        table = _from_frame(path)
    else:
        opening = grid.Opening(encoding, separator, sheet, skip_rows, header)
        source = reader.open_table(path, **vars(opening))
        table = source.read(source.head.names)
    if coder is not None:
        id_column = known_column(table, id_column, coder.id_column)
        time_column = known_column(table, time_column, coder.time_column)
        if time_column is None and coder.time_column is None:
            time_column = NO_TIMES
        code_column = known_column(table, code_column, coder.code_column)
        time_format = time_format or coder.time_format
    columns = find_columns(
        table, id_column=id_column, time_column=time_column, code_column=code_column
    )
    steps, notes = read_steps(table, columns, time_format)
    notes = [*table.notes, *columns.notes, *notes]
    if not len(steps.code):
        raise EmptyCorpusError(_NO_STEPS, path=str(table.path), n_rows=table.n_rows)
    if coder is None:
        text: dict[str, Any] = {"encoding": encoding, "separator": separator}
        coder, more = _new_coder(
            table,
            steps,
            SequenceCoder([], columns.id, columns.time, columns.code, time_format),
            objects.RecordCoder([], **icd.read_rollup(rollup, **text)),
            partial(icd.names_of, names=names, **text),
            min_sequences,
        )
        notes += more
    return _sequences(table, steps, coder, notes)


def _sequences(
    table: grid.Table, steps: Steps, coder: SequenceCoder, notes: list[Message]
) -> Sequences:
    """Encode steps by a coder; leave out those without a symbol."""
    symbol = coder.symbols_of(steps.written)
    unknown = np.flatnonzero(symbol < 0)
    if len(unknown):
        gone = np.isin(steps.code, unknown)
        notes.append(
            Message(
                "[unknown_codes_in_sequences] left out {n_entries:~step} with {n_codes:~code} "
                "unknown to the model, such as {code!r}; the steps around them became neighbors",
                n_codes=len(unknown),
                n_entries=int(gone.sum()),
                code=grid.excerpt(steps.written[unknown[0]]),
            )
        )
        steps = steps.only(~gone)
    lengths = np.bincount(steps.sequence, minlength=len(steps.ids))
    present = np.flatnonzero(lengths)
    if not len(present):
        raise EmptyCorpusError(_NO_STEPS, path=str(table.path), n_rows=table.n_rows)
    short = int((lengths[present] < 3).sum())  # moments need three steps in a row
    if 2 * short > len(present):
        notes.append(
            Message(
                "[short_sequences] {n_records:,} of {n_all:~sequence} {n_records:?has/have} fewer "
                "than three steps; they say little about how steps follow each other",
                n_records=short,
                n_all=len(present),
            )
        )
    return Sequences(
        symbol[steps.code],
        lengths[present],
        np.array(coder.codes, dtype=object),
        [steps.ids[i] for i in present],
        coder,
        steps.times,
        table.path.name,
        tuple(notes),
    )


def holds_steps(path: str | PathLike[str], **opening: Any) -> bool:
    """Return whether a table has a step of a sequence in each row, such as a click of a user.

    `opening` are options of :func:`read_sequences` that say how to open the file.
    """
    return are_steps(reader.open_table(path, **opening).head)


def _new_coder(
    table: grid.Table,
    steps: Steps,
    coder: SequenceCoder,
    rules: objects.RecordCoder,
    name_codes: Callable[..., tuple[dict[str, str], list[Message]]],
    min_sequences: int | None,
) -> tuple[SequenceCoder, list[Message]]:
    """Choose the symbols by the rules of a roll-up, merge rare codes, and name codes; and notes."""
    notes: list[Message] = []
    groups = written = steps.written
    if rules.rollup is not None:
        counts = np.bincount(steps.code, minlength=len(written))
        rules, groups, notes = choice.group_codes(table, written, counts, rules, wide=False)
        coder = replace(coder, rollup=rules.rollup, mapping=rules.mapping)
    codes, column = np.unique(np.array(groups, dtype=object), return_inverse=True)
    code = column[steps.code]
    pairs = np.unique(np.stack([code, steps.sequence]), axis=1)
    n_sequences = np.bincount(pairs[0], minlength=len(codes))
    least = min_sequences or (5 if len(np.unique(steps.sequence)) >= choice.LARGE else 2)
    rare = n_sequences < least
    kept, other = codes[~rare].tolist(), None
    titles, more = name_codes(kept or [OTHER], rollup=rules.rollup, written=written)
    if rare.any():
        other = OTHER
        while other in kept:
            other = f"({other})"
        kept = sorted([*kept, other])
        notes.append(
            Message(
                "[rare_codes_merged] merged {n_codes:,} of {n_all_codes:~code}, found in fewer "
                "than {least} sequences each, into {other!r}: {share:.1%} of the steps "
                "({parameter:1} keeps all)",
                n_codes=int(rare.sum()),
                n_all_codes=len(codes),
                least=least,
                other=other,
                n_entries=int(rare[code].sum()),
                share=float(rare[code].mean()),
                parameter="min_sequences",
            )
        )
    return replace(coder, codes=kept, other=other, names=titles), [*notes, *more]


def _from_frame(frame: pd.DataFrame) -> grid.Table:
    path = Path("the data frame")
    names = grid.check_names(path, list(map(str, frame.columns)))
    if not len(frame):
        raise EmptyCorpusError(wording.NO_ROWS, path=str(path), sheets="")
    columns = {}
    for j, name in enumerate(names):
        values = frame.iloc[:, j]
        pairs = zip(values.tolist(), values.isna(), strict=True)
        columns[name] = ["" if gone else grid.as_written(value) for value, gone in pairs]
    return grid.Table(path, columns, len(frame), partial(grid.numbered_rows, 0))
