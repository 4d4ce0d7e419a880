"""Profiles of groups of records: sizes, frequencies of codes, relative risks, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import check_number, check_sample_weight
from momentree.metrics._checks import as_probabilities, check_labels
from momentree.metrics._records import ROUNDING, check_records, group_sums
from momentree.metrics.intervals import (
    bootstrap_interval,
    effective_sample_size,
    risk_ratio,
    wilson_interval,
)


@dataclass(frozen=True)
class GroupProfiles:
    """Sizes, frequencies of codes and relative risks of groups, with intervals.

    Attributes
    ----------
    n_records : ndarray of shape (k,)
        Records with each label, or the sum of their weights.
    sizes : ndarray of shape (k,)
        Size of each group: `n_records`, or with probabilities the expected number of records.
    proportions : ndarray of shape (k,)
        Sizes relative to all records, in [0, 1].
    size_intervals, proportion_intervals : ndarray of shape (k, 2)
        Lower and upper limits of the sizes and of the proportions.
    counts, observed : ndarray of shape (k, d)
        Records of the group with the code, and those in which it is observed, as 0 or 1.
    frequencies : ndarray of shape (k, d)
        P[code | group] = counts / observed, in [0, 1]; NaN where none is observed.
    overall : ndarray of shape (d,)
        P[code] among all records; NaN where none is observed.
    relative_risk : ndarray of shape (k, d)
        P[code | group] / P[code | not group], in [0, inf]; inf where only the group has the
        code; NaN where no record has it, or it is not observed inside or outside the group.
    frequency_intervals, relative_risk_intervals : ndarray of shape (k, d, 2)
        Lower and upper limits; NaN where the frequency or relative risk is NaN.
    lift : ndarray of shape (k, d)
        P[code | group] / P[code]; NaN where either is NaN or no record has the code.
    confidence : float
        Confidence level of the intervals, in (0, 1).
    """

    n_records: Floats
    sizes: Floats
    size_intervals: Floats
    proportions: Floats
    proportion_intervals: Floats
    counts: Floats
    observed: Floats
    frequencies: Floats
    frequency_intervals: Floats
    overall: Floats
    relative_risk: Floats
    relative_risk_intervals: Floats
    lift: Floats
    confidence: float


def group_profiles(
    X: Any,
    labels: ArrayLike,
    *,
    n_groups: int | None = None,
    proba: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> GroupProfiles:
    """Describe groups of records by their sizes and the frequency of each code.

    Parameters
    ----------
    X : {array-like, sparse matrix or array} of shape (n, d)
        1 if a record has a code, 0 if not, NaN if unknown.
    labels : array-like of int of shape (n,)
        Group of each record, 0 to k - 1.
    n_groups : int >= 1, default=None
        k; None is the largest label plus one. Groups may be empty.
    proba : array-like of shape (n, k), default=None
        Probability of each group for each record, in rows that sum to 1. The intervals of the
        sizes then include the uncertainty of assignment.
    sample_weight : array-like of shape (n,), default=None
        Number of records that each row represents, >= 0; None is 1 each. A row of weight two is
        equivalent to two rows, in the intervals as well.
    confidence : float in (0, 1), default=0.95
        Confidence level of each two-sided interval.

    Returns
    -------
    GroupProfiles
        Groups in the order of labels, codes in the order of columns. The frequencies and
        relative risks of an empty group are NaN.

    Raises
    ------
    InvalidDataError
        If X contains values other than 0, 1 and NaN, labels are not whole numbers from 0 to k - 1,
        shapes do not match, or rows of `proba` do not sum to 1.
    InvalidParameterError
        If `confidence` is not between 0 and 1, or `n_groups` is below 1.

    Notes
    -----
    **Frequencies.** Percentile bootstrap of the n_g records of a group in which the code is
    observed [1]. If c of them have it, the count in a resample is Binomial(n_g, c/n_g), so the
    quantiles are exact, without sampling. If c is 0 or n_g, the interval would have no width; its
    limit is then that of Clopper and Pearson, 1 - (a/2)^(1/n_g) for confidence 1 - a.

    **Sizes.** A random record is in group g with probability m = n_g / n, so the size is
    Binomial(n, m) with variance V = n m (1 - m). With `proba`, m is the mean of p_ig over the
    records, only V - A of V is observed, with A = sum_i p_ig (1 - p_ig), and

        Var(size) = V^2 / (V - A) = V + A + A^2 / (V - A),

    by the missing information principle [2]. The interval is Wilson's for the effective sample
    size n (V - A) / V (n without `proba`). It does not reflect uncertainty about the groups
    themselves; use :func:`bootstrap_groups` for that.

    **Relative risks.** Katz's logarithmic interval [3], with half a record added to each of the
    four cells if one of them is zero.

    Sums of weights are rounded to whole numbers for the intervals only. Time O(nnz + k d), and
    O(n k) with `proba`; memory O(k d) in addition to the data.

    References
    ----------
    .. [1] B. Efron, R. J. Tibshirani. An introduction to the bootstrap. Chapman & Hall, 1993.
    .. [2] T. A. Louis. Finding the observed information matrix when using the EM algorithm.
       Journal of the Royal Statistical Society B 44, 1982.
    .. [3] D. Katz, J. Baptista, S. P. Azen, M. C. Pike. Obtaining confidence intervals for the
       risk ratio in cohort studies. Biometrics 34, 1978.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.metrics import group_profiles
    >>> X = np.array([[1, 1], [1, 0], [1, 0], [1, 0], [0, 1], [0, 0]])
    >>> profiles = group_profiles(X, [0, 0, 0, 0, 1, 1])
    >>> profiles.frequencies
    array([[1.  , 0.25],
           [0.  , 0.5 ]])
    >>> profiles.relative_risk
    array([[inf, 0.5],
           [0. , 2. ]])
    >>> profiles.frequency_intervals[0, 1]
    array([0.  , 0.75])
    """
    check_number("confidence", confidence, above=0, below=1)
    X = check_records(X)
    n = X.shape[0]
    groups, k = check_labels(labels, n, n_groups)
    w = check_sample_weight(sample_weight, n)
    P = None if proba is None else as_probabilities(proba, (n, k))
    n_records, counts, observed = group_sums(X, groups, w, k)
    total = float(w.sum())
    sizes = n_records if P is None else np.asarray(w @ P)
    proportions = np.clip(sizes / total, 0.0, 1.0)
    sample_size = np.full(k, total) if P is None else effective_sample_size(P, w)
    proportion_intervals = wilson_interval(proportions, sample_size, confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        frequencies = counts / observed
        overall = counts.sum(axis=0) / observed.sum(axis=0)
        lift = frequencies / np.where(overall > 0, overall, np.nan)
    ratio, ratio_intervals = risk_ratio(
        counts, observed, _other_groups(counts), _other_groups(observed), confidence
    )
    return GroupProfiles(
        n_records=n_records,
        sizes=sizes,
        size_intervals=proportion_intervals * total,
        proportions=proportions,
        proportion_intervals=proportion_intervals,
        counts=counts,
        observed=observed,
        frequencies=frequencies,
        frequency_intervals=bootstrap_interval(frequencies, observed, confidence),
        overall=overall,
        relative_risk=ratio,
        relative_risk_intervals=ratio_intervals,
        lift=lift,
        confidence=float(confidence),
    )


def _other_groups(values: Floats) -> Floats:
    """Return the sum over all other groups."""
    total = values.sum(axis=0)
    others = total - values
    return np.where(others <= ROUNDING * total, 0.0, others)
