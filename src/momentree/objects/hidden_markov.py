"""Parameters of hidden Markov models: start, transitions, and a family of emissions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from scipy.linalg import solve_triangular

from momentree._types import Floats, Ints
from momentree.core.choices import CovarianceType
from momentree.objects.gaussian import covariance_parameters

LEAST = 1e-100
"""Smaller probabilities count as this, so that every sequence has a finite log-likelihood."""


class Emissions(Protocol):
    """Protocol of the distributions of an observation given the state."""

    @property
    def n_states(self) -> int:
        """Number of states k."""
        ...

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
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
    def n_parameters(self) -> int:
        """Number of free parameters."""
        k = self.n_states
        return k - 1 + k * (k - 1) + int(self.emissions.n_parameters)

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
    def n_parameters(self) -> int:
        """Number of free parameters, k (d - 1)."""
        k, d = self.probabilities.shape
        return int(k * (d - 1))

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


LOG_LEAST = float(np.log(LEAST))


@dataclass(frozen=True)
class GaussianEmissions:
    """A Gaussian distribution for each state.

    Attributes
    ----------
    means : ndarray of shape (k, d)
        E[x | state j].
    roots : ndarray of shape (k, d, d)
        Lower triangular L_j, with covariances L_j L_j^T.
    kind : {"spherical", "diag", "full", "tied"}
        Constraint on the covariances: one variance for each state, one for each state and
        feature, none, or the same covariances in all states.
    floor : float
        Added to each variance in the M-step.
    """

    means: Floats
    roots: Floats
    kind: CovarianceType
    floor: float

    @property
    def n_states(self) -> int:
        """Number of states k."""
        return len(self.means)

    @property
    def covariances(self) -> Floats:
        """Covariances of each state, shape (k, d, d)."""
        return np.asarray(self.roots @ self.roots.transpose(0, 2, 1))

    @cached_property
    def _log_scales(self) -> Floats:
        d = self.means.shape[1]
        diagonals = np.diagonal(self.roots, axis1=1, axis2=2)
        return np.asarray(-np.log(diagonals).sum(axis=1) - 0.5 * d * np.log(2.0 * np.pi))

    def log_densities(self, X: Floats) -> Floats:
        """Return log p[x_i | state j], shape (k, n)."""
        out = np.empty((len(self.means), len(X)))
        for j, (mu, L) in enumerate(zip(self.means, self.roots, strict=True)):
            centered = (X - mu).T
            if self.kind in ("spherical", "diag"):
                centered /= np.diag(L)[:, None]
            else:
                centered = solve_triangular(L, centered, lower=True, check_finite=False)
            out[j] = self._log_scales[j] - 0.5 * np.einsum("dn,dn->n", centered, centered)
        return out

    def likelihoods(self, X: Floats) -> tuple[Floats, Floats]:
        """Return densities relative to the largest of each observation, and its logarithm."""
        logs = self.log_densities(X)
        top = logs.max(axis=0)
        logs -= top
        return np.exp(np.maximum(logs, LOG_LEAST, out=logs), out=logs), top

    def sums(self, X: Floats, gamma: Floats) -> Floats:
        """Return sums of x and of all products x_v x_w, shape (d + d^2, k)."""
        d = X.shape[1]
        out = np.empty((d + d * d, len(gamma)))
        out[:d] = X.T @ gamma.T
        for j, weights in enumerate(gamma):
            if self.kind in ("spherical", "diag"):
                squares = np.zeros((d, d))
                squares[np.arange(d), np.arange(d)] = weights @ (X * X)
            else:
                squares = (X * weights[:, None]).T @ X
            out[d:, j] = squares.ravel()
        return out

    def m_step(self, sums: Floats, sizes: Floats, smoothing: float) -> GaussianEmissions:  # noqa: ARG002
        """Return means S_j / N_j and covariances with the floor; `smoothing` has no effect."""
        d, k = self.means.shape[1], len(sizes)
        total = float(sizes.sum())
        overall = sums[:d].sum(axis=1) / total
        N = np.maximum(sizes, 1e-12)
        means = np.where(sizes > 1e-12, sums[:d] / N, overall[:, None]).T
        within = (
            sums[d:].T.reshape(k, d, d)
            - means[:, :, None] * means[:, None, :] * sizes[:, None, None]
        )
        if self.kind == "tied":
            covariances = np.repeat(within.sum(axis=0, keepdims=True) / total, k, axis=0)
        else:
            covariances = within / N[:, None, None]
        if self.kind == "spherical":
            variances = np.trace(covariances, axis1=1, axis2=2) / d
            covariances = variances[:, None, None] * np.eye(d)
        elif self.kind == "diag":
            covariances = covariances * np.eye(d)
        return replace(self, means=means, roots=_roots(covariances, self.floor))

    def log_prior(self, sums: Floats, smoothing: float) -> float:  # noqa: ARG002
        """Return 0: the floor needs no prior."""
        return 0.0

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of the means and covariances."""
        k, d = self.means.shape
        return int(k * d + covariance_parameters(self.kind, k, d))

    @property
    def coordinates(self) -> Floats:
        """Means, and roots of the covariances with the logarithm of their diagonals."""
        roots, at = self.roots.copy(), np.arange(self.means.shape[1])
        roots[:, at, at] = np.log(roots[:, at, at])
        return np.concatenate([self.means.ravel(), roots.ravel()])

    def moved_to(self, coordinates: Floats) -> GaussianEmissions:
        """Return the distributions with given coordinates."""
        means, roots = np.split(coordinates, [self.means.size])
        roots, at = roots.reshape(self.roots.shape).copy(), np.arange(self.means.shape[1])
        least = 0.5 * np.log(self.floor)
        roots[:, at, at] = np.exp(np.clip(roots[:, at, at], least, 100.0))
        return replace(self, means=means.reshape(self.means.shape), roots=roots)

    def reordered(self, order: Ints) -> GaussianEmissions:
        """Return the same states in another order."""
        return replace(self, means=self.means[order], roots=self.roots[order])


def _roots(covariances: Floats, floor: float) -> Floats:
    """Return Cholesky factors of covariances, with the floor added to the diagonal."""
    d = covariances.shape[1]
    at = np.arange(d)
    covariances[:, at, at] = np.maximum(covariances[:, at, at], 0.0) + floor
    out = np.empty_like(covariances)
    for j, one in enumerate(covariances):
        try:
            out[j] = np.linalg.cholesky(one)
        except np.linalg.LinAlgError:  # rounding errors exceed the floor
            values, vectors = np.linalg.eigh(one)
            values = np.maximum(values, max(floor, 1e-14 * values[-1]))
            out[j] = np.linalg.cholesky((vectors * values) @ vectors.T + floor * np.eye(d))
    return out
