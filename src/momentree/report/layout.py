"""Lay out a tree as an icicle and choose the colors of its nodes, for the page and figures."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from momentree.estimators.node import TreeNode

# Degrees of the color circle: less than 360, so that the first and last branch differ.
_FIRST_HUE = 25.0
_HUE_RANGE = 305.0
# Steps of the golden angle separate the hues of any number of neighbors.
_GOLDEN_ANGLE = 137.508


@dataclass(frozen=True)
class Cell:
    """Position of one node in an icicle of unit width: edges, rows and hue in degrees."""

    x0: float
    x1: float
    top: int
    bottom: int
    hue: float

    def as_json(self) -> dict[str, Any]:
        """Return the cell in the form that the page uses."""
        return {**vars(self), "x0": round(self.x0, 6), "x1": round(self.x1, 6)}


def icicle_cells(root: TreeNode, *, spread: bool = False) -> list[Cell]:
    """Lay out a tree as an icicle: children below their parent, with widths given by weights.

    Returns one cell per node in pre-order. Leaves extend to the last row. Siblings divide the hues
    of their parent, so that a branch is a family of colors; with `spread`, neighboring leaves
    have distant hues instead, for topics without branches.
    """
    n_rows = 1 + max(node.depth for node in root.nodes())
    cells: list[Cell] = []
    stack = [(root, 0.0, 1.0, _FIRST_HUE, _FIRST_HUE + _HUE_RANGE)]
    while stack:
        node, x0, x1, hue0, hue1 = stack.pop()
        bottom = n_rows if node.is_leaf else node.depth + 1
        hue = (hue0 + hue1) / 2.0
        if spread and node.leaf_id is not None:
            hue = spread_hue(node.leaf_id)
        cells.append(Cell(x0, x1, node.depth, bottom, round(hue % 360.0, 1)))
        if not (children := node.children):
            continue
        total = sum(child.weight for child in children)
        widths = [child.weight / total if total > 0 else 1 / len(children) for child in children]
        # Half by weight and half by number of leaves: large branches get more of the circle, and
        # many small ones remain distinct.
        leaves = [sum(1 for _ in child.leaves()) for child in children]
        spans = [(w + k / sum(leaves)) / 2.0 for w, k in zip(widths, leaves, strict=True)]
        placed = []
        left, hue = x0, hue0
        for child, width, span in zip(children, widths, spans, strict=True):
            right = left + width * (x1 - x0)
            end = hue + span * (hue1 - hue0)
            placed.append((child, left, right, hue, end))
            left, hue = right, end
        stack.extend(reversed(placed))
    return cells


def leaf_colors(root: TreeNode, *, spread: bool) -> list[tuple[float, float, float]]:
    """Return the colors of the leaves by number, as on the page."""
    cells = zip(root.nodes(), icicle_cells(root, spread=spread), strict=True)
    hues = {node.leaf_id: cell.hue for node, cell in cells}
    return [leaf_color(hues[j]) for j in range(sum(1 for _ in root.leaves()))]


def spread_hue(topic: int) -> float:
    """Return the hue, in degrees, of a topic of a flat model; neighbors have distant hues."""
    return (_FIRST_HUE + _GOLDEN_ANGLE * topic) % 360.0


def leaf_color(hue: float, *, leaf: bool = True) -> tuple[float, float, float]:
    """Return red, green and blue in [0, 1] for a hue; inner nodes are paler than leaves.

    Notes
    -----
    Lightness and chroma are constant in OKLCH, the color space of the page. The matrices are from
    B. Ottosson, "A perceptual color space for image processing" (2020), which defines it.
    """
    lightness, chroma = (0.82, 0.09) if leaf else (0.92, 0.045)
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    cone = np.array([[0.3963377774, 0.2158037573], [-0.1055613458, -0.0638541728]])
    cone = np.vstack([cone, [-0.0894841775, -1.2914855480]]) @ [a, b] + lightness
    to_linear = [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
    linear = np.clip(np.array(to_linear) @ cone**3, 0.0, 1.0)
    red, green, blue = np.where(
        linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055
    )
    return float(red), float(green), float(blue)
