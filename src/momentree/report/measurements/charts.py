"""Geometry of the charts of measurements: boxes of quantiles, and pairs of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.report.disclosure import Disclosure
from momentree.report.measurements.features import Feature
from momentree.report.text import clean_text

if TYPE_CHECKING:
    from momentree.datasets import Measurements

MOST_PAIRED = 4
MOST_POINTS = 2_000
_SAME = 0.95
"""Features with a larger correlation show the same."""
_SIDE = 100.0
_HALF, _MOST = 1.1774, 2.1460
"""Radii of ellipses that contain 50% and 90% of a normal distribution."""
_TICKS = 4


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


def boxes(feature: Feature, k: int) -> dict[str, Any] | None:
    """Return the boxes of a number per group, as positions from 0 to 100; None if none is shown.

    ``rows`` has one entry for all records and one for each group: positions of the median, the
    quartiles, the tails (or None) and the mean with its interval; or None if it is hidden.
    """
    numbers = feature.entry["numbers"]
    shown = [numbers["all"], *(numbers["groups"][group] for group in range(k))]
    known = [entry for entry in shown if entry is not None]
    if not known:
        return None
    ends = [
        value
        for entry in known
        for value in (*(entry["tails"] or (entry["low"], entry["high"])), *entry["interval"])
    ]
    low, high = min(ends), max(ends)
    pad = 0.04 * (high - low) or 1.0
    low, high = low - pad, high + pad

    def at(value: float) -> float:
        return float(round(100.0 * (value - low) / (high - low), 2))

    rows = [
        entry
        and {
            "low": at(entry["low"]),
            "median": at(entry["median"]),
            "high": at(entry["high"]),
            "tails": entry["tails"] and [at(value) for value in entry["tails"]],
            "mean": at(entry["mean"]),
            "interval": [at(value) for value in entry["interval"]],
        }
        for entry in shown
    ]
    found = ticks(low, high)
    return {"rows": rows, "ticks": [[at(value), f"{value:,.10g}"] for value in found]}


def choose_pairs(features: Sequence[Feature], table: Measurements) -> list[int]:
    """Return up to four numeric features that separate groups best, and are not the same."""
    order = sorted(
        (at for at, f in enumerate(features) if f.moments is not None and f.entry["separation"]),
        key=lambda at: (-features[at].entry["separation"], at),
    )
    columns = list(table.columns.values())
    names = {clean_text(name): j for j, name in enumerate(table.columns)}
    chosen: list[int] = []
    for at in order:
        column = columns[names[features[at].entry["name"]]]
        others = (columns[names[features[other].entry["name"]]] for other in chosen)
        if all(abs(_correlation(column, other)) < _SAME for other in others):
            chosen.append(at)
        if len(chosen) == MOST_PAIRED:
            break
    return chosen if len(chosen) > 1 else []


def _correlation(a: Floats, b: Floats) -> float:
    known = np.isfinite(a) & np.isfinite(b)
    x, y = a[known], b[known]
    if len(x) < 3 or not (np.ptp(x) and np.ptp(y)):
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def pairs(
    features: Sequence[Feature],
    chosen: Sequence[int],
    table: Measurements,
    labels: Ints,
    k: int,
    disclosure: Disclosure,
    *,
    include_records: bool,
) -> dict[str, Any] | None:
    """Return the pair plot of chosen features: ellipses of groups, and points if permitted.

    ``panels`` has one entry for each pair (row below column): ``x``, ``y`` (places in ``features``)
    and, for each group, ``ellipse`` (center, radii and degrees, on a square of side 100 whose y
    grows downward, or None) and ``points``. Groups with fewer than `min_cell` known pairs, or a
    hidden mean, have no ellipse.
    """
    if len(chosen) < 2:
        return None
    names = {clean_text(name): name for name in table.columns}
    values = [table.columns[names[features[j].entry["name"]]][table.enough] for j in chosen]
    axes = [_axis(features[j], k) for j in chosen]
    rows = _sampled(labels, k) if include_records else np.empty(0, dtype=np.intp)
    panels = []
    for i in range(1, len(chosen)):
        for j in range(i):
            groups = []
            for group in range(k):
                hidden = {group} & (features[chosen[i]].hidden | features[chosen[j]].hidden)
                inside = labels == group
                entries = [features[chosen[at]].entry for at in (j, i)]
                unsure = min(entry["missing"][group] for entry in entries) < 0
                published = [entry["numbers"]["groups"][group] for entry in entries]
                groups.append(
                    {
                        "ellipse": None
                        if hidden
                        else _ellipse(
                            values[j][inside],
                            values[i][inside],
                            axes[j],
                            axes[i],
                            disclosure,
                            published if unsure else None,
                        ),
                        "points": _points(
                            values[j], values[i], rows[labels[rows] == group], axes[j], axes[i]
                        ),
                    }
                )
            panels.append({"x": j, "y": i, "groups": groups})
    return {
        "features": list(chosen),
        "axes": [
            {"ticks": [[_place(v, axis), f"{v:,.10g}"] for v in ticks(*axis)]} for axis in axes
        ],
        "panels": panels,
        "radii": [_HALF, _MOST],
        "n_points": len(rows),
    }


def _axis(feature: Feature, k: int) -> tuple[float, float]:
    """Return the ends of an axis from published numbers: it must not show the extremes."""
    known = [e for e in feature.entry["numbers"]["groups"][:k] if e is not None]
    low = min(e["mean"] - 2.5 * e["sd"] for e in known)
    high = max(e["mean"] + 2.5 * e["sd"] for e in known)
    return (low, high) if high > low else (low - 1.0, low + 1.0)


def _place(value: float, axis: tuple[float, float]) -> float:
    return round(_SIDE * (value - axis[0]) / (axis[1] - axis[0]), 2)


def _ellipse(
    x: Floats,
    y: Floats,
    x_axis: tuple[float, float],
    y_axis: tuple[float, float],
    disclosure: Disclosure,
    published: Sequence[Any] | None,
) -> dict[str, Any] | None:
    """Return the ellipse of a group; from `published` means if a number of values is suppressed."""
    known = np.isfinite(x) & np.isfinite(y)
    if int(known.sum()) < max(disclosure.min_cell, 3):
        return None
    at = np.stack(
        [
            _SIDE * (x[known] - x_axis[0]) / (x_axis[1] - x_axis[0]),
            _SIDE - _SIDE * (y[known] - y_axis[0]) / (y_axis[1] - y_axis[0]),
        ]
    )
    center = at.mean(axis=1)
    covariance = np.cov(at)
    if published is not None:
        (a, b), (s, t) = ([entry[key] for entry in published] for key in ("mean", "sd"))
        center = np.array([_place(a, x_axis), _SIDE - _place(b, y_axis)])
        s, t = _SIDE * s / (x_axis[1] - x_axis[0]), _SIDE * t / (y_axis[1] - y_axis[0])
        r = np.nan_to_num(np.round(_correlation(*at), disclosure.decimals(len(x))))
        covariance = np.array([[s * s, r * s * t], [r * s * t, t * t]])
    values, vectors = np.linalg.eigh(covariance)
    radii = np.sqrt(np.maximum(values[::-1], 1e-4))
    angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
    return {
        "center": [round(float(v), 1) for v in center],
        "radii": [round(float(v), 1) for v in radii],
        "degrees": round(angle % 180.0, 1),
    }


def _points(
    x: Floats, y: Floats, rows: Ints, x_axis: tuple[float, float], y_axis: tuple[float, float]
) -> list[list[float]]:
    inside = rows[np.isfinite(x[rows]) & np.isfinite(y[rows])]
    found = [
        [_place(float(x[i]), x_axis), round(_SIDE - _place(float(y[i]), y_axis), 2)] for i in inside
    ]
    return [[round(a, 1), round(b, 1)] for a, b in found if 0 <= a <= _SIDE and 0 <= b <= _SIDE]


def _sampled(labels: Ints, k: int) -> Ints:
    """Return at most 2,000 records, spread evenly over each group."""
    share = min(1.0, MOST_POINTS / max(len(labels), 1))
    kept = []
    for group in range(k):
        rows = np.flatnonzero(labels == group)
        n = min(len(rows), max(1, int(share * len(rows)))) if len(rows) else 0
        kept.append(rows[np.linspace(0, len(rows) - 1, n).astype(np.intp)] if n else rows)
    return np.sort(np.concatenate(kept)).astype(np.intp)
