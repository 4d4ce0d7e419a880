"""Accuracy of separated sources."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import as_floats, check_shape
from momentree.exceptions import InvalidDataError


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
    B, A = _matrix("components", components), _matrix("mixing", mixing)
    check_shape("mixing", A, (B.shape[1], B.shape[0]))
    P = np.abs(B @ A)
    k = len(P)
    if not (P.any(axis=0).all() and P.any(axis=1).all()):
        raise InvalidDataError("sources_not_matched")
    if k < 2:
        return 0.0
    rows = (P / P.max(axis=1, keepdims=True)).sum() - k
    columns = (P / P.max(axis=0)).sum() - k
    return float((rows + columns) / (2 * k * (k - 1)))


def _matrix(parameter: str, values: ArrayLike) -> Floats:
    found = as_floats(parameter, values)
    check_shape(parameter, found, ("k", "d") if parameter == "components" else ("d", "k"))
    if not np.isfinite(found).all():
        raise InvalidDataError("not_finite", parameter=parameter)
    return found
