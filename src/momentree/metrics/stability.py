"""How stable a clustering is when part of its samples is exchanged."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from momentree._validation import check_sample_weight, check_table, generator
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics._checks import Clusterer, check_list, check_positive, fitted_labels

__all__ = ["stability_score"]

Floats = NDArray[np.float64]


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
    """Return how well clusterings of overlapping samples agree on what both have seen.

    A clustering C1 of S + Sa and a clustering C2 of S + Sb, with Sa and Sb different samples,
    induce two partitions of S; the score is the adjusted Rand index of the two. Given the labels
    of two runs it is one number; given an estimator and its data, the runs are made here:

        stability_score(labels_a, labels_b, ids_a=..., ids_b=...)    one score
        stability_score(estimator, X, n_repeats=5)                   a score for each repeat

    Parameters
    ----------
    labels_a : array-like of shape (n_a,), or estimator
        Clusters of the first run. Or an estimator with ``fit`` and ``labels_`` or ``predict``,
        of which clones are fitted.
    labels_b : array-like of shape (n_b,), or data of shape (n, d)
        Clusters of the second run. Or, with an estimator, its data: array-like, sparse matrix or
        sparse array.
    ids_a : array-like of shape (n_a,) or None, default=None
        Which sample each label of the first run is of: row numbers or other names, each once.
        None for both where the labels are those of S already, in one order.
    ids_b : array-like of shape (n_b,) or None, default=None
        The same for the second run.
    n_repeats : int >= 1, default=5
        With an estimator: how often S, Sa and Sb are drawn.
    overlap : float in (0, 1), default=0.8
        With an estimator: share of the samples in S. Sa and Sb are half of the others each.
    random_state : int, RandomState or None, default=None
        With an estimator: draws the samples; None is seed 0.
    sample_weight : array-like of shape (n,), default=None
        With an estimator: weights that ``fit`` gets. The index counts samples of S once each.

    Returns
    -------
    float, or ndarray of shape (n_repeats,)
        At most 1, which says that the partitions are the same; about 0 for unrelated ones.

    Raises
    ------
    InvalidDataError
        If labels or ids are no lists of equal length, an id occurs twice, fewer than two samples
        are in both runs, or only one of `ids_a` and `ids_b` is given; if X has too few samples
        for S of two, Sa and Sb.
    InvalidParameterError
        If `n_repeats` or `overlap` is out of range, or ids are given with an estimator.

    Notes
    -----
    The protocol of section 6.4.1 of [1], where S is a random 80% of the samples, Sa and Sb two
    disjoint tenths, and mean and standard deviation of five runs are reported. An estimator that
    takes ``random_state`` should hold a fixed one, so that only the samples differ. Time
    O(n log n) for labels, and of ``2 * n_repeats`` fits for an estimator.

    References
    ----------
    .. [1] M. Ruffini. Methods of moments for learning latent variable models: algorithms and
       applications. PhD thesis, Universitat Politecnica de Catalunya, 2018.
    .. [2] L. Hubert, P. Arabie. Comparing partitions. Journal of Classification 2, 1985.

    Examples
    --------
    Samples 0 to 9 except the last for one run, except the first for the other:

    >>> import numpy as np
    >>> from momentree.metrics import stability_score
    >>> clusters = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2])
    >>> stability_score(clusters[:9], 2 - clusters[1:], ids_a=range(9), ids_b=range(1, 10))
    1.0

    Three groups of codes that no record mixes come back in every run:

    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat(np.eye(3), 20, axis=0)
    >>> stability_score(KMeans(3, n_init=1, random_state=0), X, n_repeats=2)
    array([1., 1.])
    """
    if hasattr(labels_a, "fit"):
        if ids_a is not None or ids_b is not None:
            msg = "ids_a and ids_b are given with an estimator; they go with the labels of two runs"
            raise InvalidParameterError(msg)
        return _scores(labels_a, labels_b, n_repeats, overlap, random_state, sample_weight)
    a, b = check_list("labels_a", labels_a), check_list("labels_b", labels_b)
    if (ids_a is None) != (ids_b is None):
        msg = "only one of ids_a and ids_b is given; give both, or none where samples are the same"
        raise InvalidDataError(msg)
    if ids_a is None or ids_b is None:
        if len(a) != len(b):
            msg = (
                f"labels_a has {len(a)} labels, labels_b {len(b)}; give ids_a and ids_b to say "
                f"which samples they are of"
            )
            raise InvalidDataError(msg)
    else:
        at_a, at_b = _common(_ids("ids_a", ids_a, len(a)), _ids("ids_b", ids_b, len(b)))
        a, b = a[at_a], b[at_b]
    if len(a) < 2:
        msg = f"{len(a)} samples are in both runs; two or more are needed to compare clusterings"
        raise InvalidDataError(msg)
    # Here and not above: it loads half of scikit-learn, which nothing else in this room needs.
    from sklearn.metrics import adjusted_rand_score

    # As whole numbers: scikit-learn refuses labels that are infinite or complex.
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
    check_positive("n_repeats", n_repeats)
    if not 0.0 < overlap < 1.0:
        msg = f"overlap={overlap!r}; expected a number between 0 and 1, such as 0.8"
        raise InvalidParameterError(msg)
    X = check_table(X)
    n = X.shape[0]
    w = None if sample_weight is None else check_sample_weight(sample_weight, n)
    n_both = int(overlap * n + 1e-9)  # 0.8 of 10 are 8, whatever the rounding
    n_one = (n - n_both) // 2
    if n_both < 2 or n_one < 1:
        msg = (
            f"{n} samples with overlap={overlap!r} give {n_both} for both runs and {n_one} for one "
            f"only; two and one are needed"
        )
        raise InvalidDataError(msg)
    from sklearn.metrics import adjusted_rand_score

    rng = generator(random_state)
    scores = np.empty(n_repeats)
    for repeat in range(n_repeats):
        order = rng.permutation(n)
        both, rest = np.sort(order[:n_both]), order[n_both : n_both + 2 * n_one]
        runs = []
        for only in (rest[:n_one], rest[n_one:]):
            rows = np.sort(np.concatenate([both, only]))
            given = {} if w is None else {"sample_weight": w[rows]}
            found = fitted_labels(clone(estimator).fit(X[rows], **given), X[rows])
            runs.append(found[np.searchsorted(rows, both)])
        scores[repeat] = adjusted_rand_score(*runs)
    return scores


def _ids(name: str, ids: ArrayLike, n: int) -> NDArray[Any]:
    array = check_list(name, ids)
    if len(array) != n or len(np.unique(array)) != n:
        msg = (
            f"{name} names {len(np.unique(array))} samples in {len(array)} entries for {n} "
            f"labels; each label needs a sample of its own"
        )
        raise InvalidDataError(msg)
    return array


def _common(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places in a and in b of what is in both."""
    _, at_a, at_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
    return at_a, at_b
