"""Draw sizes of groups of records, rates of an outcome, and the stability of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from momentree.exceptions import InvalidDataError
from momentree.metrics import GroupProfiles, OutcomeRates
from momentree.report.disclosure import Disclosure
from momentree.report.estimators import check_fitted
from momentree.report.figures import canvas
from momentree.report.figures.canvas import BLUE, INK, LINE, PANEL, SOFT, plain
from momentree.report.groups import Groups
from momentree.report.layout import leaf_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.3
_MAX_ACROSS = 6
_BETWEEN = 2.0
"""Empty rows between two blocks of classes, for class names."""
_LONGEST_NAME, _MAX_CLASS = 44, 22


def group_colors(estimator: Any, *, min_cell: int = 5) -> list[tuple[float, float, float]]:
    """Return the colors that groups of records have on the page, for figures.

    Parameters
    ----------
    estimator : ClusterTree or BernoulliMixture
        Fitted.
    min_cell : int >= 1, default=5
        Value used for the page: colors of a tree depend on the sizes shown.

    Returns
    -------
    list of tuple
        Red, green and blue in [0, 1] for each group. In a tree, each branch is a family of colors.

    Raises
    ------
    InvalidDataError
        If every group is smaller than `min_cell`.
    InvalidParameterError
        If `min_cell` is below 1.
    NotFittedError
        If the estimator is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> import momentree as mt
    >>> from momentree.report import group_colors
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], [30, 20], axis=0)
    >>> len(group_colors(mt.ClusterTree(max_leaf_nodes=2).fit(X)))
    2
    """
    disclosure = Disclosure(min_cell)
    check_fitted(estimator, "labels_")
    groups = Groups.of(estimator, np.empty((0, 0)), disclosure)
    return leaf_colors(groups.root, spread=groups.flat)


def plot_group_sizes(
    profiles: GroupProfiles,
    ax: Axes | None = None,
    *,
    group_names: Sequence[Any] | None = None,
    colors: Sequence[Any] | None = None,
    min_cell: int | None = 5,
) -> Axes:
    """Draw the share of records in each group, with its interval.

    Parameters
    ----------
    profiles : GroupProfiles
        From :func:`momentree.metrics.group_profiles`.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure of a suitable height.
    group_names : sequence of length k, default=None
        Names of the groups; None uses their numbers.
    colors : sequence of length k, default=None
        Colors of the groups, as from :func:`group_colors`; None uses those of flat groups.
    min_cell : int >= 1 or None, default=5
        Draw no bars for smaller groups, nor for the next smallest group, from which they could be
        derived; None draws all.

    Returns
    -------
    Axes
        One bar per group, labeled with its number of records; "<5" and "*" replace suppressed
        numbers.

    Raises
    ------
    InvalidDataError
        If names or colors do not match the groups.
    InvalidParameterError
        If ``min_cell`` < 1.

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
    names = canvas.names_of("group_names", group_names, k)
    ax = canvas.new_axes(6.4, _ROW * k + 0.8) if ax is None else ax
    rows = np.arange(k)
    hidden = canvas.disclosure_of(min_cell).size_symbols(profiles.n_records)
    seen = np.array([symbol is None for symbol in hidden])
    low, high = 100.0 * np.where(seen, profiles.proportion_intervals.T, 0.0)
    percentages = 100.0 * np.where(seen, profiles.proportions, 0.0)
    ax.barh(rows, percentages, height=0.72, color=canvas.colors_of(colors, k))
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
    ax.set_xlabel(f"% of records ({100 * profiles.confidence:g}% interval)", fontsize=9)
    canvas.bare(ax, "bottom")
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
    """Draw the rate of an outcome in each group and in all records.

    Parameters
    ----------
    rates : OutcomeRates
        From :func:`momentree.metrics.outcome_rates`.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure of a suitable size.
    group_names : sequence of length k, default=None
        Names of the groups; None uses their numbers.
    outcome : str, default="outcome"
        Name of the outcome.
    colors : sequence of length k, default=None
        Colors of the groups, as from :func:`group_colors`; None uses those of flat groups.
    min_cell : int >= 1 or None, default=5
        Suppress nonzero counts of records below this number, and numbers computed from them; None
        suppresses nothing.

    Returns
    -------
    Axes
        One row per group and one column per class, all on the same scale; more than six classes
        form several blocks, one below the other. The point is the rate, the line through it the
        interval, and the vertical line the rate in all records; "<5" replaces a small count.

    Raises
    ------
    InvalidDataError
        If names or colors do not match the groups, or all outcomes are missing.
    InvalidParameterError
        If ``min_cell`` < 1.

    Notes
    -----
    Unlike on the page, suppressed counts could be derived: with two classes, each discloses the
    other.

    Examples
    --------
    >>> from momentree.metrics import outcome_rates
    >>> from momentree.report import plot_outcome_rates
    >>> rates = outcome_rates([0, 0, 1, 1], [True, False, True, True])
    >>> plot_outcome_rates(rates, outcome="died").get_xlabel()
    'died: True (95% interval; vertical line: all records)'
    """
    k, c = rates.rates.shape
    if not c:
        raise InvalidDataError(
            "[no_known_outcome] no record has a known value of the outcome; choose another outcome"
        )
    names = canvas.names_of("group_names", group_names, k)
    disclosure = canvas.disclosure_of(min_cell)
    fills = canvas.colors_of(colors, k)
    small = disclosure.is_small(rates.counts)
    blocks = -(-c // _MAX_ACROSS)
    across = -(-c // blocks)
    apart = k + _BETWEEN
    if ax is None:
        width = 4.0 if c == 1 else 1.7 * across
        ax = canvas.new_axes(2.4 + width, _ROW * (apart * blocks - _BETWEEN) + 1.0)
    top = canvas.nice_top(np.where(small[..., None], np.nan, rates.intervals))
    for j in range(c):
        place = j % across, apart * (j // across)
        _draw_class(ax, rates, j, place, top, fills, disclosure)
    ax.set_ylim(apart * blocks - _BETWEEN - 0.4, -0.6)
    ax.set_xlim(-0.02, across)
    places = np.concatenate([np.arange(k) + apart * block for block in range(blocks)])
    ax.set_yticks(places, names * blocks, fontsize=9)
    steps = {0.2: 4, 0.3: 3, 0.4: 4, 0.6: 3, 0.8: 4}.get(top, 5)
    canvas.mark_panels(ax, across, PANEL, top, steps if c == 1 else 1)
    what = plain(outcome, _LONGEST_NAME)
    what += f": {plain(rates.classes[0], _LONGEST_NAME)}" if c == 1 else ""
    what += f" ({100 * rates.confidence:g}% interval; vertical line: all records)"
    ax.set_xlabel(what, fontsize=9)
    canvas.bare(ax)
    return ax


def _draw_class(
    ax: Axes,
    rates: OutcomeRates,
    j: int,
    place: tuple[float, float],
    top: float,
    fills: Sequence[Any],
    disclosure: Disclosure,
) -> None:
    """Draw the rates of a class in all groups, in a column that starts at `place`."""
    k, c = rates.rates.shape
    x, y, scale = place[0], np.arange(k) + place[1], PANEL / top
    ends = [y[0] - 0.6, y[-1] + 0.6]
    ax.plot([x, x], ends, color=LINE, linewidth=0.8, zorder=0)
    few = disclosure.is_small(rates.counts[:, j].sum())
    if rates.overall[j] <= top and not few:  # NaN is not drawn
        at = x + rates.overall[j] * scale
        ax.plot([at, at], ends, color=SOFT, linewidth=1.0, zorder=0)
    seen = ~disclosure.is_small(rates.counts[:, j])
    low, high = rates.intervals[seen, j].T * scale + x
    ax.hlines(y[seen], low, high, color=INK, linewidth=1.2, zorder=2)
    ax.scatter(
        rates.rates[seen, j] * scale + x,
        y[seen],
        s=42,
        color=[fill for fill, shown in zip(fills, seen, strict=True) if shown],
        edgecolors=INK,
        zorder=3,
        clip_on=False,  # half of a point at 0% is beyond the axis
    )
    for row in y[~seen]:
        ax.text(x + 0.02, row, disclosure.symbol, va="center", fontsize=8, color=SOFT)
    if c > 1:
        title = plain(rates.classes[j], _MAX_CLASS)
        ax.text(x, y[0] - 0.8, title, va="bottom", fontsize=8, color=INK)


def plot_stability(scores: Mapping[str, ArrayLike], ax: Axes | None = None) -> Axes:
    """Draw the stability of several methods, with one dot per repeat.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_repeats,)
        Scores of each method, as returned by :func:`momentree.metrics.stability_score`. Numbers of
        repeats may differ.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure of a suitable height.

    Returns
    -------
    Axes
        Methods from most to least stable, with mean and standard deviation over the repeats.

    Raises
    ------
    InvalidDataError
        If there are no scores, or scores are not finite numbers.

    Examples
    --------
    >>> from momentree.report import plot_stability
    >>> ax = plot_stability({"k-means": [0.4, 0.6], "tree": [0.9, 1.0]})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['tree', 'k-means']
    """
    table = {name: np.atleast_1d(np.asarray(v, dtype=np.float64)) for name, v in scores.items()}
    if not table or not all(v.size and np.isfinite(v).all() for v in table.values()):
        raise InvalidDataError(
            "[no_scores] scores must contain at least one finite score for each method"
        )
    order = sorted(table, key=lambda name: -float(table[name].mean()))
    ax = canvas.new_axes(6.4, _ROW * len(order) + 0.8) if ax is None else ax
    for row, name in enumerate(order):
        values = table[name]
        mean, spread = float(values.mean()), float(values.std())
        ax.plot([mean - spread, mean + spread], [row, row], color=LINE, linewidth=7, zorder=1)
        ax.scatter(values, np.full(len(values), row), s=14, color=SOFT, zorder=2, linewidths=0)
        ax.plot([mean, mean], [row - 0.3, row + 0.3], color=BLUE, linewidth=2.2, zorder=3)
        text = f"{mean:.2f} ± {spread:.2f}"
        side = ax.get_yaxis_transform()
        ax.text(1.02, row, text, transform=side, va="center", fontsize=8, color=INK)
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_xlim(min(0.0, 1.05 * min(float(v.min()) for v in table.values())), 1.0)
    ax.set_yticks(np.arange(len(order)), [plain(name, _LONGEST_NAME) for name in order], fontsize=9)
    ax.set_xlabel("stability (adjusted Rand index on the common records)", fontsize=9)
    canvas.bare(ax, "bottom")
    return ax
