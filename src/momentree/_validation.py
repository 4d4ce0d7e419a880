"""Checks of user input that several rooms share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.exceptions import ComplexWarning
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from momentree._sparse import as_csr, check_numbers, check_structure
from momentree.exceptions import EmptyCorpusError, InvalidDataError, InvalidParameterError

__all__ = [
    "as_floats",
    "check_binary",
    "check_counts",
    "check_features",
    "check_map",
    "check_means",
    "check_missing",
    "check_ones",
    "check_parameters",
    "check_sample_weight",
    "check_something",
    "check_table",
    "check_values",
    "check_whole",
    "generator",
]

Floats = NDArray[np.float64]

MAX_COUNT = 1e30
"""Single precision, in which log-scaled counts are kept, ends at 3e38; this leaves room for sums."""
MIN_COUNT = 1e-30
"""Single precision begins at 1e-38; this leaves room for products."""

_CHECKS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": "numeric",
    "ensure_all_finite": False,  # checked with the sign, in one go and with the place
    "accept_large_sparse": True,
}


def check_counts(X: Any) -> Any:
    """Return X as a CSR array of finite, non-negative numbers, without a copy where possible.

    Raises
    ------
    InvalidDataError
        If X is not two-dimensional and numeric, is empty or damaged, or holds NaN, infinities,
        negative values, values above 1e30 or between 0 and 1e-30; the message names the first bad
        row and column.
    """
    return _finite_counts(check_table(X))


def check_features(
    estimator: Any, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
) -> tuple[Any, NDArray[Any]]:
    """Check the counts given to an estimator and find the names of their columns.

    Parameters
    ----------
    estimator : BaseEstimator
        ``n_features_in_`` and ``feature_names_in_`` are set on it when `reset`, else compared.
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Counts.
    feature_names : sequence of str or None
        Names that go before those of a data frame.
    reset : bool
        Whether this is ``fit``.

    Returns
    -------
    X : csr_array of shape (n_samples, n_features)
        Checked counts.
    names : ndarray of shape (n_features,)
        Names of the columns.

    Raises
    ------
    InvalidDataError
        As :func:`check_counts`; if columns are not those of ``fit``; if there are not as many
        names as columns.
    """
    X, names = _named(estimator, X, feature_names, reset=reset)
    return _finite_counts(X), names


def check_values(
    estimator: Any, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
) -> tuple[Any, Any | None, NDArray[Any]]:
    """Check samples of any numbers given to an estimator, and find the names of their columns.

    Parameters
    ----------
    estimator : BaseEstimator
        ``n_features_in_`` and ``feature_names_in_`` are set on it when `reset`, else compared.
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Numbers; NaN marks a missing value.
    feature_names : sequence of str or None
        Names that go before those of a data frame.
    reset : bool
        Whether this is ``fit``.

    Returns
    -------
    X : csr_array of shape (n_samples, n_features)
        The values, with nothing stored where one is missing.
    missing : csr_array of shape (n_samples, n_features) or None
        1 where a value is missing; None where all are there.
    names : ndarray of shape (n_features,)
        Names of the columns.

    Raises
    ------
    InvalidDataError
        As :func:`check_missing`; if columns are not those of ``fit``; if there are not as many
        names as columns.
    """
    X, names = _named(estimator, X, feature_names, reset=reset)
    return *_without_missing(X), names


def _named(
    estimator: Any, X: Any, feature_names: Sequence[str] | NDArray[Any] | None, *, reset: bool
) -> tuple[Any, NDArray[Any]]:
    _check_received(X)
    with _own_errors():
        X = _canonical(validate_data(estimator, X, reset=reset, **_CHECKS))
    d = X.shape[1]
    if feature_names is None:
        default = np.arange(d).astype(str)
        return X, np.asarray(getattr(estimator, "feature_names_in_", default), dtype=object)
    names = np.asarray(feature_names, dtype=object)
    if names.shape != (d,):
        msg = f"feature_names has shape {names.shape}, X has {d} columns: give one name a column"
        raise InvalidDataError(msg)
    return X, names


def check_table(X: Any) -> Any:
    """Return X as an array, or as a sparse one in rows, of numbers that may be NaN or infinite.

    Raises
    ------
    InvalidDataError
        If X is not two-dimensional and numeric, is empty, or is a damaged sparse matrix.
    """
    _check_received(X)
    with _own_errors():
        X = check_array(X, **_CHECKS)
    check_numbers(X)
    return X


def _check_received(X: Any) -> None:
    """Refuse what compiled code must not see, and columns of dates or categories by name."""
    check_structure(X)
    columns, dtypes = getattr(X, "columns", None), getattr(X, "dtypes", None)
    if columns is None or dtypes is None:
        return
    for name, dtype in zip(columns, dtypes, strict=True):
        if getattr(dtype, "kind", "") in ("M", "m") or str(dtype) == "category":
            msg = (
                f"column {name!r} of X holds {dtype}, which is no number: leave it out, or make "
                "numbers of it"
            )
            raise InvalidDataError(msg)


@contextmanager
def _own_errors() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise InvalidDataError(str(error)) from error


def check_missing(X: Any) -> tuple[Any, Any | None]:
    """Return X as a CSR array of finite numbers, and which of its cells are missing (NaN).

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Numbers; NaN, also where it is a stored value of a sparse matrix, marks a missing value.

    Returns
    -------
    X : csr_array of shape (n_samples, n_features)
        The values, with nothing stored where one is missing.
    missing : csr_array of shape (n_samples, n_features) or None
        1 where a value is missing; None where all are there.

    Raises
    ------
    InvalidDataError
        If X is not two-dimensional and numeric, is empty, or holds infinities; the message names
        the first bad row and column.
    """
    return _without_missing(_canonical(check_table(X)))


def _without_missing(X: Any) -> tuple[Any, Any | None]:
    with np.errstate(all="ignore"):
        # One sum tells that all is well, which is the rule.
        if np.isfinite(X.data.sum(dtype=np.float64)):
            return X, None
    gone = np.isnan(X.data)
    bad = ~np.isfinite(X.data) & ~gone
    if bad.any():
        at = int(np.argmax(bad))
        msg = f"row {_row(X, at)}, column {X.indices[at]} holds {X.data[at]}; a number is expected"
        raise InvalidDataError(msg)
    if not gone.any():
        return X, None
    missing = _stored(X, gone)
    missing.data = np.ones(missing.nnz)
    return _stored(X, ~gone), missing


def check_binary(X: Any) -> tuple[Any, Any | None]:
    """Return X as a CSR array of zeros and ones, and which of its cells are missing (NaN).

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        0 or 1, also False or True; NaN marks a missing value.

    Returns
    -------
    X : csr_array of shape (n_samples, n_features)
        The values, with nothing stored where one is missing.
    missing : csr_array of shape (n_samples, n_features) or None
        1 where a value is missing; None where all are there.

    Raises
    ------
    InvalidDataError
        If X is not two-dimensional and numeric, is empty, or holds another value than 0, 1 and
        NaN; the message names the first such row and column.
    """
    X, missing = check_missing(X)
    check_ones(X)
    return X, missing


def check_ones(X: Any) -> None:
    """Check that a CSR array of finite numbers holds zeros and ones.

    Raises
    ------
    InvalidDataError
        If it holds another value; the message names the first such row and column.
    """
    bad = (X.data != 0) & (X.data != 1)
    if bad.any():
        at = int(np.argmax(bad))
        sign = "Negative values in data: " if X.data[at] < 0 else ""  # as scikit-learn says it
        msg = (
            f"{sign}X is not binary: row {_row(X, at)}, column {X.indices[at]} holds {X.data[at]}; "
            "expected 0, 1 or NaN for a missing value. Make it so by a threshold, as in X > 0"
        )
        raise InvalidDataError(msg)


def _row(X: Any, at: int) -> int:
    """Return the row of a stored value."""
    return int(np.searchsorted(X.indptr, at, side="right")) - 1


def _stored(X: Any, keep: NDArray[np.bool_]) -> Any:
    """Return the rows with some of their stored values only."""
    ends = np.concatenate(([0], np.cumsum(keep)))[X.indptr]
    return sp.csr_array((X.data[keep], X.indices[keep], ends.astype(X.indptr.dtype)), X.shape)


def _canonical(X: Any) -> Any:
    """Return a CSR array that stores no cell twice."""
    X = as_csr(X)
    if not X.has_canonical_format:
        X = X.copy()  # the caller's matrix stays as it is
        X.sum_duplicates()
    return X


def _finite_counts(X: Any) -> Any:
    X = _canonical(X)
    lowest = X.data.min(initial=0)
    sound = lowest >= 0 and X.data.max(initial=0) <= MAX_COUNT
    if sound and X.dtype.kind == "f":
        sound = not ((X.data < MIN_COUNT) & (X.data != 0)).any()
    if not sound:
        bad = ~(((X.data >= MIN_COUNT) & (X.data <= MAX_COUNT)) | (X.data == 0))
        at = int(np.argmax(bad))
        row = _row(X, at)
        if X.data[at] < 0:
            kind, todo = "Negative values in data", "counts are zero or more"
        elif X.data[at] < MIN_COUNT:
            kind = "Values too small in data"
            todo = f"counts are zero, or {MIN_COUNT:g} or more: scale them, or set them to zero"
        elif np.isfinite(X.data[at]):
            kind, todo = "Values too large in data", f"counts are {MAX_COUNT:g} or less"
        else:
            kind, todo = "Input X contains NaN or infinity", "remove or fill missing values"
        msg = f"{kind}: row {row}, column {X.indices[at]} holds {X.data[at]}; {todo}"
        raise InvalidDataError(msg)
    return X


def as_floats(name: str, values: ArrayLike) -> Floats:
    """Return an argument of a function as an array of float64.

    Raises
    ------
    InvalidDataError
        If it is no array of real numbers; the message names the argument.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ComplexWarning)  # NumPy drops imaginary parts
            return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, ComplexWarning) as error:
        msg = f"{name} is no array of numbers ({error}); give real numbers"
        raise InvalidDataError(msg) from error


