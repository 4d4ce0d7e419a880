"""Stability of each group of a clustering, by the bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_number, check_sample_weight, generator
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics._checks import Clusterer, check_labels, fitted_labels
from momentree.metrics._records import check_records, group_sums

MOST_RECORDS = 2**53
"""Largest number of records in a resample: floats above it skip whole numbers."""


@dataclass(frozen=True)
class GroupStability:
    """Variation of the groups of a clustering over bootstrap resamples.

    Attributes
    ----------
    labels : ndarray of int of shape (n,)
        Group of each record, 0 to k - 1, by the fit to all of them.
    sizes : ndarray of shape (k,)
        Records, or their weight, in each group of that fit.
    frequencies : ndarray of shape (k, d)
        P[code | group] in that fit; NaN where no value is observed.
    size_intervals, frequency_intervals : ndarray of shape (k, 2) and (k, d, 2)
        Lower and upper limits over the resamples in which the group has a match; NaN if there are
        none. If `jaccard` is low, the limits describe other groups.
    jaccard : ndarray of shape (k,)
        Mean over the resamples of the Jaccard similarity of the group with its match, in [0, 1];
        0 for resamples without a match. Groups with values above 0.75 are called stable, below 0.5
        dissolved (Hennig 2007).
    recovered : ndarray of shape (k,)
        Fraction of the resamples in which the similarity exceeds one half.
    n_bootstrap : int
        Number of resamples.
    confidence : float
        Confidence level of the intervals, in (0, 1).
    """

    labels: Ints
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
    """Measure the stability of groups by refitting to records drawn with replacement.

    Parameters
    ----------
    estimator : estimator
        Must have ``fit(X, sample_weight=...)``, ``labels_`` and ``predict``; clones are fitted.
    X : {array-like, sparse matrix or array} of shape (n, d)
        1 if a record has a code, 0 if not, NaN if unknown.
    n_bootstrap : int >= 1, default=50
        Number of resamples.
    confidence : float in (0, 1), default=0.95
        Confidence level of each two-sided interval.
    random_state : int, RandomState or None, default=None
        Seed of the resamples; None is seed 0.
    sample_weight : array-like of shape (n,), default=None
        Number of records that each row represents, >= 0; None is 1 each.

    Returns
    -------
    GroupStability
        Intervals of sizes and frequencies that include the uncertainty about the groups, unlike
        those of :func:`group_profiles`, and how well each group is recovered.

    Raises
    ------
    InvalidDataError
        If X contains values other than 0, 1 and NaN, weights are invalid or sum to more than 2**53,
        or the estimator assigns a record to no group (a label below 0).
    InvalidParameterError
        If `n_bootstrap` is not a whole number of at least 1, `confidence` is not between 0 and 1,
        or the estimator does not accept sample weights.

    Notes
    -----
    A resample of N records, with N the total weight, is drawn as Multinomial(N, w / N) weights of
    the rows. Its groups, predicted for all rows, are matched one to one with those of the fit to
    all records, maximizing the sum of the Jaccard similarities |A and B| / |A or B|. Hennig [1]
    uses the largest similarity for each group, on the rows drawn. Sizes and frequencies are those
    of the records drawn; the intervals are percentiles.

    Time: n_bootstrap + 1 fits and predictions; memory O(n_bootstrap k d).

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
    check_number("confidence", confidence, above=0, below=1)
    check_integer("n_bootstrap", n_bootstrap, at_least=1)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise InvalidParameterError("fit_without_sample_weight", estimator=type(estimator).__name__)
    X = check_records(X)
    w = check_sample_weight(sample_weight, X.shape[0])
    total = float(w.sum())
    if total > MOST_RECORDS:
        raise InvalidDataError("weights_too_large_to_draw", total=total, most=MOST_RECORDS)
    weights: dict[str, Any] = {} if sample_weight is None else {"sample_weight": w}
    fitted = fitted_labels(clone(estimator).fit(X, **weights), X)
    labels, k = check_labels(fitted, X.shape[0], None)
    sizes, frequencies = _profile(X, labels, w, k)
    rng = generator(random_state)
    drawn_sizes = np.full((n_bootstrap, k), np.nan)
    drawn_frequencies = np.full((n_bootstrap, k, X.shape[1]), np.nan)
    similarity = np.zeros((n_bootstrap, k))
    for b in range(n_bootstrap):
        drawn = rng.multinomial(max(1, round(total)), w / total).astype(np.float64)
        model: Any = clone(estimator).fit(X, sample_weight=drawn)
        _, found = np.unique(model.predict(X), return_inverse=True)
        here, there, similarity[b] = _match(labels, found, w, k)
        profile = _profile(X, found, drawn, int(found.max()) + 1)
        drawn_sizes[b, here], drawn_frequencies[b, here] = profile[0][there], profile[1][there]
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


def _profile(X: Any, groups: Ints, w: Floats, k: int) -> tuple[Floats, Floats]:
    """Return sizes and frequencies; NaN where a group has no observed record."""
    sizes, counts, observed = group_sums(X, groups, w, k)
    with np.errstate(divide="ignore", invalid="ignore"):
        return sizes, counts / observed


def _match(labels: Ints, found: Ints, w: Floats, k: int) -> tuple[Ints, Ints, Floats]:
    """Return the groups with a match, their matches, and the similarity of each group."""
    both = np.zeros((k, int(found.max()) + 1))
    np.add.at(both, (labels, found), w)
    either = both.sum(axis=1)[:, None] + both.sum(axis=0) - both
    jaccard = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    here, there = linear_sum_assignment(jaccard, maximize=True)
    similarity = np.zeros(k)
    similarity[here] = jaccard[here, there]
    kept = similarity[here] > 0  # the assignment also pairs groups that have nothing in common
    return here[kept], there[kept], similarity


def _percentiles(values: Floats, confidence: float) -> Floats:
    """Return the limits of each column over the resamples in which it is known."""
    tail = (1.0 - confidence) / 2.0
    known = ~np.isnan(values).all(axis=0)
    out = np.full((*values.shape[1:], 2), np.nan)
    out[known] = np.nanquantile(values[:, known], [tail, 1.0 - tail], axis=0).T
    return out
