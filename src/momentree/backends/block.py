"""Products with a block of rows and with its transpose: the questions that kernels ask."""

from __future__ import annotations

from typing import Any

import numpy as np

import momentree.backends.reference as scipy_products
from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.backends.csr import Csr
from momentree.backends.members import Members
from momentree.exceptions import InvalidDataError

SPARE = 4
"""Arrays that are kept for new results, at most."""


class Scratch:
    """Memory for new results, which the blocks of one pass share."""

    def __init__(self) -> None:
        self._spare: list[Floats] = []

    def keep(self, array: Floats) -> None:
        """Keep an array that is no longer needed: new memory is slow."""
        fit = array.dtype == np.float64 and array.flags.c_contiguous
        if fit and len(self._spare) < SPARE:
            self._spare.append(array)

    def zeros(self, shape: tuple[int, ...]) -> Floats:
        """Return an array of zeros."""
        try:
            array = self._spare.pop()
        except IndexError:
            return np.zeros(shape)
        if array.shape != shape:
            return np.zeros(shape)
        array.fill(0.0)
        return array


class Block:
    """A block of rows B, whose products are computed in double precision.

    Parameters
    ----------
    at : slice
        Positions of these rows in the whole matrix.
    data, indices, indptr : ndarray
        The rows in CSR form. Any numeric types; `indptr` may begin at any number.
    d : int
        Number of columns.
    dense : ndarray of shape (n, d), default=None
        The same rows with all zeros, for which BLAS computes the products.
    values : ndarray, default=None
        ``values[x]`` is the value that a stored whole number x stands for; None is x itself.
    row_factor : ndarray of shape (n,), default=None
        Factor of each row; None is 1.
    products : module
        The functions that compute products, of :mod:`momentree.backends.reference` or compiled.

    Attributes
    ----------
    total : ndarray or None
        The sum so far, while rows are summed. A kernel may add to it in place and return it:
        ``B.tdot(Z, out=B.total)`` saves an array and an addition of its size for each block.
    scratch : Scratch
        Memory that the blocks of a pass share.

    Notes
    -----
    In all methods, `out` is None for a new array, or an array to which the result is added.
    """

    __slots__ = ("_csr", "_dense", "_products", "at", "scratch", "total")

    def __init__(
        self,
        at: slice,
        data: Any,
        indices: Any,
        indptr: Any,
        d: int,
        dense: Floats | None = None,
        *,
        values: Floats | None = None,
        row_factor: Floats | None = None,
        products: Any = scipy_products,
    ) -> None:
        self.at, self._dense, self._products = at, dense, products
        self._csr = Csr(data, indices, indptr, (at.stop - at.start, d), values, row_factor)
        self.total: Floats | None = None
        self.scratch = Scratch()

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d): rows of this block, columns."""
        return self._csr.shape

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
        n, d = self.shape
        V = _factor(V, d)
        if self._dense is not None:
            return np.asarray(self._dense @ V)
        return np.asarray(self._products.add_dot(self._csr, V, np.zeros((n, *V.shape[1:]))))

    def tdot(self, Z: Floats, out: Floats | None = None) -> Floats:
        """Return the product B^T Z.

        Parameters
        ----------
        Z : ndarray of shape (n,) or (n, m)
            Right factor, one row per row of the block.
        out : ndarray of shape (d,) or (d, m), default=None
            Array to add to.

        Returns
        -------
        ndarray of shape (d,) or (d, m)
            B^T Z in double precision.
        """
        n, d = self.shape
        Z = _factor(Z, n)
        if self._dense is not None:
            return _added(self._dense.T @ Z, out)
        return np.asarray(
            self._products.add_tdot(self._csr, Z, self._target(out, (d, *Z.shape[1:])))
        )

    def gram(self, V: Floats, r: Floats, out: Floats | None = None) -> Floats:
        """Return the product B^T (r * (B V)), with weights r of the rows.

        Parameters
        ----------
        V : ndarray of shape (d,) or (d, m)
            Right factor.
        r : ndarray of shape (n,)
            Weights of the rows, of any sign.
        out : ndarray of the shape of V, default=None
            Array to add to.

        Returns
        -------
        ndarray of the shape of V
            B^T (r * (B V)) in double precision.
        """
        n, d = self.shape
        V, r = _factor(V, d), _weights(r, n)
        if self._dense is not None:
            return _added(self._dense.T @ scipy_products.times(r, self._dense @ V), out)
        return np.asarray(self._products.add_gram(self._csr, V, r, self._target(out, V.shape)))

    def own_dot(self, V: Floats, own: Ints) -> Floats:
        """Return the product of each row and the matrix of its group.

        Parameters
        ----------
        V : ndarray of shape (g, d, m)
            One matrix per group.
        own : ndarray of int of shape (n,)
            Group of each row, from 0; -1 skips a row.

        Returns
        -------
        ndarray of shape (n, m)
            x_i V[own_i] for each row x_i; zeros for rows that are skipped.
        """
        n = self.shape[0]
        V = self._stack(V)
        members = Members(own, n, len(V))
        out = np.zeros((n, V.shape[2]))
        if self._dense is not None:
            for j, at in members.by_group():
                out[at] = self._dense[at] @ V[j]
            return out
        return np.asarray(self._products.add_own_dot(self._csr, V, members, out))

    def own_tdot(self, Z: Floats, own: Ints, g: int, out: Floats | None = None) -> Floats:
        """Return the product of each group of rows, transposed, with its rows of Z.

        Parameters
        ----------
        Z : ndarray of shape (n, m)
            Right factor, one row per row of the block.
        own : ndarray of int of shape (n,)
            Group of each row, from 0; -1 skips a row.
        g : int
            Number of groups.
        out : ndarray of shape (g, d, m), default=None
            Array to add to.

        Returns
        -------
        ndarray of shape (g, d, m)
            Entry j is the sum of x_i^T z_i over the rows i of group j.
        """
        n, d = self.shape
        Z, members = _matrix(Z, n), Members(own, n, g)
        out = self._own_target(out, (g, d, Z.shape[1]))
        if self._dense is not None:
            for j, at in members.by_group():
                out[j] += self._dense[at].T @ Z[at]
            return out
        return np.asarray(self._products.add_own_tdot(self._csr, Z, members, out))

    def own_gram(self, V: Floats, own: Ints, r: Floats, out: Floats | None = None) -> Floats:
        """Return ``gram`` of each group of rows with its own matrix.

        Parameters
        ----------
        V : ndarray of shape (g, d, m)
            One matrix per group.
        own : ndarray of int of shape (n,)
            Group of each row, from 0; -1 skips a row.
        r : ndarray of shape (n,)
            Weights of the rows, of any sign.
        out : ndarray of shape (g, d, m), default=None
            Array to add to.

        Returns
        -------
        ndarray of shape (g, d, m)
            Entry j is B_j^T (r_j * (B_j V_j)) with B_j, r_j the rows of group j and their weights.
        """
        n = self.shape[0]
        V, r = self._stack(V), _weights(r, n)
        members = Members(own, n, len(V))
        out = self._own_target(out, V.shape)
        if self._dense is not None:
            for j, at in members.by_group():
                part = self._dense[at]
                out[j] += part.T @ scipy_products.times(r[at], part @ V[j])
            return out
        return np.asarray(self._products.add_own_gram(self._csr, V, members, r, out))

    def own_sums(
        self, V: Floats, own: Ints, r: Floats, Z: Floats, out: Floats | None = None
    ) -> Floats:
        """Return ``own_tdot`` of Z beside ``own_gram`` of V, in one pass over the rows.

        Parameters
        ----------
        V : ndarray of shape (g, d, m)
            One matrix per group.
        own : ndarray of int of shape (n,)
            Group of each row, from 0; -1 skips a row.
        r : ndarray of shape (n,)
            Weights of the rows for the products with V.
        Z : ndarray of shape (n, e)
            One row per row of the block.
        out : ndarray of shape (g, d, e + m), default=None
            Array to add to.

        Returns
        -------
        ndarray of shape (g, d, e + m)
            Entry j is B_j^T [Z_j, r_j * (B_j V_j)].
        """
        n, d = self.shape
        V, r, Z = self._stack(V), _weights(r, n), _matrix(Z, n)
        e, g, m = Z.shape[1], len(V), V.shape[2]
        out = self._own_target(out, (g, d, e + m))
        if self._dense is None:
            members = Members(own, n, g)
            return np.asarray(self._products.add_own_sums(self._csr, V, members, r, Z, out))
        out[:, :, :e] += self.own_tdot(Z, own, g)
        out[:, :, e:] += self.own_gram(V, own, r)
        return out

    def own_slices(
        self, V: Floats, own: Ints, r: Floats, u: Floats, k: int, out: Floats | None = None
    ) -> Floats:
        """Return the sums in the slices of third moments of each group of rows.

        Parameters
        ----------
        V : ndarray of shape (g, d, k + k (k + 1) / 2 - 1)
            One matrix per group: k columns, and one for each pair a <= b of these but the last.
        own : ndarray of int of shape (n,)
            Group of each row, from 0; -1 skips a row.
        r, u : ndarray of shape (n,)
            Weights of the rows, and of the corrections for the words themselves.
        k : int
            Number of the first columns.
        out : ndarray of the shape of V, default=None
            Array to add to.

        Returns
        -------
        ndarray of the shape of V
            Entry j is B_j^T (r_j * [u_j Z, Z_a Z_b - [a = b] Z_k^2 - u_j P_ab]) with
            [Z, P] = B_j V_j.
        """
        n = self.shape[0]
        V, r, u = self._stack(V), _weights(r, n), _weights(u, n)
        out = self._own_target(out, V.shape)
        if self._dense is None:
            members = Members(own, n, len(V))
            return np.asarray(self._products.add_own_slices(self._csr, V, members, r, u, k, out))
        factors = scipy_products.slice_factors(self.own_dot(V, own), r, u, k)
        return self.own_tdot(factors, own, len(V), out=out)

    def expected(
        self,
        theta: Floats,
        offsets: Floats,
        v: Floats,
        out: Floats | None = None,
        labels: Ints | None = None,
    ) -> Floats:
        """Return the expected sums of the components of a mixture, the E-step of EM.

        Row x belongs to component j with a probability R_j in proportion to
        ``exp(x theta_j + offsets_j)``.

        Parameters
        ----------
        theta : ndarray of shape (d, m)
            Coefficients of the first m components; those of others are zero.
        offsets : ndarray of shape (k,)
            Offsets of all components, m or m + 1.
        v : ndarray of shape (n,)
            Weights of the rows.
        out : ndarray of shape (d + 2, k), default=None
            Array to add to.
        labels : ndarray of int of shape (n,), default=None
            Array for the most likely component of each row.

        Returns
        -------
        ndarray of shape (d + 2, k)
            B^T (v * R) in the first m columns, then the sums of v * R in a row, and in the last row
            at 0 the log-likelihood, the sum of v times the logarithm of the sum over j.
        """
        n, d = self.shape
        theta, v = _factor(theta, d), _weights(v, n)
        out = self._target(out, (d + 2, len(offsets)))
        if self._dense is not None:
            weighted = scipy_products.weigh(self._dense @ theta, offsets, v, out, labels)
            out[:d, : theta.shape[1]] += self._dense.T @ weighted
        else:
            self._products.add_expected(self._csr, theta, offsets, v, out, labels)
        return out

    def _stack(self, V: Floats) -> Floats:
        """Return one matrix per group, copied if they are not next to each other."""
        check_shape("the right factor", V, ("g", self.shape[1], "m"))
        return np.ascontiguousarray(V, dtype=np.float64)

    def _own_target(self, out: Floats | None, shape: tuple[int, ...]) -> Floats:
        """Return the array of shape (g, d, m) to add to: the given one, else one of zeros."""
        if out is None:
            return self.scratch.zeros(shape)
        check_shape("out", out, shape)
        apart = shape[-1] > 1 and out.strides[-1] != out.itemsize
        if out.dtype != np.float64 or (apart and out.size):
            raise InvalidDataError("out_layout", type=str(out.dtype))
        return out

    def _target(self, out: Floats | None, shape: tuple[int, ...]) -> Floats:
        """Return the array to add to: the given one, else one of zeros."""
        if out is not None:
            check_shape("out", out, shape)
            if out.dtype != np.float64 or not out.flags.c_contiguous:
                raise InvalidDataError("out_layout", type=str(out.dtype))
            return out
        return self.scratch.zeros(shape)

    @property
    def csr(self) -> tuple[Floats, Any, Any]:
        """The rows as CSR arrays with values in double precision: data, indices, indptr."""
        return self._csr.scaled, self._csr.indices, self._csr.indptr

    @property
    def pattern(self) -> tuple[Any, Any]:
        """The column number of each stored value, and row pointers from 0."""
        return self._csr.indices, self._csr.indptr

    def pattern_of(self, rows: Ints) -> tuple[Any, Any]:
        """Return the pattern of some rows, copied.

        Parameters
        ----------
        rows : ndarray of intp
            Row numbers in this block.

        Returns
        -------
        tuple of ndarray
            The column number of each stored value, and row pointers from 0.
        """
        part = self._csr.take(rows)
        return part.indices, part.indptr

    def with_data(self, data: Floats, *, full: bool = False) -> Block:
        """Return a block with other values and the same sparsity pattern.

        Parameters
        ----------
        data : ndarray of shape (nnz,)
            Values in the order of ``csr``.
        full : bool, default=False
            Whether all n x d values are stored, in order, so that BLAS can compute the products.

        Returns
        -------
        Block
            The new block, which shares its index arrays with this one.
        """
        check_shape("data", data, self._csr.stored.shape)
        full = full or (self._dense is not None and data.size == self._dense.size)
        dense = data.reshape(self.shape) if full else None
        indices, indptr = self.pattern
        return Block(self.at, data, indices, indptr, self.shape[1], dense, products=self._products)


# --- checks of what compiled code does not check ------------------------------------------------


def _factor(V: Floats, size: int) -> Floats:
    V = np.ascontiguousarray(V, dtype=np.float64)
    if V.ndim not in (1, 2) or len(V) != size:
        check_shape("the right factor", V, (size, "m"))
    return V


def _matrix(Z: Floats, size: int) -> Floats:
    Z = np.ascontiguousarray(Z, dtype=np.float64)
    check_shape("the right factor", Z, (size, "m"))
    return Z


def _weights(r: Floats, n: int) -> Floats:
    r = np.ascontiguousarray(r, dtype=np.float64)
    check_shape("the row weights", r, (n,))
    return r


# --- dense rows -------------------------------------------------------------------------------


def _added(part: Floats, out: Floats | None) -> Floats:
    if out is None:
        return np.asarray(part)
    check_shape("out", out, part.shape)
    out += part
    return out
