"""Factorial moments of several groups of rows at once, in the same passes over the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends import (
    Block,
    RowArray,
    RowBlocks,
    Rows,
    group_totals,
    parted,
    with_room,
)
from momentree.backends.kernels import kernel


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
    words : ndarray of shape (g, d), default=None
        Weighted sums of the words of each group, if they are known.

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
        words: Floats | None = None,
    ) -> None:
        self._rows, self._own, self._u = rows, own, count_per_token
        self.n_groups = n_groups
        arrays = (rows.row_sums, sample_weight, count_per_token)
        self._b = rows.each(RowWeights(uniform), *arrays)
        corrected = True  # where looking at all weights would read a file, or go elsewhere
        if isinstance(rows, RowBlocks) and not rows.is_mapped:
            differences = corrections(*arrays[1:], self._b, uniform=uniform)
            corrected = any(column.any() for column in differences)
        kernel = MomentSums(n_groups, uniform, corrected, words is None, first)
        total = rows.sum(kernel, own, *arrays, self._b)
        sums, more = parted(total, n_groups, kernel.n_columns, 4 * n_groups)
        totals = more.reshape(4, n_groups).T
        at = 2 * corrected
        self.words, self.sizes = sums[:, :, at] if words is None else words, totals[:, 3]
        totals = totals[:, :3]
        scale = np.divide(1.0, totals, out=np.zeros(totals.shape), where=totals > 0)
        self._scale2, self._scale3 = scale[:, 1], scale[:, 2]
        self.has_triples = scale[:, 2] > 0
        self.m1 = (sums[:, :, kernel.n_sums - 1] if uniform else self.words) * scale[:, :1]
        base = 0.0 if uniform else self.words
        s2, s3 = (sums[:, :, 0], sums[:, :, 1]) if corrected else (0.0, 0.0)
        self._s2 = (base - s2) * scale[:, 1:2]
        self._s3 = (base - s3) * scale[:, 2:3]
        self._first = first
        self._product = None if first is None else sums[:, :, kernel.n_sums :].copy()

    def times(self, V: Floats, which: Sequence[int] | None = None) -> Floats:
        """Return the products of M2 of some groups, each with its own matrix.

        Parameters
        ----------
        V : ndarray of shape (h, d, m)
            A matrix for each of these groups.
        which : sequence of int of length h, default=None
            The groups; None is all of them, in order.

        Returns
        -------
        ndarray of shape (h, d, m)
            The products.
        """
        at: Ints = np.arange(self.n_groups) if which is None else np.asarray(which)
        if V is self._first and self._product is not None:
            product = self._product
        else:
            place = np.full(self.n_groups + 1, -1)  # the last entry is for documents in no group
            place[at] = np.arange(len(at))
            product = self._rows.sum(GroupProducts(V, place), self._own, self._b)
        return product * self._scale2[at, None, None] - self._s2[at, :, None] * V

    def slices_to_rotate(self, W: Floats) -> Floats:
        """Return H[r] = W M3[r] W^T of every group, up to a multiple of the identity.

        Its last diagonal entry is subtracted from all diagonal entries of a slice. This does not
        change what lies off the diagonal after a rotation, and saves one of k (k + 1) / 2 columns.

        Parameters
        ----------
        W : ndarray of shape (g, k, d)
            A matrix for each group.

        Returns
        -------
        ndarray of shape (g, d, k, k)
            The slices; entry (k, k) of each is zero.
        """
        k, d = W.shape[1:]
        a, b = (indices[:-1] for indices in np.triu_indices(k))
        same = a == b

        def pairs_of(left: Floats, right: Floats) -> Floats:
            """Return left_a right_b, less that of the last components where a = b."""
            products = left[:, a] * right[:, b]
            products[:, same] -= left[:, -1:] * right[:, -1:]
            return np.asarray(products)

        P = pairs_of(W, W)
        right = np.concatenate([W, P], axis=1).transpose(0, 2, 1)
        kernel = GroupSlices(np.ascontiguousarray(right), k)
        found = self._rows.sum(kernel, self._own, self._b, self._u)
        found *= self._scale3[:, None, None]
        V, pairs = found[:, :, :k].transpose(0, 2, 1), found[:, :, k:].transpose(0, 2, 1)
        pairs = pairs + 2.0 * self._s3[:, None] * P - pairs_of(W, V) - pairs_of(V, W)
        H = np.zeros((self.n_groups, d, k, k))
        H[:, :, a, b] = H[:, :, b, a] = pairs.transpose(0, 2, 1)
        return H


@kernel
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


def corrections(v: Floats, u: Floats, b: Floats, *, uniform: bool) -> tuple[Floats, Floats]:
    """Return the differences of the weights in the diagonals of M2 and M3 from those of words.

    With weights by length, they are zero except after log scaling and for documents of one or two
    words.
    """
    base = 0.0 if uniform else v
    return base - b[:, 1] * u, base - b[:, 2] * (u * u)


@kernel
@dataclass(frozen=True)
class MomentSums:
    """Sums of words for M1 and the diagonals of M2 and M3, with the totals of the weights."""

    n_groups: int
    uniform: bool
    corrected: bool  # whether there may be corrections to the diagonals
    with_words: bool
    first: Floats | None

    @property
    def n_sums(self) -> int:
        """Number of sums over words: for the diagonals of M2 and M3, of the words, and for M1."""
        return 2 * self.corrected + self.with_words + self.uniform

    @property
    def n_columns(self) -> int:
        """Number of all sums, with those of the first products."""
        return self.n_sums + (0 if self.first is None else self.first.shape[2])

    def __call__(self, B: Block, own: Ints, c: Floats, v: Floats, u: Floats, b: Floats) -> Floats:
        """Return the sums, shape (g, d, n_columns), and four totals of groups."""
        g = self.n_groups
        columns = list(corrections(v, u, b, uniform=self.uniform)) if self.corrected else []
        # Corrections of a few documents save their columns in all other blocks.
        start = 0 if any(column.any() for column in columns) else len(columns)
        columns = [*columns[start:], *[v] * self.with_words, *[b[:, 0]] * self.uniform]
        out, sums, more = with_room(B, g, self.n_columns, 4 * g)
        right = np.stack(columns, axis=1) if columns else np.empty((len(v), 0))
        if self.first is not None:
            B.own_sums(self.first, own, b[:, 1], right, out=sums[:, :, start:])
        elif columns:
            B.own_tdot(right, own, g, out=sums[:, :, start:])
        sizes = row_sizes(c, u, uniform=self.uniform)
        totals = [column * size for column, size in zip(b.T, sizes, strict=True)]
        more += np.concatenate([group_totals(own, values, g) for values in (*totals, v)])
        return out


@kernel
@dataclass(frozen=True)
class GroupProducts:
    """Products X^T (b2 * (X V)) of some groups with their own V."""

    V: Floats  # (h, d, m)
    place: Ints  # which of the h groups a group is; -1 for others

    def __call__(self, B: Block, own: Ints, b: Floats) -> Floats:
        """Return the products, shape (h, d, m)."""
        return B.own_gram(self.V, self.place[own], b[:, 1], out=B.total)


@kernel
@dataclass(frozen=True)
class GroupSlices:
    """The sums over rows in the slices of M3.

    With z = W x and P_ab = w_a * w_b: X^T (b3 u z), and X^T (b3 (z_a z_b - u X P_ab)) for all pairs
    a <= b but the last, less that of the last where a = b.
    """

    right: Floats  # W^T and P^T, (g, d, k + k (k + 1) / 2 - 1)
    k: int

    def __call__(self, B: Block, own: Ints, b: Floats, u: Floats) -> Floats:
        """Return the sums, of the shape of `right`."""
        return B.own_slices(self.right, own, b[:, 2], u, self.k, out=B.total)
