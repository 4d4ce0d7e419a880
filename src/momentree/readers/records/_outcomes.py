"""Outcomes of records: numbers, yes or no, or classes; one a record, whatever the rows say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree.readers.records._tables import FEW, few_or_many
from momentree.readers.tables.table import Cells

__all__ = ["read_outcome"]

_MISSING = frozenset({"", "na", "n/a", "nan", "null", "?", "."})
_PAIRS = (("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"))


def read_outcome(
    name: str, cells: Cells, record_of_row: NDArray[np.intp], n_records: int
) -> tuple[NDArray[Any], tuple[str, str] | None, list[str]]:
    """Return one value a record, the names of 0 and 1 if it is of two, and notes.

    Rows of a record -1 belong to none. Of several numbers the largest counts, of several texts
    the last.
    """
    lower = [value.lower() for value in cells.texts]
    missing = np.array([value in _MISSING for value in lower])
    numbers, pair = _as_numbers(cells.texts, lower, missing)
    rows = np.flatnonzero((record_of_row >= 0) & ~missing[cells.index])
    records = record_of_row[rows]
    notes = []
    if pair is not None:
        notes.append(f"outcome {name!r}: {pair[1]} is 1, {pair[0]} is 0")
    if numbers is not None:
        values = np.full(n_records, np.nan)
        lowest = np.full(n_records, np.nan)
        found = numbers[cells.index[rows]]
        np.fmax.at(values, records, found)
        np.fmin.at(lowest, records, found)
        differ, rule = int((values > lowest).sum()), "the largest value"
    else:
        values = np.full(n_records, "", dtype=object)
        found = cells.texts[cells.index[rows]]
        values[records] = found  # the last assignment stays
        differ, rule = len(np.unique(records[found != values[records]])), "the last value"
    if differ:
        notes.append(
            f"outcome {name!r} differs between rows of {few_or_many(differ, 'record')}; {rule} is "
            f"taken"
        )
    absent = n_records - len(np.unique(records))
    if absent:
        of = f" of {n_records:,}" if absent >= FEW else ""
        notes.append(f"outcome {name!r} is missing in {few_or_many(absent, 'record')}{of}")
    return values, pair, notes


def _as_numbers(
    values: NDArray[Any], lower: list[str], missing: NDArray[np.bool_]
) -> tuple[NDArray[np.float64] | None, tuple[str, str] | None]:
    said = {text for text, absent in zip(lower, missing, strict=True) if not absent}
    for pair in _PAIRS:
        if said and said <= set(pair):
            spelt = dict(zip(lower, map(str, values), strict=True))
            no, yes = (spelt.get(text, text) for text in pair)
            return np.array([pair.index(t) if t in pair else np.nan for t in lower]), (no, yes)
    numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").to_numpy(np.float64)
    return (numbers, None) if np.isfinite(numbers[~missing]).all() else (None, None)
