"""Profiles of groups of real-valued samples: means, spread and differences, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from momentree._types import Floats
from momentree._validation import check_missing, check_number, check_sample_weight
from momentree.metrics._checks import check_labels
from momentree.metrics._records import ROUNDING

_BLOCK = 1 << 20
"""Values of a table that are copied at once."""


@dataclass(frozen=True)
class GroupMeans:
    """Means and standard deviations of features in groups, with intervals.

    Attributes
    ----------
    n_samples : ndarray of shape (k,)
        Samples of each group, or the sum of their weights.
    observed : ndarray of shape (k, d)
        Samples of the group in which the feature is observed.
    means : ndarray of shape (k, d)
        Mean of the observed values, in the units of the feature; NaN where none is observed.
    mean_intervals : ndarray of shape (k, d, 2)
        Lower and upper limits of the means; NaN where fewer than two values are observed.
    standard_deviations : ndarray of shape (k, d)
        Standard deviation within the group, in the units of the feature; NaN where fewer than two
        values are observed.
    overall, overall_deviations : ndarray of shape (d,)
        Mean and standard deviation of all samples.
    within : ndarray of shape (d,)
        Standard deviation within groups, pooled over all of them.
    differences : ndarray of shape (k, d)
        (mean of the group - mean of all others) / `within`: 1 is one standard deviation within
        groups, positive if the group is above the others. NaN where one of the means is NaN, 0
        where they are equal, and infinite if they differ and no group has any spread.
    confidence : float
        Confidence level of the intervals, in (0, 1).
    """

    n_samples: Floats
    observed: Floats
    means: Floats
    mean_intervals: Floats
    standard_deviations: Floats
    overall: Floats
    overall_deviations: Floats
    within: Floats
    differences: Floats
    confidence: float


def group_means(
    X: Any,
    labels: ArrayLike,
    *,
    n_groups: int | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> GroupMeans:
    """Describe groups of samples by the means of real-valued features.

    Parameters
    ----------
    X : {array-like, sparse matrix or array} of shape (n, d)
        Real numbers; NaN if unknown.
    labels : array-like of int of shape (n,)
        Group of each sample, 0 to k - 1.
    n_groups : int >= 1, default=None
        k; None is the largest label plus one. Groups may be empty.
    sample_weight : array-like of shape (n,), default=None
        Number of samples that each row represents, >= 0; None is 1 each. A row of weight two is
        equivalent to two rows, in the intervals as well.
    confidence : float in (0, 1), default=0.95
        Confidence level of each two-sided interval.

    Returns
    -------
    GroupMeans
        Groups in the order of labels, features in the order of columns.

    Raises
    ------
    InvalidDataError
        If X contains infinite values, labels are not whole numbers from 0 to k - 1, or shapes do
        not match.
    InvalidParameterError
        If `confidence` is not between 0 and 1, or `n_groups` is below 1.

    Notes
    -----
    The interval of a mean m of n observed values with standard deviation s is Student's,
    m ± t s / √n with n - 1 degrees of freedom. It does not reflect uncertainty about the groups
    themselves, which were found in the same data. Sums are taken around the overall means, so that
    means far from zero lose no digits. Time O(n d), memory O(k d) in addition to the data.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.metrics import group_means
    >>> X = np.array([[1.0, 5.0], [3.0, 5.0], [11.0, 5.0], [13.0, np.nan]])
    >>> found = group_means(X, [0, 0, 1, 1])
    >>> found.means
    array([[ 2.,  5.],
           [12.,  5.]])
    >>> found.differences[:, 0].round(2)
    array([-7.07,  7.07])
    >>> found.mean_intervals[0, 0].round(1)
    array([-10.7,  14.7])
    """
    check_number("confidence", confidence, above=0, below=1)
    X, missing = check_missing(X)
    n, d = X.shape
    groups, k = check_labels(labels, n, n_groups)
    w = check_sample_weight(sample_weight, n)
    member = sp.csr_array((w, (groups, np.arange(n))), shape=(k, n))
    size = np.asarray(member.sum(axis=1), dtype=np.float64)
    observed = np.repeat(size[:, None], d, axis=1)
    if missing is not None:
        observed -= (member @ missing).toarray()
        observed[observed <= ROUNDING * size[:, None]] = 0.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        center = np.nan_to_num(np.asarray(X.T @ w) / observed.sum(axis=0), nan=0.0)
        sums, squares = _sums_around(center, X, missing, member)
        means = sums / observed
        spread = np.maximum(squares - sums * means, 0.0)
        deviations = np.sqrt(np.where(observed > 1, spread / (observed - 1), np.nan))
        half = stdtrit(np.maximum(observed - 1, ROUNDING), 0.5 + confidence / 2) * deviations
        half /= np.sqrt(observed)
        total, all_sums, all_squares = observed.sum(0), sums.sum(0), squares.sum(0)
        overall = all_sums / total
        around = np.maximum(all_squares - all_sums * overall, 0.0)
        # Groups without spread have a variance of rounding errors.
        inside = np.where(spread.sum(0) > ROUNDING**2 * all_squares, np.nansum(spread, 0), 0.0)
        degrees = np.maximum(total - (observed > 0).sum(axis=0), 1.0)
        within = np.sqrt(np.where(total > 0, inside / degrees, np.nan))
        others = total - observed
        others[others <= ROUNDING * total] = 0.0
        apart = means - (all_sums - sums) / others
        differences = np.where(apart == 0, 0.0, apart / within)
        overall_deviations = np.sqrt(np.where(total > 1, around / (total - 1), np.nan))
    return GroupMeans(
        n_samples=size,
        observed=observed,
        means=means + center,
        mean_intervals=np.stack([means - half, means + half], axis=-1) + center[:, None],
        standard_deviations=deviations,
        overall=overall + center,
        overall_deviations=overall_deviations,
        within=within,
        differences=differences,
        confidence=float(confidence),
    )


def _sums_around(center: Floats, X: Any, missing: Any | None, member: Any) -> tuple[Floats, Floats]:
    """Return the sums of observed values minus a center, and of their squares, (k, d) each."""
    n, d = X.shape
    out = np.zeros((2, member.shape[0], d))
    step = max(1, _BLOCK // max(1, d))
    for start in range(0, n, step):
        at = slice(start, start + step)
        values = X[at].toarray() - center
        if missing is not None:
            values[missing[at].nonzero()] = 0.0
        part = member[:, at]
        out += np.stack([part @ values, part @ values**2])
    return out[0], out[1]
