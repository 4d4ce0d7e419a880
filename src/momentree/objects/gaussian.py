"""Parameters of mixtures of Gaussians without correlations, with or without missing values."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.core.choices import CovarianceType
from momentree.objects.mixtures import MixtureParameters, family_method

MIN_VARIANCE = 1e-9
"""Smallest variance of a component, as a fraction of the overall variance."""
ROUNDING = 1e-14
"""A variance below this fraction of the mean square is rounding error."""
LOG_2_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class FlooredGaussians(MixtureParameters):
    """Base class of Gaussian families whose M-step adds a floor to each variance."""

    floor: Floats | float = field(default=0.0, kw_only=True, compare=False, repr=False)
    """Added to each variance in the M-step, one value or shape (d,); a sphere takes its mean."""

    signed: ClassVar[bool] = True

    @classmethod
    def with_floor(cls, floor: Floats | float) -> Self:
        """Return the family whose M-step adds a floor to each variance.

        Parameters
        ----------
        floor : float or ndarray of shape (d,), >= 0
            In squared units of the statistics.

        Returns
        -------
        MixtureParameters
            A member of the family, whose components mean nothing.
        """
        make: Any = cls
        member: Self = make(np.ones(1), np.zeros((0, 1)), np.ones(1), floor=floor)
        return member


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
    floor : float or ndarray of shape (d,)
        Setting of the family: added to each variance in the M-step.
    """

    variances: Floats

    def reordered(self, order: Ints) -> Self:
        """Return the same components in another order."""
        return self.member(self.weights[order], self.centers[:, order], self.variances[order])

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

    @family_method
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
        return cls.member(sizes / total, centers, np.maximum(variances, least / d))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return -smoothing d / 2 sum_j (log v_j + v / v_j), the log density of the variances.

        The pooled variance v, and with it this prior, changes between EM steps: each step increases
        the likelihood plus the prior of that step.
        """
        d = len(sums) - 1
        pooled = _around_means(sums, sizes)[1].sum() / sizes.sum()
        v = self.variances
        return -0.5 * smoothing * float((d * np.log(v) + pooled / v).sum())

    @family_method
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return -(N d / 2) (log v + 1) of each group, with variance v per feature.

        It is 0 for an empty group; for identical samples, v is the variance of rounding errors.
        """
        d = len(sums) - 1
        N = np.where(sizes > 0, sizes, 1.0)
        squares = sums[d] / N
        v = np.maximum(squares - ((sums[:d] / N) ** 2).sum(axis=0), 1e-12 * squares) / d
        return np.asarray(-0.5 * d * sizes * (np.log(np.maximum(v, 1e-300)) + 1.0))


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
    least = 0.0 if floored else MIN_VARIANCE
    return total * max(least * spread, ROUNDING * float(overall[d]), 1e-200)


TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class DiagonalGaussianParameters(FlooredGaussians):
    """Parameters of a mixture of Gaussians with independent features (diagonal covariances).

        log P[x, j] = sum_w (x_w mu_wj - x_w^2 / 2) / v_wj + b_j + const,

    linear in the statistics (x, x * x). As the statistics have different means in components of
    equal mean, so do their moments.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_j = E[x | component j] in columns.
    variances : ndarray of shape (d, k)
        v_wj > 0, of feature w in component j.
    floor : float or ndarray of shape (d,)
        Setting of the family: added to each variance in the M-step.
    """

    variances: Floats

    def reordered(self, order: Ints) -> Self:
        """Return the same components in another order."""
        return self.member(self.weights[order], self.centers[:, order], self.variances[:, order])

    @classmethod
    def statistics(cls, X: Any) -> Any:
        """Return (x, x * x) of every sample."""
        return sp.csr_array(sp.hstack([X, X.multiply(X)], format="csr"))

    @classmethod
    def n_features(cls, n_statistics: int) -> int:
        """Return d = p / 2."""
        return n_statistics // 2

    @property
    def coefficients(self) -> Floats:
        """mu_j / v_j and -1 / (2 v_j), shape (2 d, k)."""
        return np.vstack([self.centers / self.variances, -0.5 / self.variances])

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j - sum_w (mu_wj^2 / v_wj + log v_wj) / 2, shape (k,)."""
        return np.asarray(self.log_weights - self._normalizers.sum(axis=0))

    @property
    def _normalizers(self) -> Floats:
        """(mu^2 / v + log v) / 2, shape (d, k)."""
        return np.asarray(0.5 * (self.centers**2 / self.variances + np.log(self.variances)))

    @family_method
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the means mu_wj = S_wj / N_j and the variances v_wj.

            v_wj = (V_wj + smoothing v_w) / (N_j + smoothing) + floor_w

        V_wj is the sum of squared distances to mu_wj, and v_w = sum_j V_wj / sum N the pooled
        variance: the prior adds `smoothing` samples of variance v_w. An empty component gets the
        overall mean and the pooled variance.
        """
        values, squares, N = cls._values(sums, sizes)
        centers, within, pooled = _around_means_of_features(values, squares, N)
        some = np.maximum(N + smoothing, TINY)
        v = np.where(N + smoothing > 0, (within + smoothing * pooled) / some, pooled)
        least = _least_variance(values, squares, N, floored=bool(np.any(cls.floor)))
        v = np.maximum(v + np.reshape(cls.floor, (-1, 1)), least)
        return cls.member(sizes / sizes.sum(), centers, v)

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return -smoothing / 2 sum_wj (log v_wj + v_w / v_wj), the log density of the variances.

        The pooled variances v_w change between EM steps, and with them this prior.
        """
        pooled = _around_means_of_features(*self._values(sums, sizes))[2]
        return -0.5 * smoothing * float((np.log(self.variances) + pooled / self.variances).sum())

    @family_method
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return -(N / 2) sum_w (log v_w + 1) of each group, with its own variances v_w."""
        values, squares, N = cls._values(sums, sizes)
        some = np.where(N > 0, N, 1.0)
        mean_squares = squares / some
        v = np.maximum(mean_squares - (values / some) ** 2, 1e-12 * mean_squares)
        v = np.maximum(v + np.reshape(cls.floor, (-1,) + (1,) * np.ndim(sizes)), 1e-300)
        return np.asarray(-0.5 * (N * (np.log(v) + 1.0)).sum(axis=0))

    @classmethod
    def _values(cls, sums: Floats, sizes: Floats) -> tuple[Floats, Floats, Floats]:
        """Return sums of values and of squares of each feature, and numbers of observed values.

        The last has one row if it is the same for all features.
        """
        values, squares = np.split(sums, 2)
        return values, squares, np.broadcast_to(sizes, values.shape)


class IncompleteDiagonalGaussianParameters(DiagonalGaussianParameters):
    """Diagonal Gaussians for samples in which values are missing at random.

    A missing value does not affect the likelihood. The statistics of a sample are its observed
    values, their squares, and its missing values, (x, x * x, g):

        log P[x, j] = sum_w (x_w mu_wj - x_w^2 / 2) / v_wj + g_w (mu_wj^2 / v_wj + log v_wj) / 2
                      + b_j + const

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_j = E[x | component j] in columns.
    variances : ndarray of shape (d, k)
        v_wj > 0, of feature w in component j.
    floor : float or ndarray of shape (d,)
        Setting of the family: added to each variance in the M-step.
    """

    @classmethod
    def statistics(cls, X: Any, missing: Any | None = None) -> Any:
        """Return values, squares and missing values, each in d columns."""
        gaps = sp.csr_array(X.shape) if missing is None else missing
        return sp.csr_array(sp.hstack([X, X.multiply(X), gaps], format="csr"))

    @classmethod
    def n_features(cls, n_statistics: int) -> int:
        """Return d = p / 3."""
        return n_statistics // 3

    @property
    def coefficients(self) -> Floats:
        """Coefficients of values, of squares and of missing values, shape (3 d, k)."""
        return np.vstack([super().coefficients, self._normalizers])

    @classmethod
    def _values(cls, sums: Floats, sizes: Floats) -> tuple[Floats, Floats, Floats]:
        values, squares, missing = np.split(sums, 3)
        return values, squares, np.maximum(sizes - missing, 0.0)


