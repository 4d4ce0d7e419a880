"""S Remark 3: three ways to weight documents of different lengths in the moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats
from momentree._validation import generator
from momentree.backends import Block, RowArray, Rows
from momentree.backends.kernels import kernel
from momentree.exceptions import InvalidDataError


@kernel
@dataclass(frozen=True)
class DocumentSizes:
    """c, c(c-1) and c(c-1)(c-2) of documents, zero if they have too few words, shape (n, 3).

    With a count per token u, it replaces 1 in these formulas.
    """

    uniform: bool
    u: float

    def __call__(self, B: Block, c: Floats, *u: Floats) -> Floats:  # noqa: ARG002
        """Return the sizes of the documents of a block."""
        one = u[0] if u else self.u
        words = c / one
        # Whole counts need 2 (3) words. Log-scaled lengths are fractional: weighted by length,
        # every document with positive c(c-u) contributes; weighted uniformly, a document needs at
        # least 2 (3) words, or 1 / c(c-u) would be huge. 1e-6 absorbs the rounding of scaled
        # lengths.
        shortest = 2 - 1e-6 if self.uniform else 1 + 1e-6
        pairs = np.where(words > shortest, c * (c - one), 0.0)
        triples = np.where(words > shortest + 1, pairs * (c - 2 * one), 0.0)
        return np.asarray(np.maximum(np.stack([c, pairs, triples], axis=1), 0.0))


@kernel
@dataclass(frozen=True)
class SizeTotals:
    """sum v c, sum v c(c-1), ..., or with `uniform` the weights of documents of such sizes."""

    uniform: bool

    def __call__(self, B: Block, sizes: Floats, v: Floats) -> Floats:  # noqa: ARG002
        """Return the totals of a block, shape (3,)."""
        return np.asarray(v @ (sizes > 0) if self.uniform else v @ sizes)


@kernel
@dataclass(frozen=True, eq=False)
class DocumentWeights:
    """r1, r2, r3 of documents, given their sizes and the totals, shape (n, 3)."""

    uniform: bool
    totals: Floats

    def __call__(self, B: Block, sizes: Floats, v: Floats) -> Floats:  # noqa: ARG002
        """Return the weights of the documents of a block."""
        by = self.totals * sizes if self.uniform else np.broadcast_to(self.totals, sizes.shape)
        weight = np.broadcast_to(v[:, None], sizes.shape)
        return np.divide(weight, by, out=np.zeros(sizes.shape), where=(sizes > 0) & (by > 0))


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
    constant = isinstance(count_per_token, (int, float))
    kernel = DocumentSizes(uniform, float(count_per_token) if constant else 1.0)
    sizes = rows.map(kernel, rows.row_sums, *(() if constant else (count_per_token,)))
    totals = rows.sum(SizeTotals(uniform), sizes, sample_weight)
    return rows.map(DocumentWeights(uniform, totals), sizes, sample_weight)


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
