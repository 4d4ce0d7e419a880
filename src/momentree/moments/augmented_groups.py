"""Raw moments of augmented rows of several groups, in the same passes over the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends import Block, RowArray, Rows, group_totals, parted, with_room


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
    first : ndarray of shape (g, p + 1, m), default=None
        V of a product that is computed in the pass of the sums.

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
        first: Floats | None = None,
    ) -> None:
        self._rows, self._arrays = rows, (own, sample_weight, row_scale)
        self._scale, self._constant, self.n_groups = column_scale, constant, n_groups
        right = None if first is None else self._right(first)[0]
        total = rows.sum(RawSums(n_groups, right), *self._arrays)
        sums, more = parted(total, n_groups, 3 * n_groups)
        last, self._corner, self.sizes = more.reshape(3, n_groups)
        self._factor = np.divide(1.0, self.sizes, out=np.zeros(n_groups), where=self.sizes > 0)[
            :, None, None
        ]
        self.m1: Floats = self._scaled_back(sums[:, :, :1], last[:, None])[:, :, 0]
        self._edge, self._first, self._product = sums[:, :, 1], first, sums[:, :, 2:]

    def times(self, V: Floats) -> Floats:
        """Return the products of M2 of every group with its own matrix.

        Parameters
        ----------
        V : ndarray of shape (g, p + 1, m)
            A matrix for each group.

        Returns
        -------
        ndarray of shape (g, p + 1, m)
            The products.
        """
        right, last = self._right(V)
        known = V is self._first
        product = self._product if known else self._rows.sum(RawProducts(right), *self._arrays)
        # The last row and column of M2, of the constant, are sums that are known already.
        product = product + self._edge[:, :, None] * last[:, None]
        bottom = (self._edge[:, None] @ right)[:, 0] + self._corner[:, None] * last
        return self._scaled_back(product, bottom)

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
        a, b = np.triu_indices(k)
        kernel = RawPairs(*self._right(W.transpose(0, 2, 1)))
        sums, last = parted(self._rows.sum(kernel, *self._arrays), g, g * len(a))
        H = np.empty((g, d, k, k))
        pairs = self._scaled_back(sums, last.reshape(g, len(a)))
        H[:, :, a, b] = H[:, :, b, a] = pairs
        return H

    def _right(self, V: Floats) -> tuple[Floats, Floats]:
        """Return V without its last row, times s, and c times this row, of all groups."""
        right = V[:, :-1] * self._scale[:, None]
        return np.ascontiguousarray(right), np.asarray(self._constant * V[:, -1])

    def _scaled_back(self, sums: Floats, last: Floats) -> Floats:
        last = self._constant * last[:, None]
        return np.concatenate([sums * self._scale[:, None], last], axis=1) * self._factor


@dataclass(frozen=True, eq=False)
class RawSums:
    """Sums of (x, 1) with weights v f and v f^2 of each group, of v, and the first products."""

    n_groups: int
    first: Floats | None  # s * V without its last row, (g, p, m)

    def __call__(self, B: Block, own: Ints, v: Floats, f: Floats) -> Floats:
        """Return the sums."""
        g, once = self.n_groups, v * f
        right = np.stack([once, once * f], axis=1)
        m = 0 if self.first is None else self.first.shape[2]
        out, sums, more = with_room(B, g, 2 + m, 3 * g)
        if self.first is None:
            B.own_tdot(right, own, g, out=sums)
        else:
            B.own_sums(self.first, own, right[:, 1], right, out=sums)
        more += np.concatenate([group_totals(own, values, g) for values in (*right.T, v)])
        return out


@dataclass(frozen=True, eq=False)
class RawProducts:
    """X^T (v f^2 * (X V)) of every group with its own V."""

    right: Floats  # s * V without its last row, (g, p, m)

    def __call__(self, B: Block, own: Ints, v: Floats, f: Floats) -> Floats:
        """Return the products, shape (g, p, m)."""
        return B.own_gram(self.right, own, v * f * f, out=B.total)


@dataclass(frozen=True, eq=False)
class RawPairs:
    """(X, 1)^T (v f^3 z_a z_b) of all groups for pairs a <= b of scores z."""

    right: Floats  # (g, p, k)
    last: Floats  # (g, k)

    def __call__(self, B: Block, own: Ints, v: Floats, f: Floats) -> Floats:
        """Return the sums."""
        scores = B.own_dot(self.right, own)
        scores += self.last[own]
        left, right = np.triu_indices(self.right.shape[2])
        pairs = scores[:, left] * scores[:, right]
        pairs *= (v * f * f * f)[:, None]
        g, m = len(self.right), pairs.shape[1]
        out, sums, more = with_room(B, g, m, g * m)
        B.own_tdot(pairs, own, g, out=sums)
        more += np.stack([group_totals(own, column, g) for column in pairs.T], axis=1).ravel()
        return out
