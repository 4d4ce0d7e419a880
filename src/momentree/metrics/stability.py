"""Stability of a clustering when some of its samples are replaced (T section 6.4.1)."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from momentree._types import Floats
from momentree._validation import (
    check_integer,
    check_number,
    check_sample_weight,
    check_table,
    generator,
)
from momentree.exceptions import InvalidDataError, InvalidParameterError
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
            raise InvalidParameterError("ids_with_an_estimator")
        return _scores(labels_a, labels_b, n_repeats, overlap, random_state, sample_weight)
    a, b = check_list("labels_a", labels_a), check_list("labels_b", labels_b)
    if (ids_a is None) != (ids_b is None):
        raise InvalidDataError("one_list_of_ids")
    if ids_a is None or ids_b is None:
        if len(a) != len(b):
            raise InvalidDataError("labels_of_unequal_length", a=len(a), b=len(b))
    else:
        ids = _ids("ids_a", ids_a, len(a)), _ids("ids_b", ids_b, len(b))
        _, at_a, at_b = np.intersect1d(*ids, assume_unique=True, return_indices=True)
        a, b = a[at_a], b[at_b]
    if len(a) < 2:
        raise InvalidDataError("too_few_common_samples", n_rows=len(a))
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
    X = X if hasattr(X, "iloc") else check_table(X)
    n = X.shape[0]
    w = None if sample_weight is None else check_sample_weight(sample_weight, n)
    n_both = int(overlap * n + 1e-9)  # so that 0.8 * 10 is 8 despite rounding
    n_one = (n - n_both) // 2
    if n_both < 2 or n_one < 1:
        raise InvalidDataError(
            "too_few_samples_to_overlap", n_rows=n, overlap=overlap, both=n_both, one=n_one
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
            "ids_not_unique", parameter=parameter, n_rows=len(array), distinct=distinct, labels=n
        )
    return array
