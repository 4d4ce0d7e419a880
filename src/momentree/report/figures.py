"""Figures of a fitted tree for papers and notebooks."""

from __future__ import annotations

import colorsys
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree.exceptions import InvalidParameterError
from momentree.metrics import relevance
from momentree.report.layout import icicle_cells
from momentree.report.summary import DEFAULT_LAMBDA, FittedTree
from momentree.tree.node import TreeNode

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_icicle", "plot_tree"]

_INK = "#20242a"
_SOFT = "#6b7178"
# Inches of figure height per leaf, and per level of an icicle.
_LEAF_HEIGHT = 0.62
_LEVEL_HEIGHT = 0.8
# Mean width of a letter, em, with some room; largest share of the width that words take.
_LETTER = 0.6
_TEXT_SHARE = 0.75


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
    root = estimator.tree_
    leaves = list(root.leaves())
    words = [", ".join(line) for line in _leaf_words(estimator, n_words, lam)]
    sizes = [f"{leaf.n_samples:,} documents, {100 * leaf.weight:.1f} %" for leaf in leaves]
    if ax is None:
        text_width = _LETTER * fontsize / 72.0 * max(map(len, [*words, *sizes]))
        ax = _new_axes(max(9.0, text_width + 2.5), max(1.6, _LEAF_HEIGHT * len(leaves) + 0.3))
    # How many letters the width of the axes holds.
    letters = _inches(ax) * 72.0 / (_LETTER * fontsize)
    height = {id(leaf): float(-i) for i, leaf in enumerate(leaves)}
    for node in reversed(list(root.nodes())):
        if not node.is_leaf:
            height[id(node)] = float(np.mean([height[id(child)] for child in node.children]))
    deepest = max(node.depth for node in leaves)
    colors: list[Any] = [_color(cell.hue, leaf=True) for cell in icicle_cells(root)]
    colors[0] = _SOFT if len(leaves) > 1 else colors[0]
    for node in root.nodes():
        x, y = float(node.depth), height[id(node)]
        if node.parent is not None:
            up = height[id(node.parent)]
            width = 1.0 + 7.0 * node.weight
            # An elbow: down the parent's column, then across to the node.
            ax.plot(
                [x - 1.0, x - 0.75, x - 0.75, x],
                [up, up, y, y],
                color=colors[node.node_id],
                linewidth=width,
                solid_joinstyle="round",
                solid_capstyle="butt",
                zorder=1,
            )
    for node in root.nodes():
        x, y = float(node.depth), height[id(node)]
        area = 30.0 + 400.0 * node.weight
        ax.scatter([x], [y], s=area, color=colors[node.node_id], zorder=2, linewidths=0)
        if node.leaf_id is not None and node.is_leaf:
            line = _cut(words[node.leaf_id], _TEXT_SHARE * letters)
            text_x = deepest + 0.35
            if x < deepest:
                ax.plot([x, text_x - 0.08], [y, y], color="#d5d2cb", linewidth=0.8, zorder=0)
            ax.annotate(
                line,
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
    share = min(_TEXT_SHARE, max(0.2, max(map(len, [*words, *sizes])) / letters))
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

    root = estimator.tree_
    words = _leaf_words(estimator, n_words, lam)
    cells = icicle_cells(root)
    rows = max(cell.bottom for cell in cells)
    if ax is None:
        ax = _new_axes(10.0, max(1.6, _LEVEL_HEIGHT * (rows + 1)))
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(float(rows), 0.0)
    ax.set_axis_off()
    box = ax.get_window_extent()
    points = 72.0 / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    for node, cell in zip(root.nodes(), cells, strict=True):
        width, height = cell.x1 - cell.x0, float(cell.bottom - cell.top)
        color: Any = _color(cell.hue, leaf=node.is_leaf)
        if node.parent is None and not node.is_leaf:
            color = "#e5e2db"
        ax.add_patch(
            Rectangle((cell.x0, cell.top), width, height, facecolor=color, edgecolor="white")
        )
        lines = words[node.leaf_id] if node.is_leaf and node.leaf_id is not None else []
        lines = [*lines, f"{100 * node.weight:.0f} %"] if lines else [f"{node.n_samples:,}"]
        room = box.width * width * points - 0.8 * fontsize
        fits = int(box.height * height / rows * points / (1.35 * fontsize))
        # A line that does not fit is left out, not cut.
        shown = [line for line in lines if _LETTER * fontsize * len(line) <= room]
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
    if n_words < 1:
        msg = f"n_words is {n_words!r} but must be at least 1. Ask for one word or more."
        raise InvalidParameterError(msg)
    if not 0.0 <= lam <= 1.0:
        msg = f"lam is {lam!r} but must lie in [0, 1]. The default is {DEFAULT_LAMBDA}."
        raise InvalidParameterError(msg)
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

    figure, ax = plt.subplots(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.05, h_pad=0.05)  # type: ignore[union-attr,call-arg]
    return ax


def _inches(ax: Axes) -> float:
    return float(ax.get_window_extent().width / ax.get_figure(root=True).dpi)  # type: ignore[union-attr]


def _cut(line: str, letters: float) -> str:
    words = line.split(", ")
    while len(words) > 1 and len(", ".join(words)) > letters:
        words.pop()
    return ", ".join(words)


def _color(hue: float, *, leaf: bool) -> tuple[float, float, float]:
    saturation, value = (0.33, 0.9) if leaf else (0.15, 0.95)
    return colorsys.hsv_to_rgb(hue / 360.0, saturation, value)
