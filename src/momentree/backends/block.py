"""Products with a block of rows and with its transpose, by SciPy's compiled kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from momentree._types import Floats
from momentree._validation import check_shape


class Block:
    """A block of rows B in double precision, for products with B and with its transpose.

    Parameters
    ----------
    at : slice
        Positions of these rows in the whole matrix.
    data, indices, indptr : ndarray
        The rows in CSR form.
    d : int
        Number of columns.
    dense : ndarray of shape (n, d), default=None
        The same rows with all zeros, for which BLAS computes the products.
    """

    __slots__ = ("_arrays", "_d", "_dense", "at")

    def __init__(
        self,
        at: slice,
        data: Floats,
        indices: Any,
        indptr: Any,
        d: int,
        dense: Floats | None = None,
    ) -> None:
        self.at, self._d, self._dense = at, d, dense
        self._arrays = (indptr, indices, data)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d): rows of this block, columns."""
        return int(self.at.stop - self.at.start), self._d

    def dot(self, V: Floats) -> Floats:
        """Return the product B V.

        Parameters
        ----------
        V : ndarray of shape (d,) or (d, m)
            Right factor.

        Returns
        -------
        ndarray of shape (n,) or (n, m)
            B V in double precision, for n rows.
        """
        n = self.at.stop - self.at.start
        V = _factor(V, self._d)
        if self._dense is not None:
            return np.asarray(self._dense @ V)
        out = np.zeros((n, *V.shape[1:]))
        return _add_product("csr", n, self._d, self._arrays, V, out)

    def tdot(self, Z: Floats) -> Floats:
        """Return the product B^T Z.

        Parameters
        ----------
        Z : ndarray of shape (n,) or (n, m)
            Right factor, one row per row of the block.

        Returns
        -------
        ndarray of shape (d,) or (d, m)
            B^T Z in double precision.
        """
        n = self.at.stop - self.at.start
        Z = _factor(Z, n)
        if self._dense is not None:
            return np.asarray(self._dense.T @ Z)
        out = np.zeros((self._d, *Z.shape[1:]))
        # The rows of B are the columns of its transpose, so the same arrays serve as CSC.
        return _add_product("csc", self._d, n, self._arrays, Z, out)

    @property
    def csr(self) -> tuple[Floats, Any, Any]:
        """The CSR arrays: data, indices, indptr."""
        indptr, indices, data = self._arrays
        return data, indices, indptr

    def with_data(self, data: Floats) -> Block:
        """Return a block with other values and the same sparsity pattern.

        Parameters
        ----------
        data : ndarray of shape (nnz,)
            Values in the order of ``csr``.

        Returns
        -------
        Block
            The new block, which shares its index arrays with this one.
        """
        indptr, indices, _ = self._arrays
        check_shape("data", data, indices.shape)
        dense = self._dense
        if dense is not None:
            dense = data.reshape(dense.shape) if data.size == dense.size else None
        return Block(self.at, data, indices, indptr, self._d, dense)


def _factor(V: Floats, size: int) -> Floats:
    """Return a right factor in the layout of the compiled kernels, which do not check its shape."""
    V = np.ascontiguousarray(V, dtype=np.float64)
    if V.ndim not in (1, 2) or len(V) != size:
        check_shape("the right factor", V, (size, "m"))
    return V


def _add_product(
    layout: str, n: int, d: int, arrays: tuple[Any, Any, Any], V: Floats, out: Floats
) -> Floats:
    # A SciPy array for each block would take a third of the time and copy the views.
    if V.ndim == 1 or V.shape[1] == 1:
        getattr(_sparsetools, f"{layout}_matvec")(n, d, *arrays, V.ravel(), out.ravel())
    else:
        product = getattr(_sparsetools, f"{layout}_matvecs")
        product(n, d, V.shape[1], *arrays, V.ravel(), out.ravel())
    return out
