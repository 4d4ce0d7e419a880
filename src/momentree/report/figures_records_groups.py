"""Figures of groups as wholes: their sizes, the rates of an outcome, and stability of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from momentree.exceptions import InvalidDataError
from momentree.metrics import GroupProfiles, OutcomeRates
from momentree.report.figures_records_canvas import (
    INK,
    LINE,
    SOFT,
    bare,
    check_colors,
    check_labels_of,
    check_min_cell,
    hidden_sizes,
    is_small,
    mark_panels,
    new_axes,
    nice_top,
    plain,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_group_sizes", "plot_outcome_rates", "plot_stability"]

_ROW = 0.3
_PANEL = 0.86
_MOST_ACROSS = 6
_BETWEEN = 2.0
"""Rows left free between two blocks of classes: for the names of the classes."""
_BLUE = "#0072b2"


def plot_group_sizes(
    profiles: GroupProfiles,
    ax: Axes | None = None,
    *,
    group_names: Sequence[Any] | None = None,
    colors: Sequence[Any] | None = None,
    min_cell: int | None = 5,
) -> Axes:
    """Draw the share of records in each group with its interval.

    Parameters
    ----------
    profiles : GroupProfiles
        From :func:`momentree.metrics.group_profiles`.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure with a height that fits.
    group_names : sequence of length k, default=None
        Names of the groups; None is their numbers.
    colors : sequence of length k, default=None
        Colours of the groups, such as :func:`group_colors` gives; None is those of flat groups.
    min_cell : int >= 1 or None, default=5
        Groups of fewer records have no bar, and nor has the smallest other one, which would tell
        them; None draws all.

    Returns
    -------
    Axes
        A bar for each group, with its number of records beside it; "<5" and "*" stand for those
        that are hidden.

    Raises
    ------
    InvalidDataError
        If names or colours are not as many as groups.
    InvalidParameterError
        When ``min_cell`` < 1.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.metrics import group_profiles
    >>> from momentree.report import plot_group_sizes
    >>> profiles = group_profiles(np.ones((40, 1)), np.repeat([0, 1], [30, 10]))
    >>> [text.get_text() for text in plot_group_sizes(profiles).texts]
    ['30', '10']
    """
    k = len(profiles.sizes)
    names = check_labels_of("group_names", group_names, k)
    ax = new_axes(6.4, _ROW * k + 0.8) if ax is None else ax
    rows = np.arange(k)
    hidden = hidden_sizes(profiles.n_records, check_min_cell(min_cell))
    seen = np.array([sign is None for sign in hidden])
    low, high = 100.0 * np.where(seen, profiles.share_intervals.T, 0.0)
    shares = 100.0 * np.where(seen, profiles.shares, 0.0)
    ax.barh(rows, shares, height=0.72, color=check_colors(colors, k))
    ax.hlines(rows[seen], low[seen], high[seen], color=INK, linewidth=1.1)
    for row, (end, size) in enumerate(zip(high, profiles.sizes, strict=True)):
        ax.annotate(
            hidden[row] or f"{size:,.0f}",
            (end, row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=INK,
        )
    ax.set_ylim(k - 0.4, -0.6)
    ax.set_xlim(0.0, 1.12 * float(high.max()) or 1.0)
    ax.set_yticks(rows, names, fontsize=9)
    ax.set_xlabel(f"% of records ({100 * profiles.confidence:g} % interval)", fontsize=9)
    bare(ax, "bottom")
    return ax


def plot_outcome_rates(
    rates: OutcomeRates,
    ax: Axes | None = None,
    *,
    group_names: Sequence[Any] | None = None,
    outcome: str = "outcome",
    colors: Sequence[Any] | None = None,
    min_cell: int | None = 5,
) -> Axes:
    """Draw how often an outcome occurs in each group, against the whole.

    Parameters
    ----------
    rates : OutcomeRates
        From :func:`momentree.metrics.outcome_rates`.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure of a size that fits.
    group_names : sequence of length k, default=None
        Names of the groups; None is their numbers.
    outcome : str, default="outcome"
        What the outcome is called.
    colors : sequence of length k, default=None
        Colours of the groups, such as :func:`group_colors` gives; None is those of flat groups.
    min_cell : int >= 1 or None, default=5
        Smaller numbers of records above zero, and what is computed from them, are not drawn;
        None draws all.

    Returns
    -------
    Axes
        A row for each group and a column for each class, all on the same scale; more than six
        classes stand in several blocks, one below the other. The point is the rate, the line
        through it the interval, the upright line the rate of all records; "<5" is a hidden one.

    Raises
    ------
    InvalidDataError
        If names or colours are not as many as groups, or no outcome is known.
    InvalidParameterError
        When ``min_cell`` < 1.

    Notes
    -----
    What is hidden is not protected against subtraction, as it is in the report: of two classes
    that are all there are, one tells the other.

    Examples
    --------
    >>> from momentree.metrics import outcome_rates
    >>> from momentree.report import plot_outcome_rates
    >>> rates = outcome_rates([0, 0, 1, 1], [True, False, True, True])
    >>> plot_outcome_rates(rates, outcome="died").get_xlabel()
    'died: True (95 % interval; upright: all records)'
    """
    k, c = rates.rates.shape
    if not c:
        msg = "no outcome is known of these records; choose an outcome with values"
        raise InvalidDataError(msg)
    names = check_labels_of("group_names", group_names, k)
    least = check_min_cell(min_cell)
    fills = np.array(check_colors(colors, k), dtype=object)
    small = is_small(rates.counts, least)
    blocks = -(-c // _MOST_ACROSS)
    across = -(-c // blocks)
    apart = k + _BETWEEN
    if ax is None:
        width = 4.0 if c == 1 else 1.7 * across
        ax = new_axes(2.4 + width, _ROW * (apart * blocks - _BETWEEN) + 1.0)
    rows = np.arange(k)
    top = nice_top(np.where(small[..., None], np.nan, rates.intervals))
    scale = _PANEL / top
    for j in range(c):
        x, y = j % across, rows + apart * (j // across)
        ends = [y[0] - 0.6, y[-1] + 0.6]
        ax.plot([x, x], ends, color=LINE, linewidth=0.8, zorder=0)
        whole = rates.counts[:, j].sum()
        if np.isfinite(rates.overall[j]) and not is_small(whole, least) and rates.overall[j] <= top:
            at = x + rates.overall[j] * scale
            ax.plot([at, at], ends, color=SOFT, linewidth=1.0, zorder=0)
        seen = ~small[:, j]
        low, high = rates.intervals[seen, j].T * scale + x
        ax.hlines(y[seen], low, high, color=INK, linewidth=1.2, zorder=2)
        ax.scatter(
            rates.rates[seen, j] * scale + x,
            y[seen],
            s=42,
            color=list(fills[seen]),
            edgecolors=INK,
            zorder=3,
            clip_on=False,  # of a point at 0 % half is beyond the axis
        )
        for row in y[~seen]:
            ax.text(x + 0.02, row, f"<{least}", va="center", fontsize=8, color=SOFT)
        if c > 1:
            title = plain(rates.classes[j], 22)
            ax.text(x, y[0] - 0.8, title, va="bottom", fontsize=8, color=INK)
    ax.set_ylim(apart * blocks - _BETWEEN - 0.4, -0.6)
    ax.set_xlim(-0.02, across)
    places = np.concatenate([rows + apart * block for block in range(blocks)])
    ax.set_yticks(places, names * blocks, fontsize=9)
    steps = {0.2: 4, 0.3: 3, 0.4: 4, 0.6: 3, 0.8: 4}.get(top, 5)
    mark_panels(ax, across, _PANEL, top, steps if c == 1 else 1)
    what = plain(outcome) if c > 1 else f"{plain(outcome)}: {plain(rates.classes[0])}"
    what += f" ({100 * rates.confidence:g} % interval; upright: all records)"
    ax.set_xlabel(what, fontsize=9)
    bare(ax)
    return ax


def plot_stability(scores: Mapping[str, ArrayLike], ax: Axes | None = None) -> Axes:
    """Draw the stability of several methods, each repeat a dot.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_repeats,)
        Scores of each method, such as :func:`momentree.metrics.stability_score` gives for an
        estimator. Numbers of repeats may differ.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure with a height that fits.

    Returns
    -------
    Axes
        The most stable method first, with the mean and the standard deviation of its repeats.

    Raises
    ------
    InvalidDataError
        If there is no method, or one has no scores or other values than finite numbers.

    Examples
    --------
    >>> from momentree.report import plot_stability
    >>> ax = plot_stability({"k-means": [0.4, 0.6], "tree": [0.9, 1.0]})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['tree', 'k-means']
    """
    table = {name: np.atleast_1d(np.asarray(v, dtype=np.float64)) for name, v in scores.items()}
    bad = [name for name, v in table.items() if not v.size or not np.isfinite(v).all()]
    if bad or not table:
        what = f"no finite numbers for {bad[0]!r}" if bad else "no method"
        msg = f"scores hold {what}; give each method one finite score or more"
        raise InvalidDataError(msg)
    order = sorted(table, key=lambda name: -float(table[name].mean()))
    ax = new_axes(6.4, _ROW * len(order) + 0.8) if ax is None else ax
    for row, name in enumerate(order):
        values = table[name]
        mean, spread = float(values.mean()), float(values.std())
        ax.plot([mean - spread, mean + spread], [row, row], color=LINE, linewidth=7, zorder=1)
        ax.scatter(values, np.full(len(values), row), s=14, color=SOFT, zorder=2, linewidths=0)
        ax.plot([mean, mean], [row - 0.3, row + 0.3], color=_BLUE, linewidth=2.2, zorder=3)
        text = f"{mean:.2f} ± {spread:.2f}"
        side = ax.get_yaxis_transform()
        ax.text(1.02, row, text, transform=side, va="center", fontsize=8, color=INK)
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_xlim(min(0.0, 1.05 * min(float(v.min()) for v in table.values())), 1.0)
    ax.set_yticks(np.arange(len(order)), [plain(name) for name in order], fontsize=9)
    ax.set_xlabel("stability (adjusted Rand index on the common records)", fontsize=9)
    bare(ax, "bottom")
    return ax
