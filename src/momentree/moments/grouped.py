"""Factorial moments of several groups of rows at once, in the same passes over the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats, Ints
from momentree.backends import Block, RowArray, Rows, group_totals, parted, with_room
from momentree.moments._base import BaseMoments
from momentree.moments._operators import symmetric

TINY = 1e-300


class GroupedMoments:
    """Moments of the single-topic model of several groups of documents.

    The formulas are those of :class:`SingleTopicMoments` for the documents of each group alone. A
    pass over the data serves all groups, and no row is copied.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Word counts.
    own : row array of int of shape (n,)
        Group of each document; -1 for none.
    n_groups : int
        Number of groups g.
    sample_weight : row array of shape (n,)
        Weights >= 0.
    count_per_token : row array of shape (n,)
        u, the value of one occurrence of a word in each document.
    uniform : bool
        Whether all documents have the same weight, instead of weights by length.
    first : ndarray of shape (g, d, m), default=None
        V of a product that is computed in the pass of the sums.

    Attributes
    ----------
    words : ndarray of shape (g, d)
        Weighted sums of the words of each group.
    m1 : ndarray of shape (g, d)
        M1 of each group.
    has_triples : ndarray of bool of shape (g,)
        Whether any document of a group has the three words required for M3.
    sizes : ndarray of shape (g,)
        Total sample weight of each group.

    Notes
    -----
    One pass for the sums, one for each product with M2, one for the slices of M3. Memory
    O(g d (m + k^2)) with m columns in a product, and three numbers per document.
    """

    def __init__(
        self,
        rows: Rows,
        own: RowArray,
        n_groups: int,
        *,
        sample_weight: RowArray,
        count_per_token: RowArray,
        uniform: bool,
        first: Floats | None = None,
    ) -> None:
        self._rows, self._own, self._u = rows, own, count_per_token
        self.n_groups, self._uniform = n_groups, uniform
        arrays = (rows.row_sums, sample_weight, count_per_token)
        self._b = rows.each(RowWeights(uniform), *arrays)
        total = rows.sum(MomentSums(n_groups, uniform, first), own, *arrays, self._b)
        sums, more = parted(total, n_groups, 4 * n_groups)
        totals = more.reshape(4, n_groups).T
        self.words, self.sizes = sums[:, :, 0], totals[:, 3]
        totals = totals[:, :3]
        scale = np.divide(1.0, totals, out=np.zeros(totals.shape), where=totals > 0)
        self._scale2, self._scale3 = scale[:, 1], scale[:, 2]
        self.has_triples = scale[:, 2] > 0
        self.m1 = sums[:, :, 3 if uniform else 0] * scale[:, :1]
        self._s2 = sums[:, :, 1] * scale[:, 1:2]
        self._s3 = sums[:, :, 2] * scale[:, 2:3]
        self._first = first
        self._product = None if first is None else sums[:, :, -first.shape[2] :].copy()

    def times(self, V: Floats) -> Floats:
        """Return the products of M2 of every group with its own matrix.

        Parameters
        ----------
        V : ndarray of shape (g, d, m)
            A matrix for each group.

        Returns
        -------
        ndarray of shape (g, d, m)
            The products.
        """
        if V is self._first and self._product is not None:
            product = self._product
        else:
            product = self._rows.sum(GroupProducts(V), self._own, self._b)
        return product * self._scale2[:, None, None] - self._s2[:, :, None] * V

    def whitened_slices(self, W: Floats) -> Floats:
        """Return H[r] = W M3[r] W^T of every group.

        Parameters
        ----------
        W : ndarray of shape (g, k, d)
            A matrix for each group.

        Returns
        -------
        ndarray of shape (g, d, k, k)
            The slices.
        """
        k, d = W.shape[1:]
        a, b = np.triu_indices(k)
        P = W[:, a] * W[:, b]
        right = np.concatenate([W, P], axis=1).transpose(0, 2, 1)
        kernel = GroupSlices(np.ascontiguousarray(right), k)
        found = self._rows.sum(kernel, self._own, self._b, self._u)
        found *= self._scale3[:, None, None]
        V, pairs = found[:, :, :k], found[:, :, k:]
        W, P = W.transpose(0, 2, 1), P.transpose(0, 2, 1)
        pairs += 2.0 * self._s3[:, :, None] * P - W[:, :, a] * V[:, :, b] - W[:, :, b] * V[:, :, a]
        H = np.empty((self.n_groups, d, k, k))
        H[:, :, a, b] = H[:, :, b, a] = pairs
        return H

    def of_group(self, j: int, W: Floats | None = None, H: Floats | None = None) -> GroupMoments:
        """Return the moments of one group.

        Parameters
        ----------
        j : int
            The group.
        W : ndarray of shape (k, d), default=None
            A matrix for which the slices are known.
        H : ndarray of shape (d, k, k), default=None
            These slices.

        Returns
        -------
        GroupMoments
            Its products and further slices read all rows again.
        """
        return GroupMoments(self, j, W, H)


class GroupMoments(BaseMoments):
    """The moments of one of several groups, whose whitened slices are known."""

    def __init__(self, of: GroupedMoments, j: int, W: Floats | None, H: Floats | None) -> None:
        self._of, self._j, self._W, self._H = of, j, W, H

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return np.asarray(self._of.m1[self._j])

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (d, d)."""

        def times(V: Floats) -> Floats:
            right = np.zeros((self._of.n_groups, len(V), 1 if V.ndim == 1 else V.shape[1]))
            right[self._j] = V.reshape(right.shape[1:])
            return np.asarray(self._of.times(right)[self._j].reshape(V.shape))

        return symmetric(self._d, times)

    def _slices(self, W: Floats) -> Floats:
        if self._W is None or self._H is None:
            right = np.zeros((self._of.n_groups, *W.shape))
            right[self._j] = W
            return np.asarray(self._of.whitened_slices(right)[self._j])
        if np.array_equal(W, self._W):
            return self._H
        # From the known slices: W = A W_known for every W in the span of the known rows.
        A = W @ np.linalg.pinv(self._W)
        return np.asarray(np.einsum("ab,rbc,dc->rad", A, self._H, A, optimize=True))

    def _tensor(self, W: Floats) -> Floats:
        return np.asarray(np.tensordot(W, self._slices(W), 1))


