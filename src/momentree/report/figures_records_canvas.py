"""What figures of records share: colours, text that fits, axes without a box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.report.layout import leaf_color, spread_hue

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "INK",
    "LINE",
    "SOFT",
    "bare",
    "check_labels_of",
    "check_number",
    "group_color",
    "mark_panels",
    "new_axes",
    "nice_top",
    "percent",
    "plain",
]

INK, SOFT, LINE = "#20242a", "#6b7178", "#dedbd4"
_LONGEST = 44


def new_axes(width: float, height: float) -> Axes:
    """Return the axes of a new figure of a size in inches."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def plain(text: Any, longest: int = _LONGEST) -> str:
    """Return a text that is drawn as it is, in one line, cut where it is long."""
    line = " ".join(str(text).split())
    if len(line) > longest:
        line = line[: longest - 1].rstrip() + "…"
    # A dollar sign would start mathematics.
    return line.replace("$", r"\$")


def group_color(group: int) -> tuple[float, float, float]:
    """Return the colour of a group, that of topics in other figures and in the report."""
    return leaf_color(spread_hue(group))


def check_labels_of(
    what: str, names: Sequence[Any] | None, n: int, longest: int = _LONGEST
) -> list[str]:
    """Return n names that can be drawn, those given or numbers, cut where they are long.

    Raises
    ------
    InvalidDataError
        If there are not n.
    """
    if names is None:
        return [str(i) for i in range(n)]
    if len(names) != n:
        msg = f"{what} has {len(names)} names; expected {n}, one for each"
        raise InvalidDataError(msg)
    return [plain(name, longest) for name in names]


def check_number(name: str, value: int) -> None:
    """Check that a number of things to draw is one or more.

    Raises
    ------
    InvalidParameterError
        If it is not.
    """
    if value < 1:
        msg = f"{name} is {value!r} but must be at least 1"
        raise InvalidParameterError(msg)


def bare(ax: Axes, *keep: str) -> None:
    """Take the box away, but for the sides that are named, and make ticks quiet."""
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(side in keep)
        ax.spines[side].set_color(SOFT)
    ax.tick_params(length=0, colors=INK)


def nice_top(values: NDArray[np.float64]) -> float:
    """Return the end of a scale from 0 that holds shares: 0.05, 0.1, 0.2, ... 1."""
    top = float(np.nanmax(values, initial=0.0))
    steps = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    return next((step for step in steps if top <= step * 1.0001), 1.0)


def mark_panels(ax: Axes, n: int, width: float, top: float, inside: int = 1) -> None:
    """Write the scale of n columns below each: 0, the top at a width, and steps inside."""
    parts = np.linspace(0.0, 1.0, inside + 1)
    ticks = (np.arange(n)[:, None] + parts * width).ravel()
    ax.set_xticks(ticks, [percent(top * part) for part in parts] * n, fontsize=7 if n > 1 else 8)
    if n > 1:
        # Ends of neighbours are close: each stays inside its own column.
        for i, label in enumerate(ax.get_xticklabels()):
            label.set_horizontalalignment("right" if i % 2 else "left")


def percent(share: float) -> str:
    """Return a share as per cent with as many digits as it needs."""
    value = 100.0 * share
    if not np.isfinite(value):
        return "–"
    return f"{value:.0f} %" if value >= 10 or value == 0 else f"{value:.1f} %"
