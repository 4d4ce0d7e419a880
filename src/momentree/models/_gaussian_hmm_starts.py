"""Deterministic starts of Baum-Welch with Gaussian emissions: posteriors of states."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends.sequences import sequence_blocks
from momentree.exceptions import ConvergenceWarning, MomentreeError
from momentree.inference.forward_backward import forward_backward
from momentree.models._hmm_starts import MIXED, WINDOW, from_moments, softened
from momentree.objects.gaussian_emissions import GaussianEmissions
from momentree.objects.hidden_markov import HMMParameters
from momentree.refinement.baum_welch import BaumWelch
from momentree.tree import ClusterTree

CODES = 3
"""Clusters per state for moments: several, so that states that overlap have different shares."""
STEPS = 50
"""Steps of Baum-Welch on the numbers of clusters."""


def posteriors_of_clusters(X: Floats, k: int) -> Floats | None:
    """Return the clusters of the observations as posteriors (n, k); None if there are fewer."""
    labels = _clusters(X, k)
    return None if labels is None or labels.max() + 1 < k else np.eye(k)[labels]


def posteriors_of_windows(X: Floats, lengths: Ints, k: int) -> Floats | None:
    """Return the clusters of means and spreads of windows of consecutive observations."""
    if lengths.max() < 2:
        return None
    starts = np.cumsum(lengths) - lengths
    begins = (np.arange(len(X)) - np.repeat(starts, lengths)) % WINDOW == 0
    first, window = np.flatnonzero(begins), np.cumsum(begins) - 1
    sizes = np.diff(np.append(first, len(X)))[:, None]
    means = np.add.reduceat(X, first) / sizes
    squares = np.add.reduceat((X - means[window]) ** 2, first) / sizes
    labels = _clusters(np.hstack([means, np.log(squares + 1e-3)]), k)
    return None if labels is None or labels.max() + 1 < k else np.eye(k)[labels[window]]


def posteriors_of_moments(
    X: Floats, lengths: Ints, k: int, method: Callable[..., Any], random_state: Any
) -> Floats | None:
    """Return posteriors of a model of cluster numbers, learned from the moments of triples."""
    codes = _clusters(X, CODES * k)
    if codes is None:
        return None
    d = int(codes.max()) + 1
    start = from_moments(codes, lengths, k, d, method, random_state)
    if start is None:
        return None
    blocks = sequence_blocks(lengths, np.add.reduceat(codes, np.cumsum(lengths) - lengths), k)
    found = BaumWelch(blocks, codes).run(softened(start, codes, d), max_iter=STEPS)
    G = np.empty((len(X), k))
    for block in blocks:
        G[block.at] = forward_backward(block, codes[block.at], found.parameters).gamma.T
    return G


def gaussian_start(G: Floats, X: Floats, lengths: Ints, form: GaussianEmissions) -> HMMParameters:
    """Return the parameters of given posteriors of states, partly mixed with the average."""
    k = G.shape[1]
    first = np.zeros(len(X), dtype=bool)
    first[np.cumsum(lengths) - lengths] = True
    after = np.flatnonzero(~first)
    moves = G[after - 1].T @ G[after] + 1e-3
    moves /= moves.sum(axis=1, keepdims=True)
    weights = G.T + 1e-6
    emissions = form.m_step(form.sums(X, weights), weights.sum(axis=1), 1.0)
    return HMMParameters(
        (1.0 - MIXED) * G[first].mean(axis=0) + MIXED / k,
        (1.0 - MIXED) * moves + MIXED / k,
        emissions,
    )


def _clusters(X: Floats, k: int) -> Ints | None:
    """Return the cluster of each row, for at most k clusters; None if the rows have too few."""
    if len(X) < k:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return ClusterTree(max_leaf_nodes=k, data="real", min_samples_leaf=1).fit(X).labels_
    except MomentreeError:
        return None  # all rows are equal
