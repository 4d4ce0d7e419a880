"""What figures of records share: colours, text that fits, axes without a box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.report.layout import icicle_cells, leaf_color, spread_hue
from momentree.report.records_nodes import tree_of_groups
from momentree.report.records_privacy import SMALL, hide_sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "INK",
    "LINE",
    "SOFT",
    "bare",
    "check_colors",
    "check_labels_of",
    "check_min_cell",
    "check_number",
    "group_colors",
    "hidden_sizes",
    "is_small",
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


def group_colors(estimator: Any, *, min_cell: int = 5) -> list[tuple[float, float, float]]:
    """Return the colours that groups of records have in their report, for figures.

    Parameters
    ----------
    estimator : ClusterTree or BernoulliMixture
        Fitted.
    min_cell : int >= 1, default=5
        That of the report: colours of a tree go by the sizes that are shown.

    Returns
    -------
    list of tuple
        Red, green and blue in [0, 1] of each group, in the order of the groups. In a tree each
        branch is a family of colours.

    Raises
    ------
    InvalidDataError
        If every group is smaller than `min_cell`.
    InvalidParameterError
        If `min_cell` is below 1.
    NotFittedError
        If the estimator is not fitted yet.

    Examples
    --------
    >>> import numpy as np
    >>> import momentree as mt
    >>> from momentree.report import group_colors
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], [30, 20], axis=0)
    >>> len(group_colors(mt.ClusterTree(max_leaf_nodes=2).fit(X)))
    2
    """
    check_number("min_cell", min_cell)
    if not hasattr(estimator, "labels_"):
        msg = f"this {type(estimator).__name__} is not fitted yet; call fit first"
        raise NotFittedError(msg)
    tree = hasattr(estimator, "tree_")
    k = len(list(estimator.tree_.leaves())) if tree else len(estimator.weights_)
    sizes = np.bincount(estimator.labels_, minlength=k)
    root = tree_of_groups(estimator, hide_sizes(sizes, min_cell)[1])
    cells = icicle_cells(root, spread=not tree)
    hues = {
        node.leaf_id: cell.hue
        for node, cell in zip(root.nodes(), cells, strict=True)
        if node.leaf_id is not None
    }
    return [leaf_color(hues[group]) for group in range(k)]


def check_colors(colors: Sequence[Any] | None, k: int) -> list[Any]:
    """Return k colours, those given or those of flat groups in the report.

    Raises
    ------
    InvalidDataError
        If there are not k.
    """
    if colors is None:
        return [leaf_color(spread_hue(group)) for group in range(k)]
    if len(colors) != k:
        msg = f"colors has {len(colors)} colours; expected {k}, one for each group"
        raise InvalidDataError(msg)
    return list(colors)


def check_labels_of(
    what: str,
    names: Sequence[Any] | Mapping[Any, Any] | None,
    n: int,
    longest: int = _LONGEST,
    codes: Sequence[Any] | NDArray[Any] | None = None,
) -> list[str]:
    """Return n names that can be drawn, those given or numbers, cut where they are long.

    Raises
    ------
    InvalidDataError
        If there are not n, or names are to be looked up and there is nothing to look up.
    """
    if codes is not None:
        if len(codes) != n:
            msg = f"codes has {len(codes)} codes; expected {n}, one for each column"
            raise InvalidDataError(msg)
        if names is None or isinstance(names, Mapping):
            known = names or {}
            return [plain(known.get(code) or code, longest) for code in codes]
    if isinstance(names, Mapping):
        msg = (
            f"{what} is a mapping of {len(names)} names; give codes= too, the code of each column, "
            f"by which they are looked up, such as those of the records"
        )
        raise InvalidDataError(msg)
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


def check_min_cell(min_cell: int | None) -> int:
    """Return the smallest number of records that is drawn; None is 1, which hides nothing.

    Raises
    ------
    InvalidParameterError
        If it is below 1.
    """
    check_number("min_cell", 1 if min_cell is None else min_cell)
    return 1 if min_cell is None else int(min_cell)


def is_small(counts: NDArray[Any], min_cell: int) -> NDArray[np.bool_]:
    """Return which numbers of records are above zero and too small to be drawn."""
    return np.asarray((counts > 0) & (counts < min_cell))


def hidden_sizes(sizes: NDArray[np.float64], min_cell: int) -> list[str | None]:
    """Return for each group what stands for its size where that is hidden, and None elsewhere."""
    whole = np.rint(sizes).astype(np.int64)
    small = is_small(whole, min_cell)
    # Where all are small there is no other that one could be told from.
    shown = hide_sizes(whole, min_cell)[0] if (whole >= min_cell).any() else -small.astype(int)
    return [f"<{min_cell}" if size == SMALL else "*" if size < 0 else None for size in shown]


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
