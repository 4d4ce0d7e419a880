"""Lay out the diagram of states: circles sized by share, arrows by probability."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from momentree._types import Floats
from momentree.report.text import whole_percent

WIDTH, HEIGHT = 1100, 620
_RADIUS_X, _RADIUS_Y = 310.0, 215.0
_LARGEST, _SMALLEST = 52.0, 0.4
"""Radius of the largest circle, and of the smallest possible one as a part of it."""
_OF_GAP = 0.36
"""The largest circle as a part of the shortest distance between neighbors."""
_STEEP = 0.75
"""Names stand above or below a circle if the sine of its direction is at least this."""
_BEND = 0.16
"""How far an arrow bends to its left, in lengths, so that two states have two arrows."""
_THICKEST = 12.0
_FAINT = 0.05
"""Less likely moves have no arrow, except for the most likely one from each state."""
_MAX_STATES = 12
_LINE, _LINE_HEIGHT = 26, 17.0
"""Characters in a line of a name."""


def state_diagram(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return circles and arrows in SVG units; None for one state, or for too many to be read."""
    k = summary["n_leaves"]
    if not 2 <= k <= _MAX_STATES:
        return None
    moves = np.array(
        [[np.nan if p is None else p for p in row] for row in summary["transmat"]], dtype=float
    )
    nodes = {node["leaf"]: node for node in summary["nodes"] if node["leaf"] is not None}
    shares = np.array([nodes[j]["share"] for j in range(k)])
    places = _places(np.nan_to_num(moves) * shares[:, None])
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + np.diag(np.full(k, np.inf))
    largest = min(_LARGEST, _OF_GAP * float(gaps.min()))
    radius = largest * (_SMALLEST + (1.0 - _SMALLEST) * np.sqrt(shares / shares.max()))
    arrows = [
        _arrow(a, b, float(moves[a, b]), places, radius)
        for a, b in zip(*np.nonzero(_drawn(moves)), strict=True)
    ]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "least": whole_percent(_FAINT),
        "states": [
            {
                "node": nodes[j]["id"],
                "leaf": j,
                "hue": nodes[j]["cell"]["hue"],
                "x": round(float(places[j, 0]), 1),
                "y": round(float(places[j, 1]), 1),
                "r": round(float(radius[j]), 1),
                **_name(places[j], float(radius[j]), nodes[j]["name_parts"]),
            }
            for j in range(k)
        ],
        "arrows": sorted(arrows, key=lambda arrow: arrow["width"]),
    }


def _drawn(moves: Floats) -> Any:
    """Return which moves have an arrow."""
    others = np.nan_to_num(moves) * (1.0 - np.eye(len(moves)))
    best = (others == others.max(axis=1, keepdims=True)) & (others >= _FAINT / 10)
    return (others >= _FAINT) | best


def _places(weights: Floats) -> Floats:
    """Place states on an ellipse, so that those with many moves between them are neighbors."""
    k = len(weights)
    between = weights + weights.T
    # One state at the top, or two: nothing is drawn above them but their names.
    angle = 2.0 * np.pi * np.arange(k) / k - np.pi / 2.0 + (0 if k % 2 else np.pi / k)
    spots = np.stack(
        [WIDTH / 2 + _RADIUS_X * np.cos(angle), HEIGHT / 2 + _RADIUS_Y * np.sin(angle)], axis=1
    )
    distance = np.linalg.norm(spots[:, None] - spots[None], axis=2)
    order = np.arange(k)

    def cost(order: Any) -> float:
        return float((between[np.ix_(order, order)] * distance).sum())

    improved = True
    while improved:
        improved = False
        for a in range(k):
            for b in range(a + 1, k):
                swapped = order.copy()
                swapped[[a, b]] = order[[b, a]]
                if cost(swapped) < cost(order) * (1.0 - 1e-9):
                    order, improved = swapped, True
    places = np.empty_like(spots)
    places[order] = spots
    return places


def _arrow(a: int, b: int, p: float, places: Floats, radius: Floats) -> dict[str, Any]:
    """Return the curve, head and label of an arrow between two circles."""
    start, end = places[a], places[b]
    along = end - start
    length = float(np.hypot(*along))
    left = np.array([along[1], -along[0]]) / length
    middle = (start + end) / 2.0 + left * (_BEND * length)
    width = max(1.2, _THICKEST * p)
    head = 6.0 + 1.1 * width
    out = _unit(middle - start)
    into = _unit(end - middle)
    first = start + out * (radius[a] + 3.0)
    tip = end - into * (radius[b] + 4.0)
    neck = tip - into * head
    side = np.array([into[1], -into[0]]) * (head * 0.55)
    label = (
        0.25 * first + 0.5 * middle + 0.25 * neck + left * (9.0 + width / 2.0 + 9.0 * abs(left[0]))
    )
    return {
        "from": int(a),
        "to": int(b),
        "d": f"M{_point(first)}Q{_point(middle)} {_point(neck)}",
        "head": f"{_point(tip)} {_point(neck + side)} {_point(neck - side)}",
        "width": round(width, 1),
        "x": round(float(label[0]), 1),
        "y": round(float(label[1]) + 5.0, 1),
        "text": whole_percent(p),
    }


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / max(math.hypot(*vector), 1e-9))


def _point(at: Floats) -> str:
    return f"{at[0]:.1f} {at[1]:.1f}"


def _name(place: Floats, radius: float, parts: list[str]) -> dict[str, Any]:
    """Return a name in two lines, outside of the circle of states, where no arrow is."""
    lines = [parts[0], " · ".join(parts[1:])]
    lines = [
        line if len(line) <= _LINE else f"{line[: _LINE - 1].rstrip()}…" for line in lines if line
    ]
    across = float(place[0] - WIDTH / 2) / _RADIUS_X
    down = float(place[1] - HEIGHT / 2) / _RADIUS_Y
    x, y = float(place[0]), float(place[1])
    height = _LINE_HEIGHT * len(lines)
    if abs(down) >= _STEEP:
        y += radius + 18.0 if down > 0 else 9.0 - radius - height
    else:
        x += math.copysign(radius + 9.0, across)
        y += 14.0 - height / 2
    anchor = "middle" if abs(across) < 0.1 else "start" if across > 0 else "end"
    return {"name_x": round(x, 1), "name_y": round(y, 1), "anchor": anchor, "lines": lines}
