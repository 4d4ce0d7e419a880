"""Read outcomes of records: numbers, yes or no, or classes; one value per record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.messages import Message
from momentree.readers.tables.roles import MISSING
from momentree.readers.tables.table import Cells, excerpt

_PAIRS = (("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"))


def read_outcome(
    name: str, cells: Cells, record_of_row: Ints, n_records: int
) -> tuple[NDArray[Any], tuple[str, str] | None, list[Message]]:
    """Return one value per record, the names of 0 and 1 for an outcome of two words, and notes.

    Rows of record -1 are ignored. If a record has several values, the largest number or the last
    string is used.
    """
    lower = [value.lower() for value in cells.texts]
    missing = np.array([value in MISSING - {"none", "<na>"} for value in lower])
    numbers, pair = _as_numbers(cells.texts, lower, missing)
    rows = np.flatnonzero((record_of_row >= 0) & ~missing[cells.index])
    records = record_of_row[rows]
    outcome = excerpt(name)
    notes = []
    if pair is not None:
        notes.append(Message("binary_outcome", outcome=outcome, zero=pair[0], one=pair[1]))
    if numbers is not None:
        values = np.full(n_records, np.nan)
        lowest = np.full(n_records, np.nan)
        found = numbers[cells.index[rows]]
        np.fmax.at(values, records, found)
        np.fmin.at(lowest, records, found)
        n_differ, rule = int((values > lowest).sum()), "largest"
    else:
        values = np.full(n_records, "", dtype=object)
        found = cells.texts[cells.index[rows]]
        values[records] = found  # the last assignment wins
        n_differ, rule = len(np.unique(records[found != values[records]])), "last"
    if n_differ:
        notes.append(Message("outcome_differs", outcome=outcome, n_records=n_differ, rule=rule))
    if n_missing := n_records - len(np.unique(records)):
        notes.append(
            Message("outcome_missing", outcome=outcome, n_missing=n_missing, n_all=n_records)
        )
    return values, pair, notes


def _as_numbers(
    values: NDArray[Any], lower: list[str], missing: NDArray[np.bool_]
) -> tuple[Floats | None, tuple[str, str] | None]:
    present = {text for text, absent in zip(lower, missing, strict=True) if not absent}
    for pair in _PAIRS:
        if present and present <= set(pair):
            spelled = dict(zip(lower, map(str, values), strict=True))
            zero, one = (spelled.get(text, text) for text in pair)
            numbers = np.array([pair.index(t) if t in pair else np.nan for t in lower])
            return numbers, (zero, one)
    numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").to_numpy(np.float64)
    return (numbers, None) if np.isfinite(numbers[~missing]).all() else (None, None)
