"""Canonical order of rows, the same for every permutation of the input."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends.rows import RowBlocks

SORTED_NNZ = 1 << 22
"""Larger tables are not sorted: the sorted copy takes 8 bytes per stored value."""


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
    if rows.matrix.nnz > SORTED_NNZ:
        return rows, np.arange(n, dtype=np.intp)
    # RandomState draws the same numbers with every version of NumPy.
    v = np.random.RandomState(0).random_sample(d)
    at = np.lexsort((sample_weight, rows.map(lambda B: B.dot(v)), sample_weight == 0))
    return rows.take(at), at
