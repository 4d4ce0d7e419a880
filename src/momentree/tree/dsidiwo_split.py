"""Split samples without a model: D-SIDIWO (T Algorithm 5), then EM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from momentree._types import Floats
from momentree.assignment.rules import LinearRule, ScoreRule
from momentree.backends import RowBlocks
from momentree.decomposition import discriminators
from momentree.messages import Message
from momentree.moments import AugmentedRawMoments
from momentree.preprocessing import FeatureMap
from momentree.refinement import em
from momentree.tree.split import (
    SPLIT_ITER,
    Sides,
    Split,
    Whiten,
    ordered_sides,
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

    def __call__(self, rows: RowBlocks, sample_weight: Floats, scale: Floats) -> Split | Message:
        """Split samples; `scale` contains the factor of each sample in the moments.

        A side with fewer samples than a leaf of real data consists of outliers: they are left out
        and the split is computed again, which may be repeated. They then join one of its sides.
        """
        learned, least = sample_weight, 0.95 * sample_weight.sum()
        for _ in range(RETRIES if self.feature_map.kind == "real" else 0):
            found = self._sides(rows, learned, sample_weight, scale)
            if isinstance(found, Message):
                return found
            sides, gain = found
            small = np.flatnonzero(sides.sizes < self.min_samples_leaf)
            if not len(small):
                return sides.split(gain)
            learned = np.where(np.isin(sides.side, small), 0.0, learned)
            if learned.sum() < least:
                break
        found = self._sides(rows, sample_weight, sample_weight, scale, drop=True)
        if isinstance(found, Message):
            return found
        sides, gain = found
        return small_side(sides, self.min_samples_leaf) or sides.split(gain)

    def _sides(
        self,
        rows: RowBlocks,
        learned: Floats,
        sample_weight: Floats,
        scale: Floats,
        *,
        drop: bool = False,
    ) -> tuple[Sides, float] | Message:
        """Return the sides of a split, largest first, and its gain.

        The split is learned with the weights `learned`. With `drop`, the smallest of more than two
        sides is dropped if it is too small.
        """
        k, feature_map = self.n_sides, self.feature_map
        family = feature_map.family
        needed = k * self.min_samples_leaf
        if sample_weight.sum() < needed:
            return Message("too_few_to_split", needed=needed, n_sides=k)
        view, constant = feature_map.moment_scale, feature_map.constant
        moments = AugmentedRawMoments(rows, learned, scale, view, constant)
        white = self.whiten(moments, k)
        if white.rank < 2:
            return white.reason or Message("one_component")
        D = discriminators(moments, white)
        rule = ScoreRule(np.ascontiguousarray((D[:, :-1] * view).T), constant * D[:, -1])
        sides = self._by_scores(rule, rows, sample_weight, drop=drop)
        if not self.refine_iter or k > 2 or small_side(sides, self.min_samples_leaf):
            return sides, sides.gain(family)
        # EM starts from the means and sizes of the two sides (T section 6.3).
        refined = em(
            rows,
            family.m_step(sides.sums, sides.sizes, self.smoothing),
            sample_weight=learned,
            smoothing=self.smoothing,
            max_iter=self.refine_iter,
        )
        # The gain of the mixture, with uncertain sides: a split of pure noise gains almost
        # nothing, whereas it would gain much if sides were treated as known.
        of_group = sides.log_likelihood_of_group(family)
        if learned is not sample_weight:
            sums = rows.sum(lambda B: B.tdot(learned[B.at]))
            of_group = float(family.maximized_log_likelihood(sums, learned.sum()))
        gain = refined.log_likelihood - of_group
        linear = sides_of(LinearRule.between(refined.parameters, prior=True), rows, sample_weight)
        sides = ordered_sides(linear, rows, sample_weight)
        return sides, sides.gain(family) if family.known_sides else gain

    def _by_scores(
        self, rule: ScoreRule, rows: RowBlocks, sample_weight: Floats, *, drop: bool
    ) -> Sides:
        """Return the sides by scores; with `drop`, without the smallest of more than two."""
        while True:
            sides = sides_of(rule, rows, sample_weight)
            ordered = ordered_sides(sides, rows, sample_weight)
            if not drop or rule.n_sides == 2 or not small_side(ordered, self.min_samples_leaf):
                return ordered
            rule = rule.reordered(np.delete(np.arange(rule.n_sides), sides.sizes.argmin()))
