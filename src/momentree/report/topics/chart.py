"""The chart of topic proportions: documents in order as columns, topics as areas."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.exceptions import InvalidDataError
from momentree.messages import Message, wording
from momentree.report.text import clean_text, for_readers, snippet

MAX_COLUMNS = 300
"""Maximum number of columns, so that each is at least a pixel or two wide on most screens."""
_HEIGHT = 1000
_MAX_NAME = 60
_MAX_TICKS, _MAX_TICK = 7, 18
# Known labels appear below the chart if they form at most this many runs.
_MAX_RUNS = 24


@dataclass(frozen=True)
class Ordered:
    """Documents in the order of the chart, without those that lack a value."""

    rows: Ints
    texts: list[str] | None  # their values, as displayed
    group: Ints  # number of each document's distinct value
    name: str


def sort_documents(order: Collection[Any] | None, n: int) -> Ordered:
    """Sort n documents by numbers or dates, also as strings; None keeps the input order."""
    if order is None:
        rows = np.arange(n)
        return Ordered(rows, None, rows, "order of the input")
    if not isinstance(order, Collection):
        raise InvalidDataError(
            "[not_a_list] {parameters.order} is of type {type}; expected a list of entries",
            type=type(order).__name__,
        )
    if len(order) != n:
        raise InvalidDataError(
            wording.NOT_ONE_EACH, parameter="order", found=len(order), needed=n, of="document"
        )
    name = clean_text(getattr(order, "name", None) or "order")
    values = pd.Series(list(order), dtype=object)
    known = ~(values.isna() | (values.map(str).str.strip() == ""))
    if not known.any():
        raise InvalidDataError(
            "[no_values_to_order_by] {name} has no values; pass numbers or dates by which to order "
            "documents",
            name=name,
        )
    values = values[known]
    keys = _keys(values, name)
    place = np.argsort(keys, kind="stable")
    return Ordered(
        rows=np.flatnonzero(known.to_numpy())[place],
        texts=[_shown(values.iloc[i]) for i in place],
        group=np.unique(keys, return_inverse=True)[1][place],
        name=name,
    )


def _keys(values: pd.Series[Any], name: str) -> NDArray[Any]:
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64)
    finite = np.isfinite(numbers)
    if finite.all():
        return numbers
    readings = [_dates(values, day_first) for day_first in (False, True)]
    dates = [keys for keys in readings if keys is not None]
    if len(dates) == 2 and (dates[0] != dates[1]).any():
        raise InvalidDataError(
            "[ambiguous_dates] {name} contains dates such as {value!r}, whose day and month are "
            "ambiguous; write them as 2020-12-31",
            name=name,
            value=str(values.iloc[0]),
        )
    if dates:
        return dates[0]
    value = snippet(str(values[~finite].iloc[0]), _MAX_NAME)
    raise InvalidDataError(
        "[not_a_time] {name} contains {value!r}; documents are ordered by numbers or by dates such "
        "as 2020-12-31",
        name=name,
        value=value,
    )


def _dates(values: pd.Series[Any], day_first: bool) -> NDArray[Any] | None:
    texts = values.map(str)
    for options in ({"format": "ISO8601"}, {"dayfirst": day_first}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas warns that it guesses a format
            try:
                return pd.to_datetime(texts, utc=True, **options).to_numpy()
            except (ValueError, OverflowError):
                continue
    return None


def _shown(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float | np.floating) else str(value)
    return snippet(text.removesuffix(" 00:00:00"), _MAX_NAME)


def proportions_in_columns(
    proportions: Floats,
    ordered: Ordered,
    ids: Sequence[str] | None,
    label_of: Ints | None,
) -> dict[str, Any]:
    """Average the topic proportions in columns from left to right.

    Up to 300 documents have a column each. Otherwise, documents with equal values share a column
    or, if there are too many values, consecutive documents do.
    """
    n = len(ordered.rows)
    if n <= MAX_COLUMNS:
        column, note = np.arange(n), Message("[column_of_document] Each column is one document.")
    elif ordered.texts is not None and ordered.group[-1] < MAX_COLUMNS:
        column = ordered.group
        note = Message(
            "[column_of_value] Each column is the mean of all documents with the same {name}.",
            name=ordered.name,
        )
    else:
        size = -(-n // MAX_COLUMNS)
        column = np.arange(n) // size
        note = Message("[column_of_mean] Each column is the mean of {size} documents.", size=size)
    m = int(column[-1]) + 1
    start = np.searchsorted(column, np.arange(m))
    sizes = np.diff(np.append(start, n))
    means = np.add.reduceat(proportions[ordered.rows], start, axis=0) / sizes[:, None]
    return {
        "proportions": np.rint(1000.0 * means.T).astype(int).tolist(),
        "names": [_name(ordered, ids, a, a + size) for a, size in zip(start, sizes, strict=True)],
        "rows": ordered.rows.tolist() if m == n else None,
        "ticks": _ticks(ordered, ids, start),
        "note": for_readers(note),
        "axis": ordered.name,
        "left_out": len(proportions) - n,
        "runs": [] if label_of is None else _runs(label_of[ordered.rows], start, sizes),
    }


def _name(ordered: Ordered, ids: Sequence[str] | None, a: int, b: int) -> str:
    """Name the column of documents a to b - 1 in the order."""
    one = _id(ordered, ids, a)
    if ordered.texts is None:
        return one if b - a == 1 else f"{one} to {_id(ordered, ids, b - 1)}"
    first, last = ordered.texts[a], ordered.texts[b - 1]
    if b - a == 1:
        return first if ids is None else one if one.startswith(first) else f"{first}: {one}"
    count = f"{b - a:,} documents"
    return f"{first} ({count})" if first == last else f"{first} to {last} ({count})"


def _id(ordered: Ordered, ids: Sequence[str] | None, at: int) -> str:
    row = int(ordered.rows[at])
    return snippet(str(ids[row]), _MAX_NAME) if ids is not None else str(row)


def _ticks(ordered: Ordered, ids: Sequence[str] | None, start: Ints) -> list[list[int | str]]:
    """Label some evenly spread columns by the value or the name of their first document."""
    m = len(start)
    columns = np.unique(np.linspace(0, m - 1, min(m, _MAX_TICKS)).round().astype(int))
    texts = [
        _id(ordered, ids, int(a)) if ordered.texts is None else ordered.texts[a]
        for a in start[columns]
    ]
    return [[int(c), snippet(text, _MAX_TICK)] for c, text in zip(columns, texts, strict=True)]


def _runs(labels: Ints, start: NDArray[Any], sizes: NDArray[Any]) -> list[list[int]]:
    """Join neighboring columns with the same main label; return none if there are many runs."""
    runs: list[list[int]] = []
    for at, (a, size) in enumerate(zip(start, sizes, strict=True)):
        values, counts = np.unique(labels[a : a + size], return_counts=True)
        label = int(values[counts.argmax()])
        if runs and runs[-1][0] == label:
            runs[-1][2] += 1
        else:
            runs.append([label, at, 1])
    return runs if len(runs) <= _MAX_RUNS else []


@dataclass(frozen=True)
class Area:
    """One topic in a chart of stacked areas.

    `path`, in SVG, outlines its area and all areas above it: areas are painted from last to first,
    each over the one before.
    """

    topic: int
    path: str
    peak: float
    peak_name: str


def stacked_areas(areas: Mapping[str, Any]) -> list[Area]:
    """Lay out the topics of `proportions_in_columns` as stacked areas, the first at the top.

    Columns have width 1, and the height is 1000. Areas have steps, so that documents are not
    blended with their neighbors.
    """
    values = np.asarray(areas["proportions"], dtype=np.float64)
    total = np.maximum(values.sum(axis=0), 1.0)
    edges = np.rint(_HEIGHT * np.cumsum(values, axis=0) / total).astype(int)
    values = values / total
    peaks = values.argmax(axis=1)
    return [
        Area(topic, _steps(edges[topic].tolist()), float(values[topic, at]), areas["names"][at])
        for topic, at in enumerate(peaks)
    ]


def _steps(edge: list[int]) -> str:
    changes = (f"H{at}V{edge[at]}" for at in range(1, len(edge)) if edge[at] != edge[at - 1])
    return f"M0 0V{edge[0]}{''.join(changes)}H{len(edge)}V0Z"
