"""Readers of text and counts, samplers that know the truth, and text that is always there."""

from momentree.datasets.objects import Corpus, Documents
from momentree.datasets.samplers import TopicSample, make_hierarchical_topics, make_single_topic

__all__ = [
    "Corpus",
    "Documents",
    "TopicSample",
    "make_hierarchical_topics",
    "make_single_topic",
]
