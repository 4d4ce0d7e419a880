"""Read the cells of records: codes, one or several in each; or yes and no for each code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.exceptions import InvalidDataError, ReadError
from momentree.messages import Message, wording
from momentree.readers.records.icd import SYSTEMS, looks_like
from momentree.readers.tables import grid, roles

MAX_CODE = 100
"""Longer values are text, not codes."""

MAX_DATES = 0.05
"""With a larger fraction of dates, a column does not contain codes."""

_ZERO, _ONE, _MISSING, _OTHER = range(4)
Texts = Sequence[str] | NDArray[Any]

_INNER_BLANK = r"[^\s,;|]\s+[^\s,;|]"
_RARE_SIGNS = "^~&/"
_EXAMINED = 1_000
_PART = re.compile(r"(?=\D*\d)\S{1,12}")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ t].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})( .*)?"
    rf"|\d{{1,2}}[- .]+{_MONTH}[- .]+\d{{2,4}}|{_MONTH}[- .]+\d{{1,2}},?[- .]+\d{{2,4}}",
    re.IGNORECASE,
)
_EIGHT_DIGITS = re.compile(r"\d{8}")
_DIGITS_OF_A_DATE = re.compile(r"(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")


def are_dates(texts: Texts) -> NDArray[np.bool_]:
    """Find dates; eight digits are a date only if most such values of the column can be."""
    index, unique = pd.factorize(np.asarray(texts, dtype=object))
    unsigned = [text for text in unique if _EIGHT_DIGITS.fullmatch(text)]
    dates = {text for text in unsigned if _DIGITS_OF_A_DATE.fullmatch(text)}
    if 2 * len(dates) <= len(unsigned):
        dates = set()
    dates |= {text for text in unique if _DATE.fullmatch(text)}
    return np.array([text in dates for text in unique], dtype=bool)[index]


@dataclass(frozen=True)
class Parts:
    """The parts of the distinct values of a column."""

    cells: grid.Cells
    value: Ints  # index of the value of each part, ascending
    texts: NDArray[Any]

    @property
    def n_rows(self) -> Ints:
        """Number of rows in which each part occurs."""
        return self.cells.counts[self.value]

    def only(self, kept: NDArray[np.bool_]) -> Parts:
        """Return some of the parts."""
        return Parts(self.cells, self.value[kept], self.texts[kept])

    def first(self) -> tuple[int, str]:
        """Return the first part in the rows of the table, and its row."""
        rows = self.cells.first[self.value]
        place = int(np.argmin(rows))
        return int(rows[place]), str(self.texts[place])


def split_cells(cells: grid.Cells, pattern: str | None) -> Parts:
    """Split the distinct values of a column at separators; leave out missing parts."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    texts = cells.texts
    value, parts = np.arange(len(texts)), texts
    if pattern is not None:
        # Dates are split neither at their separators nor before the time of day.
        whole = np.fromiter((_DATE.fullmatch(text) is not None for text in texts), bool, len(texts))
        lists = pc.split_pattern_regex(pa.array(texts[~whole], pa.large_string()), pattern)
        flat = pc.utf8_trim_whitespace(lists.flatten()).to_numpy(zero_copy_only=False)
        value = np.flatnonzero(~whole)[pc.list_parent_indices(lists).to_numpy()]
        value = np.concatenate([value, np.flatnonzero(whole)])
        parts = np.concatenate([np.asarray(flat, dtype=object), texts[whole]])
        order = np.argsort(value, kind="stable")
        value, parts = value[order], parts[order]
    index, unique = pd.factorize(parts)
    known = np.array([part.lower() not in roles.MISSING for part in unique], dtype=bool)[index]
    return Parts(cells, value, parts).only(known)


def code_separators(texts: Texts) -> tuple[str | None, list[Message]]:
    """Return a pattern of the separators in a cell, None if cells have one code; and notes."""
    values = pd.Series(texts, dtype="string[pyarrow]")
    signs = _common_signs(values)
    rare, unsure = _rare_signs(values, signs)
    signs += rare.replace("^", r"\^")
    # Notes quote no cell: it may contain all codes of a record, and reports repeat the notes.
    notes = [
        Message("[rare_separator] used {sign!r} as the separator between codes", sign=sign)
        for sign in rare
    ]
    notes += [
        Message(
            "[possible_separator] treated cells that contain {sign!r} as single codes; replace it "
            "with ';' if it separates codes",
            sign=sign,
        )
        for sign in unsure
    ]
    with_blank = values[values.str.contains(_INNER_BLANK, regex=True)].head(_EXAMINED)
    if len(with_blank):
        # Blanks separate codes if nearly all pieces are short and have a digit, as in "25000 4019".
        pieces = with_blank.str.split(rf"[{signs}\s]+", regex=True).explode()
        pieces = pieces[pieces != ""]
        if (pieces.str.contains(r"\d", regex=True) & (pieces.str.len() <= 12)).mean() >= 0.9:
            return rf"[{signs}\s]+", notes
    return f"[{signs}]+" if signs else None, notes


