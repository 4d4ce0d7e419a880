"""How a tree of topics grows: from all documents or a sample, with a search over its leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import momentree.backends as backends
import momentree.tree.leaves as tree_leaves
from momentree._types import Ints
from momentree.backends import RowArray, RowBlocks, Rows, products
from momentree.core.choices import LogScaling
from momentree.inference.posteriors import responsibilities
from momentree.objects import MixtureParameters, TopicParameters
from momentree.preprocessing import log_scale
from momentree.preprocessing.burstiness import with_frequent_words, with_scaling
from momentree.preprocessing.log_scaling import typical_count_per_token
from momentree.refinement.em import Samples, m_step
from momentree.tree import split, splitters, stopping, topic_search
from momentree.tree.growth import Grown, Limits, TreeGrowth, log

SEARCHED, SEARCHED_OF_TOPIC = 20_000, 1_000
"""Documents in which topics are searched, and for each topic, at least. On samples of models and on
large corpora, EM over all documents then ends as high as after a search in all of them
(``docs/choices.md``)."""
SEARCHED_WORDS, SEARCHED_NNZ = 4_096, 1 << 20
"""The most frequent words, by which topics are searched in samples and in tables of so many stored
values. A search then takes half the time, and agrees with labels as well (``docs/choices.md``)."""
GROWN, GROWN_OF_LEAF = 100_000, 10_000
"""The least number of documents by which a tree is grown if no search follows, and of documents for
each leaf. Agreement with the truth is then at least that of a tree of all documents
(``docs/choices.md``)."""
LARGE = 4
"""A sample is drawn only if there are so many times more documents."""
SOME = 5.0
"""Fewer documents of a sample are no topic, unless fewer are allowed in all documents."""


@dataclass(frozen=True)
class ScaledCounts:
    """Counts in canonical order, raw and on the scale of a fit.

    Attributes
    ----------
    counts, rows : Rows of shape (n, d)
        Raw counts, and those on the scale of the fit.
    order : ndarray of intp of shape (n,) or None
        Given position of each row; None if rows keep their order.
    weight, count_per_token : row array of shape (n,)
        Sample weights, and the scaled count of one token of each document.
    asked_smoothing, smoothing : float
        The pseudo-count on this scale, as asked for and as limited by the number of tokens.
    """

    counts: Rows
    rows: Rows
    order: Ints | None
    weight: RowArray
    count_per_token: RowArray
    asked_smoothing: float
    smoothing: float

    @classmethod
    def of(
        cls,
        counts: Rows,
        weight: RowArray,
        log_scaling: LogScaling | None,
        smoothing: float,
        n_topics: int,
        family: type[MixtureParameters] = TopicParameters,
    ) -> ScaledCounts:
        """Scale counts, with a pseudo-count in tokens that suits a number of topics."""
        counts, weight, order = backends.ordered(counts, weight)
        scaled = log_scale(counts, log_scaling)
        per_token, total = typical_count_per_token(scaled.rows, scaled.count_per_token, weight)
        asked = smoothing * per_token
        limited = family.limited_smoothing(asked, total, (scaled.rows.shape[1], n_topics))
        return cls(counts, scaled.rows, order, weight, scaled.count_per_token, asked, limited)

    @property
    def total_weight(self) -> float:
        """Total weight of the samples."""
        return float(self.rows.total(self.weight))

    def samples(self, tol: float) -> Samples:
        """Return the samples for EM."""
        return Samples(self.rows, self.weight, self.smoothing, tol)

    def search(
        self, grown: Grown, splitter: splitters.TopicSplitter, tol: float
    ) -> topic_search.Answer:
        """Return the most likely topics found, as many as a tree has leaves."""
        samples = replace(self.samples(tol), rows=backends.collected(self.rows))
        search = topic_search.TopicSearch(samples, self.count_per_token, splitter)
        return search.from_tree(grown, backends.collected(self.counts))

    def in_given_order(self, values: RowArray) -> RowArray:
        """Return an array of the rows in the order in which they were given."""
        return backends.in_given_order(values, self.order)

    def in_canonical_order(self, values: RowArray) -> RowArray:
        """Return an array of the rows as given in the order of `rows`."""
        return values if self.order is None else values[self.order]


class Sample(NamedTuple):
    """Documents in which topics are searched or trees grown, and the words by which that is done.

    Attributes
    ----------
    counts, weight : Rows of shape (m, d), row array of shape (m,)
        A systematic sample of the documents, or all, and their weights.
    frequent : Rows of shape (m, e)
        Their counts of the most frequent words, or `counts`.
    """

    counts: Rows
    weight: RowArray
    frequent: Rows


class TopicStart(NamedTuple):
    """The scaling of counts, scaled counts and a tree, from which EM over the leaves starts."""

    log_scaling: LogScaling | None
    data: ScaledCounts
    grown: Grown


@dataclass(frozen=True)
class TopicGrowth:
    """How a :class:`momentree.TopicTree` grows within limits, by its parameters."""

    tree: Any
    limits: Limits

    @property
    def searches(self) -> bool:
        """Whether growth is followed by a search for the most likely topics."""
        return bool(self.tree.search != "none" and self.tree.refine and self.limits.by_number)

    @property
    def n_topics(self) -> int:
        """Number of leaves that is asked for; 1 without a number."""
        return 1 if math.isinf(self.limits.leaves) else int(self.limits.leaves)

    def scale(self, counts: Rows, weight: RowArray, log_scaling: LogScaling | None) -> ScaledCounts:
        """Return counts in canonical order and on the scale of the fit."""
        log.info("log scaling counts")
        return ScaledCounts.of(counts, weight, log_scaling, self.tree.smoothing, self.n_topics)

    def start(self, counts: Rows, weight: RowArray) -> TopicStart:
        """Grow a tree and search for better leaves, as far as this is asked for.

        Of many documents, a sample and its frequent words are enough for that; the topics are then
        extended to all words and all documents.
        """
        if self.searches:
            return self._search(search_sample(counts, weight, self.n_topics), counts, weight)
        if not self.tree.exact:
            # Splits follow from sums over at least 10,000 documents for each leaf.
            most = min(self.limits.leaves, 2.0**self.limits.depth)
            sample = draw_sample(counts, weight, max(GROWN, GROWN_OF_LEAF * most))
            start = None if sample is None else self._grow_by_sample(sample, counts, weight)
            if start is not None:
                return start
        return self._grow(counts, weight, self.tree.min_samples_leaf)

    def refine_leaves(self, data: ScaledCounts, grown: Grown) -> tree_leaves.RefinedLeaves:
        """Run EM over the leaves of a tree, which it changes, if that is asked for."""
        if not self.tree.refine:
            return tree_leaves.assign_by_rules(grown)
        samples = data.samples(self.tree.tol)
        chains = (data.rows, TopicParameters)
        return tree_leaves.refine_leaves(self.tree, grown, samples, TopicParameters, chains)

    def _search(self, sample: Sample, counts: Rows, weight: RowArray) -> TopicStart:
        """Return a tree over the most likely leaves."""
        if sample.counts is not counts:
            log.info("searching in %d documents", sample.counts.shape[0])
        least = self._least_in(sample, counts, weight)
        log_scaling, data, grown = self._grow(sample.frequent, sample.weight, least)
        answer = data.search(grown, self._splitter(data, least), self.tree.tol)
        grown = topic_search.tree_over(answer, grown, data.samples(self.tree.tol))
        if sample.frequent is not sample.counts:
            assert grown.parameters is not None  # noqa: S101 - for the type checker
            some, data = data, self.scale(sample.counts, sample.weight, log_scaling)
            grown = replace(grown, parameters=with_all_words(grown.parameters, some, data))
        if sample.counts is not counts:
            data = self.scale(counts, weight, log_scaling)
        return TopicStart(log_scaling, data, grown)

    def _grow_by_sample(self, sample: Sample, counts: Rows, weight: RowArray) -> TopicStart | None:
        """Return a tree grown from a sample; None if a leaf has too few of all documents."""
        log.info("growing the tree by %d documents", sample.counts.shape[0])
        least = self._least_in(sample, counts, weight)
        log_scaling, some, grown = self._grow(sample.frequent, sample.weight, least)
        labels, drawn = grown.labels, some
        if sample.frequent is not sample.counts:
            drawn = self.scale(sample.counts, sample.weight, log_scaling)
            labels = drawn.in_canonical_order(some.in_given_order(labels))
        k = len(grown.root.leaves())
        by_leaf, sizes = drawn.rows.group_sums(labels, k, drawn.weight)
        data = self.scale(counts, weight, log_scaling)
        if self.tree.refine:
            topics = TopicParameters.m_step(by_leaf, sizes, drawn.smoothing)
            return TopicStart(log_scaling, data, Grown(grown.root, grown.labels, topics))
        tree_leaves.use_topics_of_sides(grown.root, by_leaf, sizes, drawn.smoothing)
        kernel = tree_leaves.rule_assigner(grown.root).labels_kernel()
        sums_of_groups = partial(products.group_sums, n_groups=k)
        labels, total = data.rows.map_and_sum(kernel, sums_of_groups, data.weight)
        sums, sizes = backends.parted(total, k, 1, k)
        if sizes.min() < self.tree.min_samples_leaf:
            return None
        known = sums[:, :, 0].T, sizes
        return TopicStart(log_scaling, data, Grown(grown.root, labels, sums_and_sizes=known))

    def _least_in(self, sample: Sample, counts: Rows, weight: RowArray) -> float:
        """Return the least weight of a leaf in a sample."""
        least = float(self.tree.min_samples_leaf)
        if sample.weight is weight:
            return least
        share = float(np.sum(sample.weight)) / float(counts.total(weight))
        return max(least * share, min(least, SOME))

    def _grow(self, counts: Rows, weight: RowArray, least: float) -> TopicStart:
        """Grow a tree from counts on the scale that is asked for, or that their repeats ask for."""
        wanted = None if self.tree.weighting == "three_words" else self.tree.log_scaling
        if wanted != "auto":
            return self._grow_scaled(wanted, counts, weight, least)
        total = float(counts.total(weight))

        def attempt(
            log_scaling: LogScaling | None, counts: Rows, weight: RowArray
        ) -> tuple[TopicStart, Any, int]:
            share = float(counts.total(weight)) / total
            some = max(least * share, min(least, 1.0))
            start = self._grow_scaled(log_scaling, counts, weight, some)
            leaves = len(start.grown.root.leaves())
            return start, lambda: start.data.in_given_order(start.grown.labels), leaves

        n_groups = min(self.limits.leaves, 2.0**self.limits.depth)
        return with_scaling("auto", attempt, counts, weight, n_groups)[1]

    def _grow_scaled(
        self, log_scaling: LogScaling | None, counts: Rows, weight: RowArray, least: float
    ) -> TopicStart:
        """Grow a tree from counts on a scale."""
        data = self.scale(counts, weight, log_scaling)
        growth = TreeGrowth(
            data.rows,
            data.weight,
            data.count_per_token,
            self._splitter(data, least),
            growth=self.tree.growth,
            criterion=stopping.topic_bic if self.limits.by_criterion else None,
        )
        return TopicStart(log_scaling, data, growth.grow(self.limits))

    def _splitter(self, data: ScaledCounts, least: float) -> splitters.TopicSplitter:
        return splitters.TopicSplitter(
            min_samples_leaf=least,
            smoothing=data.smoothing,
            refine_iter=split.SPLIT_ITER if self.tree.refine else 0,
            weighting=self.tree.weighting,
            random_state=self.tree.random_state,
            exact=self.tree.exact,
        )


def is_sampled(rows: Rows, n_topics: int) -> bool:
    """Return whether topics are searched in a sample, so that the other rows can stay."""
    return rows.gives_rows and are_many(rows.shape[0], n_topics)


def are_many(n_rows: int, n_topics: int) -> bool:
    """Return whether there are so many documents that topics are searched in a sample of them."""
    return n_rows >= LARGE * max(SEARCHED, SEARCHED_OF_TOPIC * n_topics)


def search_sample(rows: Rows, weight: RowArray, n_topics: int) -> Sample:
    """Return the documents and the words by which topics are searched.

    A search takes as long as hundreds of products with the data, but topics that are found in
    20,000 documents need only a few steps of EM over all others. Words are left out of samples, and
    of tables of a million stored values or more.
    """
    sample = draw_sample(rows, weight, max(SEARCHED, SEARCHED_OF_TOPIC * n_topics))
    if sample is not None:
        return sample
    many = isinstance(rows, RowBlocks) and rows.nnz >= SEARCHED_NNZ
    return Sample(rows, weight, with_frequent_words(rows, SEARCHED_WORDS) if many else rows)


def draw_sample(rows: Rows, weight: RowArray, size: float) -> Sample | None:
    """Return a systematic sample of many documents; None if there are few."""
    if not rows.gives_rows or rows.shape[0] < LARGE * size:
        return None
    at, drawn = backends.RowSampler(rows, np.asarray(weight)).draw(int(size))
    counts = backends.taken(rows, at)
    return Sample(counts, drawn, with_frequent_words(counts, SEARCHED_WORDS))


def with_all_words(
    parameters: MixtureParameters, some: ScaledCounts, whole: ScaledCounts
) -> MixtureParameters:
    """Return topics that were found by some words as topics of all words.

    These are the topics in which the documents have the same probabilities.
    """
    R = some.in_given_order(responsibilities(some.rows, parameters))
    R = whole.in_canonical_order(R)
    return m_step(type(parameters), whole.rows, R, whole.weight, whole.smoothing)
