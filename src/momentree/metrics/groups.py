"""Profiles of groups of records: sizes, frequencies of codes and relative risks, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._validation import as_floats, check_sample_weight
from momentree.exceptions import InvalidDataError
from momentree.metrics._checks import check_labels
from momentree.metrics._intervals import (
    bootstrap_interval,
    certain_records,
    check_confidence,
    risk_ratio,
    wilson_interval,
)
from momentree.metrics._records import ROUNDING, check_records, group_sums

__all__ = ["GroupProfiles", "group_profiles"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GroupProfiles:
    """Who is in each group: sizes, frequencies of codes, relative risks, with their intervals.

    Attributes
    ----------
    n_records : ndarray of shape (k,)
        Records with each label, or the sum of their weights.
    sizes : ndarray of shape (k,)
        Size of each group: `n_records`, or with probabilities the expected number of records.
    size_intervals : ndarray of shape (k, 2)
        Lower and upper limit of the sizes.
    shares : ndarray of shape (k,)
        Sizes as shares of all records, in [0, 1].
    share_intervals : ndarray of shape (k, 2)
        Lower and upper limit of the shares.
    counts : ndarray of shape (k, d)
        Records of the group that have the code.
    observed : ndarray of shape (k, d)
        Records of the group in which it is known whether they have the code.
    frequencies : ndarray of shape (k, d)
        P[code | group] = counts / observed, in [0, 1]; NaN where none is observed.
    frequency_intervals : ndarray of shape (k, d, 2)
        Lower and upper limit of the frequencies; NaN where they are.
    overall : ndarray of shape (d,)
        P[code] among all records; NaN where none is observed.
    relative_risk : ndarray of shape (k, d)
        P[code | group] / P[code | not group], in [0, inf]; inf where only the group has the
        code; NaN where no record has it, or the group or the rest has no observed record.
    relative_risk_intervals : ndarray of shape (k, d, 2)
        Lower and upper limit, which hold the relative risk; NaN where it is.
    lift : ndarray of shape (k, d)
        P[code | group] / P[code]; NaN where either is NaN or no record has the code.
    confidence : float
        Of the intervals, in (0, 1).
    """

    n_records: Floats
    sizes: Floats
    size_intervals: Floats
    shares: Floats
    share_intervals: Floats
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
    """Describe groups of records by their sizes and by how often each code occurs in them.

    Parameters
    ----------
    X : {array-like, sparse matrix or array} of shape (n, d)
        1 where a record has a code, 0 where it has not, NaN where that is not known.
    labels : array-like of int of shape (n,)
        Group of each record, 0 to k - 1.
    n_groups : int >= 1, default=None
        k; None is the largest label plus one. A group may be empty.
    proba : array-like of shape (n, k), default=None
        Probability of each group for each record, in rows that sum to 1. It adds the uncertainty
        of assignment to the intervals of the sizes.
    sample_weight : array-like of shape (n,), default=None
        How many records each row stands for, >= 0; None is 1 each. A row of weight two counts as
        two rows, also in the intervals.
    confidence : float in (0, 1), default=0.95
        Of each two-sided interval by itself.

    Returns
    -------
    GroupProfiles
        Groups in the order of their labels, codes in that of the columns. An empty group has
        size 0, frequencies NaN and relative risks NaN.

    Raises
    ------
    InvalidDataError
        If X holds other values than 0, 1 and NaN, labels are no whole numbers in 0 to k - 1, or
        shapes do not fit; if rows of `proba` do not sum to 1.
    InvalidParameterError
        If `confidence` is not between 0 and 1 or `n_groups` is below 1.

    Notes
    -----
    **Frequencies.** The interval is that of the percentile bootstrap which draws the records of
    each group again, n_g of n_g, with replacement [1]. A draw has the code with probability c/n_g
    each time, for c records with the code, so the count in the resample is Binomial(n_g, c/n_g),
    and its quantiles are exact: nothing is drawn, the answer is that of infinitely many
    resamples, and the data are passed once. With missing values n_g counts the records in which
    the code is observed. Where c is 0 or n_g every resample is the same, and the interval of the
    bootstrap would have no width; the limit of Clopper and Pearson, 1 - (a/2)^(1/n_g) for
    confidence 1 - a, stands in its place.

    **Sizes.** A record drawn at random is in group g with probability m = n_g / n, so the size is
    Binomial(n, m) with variance V = n m (1 - m). With `proba`, m is the mean of p_ig over the
    records, of V only V - A is seen, A = sum_i p_ig (1 - p_ig), and

        Var(size) = V^2 / (V - A) = V + A + A^2 / (V - A),

    by the missing information principle [2]: sampling, and on top of it assignment. The interval
    is Wilson's for n (V - A) / V records of certain groups, n without `proba`. It takes what the
    groups look like as known; :func:`bootstrap_groups` does not.

    **Relative risks.** Katz's logarithmic interval [3], with half a record added to each of the
    four cells where one of them is zero.

    A total of weights is rounded to a whole number for the intervals only. Time O(nnz + k d)
    and O(n k) for `proba`; memory O(k d) beside the data.

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
    check_confidence(confidence)
    X = check_records(X)
    n = X.shape[0]
    groups, k = check_labels(labels, n, n_groups)
    w = check_sample_weight(sample_weight, n)
    P = None if proba is None else _checked_proba(proba, (n, k))
    n_records, counts, observed = group_sums(X, groups, w, k)
    total = float(w.sum())
    sizes = n_records if P is None else np.asarray(w @ P)
    shares = np.clip(sizes / total, 0.0, 1.0)
    certain = np.full(k, total) if P is None else certain_records(P, w)
    share_intervals = wilson_interval(shares, certain, confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        frequencies = counts / observed
        overall = counts.sum(axis=0) / observed.sum(axis=0)
        lift = frequencies / np.where(overall > 0, overall, np.nan)
    ratio, ratio_intervals = risk_ratio(
        counts,
        observed,
        _rest(counts),
        _rest(observed),
        confidence,
    )
    return GroupProfiles(
        n_records=n_records,
        sizes=sizes,
        size_intervals=share_intervals * total,
        shares=shares,
        share_intervals=share_intervals,
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


def _rest(values: Floats) -> Floats:
    """Return the sum over all other groups."""
    total = values.sum(axis=0)
    rest = total - values
    return np.where(rest <= ROUNDING * total, 0.0, rest)


def _checked_proba(proba: ArrayLike, shape: tuple[int, int]) -> Floats:
    P = as_floats("proba", proba)
    if P.shape != shape:
        msg = f"proba has shape {P.shape}; expected {shape}, records by groups"
        raise InvalidDataError(msg)
    if not (P >= 0).all() or not np.allclose(P.sum(axis=1), 1.0, atol=1e-6):
        msg = "rows of proba must be zero or more and sum to 1; give those of predict_proba"
        raise InvalidDataError(msg)
    return P
