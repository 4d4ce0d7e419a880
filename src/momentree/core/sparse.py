"""Check the structure of a sparse matrix once on input, because compiled code does not."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import _sparsetools

from momentree.core.pages import in_parts, mapped, release
from momentree.exceptions import InvalidDataError
from momentree.messages import Message

_SPARSE_LENGTHS = (
    "[sparse_lengths] the values, indices and row pointers have lengths that do not match"
)
_SPARSE_POINTERS = "[sparse_pointers] the row pointers do not start at 0, or they decrease"
_VALUES_NOT_NUMERIC = (
    "[values_not_numeric] the matrix contains values of type {type}; expected real numbers"
)


_VALUES = 1 << 20
"""Stored values of a mapped matrix that are read at a time."""


class NamedColumns(sp.csr_array):
    """A CSR array that brings the names of its columns along; what is computed from it has none.

    In a scikit-learn pipeline, the names travel in it from a vectorizer to a model.
    """

    feature_names: tuple[str, ...] | None = None
    is_frame: bool = False  # whether estimators keep the names as those of a data frame

    @classmethod
    def of(cls, X: Any, names: tuple[str, ...]) -> Self:
        """Return the same array with names."""
        out = cls(X)
        out.feature_names = names
        return out


class Checked(sp.csr_array):
    """A CSR array whose structure is sound, without repeated cells and without stored zeros.

    What is computed from it is not known to be so: its `ends` are None.
    """

    ends: tuple[Any, Any] | None = None  # the smallest and the largest stored value

    @classmethod
    def of(cls, X: Any, ends: tuple[Any, Any]) -> Self:
        """Return a sound array as one that need not be checked again."""
        out = cls(X)
        out.has_canonical_format, out.ends = True, ends
        return out


def extent(values: NDArray[Any]) -> tuple[Any, Any]:
    """Return the smallest and largest number: zeros for an empty array, NaN if it contains NaN."""
    low = high = values.dtype.type(0)
    for i, part in enumerate(in_parts(values, always=True)):
        a, b = part.min(), part.max()
        low, high = (a, b) if not i else (np.minimum(low, a), np.maximum(high, b))
    return low, high


def is_canonical(X: Any) -> bool:
    """Whether the columns of each row of a CSR array ascend; a mapped one is read in parts."""
    if mapped(X.indices) is None:
        return bool(X.has_canonical_format)
    n = X.shape[0]
    step = max(1, n * _VALUES // max(X.nnz, 1))
    for a in range(0, n, step):
        ends = X.indptr[a : a + step + 1]
        sound = _sparsetools.csr_has_canonical_format(len(ends) - 1, ends, X.indices)
        release(X.indices[ends[0] : ends[-1]])
        release(ends)
        if not sound:
            return False
    return True


def check_structure(X: Any) -> None:
    """Reject a sparse matrix whose index arrays do not describe a matrix of its shape.

    Any other object passes. SciPy's own check skips the indices if the last row pointer is zero or
    less, and SciPy's operations do not run that check. Lists, diagonals and dictionaries are made
    by SciPy only.
    """
    sparse: bool = sp.issparse(X)
    if not sparse:
        return
    if X.dtype.kind not in "biufc":
        raise InvalidDataError(_VALUES_NOT_NUMERIC, type=str(X.dtype))
    if X.ndim != 2:
        raise InvalidDataError(
            "[sparse_not_a_matrix] the sparse array has shape {shape}; expected two dimensions, "
            "with samples in rows",
            shape=str(X.shape),
        )
    if X.format in ("csr", "csc", "bsr"):
        _check_compressed(X)
    elif X.format == "coo":
        for at, size in zip(X.coords, X.shape, strict=True):
            _check_range(at, size)


def _check_compressed(X: Any) -> None:
    n, d = X.shape
    if X.format == "bsr":
        n, d = n // X.blocksize[0], d // X.blocksize[1]
    major, minor = (d, n) if X.format == "csc" else (n, d)
    pointers, at = X.indptr, X.indices
    sound = all(array.dtype.kind in "iu" and array.ndim == 1 for array in (pointers, at))
    _require(
        sound,
        "[sparse_types] the values, indices or row pointers have the wrong type or dimensions",
    )
    _require(len(pointers) == major + 1, _SPARSE_LENGTHS)
    last = 0
    for part in in_parts(pointers):
        _require(part[0] >= last and not (part[1:] < part[:-1]).any(), _SPARSE_POINTERS)
        last = part[-1]
    _require(pointers[0] == 0, _SPARSE_POINTERS)
    _require(pointers[-1] == len(at) == len(X.data), _SPARSE_LENGTHS)
    _check_range(at, minor)


def _check_range(at: NDArray[Any], size: int) -> None:
    if len(at):
        low, high = extent(at)
        _require(
            low >= 0 and high < size,
            "[sparse_indices] an index is outside {low} to {high}",
            low=0,
            high=size - 1,
        )


def _require(sound: bool, code: str, **values: int) -> None:
    if not sound:
        raise InvalidDataError(
            "[sparse_damaged] the index arrays of the sparse matrix are damaged: {fault}. Rebuild "
            "it, for example with scipy.sparse.coo_array",
            fault=Message(code, **values),
        )


def check_numbers(X: Any) -> None:
    """Reject a matrix whose values are not real numbers, such as dates or bytes."""
    if X.dtype.kind not in "biuf":
        raise InvalidDataError(_VALUES_NOT_NUMERIC, type=str(X.dtype))


def as_csr(X: Any) -> Any:
    """Return a sparse or dense matrix as a CSR array that compiled code can use.

    The data are not copied if possible. Both index arrays have the same type, and values are
    integers or floats of at most 8 bytes.
    """
    if isinstance(X, Checked) and X.ends is not None:
        return X
    check_structure(X)
    X = X if sp.issparse(X) else np.asarray(X)
    check_numbers(X)
    if not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    if X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):
        with np.errstate(over="ignore"):  # infinite values are rejected later
            X = X.astype(np.float64)  # no kernels for half or extended precision
    if getattr(X, "format", None) in ("csr", "csc", "bsr") and (
        X.indptr.dtype != X.indices.dtype or X.indices.dtype not in (np.int32, np.int64)
    ):
        index = sp.get_index_dtype(maxval=max(X.nnz, *X.shape))
        columns, pointers = (at.astype(index, copy=False) for at in (X.indices, X.indptr))
        X = getattr(sp, f"{X.format}_array")((X.data, columns, pointers), X.shape)
    return X if isinstance(X, sp.csr_array) else sp.csr_array(X)
