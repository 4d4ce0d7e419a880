"""Read yes-or-no columns, one for each code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.readers.records._code_cells import Entries
from momentree.readers.tables.roles import MARKS, MISSING, ONES, ZEROS
from momentree.readers.tables.table import Cells, Table, excerpt, excerpts

_ZERO, _ONE, _MISSING, _OTHER = range(4)


def read_binary_cells(
    table: Table,
    names: Sequence[str],
    *,
    chosen: bool,
    empty_is_zero: bool,
    known: bool,
) -> Entries:
    """Read columns of 0 and 1, in which empty cells and NA are missing values.

    Text columns are left out unless the caller has `chosen` them. `known` columns, those of an
    existing coder, may lack zeros.
    """
    kept: list[str] = []
    left_out: dict[str, list[str]] = {"text_left_out": [], "empty_columns_left_out": []}
    unmarked: list[str] = []
    invalid: dict[str, tuple[Cells, NDArray[Any]]] = {}
    n_filled = 0
    ones: list[Ints] = []
    missing: list[Ints] = []
    for name in names:
        cells = table.cells(name)
        kinds = np.array([_kind(text) for text in cells.texts])
        present = {text.lower() for text in cells.texts} - MISSING
        if not present and not (known and empty_is_zero):
            left_out["empty_columns_left_out"].append(name)
            continue
        if (kinds == _OTHER).any():
            if not chosen and _is_text(cells, kinds):
                left_out["text_left_out"].append(name)
            else:
                invalid[name] = cells, kinds
            continue
        if empty_is_zero or present <= MARKS:
            # Marks alone are ticks on a form, where an empty cell means no.
            n_filled += int(cells.counts[cells.texts == ""].sum()) > 0
            kinds[cells.texts == ""] = _ZERO
        elif not (kinds == _ZERO).any() and (kinds == _MISSING).any():
            unmarked.append(name)
        row_kinds = kinds[cells.index]
        kept.append(name)
        ones.append(np.flatnonzero(row_kinds == _ONE))
        missing.append(np.flatnonzero(row_kinds == _MISSING))
    if invalid:
        raise _not_binary(table, invalid, chosen=chosen)
    if 2 * len(unmarked) > len(kept) and not known:
        raise InvalidDataError(
            "no_zeros",
            path=str(table.path),
            n_columns=len(unmarked),
            n_code_columns=len(kept),
            column=excerpt(unmarked[0]),
            parameter="empty",
        )
    notes = [
        Message(code, n_columns=len(some), columns=excerpts(some))
        for code, some in left_out.items()
        if some
    ]
    if n_filled:
        notes.append(Message("empty_is_zero", n_columns=n_filled))
    if unmarked:
        notes.append(
            Message(
                "ones_or_nothing",
                n_columns=len(unmarked),
                columns=excerpts(unmarked),
                parameter="empty",
            )
        )
    if n_missing := sum(map(len, missing)):
        notes.append(Message("missing_cells", n_missing=n_missing))
    row, code = _stacked(ones)
    missing_row, missing_code = _stacked(missing)
    return Entries(row, code, kept, missing_row, missing_code, notes)


def _kind(text: str) -> int:
    lower = text.lower()
    if lower in ONES:
        return _ONE
    if lower in ZEROS:
        return _ZERO
    return _MISSING if lower in MISSING else _OTHER


def _stacked(rows: Sequence[Ints]) -> tuple[Ints, Ints]:
    if not rows:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    return np.concatenate(rows), np.repeat(np.arange(len(rows)), list(map(len, rows)))


def _is_text(cells: Cells, kinds: NDArray[Any]) -> bool:
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
    table: Table, invalid: dict[str, tuple[Cells, NDArray[Any]]], *, chosen: bool
) -> InvalidDataError:
    """Return the error for the first invalid value, which also names other invalid columns."""
    name, (cells, kinds) = next(iter(invalid.items()))
    row = int(np.argmax((kinds == _OTHER)[cells.index]))
    others = list(invalid)[1:]
    choose = Message("leave_out_of", parameter="code_columns")
    return InvalidDataError(
        "cell_not_binary",
        **table.place(row, name),
        value=excerpt(cells.texts[cells.index[row]]),
        others=Message("other_columns", columns=excerpts(others)) if others else "",
        remedy=choose if chosen else Message("ignore_or_choose"),
    )
