"""The structure of a sparse matrix, checked once at the door: compiled code trusts it blindly."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError

__all__ = ["as_csr", "check_numbers", "check_structure"]


def check_structure(X: Any) -> None:
    """Refuse a sparse matrix whose index arrays do not describe a matrix of its shape.

    Compiled products and conversions read the memory that these arrays point to, wherever it is.
    SciPy's own check skips the indices where the last end is zero or less, and none of its
    operations run it.

    Parameters
    ----------
    X : object
        A sparse matrix or array of SciPy in any format; anything else passes.

    Raises
    ------
    InvalidDataError
        If the ends of the rows do not start at 0, descend, or do not end at the number of stored
        values; if an index lies outside the shape; if the arrays have different lengths; if the
        values are no numbers.

    Notes
    -----
    Time O(nnz), about a third of one product with a vector; no memory.
    """
    sparse: bool = sp.issparse(X)
    if not sparse:
        return
    if X.dtype.kind not in "biufc":
        msg = f"the sparse matrix holds values of type {X.dtype}; expected numbers"
        raise InvalidDataError(msg)
    if X.ndim != 2:
        msg = f"the sparse array has shape {X.shape}; expected two dimensions, samples and features"
        raise InvalidDataError(msg)
    if X.format in ("csr", "csc", "bsr"):
        n, d = X.shape
        if X.format == "bsr":
            n, d = n // X.blocksize[0], d // X.blocksize[1]
        major, minor = (d, n) if X.format == "csc" else (n, d)
        _check_compressed(X, major, minor)
    elif X.format == "coo":
        if any(len(at) != len(X.data) for at in X.coords):
            _refuse(f"has {len(X.data)} values at {len(X.coords[0])} places")
        for at, size in zip(X.coords, X.shape, strict=True):
            _check_range(at, size)
    elif X.format == "lil":
        for columns in X.rows:
            _check_range(np.asarray(columns or np.empty(0, np.intp)), X.shape[1])


def _check_compressed(X: Any, major: int, minor: int) -> None:
    ends, at = X.indptr, X.indices
    if any(array.dtype.kind not in "iu" or array.ndim != 1 for array in (ends, at)):
        _refuse(f"has ends of type {ends.dtype} and indices of type {at.dtype}")
    if len(ends) != major + 1:
        _refuse(f"has {len(ends)} ends for {major} rows")
    if ends[0] != 0 or (ends[1:] < ends[:-1]).any():
        _refuse("has ends of rows that do not ascend from 0")
    if not ends[-1] == len(at) == len(X.data):
        _refuse(f"ends at {ends[-1]}, with {len(at)} indices and {len(X.data)} values")
    _check_range(at, minor)


def _check_range(at: NDArray[Any], size: int) -> None:
    if at.dtype.kind not in "iu":
        _refuse(f"has indices of type {at.dtype}")
    if len(at) and not (at.min() >= 0 and at.max() < size):
        _refuse(f"has an index outside 0 to {size - 1}")


def _refuse(what: str) -> None:
    msg = (
        f"the sparse matrix {what}: its index arrays are damaged. Build it anew, for example with "
        "scipy.sparse.coo_array"
    )
    raise InvalidDataError(msg)


def check_numbers(X: Any) -> None:
    """Refuse a matrix of anything but real numbers, such as dates or bytes.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array}
        A matrix.

    Raises
    ------
    InvalidDataError
        With the type of its values.
    """
    if X.dtype.kind not in "biuf":
        msg = f"the matrix holds values of type {X.dtype}; expected real numbers"
        raise InvalidDataError(msg)


def as_csr(X: Any) -> Any:
    """Return a sparse or dense matrix as a CSR array that compiled code can work on.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array}
        Of numbers.

    Returns
    -------
    csr_array
        Without a copy where possible. Both index arrays have one type, and values are integers or
        floats of at most 8 bytes.

    Raises
    ------
    InvalidDataError
        As :func:`check_structure`, and if the values are no real numbers.
    """
    check_structure(X)
    X = X if sp.issparse(X) else np.asarray(X)
    check_numbers(X)
    if not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    if X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):
        with np.errstate(over="ignore"):  # an infinity is refused where values are checked
            X = X.astype(np.float64)  # compiled code knows neither half nor extended precision
    if not isinstance(X, sp.csr_array):
        X = sp.csr_array(X)
    if X.indptr.dtype != X.indices.dtype:
        index = sp.get_index_dtype(maxval=max(X.nnz, *X.shape))
        X = sp.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), X.shape)
    return X
