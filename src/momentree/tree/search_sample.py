"""Of many documents, those in which topics are searched."""

from __future__ import annotations

from momentree._types import Floats
from momentree.backends import RowBlocks, RowSampler

SEARCHED, SEARCHED_OF_TOPIC = 20_000, 1_000
"""Documents in which topics are searched, and for each topic, at least. On samples of models and on
large corpora, EM over all documents then ends as high as after a search in all of them
(``docs/choices.md``)."""
LARGE = 4
"""A sample is drawn only if there are so many times more documents."""
SOME = 5.0
"""Fewer documents of a sample are no topic, unless fewer are allowed in all documents."""


def search_sample(
    rows: RowBlocks, sample_weight: Floats, n_topics: int
) -> tuple[RowBlocks, Floats] | None:
    """Return the documents in which topics are searched.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Counts.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    n_topics : int >= 1
        Number of topics.

    Returns
    -------
    (RowBlocks, ndarray) or None
        A systematic sample of the documents and their weights; None means all. A search takes as
        long as hundreds of products with the data, but topics that are found in 20,000 documents
        need only a few steps of EM over all others.
    """
    size = max(SEARCHED, SEARCHED_OF_TOPIC * n_topics)
    if rows.shape[0] < LARGE * size:
        return None
    at, weight = RowSampler(rows, sample_weight).draw(size)
    return rows.take(at), weight


def least_in_sample(least: float, sampled: Floats, sample_weight: Floats) -> float:
    """Return the least weight of a topic in a sample, given that in all documents."""
    share = float(sampled.sum()) / float(sample_weight.sum())
    return max(least * share, min(least, SOME))
