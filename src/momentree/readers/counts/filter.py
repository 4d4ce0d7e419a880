"""Choose the words of a corpus of counts, or align them with another vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import EmptyCorpusError, InvalidDataError
from momentree.messages import Message, wording
from momentree.readers.copies import check_unique, find_copies, weigh_copies
from momentree.readers.text import languages, objects, selection
from momentree.readers.text.words import AUTO, TOKEN_PATTERN, read_words, unwanted_words


def align_columns(corpus: objects.Corpus, vocabulary: Sequence[str]) -> objects.Corpus:
    """Align counts with the columns of another vocabulary, such as that of a fitted tree.

    Parameters
    ----------
    corpus : Corpus
        Counts with their own vocabulary.
    vocabulary : sequence of str of shape (d,)
        Words of the new columns, all different.

    Returns
    -------
    Corpus
        Counts of shape (n, d): words not in `vocabulary` are left out, and words not in `corpus`
        have zero counts.

    Raises
    ------
    InvalidDataError
        If the vocabularies have no words in common, or `vocabulary` repeats a word.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from momentree.datasets import Corpus, align_columns
    >>> corpus = Corpus(sp.csr_array([[1, 2], [0, 3]]), np.array(["cat", "dog"]), ["a", "b"])
    >>> align_columns(corpus, ["dog", "sun"]).X.toarray().tolist()
    [[2, 0], [3, 0]]
    """
    found = pd.Index(np.asarray(corpus.vocabulary, dtype=object), dtype=object)
    wanted = pd.Index(np.asarray(vocabulary, dtype=object), dtype=object)
    if not wanted.is_unique:
        word = str(wanted[wanted.duplicated()][0])
        raise InvalidDataError(
            "[word_repeated] the vocabulary names {word!r} twice; name each word once", word=word
        )
    new = wanted.get_indexer(found)
    if not (new >= 0).any():
        raise InvalidDataError(
            "[no_common_words] none of the {n_found:~word} of {name} ({found:quoted list}, ...) is "
            "among the {n_wanted:~word} of the vocabulary ({wanted:quoted list}, ...); give counts "
            "of the same words, with the same spelling",
            name=corpus.name,
            n_found=len(found),
            found=[str(word) for word in found[:3]],
            n_wanted=len(wanted),
            wanted=[str(word) for word in wanted[:3]],
        )
    X = corpus.X
    columns = new[X.indices]
    kept = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
    aligned = sp.csr_array((X.data[kept], columns[kept], indptr), shape=(X.shape[0], len(wanted)))
    aligned.sum_duplicates()
    return replace(corpus, X=aligned, vocabulary=wanted.to_numpy(dtype=object))


def filter_vocabulary(
    corpus: objects.Corpus,
    *,
    language: str | None = AUTO,
    stop_words: Iterable[str] | PathLike[str] = (),
    min_df: int | float | None = None,
    max_df: int | float = selection.MAX_DF,
    max_features: int | None = selection.MAX_FEATURES,
    token_pattern: str | None = None,
    unique: bool | Literal["auto"] = "auto",
) -> objects.Corpus:
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
    selection.check_limits(min_df, max_df, max_features)
    check_unique(unique)
    words = np.asarray(corpus.vocabulary, dtype=object)
    X = corpus.X
    df = np.bincount(X.indices[X.data > 0], minlength=X.shape[1])
    if not X.shape[0]:
        raise EmptyCorpusError(wording.NO_DOCUMENTS)
    candidates, notes = candidate_words(words, df, language, stop_words, token_pattern)
    counts = sp.csr_array(X)
    counts.sort_indices()
    weights, copied = weigh_copies(find_copies(counts[:, np.flatnonzero(candidates)]), unique)
    keep, dropped = selection.select_columns(
        counts, words, min_df, max_df, max_features, candidates, weights
    )
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
        notes=[*corpus.notes, *found, *dropped, *selection.note_empty(X)],
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
    reading = languages.choose_for_counts(list(map(str, words)), df, language)
    unwanted = unwanted_words(reading.language, read_words("stop_words", stop_words), pattern)
    found = np.fromiter((str(word).lower() not in unwanted for word in words), dtype=bool)
    if token_pattern is not None:
        matches = re.compile(token_pattern).fullmatch
        found &= np.fromiter((matches(str(word)) is not None for word in words), dtype=bool)
    if not found.any():
        raise EmptyCorpusError(
            "[no_candidate_words] all {n_words:~word} are stop words or do not match "
            "{parameters.token_pattern}; change {parameters.language}, {parameters.stop_words} or "
            "{parameters.token_pattern}",
            n_words=len(words),
        )
    return found, reading.notes
