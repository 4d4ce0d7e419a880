"""Name the nodes of a tree by their most relevant features (H section 4.2, T eq. 4.12)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.metrics import relevance
from momentree.metrics.words import relevance_order
from momentree.tree.node import TreeNode

Names = Sequence[str] | NDArray[np.str_]

NAME_WORDS = 3
NAME_LAMBDA = 0.6
CODE_LAMBDA = 0.5
"""Lambda for codes, lower than for words, because the most common diagnoses are common in nearly
every group. It determines names, and the initial order of codes in the report."""


def name_by_words(root: TreeNode, vocabulary: Names) -> None:
    """Name every node of a tree of topics by its most relevant words (lambda = 0.6)."""
    for node in root.nodes():
        score = np.asarray(relevance(node.center[None], root.center, NAME_LAMBDA))[0]
        top = np.argsort(-score, kind="stable")[:NAME_WORDS]
        node.name = ", ".join(str(vocabulary[j]) for j in top if node.center[j] > 0)


def name_by_codes(root: TreeNode, vocabulary: Names) -> None:
    """Name every node of a tree of records by its most relevant codes."""
    for node in root.nodes():
        top = most_relevant(node.center, root.center)[:NAME_WORDS]
        node.name = ", ".join(str(vocabulary[j]) for j in top)


def name_by_difference(root: TreeNode, vocabulary: Names, scale: Floats) -> None:
    """Name every node by the features whose means differ most from the overall means."""
    for node in root.nodes():
        z = (node.center - root.center) / scale
        top = np.argsort(-np.abs(z), kind="stable")[:NAME_WORDS]
        node.name = ", ".join(
            f"{vocabulary[j]} {'high' if z[j] > 0 else 'low'}" for j in top if z[j]
        )


def most_relevant(center: Floats, base: Floats, disclosed: NDArray[np.bool_] | None = None) -> Ints:
    """Return the codes that distinguish a group, most relevant first.

    Codes that are rarer in the group than overall are returned only if there are no others.
    """
    present = np.flatnonzero((center > 0) & (base > 0) & (True if disclosed is None else disclosed))
    more = present[center[present] >= base[present]]
    present = more if more.size else present
    return present[relevance_order(center[present], base[present], CODE_LAMBDA)]
