"""Products with a block of rows and with its transpose: the questions that kernels ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.exceptions import InvalidDataError

RADIX_GROUPS = 1 << 15
"""With fewer groups, NumPy can use a radix sort, which is faster."""


class Members:
    """The rows of a block by group: products with them read the matrix of one group at a time.

    Parameters
    ----------
    own : ndarray of int of shape (n,)
        Group of each row, from 0; -1 for none.
    n, g : int
        Numbers of rows and of groups.

    Attributes
    ----------
    own : ndarray of intp of shape (n,)
        The same.
    complete : bool
        Whether all rows have a group.

    Raises
    ------
    InvalidDataError
        If the shape is another, or a group has no such number: compiled code does not check.
    """

    def __init__(self, own: Ints, n: int, g: int) -> None:
        own = np.ascontiguousarray(own, dtype=np.intp)
        check_shape("the groups", own, (n,))
        low, high = (int(own.min()), int(own.max())) if n else (-1, -1)
        if not -1 <= low <= high < g:
            raise InvalidDataError(
                "[no_such_row_groups] rows belong to groups {first} to {last}; expected groups "
                "from 0 to {most}, or -1 for a row of no group",
                first=low,
                last=high,
                most=g - 1,
            )
        self.own, self.complete = own, low >= 0
        self._n_groups = g

    @property
    def order(self) -> Ints:
        """The rows that have a group, group by group, shape (m,)."""
        if self.complete and self._n_groups == 1:
            return np.arange(len(self.own))
        own = self.own.astype(np.int16) if self._n_groups < RADIX_GROUPS else self.own
        order = np.argsort(own, kind="stable")
        return order if self.complete else order[np.count_nonzero(own < 0) :]

    def by_group(self) -> Iterator[tuple[int, Any]]:
        """Yield the groups that have rows, with their rows."""
        if self.complete and self._n_groups == 1:
            yield 0, slice(None)
            return
        order = self.order
        for at in np.split(order, np.flatnonzero(np.diff(self.own[order])) + 1):
            if len(at):
                yield int(self.own[at[0]]), at


class Block:
    """A block of rows B, whose products SciPy's functions compute in double precision.

    Parameters
    ----------
    at : slice
        Positions of these rows in the whole matrix.
    stored, indices, pointers : ndarray
        The rows in CSR form, slices of larger arrays, which are not copied. Any numeric types. The
        first pointer may be any number; the values of the first row begin at position 0.
    d : int
        Number of columns.
    values : ndarray, default=None
        ``values[x]`` is the value that a stored whole number x stands for; None is x itself.
    row_factor : ndarray of shape (n,), default=None
        Factor of each row; None is 1.

    Attributes
    ----------
    shape : tuple of int
        (n, d): rows of this block, columns.
    total : ndarray or None
        The sum so far, while rows are summed. A kernel may add to it in place and return it:
        ``B.tdot(Z, out=B.total)`` saves an array and an addition of its size for each block.

    Notes
    -----
    In all methods, `out` is None for a new array, or a contiguous array of float64 to which the
    result is added. Subclasses replace the four products, and what they can compute faster at once.
    """

    def __init__(
        self,
        at: slice,
        stored: Any,
        indices: Any,
        pointers: Any,
        d: int,
        *,
        values: Floats | None = None,
        row_factor: Floats | None = None,
    ) -> None:
        self.at, self.shape = at, (at.stop - at.start, d)
        self._stored, self._indices, self._pointers = stored, indices, pointers
        self._values, self._factor = values, row_factor
        # Not by `cached_property`: until Python 3.12 its lock lets one thread work at a time.
        self._csr: tuple[Floats, Any, Any] | None = None
        self._groups: tuple[int, Ints, tuple[Block, Any]] | None = None
        self.total: Floats | None = None

    # --- four products ---------------------------------------------------------------------------

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
        V = np.ascontiguousarray(V, dtype=np.float64)
        if V.ndim not in (1, 2) or len(V) != d:
            check_shape("the right factor", V, (d, "m"))
        data, indices, indptr = self._csr or self._read()
        out = np.zeros((n, *V.shape[1:]))
        arrays: Any = indptr, indices, data, V.reshape(-1), out.reshape(-1)
        # A SciPy array for each block would take a third of the time.
        if V.ndim == 1 or V.shape[1] == 1:
            _sparsetools.csr_matvec(n, d, *arrays)
        else:
            _sparsetools.csr_matvecs(n, d, V.shape[1], *arrays)
        if self._factor is not None:
            out *= self._factor if V.ndim == 1 else self._factor[:, None]
        return out

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
        Z = np.ascontiguousarray(Z, dtype=np.float64)
        if Z.ndim not in (1, 2) or len(Z) != n:
            check_shape("the right factor", Z, (n, "m"))
        out = np.zeros((d, *Z.shape[1:])) if out is None else checked(out, (d, *Z.shape[1:]))
        data, indices, indptr = self._csr or self._read()
        if self._factor is not None:
            Z = self._factor * Z if Z.ndim == 1 else self._factor[:, None] * Z
        # The rows of B are the columns of its transpose, so the same arrays serve as CSC.
        arrays: Any = indptr, indices, data, Z.reshape(-1), out.reshape(-1)
        if Z.ndim == 1 or Z.shape[1] == 1:
            _sparsetools.csc_matvec(d, n, *arrays)
        else:
            _sparsetools.csc_matvecs(d, n, Z.shape[1], *arrays)
        return out

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
        n, d = self.shape
        check_shape("the right factor", V, ("g", d, "m"))
        g, _, m = V.shape
        part, at = self._side_by_side(own, g)
        products = part.dot(np.reshape(V, (g * d, m)))
        if len(products) == n:
            return products
        out = np.zeros((n, m))
        out[at] = products
        return out

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
        check_shape("the right factor", Z, (n, "m"))
        shape = g, d, Z.shape[1]
        out = np.zeros(shape) if out is None else checked(out, shape)
        part, at = self._side_by_side(own, g)
        part.tdot(Z[at], out.reshape(g * d, shape[2]))
        return out

    # --- products of products --------------------------------------------------------------------

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
        Y = self.dot(V)
        Y *= r if Y.ndim == 1 else r[:, None]
        return self.tdot(Y, out)

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
        check_shape("the right factor", V, ("g", self.shape[1], "m"))
        shape = V.shape[0] * V.shape[1], V.shape[2]
        out = np.zeros(V.shape) if out is None else checked(out, V.shape)
        part, at = self._side_by_side(own, len(V))
        part.gram(np.reshape(V, shape), r[at], out.reshape(shape))
        return out

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
        right = np.concatenate([Z, r[:, None] * self.own_dot(V, own)], axis=1)
        return self.own_tdot(right, own, len(V), out)

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
        left, right = (indices[:-1] for indices in np.triu_indices(k))
        scores = self.own_dot(V, own)
        Z = scores[:, :k]
        pairs = Z[:, left] * Z[:, right]
        pairs[:, left == right] -= Z[:, -1:] ** 2
        factors = scores * u[:, None]
        factors[:, k:] = pairs - factors[:, k:]
        return self.own_tdot(r[:, None] * factors, own, len(V), out)

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
        m, k = theta.shape[1], len(offsets)
        out = target(out, (self.shape[1] + 2, k))
        joint = np.zeros((k, len(v)))  # NumPy reduces the first axis fastest
        joint[:m] = self.dot(theta).T
        joint += offsets[:, None]
        if labels is not None:
            labels[:] = joint.argmax(axis=0)
        top = joint.max(axis=0)
        joint -= top
        R = np.exp(joint, out=joint)
        mass = R.sum(axis=0)
        R *= v / mass
        out[-2] += R.sum(axis=1)
        out[-1, 0] += v @ (top + np.log(mass))
        out[:-2, :m] += self.tdot(R[:m].T)
        return out

    # --- stored values ---------------------------------------------------------------------------

    def _read(self) -> tuple[Floats, Any, Any]:
        """Read CSR arrays with values in double precision, without row factors; keep them."""
        pointers = self._pointers
        if len(pointers) and pointers[0]:
            pointers = pointers - pointers[0]
        if self._values is None:
            data = self._stored.astype(np.float64, copy=False)
        else:
            # Numbers that the table does not list were refused: `raise` would check again.
            data = self._values.take(self._stored.astype(np.intp, copy=False), mode="clip")
        self._csr = data, self._indices, pointers.astype(self._indices.dtype, copy=False)
        return self._csr

    @property
    def csr(self) -> tuple[Floats, Any, Any]:
        """The rows as CSR arrays with values in double precision: data, indices, indptr."""
        data, indices, indptr = self._csr or self._read()
        if self._factor is not None:
            data = data * np.repeat(self._factor, np.diff(indptr))
        return data, indices, indptr

    @property
    def pattern(self) -> tuple[Any, Any]:
        """The column number of each stored value, and row pointers from 0."""
        return (self._csr or self._read())[1:]

    def take(self, rows: Ints) -> Block:
        """Return a copy of some rows.

        Parameters
        ----------
        rows : ndarray of intp
            Row numbers in this block.

        Returns
        -------
        Block
            The rows, in the given order.
        """
        data, indices, indptr = self._csr or self._read()
        n, kind = len(rows), indptr.dtype
        ends = np.zeros(n + 1, dtype=kind)
        np.cumsum(np.diff(indptr)[rows], out=ends[1:])
        chosen = np.empty(ends[-1]), np.empty(ends[-1], indices.dtype)
        _sparsetools.csr_row_index(n, rows.astype(kind), indptr, indices, data, *chosen[::-1])
        factor = None if self._factor is None else self._factor[rows]
        return Block(slice(0, n), *chosen, ends, self.shape[1], row_factor=factor)

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
        if data.shape != self._stored.shape:
            check_shape("data", data, self._stored.shape)
        return type(self)(self.at, data, self._indices, self._pointers, self.shape[1])

    def _side_by_side(self, own: Ints, g: int) -> tuple[Block, Any]:
        """Return the rows that have a group, with columns for each group, and which these are.

        Column w of group j is column j d + w, so one product serves all groups and no row is moved.
        Kernels ask for several products with the same groups: the last ones are kept.
        """
        known = self._groups  # read once: another thread may ask for other groups
        if known is not None and known[0] == g and np.array_equal(known[1], own):
            return known[2]
        members = Members(own, self.shape[0], g)
        rows, own = self, members.own
        at: Any = slice(None)
        if not members.complete:
            at = np.flatnonzero(own >= 0)
            rows, own = self.take(at), own[at]
        if g == 1:
            if rows is not self:  # or this block would refer to itself
                self._groups = g, members.own.copy(), (rows, at)
            return rows, at
        data, indices, indptr = rows._csr or rows._read()
        d = self.shape[1]
        kind = indices.dtype if g * d <= np.iinfo(indices.dtype).max else np.int64
        columns = np.repeat((own * d).astype(kind), np.diff(indptr))
        columns += indices
        arrays = data, columns, indptr.astype(kind, copy=False), g * d
        part = Block(slice(0, len(own)), *arrays, row_factor=rows._factor)
        self._groups = g, members.own.copy(), (part, at)
        return part, at


class DenseBlock(Block):
    """A block of rows with all of their zeros, whose products BLAS computes.

    Parameters
    ----------
    at, stored, indices, pointers, d, values, row_factor
        The same rows in CSR form; see :class:`Block`.
    dense : ndarray of shape (n, d)
        The rows.
    """

    def __init__(
        self,
        at: slice,
        stored: Any,
        indices: Any,
        pointers: Any,
        d: int,
        dense: Floats,
        *,
        values: Floats | None = None,
        row_factor: Floats | None = None,
    ) -> None:
        super().__init__(at, stored, indices, pointers, d, values=values, row_factor=row_factor)
        self._dense = dense

    def dot(self, V: Floats) -> Floats:
        """Return the product B V; see :meth:`Block.dot`."""
        return np.asarray(self._dense @ factor(V, self.shape[1]))

    def tdot(self, Z: Floats, out: Floats | None = None) -> Floats:
        """Return the product B^T Z; see :meth:`Block.tdot`."""
        Z = factor(Z, self.shape[0])
        out = target(out, (self.shape[1], *Z.shape[1:]))
        out += self._dense.T @ Z
        return out

    def own_dot(self, V: Floats, own: Ints) -> Floats:
        """Return the product of each row and the matrix of its group; see :meth:`Block.own_dot`."""
        n, d = self.shape
        check_shape("the right factor", V, ("g", d, "m"))
        out = np.zeros((n, V.shape[2]))
        for j, at in Members(own, n, len(V)).by_group():
            out[at] = self._dense[at] @ V[j]
        return out

    def own_tdot(self, Z: Floats, own: Ints, g: int, out: Floats | None = None) -> Floats:
        """Return the product of each group, transposed, with rows of Z; see :class:`Block`."""
        n, d = self.shape
        check_shape("the right factor", Z, (n, "m"))
        out = target(out, (g, d, Z.shape[1]))
        for j, at in Members(own, n, g).by_group():
            out[j] += self._dense[at].T @ Z[at]
        return out

    def own_gram(self, V: Floats, own: Ints, r: Floats, out: Floats | None = None) -> Floats:
        """Return ``gram`` of each group, whose rows are copied once; see :meth:`Block.own_gram`."""
        n, d = self.shape
        check_shape("the right factor", V, ("g", d, "m"))
        out = target(out, V.shape)
        for j, at in Members(own, n, len(V)).by_group():
            rows = self._dense[at]
            out[j] += rows.T @ (r[at][:, None] * (rows @ V[j]))
        return out

    def with_data(self, data: Floats) -> Block:
        """Return a block with other values; see :meth:`Block.with_data`."""
        check_shape("data", data, self._stored.shape)
        arrays = self.at, data, self._indices, self._pointers, self.shape[1]
        if data.size == self._dense.size:
            return DenseBlock(*arrays, data.reshape(self.shape))
        return Block(*arrays)


# --- checks of what compiled code does not check --------------------------------------------------


def factor(V: Floats, size: int) -> Floats:
    """Return a right factor of a product, of so many rows, as compiled code reads it."""
    V = np.ascontiguousarray(V, dtype=np.float64)
    if V.ndim not in (1, 2) or len(V) != size:
        check_shape("the right factor", V, (size, "m"))
    return V


def target(out: Floats | None, shape: tuple[int, ...]) -> Floats:
    """Return the array to add a result to: the given one, else one of zeros."""
    return np.zeros(shape) if out is None else checked(out, shape)


def checked(out: Floats, shape: tuple[int, ...]) -> Floats:
    """Return an array that results may be added to, if it has this shape."""
    if out.shape != shape:
        check_shape("out", out, shape)
    if out.dtype != np.float64 or not out.flags.c_contiguous:
        raise InvalidDataError(
            "[out_layout] out is an array of {type}, or not contiguous; pass a contiguous array of "
            "float64, such as B.total, or None",
            type=str(out.dtype),
        )
    return out
