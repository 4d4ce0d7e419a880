"""Factorial moments of counts as sums over rows, of one group of rows or of several at once.

S Theorem 1 and others; S Remark 3: ways to weight documents of different lengths.
"""

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from momentree._types import Floats, Ints
from momentree.backends import (
    Block,
    RowArray,
    RowBlocks,
    Rows,
    group_totals,
    parted,
    products,
    with_room,
)
from momentree.backends.kernels import kernel
from momentree.moments._base import BaseMoments, chunks, pairs_of, symmetric
from momentree.moments.pairs import PAIR_COLUMNS, PairProducts, unpacked


class FactorialMoments(BaseMoments):
    """Compute M1, M2, M3 of counts, corrected for words paired with themselves.

    With r1, r2, r3 the weights of rows x, and u the count per token (1 for unscaled counts),

        M1 = sum r1 x,     M2 = sum r2 (x x^T - u diag(x)),
        M3[a, b, c] = sum r3 x_a (x_b - u [a = b]) (x_c - u [a = c] - u [b = c]).

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Counts.
    row_weights : row array of shape (n, 3)
        r1, r2, r3, all >= 0.
    count_per_token : row array of shape (n,) or float, default=1.0
        u, the value of one occurrence of a word in each row: 1 for counts, 0 for raw moments,
        another value for scaled counts.

    Notes
    -----
    The d x d x d tensor is never formed. Time O(nnz) for M2 v, O(nnz k^2) for the slices,
    O(nnz k + n k^3 + d k^3) for the tensor; memory O(d k^2 + n k).
    """

    def __init__(
        self, rows: Rows, row_weights: RowArray, count_per_token: RowArray | float = 1.0
    ) -> None:
        self._rows, self._r = rows, row_weights
        self._is_raw = isinstance(count_per_token, (int, float)) and not count_per_token
        self._u = as_row_array(count_per_token, rows)

    @cached_property
    def _column_terms(self) -> Floats:
        # One pass computes M1 and the column sums of the diagonal corrections.
        return self._rows.sum(column_terms, self._r, self._u)

    @property
    def _s3(self) -> Floats:
        return np.asarray(self._column_terms[:, 2])

    @property
    def has_triples(self) -> bool:
        """Whether any document has the three words required for M3."""
        return bool(self._rows.total(self._r)[2] > 0)

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return np.asarray(self._column_terms[:, 0])

    @property
    def m2(self) -> LinearOperator:
        """M2 v = X^T (r2 * (X v)) - s2 * v as an operator of shape (d, d)."""
        s2 = self._column_terms[:, 1]
        if self._rows.few_rounds and self._d <= PAIR_COLUMNS:
            return aslinearoperator(self._pairs - np.diag(s2))

        def matmat(V: Floats) -> Floats:
            V = np.asarray(V, dtype=np.float64)
            product = self._rows.sum(partial(second_moment, V=V), self._r)
            return np.asarray(product - (s2 if V.ndim == 1 else s2[:, None]) * V)

        return symmetric(self._d, matmat)

    @cached_property
    def _pairs(self) -> Floats:
        """Sum r2 x x^T, shape (d, d), in one pass."""
        return unpacked(self._rows.sum(PairProducts(), self._r))

    @property
    def _d(self) -> int:
        return self._rows.shape[1]

    def _slices(self, W: Floats) -> Floats:
        # With z = W x and P_ab = w_a * w_b, for all pairs a <= b,
        #   H_ab = X^T (r3 (z_a z_b - u X P_ab)) - w_a * X^T(r3 u z_b) - w_b * X^T(r3 u z_a)
        #          + 2 s3 * P_ab.
        k, d = W.shape
        Z = self._scores(W)
        Xz = self._weighted_words(Z, k)
        H = np.empty((d, k, k))
        for a, b in pairs_of(k):
            P = (W[a] * W[b]).T
            kernel = partial(pair_sums, a=a, b=b, P=None if self._is_raw else P)
            pairs = self._rows.sum(kernel, Z, self._r, self._u)
            pairs += 2.0 * self._s3[:, None] * P - W[a].T * Xz[:, b] - W[b].T * Xz[:, a]
            H[:, a, b] = H[:, b, a] = pairs
        return H

    def _tensor(self, W: Floats) -> Floats:
        # With z = W x, V = X^T (r3 u z) and P_bc = w_b * w_c,
        #   T_abc = sum r3 z_a z_b z_c - (V_a . P_bc + V_b . P_ac + V_c . P_ab)
        #           + 2 (s3 * w_a) . P_bc.
        k = W.shape[0]
        Z = self._scores(W)
        V = self._weighted_words(Z, k)
        cube = self._rows.sum(cubes, Z, self._r)
        T = np.empty((k, k, k))
        for a in range(k):
            T[a] = W[a, None] * W @ (2.0 * self._s3[:, None] * W.T)
        C = np.stack([(W * V[:, a]) @ W.T for a in range(k)])
        low, middle, high = np.sort(np.indices((k, k, k)), axis=0)
        T += cube[high, middle, low]
        T -= C + C.transpose(1, 0, 2) + C.transpose(1, 2, 0)
        return T

    def _scores(self, W: Floats) -> RowArray:
        """Return z = W x of every row, shape (n, k)."""
        return self._rows.map(partial(products.product, V=np.ascontiguousarray(W.T)))

    def _weighted_words(self, Z: RowArray, k: int) -> Floats:
        """Return X^T (r3 u z), shape (d, k)."""
        each = [partial(weighted_words, columns=columns) for columns in chunks(k)]
        return np.hstack([self._rows.sum(kernel, Z, self._r, self._u) for kernel in each])


