"""Of many documents, those in which topics are searched, or by which trees are grown."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats
from momentree.backends import RowArray, Rows, RowSampler, taken

SEARCHED, SEARCHED_OF_TOPIC = 20_000, 1_000
"""Documents in which topics are searched, and for each topic, at least. On samples of models and on
large corpora, EM over all documents then ends as high as after a search in all of them
(``docs/choices.md``)."""
GROWN, GROWN_OF_LEAF = 100_000, 10_000
"""Documents by which a tree is grown if no search follows, and for each leaf, at least. Labels then
agree with the truth as well as those of a tree of all documents (``docs/choices.md``)."""
LARGE = 4
"""A sample is drawn only if there are so many times more documents."""
SOME = 5.0
"""Fewer documents of a sample are no topic, unless fewer are allowed in all documents."""


def is_sampled(rows: Rows, n_topics: int) -> bool:
    """Return whether topics are searched in a sample, so that the other rows can stay."""
    return rows.gives_rows and are_many(rows.shape[0], n_topics)


def are_many(n_rows: int, n_topics: int) -> bool:
    """Return whether there are so many documents that topics are searched in a sample of them."""
    return n_rows >= LARGE * _size(n_topics)


def _size(n_topics: int) -> int:
    return max(SEARCHED, SEARCHED_OF_TOPIC * n_topics)


def search_sample(rows: Rows, sample_weight: RowArray, n_topics: int) -> tuple[Rows, Floats] | None:
    """Return the documents in which topics are searched.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Counts.
    sample_weight : row array of shape (n,)
        Weights >= 0.
    n_topics : int >= 1
        Number of topics.

    Returns
    -------
    (Rows, ndarray) or None
        A systematic sample of the documents and their weights; None means all. A search takes as
        long as hundreds of products with the data, but topics that are found in 20,000 documents
        need only a few steps of EM over all others.
    """
    return _sample(rows, sample_weight, _size(n_topics))


def growth_sample(
    rows: Rows, sample_weight: RowArray, n_leaves: float
) -> tuple[Rows, Floats] | None:
    """Return the documents by which a tree is grown, if no search follows.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Counts.
    sample_weight : row array of shape (n,)
        Weights >= 0.
    n_leaves : float >= 1
        The most leaves, possibly infinite.

    Returns
    -------
    (Rows, ndarray) or None
        A systematic sample of the documents and their weights; None means all. The splits follow
        from sums over at least 10,000 documents for each leaf.
    """
    return _sample(rows, sample_weight, max(GROWN, GROWN_OF_LEAF * n_leaves))


def _sample(rows: Rows, weight: RowArray, size: float) -> tuple[Rows, Floats] | None:
    if not rows.gives_rows or rows.shape[0] < LARGE * size:
        return None
    at, drawn = RowSampler(rows, np.asarray(weight)).draw(int(size))
    return taken(rows, at), drawn


def least_in_sample(least: float, share: float) -> float:
    """Return the least weight of a topic in a sample, given that in all documents."""
    return max(least * share, min(least, SOME))
