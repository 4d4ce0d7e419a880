"""Parameters of mixtures of spherical Gaussians, with a variance each or one for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.core.choices import CovarianceType
from momentree.objects.mixtures import MixtureParameters

LEAST_VARIANCE = 1e-9
"""Smallest variance of a component, as a fraction of the overall variance."""
ROUNDING = 1e-14
"""A variance below this fraction of the mean square is rounding error."""
LOG_2_PI = float(np.log(2.0 * np.pi))


class FlooredGaussians(MixtureParameters):
    """Base class of Gaussian families whose M-step adds a floor to each variance."""

    signed: ClassVar[bool] = True
    floor: ClassVar[Floats | float] = 0.0
    """Added to each variance in the M-step, one value or shape (d,); a sphere takes its mean."""

    @classmethod
    def with_floor(cls, floor: Floats | float) -> type[Self]:
        """Return the family whose M-step adds a floor to each variance.

        Parameters
        ----------
        floor : float or ndarray of shape (d,), >= 0
            In squared units of the statistics.

        Returns
        -------
        type
            A subclass.
        """
        return type(cls.__name__, (cls,), {"floor": floor})


@dataclass(frozen=True)
class GaussianParameters(FlooredGaussians):
    """Parameters of a mixture of spherical Gaussians, each with its own variance.

        log P[x, j] = x . mu_j / v_j - |x|^2 / (2 v_j) + b_j + const,

    linear in the statistics (x, |x|^2).

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_j = E[x | component j] in columns.
    variances : ndarray of shape (k,)
        v_j > 0, of each feature in component j.
    """

    variances: Floats

    def reordered(self, order: Ints) -> Self:
        """Return the same components in another order."""
        return type(self)(self.weights[order], self.centers[:, order], self.variances[order])

    @classmethod
    def statistics(cls, X: Any) -> Any:
        """Return (x, |x|^2) of every sample: X with one more column."""
        squares = np.asarray(X.multiply(X).sum(axis=1)).reshape(-1, 1)
        return sp.csr_array(sp.hstack([X, sp.csr_array(squares)], format="csr"))

    @classmethod
    def n_features(cls, n_statistics: int) -> int:
        """Return d = p - 1."""
        return n_statistics - 1

    @property
    def coefficients(self) -> Floats:
        """mu_j / v_j and -1 / (2 v_j), shape (d + 1, k)."""
        return np.vstack([self.centers / self.variances, -0.5 / self.variances])

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j - |mu_j|^2 / (2 v_j) - d/2 log v_j, shape (k,)."""
        d = self.centers.shape[0]
        squares = (self.centers**2).sum(axis=0)
        return np.asarray(
            self.log_weights - 0.5 * squares / self.variances - 0.5 * d * np.log(self.variances)
        )

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the means mu_j = S_j / N_j and the variances v_j.

            v_j = (V_j + smoothing d v) / (d (N_j + smoothing)) + floor

        V_j is the sum of squared distances to mu_j, and v = sum_j V_j / (d sum N) the pooled
        variance: the prior adds `smoothing` samples of variance v. An empty component gets the
        overall mean.
        """
        d, total = len(sums) - 1, float(sizes.sum())
        centers, within = _around_means(sums, sizes)
        floor = float(np.mean(cls.floor))
        least = _least_spread(sums, sizes, floored=floor > 0) / total
        pooled = within.sum() / total
        N = sizes + smoothing
        spread = (within + smoothing * pooled) / np.where(N > 0, N, 1.0)
        variances = np.where(N > 0, spread, pooled) / d + floor
        return cls(sizes / total, centers, np.maximum(variances, least / d))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return -smoothing d / 2 sum_j (log v_j + v / v_j), the log density of the variances.

        The pooled variance v, and with it this prior, changes between EM steps: each step increases
        the likelihood plus the prior of that step.
        """
        d = len(sums) - 1
        pooled = _around_means(sums, sizes)[1].sum() / sizes.sum()
        v = self.variances
        return -0.5 * smoothing * float((d * np.log(v) + pooled / v).sum())

    @classmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return -(N d / 2) (log v + 1) of each group, with variance v per feature.

        It is 0 for an empty group; for identical samples, v is the variance of rounding errors.
        """
        d = len(sums) - 1
        N = np.where(sizes > 0, sizes, 1.0)
        squares = sums[d] / N
        v = np.maximum(squares - ((sums[:d] / N) ** 2).sum(axis=0), 1e-12 * squares) / d
        return np.asarray(-0.5 * d * sizes * (np.log(np.maximum(v, 1e-300)) + 1.0))


class TiedGaussianParameters(GaussianParameters):
    """Parameters of a mixture of spherical Gaussians with equal weights and one variance.

    Trees of embeddings in older files have them; see :class:`VonMisesFisherParameters`.

        log P[x, j] = x . mu_j / v - |x|^2 / (2 v) + b_j + const,   b_j = -|mu_j|^2 / (2 v) + const

    A sample belongs to the nearest mean, so k-means is the limit v -> 0 of EM. For directions
    (samples of unit length), such as embeddings: weights and variances of their own let EM
    collect what is between the groups in one wide component.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = 1 / k.
    centers : ndarray of shape (d, k)
        mu_j = E[x | component j] in columns.
    variances : ndarray of shape (k,)
        v > 0, of each feature, the same in all components.
    """

    separate: ClassVar[bool] = False
    known_sides: ClassVar[bool] = True

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:  # noqa: ARG003
        """Return the means mu_j = S_j / N_j, and v = sum_j V_j / (d sum N) for every component.

        The pooled variance needs no prior, so `smoothing` has no effect.
        """
        d, k = len(sums) - 1, len(sizes)
        centers, within = _around_means(sums, sizes)
        v = max(float(within.sum()), _least_spread(sums, sizes)) / (d * float(sizes.sum()))
        return cls(np.full(k, 1.0 / k), centers, np.full(k, v))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:  # noqa: ARG002
        """Return 0: there is no prior."""
        return 0.0

    @classmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return -V / 2 of each group, its log-likelihood if the common variance is 1.

        V is the sum of squared distances to the mean. The common variance depends on all groups;
        divide by it for nats.
        """
        d = len(sums) - 1
        N = np.where(sizes > 0, sizes, 1.0)
        return np.asarray(-0.5 * np.maximum(sums[d] - (sums[:d] ** 2).sum(axis=0) / N, 0.0))

    @classmethod
    def nats_per_unit(cls, sums: Floats, sizes: Floats) -> float:
        """Return 1 / v."""
        within = -2.0 * float(cls.maximized_log_likelihood(sums, sizes).sum())
        d = len(sums) - 1
        return d * float(sizes.sum()) / max(within, 1e-300)


def covariance_parameters(covariance_type: CovarianceType, k: int, d: int) -> int:
    """Return the number of free parameters of the covariances of k Gaussians with d features."""
    of_one = d * (d + 1) // 2
    free = {"spherical": k, "diag": k * d, "tied": of_one, "full": k * of_one}
    return free[covariance_type]


def _around_means(sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """Return the means (d, k) of groups, and the sums of squared distances to them (k,)."""
    d = len(sums) - 1
    empty = sizes <= 0
    overall = sums[:d].sum(axis=1, keepdims=True) / sizes.sum()
    centers = np.where(empty, overall, sums[:d] / np.where(empty, 1.0, sizes))
    return centers, np.maximum(sums[d] - (centers**2).sum(axis=0) * sizes, 0.0)


def _least_spread(sums: Floats, sizes: Floats, *, floored: bool = False) -> float:
    """Return the smallest sum of squared distances that is not rounding error."""
    d, total = len(sums) - 1, float(sizes.sum())
    overall = sums.sum(axis=1) / total
    spread = float(overall[d] - (overall[:d] ** 2).sum())
    least = 0.0 if floored else LEAST_VARIANCE
    return total * max(least * spread, ROUNDING * float(overall[d]), 1e-200)
