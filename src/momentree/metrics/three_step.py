"""How certainly records are assigned, and outcomes corrected for it by the method of BCH."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, ndtri

from momentree._types import Floats
from momentree._validation import check_number
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.metrics._checks import as_probabilities, check_labels
from momentree.metrics.intervals import wald_p_value, wilson_interval
from momentree.metrics.outcomes import outcome_classes, outcome_numbers


@dataclass(frozen=True)
class Classification:
    """How certainly n records are assigned to k groups.

    Attributes
    ----------
    sizes : ndarray of float of shape (k,)
        Records assigned to each group.
    mean_posterior : ndarray of shape (k, k)
        Mean probability of each group (column) among the records assigned to a group (row): rows
        sum to 1, and the diagonal is the mean posterior per group. NaN for an empty group.
    probabilities : ndarray of shape (k, k)
        D[t, s], the probability that a record of group t (row) is assigned to s (column); rows sum
        to 1. NaN for a group of probability zero.
    entropy : float
        Relative entropy, in [0, 1]: 1 if every record is certain, 0 if every group is equally
        probable for each of them.
    """

    sizes: Floats
    mean_posterior: Floats
    probabilities: Floats
    entropy: float


def classification_table(labels: ArrayLike, proba: ArrayLike) -> Classification:
    """Return mean posteriors per assigned group, classification probabilities and entropy.

    With p_it the probability of group t for record i, and s_i the group to which it is assigned,

        mean posterior[s, t] = mean of p_it over the records with s_i = s,
        D[t, s] = P(assigned to s | group t) = sum_(s_i = s) p_it / sum_i p_it,
        relative entropy = 1 - sum_it -p_it log p_it / (n log k).

    Parameters
    ----------
    labels : array-like of int of shape (n,)
        Group to which each record is assigned, 0 to k - 1.
    proba : array-like of shape (n, k)
        Probability of each group for each record, as from ``predict_proba``, in rows that sum to 1.

    Returns
    -------
    Classification
        Groups in the order of the columns of `proba`.

    Raises
    ------
    InvalidDataError
        If labels are not whole numbers from 0 to k - 1, shapes do not match, or rows of `proba` do
        not sum to 1.

    Notes
    -----
    The probabilities D are those of [1], equation 6; the relative entropy is that of [2]. Time
    O(n k).

    References
    ----------
    .. [1] J. K. Vermunt. Latent class modeling with covariates: two improved three-step approaches.
       Political Analysis 18, 2010.
    .. [2] V. Ramaswamy, W. S. DeSarbo, D. J. Reibstein, W. T. Robinson. An empirical pooling
       approach for estimating marketing mix elasticities with PIMS data. Marketing Science 12,
       1993.

    Examples
    --------
    >>> from momentree.metrics import classification_table
    >>> found = classification_table([0, 0, 1], [[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]])
    >>> found.mean_posterior.round(2)
    array([[0.8, 0.2],
           [0.2, 0.8]])
    >>> found.probabilities.round(3)
    array([[0.889, 0.111],
           [0.333, 0.667]])
    >>> round(found.entropy, 3)
    0.309
    """
    P = as_probabilities(proba)
    n, k = P.shape
    groups, _ = check_labels(labels, n, k)
    assigned = np.zeros((k, k))
    np.add.at(assigned, groups, P)
    sizes = np.bincount(groups, minlength=k).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        posterior = assigned / sizes[:, None]
        probabilities = assigned.T / assigned.sum(axis=0)[:, None]
    entropy = 1.0 - float(entr(P).sum()) / (n * np.log(k)) if k > 1 else 1.0
    return Classification(sizes, posterior, probabilities, float(np.clip(entropy, 0.0, 1.0)))


MEAN = "mean"
"""Name of the only column of a numeric outcome."""
_WORST = 1e6
"""Largest condition number of D; its inverse would amplify sampling errors as much."""


@dataclass(frozen=True)
class CorrectedOutcome:
    """Means or rates of an outcome in k groups, corrected for uncertain assignment.

    Attributes
    ----------
    classes : tuple of str
        Names of the c columns: ("mean",) for numbers, all classes, or only "yes" of a yes-or-no
        outcome.
    estimates : ndarray of shape (k, c)
        Corrected means, or rates in [0, 1]. They are NaN in a group whose corrected size is not
        positive.
    errors : ndarray of shape (k, c)
        Standard errors.
    intervals : ndarray of shape (k, c, 2)
        Confidence intervals: normal ones of means, Wilson's of rates.
    p_values : ndarray of shape (c,)
        Wald test that all groups have the same mean or rate; NaN if it cannot be computed.
    impossible : ndarray of bool of shape (k, c)
        Whether a rate was clearly below 0 or above 1 before it was cut, by more than the width of
        its interval. The probabilities of the groups then do not fit the records, for example
        because codes or the outcome depend on each other within a group: do not use the rate.
    n : int
        Records with a known outcome.
    confidence : float
        Confidence level of the intervals, in (0, 1).
    """

    classes: tuple[str, ...]
    estimates: Floats
    errors: Floats
    intervals: Floats
    p_values: Floats
    impossible: NDArray[np.bool_]
    n: int
    confidence: float


def corrected_outcome(
    labels: ArrayLike, proba: ArrayLike, outcome: ArrayLike, *, confidence: float = 0.95
) -> CorrectedOutcome:
    r"""Return means or rates of an outcome per group, corrected for uncertain assignment.

    Counting the outcome among the records assigned to each group makes groups more alike than they
    are, because some records are assigned to the wrong one. The three-step method of Bolck, Croon
    and Hagenaars (BCH) weights each record by the inverse of the classification probabilities D of
    :func:`classification_table`: a record assigned to s counts in group t with weight

        w_st = (D^(-1))_st,   mean_t = sum_i w_(s_i)t y_i / sum_i w_(s_i)t.

    Parameters
    ----------
    labels : array-like of int of shape (n,)
        Group to which each record is assigned, 0 to k - 1.
    proba : array-like of shape (n, k)
        Probability of each group for each record, as from ``predict_proba`` of a mixture or a tree,
        in rows that sum to 1. The outcome must not have been used to fit the groups.
    outcome : array-like of shape (n,)
        Booleans or 0 and 1; strings, or up to ten different numbers, as classes; or more different
        numbers, whose mean is estimated. Records with a missing outcome (None, NaN, "") are
        omitted.
    confidence : float in (0, 1), default=0.95
        Confidence level of each two-sided interval.

    Returns
    -------
    CorrectedOutcome
        Groups in the order of the columns of `proba`.

    Raises
    ------
    InvalidDataError
        If labels, probabilities and outcome do not match, the outcome has more than fifty different
        strings, no record with a known outcome is assigned to one of the groups, or the groups
        overlap too much.
    InvalidParameterError
        If `confidence` is not between 0 and 1.

    Notes
    -----
    The method of [1] with the weights of [2], equation 6, and modal assignment; the means are those
    of StepMix with ``n_steps=3, correction="BCH"``. Standard errors are of the sandwich form [3],

        cov(mean_t, mean_u) = sum_i w_st w_su (y_i - mean_t) (y_i - mean_u) / (N_t N_u),

    with N_t the sum of the weights. They treat D as known: the uncertainty of the fit itself is
    not included, which matters in small samples with overlapping groups. A corrected rate close to
    0 or 1 may lie slightly outside [0, 1] and is then cut. Intervals of rates are Wilson's for the
    effective sample size rate (1 - rate) / error^2, but at most N_t^2 / sum_i w_st^2, so that a
    rate of 0 has an interval too. Time O(n k).

    References
    ----------
    .. [1] A. Bolck, M. Croon, J. Hagenaars. Estimating latent structure models with categorical
       variables: one-step versus three-step estimators. Political Analysis 12, 2004.
    .. [2] J. K. Vermunt. Latent class modeling with covariates: two improved three-step approaches.
       Political Analysis 18, 2010.
    .. [3] Z. Bakk, F. B. Tekle, J. K. Vermunt. Estimating the association between latent class
       membership and external variables using bias-adjusted three-step approaches. Sociological
       Methodology 43, 2013.

    Examples
    --------
    One in ten records of each group is assigned to the other one, so that 0.9 and 0.1 look like
    0.82 and 0.18:

    >>> import numpy as np
    >>> from momentree.metrics import corrected_outcome
    >>> labels = np.repeat([0, 1], 1000)
    >>> proba = np.where(labels[:, None] == [0, 1], 0.9, 0.1)
    >>> died = np.concatenate([np.arange(1000) < 820, np.arange(1000) < 180])
    >>> corrected_outcome(labels, proba, died).estimates.ravel().round(3)
    array([0.9, 0.1])
    """
    check_number("confidence", confidence, above=0, below=1)
    found = classification_table(labels, proba)
    k = len(found.sizes)
    groups, _ = check_labels(labels, None, k)
    numbers = outcome_numbers(outcome, len(groups))
    if numbers is not None:
        known, names = ~np.isnan(numbers), [MEAN]
        values = numbers[known][:, None]
    else:
        classes, names, binary = outcome_classes(outcome, len(groups), None)
        known = classes >= 0
        values = np.eye(len(names))[classes[known]]
        if binary:
            names, values = names[1:], values[:, 1:]
    # Squares of centered numbers do not lose their digits.
    center = values.mean(axis=0) if numbers is not None and len(values) else 0.0
    values = values - center
    here = groups[known]
    n = np.bincount(here, minlength=k).astype(np.float64)
    sums, squares = np.zeros((2, k, len(names)))
    np.add.at(sums, here, values)
    np.add.at(squares, here, values**2)
    return correct_sums(
        tuple(names),
        found.probabilities,
        n,
        sums,
        squares,
        center=center,
        rates=numbers is None,
        confidence=confidence,
    )


def _bch_means(
    D: Floats, n: Floats, sums: Floats, squares: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the corrected means (k, c), their covariances (c, k, k), and sample sizes (k,)."""
    for group in np.flatnonzero(~(n > 0)):
        raise InvalidDataError(wording.GROUP_NEVER_ASSIGNED, group=int(group))
    condition = float(np.linalg.cond(D)) if np.isfinite(D).all() else np.inf
    if not condition < _WORST:
        raise InvalidDataError(
            "[groups_overlap_too_much] the groups overlap too much for a correction: the "
            "classification probabilities have condition number {condition:.2g}; merge groups that "
            "are hard to distinguish, or fit fewer",
            condition=condition,
        )
    W = np.linalg.inv(D)
    size = n @ W
    size = np.where(size > 1e-9 * n.sum(), size, np.nan)
    means = (W.T @ sums) / size[:, None]
    covariances = []
    for mean, total, square in zip(means.T, sums.T, squares.T, strict=True):
        # sum_i in s of (y_i - mean_t) (y_i - mean_u), for all s, t, u
        cross = (
            square[:, None, None]
            - total[:, None, None] * (mean[:, None] + mean)
            + n[:, None, None] * np.outer(mean, mean)
        )
        meat = np.einsum("st,su,stu->tu", W, W, cross)
        covariances.append(meat / np.outer(size, size))
    return means, np.array(covariances), np.asarray((n @ W) ** 2 / (n @ W**2))