def _common_signs(values: Any) -> str:
    signs = "".join(sign for sign in ";|\n\t" if values.str.contains(sign, regex=False).any())
    with_comma = values[values.str.contains(",", regex=False)]
    # A comma may be part of a name, as in "diabetes, type 2"; codes contain no blanks.
    if len(with_comma) and with_comma.str.contains(_INNER_BLANK, regex=True).mean() <= 0.1:
        signs += ","
    return signs


def _rare_signs(values: Any, signs: str) -> tuple[str, str]:
    """Return the rare signs that separate codes here, and those that may do so.

    A slash may also be part of a code. It separates codes if the parts look like those of a system,
    or if lists differ in length and a code is first in one list and later in another.
    """
    taken = unsure = ""
    for sign in _RARE_SIGNS:
        held = values.str.contains(sign, regex=False)
        if not held.any():
            continue
        several = _lists(values[held].head(_EXAMINED), signs, sign)
        codes = [all(map(_PART.fullmatch, parts)) for parts in several]
        if not codes or sum(codes) < 0.9 * len(codes):
            continue
        if sign != "/":
            taken += sign
        elif 2 * held.sum() > (values != "").sum():
            if _of_a_system(several) or _of_one_kind(several):
                taken += sign
            else:
                unsure += sign
    return taken, unsure


def _lists(values: Any, signs: str, sign: str) -> list[list[str]]:
    """Split by the common signs, then by `sign`; return the lists with several parts."""
    pieces = [
        piece.strip()
        for text in values
        for piece in (re.split(f"[{signs}]+", text) if signs else [text])
    ]
    split = [
        [text for part in piece.split(sign) if (text := part.strip())]
        for piece in pieces
        if not _DATE.fullmatch(piece)
    ]
    return [parts for parts in split if len(parts) > 1]


def _of_a_system(lists: Sequence[Sequence[str]]) -> bool:
    parts = [part.upper() for parts in lists for part in parts]
    # Most plain numbers, as in 120/80, have the form of ICD-9 codes.
    clear = np.array([not part.isdigit() for part in parts])
    return bool(max((looks_like(parts, name) & clear).mean() for name in SYSTEMS) >= 0.9)


def _of_one_kind(lists: Sequence[Sequence[str]]) -> bool:
    first, later = {parts[0] for parts in lists}, {part for parts in lists for part in parts[1:]}
    both = len(first & later)
    return len({len(parts) for parts in lists}) > 1 and 4 * both >= min(len(first), len(later))


@dataclass(frozen=True)
class NumberedCells(grid.Cells):
    """The distinct values of a column, with their numbers among those of all columns."""

    number: Ints


@dataclass(frozen=True)
class Entries:
    """The cell with number `cell[i]` has code `codes[code[i]]`; likewise for missing values."""

    cell: Ints
    code: Ints
    codes: list[str]
    missing_cell: Ints
    missing_code: Ints
    notes: list[Message]


def read_code_cells(table: grid.Table, cells: Mapping[str, NumberedCells]) -> Entries:
    """Read the cells of columns of codes."""
    pattern, notes = code_separators(np.concatenate([column.texts for column in cells.values()]))
    columns = {name: split_cells(column, pattern) for name, column in cells.items()}
    dates = {name: are_dates(column.texts) for name, column in columns.items()}
    notes += _check_dates(table, columns, dates)
    codes = {name: column.only(~dates[name]) for name, column in columns.items()}
    for name, column in codes.items():
        _refuse_text(table, name, column)
    parts = codes.values()
    written, raw = pd.factorize(np.concatenate([column.texts for column in parts]))
    upper = np.array([text.upper() for text in raw], dtype=object)
    canonical, unique = pd.factorize(upper)
    if n_padded := sum(column.n_padded for column in cells.values()):
        notes.append(
            Message(
                "[blanks_removed] removed blanks around {n_entries:~entry/entries}",
                n_entries=n_padded,
            )
        )
    n_rows = np.concatenate([column.n_rows for column in parts])
    if n_lower := int(n_rows[(upper != raw)[written]].sum()):
        notes.append(
            Message(
                "[upper_case] changed {n_entries:~entry/entries} to upper case", n_entries=n_lower
            )
        )
    none = np.empty(0, dtype=np.intp)
    cell = np.concatenate([cells[name].number[column.value] for name, column in codes.items()])
    return Entries(cell, canonical[written], list(map(str, unique)), none, none, notes)


