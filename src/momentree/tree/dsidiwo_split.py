"""Split a group of samples with no model: D-SIDIWO, T Algorithm 5, with EM after it if wanted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from momentree.assignment.rules import LinearRule, Rule, ScoreRule
from momentree.backends import RowBlocks
from momentree.decomposition.sidiwo import discriminators
from momentree.moments import AugmentedRawMoments
from momentree.objects import MixtureParameters
from momentree.refinement import em
from momentree.tree.topic_split import NoSplit, Split, Whiten, settled, sides_of
from momentree.whitening import whiten

__all__ = ["EARLY", "DirectSplitter"]

Floats = NDArray[np.float64]

EARLY: Whiten = partial(whiten, tol=1e-3, max_iter=1)
"""A split into k needs no more than the least, 2 k + 4 products: on records of patients more of
them made groups no more stable. A tolerance of 0.05, which ends many splits before, made trees with
EM less stable by 0.15."""


@dataclass(frozen=True)
class DirectSplitter:
    """Split groups of samples by the discriminators of SIDIWO on raw moments.

    Attributes
    ----------
    n_sides : int
        Sides of a split.
    min_samples_leaf : float
        Least total sample weight on each side.
    refine_iter : int
        EM steps after a split in two; 0 for none, which is T Algorithm 5.
    smoothing : float
        Average samples that are added to each side in EM.
    family : type of MixtureParameters
        For EM and gains.
    view : ndarray of shape (p,)
        What the moments see of each statistic.
    constant : float
        What they see besides, the same in every sample.
    whiten : callable
        Whitens moments for a number of components; by default no further than a split needs.
    """

    n_sides: int
    min_samples_leaf: float
    refine_iter: int
    smoothing: float
    family: type[MixtureParameters]
    view: Floats
    constant: float
    whiten: Whiten = EARLY

    def __call__(self, rows: RowBlocks, sample_weight: Floats, factor: Floats) -> Split | NoSplit:
        """Split the samples `rows`, which the moments see scaled by `factor`."""
        k = self.n_sides
        if sample_weight.sum() < k * self.min_samples_leaf:
            return NoSplit(
                f"fewer than {k} x min_samples_leaf = {k * self.min_samples_leaf:g} records"
            )
        moments = AugmentedRawMoments(rows, sample_weight, factor, self.view, self.constant)
        white = self.whiten(moments, k)
        if white.rank < 2:
            return NoSplit(white.reason)
        D = discriminators(moments, white)
        coef = np.ascontiguousarray((D[:, :-1] * self.view).T)
        split = self._split(ScoreRule(coef, self.constant * D[:, -1]), rows, sample_weight)
        if not self.refine_iter or k > 2 or isinstance(split, NoSplit):
            return split
        # The means and shares of the two sides are where EM starts (T section 6.3).
        refined = em(
            rows,
            self.family.m_step(split.sums, split.sizes, self.smoothing),
            sample_weight=sample_weight,
            smoothing=self.smoothing,
            max_iter=self.refine_iter,
        )
        linear = LinearRule.between(refined.parameters, prior=True)
        found = self._settled(linear, rows, sample_weight)
        if isinstance(found, NoSplit):
            return found
        # The likelihood of the mixture, in which no sample is of a side for certain: cutting noise
        # in halves gains next to nothing by it, and much where the sides are taken as known.
        whole = self.family.maximized_log_likelihood(split.sums.sum(axis=1), split.sizes.sum())
        return replace(found, gain=refined.log_likelihood - float(whole))

    def _split(self, rule: ScoreRule, rows: RowBlocks, sample_weight: Floats) -> Split | NoSplit:
        """Return the split by scores: of many sides those that are too small are left out."""
        split = self._settled(rule, rows, sample_weight)
        while isinstance(split, NoSplit) and rule.n_sides > 2:
            sizes = sides_of(rule, rows, sample_weight)[2]
            rule = rule.reordered(np.delete(np.arange(rule.n_sides), sizes.argmin()))
            split = self._settled(rule, rows, sample_weight)
        return split

    def _settled(self, rule: Rule, rows: RowBlocks, sample_weight: Floats) -> Split | NoSplit:
        return settled(
            rule,
            rows,
            sample_weight,
            min_samples_leaf=self.min_samples_leaf,
            family=self.family,
        )