def correct_sums(
    classes: tuple[str, ...],
    D: Floats,
    n: Floats,
    sums: Floats,
    squares: Floats,
    *,
    rates: bool,
    confidence: float,
    center: Floats | float = 0.0,
) -> CorrectedOutcome:
    """Return means or rates, corrected for uncertain assignment, with intervals and tests.

    From the number n (k,) of records assigned to each group, and the sums and sums of squares
    (k, c) of their values minus `center`, which are sufficient. D is as in :class:`Classification`.
    """
    means, covariances, sample_sizes = _bch_means(D, n, sums, squares)
    means = means + center
    errors = np.sqrt(np.clip(np.diagonal(covariances, axis1=1, axis2=2), 0.0, None)).T
    impossible = np.zeros(means.shape, dtype=bool)
    if rates:
        estimates = np.clip(means, 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = (estimates > 0.0) & (estimates < 1.0)
            effective = np.where(inside, estimates * (1.0 - estimates) / errors**2, np.inf)
        effective = np.fmin(effective, sample_sizes[:, None])
        intervals = wilson_interval(estimates, effective, confidence)
        impossible = np.abs(means - estimates) > np.diff(intervals)[..., 0]
    else:
        half = float(ndtri(0.5 + confidence / 2.0)) * errors
        estimates, intervals = means, np.stack([means - half, means + half], axis=-1)
    contrasts = np.eye(len(n))[1:] - np.eye(len(n))[0]  # all groups against the first
    return CorrectedOutcome(
        classes=classes,
        estimates=estimates,
        errors=errors,
        intervals=intervals,
        p_values=np.array(
            [
                wald_p_value(contrasts @ mean, contrasts @ V @ contrasts.T)
                for mean, V in zip(means.T, covariances, strict=True)
            ]
        ),
        impossible=impossible,
        n=round(float(n.sum())),
        confidence=float(confidence),
    )
