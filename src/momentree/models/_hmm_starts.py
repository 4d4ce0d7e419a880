"""Deterministic starts of Baum-Welch, and the choice of the most likely one."""

import logging
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Bools, Floats, Ints
from momentree.backends.sequences import sequence_blocks
from momentree.core.ties import largest_first
from momentree.exceptions import ConvergenceWarning, MomentreeError
from momentree.inference.hidden_markov import forward_backward
from momentree.models.count_models import SingleTopicModel
from momentree.moments import HMMMoments
from momentree.objects.hidden_markov import CategoricalEmissions, GaussianEmissions, HMMParameters
from momentree.parameters import hmm_parameters
from momentree.refinement.hidden_markov import MEMORY, BaumWelch, RefinedHMM, quasi_newton
from momentree.tree import ClusterTree

log = logging.getLogger("momentree.models")

MIXED = 0.3
"""Weight of the average in a start: EM never leaves a probability of zero, and moments that are
clipped at zero may be far off."""
WINDOW = 8
"""Observations of a window: enough symbols for a profile, few enough to be of one state."""
SHORT_WINDOW = 3
"""Observations of a short window, for states that change sooner and for short sequences."""
RIVALS = ((20, 3), (80, 1))
"""Steps of Baum-Welch from each start, and how many of the most likely ones continue."""


def from_moments(
    X: Ints, lengths: Ints, k: int, d: int, method: Callable[..., Any], random_state: Any
) -> HMMParameters | None:
    """Return the parameters that the moments of triples give; None if there are fewer states."""
    if lengths.max() < 3 or d < k:
        return None
    moments = HMMMoments.from_data(X, lengths, n_components=k, n_symbols=d)
    found = method(moments, k, random_state=random_state)
    return hmm_parameters(found, moments) if found.n_components == k else None


def from_windows(X: Ints, lengths: Ints, k: int, d: int, window: int) -> HMMParameters | None:
    """Group windows of consecutive symbols by their counts: states that last.

    Does not require as many symbols as states.
    """
    at = _windows(lengths, window)
    counts = sp.coo_array((np.ones(len(X)), (at, X)), shape=(int(at[-1]) + 1, d)).tocsr()
    # A whole pseudo-count per symbol would outweigh windows of few symbols, and empty some groups.
    groups = _groups(counts, k, 0.1)
    return None if groups is None else of_posteriors(groups[at], X, lengths, d)


def from_contexts(X: Ints, lengths: Ints, k: int, d: int) -> HMMParameters | None:
    """Group symbols by the symbols before and after them: states with symbols of their own."""
    if lengths.max() < 2 or d <= k:
        return None
    after = np.flatnonzero(~_are_first(lengths))
    here = np.concatenate([X[after], X[after - 1]])
    other = np.concatenate([X[after - 1], d + X[after]])
    counts = sp.coo_array((np.ones(len(here)), (here, other)), shape=(d, 2 * d)).tocsr()
    groups = _groups(counts, k)
    return None if groups is None else of_posteriors(groups[X], X, lengths, d)


def _groups(counts: Any, k: int, smoothing: float = 1.0) -> Floats | None:
    """Return the probability of each of k groups for each row; None if there are fewer."""
    model = SingleTopicModel(k, start="tree", log_scaling=None, smoothing=smoothing)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            groups = model.fit(counts).predict_proba(counts)
    except MomentreeError:
        return None  # fewer rows than groups
    return groups if groups.shape[1] == k else None


def of_posteriors(G: Floats, X: Ints, lengths: Ints, d: int) -> HMMParameters:
    """Return the parameters of given probabilities of states, as if they were known."""
    start, moves = _dynamics(G, lengths)
    emitted = np.stack([np.bincount(X, weights=g, minlength=d) for g in G.T]) + 1e-12
    return HMMParameters(
        start,
        moves,
        CategoricalEmissions(emitted / emitted.sum(axis=1, keepdims=True)),
    )


