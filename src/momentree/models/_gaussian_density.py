"""Densities of Gaussian components, with any covariances and with missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats
from momentree.core.choices import CovarianceType
from momentree.models._gaussian_data import MOST_DENSE
from momentree.objects.gaussian import LOG_2_PI, covariance_parameters

BLOCK_VALUES = 1 << 20
"""Values of a dense block of samples: 8 MB."""


@dataclass(frozen=True)
class GaussianComponents:
    """Gaussian components in the units of the data.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega.
    means : ndarray of shape (k, d)
        mu in rows.
    covariances : ndarray
        Of shape (k,), (d, d), (k, d) or (k, d, d), as in scikit-learn.
    covariance_type : {"spherical", "tied", "diag", "full"}
        Which of them.
    """

    weights: Floats
    means: Floats
    covariances: Floats
    covariance_type: CovarianceType

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        k, d = (int(size) for size in self.means.shape)
        return k - 1 + k * d + covariance_parameters(self.covariance_type, k, d)

    def variances(self) -> Floats:
        """Return the variance of each feature in each component, shape (k, d)."""
        k, d = self.means.shape
        if self.covariance_type == "spherical":
            return np.repeat(self.covariances[:, None], d, axis=1)
        if self.covariance_type == "diag":
            return self.covariances
        return np.broadcast_to(np.diagonal(self.full(), axis1=1, axis2=2), (k, d))

    def full(self) -> Floats:
        """Return the covariances of each component, shape (k, d, d)."""
        k, d = self.means.shape
        if self.covariance_type == "tied":
            return np.broadcast_to(self.covariances, (k, d, d))
        if self.covariance_type == "full":
            return self.covariances
        return np.stack([np.diag(v) for v in self.variances()])

    def log_joint(self, X: Any, missing: Any | None) -> Floats:
        """Return log omega_j + log P[x | component j] of samples.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Values, with zeros for missing ones.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing; the density is that of the observed values.

        Returns
        -------
        ndarray of shape (n, k)
            In nats. Time O(n d k), or O(n d^2 k) with covariances.
        """
        n, d = X.shape
        diagonal = self.covariance_type in ("spherical", "diag")
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        if diagonal and missing is None and n * d > MOST_DENSE and 2 * X.nnz < n * d:
            return np.asarray(self._sparse(X) + log_weights)
        out = np.empty((n, len(self.weights)))
        roots = None if diagonal else _roots(self.full())
        step = max(1, BLOCK_VALUES // max(d, 1))
        for at in range(0, n, step):
            here = slice(at, min(at + step, n))
            block = X[here].toarray().astype(np.float64, copy=False)
            gaps = None if missing is None else missing[here].toarray() > 0
            if roots is None:
                out[here] = self._diagonal(block, gaps)
            elif gaps is None or not gaps.any():
                out[here] = self._complete(block, roots)
            else:
                out[here] = self._by_pattern(block, gaps, roots)
        return out + log_weights

    def _sparse(self, X: Any) -> Floats:
        v = self.variances()
        squares = sp.csr_array((X.data**2, X.indices, X.indptr), X.shape)
        quadratic = X @ (self.means / v).T - 0.5 * (squares @ (1.0 / v).T)
        constant = (self.means**2 / v + np.log(v) + LOG_2_PI).sum(axis=1)
        return np.asarray(quadratic - 0.5 * constant)

    def _diagonal(self, X: Floats, gaps: Any | None) -> Floats:
        out = np.empty((len(X), len(self.weights)))
        for j, (mean, v) in enumerate(zip(self.means, self.variances(), strict=True)):
            terms = (X - mean) ** 2 / v + np.log(v) + LOG_2_PI
            if gaps is not None:
                terms[gaps] = 0.0
            out[:, j] = -0.5 * terms.sum(axis=1)
        return out

    def _complete(self, X: Floats, roots: Floats) -> Floats:
        k, d = self.means.shape
        out = np.empty((len(X), k))
        for j in range(k):
            if j == 0 or self.covariance_type == "full":
                inverse = np.linalg.inv(roots[j])
            distances = (((X - self.means[j]) @ inverse.T) ** 2).sum(axis=1)
            log_determinant = 2.0 * np.log(np.diag(roots[j])).sum()
            out[:, j] = -0.5 * (distances + log_determinant + d * LOG_2_PI)
        return out

    def _by_pattern(self, X: Floats, gaps: Any, roots: Floats) -> Floats:
        """Return the densities of the observed values, for rows with the same ones together."""
        out = np.empty((len(X), len(self.weights)))
        patterns, group = np.unique(gaps, axis=0, return_inverse=True)
        group = group.reshape(-1)
        full = self.full()
        for g, pattern in enumerate(patterns):
            rows, seen = np.flatnonzero(group == g), np.flatnonzero(~pattern)
            if len(seen) == X.shape[1]:
                out[rows] = self._complete(X[rows], roots)
                continue
            part = GaussianComponents(
                self.weights,
                self.means[:, seen],
                full[:, seen[:, None], seen],
                "full",
            )
            out[rows] = part._complete(X[np.ix_(rows, seen)], _roots(part.covariances))
        return out

    def draw(self, labels: Any, rng: np.random.RandomState) -> Floats:
        """Return one sample from each of the given components, shape (len(labels), d)."""
        noise = rng.standard_normal((len(labels), self.means.shape[1]))
        if self.covariance_type in ("spherical", "diag"):
            return np.asarray(self.means[labels] + noise * np.sqrt(self.variances()[labels]))
        roots = np.linalg.cholesky(self.full())
        for j in np.unique(labels):
            noise[labels == j] = noise[labels == j] @ roots[j].T
        return np.asarray(self.means[labels] + noise)


def _roots(covariances: Floats) -> Floats:
    return np.asarray(np.linalg.cholesky(covariances), dtype=np.float64)