def _check_dates(
    table: grid.Table, columns: Mapping[str, Parts], is_date: Mapping[str, NDArray[np.bool_]]
) -> list[Message]:
    """Raise an error if there are many dates among the codes; return a note on a few."""
    dates = {name: column.only(is_date[name]) for name, column in columns.items()}
    counts = {
        name: (int(dates[name].n_rows.sum()), int(column.n_rows.sum()))
        for name, column in columns.items()
    }
    with_dates = [name for name, (n_dates, _) in counts.items() if n_dates]
    if not with_dates:
        return []
    mostly = [name for name in with_dates if 2 * counts[name][0] > counts[name][1]]
    name = (mostly or with_dates)[0]
    n_dates, n_entries = (sum(numbers) for numbers in zip(*counts.values(), strict=True))
    row, text = dates[name].first()
    place = table.place(row, name)
    if not mostly and n_dates <= MAX_DATES * n_entries:
        del place["path"]
        return [
            Message(
                "[dates_left_out] left out {n_entries:~date} among the codes, the first in "
                "{origin}, column {column!r}",
                n_entries=n_dates,
                **place,
            )
        ]
    values = {**place, "value": grid.excerpt(text), "parameter": "code_columns"}
    n_dates, n_entries = counts[name]
    raise InvalidDataError(
        "[dates_among_codes] {path}, {origin}, column {column!r}, contains {value!r}: {n_dates:,} "
        "of {n_entries:~entry/entries} in the column are dates, not codes; name the code columns "
        "with {parameter}, or remove the dates",
        **values,
        n_dates=n_dates,
        n_entries=n_entries,
    )


def _refuse_text(table: grid.Table, name: str, column: Parts) -> None:
    long = column.only(np.array([len(text) > MAX_CODE for text in column.texts], dtype=bool))
    if len(long.texts):
        row, text = long.first()
        raise ReadError(
            "[too_long_for_a_code] {path}, {origin}, column {column!r}, contains {value!r}, "
            "{length:~character} without a separator; a code has at most {longest}: name the code "
            "columns with {parameters.code_columns}, or separate codes with ';'",
            **table.place(row, name),
            value=grid.excerpt(text),
            length=len(text),
            longest=MAX_CODE,
        )


@dataclass
class _Answers:
    """Yes-or-no columns that are kept, with their cells that are ones or missing; the others."""

    ones: dict[str, Ints] = field(default_factory=dict)
    missing: dict[str, Ints] = field(default_factory=dict)
    text: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)  # empty cells are zeros
    unmarked: list[str] = field(default_factory=list)  # only ones and empty cells
    invalid: dict[str, tuple[NumberedCells, NDArray[Any]]] = field(default_factory=dict)
    n_missing: int = 0  # cells of the columns that are kept


