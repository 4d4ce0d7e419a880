"""How stable each group of a clustering is when the records are drawn again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from momentree._validation import check_sample_weight, generator
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics._checks import Clusterer, check_labels, check_positive, fitted_labels
from momentree.metrics._intervals import check_confidence
from momentree.metrics._records import check_records, group_sums

__all__ = ["GroupStability", "bootstrap_groups"]

Floats = NDArray[np.float64]

MOST_RECORDS = 2**53
"""Records that are drawn at a time: numbers up to here are exact."""


@dataclass(frozen=True)
class GroupStability:
    """How the groups of a clustering vary when the records are drawn again.

    Attributes
    ----------
    labels : ndarray of int of shape (n,)
        Group of each record by the fit to all of them, 0 to k - 1, in its order.
    sizes : ndarray of shape (k,)
        Records, or their weight, in each group of that fit.
    size_intervals : ndarray of shape (k, 2)
        Lower and upper limit over the repeats in which the group had a match; NaN if in none.
        Where `jaccard` is low the matches are other groups, and so may the limits be.
    frequencies : ndarray of shape (k, d)
        P[code | group] in that fit; NaN where no value is observed.
    frequency_intervals : ndarray of shape (k, d, 2)
        Lower and upper limit over the repeats, as for the sizes.
    jaccard : ndarray of shape (k,)
        Mean over the repeats of the Jaccard similarity of the group with its match, in [0, 1]: 1
        where it came back as it was each time, 0 counted where it had no match. Values above
        0.75 are called stable, below 0.5 dissolved [1]_.
    recovered : ndarray of shape (k,)
        Share of the repeats in which the similarity was above one half.
    n_bootstrap : int
        Number of repeats.
    confidence : float
        Of the intervals, in (0, 1).

    References
    ----------
    .. [1] C. Hennig. Cluster-wise assessment of cluster stability. Computational Statistics and
       Data Analysis 52, 2007.
    """

    labels: NDArray[np.intp]
    sizes: Floats
    size_intervals: Floats
    frequencies: Floats
    frequency_intervals: Floats
    jaccard: Floats
    recovered: Floats
    n_bootstrap: int
    confidence: float


def bootstrap_groups(
    estimator: Clusterer,
    X: Any,
    *,
    n_bootstrap: int = 50,
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
    sample_weight: ArrayLike | None = None,
) -> GroupStability:
    """Fit again on records drawn with replacement: how do the groups themselves vary.

    Parameters
    ----------
    estimator : estimator
        With ``fit(X, sample_weight=...)``, ``labels_`` and ``predict``; clones of it are fitted.
    X : {array-like, sparse matrix or array} of shape (n, d)
        1 where a record has a code, 0 where it has not, NaN where that is not known.
    n_bootstrap : int >= 1, default=50
        Number of repeats.
    confidence : float in (0, 1), default=0.95
        Of each two-sided interval by itself.
    random_state : int, RandomState or None, default=None
        Draws the records; None is seed 0.
    sample_weight : array-like of shape (n,), default=None
        How many records each row stands for, >= 0; None is 1 each.

    Returns
    -------
    GroupStability
        Intervals of sizes and frequencies that hold the uncertainty of the groups, wider than
        those of :func:`group_profiles` for given ones; and how often each group came back.

    Raises
    ------
    InvalidDataError
        If X holds other values than 0, 1 and NaN, weights are negative, not one for each row or sum
        to more than 2**53, or the estimator gives a record no group (a label below 0).
    InvalidParameterError
        If `n_bootstrap` is no whole number above zero, `confidence` is not between 0 and 1, or
        the estimator takes no sample weights.

    Notes
    -----
    A repeat draws N records with replacement, N the total weight, as Multinomial(N, w / N)
    weights of the rows, so that no row is copied. The groups of the repeat are those that it
    predicts for all n rows. They are matched one to one with those of the fit to all records so
    that the sum of their Jaccard similarities |A and B| / |A or B| is largest; small groups
    count as much as large ones. Hennig [1] takes the largest similarity for each group instead,
    on the rows drawn; a match is needed here to compare profiles. Sizes and frequencies are
    those among the records drawn, their intervals the percentiles.

    Time of n_bootstrap + 1 fits and predictions; memory O(n_bootstrap k d).

    References
    ----------
    .. [1] C. Hennig. Cluster-wise assessment of cluster stability. Computational Statistics and
       Data Analysis 52, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from momentree.metrics import bootstrap_groups
    >>> X = np.repeat(np.eye(3), [30, 20, 10], axis=0)
    >>> found = bootstrap_groups(KMeans(3, n_init=1, random_state=0), X, n_bootstrap=10)
    >>> found.jaccard
    array([1., 1., 1.])
    """
    check_confidence(confidence)
    check_positive("n_bootstrap", n_bootstrap)
    if not has_fit_parameter(estimator, "sample_weight"):
        msg = f"{type(estimator).__name__} takes no sample_weight in fit, which draws the records"
        raise InvalidParameterError(msg)
    X = check_records(X)
    w = check_sample_weight(sample_weight, X.shape[0])
    total = w.sum()
    if total > MOST_RECORDS:
        msg = (
            f"sample weights sum to {total:g}, and as many records are drawn; expected at most "
            f"{MOST_RECORDS:g}: divide the weights by a number"
        )
        raise InvalidDataError(msg)
    weights: dict[str, Any] = {} if sample_weight is None else {"sample_weight": w}
    fitted = fitted_labels(clone(estimator).fit(X, **weights), X)
    labels, k = check_labels(fitted, X.shape[0], None)
    sizes, frequencies = _profile(X, labels, w, k)
    rng = generator(random_state)
    drawn_sizes = np.full((n_bootstrap, k), np.nan)
    drawn_frequencies = np.full((n_bootstrap, k, X.shape[1]), np.nan)
    similarity = np.zeros((n_bootstrap, k))
    for b in range(n_bootstrap):
        drawn = rng.multinomial(max(1, round(float(total))), w / total).astype(np.float64)
        model: Any = clone(estimator).fit(X, sample_weight=drawn)
        _, found = np.unique(model.predict(X), return_inverse=True)
        here, there, similarity[b] = _match(labels, found, w, k)
        again = _profile(X, found, drawn, int(found.max()) + 1)
        drawn_sizes[b, here], drawn_frequencies[b, here] = again[0][there], again[1][there]
    return GroupStability(
        labels=labels,
        sizes=sizes,
        size_intervals=_percentiles(drawn_sizes, confidence),
        frequencies=frequencies,
        frequency_intervals=_percentiles(drawn_frequencies, confidence),
        jaccard=similarity.mean(axis=0),
        recovered=(similarity > 0.5).mean(axis=0),
        n_bootstrap=int(n_bootstrap),
        confidence=float(confidence),
    )


def _profile(X: Any, groups: NDArray[np.intp], w: Floats, k: int) -> tuple[Floats, Floats]:
    """Return sizes and frequencies; NaN where a group has no observed record."""
    sizes, counts, observed = group_sums(X, groups, w, k)
    with np.errstate(divide="ignore", invalid="ignore"):
        return sizes, counts / observed


def _match(
    labels: NDArray[np.intp], found: NDArray[np.intp], w: Floats, k: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return which groups have a match, which one, and the similarity of each group with it."""
    both = np.zeros((k, int(found.max()) + 1))
    np.add.at(both, (labels, found), w)
    either = both.sum(axis=1)[:, None] + both.sum(axis=0) - both
    jaccard = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    here, there = linear_sum_assignment(jaccard, maximize=True)
    similarity = np.zeros(k)
    similarity[here] = jaccard[here, there]
    kept = similarity[here] > 0  # the surplus is matched with what it has no record in common
    return here[kept], there[kept], similarity


def _percentiles(values: Floats, confidence: float) -> Floats:
    """Return the limits of each column over the repeats in which it is known."""
    tail = (1.0 - confidence) / 2.0
    known = ~np.isnan(values).all(axis=0)
    out = np.full((*values.shape[1:], 2), np.nan)
    out[known] = np.nanquantile(values[:, known], [tail, 1.0 - tail], axis=0).T
    return out
