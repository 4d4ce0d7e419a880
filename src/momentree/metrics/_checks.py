"""Checks of labels and estimators that several measures share."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._types import Floats, Ints
from momentree._validation import as_floats, check_integer, check_shape
from momentree.exceptions import InvalidDataError


class Clusterer(Protocol):
    """An estimator that assigns each sample to a cluster."""

    def fit(self, X: Any) -> Self:
        """Fit to the rows of X; ``labels_`` or ``predict`` gives the clusters."""
        ...


def fitted_labels(fitted: Any, X: Any) -> NDArray[Any]:
    """Return the cluster of each sample that an estimator was fitted to."""
    return np.asarray(fitted.labels_ if hasattr(fitted, "labels_") else fitted.predict(X))


def check_labels(labels: ArrayLike, n: int | None, n_groups: int | None) -> tuple[Ints, int]:
    """Return the group of each record, 0 to k - 1, and k (default: largest label + 1)."""
    groups = np.asarray(labels)
    check_shape("labels", groups, ("n" if n is None else n,))
    if not groups.size:
        raise InvalidDataError("no_labels")
    if groups.dtype.kind not in "iub":
        raise InvalidDataError("labels_not_whole", type=str(groups.dtype))
    check_integer("n_groups", n_groups, at_least=1, optional=True)
    low, high = int(groups.min()), int(groups.max())
    k = high + 1 if n_groups is None else int(n_groups)
    if low < 0 or high >= k:
        raise InvalidDataError("labels_out_of_range", low=low, high=high, most=max(k, 1) - 1)
    return groups.astype(np.intp), k


def as_probabilities(proba: ArrayLike, shape: tuple[int | str, int | str] = ("n", "k")) -> Floats:
    """Return probabilities of groups, in rows that sum to 1."""
    P = as_floats("proba", proba)
    check_shape("proba", P, shape)
    if not (P >= 0).all() or not np.allclose(P.sum(axis=1), 1.0, atol=1e-6):
        raise InvalidDataError("rows_not_distributions", parameter="proba")
    return P


def check_list(parameter: str, values: ArrayLike) -> NDArray[Any]:
    """Return sortable numbers or strings, one for each record, as an array."""
    array = np.asarray(values)
    check_shape(parameter, array, ("n",))
    try:
        np.sort(array)
    except TypeError as error:
        raise InvalidDataError(
            "values_without_order", parameter=parameter, error=str(error)
        ) from error
    return array
