"""Products with a block of rows and with its transpose: the questions that kernels ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.exceptions import InvalidDataError

_OUT_LAYOUT = (
    "[out_layout] out is an array of {type}, or not contiguous; pass a contiguous array of "
    "float64, such as B.total, or None"
)


MAX_SPARE = 4
"""Arrays that are kept for new results, at most."""
PART = 1 << 14
"""Values are read from their table in parts that stay in the cache."""
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
    spare : list of ndarray
        Memory for new results, which the blocks of a pass share: new memory is slow.

    Notes
    -----
    In all methods, `out` is None for a new array, or an array to which the result is added.
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
        self._data: Any = None
        self._indptr: Any = None
        self._taken: tuple[Ints, Block] | None = None
        self.total: Floats | None = None
        self.spare: list[Floats] = []

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
        V = _factor(V, self.shape[1])
        return self._add_dot(V, np.zeros((self.shape[0], *V.shape[1:])))

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
        Z = _factor(Z, self.shape[0])
        return self._add_tdot(Z, self._target(out, (self.shape[1], *Z.shape[1:])))

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
        V, r = _factor(V, self.shape[1]), _weights(r, self.shape[0])
        return self._add_gram(V, r, self._target(out, V.shape))

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
        V = self._stack(V)
        members = Members(own, self.shape[0], len(V))
        return self._add_own_dot(V, members, np.zeros((self.shape[0], V.shape[2])))

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
        Z = _matrix(Z, n)
        out = self._own_target(out, (g, d, Z.shape[1]))
        return self._add_own_tdot(Z, Members(own, n, g), out)

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
        V, r = self._stack(V), _weights(r, self.shape[0])
        members = Members(own, self.shape[0], len(V))
        return self._add_own_gram(V, members, r, self._own_target(out, V.shape))

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
        out = self._own_target(out, (len(V), d, Z.shape[1] + V.shape[2]))
        return self._add_own_sums(V, Members(own, n, len(V)), r, Z, out)

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
        return self._add_own_slices(V, Members(own, n, len(V)), r, u, k, out)

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
        self._add_expected(theta, offsets, v, out, labels)
        return out

    # --- where results are added ---------------------------------------------------------------

    def zeros(self, shape: tuple[int, ...]) -> Floats:
        """Return an array of zeros, in memory that another result no longer needs.

        Parameters
        ----------
        shape : tuple of int
            Its shape.

        Returns
        -------
        ndarray
            The array.
        """
        return self._target(None, shape)

    def _target(self, out: Floats | None, shape: tuple[int, ...]) -> Floats:
        """Return the array to add to: the given one, else one of zeros."""
        if out is not None:
            if out.shape != shape:
                check_shape("out", out, shape)
            if out.dtype != np.float64 or not out.flags.c_contiguous:
                raise InvalidDataError(_OUT_LAYOUT, type=str(out.dtype))
            return out
        try:
            array = self.spare.pop()
        except IndexError:
            return np.zeros(shape)
        if array.shape != shape:
            return np.zeros(shape)
        array.fill(0.0)
        return array

    def _own_target(self, out: Floats | None, shape: tuple[int, ...]) -> Floats:
        """Return the array of shape (g, d, m) to add to, which may be a part of a wider one."""
        if out is None or out.flags.c_contiguous:
            return self._target(out, shape)
        check_shape("out", out, shape)
        apart = shape[-1] > 1 and out.strides[-1] != out.itemsize
        if out.dtype != np.float64 or (apart and out.size):
            raise InvalidDataError(_OUT_LAYOUT, type=str(out.dtype))
        return out

    def _stack(self, V: Floats) -> Floats:
        """Return one matrix per group, copied if they are not next to each other."""
        check_shape("the right factor", V, ("g", self.shape[1], "m"))
        return np.ascontiguousarray(V, dtype=np.float64)

    # --- stored values -------------------------------------------------------------------------

    def _read(self) -> None:
        """Read the values in double precision, without row factors, and the pointers from 0."""
        pointers = self._pointers
        if len(pointers) and pointers[0]:
            pointers = pointers - pointers[0]
        self._indptr = pointers.astype(self._indices.dtype, copy=False)
        if self._values is None:
            self._data = self._stored.astype(np.float64, copy=False)
            return
        data = np.empty(len(self._stored))
        for start in range(0, len(data), PART):
            part = slice(start, start + PART)
            at = self._stored[part].astype(np.intp, copy=False)
            # Numbers that the table does not list were refused: `raise` would check again.
            self._values.take(at, mode="clip", out=data[part])
        self._data = data

    @property
    def csr(self) -> tuple[Floats, Any, Any]:
        """The rows as CSR arrays with values in double precision: data, indices, indptr."""
        if self._data is None:
            self._read()
        data = self._data
        if self._factor is not None:
            data = data * np.repeat(self._factor, np.diff(self._pointers))
        return data, self._indices, self._indptr

    @property
    def pattern(self) -> tuple[Any, Any]:
        """The column number of each stored value, and row pointers from 0."""
        if self._indptr is None:
            self._read()
        return self._indices, self._indptr

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
        return self._take(rows).pattern

    def _take(self, rows: Ints) -> Block:
        """Return a copy of some rows, which is kept until others are asked for."""
        taken = self._taken  # read once: another thread may ask for other rows
        if taken is not None and np.array_equal(taken[0], rows):
            return taken[1]
        if self._data is None:
            self._read()
        pointers, n = self._indptr, len(rows)
        ends = np.zeros(n + 1, dtype=pointers.dtype)
        np.cumsum(np.diff(pointers)[rows], out=ends[1:])
        stored = np.empty(ends[-1], self._stored.dtype)
        indices = np.empty(ends[-1], self._indices.dtype)
        _sparsetools.csr_row_index(
            n, rows.astype(pointers.dtype), pointers, self._indices, self._stored, indices, stored
        )
        factor = None if self._factor is None else self._factor[rows]
        part = Block(
            slice(0, n),
            stored,
            indices,
            ends,
            self.shape[1],
            values=self._values,
            row_factor=factor,
        )
        self._taken = rows, part
        return part

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
        if data.shape != self._stored.shape:
            check_shape("data", data, self._stored.shape)
        arrays = self.at, data, self._indices, self._pointers, self.shape[1]
        dense = isinstance(self, DenseBlock)
        if full or (dense and data.size == self.shape[0] * self.shape[1]):
            return DenseBlock(*arrays, data.reshape(self.shape))
        return (Block if dense else type(self))(*arrays)

    # --- products ------------------------------------------------------------------------------
    # Each adds its result to `out` and returns it. A SciPy array for each block would take a third
    # of the time and copy the views.

    def _add_dot(self, V: Floats, out: Floats) -> Floats:
        if self._data is None:
            self._read()
        factor, to = self._factor, out
        if factor is not None:
            to = np.zeros(out.shape)
        arrays: Any = self._indptr, self._indices, self._data, V.ravel(), to.reshape(-1)
        if V.ndim == 1 or V.shape[1] == 1:
            _sparsetools.csr_matvec(*self.shape, *arrays)
        else:
            _sparsetools.csr_matvecs(*self.shape, V.shape[1], *arrays)
        if factor is not None:
            out += factor * to if V.ndim == 1 else factor[:, None] * to
        return out

    def _add_tdot(self, Z: Floats, out: Floats) -> Floats:
        if self._data is None:
            self._read()
        n, d = self.shape
        if self._factor is not None:
            Z = self._factor * Z if Z.ndim == 1 else self._factor[:, None] * Z
        # The rows of B are the columns of its transpose, so the same arrays serve as CSC.
        arrays: Any = self._indptr, self._indices, self._data, Z.ravel(), out.reshape(-1)
        if Z.ndim == 1 or Z.shape[1] == 1:
            _sparsetools.csc_matvec(d, n, *arrays)
        else:
            _sparsetools.csc_matvecs(d, n, Z.shape[1], *arrays)
        return out

    def _add_gram(self, V: Floats, r: Floats, out: Floats) -> Floats:
        if self._data is None:
            self._read()
        Y = self._add_dot(V, np.zeros((self.shape[0], *V.shape[1:])))
        Y *= r if Y.ndim == 1 else r[:, None]
        return self._add_tdot(Y, out)

    def _add_own_dot(self, V: Floats, members: Members, out: Floats) -> Floats:
        part, at = self._side_by_side(members, len(V))
        out[at] += part._group_scores(V)
        return out

    def _add_own_tdot(self, Z: Floats, members: Members, out: Floats) -> Floats:
        part, at = self._side_by_side(members, len(out))
        return part._add_to_groups(Z[at], out)

    def _add_own_gram(self, V: Floats, members: Members, r: Floats, out: Floats) -> Floats:
        part, at = self._side_by_side(members, len(V))
        return part._add_to_groups(r[at][:, None] * part._group_scores(V), out)

    def _add_own_sums(
        self, V: Floats, members: Members, r: Floats, Z: Floats, out: Floats
    ) -> Floats:
        part, at = self._side_by_side(members, len(V))
        factors = np.concatenate([Z[at], r[at][:, None] * part._group_scores(V)], axis=1)
        return part._add_to_groups(factors, out)

    def _add_own_slices(
        self, V: Floats, members: Members, r: Floats, u: Floats, k: int, out: Floats
    ) -> Floats:
        part, at = self._side_by_side(members, len(V))
        return part._add_to_groups(_slice_factors(part._group_scores(V), r[at], u[at], k), out)

    def _add_expected(
        self, theta: Floats, offsets: Floats, v: Floats, out: Floats, labels: Ints | None
    ) -> None:
        scores = self._add_dot(theta, np.zeros((self.shape[0], theta.shape[1])))
        weighted = _weigh(scores, offsets, v, out, labels)
        out[:-2, : theta.shape[1]] += self._add_tdot(weighted, np.zeros(theta.shape))

    def _side_by_side(self, members: Members, g: int) -> tuple[Block, Any]:
        """Return the rows that have a group, with columns for each group, and their places.

        Column w of group j is column j d + w, so one product serves all groups and no row is moved.
        """
        rows: Block = self
        at: Any = slice(None)
        if not members.complete:
            at = np.flatnonzero(members.own >= 0)
            rows = self._take(at)
        if rows._data is None:
            rows._read()
        (n, d), columns = rows.shape, rows._indices
        if g > 1:
            kind = columns.dtype if g * d <= np.iinfo(columns.dtype).max else np.int64
            columns = np.repeat((members.own[at] * d).astype(kind), np.diff(rows._indptr))
            columns += rows._indices
        arrays = rows._data, columns, rows._indptr, g * d
        part = Block(slice(0, n), *arrays, row_factor=rows._factor)
        part._data, part._indptr = rows._data, rows._indptr.astype(columns.dtype, copy=False)
        return part, at

    def _group_scores(self, V: Floats) -> Floats:
        """Return the product of each row and the matrix of its group."""
        m = V.shape[2]
        return self._add_dot(V.reshape(self.shape[1], m), np.zeros((self.shape[0], m)))

    def _add_to_groups(self, Z: Floats, out: Floats) -> Floats:
        """Add B^T Z to the matrices of all groups; these may be slices of wider arrays."""
        shape = self.shape[1], Z.shape[1]
        if out.flags.c_contiguous:
            self._add_tdot(Z, out.reshape(shape))
        else:
            out += self._add_tdot(Z, np.zeros(shape)).reshape(out.shape)
        return out


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
        return np.asarray(self._dense @ _factor(V, self.shape[1]))

    def _add_dot(self, V: Floats, out: Floats) -> Floats:
        out += self._dense @ V
        return out

    def _add_tdot(self, Z: Floats, out: Floats) -> Floats:
        out += self._dense.T @ Z
        return out

    def _add_gram(self, V: Floats, r: Floats, out: Floats) -> Floats:
        Y = self._dense @ V
        out += self._dense.T @ (r * Y if Y.ndim == 1 else r[:, None] * Y)
        return out

    def _add_own_dot(self, V: Floats, members: Members, out: Floats) -> Floats:
        for j, at in members.by_group():
            out[at] = self._dense[at] @ V[j]
        return out

    def _add_own_tdot(self, Z: Floats, members: Members, out: Floats) -> Floats:
        for j, at in members.by_group():
            out[j] += self._dense[at].T @ Z[at]
        return out

    def _add_own_gram(self, V: Floats, members: Members, r: Floats, out: Floats) -> Floats:
        for j, at in members.by_group():
            part = self._dense[at]
            out[j] += part.T @ (r[at][:, None] * (part @ V[j]))
        return out

    def _add_own_sums(
        self, V: Floats, members: Members, r: Floats, Z: Floats, out: Floats
    ) -> Floats:
        self._add_own_tdot(Z, members, out[:, :, : Z.shape[1]])
        self._add_own_gram(V, members, r, out[:, :, Z.shape[1] :])
        return out

    def _add_own_slices(
        self, V: Floats, members: Members, r: Floats, u: Floats, k: int, out: Floats
    ) -> Floats:
        scores = self._add_own_dot(V, members, np.zeros((self.shape[0], V.shape[2])))
        return self._add_own_tdot(_slice_factors(scores, r, u, k), members, out)


def _slice_factors(scores: Floats, r: Floats, u: Floats, k: int) -> Floats:
    """Return the factors of rows in `Block.own_slices` for the columns [Z, P] of the scores."""
    left, right = (indices[:-1] for indices in np.triu_indices(k))
    Z = scores[:, :k]
    out = scores * u[:, None]
    pairs = Z[:, left] * Z[:, right]
    pairs[:, left == right] -= Z[:, -1:] ** 2
    out[:, k:] = pairs - out[:, k:]
    return np.asarray(r[:, None] * out)


def _weigh(scores: Floats, offsets: Floats, v: Floats, out: Floats, labels: Ints | None) -> Floats:
    """Return v times the probabilities of the components with scores, shape (n, m).

    Add the sizes of all components and the log-likelihood to the last two rows of `out`.
    """
    m = scores.shape[1]
    joint = np.zeros((len(offsets), len(v)))  # NumPy reduces the first axis fastest
    joint[:m] = scores.T
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
    return np.ascontiguousarray(R[:m].T)


# --- checks of what compiled code does not check --------------------------------------------------


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
    if r.shape != (n,):
        check_shape("the row weights", r, (n,))
    return r
