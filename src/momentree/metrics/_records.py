"""Records, tables of 0, 1 and missing values, and their sums over groups of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree._validation import check_table
from momentree.exceptions import InvalidDataError

ROUNDING = 1e-9
"""Differences below this fraction of a sum of weights are rounding errors, set to zero."""
_BLOCK_ROWS = 1 << 16
"""Number of rows of a dense table that are copied at once."""


def check_records(X: Any) -> Any:
    """Return X as an array or CSR array of 0, 1 and NaN."""
    X = check_table(X)
    for values in _parts(X):
        bad = values[~((values == 0) | (values == 1) | np.isnan(values))]
        if bad.size:
            raise InvalidDataError("not_a_record_value", value=bad.flat[0].item())
    return X


def group_sums(X: Any, groups: Ints, weights: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """Return the weights of groups (k,), of their ones (k, d), and of their known values (k, d)."""
    n, d = X.shape
    ends: Any = np.arange(n + 1)
    member: Any = sp.csr_array((weights, groups, ends), shape=(n, k))
    total = np.bincount(groups, weights=weights, minlength=k).astype(np.float64)
    if sp.issparse(X):
        counts, missing = _sparse_sums(X, member)
    else:
        counts, missing = np.zeros((k, d)), np.zeros((k, d))
        start = 0
        for block in _parts(X):
            unknown = np.isnan(block)
            part = member[start : start + len(block)].T
            counts += part @ np.where(unknown, 0.0, block)
            missing += part @ unknown
            start += len(block)
    observed = total[:, None] - missing
    observed[observed <= ROUNDING * total[:, None]] = 0.0
    return total, np.minimum(counts, observed), observed


def _parts(X: Any) -> Iterator[Any]:
    if not isinstance(X, np.ndarray):
        yield X.data
        return
    for start in range(0, len(X), _BLOCK_ROWS):
        yield X[start : start + _BLOCK_ROWS]


def _sparse_sums(X: Any, member: Any) -> tuple[Floats, Floats]:
    shape, indices, indptr = X.shape, X.indices, X.indptr

    def summed(values: Any) -> Floats:
        table = sp.csr_array((values, indices, indptr), shape=shape)
        return np.asarray((member.T @ table).toarray(), dtype=np.float64)

    data: Any = X.data
    unknown = np.isnan(data)
    if not unknown.any():
        return summed(data), np.zeros((member.shape[1], shape[1]))
    return summed(np.where(unknown, 0.0, data)), summed(unknown.astype(np.float64))
