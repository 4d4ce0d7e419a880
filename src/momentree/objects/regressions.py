"""Parameters of a mixture of linear regressions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momentree._types import Floats


@dataclass(frozen=True)
class RegressionParameters:
    """Weights, coefficients and noise of a mixture of linear regressions.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        w >= 0, sum 1.
    coefs : ndarray of shape (p, k)
        Coefficients of the columns of the design, in columns.
    variances : ndarray of shape (k,)
        Variances of the noise, > 0.
    """

    weights: Floats
    coefs: Floats
    variances: Floats

    def log_joint(self, design: Floats, y: Floats) -> Floats:
        """Return log w_j + log N(y; <x, beta_j>, variance_j), shape (n, k)."""
        residuals = y[:, None] - design @ self.coefs
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        return np.asarray(
            log_weights
            - 0.5 * np.log(2.0 * np.pi * self.variances)
            - 0.5 * residuals**2 / self.variances
        )
