"""Parameters of hidden Markov models: start, transitions, and a family of emissions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from momentree._types import Floats, Ints

LEAST = 1e-100
"""Smaller probabilities count as this, so that every sequence has a finite log-likelihood."""


class Emissions(Protocol):
    """Protocol of the distributions of an observation given the state."""

    @property
    def n_states(self) -> int:
        """Number of states k."""
        ...

    def likelihoods(self, X: Any) -> tuple[Floats, Floats | float]:
        """Return P[x_i | state j] / c_i, shape (k, n), all > 0, and log c_i, shape (n,) or 0."""
        ...

    def sums(self, X: Any, gamma: Floats) -> Floats:
        """Return the sums of sufficient statistics weighted by gamma (k, n), shape (p, k)."""
        ...

    def m_step(self, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the parameters that maximize the expected log-likelihood."""
        ...

    def log_prior(self, sums: Floats, smoothing: float) -> float:
        """Return the log density of the prior in ``m_step``, given all sums."""
        ...

    @property
    def coordinates(self) -> Floats:
        """The parameters as a vector of any real numbers, for extrapolation."""
        ...

    def moved_to(self, coordinates: Floats) -> Self:
        """Return the parameters with given coordinates."""
        ...

    def reordered(self, order: Ints) -> Self:
        """Return the same states in another order."""
        ...


@dataclass(frozen=True)
class HMMParameters:
    """Parameters of a hidden Markov model.

        h_1 ~ Discrete(pi),   h_(t+1) | h_t = i ~ Discrete(A_i),   x_t | h_t = j ~ emission j

    Attributes
    ----------
    startprob : ndarray of shape (k,)
        pi, sum 1.
    transmat : ndarray of shape (k, k)
        A_ij = P[h_(t+1) = j | h_t = i]; rows sum to 1.
    emissions : Emissions
        Distributions of the observations.
    """

    startprob: Floats
    transmat: Floats
    emissions: Any

    @property
    def n_states(self) -> int:
        """Number of states k."""
        return len(self.startprob)

    def reordered(self, order: Ints) -> HMMParameters:
        """Return the same states in another order."""
        return HMMParameters(
            self.startprob[order],
            self.transmat[np.ix_(order, order)],
            self.emissions.reordered(order),
        )

    @property
    def coordinates(self) -> Floats:
        """Roots of the probabilities and the coordinates of the emissions, as one vector."""
        roots = np.sqrt(np.concatenate([self.startprob, self.transmat.ravel()]))
        return np.concatenate([roots, self.emissions.coordinates])

    def moved_to(self, coordinates: Floats) -> HMMParameters:
        """Return the parameters with given coordinates."""
        k = self.n_states
        start, moves, rest = np.split(coordinates, [k, k + k * k])
        return HMMParameters(
            _of_roots(start), _of_roots(moves.reshape(k, k)), self.emissions.moved_to(rest)
        )


@dataclass(frozen=True)
class CategoricalEmissions:
    """Distributions of symbols 0 to d - 1.

    Attributes
    ----------
    probabilities : ndarray of shape (k, d)
        P[x = w | state j]; rows sum to 1.
    """

    probabilities: Floats

    @property
    def n_states(self) -> int:
        """Number of states k."""
        return len(self.probabilities)

    def likelihoods(self, X: Ints) -> tuple[Floats, float]:
        """Return P[x_i | state j], shape (k, n), and 0."""
        return np.maximum(self.probabilities, LEAST).take(X, axis=1), 0.0

    def sums(self, X: Ints, gamma: Floats) -> Floats:
        """Return the expected number of each symbol in each state, shape (d, k)."""
        d = self.probabilities.shape[1]
        return np.stack([np.bincount(X, weights=row, minlength=d) for row in gamma], axis=1)

    def m_step(self, sums: Floats, sizes: Floats, smoothing: float) -> CategoricalEmissions:
        """Return (S_wj + smoothing m_w) / (N_j + smoothing), with the overall frequencies m."""
        return CategoricalEmissions(self.counts(sums, smoothing) / (sizes + smoothing)[:, None])

    def counts(self, sums: Floats, smoothing: float) -> Floats:
        """Return S_wj + smoothing m_w, shape (k, d)."""
        return np.ascontiguousarray((sums + smoothing * _frequencies(sums)).T)

    def log_prior(self, sums: Floats, smoothing: float) -> float:
        """Return smoothing sum_wj m_w log P_wj."""
        logs = np.log(np.maximum(self.probabilities, LEAST))
        return smoothing * float((logs @ _frequencies(sums)).sum())

    @property
    def coordinates(self) -> Floats:
        """Roots of the probabilities."""
        return np.sqrt(self.probabilities).ravel()

    def moved_to(self, coordinates: Floats) -> CategoricalEmissions:
        """Return the distributions whose roots are given."""
        return CategoricalEmissions(_of_roots(coordinates.reshape(self.probabilities.shape)))

    def reordered(self, order: Ints) -> CategoricalEmissions:
        """Return the same states in another order."""
        return CategoricalEmissions(self.probabilities[order])


def _of_roots(roots: Floats) -> Floats:
    """Return probabilities proportional to squared roots; negative roots count as 0."""
    values = np.square(np.maximum(roots, 1e-150))
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


def _frequencies(sums: Floats) -> Floats:
    """Return the overall frequency of each symbol, shape (d, 1)."""
    totals = sums.sum(axis=1, keepdims=True)
    return np.asarray(totals / totals.sum())
