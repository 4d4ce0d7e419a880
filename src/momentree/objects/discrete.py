"""Parameters of mixtures of counts and of binary variables, and of latent Dirichlet allocation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.objects.mixtures import MixtureParameters, check_sums


class TopicParameters(MixtureParameters):
    """Parameters of a single-topic model (a mixture of multinomials).

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_i = P[topic i], sum 1.
    centers : ndarray of shape (d, k)
        mu_i = P[word | topic i] in columns, each >= 0 with sum 1.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sums("centers", self.centers.sum(axis=0))

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j, shape (k,)."""
        return self.log_weights

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the topics mu_wj = (S_wj + smoothing) / sum_w (S_wj + smoothing)."""
        C = sums + smoothing
        return cls(sizes / sizes.sum(), C / C.sum(axis=0))

    @classmethod
    def limited_smoothing(cls, smoothing: float, total: float, shape: tuple[int, ...]) -> float:
        """Return min(smoothing, total / (4 d k)).

        A topic has at most a quarter as many pseudo-counts as an average topic has counts. With
        more of them, EM would leave only the largest topics of short documents.
        """
        d, k = shape
        return min(smoothing, total / (4.0 * d * k)) if total > 0 else smoothing

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:  # noqa: ARG002
        """Return smoothing sum_wj log mu_wj, the log density of Dirichlet(smoothing + 1)."""
        return smoothing * float(self.coefficients.sum())

    @classmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:  # noqa: ARG003
        """Return sum_w S_w log(S_w / sum S) of each group, without multinomial coefficients."""
        total = sums.sum(axis=0)
        logs = np.log(np.where(sums > 0, sums, 1.0))  # `xlogy` takes several times as long
        return np.asarray((sums * logs).sum(axis=0) - xlogy(total, total))


class PoissonParameters(MixtureParameters):
    """Parameters of a mixture of independent Poisson variables (Poisson naive Bayes).

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_i = P[component i], sum 1.
    centers : ndarray of shape (d, k)
        mu_i = E[x | component i] in columns, >= 0.
    """

    @property
    def coefficients(self) -> Floats:
        """Theta = log mu, shape (d, k).

        A feature with mean zero in all components has the same finite coefficient in each, so
        that it does not affect posteriors of new samples.
        """
        known = self.centers.max(axis=1, keepdims=True) > 0
        return np.where(known, super().coefficients, np.log(np.finfo(np.float64).tiny))

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j - sum_w mu_wj, shape (k,)."""
        return np.asarray(self.log_weights - self.centers.sum(axis=0))

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the means mu_wj = (S_wj + smoothing m_w) / (N_j + smoothing).

        m is the mean of all samples: the prior adds `smoothing` average samples to each component.
        """
        mean = sums.sum(axis=1, keepdims=True) / sizes.sum()
        return cls(sizes / sizes.sum(), (sums + smoothing * mean) / (sizes + smoothing))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return smoothing sum_wj (m_w log mu_wj - mu_wj), the log density of the Gamma prior."""
        mean = sums.sum(axis=1, keepdims=True) / sizes.sum()
        return smoothing * float((xlogy(mean, self.centers) - self.centers).sum())

    @classmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return sum_w S_w log(S_w / N) - S_w of each group, without factorials of counts."""
        return np.asarray((xlogy(sums, sums) - xlogy(sums, sizes) - sums).sum(axis=0))


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


@dataclass(frozen=True)
class LDAParameters:
    """Parameters of latent Dirichlet allocation.

    Attributes
    ----------
    alpha : ndarray of shape (k,)
        Concentrations > 0 of the Dirichlet distribution of topic proportions.
    centers : ndarray of shape (d, k)
        mu_i = P[word | topic i] in columns, each >= 0 with sum 1.
    """

    alpha: Floats
    centers: Floats

    def __post_init__(self) -> None:
        check_shape("alpha", self.alpha, self.centers.shape[1:])
        if not (self.alpha > 0).all():
            raise InvalidDataError(wording.BAD_CONCENTRATIONS, values=self.alpha.tolist())
        check_sums("centers", self.centers.sum(axis=0))

    @property
    def n_components(self) -> int:
        """Number of topics."""
        return int(self.alpha.shape[0])

    @property
    def alpha0(self) -> float:
        """Total concentration, alpha_0 = sum_i alpha_i."""
        return float(self.alpha.sum())

    @property
    def weights(self) -> Floats:
        """Expected topic proportions alpha_i / alpha_0, shape (k,)."""
        return np.asarray(self.alpha / self.alpha.sum())

    def reordered(self, order: Ints) -> LDAParameters:
        """Return the same topics in another order.

        Parameters
        ----------
        order : ndarray of intp of shape (k,)
            The old position of each topic.

        Returns
        -------
        LDAParameters
            Concentrations and centers in the new order.
        """
        return LDAParameters(self.alpha[order], self.centers[:, order])
