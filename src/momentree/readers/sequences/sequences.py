"""Read sequences of codes from a table of ids, times and codes."""

from __future__ import annotations

import os
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from momentree._validation import check_flag, check_integer
from momentree.exceptions import EmptyCorpusError, InvalidParameterError
from momentree.messages import Message
from momentree.readers.records._choice import LARGE, group_codes
from momentree.readers.records._mapping import SUFFIXES, Mapped, read_mapping
from momentree.readers.records._names import names_of
from momentree.readers.records.coder import RecordCoder
from momentree.readers.records.codes import SYSTEMS
from momentree.readers.sequences._columns import NO_TIMES, are_steps, find_columns
from momentree.readers.sequences._steps import Steps, read_steps
from momentree.readers.sequences.coder import SequenceCoder
from momentree.readers.sequences.objects import Sequences
from momentree.readers.tables.files import AUTO, check_exists
from momentree.readers.tables.reader import open_table
from momentree.readers.tables.table import Table, as_written, check_names, excerpt

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
    rollup: Mapped | None = None,
    names: Mapped | None = None,
    encoding: str = AUTO,
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
    check_integer("skip_rows", skip_rows, at_least=0)
    check_flag("header", header, optional=True)
    if coder is not None:
        _check_coder(coder, min_sequences=min_sequences, rollup=rollup, names=names)
    if isinstance(path, pd.DataFrame):
        table = _from_frame(path)
    else:
        source = open_table(
            check_exists(path),
            suffixes=SUFFIXES,
            encoding=encoding,
            separator=separator,
            sheet=sheet,
            skip_rows=skip_rows,
            header=header,
            check_titles=True,
        )
        table = source.read(source.head.names)
    if coder is not None:
        id_column = _known(table, id_column, coder.id_column)
        time_column = _known(table, time_column, coder.time_column or NO_TIMES)
        code_column = _known(table, code_column, coder.code_column)
        time_format = time_format or coder.time_format
    columns = find_columns(
        table, id_column=id_column, time_column=time_column, code_column=code_column
    )
    steps, notes = read_steps(table, columns, time_format)
    notes = [*table.notes, *columns.notes, *notes]
    if coder is None:
        rules = SequenceCoder([], columns.id, columns.time, columns.code, time_format)
        coder, more = _new_coder(
            table,
            steps,
            rules,
            min_sequences=min_sequences,
            rollup=rollup,
            names=names,
            encoding=encoding,
            separator=separator,
        )
        notes += more
    symbol = coder.symbols_of(steps.written)
    unknown = np.flatnonzero(symbol < 0)
    if len(unknown):
        gone = np.isin(steps.code, unknown)
        notes.append(
            Message(
                "unknown_codes_in_sequences",
                n_codes=len(unknown),
                n_entries=int(gone.sum()),
                code=excerpt(steps.written[unknown[0]]),
            )
        )
        steps = steps.only(~gone)
    symbols = symbol[steps.code]
    lengths = np.bincount(steps.sequence, minlength=len(steps.ids))
    there = np.flatnonzero(lengths)
    if not len(there):
        raise EmptyCorpusError("no_steps", path=str(table.path), n_rows=table.n_rows)
    short = int((lengths[there] < 3).sum())  # moments need three steps in a row
    if 2 * short > len(there):
        notes.append(Message("short_sequences", n_records=short, n_all=len(there)))
    return Sequences(
        symbols,
        lengths[there],
        np.array(coder.codes, dtype=object),
        [steps.ids[i] for i in there],
        coder,
        steps.times,
        table.path.name,
        tuple(notes),
    )


def holds_steps(path: str | PathLike[str], **opening: Any) -> bool:
    """Return whether a table has a step of a sequence in each row, such as a click of a user.

    `opening` are options of :func:`read_sequences` that say how to open the file.
    """
    found = open_table(check_exists(path), suffixes=SUFFIXES, check_titles=True, **opening)
    return are_steps(found.head)


def _new_coder(
    table: Table,
    steps: Steps,
    rules: SequenceCoder,
    *,
    min_sequences: int | None,
    rollup: Mapped | None,
    names: Mapped | None,
    encoding: str,
    separator: str | None,
) -> tuple[SequenceCoder, list[Message]]:
    """Choose the symbols, merge rare codes, and name codes; also return notes."""
    notes: list[Message] = []
    written = steps.written
    if not len(steps.code):
        raise EmptyCorpusError("no_steps", path=str(table.path), n_rows=table.n_rows)
    if rollup is not None:
        counts = np.bincount(steps.code, minlength=len(written))
        coded = _rollup_rules(rollup, encoding, separator)
        coded, groups, notes = group_codes(table, written, counts, coded, wide=False)
        rules = replace(rules, rollup=coded.rollup, mapping=coded.mapping)
    else:
        groups = written
    codes, column = np.unique(np.array(groups, dtype=object), return_inverse=True)
    found = column[steps.code]
    pairs = np.unique(np.stack([found, steps.sequence]), axis=1)
    n_sequences = np.bincount(pairs[0], minlength=len(codes))
    least = min_sequences
    if least is None:
        least = 5 if len(np.unique(steps.sequence)) >= LARGE else 2
    rare = n_sequences < least
    kept = codes[~rare].tolist()
    other = None
    if rare.any():
        other = OTHER
        while other in kept:
            other = f"({other})"
        kept = sorted([*kept, other])
        notes.append(
            Message(
                "rare_codes_merged",
                n_codes=int(rare.sum()),
                n_all_codes=len(codes),
                least=least,
                other=other,
                n_entries=int(rare[found].sum()),
                share=float(rare[found].mean()),
                parameter="min_sequences",
            )
        )
    titles, more = names_of(
        [code for code in kept if code != other] or kept,
        names,
        encoding=encoding,
        separator=separator,
        rollup=rules.rollup,
        written=written,
    )
    return replace(rules, codes=kept, other=other, names=titles), [*notes, *more]


def _rollup_rules(rollup: Mapped, encoding: str, separator: str | None) -> RecordCoder:
    if isinstance(rollup, str) and rollup.lower() in SYSTEMS:
        return RecordCoder([], rollup=rollup.lower())
    if isinstance(rollup, str) and rollup and not os.path.lexists(rollup):
        raise InvalidParameterError("not_a_rollup", parameter="rollup", value=rollup)
    mapping = read_mapping(rollup, "group", encoding=encoding, separator=separator)
    return RecordCoder([], rollup="mapping", mapping=mapping)


def _check_coder(coder: object, **options: object) -> None:
    if not isinstance(coder, SequenceCoder):
        found = type(coder).__name__
        raise InvalidParameterError("not_a_sequence_coder", parameter="coder", type=found)
    for name, value in options.items():
        if value is not None:
            raise InvalidParameterError("coder_has_its_own", parameter=name)


def _known(table: Table, asked: str | None, before: str | None) -> str | None:
    """Return the requested column, or else that of the coder if the table has it."""
    usual = before in table.columns or before == NO_TIMES
    return before if asked is None and usual else asked


def _from_frame(frame: pd.DataFrame) -> Table:
    path = Path("the data frame")
    names = check_names(path, list(map(str, frame.columns)))
    if not len(frame):
        raise EmptyCorpusError("no_rows", path=str(path), sheets="")
    columns = {}
    for j, name in enumerate(names):
        values = frame.iloc[:, j]
        pairs = zip(values.tolist(), values.isna(), strict=True)
        columns[name] = ["" if gone else as_written(value) for value, gone in pairs]
    return Table(path, columns, len(frame), lambda row: Message("at_row", row=row + 1))
