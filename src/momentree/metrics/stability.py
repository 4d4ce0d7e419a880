"""Stability of a clustering when samples are replaced (T section 6.4.1), and of each group."""

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from momentree import _validation
from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_number, generator
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import _checks
from momentree.metrics._checks import Clusterer, check_list, fitted_labels


@overload
def stability_score(
    labels_a: ArrayLike,
    labels_b: ArrayLike,
    *,
    ids_a: ArrayLike | None = None,
    ids_b: ArrayLike | None = None,
) -> float: ...


@overload
def stability_score(
    labels_a: Clusterer,
    labels_b: Any,
    *,
    n_repeats: int = 5,
    overlap: float = 0.8,
    random_state: int | np.random.RandomState | None = None,
    sample_weight: ArrayLike | None = None,
) -> Floats: ...


def stability_score(
    labels_a: Any,
    labels_b: Any,
    *,
    ids_a: ArrayLike | None = None,
    ids_b: ArrayLike | None = None,
    n_repeats: int = 5,
    overlap: float = 0.8,
    random_state: int | np.random.RandomState | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Measure how well clusterings of overlapping samples agree on the common samples.

    A clustering of S + Sa and a clustering of S + Sb, with disjoint samples Sa and Sb, induce two
    partitions of S. The score is the adjusted Rand index [2] of these partitions, for the labels of
    two runs, or for an estimator that is fitted repeatedly:

        stability_score(labels_a, labels_b, ids_a=..., ids_b=...)    one score
        stability_score(estimator, X, n_repeats=5)                   a score for each repeat

    Parameters
    ----------
    labels_a : array-like of shape (n_a,), or estimator
        Clusters of the first run; or an estimator with ``fit`` and ``labels_`` or ``predict``,
        whose clones are fitted.
    labels_b : array-like of shape (n_b,), or data of shape (n, d)
        Clusters of the second run; or, with an estimator, its data: array-like, sparse matrix,
        sparse array, or a data frame with columns of any type that the estimator accepts.
    ids_a, ids_b : array-like of shape (n_a,) and (n_b,) or None, default=None
        Unique ids of the samples of each run, such as row numbers. None for both if both runs label
        the same samples in the same order.
    n_repeats : int >= 1, default=5
        With an estimator: number of times that S, Sa and Sb are drawn.
    overlap : float in (0, 1), default=0.8
        With an estimator: fraction of the samples in S. Sa and Sb are halves of the rest.
    random_state : int, RandomState or None, default=None
        With an estimator: seed of the samples; None is seed 0.
    sample_weight : array-like of shape (n,), default=None
        With an estimator: weights for ``fit``. The score counts each sample of S once.

    Returns
    -------
    float, or ndarray of shape (n_repeats,)
        1 for identical partitions, about 0 for unrelated ones.

    Raises
    ------
    InvalidDataError
        If labels or ids are not lists of equal length, an id occurs twice, fewer than two samples
        are in both runs, or only one of `ids_a` and `ids_b` is given; or X has too few samples.
    InvalidParameterError
        If `n_repeats` or `overlap` is out of range, or ids are given with an estimator.

    Notes
    -----
    The protocol of section 6.4.1 of [1], where S is a random 80% of the samples, Sa and Sb are two
    disjoint tenths, and the mean and standard deviation of five runs are reported. Fix the
    ``random_state`` of the estimator, so that only the samples differ. Time O(n log n) for labels;
    2 n_repeats fits for an estimator.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Section 6.4.1.
    .. [2] L. Hubert, P. Arabie. Comparing partitions. Journal of Classification 2, 1985.

    Examples
    --------
    Ten samples, without the last in one run and without the first in the other:

    >>> import numpy as np
    >>> from momentree.metrics import stability_score
    >>> clusters = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2])
    >>> stability_score(clusters[:9], 2 - clusters[1:], ids_a=range(9), ids_b=range(1, 10))
    1.0

    Three groups without common codes are found in every run:

    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat(np.eye(3), 20, axis=0)
    >>> stability_score(KMeans(3, n_init=1, random_state=0), X, n_repeats=2)
    array([1., 1.])
    """
    if hasattr(labels_a, "fit"):
        if ids_a is not None or ids_b is not None:
            raise InvalidParameterError(
                "[ids_with_an_estimator] ids_a and ids_b identify the labels of two runs; omit "
                "them with an estimator"
            )
        return _scores(labels_a, labels_b, n_repeats, overlap, random_state, sample_weight)
    a, b = check_list("labels_a", labels_a), check_list("labels_b", labels_b)
    if (ids_a is None) != (ids_b is None):
        raise InvalidDataError(
            "[one_list_of_ids] only one of ids_a and ids_b is given; give both, or neither if the "
            "samples are the same"
        )
    if ids_a is None or ids_b is None:
        if len(a) != len(b):
            raise InvalidDataError(
                "[labels_of_unequal_length] labels_a has {a:~label}, labels_b {b}; give ids_a and "
                "ids_b to identify the samples",
                a=len(a),
                b=len(b),
            )
    else:
        ids = _ids("ids_a", ids_a, len(a)), _ids("ids_b", ids_b, len(b))
        _, at_a, at_b = np.intersect1d(*ids, assume_unique=True, return_indices=True)
        a, b = a[at_a], b[at_b]
    if len(a) < 2:
        raise InvalidDataError(
            "[too_few_common_samples] {n_rows:~sample} {n_rows:?is/are} in both runs; at least 2 "
            "are required to compare clusterings",
            n_rows=len(a),
        )
    # Imported here because it loads much of scikit-learn, which this module does not use elsewhere.
    from sklearn.metrics import adjusted_rand_score

    # Use whole numbers, because scikit-learn rejects infinite and complex labels.
    a, b = (np.unique(labels, return_inverse=True)[1] for labels in (a, b))
    return float(adjusted_rand_score(a, b))


def _scores(
    estimator: Any,
    X: Any,
    n_repeats: int,
    overlap: float,
    random_state: int | np.random.RandomState | None,
    sample_weight: ArrayLike | None,
) -> Floats:
    """Return the adjusted Rand index of each of several pairs of fits."""
    check_integer("n_repeats", n_repeats, at_least=1)
    check_number("overlap", overlap, above=0, below=1)
    # A data frame may have texts, and columns that the estimator knows by name: it checks them.
    X = X if hasattr(X, "iloc") else _validation.check_table(X)
    n = X.shape[0]
    w = None if sample_weight is None else _validation.check_sample_weight(sample_weight, n)
    n_both = int(overlap * n + 1e-9)  # so that 0.8 * 10 is 8 despite rounding
    n_one = (n - n_both) // 2
    if n_both < 2 or n_one < 1:
        raise InvalidDataError(
            "[too_few_samples_to_overlap] {n_rows:~sample} with {parameters.overlap:=overlap} "
            "{n_rows:?gives/give} {both} common to both runs and {one} in one run only; at least 2 "
            "and 1 are required",
            n_rows=n,
            overlap=overlap,
            both=n_both,
            one=n_one,
        )
    from sklearn.metrics import adjusted_rand_score

    rng = generator(random_state)
    scores = np.empty(n_repeats)
    for repeat in range(n_repeats):
        order = rng.permutation(n)
        both, others = np.sort(order[:n_both]), order[n_both : n_both + 2 * n_one]
        runs = []
        for only in (others[:n_one], others[n_one:]):
            rows = np.sort(np.concatenate([both, only]))
            given = {} if w is None else {"sample_weight": w[rows]}
            part = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
            found = fitted_labels(clone(estimator).fit(part, **given), part)
            runs.append(found[np.searchsorted(rows, both)])
        scores[repeat] = adjusted_rand_score(*runs)
    return scores


def _ids(parameter: str, ids: ArrayLike, n: int) -> NDArray[Any]:
    array = check_list(parameter, ids)
    distinct = len(np.unique(array))
    if len(array) != n or distinct != n:
        raise InvalidDataError(
            "[ids_not_unique] {parameter} has {n_rows:~entry/entries} with {distinct} different "
            "ids for {labels:~label}; each label requires a unique id",
            parameter=parameter,
            n_rows=len(array),
            distinct=distinct,
            labels=n,
        )
    return array


MAX_RECORDS = 2**53
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
        raise InvalidParameterError(
            "[fit_without_sample_weight] fit of {estimator} does not accept sample_weight, which "
            "is required to resample records",
            estimator=type(estimator).__name__,
        )
    X = _checks.check_records(X)
    w = _validation.check_sample_weight(sample_weight, X.shape[0])
    total = float(w.sum())
    if total > MAX_RECORDS:
        raise InvalidDataError(
            "[weights_too_large_to_draw] the sample weights sum to {total:g}, which is the number "
            "of records to draw; expected at most {most:g}: divide the weights by a constant",
            total=total,
            most=MAX_RECORDS,
        )
    weights: dict[str, Any] = {} if sample_weight is None else {"sample_weight": w}
    fitted = fitted_labels(clone(estimator).fit(X, **weights), X)
    labels, k = _checks.check_labels(fitted, X.shape[0], None)
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
    sizes, counts, observed = _checks.group_sums(X, groups, w, k)
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
