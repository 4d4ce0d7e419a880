"""Recognize counts among whole numbers."""

import numpy as np

from momentree._types import Floats, Ints

COUNT_MEAN = 10.0
"""Whole numbers with a larger mean may not be counts: ages, for example."""
MIN_DISPERSION = 0.8
"""Counts of rare events that seldom repeat vary a little less than Poisson variables."""
CERTAIN = 3.0
"""So many expected values are almost certainly (exp(-3) = 5%) not all missing."""
ENOUGH = 100.0
"""With fewer samples, the absence of zeros does not prove a lower limit above zero."""


def are_counts(values: Floats, times: Floats | Ints) -> bool:
    """Return whether numbers may be counts: a mixture of Poisson variables of small mean.

    They are whole and not negative, their variance is about the mean or more, and they have no
    limits other than zero: k! P[x = k] of any mixture of Poisson variables is log-convex in k, so

        n_m (n_m - 1) m / ((n_(m+1) + 1) (m+1))    and    n_M (n_M - 1) M / ((n_(M-1) + 1) (M+1))

    values are expected, at least, below the smallest value m and above the largest M, with n_k the
    number of values k, and 1 for the bias of n_m^2 / n_(m+1). Scales, such as from 1 to 5, have
    about as many values at their ends as elsewhere.

    Parameters
    ----------
    values : ndarray of shape (m,)
        Different values, ascending.
    times : ndarray of shape (m,)
        How often each of them occurs, or its weight.

    Returns
    -------
    bool
        Whether all of this holds; also False if all values differ, as numbers of rows do.
    """
    n = float(times.sum())
    if len(values) < 2 or values[0] < 0 or (values != np.floor(values)).any() or len(values) >= n:
        return False
    if values[0] > 0 and n < ENOUGH:
        return False
    mean = float(values @ times) / n
    variance = float((values - mean) ** 2 @ times) / n
    if mean > COUNT_MEAN or variance < mean * (1 - max(1 - MIN_DISPERSION, 2 * (2 / n) ** 0.5)):
        return False
    beyond = 0.0
    for end, inner in ((0, 1), (-1, -2)):
        if abs(values[end] - values[inner]) == 1:
            pairs = times[end] * max(times[end] - 1.0, 0.0) / (times[inner] + 1.0)
            beyond += float(pairs * values[end] / (values[end] + 1))
    return bool(beyond <= CERTAIN)
