"""Evaluate the splits of groups of samples by rules: the sides and the gains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from momentree._types import Floats, Ints
from momentree.assignment.rules import LinearRule, Rule
from momentree.backends import Block, RowArray, RowBlocks, Rows, group_totals, parted, with_room
from momentree.backends.kernels import kernel
from momentree.core.ties import SAME, largest_first
from momentree.messages import Message, wording
from momentree.objects import MixtureParameters

SPLIT_ITER = 15
"""EM steps after each split; the later EM over all leaves makes more steps unnecessary."""


@dataclass(frozen=True)
class SampleGroups:
    """Groups of samples that are split at once.

    Attributes
    ----------
    rows : Rows of shape (n, p)
        Statistics of the samples.
    weight : row array of shape (n,)
        Sample weights >= 0.
    factor : row array of shape (n,)
        One number per sample: the count per token for topics, the scale of the record for D-SIDIWO.
    own : row array of int of shape (n,)
        Group of each sample; -1 for none.
    n_groups : int
        Number of groups.
    parents : sequence of (Split, int) or None, default=None
        The split that made each group and its side, where they are known.
    """

    rows: Rows
    weight: RowArray
    factor: RowArray
    own: RowArray
    n_groups: int
    parents: Sequence[tuple[Split, int] | None] | None = None

    @property
    def sums(self) -> Floats | None:
        """Weighted sums of the statistics of each group, (g, p), if all parents are known."""
        known = [parent for parent in self.parents or [] if parent is not None]
        if len(known) < self.n_groups:
            return None
        return np.stack([split.sums[:, side] for split, side in known])

    @classmethod
    def one(cls, rows: Rows, weight: RowArray, factor: RowArray) -> SampleGroups:
        """Return all samples as one group."""
        return cls(
            rows, weight, factor, rows.placed(np.broadcast_to(np.int32(0), rows.shape[:1])), 1
        )

    def alone(self) -> list[tuple[RowArray, SampleGroups]]:
        """Return each group alone, and its samples.

        In memory, these are a copy of its rows, and their numbers. Rows elsewhere stay there, all
        of them, with the weights of other groups set to zero; the samples are then flags.
        """
        rows = self.rows
        if not isinstance(rows, RowBlocks):
            found = []
            for j in range(self.n_groups):
                inside = rows.each(Inside(j), self.own)
                weight = rows.each(weigh_inside, self.weight, inside)
                found.append((inside, SampleGroups.one(rows, weight, self.factor)))
            return found
        own = np.asarray(self.own)
        if self.n_groups == 1 and not own.any():
            return [(np.arange(len(own)), self)]
        order = np.argsort(own, kind="stable")
        ends = np.searchsorted(own[order], np.arange(self.n_groups + 1))
        weight, factor = np.asarray(self.weight), np.asarray(self.factor)
        parts = [order[a:b] for a, b in pairwise(ends)]
        return [(at, SampleGroups.one(rows.take(at), weight[at], factor[at])) for at in parts]


@kernel
@dataclass(frozen=True)
class Inside:
    """Which samples are in a group."""

    group: int

    def __call__(self, own: Ints) -> Ints:
        """Return flags."""
        return np.asarray(own == self.group)


@kernel
def weigh_inside(v: Floats, inside: Any) -> Floats:
    """Return the weights of samples in a group; zero for others."""
    return np.asarray(v * inside)


@kernel
def replace_inside(inside: Any, new: Ints, old: Ints) -> Ints:
    """Return the new sides of samples in a group, and the old ones of others."""
    return np.where(inside, new, old)


@dataclass(frozen=True)
class Split:
    """A split of a group of n samples into s sides, largest first."""

    rule: Rule
    gain: float  # log-likelihood of the sides minus that of the group, in nats
    sums: Floats  # weighted sums of the statistics over each side, (p, s)
    sizes: Floats  # total sample weight of each side
    directions: Floats | None = None  # next eigenvectors of the group, (p, m), to start from


@dataclass(frozen=True)
class Splits:
    """The splits of groups, or the reasons why they cannot be split."""

    found: list[Split | Message]
    side: RowArray  # of each sample in its group; without meaning where there is no split

    @classmethod
    def joined(cls, rows: Rows, parts: Sequence[tuple[RowArray, Splits]]) -> Splits:
        """Return the splits of groups that were split one by one by :meth:`SampleGroups.alone`."""
        found = [part.found[0] for _, part in parts]
        if isinstance(rows, RowBlocks):
            side = np.zeros(rows.shape[0], dtype=np.int16)
            for at, part in parts:
                side[at] = part.side
            return cls(found, side)
        sides = rows.placed(np.broadcast_to(np.int16(0), rows.shape[:1]))
        for inside, part in parts:
            sides = rows.each(replace_inside, inside, part.side, sides)
        return cls(found, sides)


Splitter: TypeAlias = Callable[[SampleGroups], Splits]
"""Splits groups of samples."""


@dataclass(frozen=True)
class Sides:
    """The samples of groups on the sides of their rules."""

    rules: list[Rule | None]
    side: RowArray  # of each sample
    sums: Floats  # weighted sums of the statistics over each side, (g, p, s)
    sizes: Floats  # total sample weight of each side, (g, s)
    clear: Floats  # the sizes without samples whose largest score is tied, (g, s)

    def gains(self, family: type[MixtureParameters]) -> Floats:
        """Return the log-likelihood of the sides minus that of each group, in nats."""
        return np.array(
            [
                family.maximized_log_likelihood(sums, sizes).sum()
                - family.maximized_log_likelihood(sums.sum(axis=1), sizes.sum())
                for sums, sizes in zip(self.sums, self.sizes, strict=True)
            ]
        )

    def splits(self, gains: Floats, reasons: Sequence[Message | None], least: float) -> Splits:
        """Return the splits into these sides, or the reasons against them."""
        found: list[Split | Message] = []
        for rule, reason, gain, sums, sizes in zip(
            self.rules, reasons, gains, self.sums, self.sizes, strict=True
        ):
            reason = reason or small_side(sizes, least)
            if reason or rule is None:
                found.append(reason or Message(wording.ONE_COMPONENT))
            else:
                found.append(Split(rule, float(gain), sums, sizes))
        return Splits(found, self.side)


def small_side(sizes: Floats, least: float) -> Message | None:
    """Return a message if some side has fewer samples than a leaf may have."""
    if sizes.min() < max(least, np.finfo(float).tiny):
        return Message(
            "[small_side] one side would have a total weight below "
            "{parameters.min_samples_leaf:{least:g}}",
            least=least,
        )
    return None


def sides_of(rules: Sequence[Rule | None], groups: SampleGroups, *, ordered: bool = True) -> Sides:
    """Return the sides of a rule for each group, largest first if `ordered`.

    Samples of a group without a rule have the largest side number.
    """
    g, p = len(rules), groups.rows.shape[1]
    by_rule = SidesByRule.of(rules, p)
    s = by_rule.n_sides
    code, total = groups.rows.map_and_sum(by_rule, SumsOfSides(g, s), groups.own, groups.weight)
    sums, more = parted(total, g * s, 1, 2 * g * s)
    sums = sums.reshape(g, s, p).transpose(0, 2, 1)
    sizes, clear = more.reshape(2, g, s)
    side = groups.rows.each(Untied(s), code)
    if not ordered or not any(rules):
        return Sides(list(rules), side, sums, sizes, clear)
    orders = np.stack([largest_first(*one) for one in zip(clear, sums, strict=True)])
    changed = (orders[:, 1:] < orders[:, :-1]).any(axis=1)
    changed &= np.array([rule is not None for rule in rules])
    if not changed.any():
        return Sides(list(rules), side, sums, sizes, clear)
    rules = [
        rule.reordered(order) if rule is not None and new else rule
        for rule, order, new in zip(rules, orders, changed, strict=True)
    ]
    if (clear != sizes)[changed].any():
        # Ties, such as documents without words, join the side that is largest without them, so
        # the order of the sides in the rule has no influence.
        return sides_of(rules, groups, ordered=False)
    orders = np.where(changed[:, None], orders, np.arange(s))
    return Sides(
        rules,
        groups.rows.each(Lookup2(np.argsort(orders, axis=1)), groups.own, side),
        np.take_along_axis(sums, orders[:, None], axis=2),
        np.take_along_axis(sizes, orders, axis=1),
        np.take_along_axis(clear, orders, axis=1),
    )


@kernel
@dataclass(frozen=True)
class SidesByRule:
    """The side of each sample by the rule of its group: s more than that if scores are tied."""

    coef: Floats  # (g, p, 1) of linear rules, (g, p, s) of others
    constant: Floats  # (g, 1) or (g, s)
    zero: Floats  # (g,)
    linear: bool

    @classmethod
    def of(cls, rules: Sequence[Rule | None], p: int) -> SidesByRule:
        """Return the kernel for rules of the same kind."""
        known = [rule for rule in rules if rule is not None]
        linear = all(isinstance(rule, LinearRule) for rule in known)
        width = 1 if linear else known[0].n_sides
        coef, constant = np.zeros((len(rules), p, width)), np.zeros((len(rules), width))
        zero = np.array([rule.zero if isinstance(rule, LinearRule) else 0.0 for rule in rules])
        for j, rule in enumerate(rules):
            if rule is not None:
                coef[j] = rule.coef.reshape(p, width)
                constant[j] = rule.intercept if isinstance(rule, LinearRule) else rule.constant
        return cls(coef, constant, zero, linear)

    @property
    def n_sides(self) -> int:
        """Number of sides s."""
        return 2 if self.linear else self.coef.shape[2]

    def __call__(self, B: Block, own: Ints, v: Floats) -> Any:  # noqa: ARG002
        """Return the sides, with the first of those that are tied."""
        # One or two bytes per sample, because every level keeps this array.
        kind = np.min_scalar_type(-2 * self.n_sides)
        scores = B.own_dot(self.coef, own) + self.constant[own]
        if self.linear:
            margin = scores[:, 0]
            zero = self.zero[own]
            return np.where(margin > zero, 0, np.where(margin < -zero, 1, 2)).astype(kind)
        scores = scores**2
        near = scores >= (1.0 - SAME) * scores.max(axis=1, keepdims=True)
        return (near.argmax(axis=1) + self.n_sides * (near.sum(axis=1) > 1)).astype(kind)


@kernel
@dataclass(frozen=True)
class SumsOfSides:
    """Sums over each side, its size, and its size without ties."""

    n_groups: int
    n_sides: int

    def __call__(self, B: Block, own: Ints, v: Floats, code: Ints) -> Floats:
        """Return the sums."""
        s, n_parts = self.n_sides, self.n_groups * self.n_sides
        part = np.where(own >= 0, own * s + code % s, -1)
        out, sums, more = with_room(B, n_parts, 1, 2 * n_parts)
        B.own_tdot(v[:, None], part, n_parts, out=sums)
        more[:n_parts] += group_totals(part, v, n_parts)
        more[n_parts:] += group_totals(part, np.where(code < s, v, 0.0), n_parts)
        return out


@kernel
@dataclass(frozen=True)
class Untied:
    """Sides from codes that mark ties."""

    n_sides: int

    def __call__(self, code: Ints) -> Ints:
        """Return the sides."""
        return code % self.n_sides


@kernel
@dataclass(frozen=True)
class Lookup2:
    """A number for each pair of a group and a side; samples in no group keep their side."""

    table: Ints

    def __call__(self, own: Ints, side: Ints) -> Ints:
        """Return the numbers."""
        return np.asarray(np.where(own >= 0, self.table[own, side], side), side.dtype)
