"""Parameters of mixtures for counts: topics and Poisson variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

__all__ = ["MixtureParameters", "PoissonParameters", "TopicParameters", "check_sums"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MixtureParameters(ABC):
    """Parameters of a mixture in which log P[x, component j] is linear in statistics of x.

        log P[x, j] = sum_w t_w(x) theta_wj + b_j + const(x)

    For counts t(x) = x and theta = log mu.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_j = E[x | component j] in columns.
    """

    weights: Floats
    centers: Floats

    signed: ClassVar[bool] = False
    """Whether statistics may be negative."""

    def __post_init__(self) -> None:
        d, k = self.centers.shape
        if self.weights.shape != (k,):
            msg = f"weights have shape {self.weights.shape}, centers {(d, k)} need {(k,)}"
            raise ValueError(msg)
        check_sums("weights", self.weights.sum())

    @classmethod
    def statistics(cls, X: Any) -> Any:
        """Return t(x) of every sample.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Samples.

        Returns
        -------
        csr_array of shape (n, p)
            For counts X itself.
        """
        return X

    @classmethod
    def n_features(cls, n_statistics: int) -> int:
        """Return d, the number of features, where there are p statistics.

        Parameters
        ----------
        n_statistics : int
            p, the statistics of a sample.

        Returns
        -------
        int
            The features of a sample.
        """
        return n_statistics

    @property
    def coefficients(self) -> Floats:
        """theta, shape (p, k); -inf where a component rules a value out."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.centers))

    @property
    def n_components(self) -> int:
        """Number of components."""
        return int(self.weights.shape[0])

    def reordered(self, order: NDArray[np.intp]) -> Self:
        """Return the same components in another order.

        Parameters
        ----------
        order : ndarray of intp of shape (k,)
            The old position of each component.

        Returns
        -------
        MixtureParameters
            Weights and centers in the new order, of the same class.
        """
        return replace(self, weights=self.weights[order], centers=self.centers[:, order])

    def without(self, component: int) -> Self:
        """Return the parameters less one component.

        Parameters
        ----------
        component : int
            Its position.

        Returns
        -------
        MixtureParameters
            The others, in order, their weights scaled to sum 1.
        """
        keep = np.flatnonzero(np.arange(self.n_components) != component)
        weights = self.weights.copy()
        weights[component] = 0.0
        return replace(self, weights=weights / weights.sum()).reordered(keep)

    @property
    @abstractmethod
    def offsets(self) -> Floats:
        """b_j, shape (k,)."""

    @classmethod
    @abstractmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the parameters that fit given statistics: the M-step of EM.

        Parameters
        ----------
        sums : ndarray of shape (d, k)
            S, the counts expected in each component.
        sizes : ndarray of shape (k,)
            N, the samples expected in each component.
        smoothing : float > 0
            How much is added so that no center is zero.

        Returns
        -------
        MixtureParameters
            All centers > 0.
        """

    @abstractmethod
    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return what smoothing adds to the log-likelihood: the logarithm of a prior density.

        ``m_step(sums, sizes, smoothing)`` are the parameters with the largest

            sum_j (S_j . theta_j + N_j b_j) + log_prior(S, N, smoothing),

        so that a step of EM never lowers the log-likelihood plus this prior.

        Parameters
        ----------
        sums : ndarray of shape (p, k)
            S, the statistics expected in each component; the prior may depend on all samples.
        sizes : ndarray of shape (k,)
            N, the samples expected in each component.
        smoothing : float > 0
            As for :meth:`m_step`.

        Returns
        -------
        float
            In nats, less a constant; -inf where a center of zero contradicts the prior.
        """

    @classmethod
    @abstractmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return the log-likelihood of groups of samples, each under its own best component.

        Parameters
        ----------
        sums : ndarray of shape (p, k)
            Sums of the statistics over each group.
        sizes : ndarray of shape (k,)
            Samples of each group.

        Returns
        -------
        ndarray of shape (k,)
            In nats, less what depends on the samples alone.
        """


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
        with np.errstate(divide="ignore"):
            return np.log(self.weights)

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the topics that fit given statistics.

            mu_wj = (S_wj + smoothing) / sum_w (S_wj + smoothing),   omega_j = N_j / sum N.

        Parameters
        ----------
        sums : ndarray of shape (d, k)
            S, the word counts expected in each topic.
        sizes : ndarray of shape (k,)
            N, the documents expected in each topic.
        smoothing : float > 0
            Pseudo-count of every word in every topic.

        Returns
        -------
        TopicParameters
            All centers > 0.
        """
        C = sums + smoothing
        return cls(sizes / sizes.sum(), C / C.sum(axis=0))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:  # noqa: ARG002
        """Return smoothing sum_wj log mu_wj, the density of Dirichlet(smoothing + 1) topics.

        Parameters
        ----------
        sums : ndarray of shape (d, k)
            Not used: the prior does not depend on the data.
        sizes : ndarray of shape (k,)
            Not used.
        smoothing : float > 0
            Pseudo-count of every word in every topic.

        Returns
        -------
        float
            In nats, less a constant.
        """
        return smoothing * float(self.coefficients.sum())

    @classmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:  # noqa: ARG003
        """Return the log-likelihood of groups of documents, each under its own best multinomial.

            sum_w s_w log(s_w / sum s),   s the word counts of a group

        Parameters
        ----------
        sums : ndarray of shape (d, ...)
            Word counts of one or several groups.
        sizes : ndarray of shape (...)
            Not used: the number of documents does not matter.

        Returns
        -------
        ndarray of shape (...)
            In nats, less the multinomial coefficients.
        """
        total = sums.sum(axis=0)
        return np.asarray(xlogy(sums, sums).sum(axis=0) - xlogy(total, total))


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

        A feature that no component knows is as unlikely in all of them: it says nothing of a new
        sample.
        """
        known = self.centers.max(axis=1, keepdims=True) > 0
        return np.where(known, super().coefficients, np.log(np.finfo(np.float64).tiny))

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j - sum_w mu_wj, shape (k,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.weights) - self.centers.sum(axis=0))

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the means that fit given statistics.

            mu_wj = (S_wj + smoothing m_w) / (N_j + smoothing),   omega_j = N_j / sum N,

        with m the mean of all samples.

        Parameters
        ----------
        sums : ndarray of shape (d, k)
            S, the counts expected in each component.
        sizes : ndarray of shape (k,)
            N, the samples expected in each component.
        smoothing : float > 0
            Samples of mean m that are added to every component.

        Returns
        -------
        PoissonParameters
            Centers > 0 where a count is.
        """
        mean = sums.sum(axis=1, keepdims=True) / sizes.sum()
        return cls(sizes / sizes.sum(), (sums + smoothing * mean) / (sizes + smoothing))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return smoothing sum_wj (m_w log mu_wj - mu_wj), the density of Gamma means.

        Parameters
        ----------
        sums : ndarray of shape (d, k)
            S, the counts expected in each component; their sum gives m.
        sizes : ndarray of shape (k,)
            N, the samples expected in each component.
        smoothing : float > 0
            Samples of mean m that are added to every component.

        Returns
        -------
        float
            In nats, less a constant.
        """
        mean = sums.sum(axis=1, keepdims=True) / sizes.sum()
        return smoothing * float((xlogy(mean, self.centers) - self.centers).sum())

    @classmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return the log-likelihood of groups of samples, each under its own best means.

            sum_w s_w log(s_w / n) - s_w,   s the counts of a group of n samples

        Parameters
        ----------
        sums : ndarray of shape (d, ...)
            Counts of one or several groups.
        sizes : ndarray of shape (...)
            Samples of each group.

        Returns
        -------
        ndarray of shape (...)
            In nats, less the factorials of counts.
        """
        return np.asarray((xlogy(sums, sums) - xlogy(sums, sizes) - sums).sum(axis=0))


def check_sums(name: str, sums: Floats) -> None:
    """Check that something sums to 1."""
    if not np.abs(sums - 1.0).max(initial=0.0) < 1e-6:
        msg = f"{name} sum to {sums}, not to 1"
        raise ValueError(msg)
