"""How rows are divided into blocks, and blocks into chains: the same for any number of threads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from momentree._types import Ints
from momentree.backends.kernels import Kernels
from momentree.core.pages import in_parts

BLOCK_NNZ = {"scipy": (1 << 17, 1 << 18), "numba": (1 << 18, 1 << 20)}
"""Stored values per block, at least and at most; between the two, there are eight blocks. Blocks
for SciPy's functions are smaller, because their values are copied in double precision."""
N_CHAINS = 16
"""Blocks are summed in this many chains for any number of threads, which fixes the order of
additions and limits the useful number of threads."""
LEAST_CHAINS, WORTH = 2, 2
"""The least number of chains, and how many stored values a chain must read for each number in its
sum: with fewer, adding up the sums of chains would take longer than reading the rows."""


def cuts_between_blocks(X: Any, kernels: Kernels, block_nnz: int | None) -> Ints:
    """Return where the blocks of a CSR array begin, by row, and the number of rows at the end."""
    if block_nnz is None:
        least, most = BLOCK_NNZ[kernels]
        # A partial sum has d rows: blocks grow with d, so that additions stay cheap.
        block_nnz = max(least, min(most, -(-X.nnz // 8)), 4 * X.shape[1])
    # Of the type of the row pointers, which would be copied otherwise.
    ends = np.arange(block_nnz, X.nnz, block_nnz).astype(X.indptr.dtype)
    cuts, start, first = [np.zeros(1, np.intp)], 0, 0
    for part in in_parts(X.indptr):
        last = int(np.searchsorted(ends, part[-1], side="right"))
        cuts.append(start + np.searchsorted(part, ends[first:last], side="left"))
        start, first = start + len(part), last
    return np.unique(np.concatenate([*cuts, [X.shape[0]]])).astype(np.intp)


def n_chains(nnz: int, size: int, most: int) -> int:
    """Return the number of chains that each read enough for a sum of this size of its own."""
    n = most
    while n > LEAST_CHAINS and nnz < n * WORTH * size:
        n //= 2
    return n


def in_chains(blocks: list[slice], n: int) -> list[list[slice]]:
    """Divide blocks into at most n chains of nearly equal length.

    Without blocks, there is one chain with an empty block.
    """
    blocks = blocks or [slice(0, 0)]
    n = min(n, len(blocks))
    ends = [len(blocks) * i // n for i in range(n + 1)]
    return [blocks[a:b] for a, b in pairwise(ends)]
