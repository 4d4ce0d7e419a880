"""Parameters of mixtures of spherical Gaussians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.objects.mixtures import MixtureParameters

__all__ = ["GaussianParameters"]

Floats = NDArray[np.float64]

LEAST_VARIANCE = 1e-9
"""Share of the overall variance below which no component shrinks."""
ROUNDING = 1e-14
"""Share of the mean square below which a variance, a difference of sums, is rounding error."""


@dataclass(frozen=True)
class GaussianParameters(MixtureParameters):
    """Parameters of a mixture of spherical Gaussians, each with a variance of its own.

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

    signed: ClassVar[bool] = True

    def reordered(self, order: NDArray[np.intp]) -> Self:
        """Return the same components in another order.

        Parameters
        ----------
        order : ndarray of intp of shape (k,)
            The old position of each component.

        Returns
        -------
        GaussianParameters
            In the new order.
        """
        return type(self)(self.weights[order], self.centers[:, order], self.variances[order])

    @classmethod
    def statistics(cls, X: Any) -> Any:
        """Return (x, |x|^2) of every sample.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Samples.

        Returns
        -------
        csr_array of shape (n, d + 1)
            X with one more column.
        """
        squares = np.asarray(X.multiply(X).sum(axis=1)).reshape(-1, 1)
        return sp.csr_array(sp.hstack([X, sp.csr_array(squares)], format="csr"))

    @classmethod
    def n_features(cls, n_statistics: int) -> int:
        """Return d = p - 1.

        Parameters
        ----------
        n_statistics : int
            p, the statistics of a sample.

        Returns
        -------
        int
            The features of a sample.
        """
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
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        return np.asarray(
            log_weights - 0.5 * squares / self.variances - 0.5 * d * np.log(self.variances)
        )

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the means and variances that fit given statistics.

            mu_j = S_j / N_j,   v_j = (V_j + smoothing d v) / (d (N_j + smoothing)),

        with V_j the squared distances to mu_j and v = sum_j V_j / (d sum N), the variance around
        the means.

        Parameters
        ----------
        sums : ndarray of shape (d + 1, k)
            Sums of x and of |x|^2 expected in each component.
        sizes : ndarray of shape (k,)
            N, the samples expected in each component.
        smoothing : float > 0
            Samples of average variance that are added to every component.

        Returns
        -------
        GaussianParameters
            Variances > 0. A component without samples gets the mean of all.
        """
        d, total = len(sums) - 1, float(sizes.sum())
        overall = sums.sum(axis=1) / total
        centers, within = _around_means(sums, sizes)
        spread = float(overall[d] - (overall[:d] ** 2).sum())
        least = max(LEAST_VARIANCE * spread, ROUNDING * float(overall[d]), 1e-200)
        pooled = within.sum() / total
        variances = (within + smoothing * pooled) / (d * (sizes + smoothing))
        return cls(sizes / total, centers, np.maximum(variances, least / d))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return the log density of variances: smoothing samples of variance v each.

            -smoothing d / 2 sum_j (log v_j + v / v_j)

        Parameters
        ----------
        sums : ndarray of shape (d + 1, k)
            Sums of x and of |x|^2 expected in each component; they give v, as in
            :meth:`m_step`.
        sizes : ndarray of shape (k,)
            N, the samples expected in each component.
        smoothing : float > 0
            Samples of average variance that are added to every component.

        Returns
        -------
        float
            In nats, less a constant. As v changes from step to step of EM, so does this prior: a
            step raises the likelihood plus the prior of that step, not one objective for all.
        """
        d = len(sums) - 1
        pooled = _around_means(sums, sizes)[1].sum() / sizes.sum()
        v = self.variances
        return -0.5 * smoothing * float((d * np.log(v) + pooled / v).sum())

    @classmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return the log-likelihood of groups of samples, each under its own best Gaussian.

            -(n d / 2) (log v + 1),   v the variance of a feature in a group of n samples

        Parameters
        ----------
        sums : ndarray of shape (d + 1, ...)
            Sums of x and of |x|^2 of each group.
        sizes : ndarray of shape (...)
            Samples of each group.

        Returns
        -------
        ndarray of shape (...)
            In nats, less a constant for each sample; a group of no samples has 0. A group of equal
            samples counts as having the variance that rounding leaves.
        """
        d = len(sums) - 1
        N = np.where(sizes > 0, sizes, 1.0)
        squares = sums[d] / N
        v = np.maximum(squares - ((sums[:d] / N) ** 2).sum(axis=0), 1e-12 * squares) / d
        return np.asarray(-0.5 * d * sizes * (np.log(np.maximum(v, 1e-300)) + 1.0))


def _around_means(sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """Return the means (d, k) of groups, and the squared distances to them (k,)."""
    d = len(sums) - 1
    empty = sizes <= 0
    overall = sums[:d].sum(axis=1, keepdims=True) / sizes.sum()
    centers = np.where(empty, overall, sums[:d] / np.where(empty, 1.0, sizes))
    return centers, np.maximum(sums[d] - (centers**2).sum(axis=0) * sizes, 0.0)
