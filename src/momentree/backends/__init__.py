"""How sums over rows are run: one kernel per sum, and row blocks, threads as ways to run it."""

from momentree.backends.row_order import in_canonical_order
from momentree.backends.rows import Block, RowBlocks
from momentree.backends.threads import get_num_threads, num_threads, single_threaded_blas

__all__ = [
    "Block",
    "RowBlocks",
    "get_num_threads",
    "in_canonical_order",
    "num_threads",
    "single_threaded_blas",
]
