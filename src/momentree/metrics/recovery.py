"""Recovery of true components after optimal matching, and accuracy of separated sources."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from momentree._types import Floats, Ints
from momentree._validation import as_floats, check_choice, check_shape
from momentree.exceptions import InvalidDataError
from momentree.messages import wording

Metric = Literal["l1", "l2"]

_DISTANCES: dict[str, Literal["cityblock", "euclidean"]] = {"l1": "cityblock", "l2": "euclidean"}


def match_components(found: ArrayLike, truth: ArrayLike, metric: Metric = "l1") -> Ints:
    """Match components with the true ones by minimizing the sum of distances.

        order = argmin over permutations p of  sum_j ||found[p(j)] - truth[j]||

    Parameters
    ----------
    found, truth : array-like of shapes (n_found, n_features) and (n_components, n_features)
        Components in rows, in any order, and at least one true component.
    metric : {"l1", "l2"}, default="l1"
        Sum of absolute differences, or Euclidean distance.

    Returns
    -------
    ndarray of intp of shape (n_components,)
        The row of `found` that is matched with each row of `truth`, so that ``found[order]`` is in
        the order of `truth`. If there are too few rows, -1 stands for no match, and the sum also
        counts the norms of the unmatched true components; extra rows are ignored.

    Raises
    ------
    InvalidDataError
        If `found` and `truth` are not tables of finite numbers with the same number of columns, or
        `truth` has no rows.
    InvalidParameterError
        If `metric` is neither "l1" nor "l2".

    Notes
    -----
    Exact solution of the assignment problem [1]. Time O(k^2 d + k^3) for k components.

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
    """Return the mean distance between found and true components, after matching.

        min over permutations p of  (1 / k) sum_j ||found[p(j)] - truth[j]||

    Parameters
    ----------
    found, truth : array-like of shapes (n_found, n_features) and (n_components, n_features)
        Components in rows, in any order, and at least one true component.
    metric : {"l1", "l2"}, default="l1"
        Sum of absolute differences, or Euclidean distance.

    Returns
    -------
    float
        In the units of the components; 0 = perfect. With "l1" it is at most 2 for topics (rows >= 0
        with sum 1). An unmatched true component contributes its norm; extra rows of `found`
        are ignored.

    See Also
    --------
    match_components : The matching itself, with the same errors and cost.

    Examples
    --------
    >>> from momentree.metrics import recovery_error
    >>> round(recovery_error([[0.1, 0.9], [0.8, 0.2]], [[1.0, 0.0], [0.0, 1.0]]), 6)
    0.3
    """
    return float(_match(found, truth, metric)[1].mean())


def _match(found: ArrayLike, truth: ArrayLike, metric: Metric) -> tuple[Ints, Floats]:
    """Return the row of `found` for each row of `truth`, or -1, and their distances."""
    check_choice("metric", metric, get_args(Metric))
    A = _finite_matrix("found", found, ("n_components", "n_features"))
    B = _finite_matrix("truth", truth, ("n_components", A.shape[1]))
    if not len(B):
        raise InvalidDataError(
            "[no_true_components] truth has no rows; give at least one true component"
        )
    # The distance between a true component and a row of zeros is its norm.
    missing = np.zeros((max(0, len(B) - len(A)), B.shape[1]))
    distances = cdist(np.vstack([A, missing]), B, _DISTANCES[metric])
    rows, columns = linear_sum_assignment(distances)
    order = np.empty(len(B), dtype=np.intp)
    order[columns] = rows
    return np.where(order < len(A), order, -1), distances[order, np.arange(len(B))]


def _finite_matrix(parameter: str, values: ArrayLike, shape: tuple[int | str, ...]) -> Floats:
    matrix = as_floats(parameter, values)
    check_shape(parameter, matrix, shape)
    if not np.isfinite(matrix).all():
        raise InvalidDataError(wording.NOT_FINITE, parameter=parameter)
    return matrix


def amari_distance(components: ArrayLike, mixing: ArrayLike) -> float:
    r"""Return the Amari distance of an unmixing matrix from the inverse of a mixing matrix.

    With :math:`P = |B A|`, a permuted diagonal matrix if the sources are separated, it is

    .. math:: \frac{1}{2 k (k - 1)} \left[ \sum_i \left( \frac{\sum_j P_{ij}}{\max_j P_{ij}} - 1
              \right) + \sum_j \left( \frac{\sum_i P_{ij}}{\max_i P_{ij}} - 1 \right) \right].

    Parameters
    ----------
    components : array-like of shape (k, d)
        Unmixing matrix B, such as ``components_`` of :class:`momentree.IndependentComponents` or of
        scikit-learn's FastICA.
    mixing : array-like of shape (d, k)
        True mixing matrix A.

    Returns
    -------
    float
        From 0 (perfect) to 1; the order, signs and scales of sources do not matter. 0 for one
        source.

    Raises
    ------
    InvalidDataError
        If shapes do not match, values are not finite, or B A has a row or column of zeros.

    References
    ----------
    .. [1] S. Amari, A. Cichocki, H. H. Yang. A new learning algorithm for blind signal separation.
       Advances in Neural Information Processing Systems 8, 1996.

    Examples
    --------
    >>> from momentree.metrics import amari_distance
    >>> amari_distance([[0, 2], [-1, 0]], [[1, 0], [0, 1]])
    0.0
    >>> amari_distance([[1, 1], [1, -1]], [[1, 0], [0, 1]])
    1.0
    """
    B = _finite_matrix("components", components, ("k", "d"))
    A = _finite_matrix("mixing", mixing, B.shape[::-1])
    P = np.abs(B @ A)
    k = len(P)
    if not (P.any(axis=0).all() and P.any(axis=1).all()):
        raise InvalidDataError(
            "[sources_not_matched] components times mixing contains a row or column of zeros; each "
            "source must have a component"
        )
    if k < 2:
        return 0.0
    rows = (P / P.max(axis=1, keepdims=True)).sum() - k
    columns = (P / P.max(axis=0)).sum() - k
    return float((rows + columns) / (2 * k * (k - 1)))
