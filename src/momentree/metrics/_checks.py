"""Checks of labels, probabilities and records, and sums over groups of rows."""

from collections.abc import Iterator
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from momentree._types import Floats, Ints
from momentree._validation import as_floats, check_integer, check_shape, check_table
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
        raise InvalidDataError("labels is empty; give one group for each record")
    if groups.dtype.kind not in "iub":
        raise InvalidDataError(
            "[labels_not_whole] labels have type {type}; expected whole numbers, one group for "
            "each record",
            type=str(groups.dtype),
        )
    check_integer("n_groups", n_groups, at_least=1, optional=True)
    low, high = int(groups.min()), int(groups.max())
    k = high + 1 if n_groups is None else int(n_groups)
    if low < 0 or high >= k:
        raise InvalidDataError(
            "[labels_out_of_range] labels range from {low} to {high}; expected 0 to {most}. Remove "
            "records without a group, or raise {parameters.n_groups}",
            low=low,
            high=high,
            most=max(k, 1) - 1,
        )
    return groups.astype(np.intp), k


def as_probabilities(proba: ArrayLike, shape: tuple[int | str, int | str] = ("n", "k")) -> Floats:
    """Return probabilities of groups, in rows that sum to 1."""
    P = as_floats("proba", proba)
    check_shape("proba", P, shape)
    if not (P >= 0).all() or not np.allclose(P.sum(axis=1), 1.0, atol=1e-6):
        raise InvalidDataError(
            "[rows_not_distributions] the rows of {parameters.proba} must be nonnegative and sum "
            "to 1; pass the result of predict_proba"
        )
    return P


def check_list(parameter: str, values: ArrayLike) -> NDArray[Any]:
    """Return sortable numbers or strings, one for each record, as an array."""
    array = np.asarray(values)
    check_shape(parameter, array, ("n",))
    try:
        np.sort(array)
    except TypeError as error:
        raise InvalidDataError(
            "[values_without_order] {parameter} mixes values that cannot be sorted ({error}); give "
            "only numbers, or only text",
            parameter=parameter,
            error=str(error),
        ) from error
    return array


ROUNDING = 1e-9
"""Differences below this fraction of a sum of weights are rounding errors, set to zero."""
_BLOCK_ROWS = 1 << 16
"""Number of rows of a table that are copied at once."""


def check_records(X: Any) -> Any:
    """Return X as an array or CSR array of 0, 1 and NaN."""
    X = check_table(X)
    for _, block in sparse_blocks(X):
        values = block.data
        bad = values[~((values == 0) | (values == 1) | np.isnan(values))]
        if bad.size:
            raise InvalidDataError(
                "[not_a_record_value] X contains {value}; expected 1 if a record has a code, 0 if "
                "not, NaN if unknown. If X contains counts, pass X > 0",
                value=bad.flat[0].item(),
            )
    return X


def group_sums(X: Any, groups: Ints, weights: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """Return the weights of groups (k,), of their ones (k, d), and of their known values (k, d)."""
    n, d = X.shape
    ends: Any = np.arange(n + 1)
    member: Any = sp.csr_array((weights, groups, ends), shape=(n, k))
    total = np.bincount(groups, weights=weights, minlength=k).astype(np.float64)
    counts, missing = np.zeros((2, k, d))
    for rows, block in sparse_blocks(X):
        part, unknown = member[rows].T, np.isnan(block.data)
        counts += _product(part, block, np.where(unknown, 0.0, block.data))
        if unknown.any():
            missing += _product(part, block, unknown.astype(np.float64))
    observed = total[:, None] - missing
    observed[observed <= ROUNDING * total[:, None]] = 0.0
    return total, np.minimum(counts, observed), observed


def _product(member: Any, block: Any, values: Floats) -> Floats:
    table = sp.csr_array((values, block.indices, block.indptr), shape=block.shape)
    return np.asarray((member @ table).toarray(), dtype=np.float64)


def sparse_blocks(X: Any) -> Iterator[tuple[slice, Any]]:
    """Yield the rows of a table in blocks, as CSR arrays, and where they are."""
    for start in range(0, X.shape[0], _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        yield rows, sp.csr_array(X[rows])
