"""Count the words of texts given to ``fit``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.base import clone

from momentree._validation import check_counts, texts_of
from momentree.exceptions import EmptyCorpusError, InvalidParameterError
from momentree.messages import Message

# The readers are imported when texts are given, because they take as long to import as the rest.
if TYPE_CHECKING:
    from momentree.readers import Corpus

_SETTINGS = ("no_word_in_texts", "only_stop_words", "no_word_kept")
"""Errors whose remedy is a parameter of the vectorizer."""


class Vectorizer(Protocol):
    """Counts words: a ``TextVectorizer``, or another class with scikit-learn's interface."""

    def fit_transform(self, texts: Any) -> Any:
        """Choose words, and return their counts, one row per text."""

    def transform(self, texts: Any) -> Any:
        """Return the counts of the same words in new texts."""


def corpus_of(X: Any, given: Vectorizer | None, *, weighted: bool) -> tuple[Corpus | None, Any]:
    """Return texts or a corpus with its vectorizer; None and None for counts.

    Copies of a text keep their weights if samples are `weighted` by hand.
    """
    if is_corpus(X):
        return X, X.vectorizer
    texts = texts_of(X)
    if texts is None:
        return None, None
    from momentree.readers import TextVectorizer
    from momentree.readers.copies import find_copies, weigh_copies
    from momentree.readers.tables.values import count_words
    from momentree.readers.text.objects import Corpus
    from momentree.readers.text.vectorize import count_documents

    if not texts:
        raise EmptyCorpusError("no_documents")
    if len(texts) == 1:
        raise EmptyCorpusError("one_text", n_words=count_words(texts[0]))
    unique: Any = False if weighted else "auto"
    vectorizer = TextVectorizer() if given is None else clone(given)
    if isinstance(vectorizer, TextVectorizer):
        whole = replace(vectorizer, passages=None)  # one sample per text
        with _in_words_of_fit():
            corpus = count_documents(texts, whole, unique=unique)
        return replace(corpus, notes=[*map(_note_in_fit, corpus.notes)]), corpus.vectorizer
    counts = check_counts(vectorizer.fit_transform(texts))
    words = range(counts.shape[1])
    if hasattr(vectorizer, "get_feature_names_out"):
        words = vectorizer.get_feature_names_out()
    with _in_words_of_fit():
        weights, notes = weigh_copies(find_copies(counts, texts), unique)
    corpus = Corpus(
        counts,
        np.array([str(word) for word in words], dtype=object),
        [str(i) for i in range(1, len(texts) + 1)],
        texts=texts,
        weights=weights,
        notes=[*map(_note_in_fit, notes)],
    )
    return corpus, vectorizer


def of_fit(corpus: Corpus, sample_weight: Any, feature_names: Any) -> tuple[Any, Any, Any]:
    """Return the counts of a corpus, the weights of its samples, and its words."""
    if feature_names is not None:
        raise InvalidParameterError("names_of_texts", parameter="feature_names")
    weights = corpus.weights if sample_weight is None else sample_weight
    return corpus.X, weights, corpus.vocabulary


def is_corpus(X: Any) -> bool:
    """Whether X is a corpus of counts, without importing its class."""
    return all(hasattr(X, name) for name in ("X", "vocabulary", "texts", "weights"))


@contextmanager
def _in_words_of_fit() -> Iterator[None]:
    """Give errors of the vectorizer the remedy that ``fit`` offers."""
    try:
        yield
    except EmptyCorpusError as error:
        values = error.message.values
        if error.code == "all_copies":
            weights = {**values, "parameter": "sample_weight", "every": 1}
            raise EmptyCorpusError("all_copies", **weights) from error
        if error.code in _SETTINGS:
            raise EmptyCorpusError("settings_of_vectorizer", problem=error.message) from error
        raise


def _note_in_fit(note: Message) -> Message:
    if note.code == "copies_counted":
        return Message("copies_counted_in_fit", **note.values)
    if note.code == "copies_weighted":
        return Message(note.code, **{**note.values, "parameter": "sample_weight", "other": 1})
    return note
