"""Draw a tree of topics as branches with words, or as an icicle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree.estimators.node import TreeNode
from momentree.report.estimators import check_fitted
from momentree.report.figures import canvas
from momentree.report.figures.canvas import INK, SOFT
from momentree.report.layout import icicle_cells, leaf_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Maximum part of the width for words.
_TEXT_WIDTH = 0.75


def plot_tree(
    estimator: Any,
    ax: Axes | None = None,
    *,
    n_words: int = 6,
    lam: float | None = None,
    fontsize: float = 9.0,
) -> Axes:
    """Draw a tree from left to right, with the words and the size of every leaf.

    The area of each dot and the width of its line show the share of the documents.

    Parameters
    ----------
    estimator : TopicTree
        Fitted.
    ax : matplotlib Axes, optional
        Axes to draw on; by default a new figure whose height suits the leaves.
    n_words : int, default=6
        Number of words per leaf, >= 1.
    lam : float in [0, 1] or None, default=None
        Lambda by which words are ranked: 1 by probability, 0 by lift; None as reports do.
    fontsize : float, default=9.0
        Font size in points, 1 to 1000.

    Returns
    -------
    Axes
        Axes without frame and ticks; all text is inside the limits.

    Raises
    ------
    InvalidParameterError
        If ``n_words`` < 1, or ``lam`` or ``fontsize`` is out of range.
    """
    check_fitted(estimator, "tree_")
    root = estimator.tree_
    leaves = list(root.leaves())
    leaf_words = _leaf_words(estimator, n_words, lam)
    width_of = canvas.text_widths(fontsize)
    words = list(map(", ".join, leaf_words))
    sizes = [f"{leaf.n_samples:,} documents, {100 * leaf.weight:.1f}%" for leaf in leaves]
    if ax is None:
        height = max(1.6, 0.62 * len(leaves) + 0.3)
        ax = canvas.full_axes(max(9.0, max(map(width_of, [*words, *sizes])) / 72.0 + 2.5), height)
    room = canvas.size_in_points(ax)[0]
    words = [_fitted(line, width_of, _TEXT_WIDTH * room) for line in leaf_words]
    text_part = min(_TEXT_WIDTH, max(map(width_of, [*words, *sizes])) / room)
    y_of = {id(leaf): float(-i) for i, leaf in enumerate(leaves)}
    for node in reversed(list(root.nodes())):
        if not node.is_leaf:
            y_of[id(node)] = float(np.mean([y_of[id(child)] for child in node.children]))
    deepest = max(node.depth for node in leaves)
    colors: list[Any] = [leaf_color(cell.hue) for cell in icicle_cells(root)]
    colors[0] = SOFT if len(leaves) > 1 else colors[0]
    for node, color in zip(root.nodes(), colors, strict=True):
        _draw_node(ax, node, y_of, color)
        if node.leaf_id is not None and node.is_leaf:
            lines = words[node.leaf_id], sizes[node.leaf_id]
            _write_leaf(ax, node.depth, deepest, y_of[id(node)], lines, fontsize)
    # Words start 0.35 after the last column and have the remaining width.
    ax.set_xlim(-0.3, -0.3 + (deepest + 0.65) / (1.0 - text_part))
    ax.set_ylim(-len(leaves) + 0.4, 0.6)
    ax.set_axis_off()
    return ax


def _draw_node(ax: Axes, node: TreeNode, y_of: Mapping[int, float], color: Any) -> None:
    """Draw the dot of a node, the branch from its parent, and its stem."""
    x, y = float(node.depth), y_of[id(node)]
    if node.parent is not None:
        # An elbow: along the fork of the siblings, then across to the node.
        ax.plot(
            [x - 0.75, x - 0.75, x],
            [y_of[id(node.parent)], y, y],
            color=color,
            linewidth=1.0 + 7.0 * node.weight,
            solid_joinstyle="round",
            solid_capstyle="butt",
            zorder=1,
        )
    if node.children:
        # The stem to the fork, as wide as the wider branch.
        width = 1.0 + 7.0 * max(child.weight for child in node.children)
        stem = [x, x + 0.25], [y, y]
        ax.plot(*stem, color=color, linewidth=width, solid_capstyle="projecting", zorder=1.5)
    ax.scatter([x], [y], s=30.0 + 400.0 * node.weight, color=color, zorder=2, linewidths=0)


def _write_leaf(
    ax: Axes, depth: int, deepest: int, y: float, lines: tuple[str, str], fontsize: float
) -> None:
    """Write the words and the size of a leaf, to the right of the deepest one."""
    x = deepest + 0.35
    if depth < deepest:
        ax.plot([float(depth), x - 0.08], [y, y], color="#d5d2cb", linewidth=0.8, zorder=0)
    for text, va, up, ink, size in (
        (lines[0], "bottom", 1, INK, fontsize),
        (lines[1], "top", -1, SOFT, 0.85 * fontsize),
    ):
        ax.annotate(
            text,
            (x, y),
            xytext=(0, up),
            textcoords="offset points",
            va=va,
            fontsize=size,
            color=ink,
        )


def plot_icicle(
    estimator: Any,
    ax: Axes | None = None,
    *,
    n_words: int = 5,
    lam: float | None = None,
    fontsize: float = 9.0,
) -> Axes:
    """Draw a tree as an icicle: children below their parent, with widths given by shares.

    Parameters
    ----------
    estimator : TopicTree
        Fitted.
    ax : matplotlib Axes, optional
        Axes to draw on; by default a new figure whose height suits the levels.
    n_words : int, default=5
        Maximum number of words per leaf, one per line, as far as they fit; >= 1.
    lam : float in [0, 1] or None, default=None
        Lambda by which words are ranked: 1 by probability, 0 by lift; None as reports do.
    fontsize : float, default=9.0
        Font size in points, 1 to 1000.

    Returns
    -------
    Axes
        x is the share of the documents in [0, 1], y the depth.

    Raises
    ------
    InvalidParameterError
        If ``n_words`` < 1, or ``lam`` or ``fontsize`` is out of range.
    """
    from matplotlib.patches import Rectangle

    check_fitted(estimator, "tree_")
    root = estimator.tree_
    words = _leaf_words(estimator, n_words, lam)
    cells = icicle_cells(root)
    rows = max(cell.bottom for cell in cells)
    if ax is None:
        ax = canvas.full_axes(10.0, max(1.6, 0.8 * (rows + 1)))
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(float(rows), 0.0)
    ax.set_axis_off()
    box_width, box_height = canvas.size_in_points(ax)
    width_of = canvas.text_widths(fontsize)
    for node, cell in zip(root.nodes(), cells, strict=True):
        width, height = cell.x1 - cell.x0, float(cell.bottom - cell.top)
        color: Any = leaf_color(cell.hue, leaf=node.is_leaf)
        if node.parent is None and not node.is_leaf:
            color = "#e5e2db"
        ax.add_patch(
            Rectangle((cell.x0, cell.top), width, height, facecolor=color, edgecolor="white")
        )
        lines = words[node.leaf_id] if node.is_leaf and node.leaf_id is not None else []
        lines = [*lines, f"{100 * node.weight:.0f}%"] if lines else [f"{node.n_samples:,}"]
        room = box_width * width - 0.6 * fontsize
        fits = int(box_height * height / rows / (1.5 * fontsize))
        # Lines that do not fit are omitted, not cut.
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
                color=INK,
            )
    return ax


def _leaf_words(estimator: Any, n_words: int, lam: float | None) -> list[list[str]]:
    leaves = canvas.top_words(estimator.tree_, estimator.vocabulary_, n_words, lam)
    return [[text for _, text in words] for words in leaves]


def _fitted(words: list[str], width_of: Callable[[str], float], room: float) -> str:
    while len(words) > 1 and width_of(", ".join(words)) > room:
        words = words[:-1]
    return ", ".join(words)
