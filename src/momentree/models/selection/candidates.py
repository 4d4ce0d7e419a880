"""Fit a model for each candidate number of components, all from the splits of one tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from momentree._types import Floats, Ints
from momentree.backends import RowBlocks
from momentree.inference import (
    completion_log_likelihood,
    log_joint,
    log_posterior,
    variational_proportions,
)
from momentree.models._fit_result import m_step
from momentree.models._lda_starts import concentrations
from momentree.models.selection.folds import Fold
from momentree.objects import LDAParameters, TopicParameters
from momentree.preprocessing import log_scale
from momentree.preprocessing.log_scaling import typical_count_per_token
from momentree.refinement import em, variational_em
from momentree.tree.growth import Branch, Limits, grow
from momentree.tree.topic_split import TopicSplitter

ALPHA0 = 1.0
"""Initial total concentration of each LDA fit."""
LDA_STEPS = 10
"""EM steps; each takes as long as a whole fit of a single-topic model."""


@dataclass(frozen=True)
class Fit:
    """The scores of a model with one number of components, fitted to one fold."""

    topics: Floats
    weights: Floats
    bic: float  # NaN for models without a likelihood
    completion: Floats  # log-likelihood of the hidden half of each test document


Fits = Callable[[int], Fit | None]
"""Returns the model with k components for one fold; None if the data support fewer."""


class SingleTopicFits:
    """Fit single-topic models by EM from the leaves of one tree with the largest k.

    Best-first growth is nested: its first k - 1 splits give the tree of k leaves.
    """

    def __init__(self, fold: Fold, largest: int) -> None:
        scaled = log_scale(fold.X, "log1p")
        self._counts, self._weight = RowBlocks(fold.X), fold.weight
        self._rows = RowBlocks(scaled.X)
        self._smoothing = typical_count_per_token(self._rows, scaled.count_per_token, fold.weight)
        self._known = RowBlocks(log_scale(fold.known, "log1p").X)
        self._hidden = RowBlocks(fold.hidden)
        seen = self._rows.sum(lambda B: B.tdot((fold.weight[B.at] > 0).astype(np.float64)))
        self._n_words = int(np.count_nonzero(seen))
        splitter = TopicSplitter(min_samples_leaf=1, smoothing=self._smoothing)
        grown = grow(self._rows, fold.weight, scaled.count_per_token, splitter, Limits(largest))
        self._labels, self._partitions = grown.labels, partitions(grown.root)

    def __call__(self, n_components: int) -> Fit | None:
        """Return the model with k components; None if no group can be split further."""
        if n_components > len(self._partitions):
            return None
        rows, weight, smoothing = self._rows, self._weight, self._smoothing
        groups = np.eye(n_components)[self._partitions[n_components - 1][self._labels]]
        start = m_step(TopicParameters, rows, groups, weight, smoothing)
        refined = em(rows, start, sample_weight=weight, smoothing=smoothing)
        fitted = refined.parameters
        responsibilities = np.exp(log_posterior(log_joint(rows, fitted))[0])
        counted = m_step(TopicParameters, self._counts, responsibilities, weight, 1.0)
        n_parameters = n_components * self._n_words - 1
        penalty = smoothing * n_parameters * np.log(max(weight.sum(), 2.0))
        bic = float(penalty - 2.0 * refined.log_likelihood)
        return Fit(counted.centers, counted.weights, bic, self._completion(fitted, counted))

    def _completion(self, fitted: TopicParameters, counted: TopicParameters) -> Floats:
        """Return log sum_j P[j | known] P[hidden | j]."""
        posterior = log_posterior(log_joint(self._known, fitted))[0]
        equal = np.full(counted.n_components, 1.0 / counted.n_components)
        joint = log_joint(self._hidden, TopicParameters(equal, counted.centers))
        conditional = joint - np.log(equal)
        return np.asarray(logsumexp(posterior + conditional, axis=1))


class LDAFits:
    """Fit latent Dirichlet allocation, starting from the single-topic models of one tree."""

    def __init__(self, fold: Fold, largest: int) -> None:
        self._fold, self._rows = fold, RowBlocks(fold.X)
        self._single_topics = SingleTopicFits(fold, largest)
        self._known, self._hidden = RowBlocks(fold.known), RowBlocks(fold.hidden)

    def __call__(self, n_components: int) -> Fit | None:
        """Return the model with k topics; None if no group can be split further."""
        first = self._single_topics(n_components)
        if first is None:
            return None
        weight = self._fold.weight
        alpha = concentrations(first.weights, float(weight.sum()), ALPHA0)
        start = LDAParameters(alpha, first.topics)
        found = variational_em(self._rows, start, sample_weight=weight, max_iter=LDA_STEPS)
        topics = found.parameters
        proportions = variational_proportions(self._known, topics)
        completion = completion_log_likelihood(self._hidden, topics, proportions)
        return Fit(topics.centers, topics.weights, float("nan"), completion)


def partitions(root: Branch) -> list[Ints]:
    """Return, for 1 component, 2 components, ..., the component of each leaf of the whole tree."""
    leaves, found = [root], []
    while True:
        sizes = [len(branch.leaves()) for branch in leaves]
        found.append(np.repeat(np.arange(len(leaves)), sizes))
        able = [branch for branch in leaves if branch.children]
        if not able:
            return found
        first = max(able, key=lambda branch: branch.gain)
        at = leaves.index(first)
        leaves[at : at + 1] = first.children
