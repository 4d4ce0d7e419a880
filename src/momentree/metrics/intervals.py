"""Confidence intervals of proportions and of their ratios, for many cells at once; and a test."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri

from momentree._types import Floats

SMALLEST = 1e-6
"""Smallest effective sample size, for which the interval is from 0 to 1."""


def bootstrap_interval(proportion: Floats, n: Floats, confidence: float) -> Floats:
    """Return the percentile bootstrap interval (..., 2) of a proportion of n records.

    The count in a resample is binomial, so its quantiles are exact, without sampling. If the
    proportion is 0 or 1, all resamples are the same, and the exact Clopper-Pearson limit replaces
    the percentile. n is rounded to whole numbers, positive ones to at least 1; NaN for 0.
    """
    # Imported here because it is slow to load, and few users of this module call this function.
    from scipy.stats import binom

    tail = (1.0 - confidence) / 2.0
    p = np.asarray(proportion, dtype=np.float64)
    # Above 2^53 floats are not all whole, and binom.ppf fails; the interval has no width there.
    whole = np.where(n > 0, np.clip(np.rint(n), 1.0, 2.0**53), np.nan)
    out = np.stack([binom.ppf(q, whole, p) / whole for q in (tail, 1.0 - tail)], axis=-1)
    none, all_ = (p == 0.0) & (n > 0), (p == 1.0) & (n > 0)
    out[none] = np.stack([np.zeros(none.sum()), betaincinv(1.0, whole[none], 1.0 - tail)], axis=-1)
    out[all_] = np.stack([betaincinv(whole[all_], 1.0, tail), np.ones(all_.sum())], axis=-1)
    return out


def effective_sample_size(P: Floats, weight: Floats) -> Floats:
    """Return the effective sample size (k,) for the sizes of groups with uncertain assignments.

    The size of a group with mean probability m has variance V = n m (1 - m), of which only V - A is
    observed, with A = sum_i p_i (1 - p_i). The effective sample size is n (V - A) / V.
    """
    total = float(weight.sum())
    means = np.clip((weight @ P) / total, 0.0, 1.0)
    spread = total * means * (1.0 - means)
    unsure = weight @ (P * (1.0 - P))
    kept = 1.0 - np.divide(unsure, spread, out=np.zeros(P.shape[1]), where=spread > 0)
    return np.asarray(np.maximum(total * kept, SMALLEST))


def wilson_interval(proportion: Floats, n: ArrayLike, confidence: float) -> Floats:
    """Return Wilson's score interval (..., 2) of a proportion of n records.

    Its coverage is accurate even for few records.
    """
    z2 = float(ndtri(0.5 + confidence / 2.0)) ** 2
    n = np.where(np.asarray(n) > 0, n, np.nan)
    middle = (proportion + z2 / (2.0 * n)) / (1.0 + z2 / n)
    half = np.sqrt(z2 * proportion * (1.0 - proportion) / n + (z2 / (2.0 * n)) ** 2) / (
        1.0 + z2 / n
    )
    out = np.stack([middle - half, middle + half], axis=-1)
    # At 0 or 1 the proportion itself is a limit, which rounding must not exclude.
    out[..., 0] = np.where(proportion == 0.0, 0.0 * n, out[..., 0])
    out[..., 1] = np.where(proportion == 1.0, 1.0 + 0.0 * n, out[..., 1])
    return np.clip(out, 0.0, 1.0)


def risk_ratio(
    ones: ArrayLike, n: ArrayLike, ones_other: ArrayLike, n_other: ArrayLike, confidence: float
) -> tuple[Floats, Floats]:
    """Return the ratio of two proportions with Katz's interval (..., 2).

        RR = (a / n) / (b / m),   log RR +- z sqrt(1/a - 1/n + 1/b - 1/m)

    with half a record added to each of the four cells a, n - a, b, m - b if one of them is zero.
    The ratio is inf where only b is zero, and NaN where a and b, or n, or m are zero.
    """
    a, n, b, m = np.broadcast_arrays(
        *(np.asarray(v, dtype=np.float64) for v in (ones, n, ones_other, n_other))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (a / n) / (b / m)
        half = np.where((a == 0) | (a == n) | (b == 0) | (b == m), 0.5, 0.0)
        a2, n2, b2, m2 = a + half, n + 2.0 * half, b + half, m + 2.0 * half
        middle = np.log(a2 / n2) - np.log(b2 / m2)
        error = np.sqrt(np.maximum(1.0 / a2 - 1.0 / n2 + 1.0 / b2 - 1.0 / m2, 0.0))
        z = float(ndtri(0.5 + confidence / 2.0))
        low = np.minimum(np.exp(middle - z * error), ratio)
        high = np.maximum(np.exp(middle + z * error), ratio)
    return ratio, np.stack([low, high], axis=-1)


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
