"""Split samples without a model: D-SIDIWO (T Algorithm 5, T Theorem 6.2.1), then EM."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from momentree._types import Floats
from momentree.assignment.rules import LinearRule, Rule, ScoreRule
from momentree.backends import RowBlocks
from momentree.decomposition import discriminators
from momentree.messages import Message
from momentree.moments import AugmentedRawMoments
from momentree.preprocessing import FeatureMap
from momentree.refinement import em
from momentree.tree.split import SPLIT_ITER, NoSplit, Split, Whiten, evaluate_split, sides_of
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

    def __call__(self, rows: RowBlocks, sample_weight: Floats, scale: Floats) -> Split | NoSplit:
        """Split samples; `scale` contains the factor of each sample in the moments."""
        k, seen = self.n_sides, self.feature_map
        needed = k * self.min_samples_leaf
        if sample_weight.sum() < needed:
            return NoSplit(Message("too_few_to_split", needed=needed, n_sides=k))
        moments = AugmentedRawMoments(rows, sample_weight, scale, seen.moment_scale, seen.constant)
        white = self.whiten(moments, k)
        if white.rank < 2:
            return NoSplit(white.reason or Message("one_component"))
        D = discriminators(moments, white)
        coef = np.ascontiguousarray((D[:, :-1] * seen.moment_scale).T)
        split = self._by_scores(ScoreRule(coef, seen.constant * D[:, -1]), rows, sample_weight)
        if not self.refine_iter or k > 2 or isinstance(split, NoSplit):
            return split
        # EM starts from the means and sizes of the two sides (T section 6.3).
        refined = em(
            rows,
            seen.family.m_step(split.sums, split.sizes, self.smoothing),
            sample_weight=sample_weight,
            smoothing=self.smoothing,
            max_iter=self.refine_iter,
        )
        found = self._evaluated(
            LinearRule.between(refined.parameters, prior=True), rows, sample_weight
        )
        if isinstance(found, NoSplit):
            return found
        # The gain of the mixture, with uncertain sides: a split of pure noise gains almost
        # nothing, whereas it would gain much if sides were treated as known.
        whole = seen.family.maximized_log_likelihood(split.sums.sum(axis=1), split.sizes.sum())
        return replace(found, gain=refined.log_likelihood - float(whole))

    def _by_scores(
        self, rule: ScoreRule, rows: RowBlocks, sample_weight: Floats
    ) -> Split | NoSplit:
        """Return the split by scores; drop the smallest of more than two sides if necessary."""
        split = self._evaluated(rule, rows, sample_weight)
        while isinstance(split, NoSplit) and rule.n_sides > 2:
            sizes = sides_of(rule, rows, sample_weight)[2]
            rule = rule.reordered(np.delete(np.arange(rule.n_sides), sizes.argmin()))
            split = self._evaluated(rule, rows, sample_weight)
        return split

    def _evaluated(self, rule: Rule, rows: RowBlocks, sample_weight: Floats) -> Split | NoSplit:
        return evaluate_split(
            rule,
            rows,
            sample_weight,
            min_samples_leaf=self.min_samples_leaf,
            family=self.feature_map.family,
        )
