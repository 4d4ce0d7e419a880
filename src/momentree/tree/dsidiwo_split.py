"""Split samples without a model: D-SIDIWO (T Algorithm 5), then EM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from momentree._types import Floats, Ints
from momentree.assignment.rules import LinearRule, ScoreRule
from momentree.backends import RowArray, RowBlocks
from momentree.decomposition import discriminators
from momentree.messages import Message
from momentree.moments import AugmentedRawMoments
from momentree.preprocessing import FeatureMap
from momentree.refinement import em
from momentree.refinement.em import column_sums
from momentree.tree.split import (
    SPLIT_ITER,
    Groups,
    Sides,
    Splits,
    Whiten,
    sides_of,
    small_side,
)
from momentree.whitening import whiten

EARLY: Whiten = partial(whiten, tol=1e-3, max_iter=1)
"""The minimum of 2 k + 4 products for a split into k: on patient records, more products did not
make groups more stable. A tolerance of 0.05, which often stops earlier, reduced the stability of
trees with EM by 0.15."""

RETRIES = 10
"""Times that a split of real data is computed, each time without the outliers found before."""


@dataclass(frozen=True)
class DSidiwoSplitter:
    """Split groups of samples by the discriminators of SIDIWO on raw moments.

    Without steps of EM (`refine_iter`) this is T Algorithm 5.
    """

    min_samples_leaf: float
    feature_map: FeatureMap
    smoothing: float = 1.0
    n_sides: int = 2
    refine_iter: int = SPLIT_ITER
    whiten: Whiten = EARLY

    def __call__(self, groups: Groups) -> Splits:
        """Split groups of samples; their factors are those of the samples in the moments."""
        if not isinstance(groups.rows, RowBlocks):
            return self._masked(groups)
        parts = [(at, self._alone(alone)) for at, alone in groups.alone()]
        return Splits.joined(groups.rows.shape[0], parts)

    def _masked(self, groups: Groups) -> Splits:
        """Split groups of rows elsewhere, which cannot be copied: others have weight zero."""
        rows, own, found = groups.rows, groups.own, []
        side = rows.each(ZeroSides(), own)
        for j in range(groups.n_groups):
            weight = rows.each(WeightInGroup(j), own, groups.weight)
            inside = rows.each(Inside(j), own)
            part = self._alone(Groups(rows, weight, groups.factor, inside, 1))
            found += part.found
            side = rows.each(SideInGroup(j), own, part.side, side)
        return Splits(found, side)

    def _alone(self, group: Groups) -> Splits:
        """Split one group.

        A side with fewer samples than a leaf of real data consists of outliers: they are left out
        and the split is computed again, which may be repeated. They then join one of its sides.
        """
        sample_weight: RowArray = group.weight
        learned = sample_weight
        least = 0.95 * float(group.rows.total(sample_weight))
        for _ in range(RETRIES if self.feature_map.kind == "real" else 0):
            found = self._sides(group, learned)
            if isinstance(found, Message):
                return Splits([found], group.own)
            sides, gain = found
            small = np.flatnonzero(sides.sizes[0] < self.min_samples_leaf)
            if not len(small):
                return sides.splits(np.array([gain]), [None], 0.0)
            learned = np.where(np.isin(sides.side, small), 0.0, learned)
            if learned.sum() < least:
                break
        found = self._sides(group, sample_weight, drop=True)
        if isinstance(found, Message):
            return Splits([found], group.own)
        sides, gain = found
        return sides.splits(np.array([gain]), [None], self.min_samples_leaf)

    def _sides(
        self, group: Groups, learned: RowArray, *, drop: bool = False
    ) -> tuple[Sides, float] | Message:
        """Return the sides of a split, largest first, and its gain.

        The split is learned with the weights `learned`. With `drop`, the smallest of more than two
        sides is dropped if it is too small.
        """
        k, feature_map, rows = self.n_sides, self.feature_map, group.rows
        family = feature_map.family
        needed = k * self.min_samples_leaf
        if float(rows.total(group.weight)) < needed:
            return Message("too_few_to_split", needed=needed, n_sides=k)
        view, constant = feature_map.moment_scale, feature_map.constant
        moments = AugmentedRawMoments(rows, learned, group.factor, view, constant)
        white = self.whiten(moments, k)
        if white.rank < 2:
            return white.reason or Message("one_component")
        D = discriminators(moments, white)
        rule = ScoreRule(np.ascontiguousarray((D[:, :-1] * view).T), constant * D[:, -1])
        sides = self._by_scores(rule, group, drop=drop)
        sums, sizes = sides.sums[0], sides.sizes[0]
        if not self.refine_iter or k > 2 or small_side(sizes, self.min_samples_leaf):
            return sides, float(sides.gains(family)[0])
        # EM starts from the means and sizes of the two sides (T section 6.3).
        refined = em(
            rows,
            family.m_step(sums, sizes, self.smoothing),
            sample_weight=learned,
            smoothing=self.smoothing,
            max_iter=self.refine_iter,
        )
        # The gain of the mixture, with uncertain sides: a split of pure noise gains almost
        # nothing, whereas it would gain much if sides were treated as known.
        whole, size = sums.sum(axis=1), sizes.sum()
        if learned is not group.weight:  # of real data
            whole, size = column_sums(rows, learned), learned.sum()
        gain = refined.log_likelihood - float(family.maximized_log_likelihood(whole, size))
        sides = sides_of([LinearRule.between(refined.parameters, prior=True)], group)
        return sides, float(sides.gains(family)[0]) if family.known_sides else gain

    def _by_scores(self, rule: ScoreRule, group: Groups, *, drop: bool) -> Sides:
        """Return the sides by scores; with `drop`, without the smallest of more than two."""
        while True:
            sides = sides_of([rule], group, ordered=False)
            ordered = sides_of([rule], group)
            if (
                not drop
                or rule.n_sides == 2
                or not small_side(ordered.sizes[0], self.min_samples_leaf)
            ):
                return ordered
            rule = rule.reordered(np.delete(np.arange(rule.n_sides), sides.sizes[0].argmin()))


@dataclass(frozen=True)
class WeightInGroup:
    """The weights of the samples of a group, and zero for others."""

    group: int

    def __call__(self, own: Ints, v: Floats) -> Floats:
        """Return the weights."""
        return np.where(own == self.group, v, 0.0)


@dataclass(frozen=True)
class Inside:
    """0 for the samples of a group, and -1 for others."""

    group: int

    def __call__(self, own: Ints) -> Ints:
        """Return the numbers."""
        return np.where(own == self.group, 0, -1)


@dataclass(frozen=True)
class SideInGroup:
    """The sides of the samples of a group, and what is known of others."""

    group: int

    def __call__(self, own: Ints, side: Ints, others: Ints) -> Ints:
        """Return the sides."""
        return np.where(own == self.group, side, others)


@dataclass(frozen=True)
class ZeroSides:
    """The first side for all samples."""

    def __call__(self, own: Ints) -> Ints:
        """Return zeros."""
        return np.zeros(len(own), dtype=np.int64)
