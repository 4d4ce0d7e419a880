"""Figures of a fitted tree for papers and notebooks."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree.exceptions import InvalidParameterError
from momentree.metrics import relevance
from momentree.metrics._checks import check_positive
from momentree.report._fitted import FittedTree, fitted_root
from momentree.report.layout import icicle_cells, leaf_color
from momentree.report.summary import DEFAULT_LAMBDA
from momentree.tree.node import TreeNode

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_icicle", "plot_tree"]

_INK = "#20242a"
_SOFT = "#6b7178"
# Inches of figure height per leaf, and per level of an icicle.
_LEAF_HEIGHT = 0.62
_LEVEL_HEIGHT = 0.8
# Largest share of the width that words take.
_TEXT_SHARE = 0.75
# Points: letters of a foot.
LARGEST_FONT = 1000


def plot_tree(
    estimator: FittedTree,
    ax: Axes | None = None,
    *,
    n_words: int = 6,
    lam: float = DEFAULT_LAMBDA,
    fontsize: float = 9.0,
) -> Axes:
    """Draw the tree from left to right with the words and the size of every leaf.

    Each node is a dot with an area in proportion to its share of the documents; a line's
    width tells the share of the node that it leads to.

    Parameters
    ----------
    estimator : TopicTree
        A fitted tree.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure with a height that fits the leaves.
    n_words : int, default=6
        Words beside each leaf, >= 1.
    lam : float, default=0.7
        Lambda of their relevance, in [0, 1].
    fontsize : float, default=9.0
        Points, > 0.

    Returns
    -------
    Axes
        The axes drawn on, without frame and ticks; the texts are inside the limits.

    Raises
    ------
    InvalidParameterError
        When ``n_words`` < 1 or ``lam`` is outside [0, 1].
    """
    root = fitted_root(estimator)
    leaves = list(root.leaves())
    words = [", ".join(line) for line in _leaf_words(estimator, n_words, lam)]
    width_of = _text_widths(fontsize)
    sizes = [f"{leaf.n_samples:,} documents, {100 * leaf.weight:.1f} %" for leaf in leaves]
    if ax is None:
        height = max(1.6, _LEAF_HEIGHT * len(leaves) + 0.3)
        ax = _new_axes(max(9.0, max(map(width_of, [*words, *sizes])) / 72.0 + 2.5), height)
    room = _points(ax)[0]
    words = [_cut(line, width_of, _TEXT_SHARE * room) for line in words]
    share = max(map(width_of, [*words, *sizes])) / room
    y_of = {id(leaf): float(-i) for i, leaf in enumerate(leaves)}
    for node in reversed(list(root.nodes())):
        if not node.is_leaf:
            y_of[id(node)] = float(np.mean([y_of[id(child)] for child in node.children]))
    deepest = max(node.depth for node in leaves)
    colors: list[Any] = [leaf_color(cell.hue, leaf=True) for cell in icicle_cells(root)]
    colors[0] = _SOFT if len(leaves) > 1 else colors[0]
    for node in root.nodes():
        x, y = float(node.depth), y_of[id(node)]
        if node.parent is not None:
            up = y_of[id(node.parent)]
            width = 1.0 + 7.0 * node.weight
            # An elbow: along the fork of the siblings, then across to the node.
            ax.plot(
                [x - 0.75, x - 0.75, x],
                [up, y, y],
                color=colors[node.node_id],
                linewidth=width,
                solid_joinstyle="round",
                solid_capstyle="butt",
                zorder=1,
            )
        if node.children:
            # The stem to the fork, as wide as the wider branch.
            width = 1.0 + 7.0 * max(child.weight for child in node.children)
            ax.plot(
                [x, x + 0.25],
                [y, y],
                color=colors[node.node_id],
                linewidth=width,
                solid_capstyle="projecting",
                zorder=1.5,
            )
    for node in root.nodes():
        x, y = float(node.depth), y_of[id(node)]
        area = 30.0 + 400.0 * node.weight
        ax.scatter([x], [y], s=area, color=colors[node.node_id], zorder=2, linewidths=0)
        if node.leaf_id is not None and node.is_leaf:
            text_x = deepest + 0.35
            if x < deepest:
                ax.plot([x, text_x - 0.08], [y, y], color="#d5d2cb", linewidth=0.8, zorder=0)
            ax.annotate(
                words[node.leaf_id],
                (text_x, y),
                xytext=(0, 1),
                textcoords="offset points",
                va="bottom",
                fontsize=fontsize,
                color=_INK,
            )
            ax.annotate(
                sizes[node.leaf_id],
                (text_x, y),
                xytext=(0, -1),
                textcoords="offset points",
                va="top",
                fontsize=0.85 * fontsize,
                color=_SOFT,
            )
    share = min(_TEXT_SHARE, share)
    # Words start 0.35 after the last column; what is left of the width is theirs.
    ax.set_xlim(-0.3, -0.3 + (deepest + 0.65) / (1.0 - share))
    ax.set_ylim(-len(leaves) + 0.4, 0.6)
    ax.set_axis_off()
    return ax


def plot_icicle(
    estimator: FittedTree,
    ax: Axes | None = None,
    *,
    n_words: int = 5,
    lam: float = DEFAULT_LAMBDA,
    fontsize: float = 9.0,
) -> Axes:
    """Draw the tree as an icicle: children below their parent, as wide as their share.

    Parameters
    ----------
    estimator : TopicTree
        A fitted tree.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure with a height that fits the levels.
    n_words : int, default=5
        Most words written in a leaf, one a line; as many as its place holds, >= 1.
    lam : float, default=0.7
        Lambda of their relevance, in [0, 1].
    fontsize : float, default=9.0
        Points, > 0.

    Returns
    -------
    Axes
        The axes drawn on; x is the share of the documents in [0, 1], y the depth.

    Raises
    ------
    InvalidParameterError
        When ``n_words`` < 1 or ``lam`` is outside [0, 1].
    """
    from matplotlib.patches import Rectangle

    root = fitted_root(estimator)
    words = _leaf_words(estimator, n_words, lam)
    cells = icicle_cells(root)
    rows = max(cell.bottom for cell in cells)
    if ax is None:
        ax = _new_axes(10.0, max(1.6, _LEVEL_HEIGHT * (rows + 1)))
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(float(rows), 0.0)
    ax.set_axis_off()
    box_width, box_height = _points(ax)
    width_of = _text_widths(fontsize)
    for node, cell in zip(root.nodes(), cells, strict=True):
        width, height = cell.x1 - cell.x0, float(cell.bottom - cell.top)
        color: Any = leaf_color(cell.hue, leaf=node.is_leaf)
        if node.parent is None and not node.is_leaf:
            color = "#e5e2db"
        ax.add_patch(
            Rectangle((cell.x0, cell.top), width, height, facecolor=color, edgecolor="white")
        )
        lines = words[node.leaf_id] if node.is_leaf and node.leaf_id is not None else []
        lines = [*lines, f"{100 * node.weight:.0f} %"] if lines else [f"{node.n_samples:,}"]
        room = box_width * width - 0.6 * fontsize
        fits = int(box_height * height / rows / (1.5 * fontsize))
        # A line that does not fit is left out, not cut.
        shown = [line for line in lines if width_of(line) <= room]
        shown = shown[: max(fits - 1, 0)] + shown[-1:] if len(shown) > fits else shown
        if shown and fits >= 1:
            ax.text(
                (cell.x0 + cell.x1) / 2.0,
                cell.top + height / 2.0,
                "\n".join(shown),
                ha="center",
                va="center",
                fontsize=fontsize,
                linespacing=1.2,
                color=_INK,
            )
    return ax


def _leaf_words(estimator: FittedTree, n_words: int, lam: float) -> list[list[str]]:
    check_positive("n_words", n_words)
    leaves: list[TreeNode] = list(estimator.tree_.leaves())
    centers = np.array([leaf.center for leaf in leaves])
    value = np.asarray(relevance(centers, estimator.tree_.center, lam))
    order = np.argsort(-value, axis=1, kind="stable")[:, :n_words]
    return [
        # A dollar sign would start mathematics.
        [str(estimator.vocabulary_[j]).replace("$", r"\$") for j in row if leaf.center[j] > 0]
        for row, leaf in zip(order, leaves, strict=True)
    ]


def _new_axes(width: float, height: float) -> Axes:
    import matplotlib.pyplot as plt

    # The axes fill the figure, so that what is measured now holds when it is drawn.
    return plt.figure(figsize=(width, height)).add_axes((0.01, 0.02, 0.98, 0.96))


def _points(ax: Axes) -> tuple[float, float]:
    box = ax.get_window_extent()
    scale = 72.0 / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    return float(box.width * scale), float(box.height * scale)


def _text_widths(fontsize: float) -> Callable[[str], float]:
    from matplotlib.textpath import TextPath

    if not (isinstance(fontsize, Real) and 1.0 <= fontsize <= LARGEST_FONT):
        msg = f"fontsize={fontsize!r}; expected a number of points from 1 to {LARGEST_FONT}"
        raise InvalidParameterError(msg)

    def width(text: str) -> float:
        # Drawn letters are fitted to pixels, which adds up to a few per cent.
        return 1.05 * float(TextPath((0.0, 0.0), text, size=fontsize).get_extents().width)

    return width


def _cut(line: str, width_of: Callable[[str], float], room: float) -> str:
    words = line.split(", ")
    while len(words) > 1 and width_of(", ".join(words)) > room:
        words.pop()
    return ", ".join(words)
