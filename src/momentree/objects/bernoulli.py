"""T eq. 4.1: mixtures of independent binary variables, with or without missing values."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy

from momentree._types import Floats
from momentree.objects.mixtures import MixtureParameters

CERTAIN = 1e-9
"""Likelihoods keep probabilities this far from 0 and 1, so that logarithms are finite."""


TINY = float(np.finfo(np.float64).tiny)


class BernoulliParameters(MixtureParameters):
    """Parameters of a mixture of independent binary variables (Bernoulli naive Bayes).

        log P[x, j] = sum_w x_w log(mu_wj / (1 - mu_wj)) + log omega_j + sum_w log(1 - mu_wj)

    (T eq. 4.1).

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_wj = P[x_w = 1 | component j], in [0, 1]; in likelihoods in [1e-9, 1 - 1e-9].
    """

    @property
    def coefficients(self) -> Floats:
        """log(mu / (1 - mu)), shape (d, k)."""
        log_mu, log_rest = self._logs
        return np.asarray(log_mu - log_rest)

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j + sum_w log(1 - mu_wj), shape (k,)."""
        return np.asarray(self.log_weights + self._logs[1].sum(axis=0))

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the probabilities mu_wj = (S_wj + smoothing m_w) / (N_wj + smoothing).

        S counts ones and N observed values. m is the mean of all samples: the prior adds
        `smoothing` average samples to each component.
        """
        ones, observed = cls._values(sums, sizes)
        mu = (ones + smoothing * _mean(ones, observed)) / (observed + smoothing)
        return cls(sizes / sizes.sum(), np.minimum(np.maximum(mu, 0.0), 1.0))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return the log density of the Beta prior, which adds `smoothing` samples of mean m.

        smoothing sum_wj (m_w log mu_wj + (1 - m_w) log(1 - mu_wj))
        """
        mean = _mean(*self._values(sums, sizes))[:, 0]
        log_mu, log_rest = self._logs
        return smoothing * float(mean @ log_mu.sum(axis=1) + (1.0 - mean) @ log_rest.sum(axis=1))

    @classmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return sum_w S_w log(S_w / N_w) + (N_w - S_w) log(1 - S_w / N_w) of each group."""
        ones, observed = cls._values(sums, sizes)
        zeros = np.maximum(observed - ones, 0.0)  # rounding may make it negative
        terms = xlogy(ones, ones) + xlogy(zeros, zeros) - xlogy(observed, observed)
        return np.asarray(terms.sum(axis=0))

    @classmethod
    def _values(cls, sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        """Return the numbers of ones and of observed values of each feature in each group.

        The second has one row if it is the same for all features.
        """
        return sums, np.asarray(sizes)[None]

    @cached_property
    def _logs(self) -> tuple[Floats, Floats]:
        """The logarithms of mu and 1 - mu, which an EM step uses three times."""
        mu = np.minimum(np.maximum(self.centers, CERTAIN), 1.0 - CERTAIN)  # faster than clip
        return np.log(mu), np.log1p(-mu)

    def __getstate__(self) -> dict[str, Floats]:
        return {"weights": self.weights, "centers": self.centers}


class IncompleteBernoulliParameters(BernoulliParameters):
    """Bernoulli parameters for samples in which values are missing at random.

    A missing value does not affect the likelihood. The statistics of a sample are its ones and its
    missing values, (x, g):

        log P[x, j] = sum_w x_w log(mu_wj / (1 - mu_wj)) - g_w log(1 - mu_wj) + b_j

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_wj = P[x_w = 1 | component j], in [0, 1].
    """

    @classmethod
    def statistics(cls, X: Any, missing: Any | None = None) -> Any:
        """Return ones in the first d columns, missing values in the last d."""
        right = sp.csr_array(X.shape) if missing is None else missing
        return sp.csr_array(sp.hstack([X, right], format="csr"))

    @classmethod
    def n_features(cls, n_statistics: int) -> int:
        """Return d = p / 2."""
        return n_statistics // 2

    @property
    def coefficients(self) -> Floats:
        """Coefficients of ones and of missing values, shape (2 d, k)."""
        return np.vstack([super().coefficients, -self._logs[1]])

    @classmethod
    def _values(cls, sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        ones, missing = np.split(sums, 2)
        return ones, np.maximum(sizes - missing, 0.0)  # rounding may make it negative


def _mean(ones: Floats, observed: Floats) -> Floats:
    """Return the mean of each feature over all groups, shape (d, 1); 0 if no value is observed."""
    total = np.maximum(observed.sum(axis=1, keepdims=True), TINY)
    return np.asarray(ones.sum(axis=1, keepdims=True) / total)
