"""Parameters of mixtures of independent binary variables, also where values are missing."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from momentree.objects.mixtures import MixtureParameters

__all__ = ["BernoulliParameters", "IncompleteBernoulliParameters"]

Floats = NDArray[np.float64]

CERTAIN = 1e-9
"""No probability is nearer to zero or one, so that their logarithms are finite."""


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
        mu = self._uncertain()
        return np.asarray(np.log(mu) - np.log1p(-mu))

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j + sum_w log(1 - mu_wj), shape (k,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.weights) + np.log1p(-self._uncertain()).sum(axis=0))

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the probabilities that fit given statistics.

            mu_wj = (S_wj + smoothing m_w) / (N_j + smoothing),   omega_j = N_j / sum N,

        with m the mean of all samples.

        Parameters
        ----------
        sums : ndarray of shape (p, k)
            S, the ones expected in each component; where values are missing also the gaps.
        sizes : ndarray of shape (k,)
            N, the samples expected in each component; where values are missing those in which
            feature w is observed take its place.
        smoothing : float > 0
            Samples of mean m that are added to every component.

        Returns
        -------
        BernoulliParameters
            Of the class it was called on. Centers above 0 where a one is, and below 1 where a zero
            is.
        """
        ones, observed = cls._values(sums, sizes)
        mu = (ones + smoothing * _mean(ones, observed)) / (observed + smoothing)
        return cls(sizes / sizes.sum(), np.clip(mu, 0.0, 1.0))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return the log density of Beta probabilities: smoothing values of mean m each.

            smoothing sum_wj (m_w log mu_wj + (1 - m_w) log(1 - mu_wj))

        Parameters
        ----------
        sums : ndarray of shape (p, k)
            Statistics expected in each component; their sum gives m.
        sizes : ndarray of shape (k,)
            N, the samples expected in each component.
        smoothing : float > 0
            Samples of mean m that are added to every component.

        Returns
        -------
        float
            In nats, less a constant.
        """
        mean, mu = _mean(*self._values(sums, sizes)), self._uncertain()
        return smoothing * float((xlogy(mean, mu) + xlog1py(1.0 - mean, -mu)).sum())

    @classmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return the log-likelihood of groups of samples, each under its own best probabilities.

            sum_w s_w log(s_w / n) + (n - s_w) log(1 - s_w / n),   s the ones of n samples

        Parameters
        ----------
        sums : ndarray of shape (p, ...)
            Statistics of each group: ones, and gaps where values are missing.
        sizes : ndarray of shape (...)
            Samples of each group.

        Returns
        -------
        ndarray of shape (...)
            In nats.
        """
        ones, observed = cls._values(sums, sizes)
        zeros = np.maximum(observed - ones, 0.0)  # rounding may leave less than none
        terms = xlogy(ones, ones) + xlogy(zeros, zeros) - xlogy(observed, observed)
        return np.asarray(terms.sum(axis=0))

    @classmethod
    def _values(cls, sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        """Return how many ones, and how many values at all, each feature has in each group."""
        return sums, np.broadcast_to(sizes, sums.shape)

    def _uncertain(self) -> Floats:
        return np.clip(self.centers, CERTAIN, 1.0 - CERTAIN)


class IncompleteBernoulliParameters(BernoulliParameters):
    """The same, for samples in which values are missing at random.

    A missing value says nothing. The statistics of a sample are its ones and its gaps, (x, g):

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
        """Return ones and gaps side by side.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Zeros and ones, zero where a value is missing.
        missing : csr_array of shape (n, d), default=None
            1 where a value is missing; None where none is.

        Returns
        -------
        csr_array of shape (n, 2 d)
            Ones in the first d columns, gaps in the others.
        """
        gaps = sp.csr_array(X.shape) if missing is None else missing
        return sp.csr_array(sp.hstack([X, gaps], format="csr"))

    @classmethod
    def n_features(cls, n_statistics: int) -> int:
        """Return d = p / 2.

        Parameters
        ----------
        n_statistics : int
            p, the statistics of a sample.

        Returns
        -------
        int
            The features of a sample.
        """
        return n_statistics // 2

    @property
    def coefficients(self) -> Floats:
        """Of ones and of gaps, shape (2 d, k)."""
        return np.vstack([super().coefficients, -np.log1p(-self._uncertain())])

    @classmethod
    def _values(cls, sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        ones, gaps = np.split(sums, 2)
        return ones, np.maximum(sizes - gaps, 0.0)  # rounding may leave less than none


def _mean(ones: Floats, observed: Floats) -> Floats:
    """Return the mean of each feature over all groups, shape (d, 1); 0 where none is observed."""
    total = np.maximum(observed.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(ones.sum(axis=1, keepdims=True) / total)
