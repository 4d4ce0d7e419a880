"""Deterministic starts of Baum-Welch, and the choice of the most likely one."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.core.ties import largest_first
from momentree.exceptions import ConvergenceWarning, MomentreeError
from momentree.models.single_topic_model import SingleTopicModel
from momentree.moments import HMMMoments
from momentree.objects.hidden_markov import CategoricalEmissions, HMMParameters
from momentree.parameters import hmm_parameters
from momentree.refinement.baum_welch import BaumWelch, RefinedHMM
from momentree.refinement.quasi_newton import MEMORY, quasi_newton

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
    starts = np.cumsum(lengths) - lengths
    place = np.arange(len(X)) - np.repeat(starts, lengths)
    begins = place % window == 0
    at = np.cumsum(begins) - 1
    counts = sp.coo_array((np.ones(len(X)), (at, X)), shape=(int(begins.sum()), d)).tocsr()
    # A whole pseudo-count per symbol would outweigh windows of few symbols, and empty some groups.
    groups = _groups(counts, k, 0.1)
    return None if groups is None else of_posteriors(groups[at], X, lengths, d)


def from_contexts(X: Ints, lengths: Ints, k: int, d: int) -> HMMParameters | None:
    """Group symbols by the symbols before and after them: states with symbols of their own."""
    if lengths.max() < 2 or d <= k:
        return None
    first = np.ones(len(X), dtype=bool)
    first[(np.cumsum(lengths) - lengths)] = False
    after = np.flatnonzero(first)
    here = np.concatenate([X[after], X[after - 1]])
    other = np.concatenate([X[after - 1], d + X[after]])
    counts = sp.coo_array((np.ones(len(here)), (here, other)), shape=(d, 2 * d)).tocsr()
    groups = _groups(counts, k)
    return None if groups is None else of_posteriors(groups[X], X, lengths, d)


def _groups(counts: Any, k: int, smoothing: float = 1.0) -> Floats | None:
    """Return the probability of each of k groups for each row; None if there are fewer."""
    model = SingleTopicModel(k, search="none", log_scaling=None, smoothing=smoothing)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            groups = model.fit(counts).predict_proba(counts)
    except MomentreeError:
        return None  # fewer rows than groups
    return groups if groups.shape[1] == k else None


def of_posteriors(G: Floats, X: Ints, lengths: Ints, d: int) -> HMMParameters:
    """Return the parameters of given probabilities of states, as if they were known."""
    first = np.zeros(len(X), dtype=bool)
    first[np.cumsum(lengths) - lengths] = True
    after = np.flatnonzero(~first)
    moves = G[after - 1].T @ G[after] + 1e-3
    emitted = np.stack([np.bincount(X, weights=g, minlength=d) for g in G.T]) + 1e-12
    return HMMParameters(
        G[first].mean(axis=0),
        moves / moves.sum(axis=1, keepdims=True),
        CategoricalEmissions(emitted / emitted.sum(axis=1, keepdims=True)),
    )


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
        found = {
            name: _continued(learner, one, steps, max_iter, tol) for name, one in found.items()
        }
        for name, one in found.items():
            log.info("%s: log-likelihood %.7g, step %d", name, one.log_likelihood, one.n_iter)
        order = largest_first([one.log_likelihood for one in found.values()])
        found = {name: found[name] for name in np.array([*found])[order[:survivors]].tolist()}
    name, one = next(iter(found.items()))
    return one, name


def _continued(
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