def _are_first(lengths: Ints) -> Bools:
    """Return which observations are the first of their sequence."""
    first = np.zeros(int(lengths.sum()), dtype=bool)
    first[np.cumsum(lengths) - lengths] = True
    return first


def _windows(lengths: Ints, size: int) -> Ints:
    """Return the window of each observation; none extends over several sequences."""
    starts = np.cumsum(lengths) - lengths
    place = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)
    return np.cumsum(place % size == 0) - 1


def _dynamics(G: Floats, lengths: Ints) -> tuple[Floats, Floats]:
    """Return probabilities of the first state and of transitions, as if states were known."""
    first = _are_first(lengths)
    after = np.flatnonzero(~first)
    moves = G[after - 1].T @ G[after] + 1e-3
    return G[first].mean(axis=0), moves / moves.sum(axis=1, keepdims=True)


def softened(parameters: HMMParameters, X: Ints, d: int) -> HMMParameters:
    """Return parameters mixed with the average, so that no probability is 0."""
    k = parameters.n_states
    mean = np.bincount(X, minlength=d) / len(X)
    return HMMParameters(
        (1.0 - MIXED) * parameters.startprob + MIXED / k,
        (1.0 - MIXED) * parameters.transmat + MIXED / k,
        CategoricalEmissions((1.0 - MIXED) * parameters.emissions.probabilities + MIXED * mean),
    )


def most_likely(
    learner: BaumWelch, starts: dict[str, HMMParameters], max_iter: int, tol: float
) -> tuple[RefinedHMM, str]:
    """Run Baum-Welch from all starts, and continue with the most likely ones."""
    found = {name: RefinedHMM(start, -np.inf, 0, converged=False) for name, start in starts.items()}
    for steps, survivors in (*RIVALS, (max_iter, 1)):
        if len(found) == 1 and steps != max_iter:
            continue
        found = {name: _continue(learner, one, steps, max_iter, tol) for name, one in found.items()}
        for name, one in found.items():
            log.info("%s: log-likelihood %.7g, step %d", name, one.log_likelihood, one.n_iter)
        order = largest_first([one.log_likelihood for one in found.values()])
        found = {name: found[name] for name in np.array([*found])[order[:survivors]].tolist()}
    name, one = next(iter(found.items()))
    return one, name


def _continue(
    learner: BaumWelch, found: RefinedHMM, steps: int, max_iter: int, tol: float
) -> RefinedHMM:
    left = min(steps, max_iter - found.n_iter)
    if found.converged or left < 1:
        return found
    if found.n_iter and learner.n_observations >= 2 * MEMORY * _n_symbols(found.parameters):
        # EM is slow where states are hard to distinguish.
        more = quasi_newton(learner, found.parameters, max_iter=left, tol=tol)
        found = RefinedHMM(
            more.parameters, more.log_likelihood, found.n_iter + more.n_iter, converged=False
        )
        left -= more.n_iter
        if left < 1 or not more.converged:
            return found
    more = learner.run(found.parameters, max_iter=left, tol=tol)
    n_iter = found.n_iter + more.n_iter
    return RefinedHMM(more.parameters, more.log_likelihood, n_iter, more.converged)


def _n_symbols(parameters: HMMParameters) -> float:
    """Return the number of symbols; infinity for other emissions."""
    emissions = parameters.emissions
    return (
        emissions.probabilities.shape[1] if isinstance(emissions, CategoricalEmissions) else np.inf
    )


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
    window = _windows(lengths, WINDOW)
    first = np.flatnonzero(np.diff(window, prepend=-1))
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
    start, moves = _dynamics(G, lengths)
    weights = G.T + 1e-6
    emissions = form.m_step(form.sums(X, weights), weights.sum(axis=1), 1.0)
    return HMMParameters(
        (1.0 - MIXED) * start + MIXED / k,
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
