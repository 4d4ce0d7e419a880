"""Split samples without a model: D-SIDIWO (T Algorithm 5), then EM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momentree._types import Floats
from momentree.assignment.rules import LinearRule, ScoreRule
from momentree.backends import RowArray, RowBlocks
from momentree.core.ties import largest
from momentree.decomposition import discriminators
from momentree.decomposition.sidiwo import common_rotation
from momentree.messages import Message
from momentree.moments import AugmentedRawMoments
from momentree.moments.augmented import GroupedRawMoments
from momentree.objects import MixtureParameters
from momentree.preprocessing import FeatureMap
from momentree.refinement import em
from momentree.refinement.em import column_sums
from momentree.refinement.em_groups import em_of_groups
from momentree.tree.split import SPLIT_ITER, Groups, Sides, Splits, sides_of, small_side
from momentree.whitening import whiten, whiten_groups

EARLY_TOL, EARLY_ITER = 1e-3, 1
"""Whitening stops after the minimum of 2 k + 4 products for a split into k: on patient records,
more products did not make groups more stable. A tolerance of 0.05, which often stops earlier,
reduced the stability of trees with EM by 0.15."""
EXACT_TOL = 1e-12
"""Whitening to rounding error, as the algorithms of the papers assume."""

RETRIES = 10
"""Times that a split of real data is computed, each time without the outliers found before."""


@dataclass(frozen=True)
class DSidiwoSplitter:
    """Split groups of samples by the discriminators of SIDIWO on raw moments.

    Without steps of EM (`refine_iter`) this is T Algorithm 5. Groups of records or counts are
    split in two in the same passes over the data, unless SciPy's functions compute the products
    with rows in memory: these take half the time on copies of the rows of each group. Groups of
    real values, whose outliers make some splits start again, of directions, which are dense, and
    those to be split into more sides are split one by one.
    """

    min_samples_leaf: float
    feature_map: FeatureMap
    smoothing: float = 1.0
    n_sides: int = 2
    refine_iter: int = SPLIT_ITER
    exact: bool = False

    def __call__(self, groups: Groups) -> Splits:
        """Split groups of samples; their factors are those of the samples in the moments."""
        rows, sparse = groups.rows, self.feature_map.kind in ("binary", "counts")
        if self.n_sides == 2 and sparse and not (isinstance(rows, RowBlocks) and not rows.compiled):
            return self._at_once(groups)
        parts = [(at, self._alone(alone)) for at, alone in groups.alone()]
        return Splits.joined(groups.rows, parts)

    def _at_once(self, groups: Groups) -> Splits:
        """Split groups in two, all in the same passes."""
        family = self.feature_map.family
        rules, reasons = self._rules(groups)
        if all(reasons):
            return Splits([reason for reason in reasons if reason], groups.own)
        sides = sides_of(rules, groups)
        gains = sides.gains(family)
        if self.refine_iter:
            starts: list[MixtureParameters | None] = []
            for j, (sums, sizes) in enumerate(zip(sides.sums, sides.sizes, strict=True)):
                reasons[j] = reasons[j] or small_side(sizes, self.min_samples_leaf)
                # EM starts from the means and sizes of the two sides (T section 6.3).
                start = None if reasons[j] else family.m_step(sums, sizes, self.smoothing)
                starts.append(start)
            totals = sides.sums.sum(axis=2), sides.sizes.sum(axis=1)
            refined = em_of_groups(
                groups.rows,
                groups.own,
                starts,
                sample_weight=groups.weight,
                smoothing=self.smoothing,
                max_iter=self.refine_iter,
                totals=totals,
            )
            # The gain of the mixture, with uncertain sides: a split of pure noise gains almost
            # nothing, whereas it would gain much if sides were treated as known.
            gains = np.array(
                [
                    0.0
                    if found is None
                    else found.log_likelihood - float(family.maximized_log_likelihood(*whole))
                    for found, *whole in zip(refined, *totals, strict=True)
                ]
            )
            sides = sides_of(
                [
                    None if found is None else LinearRule.between(found.parameters, prior=True)
                    for found in refined
                ],
                groups,
            )
        return sides.splits(gains, reasons, self.min_samples_leaf)

    def _rules(self, groups: Groups) -> tuple[list[ScoreRule | None], list[Message | None]]:
        """Return the rule of each group, or the reason against its split."""
        view, constant = self.feature_map.moment_scale, self.feature_map.constant
        moments = GroupedRawMoments(
            groups.rows,
            groups.own,
            groups.n_groups,
            sample_weight=groups.weight,
            row_scale=groups.factor,
            column_scale=view,
            constant=constant,
        )
        reasons = [self._too_few(float(size)) for size in moments.sizes]
        which = [j for j, reason in enumerate(reasons) if reason is None]
        rules: list[ScoreRule | None] = [None] * groups.n_groups
        W = np.zeros((groups.n_groups, 2, len(view) + 1))
        if which:
            tol, max_iter = self._accuracy
            found, _ = whiten_groups(moments, 2, which, tol=tol, max_iter=max_iter)
            for j, white in zip(which, found, strict=True):
                if white.rank < 2:
                    reasons[j] = white.reason or Message("one_component")
                else:
                    W[j] = white.W
        if all(reasons):
            return rules, reasons
        for j, H in enumerate(moments.whitened_slices(W)):
            if reasons[j] is None:
                rules[j] = self._rule(common_rotation(H)[0].T @ W[j])
        return rules, reasons

    @property
    def _accuracy(self) -> tuple[float, int | None]:
        return (EXACT_TOL, None) if self.exact else (EARLY_TOL, EARLY_ITER)

    def _too_few(self, size: float) -> Message | None:
        needed = self.n_sides * self.min_samples_leaf
        if size < needed:
            return Message("too_few_to_split", needed=needed, n_sides=self.n_sides)
        return None

    def _rule(self, D: Floats) -> ScoreRule:
        view, constant = self.feature_map.moment_scale, self.feature_map.constant
        return ScoreRule(np.ascontiguousarray((D[:, :-1] * view).T), constant * D[:, -1])

    def _alone(self, group: Groups) -> Splits:
        """Split one group.

        A side with fewer samples than a leaf of real data consists of outliers: they are left out
        and the split is computed again, which may be repeated. They then join one of its sides.
        """
        sample_weight = learned = group.weight
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
            if float(group.rows.total(learned)) < least:
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
        if too_few := self._too_few(float(rows.total(group.weight))):
            return too_few
        view, constant = feature_map.moment_scale, feature_map.constant
        moments = AugmentedRawMoments(rows, learned, group.factor, view, constant)
        tol, max_iter = self._accuracy
        white = whiten(moments, k, tol=tol, max_iter=max_iter)
        if white.rank < 2:
            return white.reason or Message("one_component")
        rule = self._rule(discriminators(moments, white))
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
        if learned is not group.weight:
            whole, size = column_sums(rows, learned), rows.total(learned)
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
            rule = rule.reordered(np.delete(np.arange(rule.n_sides), largest(-sides.sizes[0])))
