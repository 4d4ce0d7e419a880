"""Turn documents into a corpus: choose and count their words in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike

import numpy as np

from momentree.readers.text.objects import Corpus, Documents
from momentree.readers.text.selection import MAX_DF, MAX_FEATURES, note_empty
from momentree.readers.text.vectorizer import TextVectorizer, check_texts
from momentree.readers.text.words import AUTO, TOKEN_PATTERN, read_words


def vectorize(
    documents: Documents | Sequence[str],
    *,
    language: str | None = AUTO,
    stop_words: Iterable[str] | PathLike[str] = (),
    min_df: int | float | None = None,
    max_df: int | float = MAX_DF,
    max_features: int | None = MAX_FEATURES,
    token_pattern: str = TOKEN_PATTERN,
    lowercase: bool = True,
) -> Corpus:
    """Count the words of documents.

    Parameters
    ----------
    documents : Documents or sequence of str
        Texts.
    language, stop_words, min_df, max_df, max_features, token_pattern, lowercase : optional
        What counts as a word and which words to keep; see :class:`TextVectorizer`.

    Returns
    -------
    Corpus
        Counts of shape (n, d), int32, one row per document, words in alphabetical order. Documents
        without any of the words kept become empty rows.

    Raises
    ------
    EmptyCorpusError
        If there are no documents, or no word is kept; the message reports how many words each
        filter removed.
    InvalidDataError
        If a text is not a string.
    InvalidParameterError, ReadError, MissingLibraryError
        As in :class:`TextVectorizer`.

    Examples
    --------
    >>> from momentree.datasets import vectorize
    >>> texts = ["The sea, the sea!", "A boat at sea", "Bread and butter", "Butter in a boat"]
    >>> corpus = vectorize(texts)
    >>> corpus.vocabulary.tolist(), corpus.X.shape
    (['boat', 'butter', 'sea'], (4, 3))
    """
    settings = TextVectorizer(
        language=language,
        stop_words=read_words("stop_words", stop_words),
        min_df=min_df,
        max_df=max_df,
        max_features=max_features,
        token_pattern=token_pattern,
        lowercase=lowercase,
    )
    if not isinstance(documents, Documents):
        check_texts(documents)
        texts = list(documents)
        documents = Documents(texts, [str(i) for i in range(1, len(texts) + 1)])
    check_texts(documents.texts)
    settings, notes = settings.adapt(documents.texts)
    vectorizer, X = settings.learn(documents.texts)
    return Corpus(
        X=X,
        vocabulary=np.asarray(vectorizer.vocabulary, dtype=object),
        ids=documents.ids,
        labels=documents.labels,
        texts=documents.texts,
        name=documents.name,
        vectorizer=vectorizer,
        notes=[*documents.notes, *notes, *note_empty(X)],
    )
