"""Notes on words: topics of function words, and common words that say nothing about topics."""

from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from momentree._types import Floats, Ints
from momentree.estimators.names import WORD_LAMBDA
from momentree.estimators.node import TreeNode
from momentree.messages import Message
from momentree.metrics.words import relevance_order
from momentree.readers import LANGUAGES, stop_words
from momentree.readers.text.languages import name_of_language
from momentree.report.estimators import Fitted, fitted

_N_WORDS, _N_SHOWN = 10, 6
_MIN_WORDS, _OF_ONE_LANGUAGE = 5, 0.4
"""A topic with enough words consists of function words if such a share are those of a language."""

_MIN_OF_ALL = 0.1
"""Least probability of all words of that language in the topic. If its function words are kept, it
is 0.3 to 0.6; it is 0.05 for Dante, some of whose Italian words are on the Spanish list."""

_MIN_DF = 0.2
"""Smallest fraction of the documents with a word that may be suggested."""
_MAX_INFORMATION = 0.02
"""Largest part of the entropy of the presence of a word that its topic explains."""
_MAX_WORDS = 10


def notes_on_function_words(estimator: Any) -> list[Message]:
    """Return a note for each language whose function words make up topics of a fitted estimator.

    The ten most relevant words of each leaf are compared with the stop words of all languages.
    """
    model, lists = fitted(estimator), _lists()
    leaves = [] if model.root.is_leaf else list(model.root.leaves())
    words = {leaf.leaf_id or 0: _most_relevant_words(leaf, model) for leaf in leaves}
    total = {
        code: sum(_count_among(stop, top) for top in words.values()) for code, stop in lists.items()
    }
    listed: dict[int, str] = {}
    for leaf in leaves:
        number = leaf.leaf_id or 0
        n_stop = {code: _count_among(stop, words[number]) for code, stop in lists.items()}
        best = max(n_stop, key=lambda code: (n_stop[code], total[code]))
        n = len(words[number])
        if n < _MIN_WORDS or n_stop[best] < _OF_ONE_LANGUAGE * n:
            continue
        columns = [str(word).lower() in lists[best] for word in model.vocabulary]
        if leaf.center[columns].sum() >= _MIN_OF_ALL:
            listed[number] = best
    if not listed:
        return []
    languages = list(dict.fromkeys(listed.values()))
    stop = (
        word
        for number, code in listed.items()
        for word in words[number]
        if word.lower() in lists[code]
    )
    return [
        Message(
            "[topics_of_stop_words] {n_topics:?topic/topics} {topics:and} "
            "{n_topics:?consists/consist} of {names:and} function words ({words:list}), which say "
            "little about subjects: drop them with {parameter:=language}",
            n_topics=len(listed),
            topics=list(listed),
            names=[name_of_language(code) for code in languages],
            words=list(dict.fromkeys(stop))[:_N_SHOWN],
            parameter="language",
            language=",".join(languages),
        )
    ]


def _most_relevant_words(leaf: TreeNode, model: Fitted) -> list[str]:
    base = model.root.center
    columns = np.flatnonzero((leaf.center > 0) & (base > 0))
    order = relevance_order(leaf.center[columns], base[columns], WORD_LAMBDA)
    return [str(word) for word in model.vocabulary[columns[order[:_N_WORDS]]]]


def _count_among(stop: frozenset[str], words: list[str]) -> int:
    return sum(word.lower() in stop for word in words)


@cache
def _lists() -> dict[str, frozenset[str]]:
    # The longer English list has parts of web addresses and codes of countries, too.
    return {code: stop_words(code) for code in LANGUAGES} | {"en": ENGLISH_STOP_WORDS}


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
    columns = np.flatnonzero((df >= _MIN_DF) & (df < 1.0))
    if k < 2 or not len(columns):
        return []
    occurs = (X[:, columns] > 0).astype(np.float64)
    members = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(k, n))
    inside = np.asarray((members @ occurs).toarray()) / n
    share = np.bincount(labels, minlength=k)[:, None] / n
    p = inside.sum(axis=0)
    information = (_terms(inside, p * share) + _terms(share - inside, (1 - p) * share)).sum(axis=0)
    entropy = -_terms(p, np.ones_like(p)) - _terms(1 - p, np.ones_like(p))
    even = information + (k - 1) / (2 * n) <= _MAX_INFORMATION * entropy
    words = sorted(
        zip(np.round(-p[even], 12).tolist(), map(str, vocabulary[columns[even]]), strict=True)
    )
    stop = [word for _, word in words[:_MAX_WORDS]]
    if not stop:
        return []
    return [
        Message(
            "[words_without_topic] {words:list} {n_words:?is/are} in a fifth of the documents or "
            "more, and about as often in every topic; {parameters.stop_words:{joined}} leaves "
            "{n_words:?it/them} out",
            words=stop,
            n_words=len(stop),
            joined=",".join(stop),
        )
    ]


def _terms(p: Floats, q: Floats) -> Floats:
    positive = np.maximum(p, 1e-300)
    return np.where(p > 0, p * np.log(positive / np.maximum(q, 1e-300)), 0.0)
