"""T eq. 6.5 and 6.6 for rows scaled and augmented with a constant feature, without a copy."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats, Ints
from momentree.backends import Block, RowArray, Rows, group_totals, parted, with_room
from momentree.backends.kernels import kernel
from momentree.moments._base import BaseMoments, pairs_of, symmetric


class GroupedRawMoments:
    """Raw moments of augmented rows of several groups of samples.

    The formulas are those of :class:`AugmentedRawMoments` for the samples of each group alone. A
    pass over the data serves all groups, and no row is copied.

    Parameters
    ----------
    rows : Rows of shape (n, p)
        x, any numbers.
    own : row array of int of shape (n,)
        Group of each sample; -1 for none.
    n_groups : int
        Number of groups g.
    sample_weight : row array of shape (n,)
        v >= 0; scaled to sum 1 in each group here.
    row_scale : row array of shape (n,)
        f.
    column_scale : ndarray of shape (p,)
        s; zero excludes a column.
    constant : float
        c.

    Attributes
    ----------
    sizes : ndarray of shape (g,)
        Total sample weight of each group.
    m1 : ndarray of shape (g, p + 1)
        M1 of each group; zero for a group without weight.
    """

    def __init__(
        self,
        rows: Rows,
        own: RowArray,
        n_groups: int,
        *,
        sample_weight: RowArray,
        row_scale: RowArray,
        column_scale: Floats,
        constant: float,
    ) -> None:
        # Powers of the row scale are part of the weights, so that rows are never copied.
        self._rows, self._arrays = rows, (own, sample_weight, row_scale)
        self._scale, self._constant, self.n_groups = column_scale, constant, n_groups
        total = rows.sum(partial(raw_sums, n_groups=n_groups), *self._arrays)
        sums, more = parted(total, n_groups, 1, 2 * n_groups)
        last, self.sizes = more[:n_groups], more[n_groups:]
        self._factor = np.divide(1.0, self.sizes, out=np.zeros(n_groups), where=self.sizes > 0)[
            :, None, None
        ]
        self.m1: Floats = self._scaled_back(sums, last[:, None], self._factor)[:, :, 0]

    def times(self, V: Floats, which: Sequence[int] | None = None) -> Floats:
        """Return the products of M2 of some groups, each with its own matrix.

        Parameters
        ----------
        V : ndarray of shape (h, p + 1, m)
            A matrix for each of these groups.
        which : sequence of int of length h, default=None
            The groups; None is all of them, in order.

        Returns
        -------
        ndarray of shape (h, p + 1, m)
            The products.
        """
        which = range(self.n_groups) if which is None else which
        h, m = len(which), V.shape[2]
        place = np.full(self.n_groups + 1, -1)  # the last entry is for samples without a group
        place[list(which)] = np.arange(h)
        right, last = self._right(V)
        kernel = partial(raw_products, right=right, last=last, place=place)
        sums, last = parted(self._rows.sum(kernel, *self._arrays), h, m, h * m)
        return self._scaled_back(sums, last.reshape(h, m), self._factor[list(which)])

    def whitened_slices(self, W: Floats) -> Floats:
        """Return H[r] = W M3[r] W^T of every group.

        Parameters
        ----------
        W : ndarray of shape (g, k, p + 1)
            A matrix for each group.

        Returns
        -------
        ndarray of shape (g, p + 1, k, k)
            The slices.
        """
        g, k, d = W.shape
        H = np.empty((g, d, k, k))
        right, last = self._right(W.transpose(0, 2, 1))
        for a, b in pairs_of(k):
            kernel = partial(raw_pairs, right=right, last=last, a=a, b=b)
            sums, lasts = parted(self._rows.sum(kernel, *self._arrays), g, len(a), g * len(a))
            pairs = self._scaled_back(sums, lasts.reshape(g, len(a)), self._factor)
            H[:, :, a, b] = H[:, :, b, a] = pairs
        return H

    def whitened_tensors(self, W: Floats) -> Floats:
        """Return T = M3(W, W, W) of every group, without the slices.

        Parameters
        ----------
        W : ndarray of shape (g, k, p + 1)
            A matrix for each group.

        Returns
        -------
        ndarray of shape (g, k, k, k)
            The tensors.
        """
        right, last = self._right(W.transpose(0, 2, 1))
        kernel = partial(raw_cubes, right=right, last=last)
        return self._rows.sum(kernel, *self._arrays) * self._factor[..., None]

    def _right(self, V: Floats) -> tuple[Floats, Floats]:
        """Return V without its last row, times s, and c times this row, of all groups."""
        right = V[:, :-1] * self._scale[:, None]
        return np.ascontiguousarray(right), np.asarray(self._constant * V[:, -1])

    def _scaled_back(self, sums: Floats, last: Floats, factor: Floats) -> Floats:
        last = self._constant * last[:, None]
        return np.concatenate([sums * self._scale[:, None], last], axis=1) * factor


class AugmentedRawMoments(BaseMoments):
    """Estimate the raw moments of augmented rows y_i = f_i (s * x_i, c).

        M1 = sum v y,     M2 = sum v y y^T,     M3 = sum v y (x) y (x) y

    The constant c is an additional last feature with the same value in all rows. It gives linear
    scores of y an intercept, so that rows with the same direction but different sizes can differ
    in the sign of their score.

    Parameters
    ----------
    rows : Rows of shape (n, p)
        x, any numbers.
    sample_weight : row array of shape (n,)
        v >= 0, scaled to sum 1 here.
    row_scale : row array of shape (n,)
        f.
    column_scale : ndarray of shape (p,)
        s; zero excludes a column.
    constant : float
        c.

    Notes
    -----
    T eq. 6.5 and 6.6 are the case f = s = 1, c = 0. Time O(nnz) for M2 v, O(nnz k^2) for the
    slices, O(nnz k + n k^3) for the tensor; memory O(p k^2 + n k).
    """

    def __init__(
        self,
        rows: Rows,
        sample_weight: RowArray,
        row_scale: RowArray,
        column_scale: Floats,
        constant: float,
    ) -> None:
        # All rows are a group of their own.
        self._group = GroupedRawMoments(
            rows,
            np.broadcast_to(np.intp(0), rows.shape[:1]),
            1,
            sample_weight=sample_weight,
            row_scale=row_scale,
            column_scale=column_scale,
            constant=constant,
        )

    @property
    def m1(self) -> Floats:
        """M1, shape (p + 1,)."""
        return np.asarray(self._group.m1[0])

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (p + 1, p + 1)."""

        def times(V: Floats) -> Floats:
            V = np.asarray(V, dtype=np.float64)
            return self._group.times(V.reshape(1, len(V), -1)).reshape(V.shape)

        return symmetric(self._d, times)

    def _slices(self, W: Floats) -> Floats:
        return np.asarray(self._group.whitened_slices(W[None])[0])

    def _tensor(self, W: Floats) -> Floats:
        return np.asarray(self._group.whitened_tensors(W[None])[0])


