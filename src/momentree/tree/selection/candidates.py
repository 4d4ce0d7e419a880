"""Fit models with each number of components to each fold, all from the splits of one tree."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.backends import RowBlocks, taken
from momentree.backends.block import Block
from momentree.core.ties import largest
from momentree.inference import (
    completion_log_likelihood,
    log_joint,
    log_posterior,
    variational_proportions,
)
from momentree.objects import LDAParameters, TopicParameters
from momentree.preprocessing import log_scale, log_scaling
from momentree.refinement import em, lda, variational_em
from momentree.refinement.em import m_step
from momentree.tree import growth, splitters
from momentree.tree.split import SampleGroups, Split

N_FOLDS = 5


@dataclass(frozen=True)
class Fold:
    """Training documents, test documents, and the columns of two halves of the vocabulary.

    A test document is known by its words of one half, and completed by those of the other. No word
    is in both. A document that repeats some of its words more often than its topic would (bursts)
    therefore shows nothing of this in its other half; random halves of its tokens would.
    """

    X: Any
    weight: Floats
    test: Any
    test_weight: Floats
    halves: tuple[Ints, Ints]

    def directions(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield (known, hidden): each half of the vocabulary is known once."""
        yield self.halves
        yield self.halves[::-1]


def folds(
    X: Any, weight: Floats, groups: Ints, random_state: np.random.RandomState, *, n_test: int
) -> Iterator[Fold]:
    """Yield folds, each testing a different fifth of the documents, until `n_test` are tested.

    Copies of a document, with the same number in `groups`, are never divided between training and
    testing; at most `n_test` documents of a fold are tested. Without `n_test` there is one fold,
    for training only.
    """
    n_groups = int(groups.max(initial=-1)) + 1
    if not n_test or n_groups < 2:
        none = np.arange(X.shape[1])
        yield Fold(X, weight, X[:0], weight[:0], (none, none[:0]))
        return
    size = min(N_FOLDS, n_groups)
    fold = (random_state.permutation(n_groups) % size)[groups]
    halves = halves_of_words(X, weight, random_state)
    n_tested = 0
    for i in range(size):
        train, test = np.flatnonzero(fold != i), np.flatnonzero((fold == i) & (weight > 0))
        if len(test) > n_test:
            test = np.sort(test[random_state.permutation(len(test))[:n_test]])
        yield Fold(X[train], weight[train], X[test], weight[test], halves)
        n_tested += len(test)
        if n_tested >= n_test:
            return


