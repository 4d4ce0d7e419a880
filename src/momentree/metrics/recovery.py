"""How well components are recovered, after they are matched with the true ones."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from momentree._validation import as_floats
from momentree.exceptions import InvalidDataError, InvalidParameterError

__all__ = ["Metric", "match_components", "recovery_error"]

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
    table = as_floats(name, values)
    if table.ndim != 2 or not np.isfinite(table).all():
        msg = f"{name} has shape {table.shape}; expected (k, d), components in rows, finite"
        raise InvalidDataError(msg)
    return table
