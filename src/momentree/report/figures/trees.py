"""Draw a tree of topics as branches with words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree._validation import check_number
from momentree.estimators.node import TreeNode
from momentree.report.estimators import check_fitted
from momentree.report.figures import canvas
from momentree.report.figures.canvas import INK, LINE, SOFT
from momentree.report.layout import icicle_cells, leaf_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTER = 0.6
"""Width of a letter, relative to the size of the font: a generous mean."""


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
        Axes without frame, whose labels on the right are the words and sizes of the leaves.

    Raises
    ------
    InvalidParameterError
        If ``n_words`` < 1, or ``lam`` or ``fontsize`` is out of range.
    """
    check_fitted(estimator, "tree_")
    check_number("fontsize", fontsize, at_least=1, at_most=canvas.MAX_FONT)
    root = estimator.tree_
    leaves = list(root.leaves())
    words = canvas.top_words(root, estimator.vocabulary_, n_words, lam)
    texts = [
        f"{', '.join(text for _, text in line)}\n"
        f"{leaf.n_samples:,} documents, {100 * leaf.weight:.1f}%"
        for leaf, line in zip(leaves, words, strict=True)
    ]
    if ax is None:
        longest = max(len(line) for text in texts for line in text.split("\n"))
        width = max(9.0, 2.5 + _LETTER * fontsize * longest / 72.0)
        ax = canvas.new_axes(width, max(1.6, 0.62 * len(leaves) + 0.3))
    y_of = {id(leaf): float(-i) for i, leaf in enumerate(leaves)}
    for node in reversed(list(root.nodes())):
        if not node.is_leaf:
            y_of[id(node)] = float(np.mean([y_of[id(child)] for child in node.children]))
    end = max(node.depth for node in leaves) + 0.3
    colors: list[Any] = [leaf_color(cell.hue) for cell in icicle_cells(root)]
    colors[0] = SOFT if len(leaves) > 1 else colors[0]
    for node, color in zip(root.nodes(), colors, strict=True):
        _draw_node(ax, node, y_of, color)
        if node.is_leaf:
            y = y_of[id(node)]
            ax.plot([float(node.depth), end], [y, y], color=LINE, linewidth=0.8, zorder=0)
    canvas.bare(ax)
    ax.set_xticks([])
    ax.yaxis.tick_right()
    ax.set_yticks([y_of[id(leaf)] for leaf in leaves], texts, fontsize=fontsize, color=INK)
    ax.tick_params(length=0)
    ax.set_xlim(-0.3, end)
    ax.set_ylim(-len(leaves) + 0.4, 0.6)
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
