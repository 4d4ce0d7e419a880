"""Corpora that come as counts of words."""

from momentree.readers.counts.counts import holds_counts, read_counts

__all__ = ["holds_counts", "read_counts"]
