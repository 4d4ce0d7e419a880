"""Checks of user input that several rooms share."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from momentree.exceptions import InvalidDataError

__all__ = ["check_counts", "check_parameters", "check_sample_weight"]

Floats = NDArray[np.float64]


def check_counts(X: Any) -> Any:
    """Return X as a CSR array of finite, non-negative numbers, without a copy where possible.

    Raises
    ------
    InvalidDataError
        If X is not two-dimensional and numeric, is empty, or holds NaN, infinities or negative
        values; the message names the first bad row and column.
    """
    try:
        X = check_array(
            X,
            accept_sparse="csr",
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=1,
            ensure_min_features=1,
            accept_large_sparse=True,
        )
    except ValueError as error:
        raise InvalidDataError(str(error)) from error
    X = sp.csr_array(X)
    bad = X.data < 0
    if X.data.dtype.kind == "f":
        bad |= ~np.isfinite(X.data)
    if X.data.dtype.kind == "c" or bad.any():
        at = int(np.argmax(bad))
        row = int(np.searchsorted(X.indptr, at, side="right")) - 1
        value = X.data[at]
        if value < 0:
            kind, todo = "Negative values in data", "counts are zero or more"
        else:
            kind, todo = "Input X contains NaN or infinity", "remove or fill missing values"
        msg = f"{kind}: row {row}, column {X.indices[at]} holds {value}; {todo}"
        raise InvalidDataError(msg)
    return X


def check_sample_weight(sample_weight: ArrayLike | None, n_samples: int) -> Floats:
    """Return the weights as float64 of shape (n_samples,); ones when None.

    Raises
    ------
    InvalidDataError
        If the length is wrong, a weight is negative or not finite, or all weights are zero.
    """
    if sample_weight is None:
        return np.ones(n_samples)
    w = np.asarray(sample_weight, dtype=np.float64)
    if w.ndim == 0:
        w = np.full(n_samples, float(w))
    if w.shape != (n_samples,):
        msg = f"sample_weight has shape {w.shape}, X needs ({n_samples},)"
        raise InvalidDataError(msg)
    if not np.isfinite(w).all() or (w < 0).any():
        msg = "sample_weight holds negative or non-finite values; weights are zero or more"
        raise InvalidDataError(msg)
    if not (w > 0).any():
        msg = "all sample weights are zero; at least one sample needs a positive weight"
        raise InvalidDataError(msg)
    return w


def check_parameters(weights: ArrayLike, components: ArrayLike) -> tuple[Floats, Floats]:
    """Return mixing weights (k,) and topics (k, d) after checking that they are distributions.

    Raises
    ------
    InvalidDataError
        If shapes do not fit, or values are negative or do not sum to 1.
    """
    w = np.asarray(weights, dtype=np.float64)
    mu = np.asarray(components, dtype=np.float64)
    if mu.ndim != 2 or w.shape != (mu.shape[0],):
        msg = f"weights {w.shape} and components {mu.shape} need shapes (k,) and (k, d)"
        raise InvalidDataError(msg)
    for name, values, sums in (("weights", w, w.sum()), ("components", mu, mu.sum(axis=1))):
        if not (values >= 0).all() or not np.allclose(sums, 1.0, atol=1e-8):
            msg = f"{name} must be zero or more and sum to 1 (sums received: {sums})"
            raise InvalidDataError(msg)
    return w, mu
