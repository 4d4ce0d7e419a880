"""Of many documents, those in which topics are searched, or by which trees are grown."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends import RowArray, RowBlocks, Rows, RowSampler, in_given_order, taken
from momentree.inference.posteriors import responsibilities
from momentree.objects import MixtureParameters
from momentree.preprocessing.burstiness import with_frequent_words
from momentree.refinement.em import m_step

P = TypeVar("P", bound=MixtureParameters)

SEARCHED, SEARCHED_OF_TOPIC = 20_000, 1_000
"""Documents in which topics are searched, and for each topic, at least. On samples of models and on
large corpora, EM over all documents then ends as high as after a search in all of them
(``docs/choices.md``)."""
SEARCHED_WORDS, SEARCHED_NNZ = 4_096, 1 << 20
"""The most frequent words, by which topics are searched in samples and in tables of so many stored
values. A search then takes half the time, and agrees with labels as well (``docs/choices.md``)."""
GROWN, GROWN_OF_LEAF = 100_000, 10_000
"""The least number of documents by which a tree is grown if no search follows, and of documents for
each leaf. Agreement with the truth is then at least that of a tree of all documents
(``docs/choices.md``)."""
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


def searched(rows: Rows, sample_weight: RowArray, n_topics: int) -> tuple[Rows, RowArray, Rows]:
    """Return the documents and the words by which topics are searched.

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
    documents : Rows of shape (m, d)
        A systematic sample of the documents, or all. A search takes as long as hundreds of products
        with the data, but topics that are found in 20,000 documents need only a few steps of EM
        over all others.
    weight : row array of shape (m,)
        Their weights.
    frequent : Rows of shape (m, e)
        Their counts of the most frequent words: EM then goes on with all words. Of fewer than a
        million stored values, this is `documents`.
    """
    part = _sample(rows, sample_weight, _size(n_topics))
    if part is not None:
        return *part, with_frequent_words(part[0], SEARCHED_WORDS)
    many = isinstance(rows, RowBlocks) and rows.nnz >= SEARCHED_NNZ
    frequent = with_frequent_words(rows, SEARCHED_WORDS) if many else rows
    return rows, sample_weight, frequent


def with_all_words(
    parameters: P,
    rows: Rows,
    at: Ints | None,
    whole: Rows,
    order: Ints | None,
    weight: RowArray,
    smoothing: float,
) -> P:
    """Return topics that were found by frequent words as topics of all words.

    Parameters
    ----------
    parameters : MixtureParameters
        Topics of frequent words.
    rows, at : Rows of shape (n, m), ndarray of shape (n,) or None
        Counts of these words in documents, and their order, from ``ordered``.
    whole, order : Rows of shape (n, d), ndarray of shape (n,) or None
        Counts of all words in the same documents, and their order.
    weight : row array of shape (n,)
        Weights >= 0 of the documents in the order of `whole`.
    smoothing : float
        The pseudo-count.

    Returns
    -------
    MixtureParameters
        The topics in which these documents have the same probabilities.
    """
    R = in_given_order(responsibilities(rows, parameters), at)
    return m_step(type(parameters), whole, R if order is None else R[order], weight, smoothing)


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
