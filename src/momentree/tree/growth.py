"""Grow a tree by splitting one leaf after another: best first, or level by level."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from momentree._choices import Growth
from momentree._types import Floats, Ints
from momentree.assignment.rules import Rule
from momentree.backends import RowBlocks
from momentree.messages import Message
from momentree.objects import MixtureParameters
from momentree.tree.split import Split, Splitter
from momentree.tree.stopping import AcceptanceCriterion, accept_all

log = logging.getLogger("momentree.tree")


@dataclass(eq=False)
class Branch:
    """A node of a growing tree, without its samples."""

    depth: int = 0
    rule: Rule | None = None  # also None if the rule no longer matches the children
    gain: float = 0.0
    reason: Message | None = None
    children: list[Branch] = field(default_factory=list)

    def branches(self) -> list[Branch]:
        """Return this branch and all below it in pre-order."""
        return [self, *(b for child in self.children for b in child.branches())]

    def leaves(self) -> list[Branch]:
        """Return the leaves from left to right."""
        return [b for b in self.branches() if not b.children]


@dataclass(frozen=True)
class Grown:
    """A grown tree, the leaf of each sample, and the parameters of the leaves if known."""

    root: Branch
    labels: Ints
    parameters: MixtureParameters | None = None


@dataclass(frozen=True)
class Limits:
    """How far a tree may grow."""

    leaves: float = math.inf
    depth: float = math.inf

    @classmethod
    def of(cls, tree: Any, chosen: int | None = None) -> Limits:
        """Return the limits set by the parameters of an estimator, and by a chosen number."""
        wanted = None if tree.max_leaf_nodes == "auto" else tree.max_leaf_nodes
        wanted = wanted if chosen is None else chosen
        leaves = math.inf if wanted is None else wanted
        depth = math.inf if tree.max_depth is None else tree.max_depth
        if tree.growth == "depth":
            if tree.max_depth is None and wanted is not None:
                depth = math.ceil(math.log2(wanted))
            leaves = math.inf
        return cls(leaves, depth)

    @property
    def none(self) -> bool:
        """Whether there are no limits, so that a criterion must stop growth."""
        return math.isinf(self.leaves) and math.isinf(self.depth)


def grow(
    rows: RowBlocks,
    sample_weight: Floats,
    factor: Floats,
    splitter: Splitter,
    limits: Limits,
    *,
    growth: Growth = "best_first",
    criterion: AcceptanceCriterion = accept_all,
    known: dict[bytes, Split | Message] | None = None,
) -> Grown:
    """Grow a tree of samples from the root.

    `factor` is an additional number per sample for the splitter and the criterion. "best_first"
    always splits the leaf with the largest gain; "depth" splits every leaf down to the maximum
    depth. The rows of a group are copied only while its split is computed. Once the last leaf is
    made, no further splits are computed. With `known`, which keeps the splits of groups of samples,
    a tree that is grown further computes new splits alone.
    """
    n = rows.shape[0]
    root = Branch()
    leaves = [root]
    samples: dict[Branch, Ints] = {root: np.arange(n, dtype=np.intp)}
    splits: dict[Branch, Split] = {}

    def can_split(leaf: Branch) -> bool:
        if leaf in splits or leaf.reason:
            return leaf in splits
        if leaf.depth >= limits.depth:
            leaf.reason = Message("max_depth_reached", limit=limits.depth)
            return False
        here = samples[leaf]
        part = rows if len(here) == n else rows.take(here)
        key = b"" if known is None else here.tobytes()
        split = known.get(key) if known is not None else None
        if split is None:
            split = splitter(part, sample_weight[here], factor[here])
            if known is not None:
                known[key] = split
        if isinstance(split, Split):
            leaf.reason = criterion(split, part, sample_weight[here], factor[here])
            if leaf.reason is None:
                splits[leaf] = split
        else:
            leaf.reason = split
        return leaf in splits

    while len(leaves) < limits.leaves:
        if growth == "best_first":
            able = [leaf for leaf in leaves if can_split(leaf)]
            chosen = max(able, key=lambda leaf: splits[leaf].gain, default=None)
        else:
            chosen = next((leaf for leaf in leaves if can_split(leaf)), None)
        if chosen is None:
            break
        split, here = splits.pop(chosen), samples.pop(chosen)
        chosen.rule, chosen.gain = split.rule, split.gain
        chosen.children = [Branch(chosen.depth + 1) for _ in split.sizes]
        for side, child in enumerate(chosen.children):
            samples[child] = here[split.side == side]
        at = leaves.index(chosen)
        leaves[at : at + 1] = chosen.children
        log.info("growing the tree: %d leaves", len(leaves))
    labels = np.empty(n, dtype=np.intp)
    for i, leaf in enumerate(leaves):
        labels[samples[leaf]] = i
        leaf.reason = leaf.reason or Message("max_leaf_nodes_reached", limit=limits.leaves)
    return Grown(root, labels)
