"""Grow a tree by splitting one leaf after another: best first, or level by level."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from momentree.assignment.rules import Rule
from momentree.backends import RowBlocks
from momentree.tree.stopping import Worth
from momentree.tree.topic_split import NoSplit, Split

__all__ = ["Branch", "Growth", "grow"]

Floats = NDArray[np.float64]
Growth = Literal["best_first", "depth"]

log = logging.getLogger("momentree.tree")


@dataclass(eq=False)
class Branch:
    """A group of samples while the tree grows; nodes are made of them at the end.

    Attributes
    ----------
    samples : ndarray of intp
        Rows of the samples, ascending.
    depth : int
        Number of edges to the root.
    rule : Rule or None
        How the branch was split; None for a leaf.
    reason : str
        Why it was not split.
    children : list of Branch
        The sides; empty for a leaf.
    """

    samples: NDArray[np.intp]
    depth: int = 0
    rule: Rule | None = None
    reason: str = ""
    children: list[Branch] = field(default_factory=list)

    def leaves(self) -> list[Branch]:
        """Return the leaves from left to right."""
        if not self.children:
            return [self]
        return [leaf for child in self.children for leaf in child.leaves()]


def grow(
    rows: RowBlocks,
    sample_weight: Floats,
    factor: Floats,
    splitter: Callable[[RowBlocks, Floats, Floats], Split | NoSplit],
    *,
    max_leaves: float,
    max_depth: float,
    growth: Growth,
    worth: Worth,
) -> Branch:
    """Grow a tree of samples from the root.

    Parameters
    ----------
    rows : RowBlocks of shape (n, p)
        Statistics of the samples: (scaled) word counts, say.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    factor : ndarray of shape (n,)
        What the splitter wants to know of each sample besides: what one word counts in a document,
        or by what the moments scale a record.
    splitter : callable
        Given the rows of a group, their weights and factors, splits it.
    max_leaves, max_depth : int or inf
        Where to stop.
    growth : {"best_first", "depth"}
        "best_first" splits next the leaf whose split gains most log-likelihood; "depth" splits
        every leaf down to `max_depth`, in order, whatever it gains.
    worth : Worth
        Given a split, its rows, weights and factors, says why it is not worth making; "" when it
        is.

    Returns
    -------
    Branch
        The root. Each leaf holds a reason why it was not split.

    Notes
    -----
    The copy of a group's rows lives only while its split is sought. Splits of the last leaves,
    which no later choice could use, are never computed.
    """
    root = Branch(np.arange(rows.shape[0], dtype=np.intp))
    leaves = [root]
    splits: dict[Branch, Split] = {}

    def seek(leaf: Branch) -> bool:
        """Whether a leaf can be split; its split is kept."""
        if leaf in splits or leaf.reason:
            return leaf in splits
        if leaf.depth >= max_depth:
            leaf.reason = f"max_depth = {max_depth} reached"
            return False
        whole = len(leaf.samples) == rows.shape[0]
        part = rows if whole else rows.take(leaf.samples)
        about = sample_weight[leaf.samples], factor[leaf.samples]
        split = splitter(part, *about)
        if isinstance(split, Split):
            leaf.reason = worth(split, part, *about)
            if not leaf.reason:
                splits[leaf] = split
        else:
            leaf.reason = split.reason
        return leaf in splits

    while len(leaves) < max_leaves:
        if growth == "best_first":
            able = [leaf for leaf in leaves if seek(leaf)]
            chosen = max(able, key=lambda leaf: splits[leaf].gain, default=None)
        else:
            chosen = next((leaf for leaf in leaves if seek(leaf)), None)
        if chosen is None:
            break
        split = splits.pop(chosen)
        chosen.rule = split.rule
        chosen.children = [
            Branch(chosen.samples[split.side == i], chosen.depth + 1)
            for i in range(len(split.sizes))
        ]
        at = leaves.index(chosen)
        leaves[at : at + 1] = chosen.children
        log.info("growing the tree: %d leaves", len(leaves))
    for leaf in leaves:
        leaf.reason = leaf.reason or f"max_leaf_nodes = {max_leaves} reached"
    return root
