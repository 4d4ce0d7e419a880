"""Suggest stop words: words of many documents that say nothing about topics."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.messages import Message

_LEAST_DF = 0.2
"""Smallest fraction of the documents with a word that may be suggested."""
_MOST_INFORMATION = 0.02
"""Largest part of the entropy of the presence of a word that its topic explains."""
_MOST_WORDS = 10


def notes_on_common_words(X: Any, labels: Ints, vocabulary: NDArray[Any]) -> list[Message]:
    """Return a note on words that are common, and about as common in every topic.

    The mutual information of the topic and the presence of such a word is at most 2% of the entropy
    of its presence, including what is expected by chance, (k - 1) / 2n nats for k topics and n
    documents.
    """
    at = np.flatnonzero(labels >= 0)
    X, labels = sp.csc_array(sp.csr_array(X)[at]), labels[at]
    n, k = X.shape[0], int(labels.max()) + 1
    df = np.diff(X.indptr) / n
    columns = np.flatnonzero((df >= _LEAST_DF) & (df < 1.0))
    if k < 2 or not len(columns):
        return []
    occurs = (X[:, columns] > 0).astype(np.float64)
    members = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(k, n))
    inside = np.asarray((members @ occurs).toarray()) / n
    share = np.bincount(labels, minlength=k)[:, None] / n
    p = inside.sum(axis=0)
    information = (_terms(inside, p * share) + _terms(share - inside, (1 - p) * share)).sum(axis=0)
    entropy = -_terms(p, np.ones_like(p)) - _terms(1 - p, np.ones_like(p))
    even = information + (k - 1) / (2 * n) <= _MOST_INFORMATION * entropy
    words = sorted(
        zip(np.round(-p[even], 12).tolist(), map(str, vocabulary[columns[even]]), strict=True)
    )
    found = [word for _, word in words[:_MOST_WORDS]]
    if not found:
        return []
    return [Message("words_without_topic", words=found, n_words=len(found), joined=",".join(found))]


def _terms(p: Floats, q: Floats) -> Floats:
    positive = np.maximum(p, 1e-300)
    return np.where(p > 0, p * np.log(positive / np.maximum(q, 1e-300)), 0.0)
