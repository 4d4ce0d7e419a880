"""How well components are recovered after matching, and how stable a clustering is."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from momentree.exceptions import InvalidDataError, InvalidParameterError

__all__ = ["Metric", "match_components", "recovery_error", "stability_score"]

Floats = NDArray[np.float64]
Metric = Literal["l1", "l2"]

_DISTANCES: dict[str, Literal["cityblock", "euclidean"]] = {"l1": "cityblock", "l2": "euclidean"}


def match_components(found: ArrayLike, truth: ArrayLike, metric: Metric = "l1") -> NDArray[np.intp]:
    """Match components with true ones, so that the sum of their distances is least.

        order = argmin over permutations p of  sum_j ||found[p(j)] - truth[j]||

    Parameters
    ----------
    found : array-like of shape (n_found, n_features)
        Components in rows, in any order.
    truth : array-like of shape (n_components, n_features)
        True components in rows, one or more.
    metric : {"l1", "l2"}, default="l1"
        Sum of absolute differences, or Euclidean distance.

    Returns
    -------
    ndarray of intp of shape (n_components,)
        The row of `found` that is matched with each row of `truth`: ``found[order]`` stands in
        the order of the truth. Where fewer were found than there are, -1 stands for none and the
        choice also counts the norms of the true components left over; where more were found,
        the surplus is left out.

    Raises
    ------
    InvalidDataError
        If `found` and `truth` are not tables of finite numbers with as many columns, or `truth`
        has no row.
    InvalidParameterError
        If `metric` is neither.

    Notes
    -----
    The assignment problem, solved exactly [1]. Time O(k^2 d + k^3) for k components.

    References
    ----------
    .. [1] D. F. Crouse. On implementing 2D rectangular assignment algorithms. IEEE Transactions
       on Aerospace and Electronic Systems 52, 2016.

    Examples
    --------
    >>> from momentree.metrics import match_components
    >>> match_components([[0.1, 0.9], [0.8, 0.2]], [[1.0, 0.0], [0.0, 1.0]])
    array([1, 0])
    >>> match_components([[0.1, 0.9]], [[1.0, 0.0], [0.0, 1.0]])
    array([-1,  0])
    """
    return _match(found, truth, metric)[0]


def recovery_error(found: ArrayLike, truth: ArrayLike, metric: Metric = "l1") -> float:
    """Return the mean distance of true components to the components found, after matching.

        min over permutations p of  (1 / k) sum_j ||found[p(j)] - truth[j]||

    Parameters
    ----------
    found : array-like of shape (n_found, n_features)
        Components in rows, in any order.
    truth : array-like of shape (n_components, n_features)
        True components in rows, one or more.
    metric : {"l1", "l2"}, default="l1"
        Sum of absolute differences, or Euclidean distance.

    Returns
    -------
    float
        In the units of the components; 0 is perfect. With "l1", topics (rows >= 0 of sum 1) are
        between 0 and 2. A true component without a match counts its whole norm, as if zeros had
        been found; components found beyond the number of true ones do not count.

    Raises
    ------
    InvalidDataError
        If `found` and `truth` are not tables of finite numbers with as many columns, or `truth`
        has no row.
    InvalidParameterError
        If `metric` is neither.

    See Also
    --------
    match_components : The matching itself.

    Notes
    -----
    Time O(k^2 d + k^3) for k components.

    Examples
    --------
    >>> from momentree.metrics import recovery_error
    >>> round(recovery_error([[0.1, 0.9], [0.8, 0.2]], [[1.0, 0.0], [0.0, 1.0]]), 6)
    0.3
    """
    return float(_match(found, truth, metric)[1].mean())


def stability_score(
    labels_a: ArrayLike,
    labels_b: ArrayLike,
    *,
    ids_a: ArrayLike | None = None,
    ids_b: ArrayLike | None = None,
) -> float:
    """Return how well two clusterings agree on the samples that both have seen.

    A clustering C1 of S + Sa and a clustering C2 of S + Sb, with Sa and Sb different samples,
    induce two partitions of S; the score is the adjusted Rand index of the two.

    Parameters
    ----------
    labels_a : array-like of shape (n_a,)
        Clusters of the first run.
    labels_b : array-like of shape (n_b,)
        Clusters of the second run.
    ids_a : array-like of shape (n_a,) or None, default=None
        Which sample each label of the first run is of: row numbers or other names, each once.
        None for both where the labels are those of S already, in one order.
    ids_b : array-like of shape (n_b,) or None, default=None
        The same for the second run.

    Returns
    -------
    float
        At most 1, which says that the partitions are the same; about 0 for unrelated ones.

    Raises
    ------
    InvalidDataError
        If labels or ids are no lists of equal length, an id occurs twice, fewer than two samples
        are in both runs, or only one of `ids_a` and `ids_b` is given.

    Notes
    -----
    The protocol of section 6.4.1 of [1], where S is a random 80% of the samples, Sa and Sb two
    disjoint tenths, and mean and standard deviation of five runs are reported. Time O(n log n).

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
    """
    a, b = _list("labels_a", labels_a), _list("labels_b", labels_b)
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

    return float(adjusted_rand_score(a, b))


def _match(found: ArrayLike, truth: ArrayLike, metric: Metric) -> tuple[NDArray[np.intp], Floats]:
    """Return the row of `found` for each row of `truth`, or -1, and their distances."""
    if metric not in get_args(Metric):
        msg = f"metric={metric!r} is unknown; choose one of {get_args(Metric)}"
        raise InvalidParameterError(msg)
    A, B = _table("found", found), _table("truth", truth)
    if A.shape[1] != B.shape[1] or not len(B):
        msg = (
            f"found {A.shape} and truth {B.shape} need shapes (n_found, d) and (k, d), k >= 1: "
            f"components are rows"
        )
        raise InvalidDataError(msg)
    # Zeros for what was not found: a true component matched with them counts its norm.
    missing = np.zeros((max(0, len(B) - len(A)), B.shape[1]))
    distances = cdist(np.vstack([A, missing]), B, _DISTANCES[metric])
    rows, columns = linear_sum_assignment(distances)
    order = np.empty(len(B), dtype=np.intp)
    order[columns] = rows
    return np.where(order < len(A), order, -1), distances[order, np.arange(len(B))]


def _table(name: str, values: ArrayLike) -> Floats:
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"{name} is not a table of numbers: {error}"
        raise InvalidDataError(msg) from error
    if table.ndim != 2 or not np.isfinite(table).all():
        msg = f"{name} has shape {table.shape}; expected (k, d), components in rows, finite"
        raise InvalidDataError(msg)
    return table


def _list(name: str, values: ArrayLike) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        msg = f"{name} has shape {array.shape}; expected one entry a sample"
        raise InvalidDataError(msg)
    return array


def _ids(name: str, ids: ArrayLike, n: int) -> NDArray[Any]:
    array = _list(name, ids)
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
