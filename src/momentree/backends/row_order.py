"""An order of rows that is the same for every permutation of the input, and samples of rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends.base import RowArray, Rows
from momentree.backends.products import product, transposed_product
from momentree.backends.rows import RowBlocks
from momentree.core.pages import each_part, grouped, in_parts, mapped, picked, release

SORTED_NNZ = 1 << 22
"""Larger tables are not sorted: the sorted copy takes 8 bytes per stored value."""
HALF = 16
"""Bits of each of the two numbers in a key of a column. The products of keys with counts are then
exact in double precision, for any order of the values within a row."""


def in_canonical_order(rows: RowBlocks, sample_weight: Floats) -> tuple[RowBlocks, Ints]:
    """Return rows in an order that is the same for every permutation of the input.

    The last digit of a floating-point sum depends on the order of its terms. If groups of rows are
    exactly symmetric, this digit decides which of them splits off and which of two equal leaves
    comes first. In the canonical order every sum has the same bits.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Any numbers.
    sample_weight : ndarray of shape (n,)
        Weights >= 0. Rows of zero weight come last, where they do not affect sums.

    Returns
    -------
    rows : RowBlocks of shape (n, d)
        The rows in canonical order. Tables of more than four million stored values, in which
        exact symmetry is unlikely, are returned unchanged.
    at : ndarray of intp of shape (n,)
        Original position of each row.

    Notes
    -----
    Rows are sorted by their product with a fixed random vector, which does not depend on their
    position and differs between different rows. Time O(nnz + n log n).
    """
    n, d = rows.shape
    if rows.nnz > SORTED_NNZ:
        return rows, np.arange(n, dtype=np.intp)
    # RandomState draws the same numbers with every version of NumPy.
    v = np.random.RandomState(0).random_sample(d)
    at = np.lexsort((sample_weight, rows.map(lambda B: B.dot(v)), sample_weight == 0))
    return rows.take(at), at


def ordered(rows: Rows, sample_weight: RowArray) -> tuple[Rows, RowArray, Ints | None]:
    """Return rows in memory in canonical order, and others as they are.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Any numbers.
    sample_weight : row array of shape (n,)
        Weights >= 0.

    Returns
    -------
    rows, sample_weight : Rows, row array of shape (n,)
        In the same order.
    at : ndarray of intp of shape (n,) or None
        Original position of each row; None if rows keep their order.
    """
    if not isinstance(rows, RowBlocks):
        return rows, sample_weight, None
    rows, at = in_canonical_order(rows, sample_weight)
    return rows, sample_weight[at], at


def in_given_order(values: RowArray, at: Ints | None) -> RowArray:
    """Return a row array in the order of the rows before :func:`ordered`.

    Parameters
    ----------
    values : row array of shape (n, ...)
        Entries in the order of the rows after :func:`ordered`.
    at : ndarray of intp of shape (n,) or None
        Original position of each row, from :func:`ordered`.

    Returns
    -------
    row array of shape (n, ...)
        The same entries in the original order.
    """
    if at is None:
        return values
    out = np.empty_like(values)
    out[at] = values
    return out


RANGE = 1 << 19
"""Keys that are sorted at once, if keys are in a file."""


@dataclass(frozen=True)
class RowSampler:
    """Draws systematic samples of rows, the same rows for every permutation of the input.

    Rows are sorted by a key that depends only on their values, and drawn at equal distances. Equal
    rows are neighbors, so that each kind of row is drawn as often as it should be.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Any numbers.
    sample_weight : ndarray of shape (n,)
        Weights >= 0. Rows of zero weight are not drawn.

    Notes
    -----
    The key is the product of the row with a vector of one number for each column, made from the
    sum of the column and, for columns of equal sums, from its position. Samples therefore hardly
    depend on the order of columns either. Two passes over the data and O(n log n), once, if a
    sample is smaller than the data.
    """

    rows: Rows
    sample_weight: Floats

    def draw(self, size: int) -> tuple[Ints, Floats]:
        """Draw rows in proportion to their weights.

        Parameters
        ----------
        size : int >= 1
            Number of draws.

        Returns
        -------
        at : ndarray of intp
            Positions of the rows in ascending order, each once.
        weight : ndarray
            How often each of them was drawn. If there are no more rows of positive weight than
            `size`, these are all of them with their weights.
        """
        v = self.sample_weight
        if np.count_nonzero(v) <= size:
            at = np.flatnonzero(v)
            return at, v[at]
        total = 0.0
        for part in in_parts(self._order):
            total = float(_ends(total, v[part])[-1])
        wanted, found, before = _spread(size, total), [], 0.0
        for part in in_parts(self._order):
            ends = _ends(before, v[part])
            first, last = np.searchsorted(wanted, (before, ends[-1]))
            found.append(part[np.searchsorted(ends, wanted[first:last], side="right")])
            before = float(ends[-1])
        at, draws = np.unique(np.concatenate(found), return_counts=True)
        return at, draws.astype(np.float64)

    def draw_from_groups(self, labels: Ints, size: int) -> tuple[Ints, Floats]:
        """Draw the same number of rows from each group.

        Parameters
        ----------
        labels : ndarray of int of shape (n,)
            Group of each row.
        size : int >= 1
            Number of rows to draw from each group; smaller groups are drawn entirely.

        Returns
        -------
        at : ndarray of intp
            Positions of the rows in ascending order.
        weight : ndarray
            Their weights, multiplied by the ratio of rows to drawn rows in the group.
        """
        v, start, sizes = self.sample_weight, 0, np.zeros(0, dtype=np.int64)
        for part in in_parts(labels):
            found = np.bincount(part[v[start : start + len(part)] > 0], minlength=len(sizes))
            found[: len(sizes)] += sizes
            sizes, start = found, start + len(part)
        if sizes.max(initial=0) <= size:
            at = np.flatnonzero(v)
            return at, v[at]
        drawn, factor = [], []
        for members in self._of_groups(labels, sizes):
            n = min(size, len(members))
            drawn.append(picked(members, _spread(n, len(members)).astype(np.intp)))
            factor.append(np.full(n, len(members) / n))
        at, ratio = np.concatenate(drawn), np.concatenate(factor)
        ascending = np.argsort(at)
        at, ratio = at[ascending], ratio[ascending]
        return at, v[at] * ratio

    def _of_groups(self, labels: Ints, sizes: Ints) -> Iterator[Ints]:
        """Yield the rows of each group that has any, sorted."""
        if mapped(self._keys) is not None:
            order, ends = self._sort_in_files(labels, len(sizes))
            yield from (order[a:b] for a, b in pairwise(ends) if b > a)
            return
        sorted_labels = labels[self._order]
        for group in np.flatnonzero(sizes):
            yield self._order[sorted_labels == group]

    @property
    def _order(self) -> Ints:
        """Rows of positive weight by their keys; equal rows by their weights."""
        return np.asarray(self._kept("_sampling_order", self._sorted))

    @property
    def _keys(self) -> Floats:
        return np.asarray(self._kept("_sampling_keys", self._made_keys))

    def _kept(self, name: str, made: Callable[[], Any]) -> Any:
        """Return what is kept with the rows, because a fit draws several samples."""
        kept = vars(self.rows).get(name)
        if kept is None or kept[0] is not self.sample_weight:
            kept = vars(self.rows)[name] = self.sample_weight, made()
        return kept[1]

    def _made_keys(self) -> Floats:
        columns = _column_keys(self.rows.sum(transposed_product, self.sample_weight))
        here = isinstance(self.rows, RowBlocks) and not self.rows.is_mapped
        if "row_sums" in vars(self.rows) or not here:
            return np.asarray(self.rows.map(partial(product, V=columns)))
        both = self.rows.map(partial(product, V=np.stack([columns, np.ones(len(columns))], axis=1)))
        self.rows.row_sums = both[:, 1].copy()  # needed soon, in most fits
        return np.asarray(both[:, 0].copy())

    def _sorted(self) -> Ints:
        v, keys = self.sample_weight, self._keys
        if mapped(keys) is not None:
            return self._sort_in_files(np.broadcast_to(np.int32(0), v.shape), 1)[0]
        at = np.flatnonzero(v)
        key = keys[at]
        same = float(v[at].min()) == float(v[at].max())
        return at[_argsort(key) if same else np.lexsort((v[at], key))]

    def _sort_in_files(self, labels: Ints, n_groups: int) -> tuple[Ints, Ints]:
        """Sort rows by group and key; return them in a file, and where each group ends.

        Rows are first divided into ranges of keys, each of which is then sorted in memory.
        """
        v, keys = self.sample_weight, self._keys
        n_ranges = 1 + len(keys) // RANGE
        # Copies, because the pages of a part are released after its use.
        some = np.sort(np.concatenate([part[::n_ranges].copy() for part in in_parts(keys)]))
        borders = some[np.arange(1, n_ranges) * len(some) // n_ranges]
        code = each_part(_Ranges(borders), keys, labels, v)
        order, ends = grouped(code, n_groups * n_ranges)
        for a, b in pairwise(ends.tolist()):
            at = order[a:b]
            order[a:b] = at[np.lexsort((v[at], picked(keys, at)))]
            release(at)
        return order, ends[::n_ranges]


@dataclass(frozen=True)
class _Ranges:
    """The range of each key in its group; -1 for rows without weight or group."""

    borders: Floats

    def __call__(self, key: Floats, label: Ints, weight: Floats) -> Ints:
        found = np.searchsorted(self.borders, key, side="right") + label * (len(self.borders) + 1)
        return np.where((weight > 0) & (label >= 0), found, -1).astype(np.int32)


def _argsort(key: Floats) -> Ints:
    """Return the order of keys; whole numbers are sorted together with their positions, faster."""
    n_bits = max(len(key) - 1, 0).bit_length()
    fits = bool(len(key)) and 0 <= key.min() <= key.max() < 2.0 ** (64 - n_bits)
    if not (fits and (key == np.floor(key)).all()):
        return np.argsort(key, kind="stable")
    both = key.astype(np.uint64)
    both <<= np.uint64(n_bits)
    both |= np.arange(len(key), dtype=np.uint64)
    both.sort()
    both &= np.uint64((1 << n_bits) - 1)
    return both.astype(np.intp)


def _ends(before: float, weight: Floats) -> Floats:
    """Return cumulative sums that continue from a number."""
    return np.cumsum(np.concatenate(([before], weight)))[1:]


def _spread(n: int, end: float) -> Floats:
    """Return n numbers at equal distances between 0 and `end`."""
    return np.asarray((np.arange(n) + 0.5) * (end / n), dtype=np.float64)


def _column_keys(sums: Floats) -> Floats:
    """Return a whole number for each column, mixed from its sum, then from its position."""
    # Rounded, because the last digits of sums depend on the order of rows.
    mixed = sums.astype(np.float32).view(np.uint32).astype(np.uint64)
    for factor in (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93):
        mixed *= np.uint64(factor)
        mixed ^= mixed >> np.uint64(32)
    high = mixed & np.uint64((1 << HALF) - 1)
    # RandomState draws the same numbers with every version of NumPy.
    low = np.random.RandomState(0).randint(0, 1 << HALF, len(sums))
    return high.astype(np.float64) * (1 << HALF) + low
