"""Parameters of mixtures of Gaussians with independent features, with or without missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.objects.gaussian import LEAST_VARIANCE, ROUNDING, FlooredGaussians

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
    """

    variances: Floats

    def reordered(self, order: Ints) -> Self:
        """Return the same components in another order."""
        return type(self)(self.weights[order], self.centers[:, order], self.variances[:, order])

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

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the means mu_wj = S_wj / N_j and the variances v_wj.

            v_wj = (V_wj + smoothing v_w) / (N_j + smoothing) + floor_w

        V_wj is the sum of squared distances to mu_wj, and v_w = sum_j V_wj / sum N the pooled
        variance: the prior adds `smoothing` samples of variance v_w. An empty component gets the
        overall mean and the pooled variance.
        """
        values, squares, N = cls._values(sums, sizes)
        centers, within, pooled = _around_means(values, squares, N)
        some = np.maximum(N + smoothing, TINY)
        v = np.where(N + smoothing > 0, (within + smoothing * pooled) / some, pooled)
        least = _least_variance(values, squares, N, floored=bool(np.any(cls.floor)))
        v = np.maximum(v + np.reshape(cls.floor, (-1, 1)), least)
        return cls(sizes / sizes.sum(), centers, v)

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return -smoothing / 2 sum_wj (log v_wj + v_w / v_wj), the log density of the variances.

        The pooled variances v_w change between EM steps, and with them this prior.
        """
        pooled = _around_means(*self._values(sums, sizes))[2]
        return -0.5 * smoothing * float((np.log(self.variances) + pooled / self.variances).sum())

    @classmethod
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


class IncompleteSphericalGaussianParameters(IncompleteDiagonalGaussianParameters):
    """Spherical Gaussians for samples in which values are missing at random.

    Diagonal Gaussians whose variances are the same for all features.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_j = E[x | component j] in columns.
    variances : ndarray of shape (d, k)
        v_j > 0, in every row.
    """

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the means, and v_j = (sum_w V_wj + s v) / (sum_w N_wj + s) + mean(floor).

        N_wj is the number of observed values of feature w, s = d smoothing, and v the pooled
        variance of all features.
        """
        values, squares, N = cls._values(sums, sizes)
        centers, within, _ = _around_means(values, squares, N)
        pooled = within.sum() / max(float(N.sum()), TINY)
        observed = N.sum(axis=0) + len(values) * smoothing
        spread = within.sum(axis=0) + len(values) * smoothing * pooled
        v = np.where(observed > 0, spread / np.maximum(observed, TINY), pooled)
        least = _least_variance(values, squares, N, floored=bool(np.any(cls.floor))).max()
        v = np.maximum(v + float(np.mean(cls.floor)), least)
        return cls(sizes / sizes.sum(), centers, np.tile(v, (len(values), 1)))


def _around_means(values: Floats, squares: Floats, N: Floats) -> tuple[Floats, Floats, Floats]:
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
    least = 0.0 if floored else LEAST_VARIANCE
    return np.asarray(np.maximum(np.maximum(least * spread, ROUNDING * square), 1e-200))