@dataclass(frozen=True)
class RowWeights:
    """Weights of documents in M1, M2 and M3, up to a factor for each group; see `weighting`."""

    uniform: bool

    def __call__(self, c: Floats, v: Floats, u: Floats) -> Floats:
        """Return the weights, shape (n, 3), from lengths, sample weights and counts per token."""
        out = np.empty((len(c), 3))
        for column, size in zip(out.T, row_sizes(c, u, uniform=self.uniform), strict=True):
            usable = size > 0
            column[:] = np.where(usable, v, 0.0)
            if self.uniform:
                np.divide(column, size, out=column, where=usable)
        return out


def row_sizes(c: Floats, u: Floats, *, uniform: bool) -> tuple[Floats, Floats, Floats]:
    """Return the numbers of words, pairs and triples of documents; zero for those left out."""
    words = c / u
    # Whole counts need 2 (3) words. Log-scaled lengths are fractional: weighted by length, every
    # document with positive c(c-u) contributes; weighted uniformly, a document needs at least 2 (3)
    # words, or 1 / c(c-u) would be huge. 1e-6 absorbs the rounding of scaled lengths.
    shortest = 2 - 1e-6 if uniform else 1 + 1e-6
    pairs = np.where(words > shortest, c * (c - u), 0.0)
    return c, pairs, np.where(words > shortest + 1, pairs * (c - 2 * u), 0.0)


@dataclass(frozen=True)
class MomentSums:
    """Sums of words for M1 and the diagonals of M2 and M3, with the totals of the weights."""

    n_groups: int
    uniform: bool
    first: Floats | None

    def __call__(self, B: Block, own: Ints, c: Floats, v: Floats, u: Floats, b: Floats) -> Floats:
        """Return the sums, (g, d, 3 or 4), with the first products, and four totals of groups."""
        columns = [v, b[:, 1] * u, b[:, 2] * (u * u)] + [b[:, 0]] * self.uniform
        right, g = np.stack(columns, axis=1), self.n_groups
        m = 0 if self.first is None else self.first.shape[2]
        out, sums, more = with_room(B, g, right.shape[1] + m, 4 * g)
        if self.first is None:
            B.own_tdot(right, own, g, out=sums)
        else:
            B.own_sums(self.first, own, b[:, 1], right, out=sums)
        sizes = row_sizes(c, u, uniform=self.uniform)
        totals = [column * size for column, size in zip(b.T, sizes, strict=True)]
        more += np.concatenate([group_totals(own, values, g) for values in (*totals, v)])
        return out


@dataclass(frozen=True)
class GroupProducts:
    """Products X^T (b2 * (X V)) of every group with its own V."""

    V: Floats

    def __call__(self, B: Block, own: Ints, b: Floats) -> Floats:
        """Return the products, shape (g, d, m)."""
        return B.own_gram(self.V, own, b[:, 1], out=B.total)


@dataclass(frozen=True)
class GroupSlices:
    """The sums over rows in the slices of M3.

    With z = W x and P_ab = w_a * w_b: X^T (b3 u z), and X^T (b3 (z_a z_b - u X P_ab)) for all pairs
    a <= b.
    """

    right: Floats  # W^T and P^T, (g, d, k + k (k + 1) / 2)
    k: int

    def __call__(self, B: Block, own: Ints, b: Floats, u: Floats) -> Floats:
        """Return the sums, shape (g, d, k + k (k + 1) / 2)."""
        return B.own_slices(self.right, own, b[:, 2], u, self.k, out=B.total)
