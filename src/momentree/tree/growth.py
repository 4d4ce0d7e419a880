"""Grow a tree of samples: best first, or level by level."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.assignment.rules import Rule
from momentree.backends import RowArray, Rows
from momentree.backends.kernels import kernel
from momentree.core.choices import Growth
from momentree.core.progress import time_left
from momentree.core.ties import SAME, largest
from momentree.messages import Message, wording
from momentree.objects import MixtureParameters
from momentree.tree.split import SampleGroups, Split, Splits, Splitter
from momentree.tree.stopping import AcceptanceCriterion

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
    """A grown tree, the leaf of each sample, and what is known of the leaves.

    Attributes
    ----------
    root : Branch
        The tree.
    labels : row array of int of shape (n,)
        The leaf of each sample.
    parameters : MixtureParameters or None
        A component for each leaf.
    sums_and_sizes : tuple of ndarray of shape (p, n_leaves) and (n_leaves,), or None
        The weighted sums of the statistics over the samples of each leaf, and the weight of each.
    """

    root: Branch
    labels: RowArray
    parameters: MixtureParameters | None = None
    sums_and_sizes: tuple[Floats, Floats] | None = None


MAX_MERGED_LEAVES = 8
"""Leaves that are grown, and then merged while AIC3 falls."""


@dataclass(frozen=True)
class Limits:
    """How far a tree may grow."""

    leaves: float = math.inf
    depth: float = math.inf
    by_criterion: bool = False
    """Whether a criterion accepts or rejects each split."""

    @classmethod
    def of(cls, tree: Any) -> Limits:
        """Return the limits set by the parameters of an estimator, or by the chosen number."""
        choice = getattr(tree, "choice_", None)
        wanted = tree.max_leaf_nodes if choice is None else choice.n_components
        wanted = MAX_MERGED_LEAVES if wanted == "aic3" else wanted
        by_criterion = isinstance(wanted, str)
        # Small integers of NumPy overflow in products.
        leaves = math.inf if by_criterion or wanted is None else int(wanted)
        depth = math.inf if tree.max_depth is None else int(tree.max_depth)
        if tree.growth == "depth" and math.isinf(depth) and math.isfinite(leaves):
            depth = math.ceil(math.log2(leaves))
        return cls(leaves, depth, by_criterion)

    @property
    def by_number(self) -> bool:
        """Whether the number of leaves alone ends growth."""
        return math.isfinite(self.leaves) and math.isinf(self.depth)


@dataclass(eq=False)
class Group:
    """A group of samples and what is known of its split."""

    number: int
    depth: int = 0
    tried: bool = False
    split: Split | None = None
    reason: Message | None = None
    children: list[Group] = field(default_factory=list)
    parent: Group | None = None
    side: int = 0

    @property
    def made_by(self) -> tuple[Split, int] | None:
        """The split that made this group, and its side."""
        if self.parent is None or self.parent.split is None:
            return None
        return self.parent.split, self.side


class TreeGrowth:
    """A tree that grows further on demand, and computes all splits of a level at once.

    "best_first" always splits the leaf with the largest gain; "depth" splits level by level, on
    each level the leaves with the largest gain first. No split depends on other leaves, so the
    splits of all leaves that growth may reach next are computed in the same passes over the data,
    and the tree is then chosen among them: the number of passes depends on the depth of the tree,
    not on the number of its leaves.

    Parameters
    ----------
    rows : Rows of shape (n, p)
        Statistics of the samples.
    sample_weight : row array of shape (n,)
        Weights >= 0.
    factor : row array of shape (n,)
        One number per sample for the splitter and the criterion.
    splitter : Splitter
        Splits groups.
    growth : {"best_first", "depth"}, default="best_first"
        Which leaf is split next.
    criterion : AcceptanceCriterion or None, default=None
        Rejects splits; None accepts all.
    """

    def __init__(
        self,
        rows: Rows,
        sample_weight: RowArray,
        factor: RowArray,
        splitter: Splitter,
        *,
        growth: Growth = "best_first",
        criterion: AcceptanceCriterion | None = None,
    ) -> None:
        self._rows, self._weight, self._factor = rows, sample_weight, factor
        self._splitter, self._growth, self._criterion = splitter, growth, criterion
        self._root = Group(0)
        self._groups = [self._root]
        # The smallest known group of each sample.
        self._number: RowArray = rows.placed(np.broadcast_to(np.int32(0), rows.shape[:1]))

    def grow(self, limits: Limits) -> Grown:
        """Return the tree within limits; the splits that are known already are not repeated."""
        start = time.monotonic()
        while True:
            root, leaves, unknown = self._chosen(limits)
            if len(leaves) > 1:
                # A level, which takes about as long as any other, at most doubles the leaves.
                share = math.log(len(leaves)) / math.log(limits.leaves)
                left = time_left(start, share, "about ") if unknown else ""
                log.info("growing the tree: %d leaves%s", len(leaves), left)
            if not unknown:
                return self._result(root, leaves, limits)
            groups = self._groups_to_split(unknown)
            splits = self._splitter(groups)
            reasons: list[Message | None] = [None] * len(unknown)
            if self._criterion is not None:
                reasons = self._criterion(splits, groups)
            self._divide(unknown, groups, splits, reasons)

    def _result(self, root: Branch, leaves: list[tuple[Branch, Group]], limits: Limits) -> Grown:
        """Return a tree with the reasons of its leaves, and what is known of their samples."""
        leaf: Any = np.full(len(self._groups), -1)
        for i, (branch, group) in enumerate(leaves):
            reached = Message(wording.MAX_LEAF_NODES_REACHED, limit=limits.leaves)
            branch.reason = branch.reason or group.reason or reached
            leaf[group.number] = i
        for group in self._groups:  # parents come first
            if group.parent is not None and leaf[group.number] < 0:
                leaf[group.number] = leaf[group.parent.number]
        sums_and_sizes = None
        made_by = [group.made_by for _, group in leaves]
        if known := [made for made in made_by if made is not None]:
            sums = np.stack([split.sums[:, side] for split, side in known], axis=1)
            sums_and_sizes = sums, np.array([split.sizes[side] for split, side in known])
        labels = self._rows.each(Lookup(leaf), self._number)
        return Grown(root, labels, sums_and_sizes=sums_and_sizes)

    def _chosen(self, limits: Limits) -> tuple[Branch, list[tuple[Branch, Group]], list[Group]]:
        """Return the tree by the known splits, its leaves, and the groups that may change it.

        Groups whose splits are unknown are passed over, which only lets others be split earlier.
        So these groups include all that have a say in the next splits; without any, the tree is
        the final one.
        """
        root = Branch()
        leaves, unknown = [(root, self._root)], {}
        while len(leaves) < limits.leaves:
            able = []
            for i, (branch, group) in enumerate(leaves):
                if branch.depth >= limits.depth:
                    branch.reason = Message(
                        "[max_depth_reached] {parameters.max_depth:{limit}} reached",
                        limit=limits.depth,
                    )
                elif not group.tried:
                    unknown[group.number] = group
                elif group.split is not None:
                    able.append(i)
            if not able:
                break
            if self._growth == "depth":
                top = min(leaves[i][0].depth for i in able)
                able = [i for i in able if leaves[i][0].depth == top]
            # Gains near zero are differences of sums over all rows, and as inexact as these.
            rounding = SAME * self._rows.shape[0]
            gains = [split.gain for i in able if (split := leaves[i][1].split) is not None]
            at = able[largest(gains, least=rounding)]
            branch, group = leaves[at]
            assert group.split is not None  # noqa: S101 - for the type checker
            branch.rule, branch.gain = group.split.rule, group.split.gain
            branch.children = [Branch(branch.depth + 1) for _ in group.children]
            leaves[at : at + 1] = zip(branch.children, group.children, strict=True)
        return root, leaves, list(unknown.values())

    def _groups_to_split(self, wanted: list[Group]) -> SampleGroups:
        """Return groups to be split in the same passes over the data."""
        place: Any = np.full(len(self._groups), -1, dtype=np.int32)
        place[[group.number for group in wanted]] = np.arange(len(wanted))
        own = self._rows.each(Lookup(place), self._number)
        parents = [group.made_by for group in wanted]
        return SampleGroups(self._rows, self._weight, self._factor, own, len(wanted), parents)

    def _divide(
        self,
        wanted: list[Group],
        groups: SampleGroups,
        splits: Splits,
        reasons: list[Message | None],
    ) -> None:
        """Record the splits of groups, and the new groups of their samples."""
        numbers: Any = np.full((len(wanted), 2), -1, dtype=np.int32)
        for j, (group, found, reason) in enumerate(zip(wanted, splits.found, reasons, strict=True)):
            group.tried = True
            if not isinstance(found, Split) or reason is not None:
                group.reason = reason if isinstance(found, Split) else found
                continue
            group.split = found
            first = len(self._groups)
            group.children = [
                Group(first + i, group.depth + 1, parent=group, side=i) for i in range(2)
            ]
            self._groups += group.children
            numbers[j] = first, first + 1
        for group in wanted:
            parent = group.parent
            if parent is not None and parent.split and all(c.tried for c in parent.children):
                parent.split = replace(parent.split, directions=None)  # of no more use
        if (numbers >= 0).any():
            self._number = self._rows.each(Divided(numbers), self._number, groups.own, splits.side)


@kernel
@dataclass(frozen=True)
class Lookup:
    """A number for each group."""

    table: Ints

    def __call__(self, number: Ints) -> Ints:
        """Return the numbers."""
        return self.table[number]


@kernel
@dataclass(frozen=True)
class Divided:
    """The new groups of samples whose groups were split, else the old ones."""

    numbers: Ints  # of the sides of each group that was tried; -1 where it was not split

    def __call__(self, number: Ints, own: Ints, side: Ints) -> Ints:
        """Return the numbers of groups."""
        new = np.where(own >= 0, self.numbers[own, side], -1)
        return np.where(new >= 0, new, number)
