"""Raw moments of augmented rows of several groups, in the same passes over the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends import Block, RowArray, Rows, group_totals, parted, with_room
from momentree.backends.kernels import kernel


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
        self._rows, self._arrays = rows, (own, sample_weight, row_scale)
        self._scale, self._constant, self.n_groups = column_scale, constant, n_groups
        total = rows.sum(RawSums(n_groups), *self._arrays)
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
        kernel = RawProducts(*self._right(V), place)
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
        a, b = np.triu_indices(k)
        kernel = RawPairs(*self._right(W.transpose(0, 2, 1)))
        sums, last = parted(self._rows.sum(kernel, *self._arrays), g, len(a), g * len(a))
        H = np.empty((g, d, k, k))
        pairs = self._scaled_back(sums, last.reshape(g, len(a)), self._factor)
        H[:, :, a, b] = H[:, :, b, a] = pairs
        return H

    def _right(self, V: Floats) -> tuple[Floats, Floats]:
        """Return V without its last row, times s, and c times this row, of all groups."""
        right = V[:, :-1] * self._scale[:, None]
        return np.ascontiguousarray(right), np.asarray(self._constant * V[:, -1])

    def _scaled_back(self, sums: Floats, last: Floats, factor: Floats) -> Floats:
        last = self._constant * last[:, None]
        return np.concatenate([sums * self._scale[:, None], last], axis=1) * factor


@kernel
@dataclass(frozen=True)
class RawSums:
    """Sums of (x, 1) with weights v f of each group, and its sum of v."""

    n_groups: int

    def __call__(self, B: Block, own: Ints, v: Floats, f: Floats) -> Floats:
        """Return the sums."""
        g, r = self.n_groups, v * f
        out, sums, more = with_room(B, g, 1, 2 * g)
        B.own_tdot(r[:, None], own, g, out=sums)
        more += np.concatenate([group_totals(own, values, g) for values in (r, v)])
        return out


@kernel
@dataclass(frozen=True, eq=False)
class RawProducts:
    """(X, 1)^T (v f^2 * scores) of some groups, with scores (s * x, c) V of the group's own V."""

    right: Floats  # s * V without its last row, (h, p, m)
    last: Floats  # c times this row, (h, m)
    place: Ints  # which of the h groups a group is; -1 for others

    def __call__(self, B: Block, own: Ints, v: Floats, f: Floats) -> Floats:
        """Return the sums."""
        own = self.place[own]
        scores = B.own_dot(self.right, own)
        scores += self.last[own]
        scores *= (v * f * f)[:, None]
        return _summed(B, scores, own, len(self.right))


@kernel
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
        return _summed(B, pairs, own, len(self.right))


def _summed(B: Block, Z: Floats, own: Ints, g: int) -> Floats:
    """Return sums of x z^T over each group, and of z."""
    m = Z.shape[1]
    out, sums, more = with_room(B, g, m, g * m)
    B.own_tdot(Z, own, g, out=sums)
    more += np.stack([group_totals(own, column, g) for column in Z.T], axis=1).ravel()
    return out
