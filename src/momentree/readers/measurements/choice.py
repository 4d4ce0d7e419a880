"""Choose the columns of a table that contain measurements, or read those of a coder; and notes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from momentree.core.choices import ColumnKind
from momentree.exceptions import EmptyCorpusError, ReadError
from momentree.messages import Message, wording
from momentree.readers.measurements.columns import (
    MOSTLY_MISSING,
    Column,
    Style,
    find_style,
    is_constant,
    is_count,
    is_plain,
    read_column,
)
from momentree.readers.measurements.objects import MeasurementCoder
from momentree.readers.tables import grid, roles, schema

_STYLE_ROWS = 2_000
"""Rows examined for decimal commas."""


def choose_columns(
    table: grid.Table,
    names: Sequence[str],
    kinds: Mapping[str, ColumnKind],
    rules: MeasurementCoder,
) -> tuple[list[Column], dict[str, str]]:
    """Read the columns; return the informative ones, and why the others are left out.

    `kinds` are those that the caller chose, by name or pattern.
    """
    schema.matching(table, "kinds", list(kinds))  # each must match a column
    for name in kinds:
        if name in table.columns and name not in names:
            raise ReadError(
                "column {column!r} contains ids or outcomes, so {parameters.kinds} cannot give it "
                "a kind",
                column=grid.excerpt(name),
            )
    style = _style(find_table_style(table, names), rules)
    columns: list[Column] = []
    left_out: dict[str, str] = {}
    for name in names:
        kind = next((k for pattern, k in kinds.items() if fnmatchcase(name, pattern)), None)
        kind = kinds.get(name, kind)
        column = read_column(name, table.columns[name], kind, style)
        why = column.why_left_out or _why_left_out(column)
        if kind is not None:
            _check_kind(table, column, kind)
        if why:
            left_out[name] = why
            continue
        _check_units(table, column)
        columns.append(column)
    if not columns:
        raise EmptyCorpusError(
            "[no_measurements] {path}: no column has measurements that differ between records; its "
            "columns are {columns:quoted list}. If a column was read wrongly, name its kind in "
            "{parameters.kinds}; if the table contains codes, name their columns in "
            "{parameters.code_columns}",
            path=str(table.path),
            columns=grid.excerpts(table.names),
        )
    return _in_mixed_table(columns, kinds), left_out


def read_known_columns(
    table: grid.Table, coder: MeasurementCoder, style: Style | None = None
) -> tuple[list[Column], list[Message]]:
    """Read the columns of a coder; values that it does not know are missing.

    Numbers are written in a style, or that of this table.
    """
    present = [name for name in coder.kinds if name in table.columns]
    if not present:
        raise ReadError(
            "[columns_of_model_missing] {path} has none of the columns of the model, "
            "{expected:quoted list}; its columns are {columns:quoted list}: rename its columns, or "
            "see {parameters.skip_rows}",
            path=str(table.path),
            expected=grid.excerpts(coder.kinds),
            columns=grid.excerpts(table.names),
        )
    style = _style(style or find_table_style(table, present), coder)
    columns, notes, n_unknown = [], list[Message](), 0
    for name, kind in coder.kinds.items():
        column = read_column(name, table.columns.get(name, [""] * table.n_rows), kind, style)
        if kind == "category":
            column = _as_numbers_are_written(column, coder.categories[name])
            unknown = ~np.isin(column.texts, [*coder.categories[name], ""])
            n_unknown += int(unknown.sum())
            column = replace(column, texts=np.where(unknown, "", column.texts))
        else:
            notes += _not_numbers(table, column)
        columns.append(column)
    lacking = [name for name in coder.kinds if name not in table.columns]
    if lacking:
        notes.append(
            Message(
                wording.MISSING_COLUMNS, n_columns=len(lacking), column=grid.excerpt(lacking[0])
            )
        )
    if n_unknown:
        notes.append(Message(wording.UNKNOWN_CATEGORIES, n_entries=n_unknown))
    return columns, notes


def _as_numbers_are_written(column: Column, categories: Sequence[str]) -> Column:
    """Write numbers of a category as at the fit: 4.0 is 4."""
    unknown = set(column.texts) - set(categories)
    written = {text: f"{float(text):.10g}" if is_plain(text) else text for text in unknown}
    return replace(column, texts=np.array([written.get(t, t) for t in column.texts], dtype=object))


def find_table_style(table: grid.Table, names: Sequence[str]) -> Style:
    """Return how numbers are written in some columns of a table."""
    return find_style(table.columns[name][:_STYLE_ROWS] for name in names)


def _style(style: Style, rules: MeasurementCoder) -> Style:
    return replace(style, missing=frozenset(rules.missing), empty_is_zero=rules.empty == "zero")


def _why_left_out(column: Column) -> str:
    missing = column.missing
    if missing.all():
        return wording.COLUMNS_WITHOUT_VALUES
    if missing.mean() > MOSTLY_MISSING:
        return (
            "[columns_mostly_missing] left out {n_columns:~column} in which more than four fifths "
            "of the values are missing: {columns:quoted list}"
        )
    return (
        (
            "[constant_columns] left out {n_columns:~column} with the same value in all records: "
            "{columns:quoted list}"
        )
        if is_constant(column)
        else ""
    )


def _in_mixed_table(columns: list[Column], chosen: Iterable[str]) -> list[Column]:
    """Take counts for counts, and other whole numbers of few values for categories.

    Numbers that stand among many others remain numbers.
    """
    others = _unchosen(columns, chosen)
    few = [column for column in others if column.few_valued and column.kind == "number"]
    only_numbers = all(column.kind in ("number", "count") for column in columns)
    if only_numbers and 2 * len(few) <= len(columns):
        return columns
    kinds: dict[str, ColumnKind] = {column.name: "category" for column in few}
    kinds |= {column.name: "count" for column in others if is_count(column)}
    return [replace(column, kind=kinds.get(column.name, column.kind)) for column in columns]


def _check_kind(table: grid.Table, column: Column, kind: ColumnKind) -> None:
    """Refuse values that the requested kind does not allow."""
    if kind == "category":
        return
    values = column.numbers
    if column.read is not None:
        wrong = column.read.other
        if kind == "count":
            wrong = wrong | (values < 0) | (values != np.floor(values)) & ~np.isnan(values)
    elif column.kind == "yes_no":
        wrong = np.isnan(values) & (column.texts != "")
    else:
        return
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ReadError(
            "[not_of_kind] {path}, {origin}, column {column!r}, contains {value!r}, which is not "
            "of the kind {kind!r} that {parameters.kinds} gives to the column",
            **table.place(row, column.name),
            value=grid.excerpt(table.columns[column.name][row]),
            kind=kind,
        )


def _check_units(table: grid.Table, column: Column) -> None:
    """Refuse numbers in several units."""
    units: Counter[str] = Counter() if column.read is None else column.read.units
    if len({"".join(unit.lower().split()) for unit in units}) > 1:
        raise ReadError(
            "[several_units] {path}: column {column!r} contains numbers in several units, "
            "{units:quoted list}; convert them to one unit, or leave the column out with "
            "{parameters.ignore_columns}",
            path=str(table.path),
            column=grid.excerpt(column.name),
            units=[unit for unit, _ in units.most_common(3)],
        )


def _not_numbers(table: grid.Table, column: Column) -> list[Message]:
    """Return the note that some cells of a column of numbers are something else."""
    rows = [] if column.read is None else np.flatnonzero(column.read.other).tolist()
    if not rows:
        return []
    return [
        Message(
            "[cells_not_numbers] treated {n_missing:~cell} of column {column!r} as missing, "
            "because {n_missing:?it is not a number/they are not numbers}: the first, {value!r}, "
            "is in {origin}",
            n_missing=len(rows),
            column=grid.excerpt(column.name),
            origin=table.origin(rows[0]),
            value=grid.excerpt(table.columns[column.name][rows[0]]),
        )
    ]


_ANSWERS = frozenset({"class", "classes", "label", "labels", "target", "species", "diagnosis",
                      "outcome", "group", "cluster", "result", "y"})  # fmt: skip
"""Names of columns that often contain the answer."""
_FAR = 1_000.0
"""Interquartile ranges from the quartiles to a value that is hardly a measurement."""
_KINDS = {
    "number": wording.N_NUMBERS,
    "yes_no": "[n_yes_no] {n_columns:~column} of yes and no",
    "category": "[n_categories] {n_columns:~column} of categories",
    "count": "[n_counts] {n_columns:~column} of counts",
}


def describe(
    table: grid.Table,
    columns: Sequence[Column],
    left_out: Mapping[str, str],
    answers: Sequence[str],
    *,
    chosen: Mapping[str, str],
) -> list[Message]:
    """Return the notes on newly chosen columns; `chosen` are kinds by name or pattern."""
    kinds: Counter[str] = Counter(column.kind for column in columns)
    parts = [Message(_KINDS[kind], n_columns=kinds[kind]) for kind in _KINDS if kinds[kind]]
    form = "[form_measurements] read as measurements, one row per record: {parts:list}"
    free = _unchosen(columns, chosen)
    grades = [c.name for c in free if c.kind == "category" and c.read is not None]
    counts = [c.name for c in free if c.kind == "count"]
    likely = [c.name for c in free if _is_answer(c) and roles.fits("outcome", c.name)]
    lists = {
        **{why: [name for name in left_out if left_out[name] == why] for why in left_out.values()},
        "[numbers_as_categories] treated {n_columns:~column} of few whole numbers as categories: "
        "{columns:quoted list} (for numbers, pass {parameters.kinds})": grades,
        "[numbers_as_counts] treated {n_columns:~column} of small whole numbers as counts: "
        "{columns:quoted list} (for numbers, pass {parameters.kinds})": counts,
        "[columns_are_outcomes] described {n_columns:~column} as {n_columns:?an outcome/outcomes}, "
        "because of {n_columns:?its name/their names}: {columns:quoted list} (to form groups by "
        "{n_columns:?it/them}, pass {parameters.kinds})": answers,
        "[columns_may_be_outcomes] used {n_columns:~column} to form groups that may be outcomes: "
        "{columns:quoted list} (name them in {parameters.outcome_columns}, or leave them out with "
        "{parameters.ignore_columns})": likely,
        **_lists_of_numbers(columns),
    }
    notes = [Message(text, **grid.listed(names)) for text, names in lists.items() if names]
    return [Message(form, parts=parts), *notes, *_on_values(table, columns), *_on_missing(columns)]


def _unchosen(columns: Iterable[Column], chosen: Iterable[str]) -> list[Column]:
    """Return the columns whose kinds were not chosen by name or pattern."""
    return [column for column in columns if not schema.fits_pattern(column.name, chosen)]


def set_answers_apart(
    columns: Sequence[Column], chosen: Mapping[str, str]
) -> tuple[list[Column], list[str]]:
    """Return the columns without those named like the answer, such as species; and their names."""
    answers = [
        column.name
        for column in _unchosen(columns, chosen)
        if column.name.strip().lower() in _ANSWERS and _is_answer(column)
    ]
    kept = [column for column in columns if column.name not in answers]
    return (kept, answers) if kept else (list(columns), [])


def _is_answer(column: Column) -> bool:
    return column.kind in ("category", "yes_no") or column.few_valued


def _lists_of_numbers(columns: Sequence[Column]) -> dict[str, list[str]]:
    """Return the columns whose numbers were written in unusual ways, by note."""
    read = {column.name: column.read for column in columns if column.read is not None}
    return {
        "[units_removed] removed units from {n_columns:~column}: {columns:quoted list}": [
            name for name, numbers in read.items() if numbers.units
        ],
        "[limits_as_numbers] read limits such as <0.5 as the number, 0.5, in {columns:quoted "
        "list}": [name for name, numbers in read.items() if numbers.n_limits],
        "[guessed_separators] guessed whether a comma or dot before three digits, as in 1,234, "
        "separates thousands, in {columns:quoted list}: check the means of these columns": [
            name for name, numbers in read.items() if numbers.n_guessed
        ],
        "[far_values] values far beyond all others are in {columns:quoted list}: more than 1,000 "
        "times the width of the middle half away from it. If they are errors, correct them, or "
        "name them in {parameters.missing}": [c.name for c in columns if _has_far_values(c)],
    }


def _on_values(table: grid.Table, columns: Sequence[Column]) -> list[Message]:
    """Return notes on codes of missing values, and on cells that are not numbers."""
    notes = [
        Message(
            "[may_mean_missing] column {column!r} contains {value} {n_entries:~time}, far from its "
            "other values; if it stands for a missing value, pass {parameter:=value}",
            column=grid.excerpt(column.name),
            value=f"{column.suspect:g}",
            n_entries=int((column.numbers == column.suspect).sum()),
            parameter="missing",
        )
        for column in columns
        if column.suspect is not None
    ]
    numbers = [column for column in columns if column.kind in ("number", "count")]
    return [*notes, *(note for column in numbers for note in _not_numbers(table, column))]


def _has_far_values(column: Column) -> bool:
    if column.kind not in ("number", "count"):
        return False
    known = column.numbers[~np.isnan(column.numbers)]
    low, high = np.quantile(known, [0.25, 0.75])
    reach = _FAR * (high - low)
    return bool(reach > 0 and (known.max() - high > reach or low - known.min() > reach))


def _on_missing(columns: Sequence[Column]) -> list[Message]:
    gaps = {column.name: n for column in columns if (n := int(column.missing.sum()))}
    if not gaps:
        return []
    most = max(gaps, key=lambda name: gaps[name])
    return [
        Message(
            "{n_missing:~value} {n_missing:?is/are} missing, in {n_columns:~column}; most in "
            "{column!r}: {n_missing_first:,}",
            n_missing=sum(gaps.values()),
            n_columns=len(gaps),
            column=grid.excerpt(most),
            n_missing_first=gaps[most],
        )
    ]
