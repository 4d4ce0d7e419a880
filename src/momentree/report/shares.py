"""The shares of topics along the documents: in which order, in how many columns, in which words."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError
from momentree.report.documents import clean_text, snippet

__all__ = ["MAX_COLUMNS", "Ordered", "in_order", "shares_in_columns"]

# More columns are narrower than a pixel or two on most screens.
MAX_COLUMNS = 300
_MAX_NAME = 60
_MAX_TICKS, _MAX_TICK = 7, 18
# Known labels are written below the chart when they come in not more runs than this.
_MAX_RUNS = 24

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ordered:
    """The order of documents in the chart.

    Parameters
    ----------
    rows : ndarray of int of shape (n_placed,)
        Row numbers in order; documents without a value are left out.
    texts : list of str or None
        The value of each of them, as it is shown; None for the order of the input.
    group : ndarray of int of shape (n_placed,)
        Number of the distinct value of each.
    name : str
        What the values are.
    """

    rows: NDArray[np.intp]
    texts: list[str] | None
    group: NDArray[np.intp]
    name: str


def in_order(order: Collection[Any] | None, n: int) -> Ordered:
    """Put documents in the order of their numbers or dates.

    Parameters
    ----------
    order : sequence of length n or None
        Numbers, dates, or texts of either; None, NaN, NaT and "" are missing. A ``name``, such
        as a pandas Series has, is taken for the axis.
    n : int
        Number of documents.

    Returns
    -------
    Ordered
        Equal values keep the order of the input.

    Raises
    ------
    InvalidDataError
        If there is not one value a document, if values are neither all numbers nor all dates, or
        if day and month of the dates cannot be told apart.
    """
    if order is None:
        rows = np.arange(n)
        return Ordered(rows, None, rows, "order of the input")
    if not isinstance(order, Collection) or len(order) != n:
        found = f"{len(order)} entries" if isinstance(order, Collection) else "no list of entries"
        msg = f"order has {found} for {n} documents. Give one value for each row of X."
        raise InvalidDataError(msg)
    name = clean_text(getattr(order, "name", None) or "order")
    values = pd.Series(list(order), dtype=object)
    known = ~(values.isna() | (values.map(str).str.strip() == ""))
    if not known.any():
        msg = f"{name} holds no value at all to order by. Give numbers or dates."
        raise InvalidDataError(msg)
    values = values[known]
    keys = _keys(values, name)
    place = np.argsort(keys, kind="stable")
    rows = np.flatnonzero(known.to_numpy())[place]
    shown = [_shown(values.iloc[i]) for i in place]
    return Ordered(rows, shown, np.unique(keys, return_inverse=True)[1][place], name)


def _keys(values: pd.Series[Any], name: str) -> NDArray[Any]:
    numbers = pd.to_numeric(values, errors="coerce")
    finite = np.isfinite(numbers.to_numpy(dtype=np.float64))
    if finite.all():
        return numbers.to_numpy(dtype=np.float64)
    found = [
        keys for keys in (_dates(values, first) for first in (False, True)) if keys is not None
    ]
    if len(found) == 2 and (found[0] != found[1]).any():
        msg = (
            f"{name} holds dates such as {str(values.iloc[0])!r}, in which day and month cannot "
            f"be told apart. Write them as 2020-12-31."
        )
        raise InvalidDataError(msg)
    if found:
        return found[0]
    odd = str(values[~finite].iloc[0])
    msg = (
        f"{name} holds {snippet(odd, _MAX_NAME)!r}; documents are put in order by numbers or by "
        f"dates such as 2020-12-31. Give one of them for each."
    )
    raise InvalidDataError(msg)


def _dates(values: pd.Series[Any], day_first: bool) -> NDArray[Any] | None:
    texts = values.map(str)
    for options in ({"format": "ISO8601"}, {"dayfirst": day_first}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a format was guessed
            try:
                return pd.to_datetime(texts, utc=True, **options).to_numpy()
            except (ValueError, OverflowError):
                continue
    return None


def _shown(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float | np.floating) else str(value)
    return snippet(text.removesuffix(" 00:00:00"), _MAX_NAME)


def shares_in_columns(
    shares: Floats,
    ordered: Ordered,
    ids: Sequence[str] | None,
    label_of: NDArray[np.intp] | None,
) -> dict[str, Any]:
    """Average the shares of topics in columns from left to right.

    A document has a column of its own as long as there are at most 300. Else documents of equal
    value share a column, and where there are too many values, documents that follow each other.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, k)
        Shares of topics in documents; rows sum to 1.
    ordered : Ordered
        Their order.
    ids : sequence of str of length n_samples or None
        Names of documents.
    label_of : ndarray of int of shape (n_samples,) or None
        Known label of each, -1 for none.

    Returns
    -------
    dict
        JSON-able: ``shares`` (for each topic the mean share in each column, per mille),
        ``names`` of the columns, ``rows`` (the document of each, or None where there are several),
        ``ticks`` (pairs of column and text), ``note`` (what a column is), ``axis``, ``left_out``
        (number of documents without a value), ``runs`` (of one known label: label, first column,
        columns).
    """
    n = len(ordered.rows)
    n_groups = int(ordered.group[-1]) + 1
    if n <= MAX_COLUMNS:
        column, note = np.arange(n), "Each column is one document."
    elif ordered.texts is not None and n_groups <= MAX_COLUMNS:
        column = ordered.group
        note = f"Each column is the mean of the documents of one {ordered.name}."
    else:
        size = -(-n // MAX_COLUMNS)
        column = np.arange(n) // size
        note = f"Each column is the mean of {size} documents."
    m = int(column[-1]) + 1
    start = np.searchsorted(column, np.arange(m))
    sizes = np.diff(np.append(start, n))
    means = np.add.reduceat(shares[ordered.rows], start, axis=0) / sizes[:, None]
    left_out = len(shares) - n
    return {
        "shares": np.rint(1000.0 * means.T).astype(int).tolist(),
        "names": [_name(ordered, ids, a, a + size) for a, size in zip(start, sizes, strict=True)],
        "rows": ordered.rows.tolist() if m == n else None,
        "ticks": _ticks(ordered, ids, start),
        "note": note,
        "axis": ordered.name,
        "left_out": left_out,
        "runs": [] if label_of is None else _runs(label_of[ordered.rows], start, sizes),
    }


def _name(ordered: Ordered, ids: Sequence[str] | None, a: int, b: int) -> str:
    """Name a column of the documents from place a to place b."""
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


def _ticks(
    ordered: Ordered, ids: Sequence[str] | None, start: NDArray[np.intp]
) -> list[list[int | str]]:
    """Write the value or the name of a document below some columns, evenly spread."""
    m = len(start)
    columns = np.unique(np.linspace(0, m - 1, min(m, _MAX_TICKS)).round().astype(int))
    texts = [
        _id(ordered, ids, int(a)) if ordered.texts is None else ordered.texts[a]
        for a in start[columns]
    ]
    return [[int(c), snippet(text, _MAX_TICK)] for c, text in zip(columns, texts, strict=True)]


def _runs(labels: NDArray[np.intp], start: NDArray[Any], sizes: NDArray[Any]) -> list[list[int]]:
    """Join neighbouring columns of one most common label; none where that takes many runs."""
    runs: list[list[int]] = []
    for at, (a, size) in enumerate(zip(start, sizes, strict=True)):
        values, counts = np.unique(labels[a : a + size], return_counts=True)
        label = int(values[counts.argmax()])
        if runs and runs[-1][0] == label:
            runs[-1][2] += 1
        else:
            runs.append([label, at, 1])
    return runs if len(runs) <= _MAX_RUNS else []