def read_binary_cells(
    table: grid.Table,
    cells: Mapping[str, NumberedCells],
    *,
    chosen: bool,
    empty_is_zero: bool,
    known: bool,
) -> Entries:
    """Read the cells of columns of 0 and 1, in which empty cells and NA are missing values.

    Text columns are left out unless the caller has `chosen` them. `known` columns, those of an
    existing coder, may lack zeros.
    """
    answers = _Answers()
    for name, column in cells.items():
        _read_answers(
            answers, name, column, chosen=chosen, empty_is_zero=empty_is_zero, known=known
        )
    unmarked = answers.unmarked
    if answers.invalid:
        raise _not_binary(table, answers.invalid)
    if 2 * len(unmarked) > len(answers.ones) and not known:
        raise InvalidDataError(
            "[no_zeros] {path}: {n_columns:,} of {n_code_columns:~column} of codes, such as "
            "{column!r}, contain only ones and empty cells, which are treated as missing values: "
            "pass {parameters.empty:'zero'} if an empty cell means that the record does not have "
            "the code, or write 0 there",
            path=str(table.path),
            n_columns=len(unmarked),
            n_code_columns=len(answers.ones),
            column=grid.excerpt(unmarked[0]),
        )
    lists = {
        "[text_left_out] left out {n_columns:~column} of text: {columns:quoted list}": answers.text,
        wording.COLUMNS_WITHOUT_VALUES: answers.empty,
        "[empty_is_zero] treated empty cells in {n_columns:~column} as no: {columns:quoted "
        "list}": answers.filled,
        "[ones_or_nothing] {n_columns:~column} {n_columns:?contains/contain} only ones and empty "
        "cells: {columns:quoted list}; these empty cells are missing values "
        "({parameters.empty:'zero'} treats all empty cells as no)": unmarked,
    }
    notes = [Message(text, **grid.listed(names)) for text, names in lists.items() if names]
    if n_missing := answers.n_missing:
        notes.append(Message(wording.MISSING_CELLS, n_missing=n_missing))
    ones, missing = _stacked([*answers.ones.values()]), _stacked([*answers.missing.values()])
    return Entries(*ones, list(answers.ones), *missing, notes)


def _read_answers(
    answers: _Answers,
    name: str,
    cells: NumberedCells,
    *,
    chosen: bool,
    empty_is_zero: bool,
    known: bool,
) -> None:
    kinds = np.array([_kind(text) for text in cells.texts])
    present = {text.lower() for text in cells.texts} - roles.MISSING
    blank = cells.texts == ""
    if not present and not (known and empty_is_zero):
        answers.empty.append(name)
        return
    if (kinds == _OTHER).any():
        if not chosen and _is_text(cells, kinds):
            answers.text.append(name)
        else:
            answers.invalid[name] = cells, kinds
        return
    if empty_is_zero or present <= roles.MARKS:
        # Marks alone are ticks on a form, where an empty cell means no.
        if cells.counts[blank].sum():
            answers.filled.append(name)
        kinds[blank] = _ZERO
    elif not (kinds == _ZERO).any() and (kinds == _MISSING).any():
        answers.unmarked.append(name)
    answers.n_missing += int(cells.counts[kinds == _MISSING].sum())
    answers.ones[name] = cells.number[kinds == _ONE]
    answers.missing[name] = cells.number[kinds == _MISSING]


def _kind(text: str) -> int:
    lower = text.lower()
    if lower in roles.ONES:
        return _ONE
    if lower in roles.ZEROS:
        return _ZERO
    return _MISSING if lower in roles.MISSING else _OTHER


def _stacked(cells: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return the cells of all columns, and the column of each."""
    if not cells:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    return np.concatenate(cells), np.repeat(np.arange(len(cells)), list(map(len, cells)))


def _is_text(cells: NumberedCells, kinds: NDArray[Any]) -> bool:
    """Return whether a column contains words or dates, not numbers or 0 and 1 with a typo."""
    counts = cells.counts
    other = kinds == _OTHER
    # Single letters beside others do not mean yes or no, such as the f of "f" and "m".
    clear = [len(text) > 1 or text in "01" for text in cells.texts]
    if counts[other].sum() <= counts[(kinds < _MISSING) & clear].sum():
        return False
    numbers = pd.to_numeric(pd.Series(cells.texts[other], dtype=object), errors="coerce")
    return bool(numbers.isna().any())


def _not_binary(
    table: grid.Table, invalid: dict[str, tuple[NumberedCells, NDArray[Any]]]
) -> InvalidDataError:
    """Return the error for the first invalid value, which also names other invalid columns."""
    name, (cells, kinds) = next(iter(invalid.items()))
    wrong = np.flatnonzero(kinds == _OTHER)
    first = wrong[np.argmin(cells.first[wrong])]
    others = list(invalid)[1:]
    return InvalidDataError(
        "[cell_not_binary] {path}, {origin}, column {column!r}, contains {value!r}; expected 0 or "
        "1 (or yes and no, true and false){others}. Correct the values, name outcomes with "
        "{parameters.outcome_columns} and ids with {parameters.id_column}, name the code columns "
        "with {parameters.code_columns}, or leave the column out with {parameters.ignore_columns}",
        **table.place(int(cells.first[first]), name),
        value=grid.excerpt(cells.texts[first]),
        others=Message(
            "[other_columns] ; other columns with such values are {columns:quoted list}",
            columns=grid.excerpts(others),
        )
        if others
        else "",
    )
