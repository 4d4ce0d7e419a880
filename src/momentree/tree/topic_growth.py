"""How a tree of topics grows: from all documents, from a sample, or by a search over its leaves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends import (
    RowArray,
    Rows,
    collected,
    in_given_order,
    ordered,
    parted,
)
from momentree.core.choices import (
    AutoLogScaling,
    LogScaling,
    Refine,
    Search,
    Weighting,
)
from momentree.objects import TopicParameters
from momentree.preprocessing import log_scale
from momentree.preprocessing.burstiness import with_frequent_words, with_scaling
from momentree.preprocessing.log_scaling import typical_count_per_token
from momentree.refinement.em_groups import SumsAndWeights, group_sums
from momentree.tree._base import TreeEstimator
from momentree.tree.growth import Grown, Limits, grow, log
from momentree.tree.refine import rule_assigner, use_topics_of_sides
from momentree.tree.search import TopicSearch, tree_over
from momentree.tree.search_sample import (
    SEARCHED_WORDS,
    growth_sample,
    least_in_sample,
    searched,
    with_all_words,
)
from momentree.tree.selection import ComponentChoice
from momentree.tree.split import SPLIT_ITER
from momentree.tree.stopping import accept_all, topic_bic
from momentree.tree.topic_split import TopicSplitter


@dataclass(frozen=True)
class ScaledCounts:
    """Counts in canonical order, raw and on the scale of the fit, like the last three."""

    counts: Rows
    rows: Rows
    at: Ints | None
    weight: RowArray
    count_per_token: RowArray
    asked_smoothing: float
    smoothing: float  # the one that is used
    least: float


class GrownTopics(TreeEstimator):
    """Trees of topics that grow from moments, with the parameters of :class:`TopicTree`."""

    refine: Refine | None
    search: Search
    log_scaling: AutoLogScaling | None
    weighting: Weighting
    smoothing: float
    exact: bool
    tol: float
    random_state: int | np.random.RandomState | None
    log_scaling_: LogScaling | None
    choice_: ComponentChoice | None

    def _start(self, counts: Rows, weight: RowArray) -> tuple[ScaledCounts, Grown]:
        """Set ``log_scaling_``, and return the scaled counts and the tree from which EM starts."""
        if self._searches(self._limits):
            return self._searched(counts, weight)
        limits = self._limits
        part = None
        if not self.exact:
            part = growth_sample(counts, weight, min(limits.leaves, 2.0**limits.depth))
        if part is None:
            return self._grown(counts, weight, self.min_samples_leaf)
        log.info("growing the tree by %d documents", part[0].shape[0])
        grown, (sums, sizes), smoothing = self._grown_by(*part, counts, weight)
        data = self._scaled(counts, weight, self.log_scaling_, self.min_samples_leaf)
        if self.refine:
            topics = TopicParameters.m_step(sums, sizes, smoothing)
            return data, Grown(grown.root, grown.labels, topics)
        use_topics_of_sides(grown.root, sums, sizes, smoothing)
        k, kernel = len(grown.root.leaves()), rule_assigner(grown.root).labels_kernel()
        labels, total = data.rows.map_and_sum(kernel, SumsAndWeights(k), data.weight)
        by_leaf, sizes = parted(total, k, 1, k)
        if sizes.min() < self.min_samples_leaf:
            return self._grown(counts, weight, self.min_samples_leaf)
        return data, Grown(grown.root, labels, sums_and_sizes=(by_leaf[:, :, 0].T, sizes))

    def _searched(self, counts: Rows, weight: RowArray) -> tuple[ScaledCounts, Grown]:
        """Set ``log_scaling_``, and return the scaled counts and a tree of the likeliest leaves."""
        part, part_weight, frequent = searched(counts, weight, int(self._limits.leaves))
        if part is not counts:
            log.info("searching in %d documents", part.shape[0])
        least = self._least_in(counts, weight, part_weight)
        data, grown = self._grown(frequent, part_weight, least)
        grown = self._likeliest(data, grown)
        if frequent is not part:
            found = data
            data = self._scaled(part, part_weight, self.log_scaling_, self.min_samples_leaf)
            assert grown.parameters is not None  # noqa: S101 - for the type checker
            topics = with_all_words(
                grown.parameters,
                found.rows,
                found.at,
                data.rows,
                data.at,
                data.weight,
                data.smoothing,
            )
            grown = replace(grown, parameters=topics)
        if part is not counts:
            data = self._scaled(counts, weight, self.log_scaling_, self.min_samples_leaf)
        return data, grown

    def _least_in(self, counts: Rows, weight: RowArray, of_sample: RowArray) -> float:
        """Return the least weight of a leaf in a sample."""
        if of_sample is weight:
            return self.min_samples_leaf
        share = float(np.sum(of_sample)) / float(counts.total(weight))
        return least_in_sample(self.min_samples_leaf, share)

    def _grown_by(
        self, part: Rows, part_weight: RowArray, counts: Rows, weight: RowArray
    ) -> tuple[Grown, tuple[Floats, Floats], float]:
        """Return a tree grown from the frequent words of a sample.

        Also return the sums of all words over the documents of each leaf, the sizes of the leaves,
        and the pseudo-count.
        """
        least = self._least_in(counts, weight, part_weight)
        frequent = with_frequent_words(part, SEARCHED_WORDS)
        found, grown = self._grown(frequent, part_weight, least)
        data, labels = found, grown.labels
        if frequent is not part:
            data = self._scaled(part, part_weight, self.log_scaling_, least)
            labels = in_given_order(labels, found.at)
            labels = labels if data.at is None else labels[data.at]
        by_leaf, sizes = group_sums(data.rows, labels, len(grown.root.leaves()), data.weight)
        return grown, (by_leaf.T, sizes), data.smoothing

    def _searches(self, limits: Limits) -> bool:
        by_number = math.isinf(limits.depth) and not limits.none
        return self.search != "none" and self.refine is not None and by_number

    def _grown(self, counts: Rows, weight: RowArray, least: float) -> tuple[ScaledCounts, Grown]:
        """Set ``log_scaling_``, and return the scaled counts and the tree grown from them."""
        total = float(counts.total(weight))

        def attempt(
            log_scaling: LogScaling | None, counts: Rows, weight: RowArray
        ) -> tuple[tuple[ScaledCounts, Grown], Callable[[], RowArray], int]:
            share = float(counts.total(weight)) / total
            data = self._scaled(counts, weight, log_scaling, max(least * share, min(least, 1.0)))
            grown = self._grow(data)
            labels = partial(in_given_order, grown.labels, data.at)
            return (data, grown), labels, len(grown.root.leaves())

        limits, chosen = self._limits, self.log_scaling
        if self.weighting == "three_words":
            chosen = None
        n_groups = min(limits.leaves, 2.0**limits.depth)
        self.log_scaling_, found = with_scaling(chosen, attempt, counts, weight, n_groups)
        return found

    def _scaled(
        self, counts: Rows, weight: RowArray, log_scaling: LogScaling | None, least: float
    ) -> ScaledCounts:
        counts, weight, at = ordered(counts, weight)
        log.info("log scaling counts")
        scaled = log_scale(counts, log_scaling)
        rows, count_per_token = scaled.rows, scaled.count_per_token
        per_token, total = typical_count_per_token(rows, count_per_token, weight)
        asked = self.smoothing * per_token
        smoothing = self._limited(asked, total, rows.shape[1])
        return ScaledCounts(counts, rows, at, weight, count_per_token, asked, smoothing, least)

    def _limited(self, smoothing: float, total: float, n_words: int) -> float:
        """Return the smoothing of the leaves that are asked for; of one topic without a number."""
        leaves = self._limits.leaves
        k = 1 if math.isinf(leaves) else int(leaves)
        return TopicParameters.limited_smoothing(smoothing, total, (n_words, k))

    def _grow(self, data: ScaledCounts) -> Grown:
        limits = self._limits
        return grow(
            data.rows,
            data.weight,
            data.count_per_token,
            self._splitter(data),
            limits,
            growth=self.growth,
            criterion=topic_bic if limits.none else accept_all,
        )

    def _likeliest(self, data: ScaledCounts, grown: Grown) -> Grown:
        """Return a tree over the most likely leaves."""
        search = TopicSearch(
            collected(data.rows),
            data.weight,
            data.count_per_token,
            data.smoothing,
            self._splitter(data),
            data.least,
            self.tol,
        )
        rows = collected(data.rows)
        return tree_over(search.from_tree(grown, collected(data.counts)), grown, rows, data.weight)

    @property
    def _limits(self) -> Limits:
        return Limits.of(self, None if self.choice_ is None else self.choice_.n_components)

    def _splitter(self, data: ScaledCounts) -> TopicSplitter:
        return TopicSplitter(
            min_samples_leaf=data.least,
            smoothing=data.smoothing,
            refine_iter=SPLIT_ITER if self.refine else 0,
            weighting=self.weighting,
            random_state=self.random_state,
            exact=self.exact,
        )
