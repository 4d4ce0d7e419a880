"""Read a column of times: numbers, ISO dates, or dates in one other format."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Floats
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.readers.tables.roles import MISSING
from momentree.readers.tables.table import Cells, Table, excerpt
from momentree.readers.tables.values import number

_DATES = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y",
    "%m-%d-%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y",
    "%d %B %Y", "%b %d %Y", "%b %d, %Y", "%B %d, %Y",
)  # fmt: skip
_CLOCKS = (
    "", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", "T%H:%M", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p",
)  # fmt: skip
_FORMATS = (
    *(date + clock for date, clock in product(_DATES, _CLOCKS)),
    *(clock.strip() for clock in _CLOCKS if clock.startswith(" ")),
)
_TRIED = 200
"""Values on which formats are tried first."""
_NANOSECONDS = 1e9


def read_times(
    table: Table, name: str, cells: Cells, time_format: str | None
) -> tuple[Floats, list[Message]]:
    """Return the time of each row, NaN where it is missing, and notes.

    Times are numbers as in the file, or seconds since 1970. Raise an error if a value is not a
    time, or the order of day and month is not clear.
    """
    texts = cells.texts
    known = is_known(texts)
    values = np.full(len(texts), np.nan)
    notes: list[Message] = []
    if time_format is None:
        values[known], formats = _guessed(texts[known])
        if len(formats) > 1:
            raise InvalidDataError(
                "day_or_month_first",
                path=str(table.path),
                column=excerpt(name),
                value=excerpt(str(texts[known][0])),
                parameter="time_format",
                first=formats[0],
                second=formats[1],
            )
        if formats and formats != ["ISO8601"]:
            notes.append(Message("guessed_time_format", column=excerpt(name), format=formats[0]))
    else:
        values[known] = _dates(texts[known], time_format)
    wrong = np.flatnonzero(np.isnan(values) & known)
    if len(wrong):
        row = int(np.flatnonzero(np.isin(cells.index, wrong))[0])
        raise InvalidDataError(
            "cell_not_a_time",
            **table.place(row, name),
            value=excerpt(str(texts[cells.index[row]])),
            n_rows=int(cells.counts[wrong].sum()),
            format="" if time_format is None else Message("in_format", format=time_format),
            parameter="time_format",
        )
    return values[cells.index], notes


def is_known(texts: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which texts are not missing values."""
    return np.array([text.lower() not in MISSING for text in texts], dtype=bool)


def mostly_times(texts: Sequence[str]) -> bool:
    """Return whether at least half of the values are numbers, or dates of one format."""
    if not texts:
        return False
    times, _ = _guessed(np.array(sorted(set(texts))[:_TRIED], dtype=object))
    return 2 * int(np.isnan(times).sum()) <= len(times)


def _guessed(texts: NDArray[Any]) -> tuple[Floats, list[str]]:
    """Return times in the only way in which all values are times, else of the best; and formats."""
    numbers = _numbers(texts)
    if not np.isnan(numbers).any():
        return numbers, []
    iso = _dates(texts, "ISO8601")
    if not np.isnan(iso).any():
        return iso, ["ISO8601"]
    first = texts[np.unique(np.linspace(0, len(texts) - 1, _TRIED).astype(np.intp))]
    n_wrong = {fmt: int(np.isnan(_dates(first, fmt)).sum()) for fmt in _FORMATS}
    least = min(n_wrong.values())
    read = {fmt: _dates(texts, fmt) for fmt in _FORMATS if n_wrong[fmt] == least < len(first)}
    good = [fmt for fmt in read if not np.isnan(read[fmt]).any()]
    if good:
        # Formats that agree on all values are one, such as "%b" and "%B" in May.
        others = [fmt for fmt in good[1:] if not np.array_equal(read[fmt], read[good[0]])]
        return read[good[0]], [good[0], *others]
    return min((numbers, iso, *read.values()), key=lambda times: int(np.isnan(times).sum())), []


def _numbers(texts: NDArray[Any]) -> Floats:
    values = np.array(pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce"), np.float64)
    for i in np.flatnonzero(np.isnan(values)):
        value = number(str(texts[i]))
        if value is None:  # one is enough to know that these are no numbers
            break
        values[i] = value
    return np.where(np.isfinite(values), values, np.nan)


def _dates(texts: NDArray[Any], time_format: str) -> Floats:
    try:
        dates = pd.to_datetime(
            pd.Series(texts, dtype=object), format=time_format, errors="coerce", utc=True
        )
    except ValueError as error:
        raise InvalidDataError(
            "not_a_time_format", parameter="time_format", value=time_format
        ) from error
    stamps = dates.dt.tz_localize(None).to_numpy().astype("datetime64[ns]")
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / _NANOSECONDS)
