"""Profiles of groups: codes and relative risks; and what groups leave unexplained."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_number, check_sample_weight, check_shape
from momentree.metrics import _checks, intervals
from momentree.metrics._checks import ROUNDING, as_probabilities, check_labels, check_records


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
    X = _checks.check_records(X)
    n = X.shape[0]
    groups, k = check_labels(labels, n, n_groups)
    w = check_sample_weight(sample_weight, n)
    P = None if proba is None else _checks.as_probabilities(proba, (n, k))
    n_records, counts, observed = _checks.group_sums(X, groups, w, k)
    total = float(w.sum())
    sizes = n_records if P is None else np.asarray(w @ P)
    proportions = np.clip(sizes / total, 0.0, 1.0)
    sample_size = np.full(k, total) if P is None else intervals.effective_sample_size(P, w)
    proportion_intervals = intervals.wilson_interval(proportions, sample_size, confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        frequencies = counts / observed
        overall = counts.sum(axis=0) / observed.sum(axis=0)
        lift = frequencies / np.where(overall > 0, overall, np.nan)
    ratio, ratio_intervals = intervals.risk_ratio(
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
        frequency_intervals=intervals.bootstrap_interval(frequencies, observed, confidence),
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


_MAX_VALUES = 10
"""Numbers with more different values are cut at their quartiles."""
_LEAST, _FEW, _SHARE = 1.0, 5.0, 0.2
"""Cochran's rule: no expected count below the first, and few below the second."""


