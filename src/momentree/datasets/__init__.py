"""Readers of text and counts, samplers that know the truth, and text that is always there."""

from momentree.datasets.objects import Corpus, Documents

__all__ = [
    "Corpus",
    "Documents",
]