def check_sample_weight(sample_weight: ArrayLike | None, n_samples: int) -> Floats:
    """Return the weights as float64 of shape (n_samples,); ones when None.

    Raises
    ------
    InvalidDataError
        If weights are not numbers, their number is wrong, one is negative, not finite or above
        1e30, or none is 1e-30 or more.
    """
    if sample_weight is None:
        return np.ones(n_samples)
    w = as_floats("sample_weight", sample_weight)
    if w.ndim == 0:
        w = np.full(n_samples, float(w))
    if w.shape != (n_samples,):
        msg = f"sample_weight has shape {w.shape}, X needs ({n_samples},)"
        raise InvalidDataError(msg)
    if not np.isfinite(w).all() or (w < 0).any():
        msg = "sample_weight holds negative or non-finite values; weights are zero or more"
        raise InvalidDataError(msg)
    if w.max(initial=0) > MAX_COUNT:
        msg = f"sample_weight holds {w.max():g}; weights are {MAX_COUNT:g} or less"
        raise InvalidDataError(msg)
    if 0 < w.max(initial=0) < MIN_COUNT:
        msg = (
            f"no sample weight is above {w.max():g}; one must be {MIN_COUNT:g} or more: scale them"
        )
        raise InvalidDataError(msg)
    if not (w > 0).any():
        msg = "all sample weights are zero; at least one sample needs a positive weight"
        raise InvalidDataError(msg)
    return w