def as_row_array(u: RowArray | float, rows: Rows) -> RowArray:
    """Return a number for each row: the given ones, or one for all, which takes no memory."""
    return np.broadcast_to(float(u), rows.shape[:1]) if isinstance(u, (int, float)) else u


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
        self._b = rows.each(partial(row_weights, uniform=uniform), *arrays)
        corrected = True  # where looking at all weights would read a file, or go elsewhere
        if isinstance(rows, RowBlocks) and not rows.is_mapped:
            differences = corrections(*arrays[1:], self._b, uniform=uniform)
            corrected = any(column.any() for column in differences)
        # Sums over words: for the diagonals of M2 and M3, of the words, and for M1.
        n_sums = 2 * corrected + (words is None) + uniform
        n_columns = n_sums + (0 if first is None else first.shape[2])
        kernel = partial(
            moment_sums,
            n_groups=n_groups,
            n_columns=n_columns,
            uniform=uniform,
            corrected=corrected,
            with_words=words is None,
            first=first,
        )
        total = rows.sum(kernel, own, *arrays, self._b)
        sums, more = parted(total, n_groups, n_columns, 4 * n_groups)
        totals = more.reshape(4, n_groups).T
        at = 2 * corrected
        self.words, self.sizes = sums[:, :, at] if words is None else words, totals[:, 3]
        totals = totals[:, :3]
        scale = inverse(totals)
        self._scale2, self._scale3 = scale[:, 1], scale[:, 2]
        self.has_triples = scale[:, 2] > 0
        self.m1 = (sums[:, :, n_sums - 1] if uniform else self.words) * scale[:, :1]
        base = 0.0 if uniform else self.words
        s2, s3 = (sums[:, :, 0], sums[:, :, 1]) if corrected else (0.0, 0.0)
        self._s2 = (base - s2) * scale[:, 1:2]
        self._s3 = (base - s3) * scale[:, 2:3]
        self._first = first
        self._product = None if first is None else sums[:, :, n_sums:].copy()

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
            product = self._rows.sum(partial(group_products, V=V, place=place), self._own, self._b)
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

        def products_of(left: Floats, right: Floats) -> Floats:
            """Return left_a right_b, less that of the last components where a = b."""
            both = left[:, a] * right[:, b]
            both[:, same] -= left[:, -1:] * right[:, -1:]
            return np.asarray(both)

        P = products_of(W, W)
        right = np.concatenate([W, P], axis=1).transpose(0, 2, 1)
        kernel = partial(group_slices, right=np.ascontiguousarray(right), k=k)
        found = self._rows.sum(kernel, self._own, self._b, self._u)
        found *= self._scale3[:, None, None]
        V, pairs = found[:, :, :k].transpose(0, 2, 1), found[:, :, k:].transpose(0, 2, 1)
        pairs = pairs + 2.0 * self._s3[:, None] * P - products_of(W, V) - products_of(V, W)
        H = np.zeros((self.n_groups, d, k, k))
        H[:, :, a, b] = H[:, :, b, a] = pairs.transpose(0, 2, 1)
        return H


# --- weights of documents ------------------------------------------------------------------------


@kernel
def row_weights(c: Floats, v: Floats, u: Floats, *, uniform: bool) -> Floats:
    """Return weights of documents in M1, M2 and M3 up to a factor for each group, (n, 3).

    They follow from lengths, sample weights and counts per token; see :func:`document_weights`.
    """
    out = np.empty((len(c), 3))
    for column, size in zip(out.T, row_sizes(c, u, uniform=uniform), strict=True):
        usable = size > 0
        column[:] = np.where(usable, v, 0.0)
        if uniform:
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
def size_totals(_: Block, c: Floats, u: Floats, b: Floats, *, uniform: bool) -> Floats:
    """Return the totals by which weights are divided; see :func:`document_weights`."""
    return np.asarray(np.einsum("nm,mn->m", b, np.stack(row_sizes(c, u, uniform=uniform))))


@kernel
def scaled_weights(b: Floats, *, scale: Floats) -> Floats:
    """Return weights times a factor for each moment, (n, 3)."""
    return np.asarray(b * scale)


