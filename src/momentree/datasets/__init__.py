"""Readers of text and counts, samplers that know the truth, and text that is always there."""

from momentree.datasets.counts import align_columns, holds_counts, read_counts
from momentree.datasets.objects import Corpus, Documents
from momentree.datasets.samplers import TopicSample, make_hierarchical_topics, make_single_topic

__all__ = [
    "Corpus",
    "Documents",
    "TopicSample",
    "align_columns",
    "holds_counts",
    "make_hierarchical_topics",
    "make_single_topic",
    "read_counts",
]
