"""The multivariate normal distribution, by its mean and covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import check_real, check_sample_weight
from momentree.exceptions import InvalidDataError


@dataclass(frozen=True)
class MultivariateNormalFit:
    """Mean and covariance of a sample, with standard errors that assume no distribution.

    Attributes
    ----------
    mean : ndarray of shape (d,)
        Estimated mean.
    covariance : ndarray of shape (d, d)
        Estimated covariance, divided by n, not n - 1.
    mean_errors : ndarray of shape (d,)
        Standard errors of the mean.
    covariance_errors : ndarray of shape (d, d)
        Standard errors of the covariance.
    n_samples : float
        Number of samples, or the sum of their weights.
    """

    mean: Floats
    covariance: Floats
    mean_errors: Floats
    covariance_errors: Floats
    n_samples: float

    def to_scipy(self) -> Any:
        """Return the distribution as a frozen distribution of scipy.stats.

        Returns
        -------
        multivariate_normal_frozen
            It allows a singular covariance.
        """
        # Imported here because it is slow to load.
        from scipy import stats

        return stats.multivariate_normal(self.mean, self.covariance, allow_singular=True)


def fit_multivariate_normal(
    X: Any, *, sample_weight: ArrayLike | None = None
) -> MultivariateNormalFit:
    """Fit a multivariate normal distribution: E[x] = mean, E[x x^T] = covariance + mean mean^T.

    Parameters
    ----------
    X : {ndarray, data frame} of shape (n_samples, n_features)
        Finite numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0; a weight of 2 has the effect of two copies of the sample.

    Returns
    -------
    MultivariateNormalFit
        Mean and covariance, with standard errors by the delta method.

    Raises
    ------
    InvalidDataError
        If X contains a value that is not a finite number, or has fewer than two different rows of
        positive weight.

    Notes
    -----
    Time O(n d^2), memory O(n d + d^2).

    Examples
    --------
    >>> from momentree.distributions import fit_multivariate_normal
    >>> fit_multivariate_normal([[0, 0], [2, 1], [1, 2]]).covariance.round(3)
    array([[0.667, 0.333],
           [0.333, 0.667]])
    """
    X = check_real(X)
    weight = check_sample_weight(sample_weight, len(X))
    n = float(weight.sum())
    v = weight / n
    mean = v @ X
    mean += v @ (X - mean)
    Y = X - mean
    covariance = (Y * v[:, None]).T @ Y
    if not Y[weight > 0].any():
        raise InvalidDataError("all_values_equal", parameter="X")
    fourth = (Y**2 * v[:, None]).T @ Y**2
    return MultivariateNormalFit(
        mean,
        covariance,
        np.sqrt(np.diag(covariance) / n),
        np.sqrt(np.maximum(fourth - covariance**2, 0.0) / n),
        n,
    )