def document_weights(
    rows: Rows,
    sample_weight: RowArray,
    *,
    uniform: bool,
    count_per_token: RowArray | float = 1.0,
) -> RowArray:
    """Return r1, r2, r3 as a row array of shape (n, 3): weights of documents in M1, M2 and M3.

    With c the length of a document, v its sample weight and sums over documents,

        r1 = v / sum v c,   r2 = v / sum v c(c-1),   r3 = v / sum v c(c-1)(c-2)

    for the weighting by length (S Theorem 1), and r1 = v / (c sum v), r2 = v / (c(c-1) sum v),
    r3 = v / (c(c-1)(c-2) sum v) for the uniform one (Zou et al. 2013). After log scaling, the
    count per token u of a document replaces 1 in these formulas.

    Documents with fewer than 2 (3) words have no weight in M2 (M3). If no document has enough
    words, all weights are zero.
    """
    u = as_row_array(count_per_token, rows)
    b = rows.each(partial(row_weights, uniform=uniform), rows.row_sums, sample_weight, u)
    totals = rows.sum(partial(size_totals, uniform=uniform), rows.row_sums, u, b)
    return rows.each(partial(scaled_weights, scale=inverse(totals)), b)


def inverse(totals: Floats) -> Floats:
    """Return 1 / totals, zero for a total of zero."""
    return np.divide(1.0, totals, out=np.zeros(totals.shape), where=totals > 0)


# --- kernels for groups ---------------------------------------------------------------------------


@kernel
def moment_sums(
    B: Block,
    own: Ints,
    c: Floats,
    v: Floats,
    u: Floats,
    b: Floats,
    *,
    n_groups: int,
    n_columns: int,
    uniform: bool,
    corrected: bool,
    with_words: bool,
    first: Floats | None,
) -> Floats:
    """Return sums of words for M1 and the diagonals of M2 and M3, with the totals of the weights.

    The sums have shape (g, d, n_columns). Without `corrected`, there are no corrections to the
    diagonals. The columns of the products with `first` are the last.
    """
    columns = list(corrections(v, u, b, uniform=uniform)) if corrected else []
    columns += [*[v] * with_words, *[b[:, 0]] * uniform]
    out, sums, more = with_room(B, n_groups, n_columns, 4 * n_groups)
    right = np.stack(columns, axis=1) if columns else np.empty((len(v), 0))
    if first is not None:
        B.own_sums(first, own, b[:, 1], right, out=sums)
    elif columns:
        B.own_tdot(right, own, n_groups, out=sums)
    sizes = row_sizes(c, u, uniform=uniform)
    totals = [column * size for column, size in zip(b.T, sizes, strict=True)]
    more += np.concatenate([group_totals(own, values, n_groups) for values in (*totals, v)])
    return out


@kernel
def group_products(B: Block, own: Ints, b: Floats, *, V: Floats, place: Ints) -> Floats:
    """Return X^T (b2 * (X V)) of some groups with their own V, (h, d, m).

    `place` tells which of the h groups a group is; -1 for others.
    """
    return B.own_gram(V, place[own], b[:, 1], out=B.total)


@kernel
def group_slices(B: Block, own: Ints, b: Floats, u: Floats, *, right: Floats, k: int) -> Floats:
    """Return the sums over rows in the slices of M3, of the shape of `right`.

    With z = W x, P_ab = w_a * w_b and `right` W^T and P^T, (g, d, k + k (k + 1) / 2 - 1):
    X^T (b3 u z), and X^T (b3 (z_a z_b - u X P_ab)) for all pairs a <= b but the last, less that of
    the last where a = b.
    """
    return B.own_slices(right, own, b[:, 2], u, k, out=B.total)


# --- kernels for one group ------------------------------------------------------------------------


@kernel
def column_terms(B: Block, r: Floats, u: Floats) -> Floats:
    """Return sum r1 x, sum r2 u x and sum r3 u^2 x, shape (d, 3)."""
    return B.tdot(np.stack([r[:, 0], r[:, 1] * u, r[:, 2] * u * u], axis=1), out=B.total)


@kernel
def second_moment(B: Block, r: Floats, *, V: Floats) -> Floats:
    """Return X^T (r2 * (X V)), shape (d,) or (d, m)."""
    return B.gram(V, r[:, 1], out=B.total)


@kernel
def weighted_words(B: Block, Z: Floats, r: Floats, u: Floats, *, columns: slice) -> Floats:
    """Return X^T (r3 u z) for some columns of the scores z, shape (d, m)."""
    weight = r[:, 2] * u
    return B.tdot(weight[:, None] * Z[:, columns], out=B.total)


@kernel
def pair_sums(
    B: Block, Z: Floats, r: Floats, u: Floats, *, a: Ints, b: Ints, P: Floats | None
) -> Floats:
    """Return X^T (r3 (z_a z_b - u X P_ab)) for some pairs a, b; P is None if u is 0, (d, m)."""
    pairs = r[:, 2, None] * Z[:, a] * Z[:, b]
    if P is not None:
        pairs -= (r[:, 2] * u)[:, None] * B.dot(P)
    return B.tdot(pairs, out=B.total)


@kernel
def cubes(_: Block, Z: Floats, r: Floats) -> Floats:
    """Return sum r3 z_a z_b z_c for a >= b, c, (k, k, k); the others follow by symmetry."""
    k = Z.shape[1]
    weighted = r[:, 2, None] * Z
    out = np.zeros((k, k, k))
    for a in range(k):
        part = Z[:, : a + 1]
        out[a, : a + 1, : a + 1] = part.T @ (weighted[:, a, None] * part)
    return out
