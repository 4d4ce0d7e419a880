"""Choose the words of a corpus of counts, by the same rule as for texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import EmptyCorpusError
from momentree.messages import Message
from momentree.readers.copies import check_unique, find_copies, weigh_copies
from momentree.readers.text.languages import choose_for_counts
from momentree.readers.text.objects import Corpus
from momentree.readers.text.selection import (
    MAX_DF,
    MAX_FEATURES,
    check_limits,
    note_empty,
    select_columns,
)
from momentree.readers.text.words import AUTO, TOKEN_PATTERN, read_words, unwanted_words


def filter_vocabulary(
    corpus: Corpus,
    *,
    language: str | None = AUTO,
    stop_words: Iterable[str] | PathLike[str] = (),
    min_df: int | float | None = None,
    max_df: int | float = MAX_DF,
    max_features: int | None = MAX_FEATURES,
    token_pattern: str | None = None,
    unique: bool | Literal["auto"] = "auto",
) -> Corpus:
    """Choose the words of a corpus of counts, as :func:`vectorize` does for texts.

    Parameters
    ----------
    corpus : Corpus
        Counts with their words; not modified.
    language, stop_words, min_df, max_df, max_features : optional
        Which words to keep; see :class:`TextVectorizer`. With "auto", stop words among the most
        frequent words show the language.
    token_pattern : str or None, default=None
        Leave out words that do not fully match this regular expression. None keeps words of any
        form, because the counts may be of codes and numbers.
    unique : bool or "auto", default="auto"
        Whether each group of equal or nearly equal documents has the weight of one, as in
        :func:`vectorize`.

    Returns
    -------
    Corpus
        The same documents; fewer words, in the same order. If a word was left out, `vectorizer`
        is None.

    Raises
    ------
    EmptyCorpusError
        If there are no documents, or no word is kept; the message reports how many words each
        filter removed.
    InvalidParameterError, ReadError
        As in :class:`TextVectorizer`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.datasets import Corpus, filter_vocabulary
    >>> X = sp.csr_array([[1, 2, 0, 3], [1, 1, 0, 0], [2, 0, 1, 0], [1, 0, 1, 0]])
    >>> corpus = Corpus(X, np.array(["the", "sea", "bread", "rare"]), ids=list("abcd"))
    >>> filter_vocabulary(corpus).vocabulary.tolist()
    ['sea', 'bread']
    """
    check_limits(min_df, max_df, max_features)
    check_unique(unique)
    words = np.asarray(corpus.vocabulary, dtype=object)
    X = corpus.X
    df = np.bincount(X.indices[X.data > 0], minlength=X.shape[1])
    if not X.shape[0]:
        raise EmptyCorpusError("no_documents")
    candidates, notes = candidate_words(words, df, language, stop_words, token_pattern)
    counts = sp.csr_array(X)
    counts.sort_indices()
    weights, copied = weigh_copies(find_copies(counts[:, np.flatnonzero(candidates)]), unique)
    keep, dropped = select_columns(counts, words, min_df, max_df, max_features, candidates, weights)
    found = [*notes, *copied]
    if len(keep) == len(words):
        if not found:
            return corpus
        return replace(corpus, weights=weights, notes=[*corpus.notes, *found])
    X = sp.csr_array(counts[:, keep])
    return replace(
        corpus,
        X=X,
        vocabulary=corpus.vocabulary[keep],
        vectorizer=None,
        weights=weights,
        notes=[*corpus.notes, *found, *dropped, *note_empty(X)],
    )


def candidate_words(
    words: NDArray[Any],
    df: NDArray[Any],
    language: str | None,
    stop_words: Iterable[str] | PathLike[str],
    token_pattern: str | None,
) -> tuple[NDArray[np.bool_], tuple[Message, ...]]:
    """Mark the words that are neither stop words nor of another form, given their frequencies."""
    pattern = TOKEN_PATTERN if token_pattern is None else token_pattern
    reading = choose_for_counts(list(map(str, words)), df, language)
    unwanted = unwanted_words(reading.language, read_words("stop_words", stop_words), pattern)
    found = np.fromiter((str(word).lower() not in unwanted for word in words), dtype=bool)
    if token_pattern is not None:
        matches = re.compile(token_pattern).fullmatch
        found &= np.fromiter((matches(str(word)) is not None for word in words), dtype=bool)
    if not found.any():
        raise EmptyCorpusError("no_candidate_words", n_words=len(words))
    return found, reading.notes