def halves_of_words(
    X: Any, weight: Floats, random_state: np.random.RandomState
) -> tuple[Ints, Ints]:
    """Divide the words at random into two halves, each with half of the words of any frequency.

    Words are paired by the number (weight) of documents that contain them; one word of each pair
    goes into each half.
    """
    present = sp.csr_array((np.ones(len(X.data)), X.indices, X.indptr), shape=X.shape)
    order = np.argsort(-(present.T @ weight), kind="stable")
    first = random_state.randint(0, 2, size=-(-len(order) // 2))
    place = np.arange(len(order))
    side = (first[place // 2] + place) % 2
    return np.sort(order[side == 0]), np.sort(order[side == 1])


ALPHA0 = 1.0
"""Initial total concentration of each LDA fit."""
STEPS = 5
"""EM steps of each single-topic fit: enough to move documents between leaves of the tree."""
LDA_STEPS = 10
"""EM steps; each takes as long as a whole fit of a single-topic model."""
FIRST = 8
"""Leaves of the first tree of each fold, which grows as long as more topics are better."""
TINY = 1e-300


@dataclass(frozen=True)
class Fit:
    """The scores of a model with one number of components, fitted to one fold."""

    topics: Floats
    weights: Floats
    completion: Floats  # log-likelihood of the hidden words of each test document


Fits = Callable[[int], Fit | None]
"""Returns the model with k components for one fold; None if the data support fewer."""


class SingleTopicFits:
    """Fit single-topic models by EM from the leaves of one tree with the largest k.

    Best-first growth is nested: its first k - 1 splits give the tree of k leaves. Without steps,
    the leaves themselves are the topics, at a fraction of the time.
    """

    def __init__(self, fold: Fold, largest: int, *, steps: int = STEPS) -> None:
        scaled = log_scale(fold.X, "log1p")
        self._steps = steps
        self._fold, self._count_per_token = fold, scaled.count_per_token
        self._counts, self._weight = RowBlocks(fold.X), fold.weight
        self._rows = scaled.rows
        self._smoothing, _ = log_scaling.typical_count_per_token(
            self._rows, scaled.count_per_token, fold.weight
        )
        self._tests = [
            (known, log_scale(fold.test[:, known], "log1p").rows, hidden)
            for known, hidden in fold.directions()
        ]
        self._largest, self._grown_to = largest, 0
        splitter = splitters.TopicSplitter(min_samples_leaf=1, smoothing=self._smoothing)
        self._growing = growth.TreeGrowth(self._rows, self._weight, self._count_per_token, splitter)

    def refined(self) -> SingleTopicFits:
        """Return fits with EM from the same trees."""
        fits = copy.copy(self)
        fits._steps = STEPS
        return fits

    def _groups(self, n_components: int) -> Floats | None:
        """Return the component of each leaf, (L, k); None if no group can be split further.

        The tree is grown on, at least twice as far, whenever k exceeds the last one.
        """
        if n_components > self._grown_to:
            self._grown_to = max(n_components, min(max(FIRST, 2 * n_components), self._largest))
            grown = self._growing.grow(growth.Limits(self._grown_to))
            self._labels, self._partitions = grown.labels, partitions(grown.root)
            leaves = len(self._partitions)
            groups = self._labels, leaves, self._weight
            self._sums, self._sizes = self._rows.group_sums(*groups)
            self._words, _ = self._counts.group_sums(*groups)
        if n_components > len(self._partitions):
            return None
        return np.eye(n_components)[self._partitions[n_components - 1]]

    def __call__(self, n_components: int) -> Fit | None:
        """Return the model with k components; None if no group can be split further."""
        found = self._fitted(n_components)
        if found is None:
            return None
        fitted, counted = found
        return Fit(counted.centers, counted.weights, self._completion(fitted, counted))

    def inner_dependence(self, n_components: int) -> tuple[Floats, Floats]:
        """Return the weight of each topic in the test documents, and how it could be divided.

        Each topic is split once more. If its documents are all alike, the words of a new document
        are independent given the topic, and the side that its known words favor says nothing of the
        side that its hidden words favor. The second array contains the correlation of the two.
        """
        found = self._fitted(n_components)
        if found is None or not self._fold.test.shape[0]:
            return np.zeros(0), np.zeros(0)
        fitted, _ = found
        splitter = splitters.TopicSplitter(min_samples_leaf=1, smoothing=self._smoothing)
        labels = largest(log_joint(self._rows, fitted))
        sizes = np.bincount(labels, minlength=n_components)
        groups = SampleGroups(self._rows, self._weight, self._count_per_token, labels, n_components)
        splits = splitter(groups).found
        here = largest(log_joint(log_scale(self._fold.test, "log1p").rows, fitted))
        weights = np.bincount(here, weights=self._fold.test_weight, minlength=n_components)
        return weights.astype(np.float64), np.array(
            [
                self._correlation(split.sums, np.flatnonzero(here == j))
                if isinstance(split, Split) and sizes[j] > 1
                else 0.0
                for j, split in enumerate(splits)
            ]
        )

    def _correlation(self, sums: Floats, test: Ints) -> float:
        """Return the correlation of the evidence of known and hidden words for a split.

        `sums` are those of the words of its sides, and `test` the documents to be split.
        """
        if len(test) < 2:
            return 0.0
        weight = np.sqrt(self._fold.test_weight[test])
        evidence = []
        for columns, rows, _ in self._tests:
            part = taken(rows, test)
            sides = sums[columns] + self._smoothing
            lean = np.log(sides / sides.sum(axis=0))
            values, size = part.map(partial(Block.dot, V=lean[:, 0] - lean[:, 1])), part.row_sums
            evidence.append(weight * (values - size * (values.sum() / max(size.sum(), TINY))))
        first, second = evidence
        spread = float(np.sqrt((first @ first) * (second @ second)))
        return float(first @ second) / spread if spread > 0 else 0.0

    def _fitted(self, n_components: int) -> tuple[TopicParameters, TopicParameters] | None:
        """Return the parameters of log-scaled and of raw counts."""
        groups = self._groups(n_components)
        if groups is None:
            return None
        rows, weight, smoothing = self._rows, self._weight, self._smoothing
        start = TopicParameters.m_step(self._sums @ groups, self._sizes @ groups, smoothing)
        if not self._steps:
            counted = TopicParameters.m_step(self._words @ groups, self._sizes @ groups, 1.0)
            return start, counted
        refined = em(rows, start, sample_weight=weight, smoothing=smoothing, max_iter=self._steps)
        responsibilities = np.exp(log_posterior(log_joint(rows, refined.parameters))[0])
        counted = m_step(TopicParameters, self._counts, responsibilities, weight, 1.0)
        return refined.parameters, counted

    def _completion(self, fitted: TopicParameters, counted: TopicParameters) -> Floats:
        """Return sum_w z_w log sum_j P[j | known] P[w | j] over hidden words w."""
        total = np.zeros(self._fold.test.shape[0])
        for known, rows, hidden in self._tests:
            if min(len(known), len(hidden)):
                posterior = log_posterior(log_joint(rows, _restrict(fitted, known)))[0]
                topics = _restrict(counted, hidden).centers
                total += _completed(self._fold.test[:, hidden], topics, np.exp(posterior))
        return total


class LDAFits:
    """Fit latent Dirichlet allocation, starting from the single-topic models of one tree."""

    def __init__(self, fold: Fold, largest: int) -> None:
        self._fold, self._rows = fold, RowBlocks(fold.X)
        self._single_topics = SingleTopicFits(fold, largest)

    def __call__(self, n_components: int) -> Fit | None:
        """Return the model with k topics; None if no group can be split further."""
        first = self._single_topics(n_components)
        if first is None:
            return None
        weight = self._fold.weight
        alpha = lda.concentrations(first.weights, float(weight.sum()), ALPHA0)
        start = LDAParameters(alpha, first.topics)
        found = variational_em(self._rows, start, sample_weight=weight, max_iter=LDA_STEPS)
        topics = found.parameters
        return Fit(topics.centers, topics.weights, self._completion(topics))

    def _completion(self, topics: LDAParameters) -> Floats:
        test = self._fold.test
        total = np.zeros(test.shape[0])
        for known, hidden in self._fold.directions():
            if min(len(known), len(hidden)):
                mass, other = (topics.centers[at].sum(axis=0) for at in (known, hidden))
                seen = LDAParameters(topics.alpha, topics.centers[known] / mass)
                # Topics differ in how many of their words are hidden.
                share = variational_proportions(RowBlocks(test[:, known]), seen) * (other / mass)
                share /= share.sum(axis=1, keepdims=True)
                total += _completed(test[:, hidden], topics.centers[hidden] / other, share)
        return total


def _restrict(topics: TopicParameters, columns: Ints) -> TopicParameters:
    """Return the topics of documents of which only some words are counted."""
    centers = topics.centers[columns]
    return TopicParameters(topics.weights, centers / centers.sum(axis=0))


def _completed(hidden: Any, topics: Floats, proportions: Floats) -> Floats:
    parameters = LDAParameters(np.ones(topics.shape[1]), topics)
    return completion_log_likelihood(RowBlocks(hidden), parameters, proportions)


def partitions(root: growth.Branch) -> list[Ints]:
    """Return, for 1 component, 2 components, ..., the component of each leaf of the whole tree."""
    leaves, found = [root], []
    while True:
        sizes = [len(branch.leaves()) for branch in leaves]
        found.append(np.repeat(np.arange(len(leaves)), sizes))
        able = [branch for branch in leaves if branch.children]
        if not able:
            return found
        first = able[largest([branch.gain for branch in able])]
        at = leaves.index(first)
        leaves[at : at + 1] = first.children
