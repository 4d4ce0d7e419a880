"""Counts of words: files of them, and the choice of their words."""

from momentree.readers.counts.align import align_columns
from momentree.readers.counts.files import holds_counts, read_counts
from momentree.readers.counts.filter import filter_vocabulary

__all__ = ["align_columns", "filter_vocabulary", "holds_counts", "read_counts"]
