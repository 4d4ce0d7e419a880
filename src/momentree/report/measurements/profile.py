"""The means and shares of all features in all groups, as text for the page and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from momentree._types import Floats
from momentree.report.disclosure import SMALL, Disclosure
from momentree.report.measurements.features import Feature
from momentree.report.numbers import NO_VALUE, fixed

HIDDEN_MARK = "*"
_ABOVE, _BELOW = 50, 240
"""Hues of values above and below that of all records."""
_STRONGEST, _FULL = 1.5, 80
"""Difference in standard deviations that has the strongest color."""


def describe_profile(
    features: Sequence[Feature], order: Sequence[int], k: int, sizes: Floats, disclosure: Disclosure
) -> list[dict[str, Any]]:
    """Return a row for each number and each class of a category, in the given order.

    Each has a ``name``, ``within`` (whether it is a class), the ``feature``, and ``cells``, for all
    records and each group: ``text``, ``small`` (the interval, or the standard deviation of all),
    ``v`` and ``hue`` (strength and hue of the color). A category has a row of its own without cells
    before its classes.
    """
    rows: list[dict[str, Any]] = []
    for at in order:
        feature = features[at]
        entry = feature.entry
        unit = f" ({entry['unit']})" if entry["unit"] else ""
        row = {"name": entry["name"] + unit, "within": False, "feature": at, "cells": []}
        rows.append(row)
        if feature.moments is not None:
            row["cells"] = _means(entry["numbers"])
        elif entry["binary"]:
            row["name"] = f"{entry['name']}: {entry['words'][1]}"
            row["cells"] = _shares(entry, 0, k, sizes, disclosure)
        else:
            rows += [
                {
                    "name": one["name"],
                    "within": True,
                    "feature": at,
                    "cells": _shares(entry, place, k, sizes, disclosure),
                }
                for place, one in enumerate(entry["classes"])
            ]
    return rows


def _means(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    whole = numbers["all"]
    cells = [_cell(HIDDEN_MARK if whole is None else _number(whole["mean"], whole["digits"]))]
    if whole is not None:
        cells[0]["text"] = ("≈ " if whole["estimated"] else "") + cells[0]["text"]
        cells[0]["small"] = f"SD {_number(whole['sd'], whole['digits'])}"
    for entry, hidden in zip(numbers["groups"], numbers["hidden"], strict=True):
        if entry is None:
            cells.append(_cell(HIDDEN_MARK if hidden else NO_VALUE))
            continue
        cell = _cell(_number(entry["mean"], entry["digits"]))
        low, high = (_number(value, entry["digits"]) for value in entry["interval"])
        cell["small"] = f"{low} to {high}"
        if whole is not None and whole["sd"] > 0:
            cell |= _color((entry["mean"] - whole["mean"]) / whole["sd"])
        cells.append(cell)
    return cells


def _shares(
    entry: Mapping[str, Any], at: int, k: int, sizes: Floats, disclosure: Disclosure
) -> list[dict[str, Any]]:
    base, estimated = disclosure.class_rate(entry, at, range(k), sizes)
    cells = [_cell(share_text(base, estimated=estimated))]
    spread = np.sqrt(base * (1.0 - base))
    for group, count in enumerate(entry["classes"][at]["counts"]):
        if count < 0:
            cells.append(_cell(disclosure.symbol if count == SMALL else HIDDEN_MARK))
            continue
        rate, estimated = disclosure.class_rate(entry, at, [group], sizes)
        cell = _cell(share_text(rate, estimated=estimated))
        if spread > 0 and np.isfinite(rate):
            cell |= _color(float((rate - base) / spread))
        cells.append(cell)
    return cells


def share_text(rate: float, *, estimated: bool) -> str:
    """Return a share as a percentage, with a mark if it is an estimate."""
    if not np.isfinite(rate):
        return NO_VALUE
    return f"{'≈ ' if estimated else ''}{fixed(100.0 * rate, 1)}%"


def _cell(text: str) -> dict[str, Any]:
    return {"text": text, "small": "", "v": 0, "hue": 90}


def _color(difference: float) -> dict[str, int]:
    v = round(_FULL * min(abs(difference) / _STRONGEST, 1.0))
    return {"v": v, "hue": _ABOVE if difference > 0 else _BELOW}


def _number(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}"


def stacked(profile: Sequence[Mapping[str, Any]], at: int, k: int) -> list[list[float]] | None:
    """Return the widths, from 0 to 1, of the classes of a category, for all and each group.

    None if too much of it is hidden to draw.
    """
    rows = [row for row in profile if row["feature"] == at and row["cells"]]
    widths = [[_share_of(row["cells"][group]["text"]) for row in rows] for group in range(k + 1)]
    if any(width is None for width in widths[0]):
        return None
    return [[width or 0.0 for width in group] for group in widths]


def _share_of(text: str) -> float | None:
    number = text.removeprefix("≈ ").removesuffix("%")
    try:
        return float(number) / 100.0
    except ValueError:
        return None
