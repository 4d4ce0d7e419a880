"""Evaluate the split of a group of samples by a rule: the sides and the gain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats
from momentree.assignment.rules import Rule
from momentree.backends import Block, RowBlocks
from momentree.messages import Message
from momentree.objects import MixtureParameters, Moments, Whitening
from momentree.whitening import whiten

Side = NDArray[np.signedinteger[Any]]
Whiten = Callable[[Moments, int], Whitening]

SPLIT_ITER = 15
"""EM steps after each split; the later EM over all leaves makes more steps unnecessary."""
EXACT: Whiten = partial(whiten, tol=1e-12)
"""Whitening to rounding error, as the algorithms of the papers assume."""


@dataclass(frozen=True)
class Split:
    """A split of a group of n samples into s sides, largest first."""

    rule: Rule
    side: Side  # of each sample
    gain: float  # log-likelihood of the sides minus that of the group, in nats
    sums: Floats  # weighted sums of the statistics over each side, (p, s)
    sizes: Floats  # total sample weight of each side


Splitter: TypeAlias = Callable[[RowBlocks, Floats, Floats], Split | Message]
"""Splits a group, given its statistics, sample weights and one number per sample: the count per
token for topics, the scale of the record for D-SIDIWO. Returns the reason if it cannot."""


@dataclass(frozen=True)
class Sides:
    """The samples of a group on the s sides of a rule."""

    rule: Rule
    side: Side  # of each sample
    sums: Floats  # weighted sums of the statistics over each side, (p, s)
    sizes: Floats  # total sample weight of each side
    clear: Floats  # the sizes without samples whose largest score is tied
    ties: int  # number of these samples

    def gain(self, family: type[MixtureParameters]) -> float:
        """Return the log-likelihood of the sides minus that of the group, in nats."""
        parts = family.maximized_log_likelihood(self.sums, self.sizes).sum()
        return float(parts - self.log_likelihood_of_group(family))

    def log_likelihood_of_group(self, family: type[MixtureParameters]) -> float:
        """Return the log-likelihood of the group as one side."""
        return float(family.maximized_log_likelihood(self.sums.sum(axis=1), self.sizes.sum()))

    def split(self, gain: float) -> Split:
        """Return the split into these sides."""
        return Split(self.rule, self.side, gain, self.sums, self.sizes)


def evaluate_split(
    rule: Rule,
    rows: RowBlocks,
    sample_weight: Floats,
    *,
    min_samples_leaf: float,
    family: type[MixtureParameters],
    gain: float | None = None,
) -> Split | Message:
    """Return the split of a group by a rule, largest side first.

    The gain is that of the sides taken as known, unless it is given.
    """
    sides = ordered_sides(sides_of(rule, rows, sample_weight), rows, sample_weight)
    gain = sides.gain(family) if gain is None else gain
    return small_side(sides, min_samples_leaf) or sides.split(gain)


def small_side(sides: Sides, min_samples_leaf: float) -> Message | None:
    """Return a message if some side has fewer samples than a leaf may have."""
    if sides.sizes.min() < max(min_samples_leaf, np.finfo(float).tiny):
        return Message("small_side", least=min_samples_leaf)
    return None


def ordered_sides(sides: Sides, rows: RowBlocks, sample_weight: Floats) -> Sides:
    """Return the sides, largest first."""
    order = np.argsort(-sides.clear, kind="stable")
    if not (order[1:] < order[:-1]).any():
        return sides
    rule = sides.rule.reordered(order)
    if sides.ties:
        # Ties, such as documents without words, join the side that is largest without them, so
        # the order of the sides in the rule has no influence.
        return sides_of(rule, rows, sample_weight)
    side = np.argsort(order).astype(sides.side.dtype)[sides.side]
    return Sides(rule, side, sides.sums[:, order], sides.sizes[order], sides.clear[order], 0)


def sides_of(rule: Rule, rows: RowBlocks, sample_weight: Floats) -> Sides:
    """Return the sides of a rule in its order, in one pass over the data."""
    n, p = rows.shape
    # One byte per sample (up to 128 sides), because every candidate split keeps this array.
    side = np.empty(n, dtype=np.min_scalar_type(-rule.n_sides))

    def kernel(B: Block) -> Floats:
        v = sample_weight[B.at]
        scores = rule.scores(B).T  # one row per side, because the operations below use whole rows
        top = reduce(np.maximum, scores)
        best = [score == top for score in scores]
        several = reduce(np.add, [one.view(np.int8) for one in best]) > 1
        here = side[B.at]  # a view: blocks are disjoint
        here[:] = len(best) - 1
        for i in reversed(range(len(best) - 1)):
            np.copyto(here, i, where=best[i])
        groups = np.empty((len(v), len(best)))
        for i, column in enumerate(groups.T):
            np.multiply(v, here == i, out=column)
        out = np.zeros((p + 3, len(best)))
        out[:p] = B.tdot(groups)
        out[p] = out[p + 1] = groups.sum(axis=0)
        out[p + 2] = np.count_nonzero(several)
        if out[p + 2, 0]:
            out[p + 1] = groups[~several].sum(axis=0)
        return out

    total = rows.sum(kernel)
    return Sides(rule, side, total[:p], total[p], total[p + 1], int(total[p + 2, 0]))
