"""Sort documents for the chart of topic proportions, by numbers or by dates."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.exceptions import InvalidDataError
from momentree.report.text import clean_text, snippet

_MAX_VALUE = 60


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
        raise InvalidDataError("not_a_list", parameter="order", type=type(order).__name__)
    if len(order) != n:
        raise InvalidDataError(
            "not_one_each", parameter="order", found=len(order), needed=n, of="document"
        )
    name = clean_text(getattr(order, "name", None) or "order")
    values = pd.Series(list(order), dtype=object)
    known = ~(values.isna() | (values.map(str).str.strip() == ""))
    if not known.any():
        raise InvalidDataError("no_values_to_order_by", name=name)
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
    found = [keys for keys in readings if keys is not None]
    if len(found) == 2 and (found[0] != found[1]).any():
        raise InvalidDataError("ambiguous_dates", name=name, value=str(values.iloc[0]))
    if found:
        return found[0]
    value = snippet(str(values[~finite].iloc[0]), _MAX_VALUE)
    raise InvalidDataError("not_a_time", name=name, value=value)


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
    return snippet(text.removesuffix(" 00:00:00"), _MAX_VALUE)
