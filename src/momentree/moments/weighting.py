"""S Remark 3: three ways to weight documents of different lengths in the moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats
from momentree._validation import generator
from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError


def document_weights(
    rows: RowBlocks,
    sample_weight: Floats,
    *,
    uniform: bool,
    count_per_token: Floats | float = 1.0,
) -> Floats:
    """Return r1, r2, r3 of shape (3, n): the weight of each document in M1, M2 and M3.

    With c the length of a document, v its sample weight and sums over documents,

        r1 = v / sum v c,   r2 = v / sum v c(c-1),   r3 = v / sum v c(c-1)(c-2)

    for the weighting by length (S Theorem 1), and r1 = v / (c sum v), r2 = v / (c(c-1) sum v),
    r3 = v / (c(c-1)(c-2) sum v) for the uniform one (Zou et al. 2013). After log scaling, the
    count per token u of a document replaces 1 in these formulas.

    Documents with fewer than 2 (3) words have no weight in M2 (M3). If no document has enough
    words, all weights are zero.
    """
    c, u = rows.row_sums, count_per_token
    words = c / u
    # Whole counts need 2 (3) words. Log-scaled lengths are fractional: weighted by length, every
    # document with positive c(c-u) contributes; weighted uniformly, a document needs at least 2 (3)
    # words, or 1 / c(c-u) would be huge. 1e-6 absorbs the rounding of scaled lengths.
    shortest = 2 - 1e-6 if uniform else 1 + 1e-6
    pairs = np.where(words > shortest, c * (c - u), 0.0)
    triples = np.where(words > shortest + 1, pairs * (c - 2 * u), 0.0)
    r = np.zeros((3, len(c)))
    for m, size in enumerate((c, pairs, triples)):
        usable = size > 0
        weight = np.where(usable, sample_weight, 0.0)
        total = float(weight @ (usable if uniform else size))
        if total > 0:
            np.divide(weight, total * size if uniform else total, out=r[m], where=usable)
    return r


def three_words(X: Any, random_state: int | np.random.RandomState | None) -> Any:
    """Draw three distinct word positions from each document (Anandkumar et al. 2012b).

    Documents with fewer than three words become empty. S Theorem 1 averages x1 (x) x2 (x) x3 over
    the six orders of three words, which keeps the expectation and makes it symmetric.
    """
    fractional = X.data != np.floor(X.data)
    if fractional.any():
        value = float(X.data[np.argmax(fractional)])
        raise InvalidDataError(
            "three_words_need_whole_counts", weighting="three_words", value=value
        )
    rng = generator(random_state)
    ends = np.cumsum(X.data.astype(np.int64))
    row_ends = np.concatenate(([0], ends))[X.indptr]
    start, c = row_ends[:-1], np.diff(row_ends)
    rows = np.flatnonzero(c >= 3)
    n = c[rows]
    # Draw distinct positions from shrinking ranges, and step over the earlier draws.
    first = rng.randint(0, n)
    second = rng.randint(0, n - 1)
    second += second >= first
    third = rng.randint(0, n - 2)
    low, high = np.minimum(first, second), np.maximum(first, second)
    third += third >= low
    third += third >= high
    positions = start[rows] + np.stack([first, second, third])
    words = X.indices[np.searchsorted(ends, positions, side="right")]
    drawn = (np.ones(words.size), (np.tile(rows, 3), words.ravel()))
    return sp.csr_array(drawn, shape=X.shape)
