"""Parameters of mixtures of spherical Gaussians for samples with missing values."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats
from momentree.objects.gaussian import LEAST_VARIANCE, ROUNDING, GaussianParameters

TINY = float(np.finfo(np.float64).tiny)


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

    @classmethod
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
        return cls(sizes / sizes.sum(), centers, np.maximum(v + np.mean(cls.floor), least))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return -smoothing d / 2 sum_j (log v_j + v / v_j), the log density of the variances."""
        centers, within, observed, _ = self._around_means(sums, sizes)
        pooled = within.sum() / max(float(observed.sum()), TINY)
        v = self.variances
        return -0.5 * smoothing * len(centers) * float((np.log(v) + pooled / v).sum())

    @classmethod
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
        least = max(0.0 if floored else LEAST_VARIANCE * spread, ROUNDING * square, 1e-200)
        return centers, within, observed, least