def check_something(X: Any, sample_weight: Floats, *, rows: str = "documents") -> None:
    """Check that there is something to learn from.

    Parameters
    ----------
    X : csr_array of shape (n_samples, n_features)
        Finite numbers.
    sample_weight : ndarray of shape (n_samples,)
        Weights >= 0.
    rows : str, default="documents"
        What the rows are called.

    Raises
    ------
    EmptyCorpusError
        If no row of positive weight holds a value other than zero.
    """
    if not X.data.any():
        msg = f"all {X.shape[0]} {rows} are empty: X holds nothing but zeros"
        raise EmptyCorpusError(msg)
    counts = sample_weight > 0
    if not counts.all() and not X.data[np.repeat(counts, np.diff(X.indptr))].any():
        msg = (
            f"all {np.count_nonzero(counts)} {rows} of positive sample weight are empty; give "
            "weight to one that holds a value other than zero"
        )
        raise EmptyCorpusError(msg)


def check_parameters(weights: ArrayLike, components: ArrayLike) -> tuple[Floats, Floats]:
    """Return mixing weights (k,) and topics (k, d) after checking that they are distributions.

    Raises
    ------
    InvalidDataError
        If shapes do not fit, or values are negative or do not sum to 1.
    """
    w, mu = as_floats("weights", weights), as_floats("components", components)
    if mu.ndim != 2 or w.shape != (mu.shape[0],):
        msg = f"weights {w.shape} and components {mu.shape} need shapes (k,) and (k, d)"
        raise InvalidDataError(msg)
    for name, values, sums in (("weights", w, w.sum()), ("components", mu, mu.sum(axis=1))):
        if not (values >= 0).all() or not np.allclose(sums, 1.0, atol=1e-8):
            msg = f"{name} must be zero or more and sum to 1 (sums received: {sums})"
            raise InvalidDataError(msg)
    return w, mu


