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
        """Split samples; `scale` contains the factor of each sample in the moments."""
        k, feature_map = self.n_sides, self.feature_map
        family = feature_map.family
        needed = k * self.min_samples_leaf
        if sample_weight.sum() < needed:
            return Message("too_few_to_split", needed=needed, n_sides=k)
        view, constant = feature_map.moment_scale, feature_map.constant
        moments = AugmentedRawMoments(rows, sample_weight, scale, view, constant)
        white = self.whiten(moments, k)
        if white.rank < 2:
            return white.reason or Message("one_component")
        D = discriminators(moments, white)
        rule = ScoreRule(np.ascontiguousarray((D[:, :-1] * view).T), constant * D[:, -1])
        sides = self._by_scores(rule, rows, sample_weight)
        if isinstance(sides, Message):
            return sides
        if not self.refine_iter or k > 2:
            return sides.split(sides.gain(family))
        # EM starts from the means and sizes of the two sides (T section 6.3).
        refined = em(
            rows,
            family.m_step(sides.sums, sides.sizes, self.smoothing),
            sample_weight=sample_weight,
            smoothing=self.smoothing,
            max_iter=self.refine_iter,
        )
        # The gain of the mixture, with uncertain sides: a split of pure noise gains almost
        # nothing, whereas it would gain much if sides were treated as known.
        gain = refined.log_likelihood - sides.log_likelihood_of_group(family)
        linear = sides_of(LinearRule.between(refined.parameters, prior=True), rows, sample_weight)
        sides = ordered_sides(linear, rows, sample_weight)
        if family.known_sides:
            gain = sides.gain(family)
        return small_side(sides, self.min_samples_leaf) or sides.split(gain)

    def _by_scores(
        self, rule: ScoreRule, rows: RowBlocks, sample_weight: Floats
    ) -> Sides | Message:
        """Return the sides by scores; drop the smallest of more than two if necessary."""
        while True:
            sides = sides_of(rule, rows, sample_weight)
            ordered = ordered_sides(sides, rows, sample_weight)
            reason = small_side(ordered, self.min_samples_leaf)
            if reason is None:
                return ordered
            if rule.n_sides == 2:
                return reason
            rule = rule.reordered(np.delete(np.arange(rule.n_sides), sides.sizes.argmin()))
