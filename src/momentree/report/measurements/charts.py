"""Charts of measurements: the table of means, boxes of quantiles, and pairs of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.report.disclosure import HIDDEN_MARK, SMALL
from momentree.report.groups import Groups
from momentree.report.measurements.features import Feature
from momentree.report.text import NO_VALUE, share_text

if TYPE_CHECKING:
    from momentree.datasets import Measurements

MAX_PAIRED = 4
MAX_POINTS = 2_000
_SAME = 0.95
"""Features with a larger correlation show the same."""
_SIDE = 100.0
_HALF, _NEARLY_ALL = 1.1774, 2.1460
"""Radii of ellipses that contain 50% and 90% of a normal distribution."""
_TICKS = 4
_ABOVE, _BELOW = 50, 240
"""Hues of values above and below that of all records."""
_STRONGEST, _FULL = 1.5, 80
"""Difference in standard deviations that has the strongest color."""


def ticks(low: float, high: float, most: int = _TICKS) -> list[float]:
    """Return at most `most` + 1 round numbers between two numbers.

    Examples
    --------
    >>> from momentree.report.measurements.charts import ticks
    >>> ticks(0.1, 7.9)
    [2.0, 4.0, 6.0]
    """
    span = high - low
    if not (np.isfinite(span) and span > 0):
        return [low]
    power = float(10.0 ** np.floor(np.log10(span / most)))
    step = float(next(power * s for s in (1, 2, 5, 10) if span / (power * s) <= most))
    first = np.ceil(low / step - 1e-9)
    return [float(i * step) + 0.0 for i in np.arange(first, np.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class _Axis:
    """A scale of a chart from 0 to 100."""

    low: float
    high: float

    def scaled(self, difference: Any) -> Any:
        return _SIDE * difference / (self.high - self.low)

    def place(self, value: float) -> float:
        return float(round(self.scaled(value - self.low), 2))

    def ticks(self) -> list[list[Any]]:
        return [[self.place(value), f"{value:,.10g}"] for value in ticks(self.low, self.high)]


def boxes(feature: Feature) -> dict[str, Any] | None:
    """Return the boxes of a number per group, as positions from 0 to 100; None if none is shown.

    ``rows`` has one entry for all records and one for each group: positions of the median, the
    quartiles, the tails (or None) and the mean with its interval; or None if it is hidden.
    """
    numbers = feature.entry["numbers"]
    shown = [numbers["all"], *numbers["groups"]]
    known = [entry for entry in shown if entry is not None]
    if not known:
        return None
    tails = [entry["tails"] or (entry["low"], entry["high"]) for entry in known]
    ends = [end for pair in (*tails, *(entry["interval"] for entry in known)) for end in pair]
    pad = 0.04 * (max(ends) - min(ends)) or 1.0
    axis = _Axis(min(ends) - pad, max(ends) + pad)
    rows = [
        entry
        and {
            **{key: axis.place(entry[key]) for key in ("low", "median", "high", "mean")},
            "tails": entry["tails"] and [axis.place(value) for value in entry["tails"]],
            "interval": [axis.place(value) for value in entry["interval"]],
        }
        for entry in shown
    ]
    return {"rows": rows, "ticks": axis.ticks()}


def choose_pairs(features: Sequence[Feature], table: Measurements) -> list[int]:
    """Return up to four numeric features that separate groups best, and are not the same."""
    columns = list(table.columns.values())
    chosen: list[int] = []
    for at in sorted(range(len(features)), key=lambda at: (-features[at].entry["separation"], at)):
        if features[at].moments is None or not features[at].entry["separation"]:
            continue
        column = columns[features[at].column]
        others = (columns[features[other].column] for other in chosen)
        if all(abs(_correlation(column, other)) < _SAME for other in others):
            chosen.append(at)
        if len(chosen) == MAX_PAIRED:
            break
    return chosen if len(chosen) > 1 else []


def _correlation(a: Floats, b: Floats) -> float:
    known = np.isfinite(a) & np.isfinite(b)
    x, y = a[known], b[known]
    if len(x) < 3 or not (np.ptp(x) and np.ptp(y)):
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def pairs(
    features: Sequence[Feature], table: Measurements, groups: Groups, *, include_records: bool
) -> dict[str, Any] | None:
    """Return the pair plot of chosen features: ellipses of groups, and points if permitted.

    ``panels`` has one entry for each pair (row below column): ``x``, ``y`` (places in ``features``)
    and, for each group, ``ellipse`` (center, radii and degrees, on a square of side 100 whose y
    grows downward, or None) and ``points``. Groups with fewer than `min_cell` known pairs, or a
    hidden mean, have no ellipse.
    """
    chosen = choose_pairs(features, table)
    if len(chosen) < 2:
        return None
    columns = list(table.columns.values())
    plotted = [features[j] for j in chosen]
    values = [columns[feature.column][table.enough] for feature in plotted]
    axes = [_axis(feature) for feature in plotted]
    rows = _sampled(groups) if include_records else np.empty(0, dtype=np.intp)
    panels = []
    for i in range(1, len(chosen)):
        for j in range(i):
            panel = _Panel(
                plotted[j], plotted[i], np.stack([values[j], values[i]]), axes[j], axes[i], groups
            )
            drawn = [
                {"ellipse": panel.ellipse(group), "points": panel.points(group, rows)}
                for group in range(groups.k)
            ]
            panels.append({"x": j, "y": i, "groups": drawn})
    return {
        "features": chosen,
        "axes": [{"ticks": axis.ticks()} for axis in axes],
        "panels": panels,
        "radii": [_HALF, _NEARLY_ALL],
        "n_points": len(rows),
    }


def _axis(feature: Feature) -> _Axis:
    """Return an axis from published numbers: it must not show the extremes."""
    known = [entry for entry in feature.entry["numbers"]["groups"] if entry is not None]
    low = min(entry["mean"] - 2.5 * entry["sd"] for entry in known)
    high = max(entry["mean"] + 2.5 * entry["sd"] for entry in known)
    return _Axis(low, high) if high > low else _Axis(low - 1.0, low + 1.0)


@dataclass(frozen=True)
class _Panel:
    """Two features of a pair plot: x to the right, y upward."""

    x: Feature
    y: Feature
    values: Floats  # (2, n)
    x_axis: _Axis
    y_axis: _Axis
    groups: Groups

    def points(self, group: int, rows: Ints) -> list[list[float]]:
        rows = rows[self.groups.labels[rows] == group]
        x, y = self.values[:, rows[np.isfinite(self.values[:, rows]).all(axis=0)]].tolist()
        placed = [
            [round(self.x_axis.place(a), 1), round(round(_SIDE - self.y_axis.place(b), 2), 1)]
            for a, b in zip(x, y, strict=True)
        ]
        return [[a, b] for a, b in placed if 0 <= a <= _SIDE and 0 <= b <= _SIDE]

    def ellipse(self, group: int) -> dict[str, Any] | None:
        """Return the ellipse of a group; from published means if a number is suppressed."""
        disclosure = self.groups.disclosure
        if group in self.x.hidden | self.y.hidden:
            return None
        inside = self.values[:, self.groups.labels == group]
        known = np.isfinite(inside).all(axis=0)
        if int(known.sum()) < max(disclosure.min_cell, 3):
            return None
        x, y = inside[:, known]
        at = np.stack(
            [
                self.x_axis.scaled(x - self.x_axis.low),
                _SIDE - self.y_axis.scaled(y - self.y_axis.low),
            ]
        )
        center, covariance = at.mean(axis=1), np.cov(at)
        if min(feature.entry["missing"][group] for feature in (self.x, self.y)) < 0:
            a, b = (feature.entry["numbers"]["groups"][group] for feature in (self.x, self.y))
            center = np.array([self.x_axis.place(a["mean"]), _SIDE - self.y_axis.place(b["mean"])])
            s, t = self.x_axis.scaled(a["sd"]), self.y_axis.scaled(b["sd"])
            r = np.nan_to_num(np.round(_correlation(*at), disclosure.decimals(inside.shape[1])))
            covariance = np.array([[s * s, r * s * t], [r * s * t, t * t]])
        variances, vectors = np.linalg.eigh(covariance)
        radii = np.sqrt(np.maximum(variances[::-1], 1e-4))
        angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
        return {
            "center": [round(float(v), 1) for v in center],
            "radii": [round(float(v), 1) for v in radii],
            "degrees": round(angle % 180.0, 1),
        }


def _sampled(groups: Groups) -> Ints:
    """Return at most 2,000 records, spread evenly over each group."""
    share = min(1.0, MAX_POINTS / max(len(groups.labels), 1))
    kept = []
    for group in range(groups.k):
        rows = np.flatnonzero(groups.labels == group)
        n = min(len(rows), max(1, int(share * len(rows)))) if len(rows) else 0
        kept.append(rows[np.linspace(0, len(rows) - 1, n).astype(np.intp)] if n else rows)
    return np.sort(np.concatenate(kept)).astype(np.intp)


def describe_profile(
    features: Sequence[Feature], order: Sequence[int], groups: Groups
) -> list[dict[str, Any]]:
    """Return a row for each number and each class of a category, in the given order.

    Each has a ``name``, ``within`` (whether it is a class), the ``feature``, and ``cells``, for all
    records and each group: ``text``, ``small`` (the interval, or the standard deviation of all),
    ``v`` and ``hue`` (strength and hue of the color). A category has a row of its own without cells
    before its classes.
    """
    rows: list[dict[str, Any]] = []
    for at in order:
        entry = features[at].entry
        unit = f" ({entry['unit']})" if entry["unit"] else ""
        row = {"name": entry["name"] + unit, "within": False, "feature": at, "cells": []}
        rows.append(row)
        if features[at].moments is not None:
            row["cells"] = _means(entry["numbers"])
        elif entry["binary"]:
            row["name"] = f"{entry['name']}: {entry['words'][1]}"
            row["cells"] = _shares(entry, 0, groups)
        else:
            for place, one in enumerate(entry["classes"]):
                cells = _shares(entry, place, groups)
                rows.append({"name": one["name"], "within": True, "feature": at, "cells": cells})
    return rows


def _means(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    whole, cells = numbers["all"], [_cell(HIDDEN_MARK)]
    if whole is not None:
        mean, sd = (_number(whole[key], whole["digits"]) for key in ("mean", "sd"))
        cells = [{**_cell(("≈ " if whole["estimated"] else "") + mean), "small": f"SD {sd}"}]
    for entry, hidden in zip(numbers["groups"], numbers["hidden"], strict=True):
        if entry is None:
            cells.append(_cell(HIDDEN_MARK if hidden else NO_VALUE))
            continue
        cell = _cell(_number(entry["mean"], entry["digits"]))
        cell["small"] = " to ".join(_number(end, entry["digits"]) for end in entry["interval"])
        if whole is not None and whole["sd"] > 0:
            cell |= _color((entry["mean"] - whole["mean"]) / whole["sd"])
        cells.append(cell)
    return cells


def _shares(entry: Mapping[str, Any], at: int, groups: Groups) -> list[dict[str, Any]]:
    disclosure, sizes = groups.disclosure, groups.estimates
    base, estimated = disclosure.class_rate(entry, at, range(groups.k), sizes)
    cells = [_cell(share_text(base, estimated=estimated))]
    spread = np.sqrt(base * (1.0 - base))
    for count, rate, guess in zip(
        entry["classes"][at]["counts"], *disclosure.group_rates(entry, at, sizes), strict=True
    ):
        if count < 0:
            cells.append(_cell(disclosure.symbol if count == SMALL else HIDDEN_MARK))
            continue
        cell = _cell(share_text(rate, estimated=guess))
        if spread > 0 and np.isfinite(rate):
            cell |= _color(float((rate - base) / spread))
        cells.append(cell)
    return cells


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