def _around_means_of_features(
    values: Floats, squares: Floats, N: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the means (d, k), sums of squared distances to them (d, k), and v_w (d, 1)."""
    total = np.maximum(N.sum(axis=1, keepdims=True), TINY)
    overall = values.sum(axis=1, keepdims=True) / total
    centers = np.where(N > 0, values / np.where(N > 0, N, 1.0), overall)
    within = np.maximum(squares - centers**2 * N, 0.0)
    return centers, within, within.sum(axis=1, keepdims=True) / total


def _least_variance(values: Floats, squares: Floats, N: Floats, *, floored: bool) -> Floats:
    """Return the smallest variance of each feature that is not rounding error, shape (d, 1)."""
    total = np.maximum(N.sum(axis=1, keepdims=True), TINY)
    square = squares.sum(axis=1, keepdims=True) / total
    spread = square - (values.sum(axis=1, keepdims=True) / total) ** 2
    least = 0.0 if floored else MIN_VARIANCE
    return np.asarray(np.maximum(np.maximum(least * spread, ROUNDING * square), 1e-200))


class IncompleteGaussianParameters(GaussianParameters):
    """Spherical Gaussians for samples in which values are missing at random.

    A missing value does not affect the likelihood. The statistics of a sample are its observed
    values, the sum of their squares, and its missing values, (x, |x|^2, g):

        log P[x, j] = x . mu_j / v_j - |x|^2 / (2 v_j) + sum_w g_w (mu_wj^2 / v_j + log v_j) / 2
                      + b_j + const

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_j = E[x | component j] in columns.
    variances : ndarray of shape (k,)
        v_j > 0, of each feature in component j.
    floor : float or ndarray of shape (d,)
        Setting of the family: added to each variance in the M-step.
    """

    @classmethod
    def statistics(cls, X: Any, missing: Any | None = None) -> Any:
        """Return the values, the sum of their squares, and the missing values."""
        gaps = sp.csr_array(X.shape) if missing is None else missing
        return sp.csr_array(sp.hstack([GaussianParameters.statistics(X), gaps], format="csr"))

    @classmethod
    def n_features(cls, n_statistics: int) -> int:
        """Return d = (p - 1) / 2."""
        return (n_statistics - 1) // 2

    @property
    def coefficients(self) -> Floats:
        """Coefficients of values, of |x|^2 and of missing values, shape (2 d + 1, k)."""
        normalizers = 0.5 * (self.centers**2 / self.variances + np.log(self.variances))
        return np.vstack([super().coefficients, normalizers])

    @family_method
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the means mu_wj = S_wj / N_wj and the variances v_j.

            v_j = (V_j + smoothing d v) / (sum_w N_wj + smoothing d) + floor

        N_wj counts the observed values, V_j is the sum of squared distances of observed values to
        mu_j, and v = sum_j V_j / sum_wj N_wj the pooled variance. A feature that is observed in no
        sample of a component gets its overall mean.
        """
        centers, within, observed, least = cls._around_means(sums, sizes)
        d, per_component = len(centers), observed.sum(axis=0)
        pooled = within.sum() / max(float(per_component.sum()), TINY)
        some = per_component + smoothing * d
        v = np.where(some > 0, (within + smoothing * d * pooled) / np.maximum(some, TINY), pooled)
        return cls.member(sizes / sizes.sum(), centers, np.maximum(v + np.mean(cls.floor), least))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return -smoothing d / 2 sum_j (log v_j + v / v_j), the log density of the variances."""
        centers, within, observed, _ = self._around_means(sums, sizes)
        pooled = within.sum() / max(float(observed.sum()), TINY)
        v = self.variances
        return -0.5 * smoothing * len(centers) * float((np.log(v) + pooled / v).sum())

    @family_method
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return -(M / 2) (log v + 1) of each group, with M observed values of variance v."""
        d = cls.n_features(len(sums))
        observed = np.maximum(sizes - sums[d + 1 :], 0.0)
        M = observed.sum(axis=0)
        squares = sums[d]
        around = squares - (sums[:d] ** 2 / np.where(observed > 0, observed, 1.0)).sum(axis=0)
        v = np.maximum(around, 1e-12 * squares) / np.where(M > 0, M, 1.0)
        return np.asarray(-0.5 * M * (np.log(np.maximum(v, 1e-300)) + 1.0))

    @classmethod
    def _around_means(cls, sums: Floats, sizes: Floats) -> tuple[Floats, Floats, Floats, float]:
        """Return means, sums of squared distances, numbers of observed values, least variance."""
        d = cls.n_features(len(sums))
        observed = np.maximum(sizes - sums[d + 1 :], 0.0)  # rounding may make it negative
        every = np.maximum(observed.sum(axis=1, keepdims=True), TINY)
        overall = sums[:d].sum(axis=1, keepdims=True) / every
        centers = np.where(observed > 0, sums[:d] / np.where(observed > 0, observed, 1.0), overall)
        within = np.maximum(sums[d] - (centers**2 * observed).sum(axis=0), 0.0)
        M = max(float(observed.sum()), TINY)
        square = float(sums[d].sum()) / M
        spread = square - float((overall**2 * every).sum()) / M
        floored = float(np.mean(cls.floor)) > 0
        least = max(0.0 if floored else MIN_VARIANCE * spread, ROUNDING * square, 1e-200)
        return centers, within, observed, least
