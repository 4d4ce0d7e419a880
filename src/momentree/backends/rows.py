"""Sums over the rows of a sparse matrix, as sums over row blocks.

Every statistic of momentree that touches data is a sum of one kernel over blocks of rows. The
cut into blocks and the order in which their results are added depend on the data alone, so the
answer is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import _sparsetools

from momentree._sparse import as_csr
from momentree.backends.threads import run
from momentree.exceptions import InvalidDataError, InvalidParameterError

__all__ = ["Block", "RowBlocks"]

Floats = NDArray[np.float64]

BLOCK_NNZ = 1 << 18
"""Stored values in a block: 3 MB as float64 with indices, so that a block stays in cache."""
MANY_ROWS = 4096
"""Rows that are worth a task of their own, where they are copied."""
N_CHAINS = 16
"""Blocks are summed in this many chains, whatever the number of threads: it bounds the number of
threads, and keeps the order of additions fixed."""


class Block:
    """A block of rows B in double precision, for products with B and with its transpose.

    Parameters
    ----------
    at : slice
        Which rows of the whole these are.
    data, indices, indptr : ndarray
        The rows in CSR form.
    d : int
        Number of columns.

    Attributes
    ----------
    at : slice
        Which rows of the whole these are.
    """

    __slots__ = ("_arrays", "_d", "at")

    def __init__(self, at: slice, data: Floats, indices: Any, indptr: Any, d: int) -> None:
        self.at, self._d = at, d
        self._arrays = (indptr, indices, data)

    def dot(self, V: Floats) -> Floats:
        """Return the product B V.

        Parameters
        ----------
        V : ndarray of shape (d,) or (d, m)
            Right factor.

        Returns
        -------
        ndarray of shape (n,) or (n, m)
            B V in double precision; n is the number of rows of the block.

        Raises
        ------
        InvalidDataError
            If V has another shape.
        """
        n = self.at.stop - self.at.start
        V = _factor(V, self._d)
        out = np.zeros((n, *V.shape[1:]))
        return _add_product("csr", n, self._d, self._arrays, V, out)

    def tdot(self, Z: Floats) -> Floats:
        """Return the product B^T Z.

        Parameters
        ----------
        Z : ndarray of shape (n,) or (n, m)
            Right factor, one row for each row of the block.

        Returns
        -------
        ndarray of shape (d,) or (d, m)
            B^T Z in double precision.

        Raises
        ------
        InvalidDataError
            If Z has another shape.
        """
        n = self.at.stop - self.at.start
        Z = _factor(Z, n)
        out = np.zeros((self._d, *Z.shape[1:]))
        # The rows of B are the columns of its transpose, so the same arrays serve as CSC.
        return _add_product("csc", self._d, n, self._arrays, Z, out)

    @property
    def csr(self) -> tuple[Floats, Any, Any]:
        """The stored values, their columns and the ends of the rows: data, indices, indptr."""
        indptr, indices, data = self._arrays
        return data, indices, indptr

    def with_data(self, data: Floats) -> Block:
        """Return a block with other values in the same places.

        Parameters
        ----------
        data : ndarray of shape (nnz,)
            Values in the order of ``csr``.

        Returns
        -------
        Block
            Shares all but the values.

        Raises
        ------
        InvalidDataError
            If there is not one value for each place.
        """
        indptr, indices, _ = self._arrays
        if data.shape != indices.shape:
            msg = f"{data.shape} values for {indices.shape} places: give one for each"
            raise InvalidDataError(msg)
        return Block(self.at, data, indices, indptr, self._d)


def _factor(V: Floats, size: int) -> Floats:
    """Return a right factor as compiled code reads it, which trusts its shape."""
    V = np.ascontiguousarray(V, dtype=np.float64)
    if V.ndim not in (1, 2) or V.shape[0] != size:
        msg = f"the right factor has shape {V.shape}; expected ({size},) or ({size}, m)"
        raise InvalidDataError(msg)
    return V


def _add_product(
    layout: str, n: int, d: int, arrays: tuple[Any, Any, Any], V: Floats, out: Floats
) -> Floats:
    # SciPy's compiled kernels, called as its own sparse arrays call them. Making such an array
    # for every block costs a third of the product, and copies what is a view of a longer array.
    if V.ndim == 1 or V.shape[1] == 1:
        getattr(_sparsetools, f"{layout}_matvec")(n, d, *arrays, V.ravel(), out.ravel())
    else:
        product = getattr(_sparsetools, f"{layout}_matvecs")
        product(n, d, V.shape[1], *arrays, V.ravel(), out.ravel())
    return out


BlockKernel = Callable[[Block], Floats]


class RowBlocks:
    """Rows of a sparse matrix that are read block by block in double precision.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_rows, n_columns)
        Any numeric type. CSR is used as it is, without a copy; each block is converted to
        float64 only while a kernel works on it.
    block_nnz : int, default=None
        Stored values in a block; None is 262,144, or four times the columns where that is more.
        Results agree for any value up to rounding.

    Attributes
    ----------
    shape : tuple of int
        (n_rows, n_columns).

    Raises
    ------
    InvalidDataError
        If the index arrays of X are damaged.
    InvalidParameterError
        If `block_nnz` is less than 1.

    Notes
    -----
    Memory beyond X: one block a thread, and a partial sum for each thread and the total.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.backends import RowBlocks
    >>> rows = RowBlocks(sp.csr_array(np.array([[1, 2], [0, 3]])))
    >>> rows.sum(lambda B: B.tdot(B.dot(np.ones(2))))
    array([ 3., 15.])
    """

    def __init__(self, X: Any, block_nnz: int | None = None) -> None:
        self._hold(as_csr(X), block_nnz)

    def _hold(self, X: Any, block_nnz: int | None) -> None:
        """Take rows whose structure is known to be sound."""
        if block_nnz is not None and block_nnz < 1:
            msg = f"block_nnz={block_nnz}; expected 1 or more"
            raise InvalidParameterError(msg)
        self._X = X
        self.shape: tuple[int, int] = (int(self._X.shape[0]), int(self._X.shape[1]))
        n, d = self.shape
        self._block_nnz = block_nnz
        # A partial sum has d rows, so blocks grow with d to keep adding them cheap.
        size = max(BLOCK_NNZ, 4 * d) if block_nnz is None else block_nnz
        indptr = self._X.indptr
        cuts = np.searchsorted(indptr, np.arange(size, int(indptr[-1]), size), side="left")
        self._cuts = np.unique(np.concatenate(([0], cuts, [n]))).astype(np.intp)

    @property
    def matrix(self) -> Any:
        """The rows as a CSR matrix or array, not copied."""
        return self._X

    @cached_property
    def row_sums(self) -> Floats:
        """Sum of each row, shape (n_rows,)."""
        ones = np.ones(self.shape[1])
        return self.map(lambda B: B.dot(ones))

    def take(self, rows: NDArray[np.intp]) -> RowBlocks:
        """Return some of the rows, copied so that they lie next to each other.

        Parameters
        ----------
        rows : ndarray of intp
            Numbers of the rows.

        Returns
        -------
        RowBlocks
            The rows in the order given.

        Raises
        ------
        InvalidDataError
            If there is no such row.
        """
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.shape[0]:
            msg = (
                f"rows {rows.min()} to {rows.max()} were asked for; expected numbers from 0 to "
                f"{self.shape[0] - 1}"
            )
            raise InvalidDataError(msg)
        part = object.__new__(RowBlocks)
        part._hold(self._rows(rows), self._block_nnz)
        if "row_sums" in self.__dict__:  # known already
            part.row_sums = self.row_sums[rows]
        return part

    def _rows(self, rows: NDArray[np.intp]) -> Any:
        """Return rows as a CSR array, copied on threads."""
        X = self._X
        lengths = np.diff(X.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, dtype=X.indptr.dtype)
        np.cumsum(lengths, out=indptr[1:])
        data, indices = np.empty(indptr[-1], X.data.dtype), np.empty(indptr[-1], X.indices.dtype)
        rows = rows.astype(X.indptr.dtype, copy=False)
        ends = np.linspace(0, len(rows), min(N_CHAINS, len(rows) // MANY_ROWS + 1) + 1).astype(int)

        def copy(i: int) -> None:
            a, b = ends[i], ends[i + 1]
            at = slice(indptr[a], indptr[b])
            _sparsetools.csr_row_index(
                b - a, rows[a:b], X.indptr, X.indices, X.data, indices[at], data[at]
            )

        for _ in run(copy, len(ends) - 1):
            pass
        part = sp.csr_array((data, indices, indptr), shape=(len(rows), self.shape[1]))
        part.has_canonical_format = X.has_canonical_format
        return part

    def sum(self, kernel: BlockKernel) -> Floats:
        """Return the sum of a kernel over all blocks.

        Parameters
        ----------
        kernel : callable
            Maps a :class:`Block` to an array; of the same shape for every block, and new each
            time, since later results are added into it.

        Returns
        -------
        ndarray
            ``sum(kernel(B) for B in blocks)``, added in an order that no number of threads
            changes.
        """
        chains = self._chains()

        def add_chain(i: int) -> Floats:
            first, *rest = chains[i]
            total = kernel(self._block(first))
            for at in rest:
                total += kernel(self._block(at))
            return total

        parts = run(add_chain, len(chains))
        total = next(parts)
        for part in parts:
            total += part
        return total

    def group_sums(
        self, labels: NDArray[np.intp], n_groups: int, weight: Floats
    ) -> Floats:
        """Return the weighted column sums of groups of rows.

        Parameters
        ----------
        labels : ndarray of int of shape (n,)
            Group of each row, from 0.
        n_groups : int
            Number of groups.
        weight : ndarray of shape (n,)
            Weight of each row.

        Returns
        -------
        ndarray of shape (p, n_groups)
            Sums in columns, one per group.
        """
        groups = np.arange(n_groups)

        def kernel(B: Block) -> Floats:
            return B.tdot((labels[B.at, None] == groups) * weight[B.at, None])

        return self.sum(kernel)

    def map(self, kernel: BlockKernel) -> Floats:
        """Return the results of a kernel for every row.

        Parameters
        ----------
        kernel : callable
            Maps a :class:`Block` to an array with one entry or row for each row of the block.

        Returns
        -------
        ndarray
            The results of all blocks, concatenated in the order of rows.
        """
        chains = self._chains()

        def map_chain(i: int) -> Floats:
            return np.concatenate([kernel(self._block(at)) for at in chains[i]])

        return np.concatenate(list(run(map_chain, len(chains))))

    def _block(self, at: slice) -> Block:
        X = self._X
        start, stop = X.indptr[at.start], X.indptr[at.stop]
        data = X.data[start:stop].astype(np.float64, copy=False)
        indptr = X.indptr[at.start : at.stop + 1] - start
        return Block(at, data, X.indices[start:stop], indptr, self.shape[1])

    def _chains(self) -> list[list[slice]]:
        blocks = [slice(int(a), int(b)) for a, b in pairwise(self._cuts)]
        blocks = blocks or [slice(0, 0)]
        ends = np.linspace(0, len(blocks), min(N_CHAINS, len(blocks)) + 1).astype(int)
        return [blocks[a:b] for a, b in pairwise(ends)]