# --- kernels --------------------------------------------------------------------------------------
# Of V, scaled by s, they know all rows but the last (`right`), and c times this one (`last`): the
# scores of a row are (s * x, c) V with the V of its group.


@kernel
def raw_sums(B: Block, own: Ints, v: Floats, f: Floats, *, n_groups: int) -> Floats:
    """Return sums of (x, 1) with weights v f of each group, and its sum of v."""
    r = v * f
    out, sums, more = with_room(B, n_groups, 1, 2 * n_groups)
    B.own_tdot(r[:, None], own, n_groups, out=sums)
    more += np.concatenate([group_totals(own, values, n_groups) for values in (r, v)])
    return out


@kernel
def raw_products(
    B: Block, own: Ints, v: Floats, f: Floats, *, right: Floats, last: Floats, place: Ints
) -> Floats:
    """Return (X, 1)^T (v f^2 * scores) of some groups.

    `place` tells which of these groups a group is; -1 for others.
    """
    own = place[own]
    scores = _scores(B, own, right, last)
    scores *= (v * f * f)[:, None]
    return _summed(B, scores, own, len(right))


@kernel
def raw_pairs(
    B: Block, own: Ints, v: Floats, f: Floats, *, right: Floats, last: Floats, a: Ints, b: Ints
) -> Floats:
    """Return (X, 1)^T (v f^3 z_a z_b) of all groups for some pairs of scores z."""
    scores = _scores(B, own, right, last)
    pairs = scores[:, a] * scores[:, b]
    pairs *= (v * f * f * f)[:, None]
    return _summed(B, pairs, own, len(right))


@kernel
def raw_cubes(B: Block, own: Ints, v: Floats, f: Floats, *, right: Floats, last: Floats) -> Floats:
    """Return sum v f^3 z_a z_b z_c of each group, shape (g, k, k, k)."""
    Z, r = _scores(B, own, right, last), v * f * f * f
    g, _, k = right.shape
    out = np.empty((g, k, k, k))
    for j in range(g):
        at = slice(None) if g == 1 else own == j
        pairs = (Z[at, :, None] * Z[at, None, :]).reshape(-1, k * k)
        out[j] = ((r[at, None] * Z[at]).T @ pairs).reshape(k, k, k)
    return out


def _scores(B: Block, own: Ints, right: Floats, last: Floats) -> Floats:
    scores = B.own_dot(right, own)
    scores += last[own]
    return scores


def _summed(B: Block, Z: Floats, own: Ints, g: int) -> Floats:
    """Return sums of x z^T over each group, and of z."""
    m = Z.shape[1]
    out, sums, more = with_room(B, g, m, g * m)
    B.own_tdot(Z, own, g, out=sums)
    if own.any():
        more += np.stack([group_totals(own, column, g) for column in Z.T], axis=1).ravel()
    else:  # one group, of all rows
        more[:m] += Z.sum(axis=0)
    return out
