"""Split groups of samples by moments: topics (H Algorithm 2) and clusters (T Algorithm 5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from momentree._types import Floats
from momentree.assignment.rules import LinearRule, ScoreRule
from momentree.backends import RowArray, RowBlocks, collected
from momentree.core.choices import Weighting
from momentree.core.eigenpairs import DENSE_FEATURES
from momentree.decomposition import discriminators
from momentree.decomposition.sidiwo import common_rotation, pseudo_centers
from momentree.messages import Message, wording
from momentree.moments import AugmentedRawMoments, GroupedMoments, augmented, single_topic
from momentree.objects import Decomposition, MixtureParameters, TopicParameters, Whitening
from momentree.parameters import topic_parameters
from momentree.preprocessing import FeatureMap
from momentree.refinement import em
from momentree.refinement.em import column_sums, em_of_groups
from momentree.tree.split import (
    SPLIT_ITER,
    SampleGroups,
    Sides,
    Split,
    Splits,
    sides_of,
    small_side,
)
from momentree.whitening import group_starts, whiten, whiten_groups

_TOO_FEW_TO_SPLIT = (
    "[too_few_to_split] the total sample weight is less than {needed:g}, twice "
    "{parameters.min_samples_leaf}"
)


P = TypeVar("P", bound=MixtureParameters)

WIDTH, BLOCK_TOL = 4, 1e-2
"""Columns of the block iteration, and the residual at which it stops."""
COLD, WARM = 4, 2
"""Its most products with M2, for the root and for groups that start from the eigenvectors of their
parents. Sampling error changes the eigenvectors more than these limits do: on twelve labeled
corpora the mean agreement with labels (NMI) was 0.453, with one product 0.372, and with eight
products of a single column 0.451. Starts from parents are also better than cold ones, with which
four products of four columns reached 0.441."""


EXACT_TOL = 1e-12
"""Whitening to rounding error, as the algorithms of the papers assume."""
EARLY_TOL, EARLY_ITER = 1e-3, 1
"""Whitening of samples stops after the minimum of 2 k + 4 products for a split into k: on patient
records, more products did not make groups more stable. A tolerance of 0.05, which often stops
earlier, reduced the stability of trees with EM by 0.15."""
RETRIES = 10
"""Times that a split of real data is computed, each time without the outliers found before."""


@dataclass(frozen=True)
class TopicSplitter:
    """Split groups of documents in two; without EM steps this is H Algorithm 2.

    The factor of a document is its count per token: the (log-scaled) count of one token.
    """

    min_samples_leaf: float
    smoothing: float
    refine_iter: int = SPLIT_ITER
    weighting: Weighting = "length"
    random_state: int | np.random.RandomState | None = None
    exact: bool = False

    def __call__(self, groups: SampleGroups) -> Splits:
        """Split groups of documents."""
        start = self._directions_of_parents(groups)
        moments = self._moments(groups, start)
        every = range(moments.n_groups)
        directions: Sequence[Floats | None] = [None] * moments.n_groups
        if self.exact:
            whitenings, _ = whiten_groups(moments, 2, every, tol=EXACT_TOL)
        else:
            passes = COLD if start is None else WARM
            start = group_starts(moments.m1, None, WIDTH) if start is None else start
            whitenings, directions = whiten_groups(
                moments, 2, every, start, max_iter=passes, tol=BLOCK_TOL
            )
        reasons = self._reasons(moments, whitenings)
        if all(reasons):
            return Splits([reason for reason in reasons if reason], groups.own)
        W = np.zeros((moments.n_groups, 2, moments.m1.shape[1]))
        for j, white in enumerate(whitenings):
            if reasons[j] is None:
                W[j] = white.W
        H = moments.slices_to_rotate(W)
        topics: list[TopicParameters | None] = [None] * moments.n_groups
        for j, white in enumerate(whitenings):
            if reasons[j] is None:
                center = pseudo_centers(moments.m1[j], white, H[j])
                if center.n_components < 2 or not center.weights.sum() > 0:
                    reasons[j] = center.diagnostics["reason"] or Message(wording.ONE_COMPONENT)
                else:
                    topics[j] = self._topics(center, moments.words[j])
        if all(reasons):
            return Splits([reason for reason in reasons if reason], groups.own)
        gains = None
        if self.refine_iter:
            equal = np.array([0.5, 0.5])  # so that EM does not starve a small component
            topics, gains = _refine(
                groups,
                [None if t is None else TopicParameters(equal, t.centers) for t in topics],
                lambda j: self._log_likelihood_of_one(moments.words[j]),
                smoothing=self.smoothing,
                max_iter=self.refine_iter,
                totals=None if self.weighting == "three_words" else (moments.words, moments.sizes),
            )
        sides = sides_of(_rules_between(topics, prior=self.refine_iter > 0), groups)
        if gains is None:
            gains = sides.gains(TopicParameters)
        splits = sides.splits(gains, reasons, self.min_samples_leaf)
        found = [
            replace(split, directions=next_ones) if isinstance(split, Split) else split
            for split, next_ones in zip(splits.found, directions, strict=True)
        ]
        return Splits(found, splits.side)

    def _directions_of_parents(self, groups: SampleGroups) -> Floats | None:
        """Return where whitening starts if that is known from the parents of all groups."""
        parents = [parent for parent in groups.parents or [] if parent is not None]
        known = [split.directions for split, _ in parents if split.directions is not None]
        words = groups.sums
        if words is None or len(known) < len(words) or groups.rows.shape[1] <= DENSE_FEATURES:
            return None
        return group_starts(words, known, WIDTH)

    def _moments(self, groups: SampleGroups, first: Floats | None) -> GroupedMoments:
        rows, count_per_token, words = groups.rows, groups.factor, groups.sums
        if self.weighting == "three_words":
            rows = RowBlocks(single_topic.three_words(collected(rows).matrix, self.random_state))
            count_per_token, words = np.ones(rows.shape[0]), None
        return GroupedMoments(
            rows,
            groups.own,
            groups.n_groups,
            sample_weight=groups.weight,
            count_per_token=count_per_token,
            uniform=self.weighting == "uniform",
            first=first,
            words=words,
        )

    def _reasons(
        self, moments: GroupedMoments, whitenings: Sequence[Whitening]
    ) -> list[Message | None]:
        """Return the reasons against the splits of groups; None where there is none yet."""
        needed, reasons = 2 * self.min_samples_leaf, list[Message | None]()
        for size, triples, white in zip(
            moments.sizes, moments.has_triples, whitenings, strict=True
        ):
            if size < needed:
                reasons.append(Message(_TOO_FEW_TO_SPLIT, needed=needed))
            elif not triples:
                reasons.append(
                    Message(
                        "[no_triples] no document has three words or more; log scaling counts "
                        "repeated words less"
                    )
                )
            else:
                none = Message(wording.ONE_COMPONENT)
                reasons.append(None if white.rank == 2 else white.reason or none)
        return reasons

    def _log_likelihood_of_one(self, words: Floats) -> float:
        """Return the log-likelihood of one topic, smoothed like the two of a split."""
        one = TopicParameters.m_step(words[:, None], np.ones(1), self.smoothing)
        return float((words[:, None] * one.coefficients).sum())

    def _topics(self, centers: Decomposition, words: Floats) -> TopicParameters:
        """Return two topics without zeros, given the sums of words in their group.

        Projection onto the simplex creates zeros, which would exclude every document with that
        word, so add the pseudo-count to the counts that the centers predict.
        """
        occurs = None if self.exact else words > 0  # the papers project onto all words
        topics, total = topic_parameters(centers, occurs), float(words.sum())
        counts = topics.centers * (topics.weights * total)
        return TopicParameters.m_step(counts, topics.weights, self.smoothing)


@dataclass(frozen=True)
class DSidiwoSplitter:
    """Split groups of samples by the discriminators of SIDIWO on raw moments.

    Without steps of EM (`refine_iter`) this is T Algorithm 5. Groups of records or counts are
    split in two in the same passes over the data, unless SciPy's functions compute the products
    with rows in memory: these take half the time on copies of the rows of each group. Groups of
    real values, whose outliers make some splits start again, and of directions, which are dense,
    are split one by one.
    """

    min_samples_leaf: float
    feature_map: FeatureMap
    smoothing: float = 1.0
    refine_iter: int = SPLIT_ITER
    exact: bool = False

    def __call__(self, groups: SampleGroups) -> Splits:
        """Split groups of samples; their factors are those of the samples in the moments."""
        rows, sparse = groups.rows, self.feature_map.kind in ("binary", "counts")
        if sparse and not (isinstance(rows, RowBlocks) and not rows.compiled):
            return self._at_once(groups)
        parts = [(at, self._alone(alone)) for at, alone in groups.alone()]
        return Splits.joined(groups.rows, parts)

    def _at_once(self, groups: SampleGroups) -> Splits:
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
            refined, gains = _refine(
                groups,
                starts,
                lambda j: float(family.maximized_log_likelihood(totals[0][j], totals[1][j])),
                smoothing=self.smoothing,
                max_iter=self.refine_iter,
                totals=totals,
            )
            sides = sides_of(_rules_between(refined, prior=True), groups)
        return sides.splits(gains, reasons, self.min_samples_leaf)

    def _rules(self, groups: SampleGroups) -> tuple[list[ScoreRule | None], list[Message | None]]:
        """Return the rule of each group, or the reason against its split."""
        view, constant = self.feature_map.moment_scale, self.feature_map.constant
        moments = augmented.GroupedRawMoments(
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
                    reasons[j] = white.reason or Message(wording.ONE_COMPONENT)
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
        needed = 2 * self.min_samples_leaf
        return Message(_TOO_FEW_TO_SPLIT, needed=needed) if size < needed else None

    def _rule(self, D: Floats) -> ScoreRule:
        view, constant = self.feature_map.moment_scale, self.feature_map.constant
        return ScoreRule(np.ascontiguousarray((D[:, :-1] * view).T), constant * D[:, -1])

    def _alone(self, group: SampleGroups) -> Splits:
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
        found = self._sides(group, sample_weight)
        if isinstance(found, Message):
            return Splits([found], group.own)
        sides, gain = found
        return sides.splits(np.array([gain]), [None], self.min_samples_leaf)

    def discriminate(
        self, group: SampleGroups, weight: RowArray, n_sides: int = 2
    ) -> ScoreRule | Message:
        """Return the rule by the discriminators of a group, or why there are fewer than two.

        T section 6.2 states them for any number of sides; T Algorithm 5 uses two.
        """
        view, constant = self.feature_map.moment_scale, self.feature_map.constant
        moments = AugmentedRawMoments(group.rows, weight, group.factor, view, constant)
        tol, max_iter = self._accuracy
        white = whiten(moments, n_sides, tol=tol, max_iter=max_iter)
        if white.rank < 2:
            return white.reason or Message(wording.ONE_COMPONENT)
        return self._rule(discriminators(moments, white))

    def _sides(self, group: SampleGroups, learned: RowArray) -> tuple[Sides, float] | Message:
        """Return the sides of a split, largest first, and its gain.

        The split is learned with the weights `learned`.
        """
        family, rows = self.feature_map.family, group.rows
        if too_few := self._too_few(float(rows.total(group.weight))):
            return too_few
        rule = self.discriminate(group, learned)
        if isinstance(rule, Message):
            return rule
        sides = sides_of([rule], group)
        sums, sizes = sides.sums[0], sides.sizes[0]
        if not self.refine_iter or small_side(sizes, self.min_samples_leaf):
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


def _refine(
    groups: SampleGroups,
    starts: Sequence[P | None],
    log_likelihood_of_one: Callable[[int], float],
    *,
    smoothing: float,
    max_iter: int,
    totals: tuple[Floats, Floats] | None,
) -> tuple[list[P | None], Floats]:
    """Return the mixture of two of each group after EM, and its gain over one component.

    Sides are uncertain in this gain: with known sides, a split of noise, or halves of a large
    group, would gain more than a rare group does.
    """
    refined = em_of_groups(
        groups.rows,
        groups.own,
        starts,
        sample_weight=groups.weight,
        smoothing=smoothing,
        max_iter=max_iter,
        totals=totals,
    )
    gains = np.zeros(len(refined))
    for j, found in enumerate(refined):
        if found is not None:
            gains[j] = found.log_likelihood - log_likelihood_of_one(j)
    return [None if found is None else found.parameters for found in refined], gains


def _rules_between(
    mixtures: Sequence[MixtureParameters | None], *, prior: bool
) -> list[LinearRule | None]:
    """Return the rule between the two components of each mixture."""
    return [None if two is None else LinearRule.between(two, prior=prior) for two in mixtures]