def bivariate_residuals(
    X: Any,
    proba: ArrayLike,
    *,
    columns: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    min_cell: int = 1,
) -> Floats:
    r"""Return how much each pair of items depends on each other within groups.

    Within a group, items are independent, so that groups j of share :math:`\omega_j`, with shares
    :math:`\mu_{ar|j}` of the level r of item a, expect the level s of item b together with r in
    :math:`\pi_{rs} = \sum_j \omega_j \mu_{ar|j} \mu_{bs|j}` of all records. If they are observed
    in :math:`O_{rs}` of the :math:`N_{ab}` records in which both items are known, the residual is
    Pearson's statistic of the two-way table, divided by its degrees of freedom,

    .. math:: \frac{1}{(L_a - 1)(L_b - 1)} \sum_{rs}
              \frac{N_{ab} (O_{rs} / N_{ab} - \pi_{rs})^2}{\pi_{rs}}.

    Parameters
    ----------
    X : {array-like, sparse matrix or array} of shape (n, d), or DataFrame
        1 if a record has a code, 0 if not, NaN if unknown. The columns of a data frame may be of
        any kind: each different value is a level; numbers with more than ten different values are
        cut at their quartiles.
    proba : array-like of shape (n, k)
        Probability of each group for each record, in rows that sum to 1, such as
        ``model.predict_proba(X)``.
    columns : array-like of int of shape (m,), default=None
        Columns to compare; None compares all.
    sample_weight : array-like of shape (n,), default=None
        Number of records that each row represents, >= 0; None is 1 each.
    min_cell : int >= 1, default=1
        Above 1, pairs of two levels each are NaN if a cell of their table contains fewer records,
        or none, since the residual could disclose a small count: if one of two codes never occurs
        alone, it would be that of the other. That of a larger table depends on
        several unknown counts.

    Returns
    -------
    ndarray of shape (m, m)
        Residuals >= 0, symmetric; NaN on the diagonal, for columns with a single value, and for
        pairs with an expected count below 1, or with more than a fifth of them below 5 [1].

    Raises
    ------
    InvalidDataError
        If an array contains values other than 0, 1 and NaN, shapes do not match, or rows of
        `proba` do not sum to 1.
    InvalidParameterError
        If `min_cell` is below 1, or `columns` are no columns of X.

    Notes
    -----
    If items are independent within groups, 1 is expected with a single group, and less with more of
    them; above 4 is suspicious for a pair chosen in advance [3], but not for the largest of many:
    of 190 pairs, it is 3 to 7 by chance. The degrees of freedom deduct the margins of the table,
    but not the shares within groups. Therefore the statistic has no chi-squared distribution, and
    its exact one depends on the model [2]: use it to find pairs, not to test them. Many large
    residuals call for more groups. A single one can make groups of its own: replace both items with
    one, or leave one of them out.

    The shares are those of the records weighted by `proba`, which are the parameters of a mixture
    at its maximum likelihood. For a mixture with independent columns, such as
    :class:`momentree.BernoulliMixture` or :class:`momentree.MixedMixture`, the residuals then test
    its assumption; for a Gaussian mixture with full covariances, which has no such assumption, they
    only describe the groups. Expected and observed shares are compared after their margins are
    subtracted, :math:`\pi_{rs} - \pi_r \pi_s`: with missing values, the margins of the records in
    which both items are known differ from those of all records.

    Time O(nnz (k + d)), with nnz the number of ones; memory O(L^2) for L levels in all, and a block
    of rows.

    References
    ----------
    .. [1] W. G. Cochran. Some methods for strengthening the common chi-squared tests. Biometrics
       10, 1954.
    .. [2] D. L. Oberski, G. H. van Kollenburg, J. K. Vermunt. A Monte Carlo evaluation of three
       methods to detect local dependence in binary data latent class models. Advances in Data
       Analysis and Classification 7, 2013. doi:10.1007/s11634-013-0146-2
    .. [3] J. K. Vermunt, J. Magidson. Technical guide for Latent GOLD 5.0. Statistical Innovations,
       2013.

    Examples
    --------
    Two groups explain how the first three codes depend on each other, but the last is a copy:

    >>> import numpy as np
    >>> from momentree.metrics import bivariate_residuals
    >>> rng = np.random.default_rng(0)
    >>> groups = rng.integers(2, size=1000)
    >>> X = rng.random((1000, 3)) < np.where(groups == 0, 0.8, 0.3)[:, None]
    >>> X = np.column_stack([X, X[:, 2]])
    >>> bivariate_residuals(X, np.eye(2)[groups]).round(1)
    array([[  nan,   2.2,   3.9,   3.9],
           [  2.2,   nan,   1.4,   1.4],
           [  3.9,   1.4,   nan, 596. ],
           [  3.9,   1.4, 596. ,   nan]])
    """
    check_integer("min_cell", min_cell, at_least=1)
    framed = isinstance(X, pd.DataFrame)
    X = X if framed else check_records(X)
    at = np.asarray(list(range(X.shape[1])) if columns is None else columns)
    check_shape("columns", at, ("m",))
    for column in at.tolist():
        check_integer("columns", column, at_least=0, at_most=X.shape[1] - 1)
    at = at.astype(np.intp)
    w = check_sample_weight(sample_weight, X.shape[0])
    P = as_probabilities(proba, (X.shape[0], "k")) * w[:, None]
    if framed:
        X, P, w = X.iloc[w > 0, at], P[w > 0], w[w > 0]
    parts, item = _levels(X) if framed else (_codes(X, at), np.arange(len(at)))
    m, d = len(at), len(item)
    pairs, in_groups = np.zeros((d + m, d + m)), np.zeros((d + m, P.shape[1]))
    for rows, known_or_not in parts:
        weights: Any = sp.dia_array((w[None, rows], [0]), shape=(len(w[rows]),) * 2)
        pairs += (known_or_not.T @ (weights @ known_or_not)).toarray()
        in_groups += known_or_not.T @ P[rows]
    sizes, total, alone = P.sum(axis=0), float(w.sum()), pairs.diagonal()
    known = np.maximum(sizes - in_groups[d:], np.finfo(np.float64).tiny)
    mu, omega = in_groups[:d] / known[item], sizes / total
    # Of pairs of levels, records with both; with the first, where the other item is known; all.
    counts = pairs[:d, :d]
    first = (alone[:d, None] - pairs[:d, d:])[:, item]
    both = (total - alone[d:, None] - alone[d:] + pairs[d:, d:])[np.ix_(item, item)]
    pi, p = (mu * omega) @ mu.T, mu @ omega
    cells = [(pi, counts)]
    if not framed:  # the other cells of each table: without a code
        cells += [(p - pi, first.T - counts), (p[:, None] - pi, first - counts)]
        cells += [(1 - p - p[:, None] + pi, both - first - first.T + counts)]
    member: Any = sp.csr_array((np.ones(d), (np.arange(d), item)), shape=(d, m))

    def of_items(values: Any) -> Floats:
        return np.asarray(member.T @ (member.T @ np.asarray(values, dtype=np.float64)).T).T

    levels = np.bincount(item, minlength=m) - float(framed)
    degrees = np.outer(levels, levels)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = (counts - first * first.T / both) / both - (pi - p[:, None] * p)
        values = of_items(both * left**2 * sum(1 / share for share, _ in cells)) / degrees
    n_cells = of_items(np.full(pi.shape, len(cells)))
    poor = sum(of_items(both * share < _LEAST) for share, _ in cells) > 0
    poor |= sum(of_items(both * share < _FEW) for share, _ in cells) > _SHARE * n_cells
    # Half a record is a rounding error.
    small = sum(of_items(seen < min_cell - 0.5) for _, seen in cells) > 0
    small &= min_cell > 1
    values[poor | (small & (degrees == 1)) | ~np.isfinite(values)] = np.nan
    np.fill_diagonal(values, np.nan)
    return np.fmax(values, values.T)  # rounding differs


def _codes(X: Any, columns: Ints) -> Iterator[tuple[slice, Any]]:
    """Yield indicators of ones and of missing values in blocks of rows."""
    for rows, block in _checks.sparse_blocks(X):
        part = block[:, columns].astype(np.float64)
        lost = part.copy()
        lost.data = np.isnan(part.data) * 1.0
        part.data = (part.data == 1) * 1.0
        yield rows, sp.csr_array(sp.hstack([part, lost], format="csr"))


def _levels(table: pd.DataFrame) -> tuple[list[tuple[slice, Any]], Ints]:
    """Return indicators of levels and of missing values as one block, and items of levels."""
    blocks, lost, item = [], [], []
    for j, (_, values) in enumerate(table.items()):
        if pd.api.types.is_numeric_dtype(values) and values.nunique() > _MAX_VALUES:
            values = pd.qcut(values, 4, labels=False, duplicates="drop")
        at, levels = pd.factorize(values)
        known = np.flatnonzero(at >= 0)
        ones, shape = np.ones(len(known)), (len(at), len(levels))
        blocks.append(sp.csr_array((ones, (known, at[known])), shape=shape))
        lost.append(sp.csr_array(at[:, None] < 0, dtype=np.float64))
        item += [j] * len(levels)
    part = sp.csr_array(sp.hstack([*blocks, *lost], format="csr"))
    return [(slice(None), part)], np.array(item, dtype=np.intp)