def check_means(weights: ArrayLike, means: ArrayLike) -> tuple[Floats, Floats]:
    """Return mixing weights (k,) and means (k, d) after checking that the means are >= 0.

    Raises
    ------
    InvalidDataError
        If shapes do not fit, weights are no distribution, or means are negative or not finite.
    """
    w, mu = as_floats("weights", weights), as_floats("means", means)
    if mu.ndim != 2 or w.shape != (mu.shape[0],):
        msg = f"weights {w.shape} and means {mu.shape} need shapes (k,) and (k, d)"
        raise InvalidDataError(msg)
    if not (w >= 0).all() or not np.isclose(w.sum(), 1.0, atol=1e-8):
        msg = f"weights must be zero or more and sum to 1 (sum received: {w.sum()})"
        raise InvalidDataError(msg)
    if not ((mu >= 0) & np.isfinite(mu)).all():
        msg = "means must be finite numbers of zero or more"
        raise InvalidDataError(msg)
    return w, mu


def check_map(W: ArrayLike, d: int) -> Floats:
    """Return a whitening map as float64 of shape (k, d).

    Raises
    ------
    InvalidDataError
        If it is not a matrix of d columns.
    """
    W = as_floats("W", W)
    if W.ndim != 2 or W.shape[1] != d:
        msg = f"W has shape {W.shape}; expected (k, {d}), a column for each feature"
        raise InvalidDataError(msg)
    return W


def check_whole(name: str, value: object) -> None:
    """Check that a parameter is a whole number of zero or more.

    Raises
    ------
    InvalidParameterError
        If it is not.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
        msg = f"{name}={value!r}; expected a whole number, 0 or more"
        raise InvalidParameterError(msg)


def generator(random_state: int | np.random.RandomState | None) -> np.random.RandomState:
    """Return the random numbers to use; None means those of seed 0, so that answers repeat.

    Raises
    ------
    InvalidParameterError
        If `random_state` is no seed and no RandomState.
    """
    try:
        return cast(
            "np.random.RandomState", check_random_state(0 if random_state is None else random_state)
        )
    except ValueError as error:
        msg = f"random_state={random_state!r}; expected an int, a RandomState or None"
        raise InvalidParameterError(msg) from error
