"""Fit a model with several numbers of components, and share what the fits have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from momentree.backends import RowBlocks
from momentree.inference import (
    completion_log_likelihood,
    log_joint,
    log_posterior,
    split_words,
    variational_proportions,
)
from momentree.models._lda_starts import concentrations
from momentree.objects import LDAParameters, TopicParameters
from momentree.preprocessing import log_scale, typical_count_per_token
from momentree.refinement import em, variational_em
from momentree.tree.growth import Branch, Limits, grow
from momentree.tree.topic_split import TopicSplitter

__all__ = ["Fit", "Fits", "Fold", "LDAFits", "SingleTopicFits", "folds"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

N_FOLDS = 5
ALPHA0 = 1.0
"""Total concentration that LDA starts from; each fit learns its own."""
LDA_STEPS = 10
"""Steps of EM, which each cost as much as the whole fit of a single-topic model."""


@dataclass(frozen=True)
class Fold:
    """Documents to learn from, and others that judge: half of their words tell the other half.

    Attributes
    ----------
    X : csr_array of shape (n, d)
        Counts to learn from.
    weight : ndarray of shape (n,)
        Their weights.
    known, hidden : csr_array of shape (m, d)
        The halves of the judges.
    judge_weight : ndarray of shape (m,)
        Weights of the judges.
    """

    X: Any
    weight: Floats
    known: Any
    hidden: Any
    judge_weight: Floats


@dataclass(frozen=True)
class Fit:
    """A model with one of the numbers of components, fitted to one fold.

    Attributes
    ----------
    topics : ndarray of shape (d, k)
        P[word | topic] in columns.
    weights : ndarray of shape (k,)
        P[topic].
    bic : float
        Smaller is better; NaN where the model has no likelihood to penalise.
    completion : ndarray of shape (m,)
        Log-likelihood of the hidden half of each judge.
    """

    topics: Floats
    weights: Floats
    bic: float
    completion: Floats


class Fits(Protocol):
    """Fits models to one fold."""

    def __call__(self, n_components: int) -> Fit | None:
        """Return the model with k components; None where the data admit fewer."""
        ...


def folds(
    X: Any, weight: Floats, groups: Ints, random_state: np.random.RandomState, *, judges: int
) -> Iterator[Fold]:
    """Yield folds: each leaves out a fifth of the documents, to judge.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Counts.
    weight : ndarray of shape (n,)
        Sample weights.
    groups : ndarray of int of shape (n,)
        Documents of one group, which are copies of each other, are never on both sides.
    random_state : RandomState
        Draws the folds and the halves of words.
    judges : int >= 0
        How many documents judge, at least; with none there is one fold of all documents.

    Yields
    ------
    Fold
        As few as have so many judges, at most five.
    """
    n_groups = int(groups.max(initial=-1)) + 1
    if not judges or n_groups < 2:
        yield Fold(X, weight, X[:0], X[:0], weight[:0])
        return
    size = min(N_FOLDS, n_groups)
    fold = (random_state.permutation(n_groups) % size)[groups]
    n_judged = 0
    for i in range(size):
        learn, judge = np.flatnonzero(fold != i), np.flatnonzero((fold == i) & (weight > 0))
        known, hidden = split_words(X[judge], random_state)
        yield Fold(X[learn], weight[learn], known, hidden, weight[judge])
        n_judged += len(judge)
        if n_judged >= judges:
            return


class SingleTopicFits:
    """Fit single-topic models by EM from the leaves of one tree, grown to the largest k.

    Best-first growth is nested: its first k - 1 splits make the tree of k leaves.

    Parameters
    ----------
    fold : Fold
        Documents.
    largest : int >= 1
        Largest number of components.
    """

    def __init__(self, fold: Fold, largest: int) -> None:
        scaled = log_scale(fold.X, "log1p")
        self._counts, self._weight = RowBlocks(fold.X), fold.weight
        self._rows = RowBlocks(scaled.X)
        self._unit = typical_count_per_token(self._rows, scaled.count_per_token, fold.weight)
        self._known = RowBlocks(log_scale(fold.known, "log1p").X)
        self._hidden = RowBlocks(fold.hidden)
        seen = self._rows.sum(lambda B: B.tdot((fold.weight[B.at] > 0).astype(np.float64)))
        self._n_words = int(np.count_nonzero(seen))
        splitter = TopicSplitter(min_samples_leaf=1, smoothing=self._unit)
        grown = grow(self._rows, fold.weight, scaled.count_per_token, splitter, Limits(largest))
        self._labels, self._partitions = grown.labels, _partitions(grown.root)

    def __call__(self, n_components: int) -> Fit | None:
        """Return the model with k components; None where no group can be split further."""
        if n_components > len(self._partitions):
            return None
        component = self._partitions[n_components - 1][self._labels]
        shares = np.eye(n_components)[component] * self._weight[:, None]
        sums = self._rows.sum(lambda B: B.tdot(shares[B.at]))
        start = TopicParameters.m_step(sums, shares.sum(axis=0), self._unit)
        refined = em(self._rows, start, sample_weight=self._weight, smoothing=self._unit)
        fitted = refined.parameters
        shares = np.exp(log_posterior(log_joint(self._rows, fitted))[0]) * self._weight[:, None]
        sums = self._counts.sum(lambda B: B.tdot(shares[B.at]))
        counted = TopicParameters.m_step(sums, shares.sum(axis=0), 1.0)
        n_parameters = n_components * self._n_words - 1
        penalty = self._unit * n_parameters * np.log(max(self._weight.sum(), 2.0))
        bic = float(penalty - 2.0 * refined.log_likelihood)
        return Fit(counted.centers, counted.weights, bic, self._completion(fitted, counted))

    def _completion(self, fitted: TopicParameters, counted: TopicParameters) -> Floats:
        """Return log sum_j P[j | known] P[hidden | j]."""
        posterior = log_posterior(log_joint(self._known, fitted))[0]
        even = np.full(counted.n_components, 1.0 / counted.n_components)
        conditional = log_joint(self._hidden, TopicParameters(even, counted.centers)) - np.log(even)
        return np.asarray(logsumexp(posterior + conditional, axis=1))


class LDAFits:
    """Fit latent Dirichlet allocation, started from the single-topic models of one tree.

    Parameters
    ----------
    fold : Fold
        Documents.
    largest : int >= 1
        Largest number of topics.
    """

    def __init__(self, fold: Fold, largest: int) -> None:
        self._fold, self._rows = fold, RowBlocks(fold.X)
        self._single_topics = SingleTopicFits(fold, largest)
        self._known, self._hidden = RowBlocks(fold.known), RowBlocks(fold.hidden)

    def __call__(self, n_components: int) -> Fit | None:
        """Return the model with k topics; None where no group can be split further."""
        first = self._single_topics(n_components)
        if first is None:
            return None
        weight = self._fold.weight
        alpha = concentrations(first.weights, float(weight.sum()), ALPHA0)
        start = LDAParameters(alpha, first.topics)
        found = variational_em(self._rows, start, sample_weight=weight, max_iter=LDA_STEPS)
        topics = found.parameters
        shares = variational_proportions(self._known, topics)
        completion = completion_log_likelihood(self._hidden, topics, shares)
        return Fit(topics.centers, topics.weights, float("nan"), completion)


def _partitions(root: Branch) -> list[Ints]:
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
