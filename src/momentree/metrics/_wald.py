"""Wald's test."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats


def wald_p_value(estimates: Floats, covariance: Floats) -> float:
    """Return the p-value of Wald's test that all numbers are zero.

    NaN if there are none, one is not finite, or the covariance (m, m) is singular.
    """
    from scipy.stats import chi2

    m = len(estimates)
    if not m or not np.isfinite(estimates).all():
        return float("nan")
    if np.linalg.matrix_rank(covariance, hermitian=True) < m:
        return float("nan")
    return float(chi2.sf(estimates @ np.linalg.solve(covariance, estimates), m))
