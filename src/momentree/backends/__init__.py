"""Sums over rows: kernels on row blocks, run on threads in a fixed order."""

from momentree.backends.answers import answers_kept
from momentree.backends.base import Kernel, RowArray, Rows, RowsRead, count_pass, counted_passes
from momentree.backends.block import Block
from momentree.backends.file_rows import FileRows
from momentree.backends.kernels import use_kernels
from momentree.backends.lifted import LiftedRows
from momentree.backends.products import group_totals, parted, with_room
from momentree.backends.rounds import NextRound, Rounds, Sites, next_round
from momentree.backends.row_order import RowSampler, in_canonical_order, in_given_order, ordered
from momentree.backends.rows import RowBlocks
from momentree.backends.sites import DESCRIBE, Site, State, read_question
from momentree.backends.sources import as_rows, collected, is_collection, is_elsewhere, taken
from momentree.backends.threads import get_num_threads, num_threads, single_threaded_blas

__all__ = [
    "DESCRIBE",
    "Block",
    "FileRows",
    "Kernel",
    "LiftedRows",
    "NextRound",
    "Rounds",
    "RowArray",
    "RowBlocks",
    "RowSampler",
    "Rows",
    "RowsRead",
    "Site",
    "Sites",
    "State",
    "answers_kept",
    "as_rows",
    "collected",
    "count_pass",
    "counted_passes",
    "get_num_threads",
    "group_totals",
    "in_canonical_order",
    "in_given_order",
    "is_collection",
    "is_elsewhere",
    "next_round",
    "num_threads",
    "ordered",
    "parted",
    "read_question",
    "single_threaded_blas",
    "taken",
    "use_kernels",
    "with_room",
]
