"""An order of documents that does not depend on the order in which they came."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momentree.backends.rows import RowBlocks

__all__ = ["in_canonical_order"]

SORTED_NNZ = 1 << 22
"""Most stored values that are sorted: the sorted copy takes 8 bytes for each."""


def in_canonical_order(
    rows: RowBlocks, sample_weight: NDArray[np.float64]
) -> tuple[RowBlocks, NDArray[np.intp]]:
    """Return rows in an order that is the same for every shuffle of them.

    Sums of floating-point numbers depend in their last digit on the order of the terms. Where
    groups of documents are exactly symmetric that digit decides which of them splits off, and
    which of two equal leaves comes first. In this order every sum has the same bits.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Word counts, or log-scaled counts.
    sample_weight : ndarray of shape (n,)
        Weights >= 0. Documents without weight come last, where they change no sum.

    Returns
    -------
    rows : RowBlocks of shape (n, d)
        The rows in order. Beyond four million stored values, where nothing is symmetric by
        accident, the rows as they came.
    at : ndarray of intp of shape (n,)
        Where each of them stood.

    Notes
    -----
    Rows are ordered by their product with a fixed random vector: a number that is the same
    wherever a row stands, and differs between rows that differ. Time O(nnz + n log n).

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.backends import RowBlocks, in_canonical_order
    >>> X = np.array([[1, 0], [0, 1], [2, 2]])
    >>> a, _ = in_canonical_order(RowBlocks(sp.csr_array(X)), np.ones(3))
    >>> b, _ = in_canonical_order(RowBlocks(sp.csr_array(X[::-1])), np.ones(3))
    >>> (a.matrix != b.matrix).nnz
    0
    """
    n, d = rows.shape
    if rows.matrix.nnz > SORTED_NNZ:
        return rows, np.arange(n, dtype=np.intp)
    # The stream of RandomState is the same on every version of NumPy.
    v = np.random.RandomState(0).random_sample(d)
    at = np.lexsort((sample_weight, rows.map(lambda B: B.dot(v)), sample_weight == 0))
    return rows.take(at), at
