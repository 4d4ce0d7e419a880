"""One rule for the words that are kept, for texts and for files of counts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import EmptyCorpusError, InvalidParameterError
from momentree.readers.objects import Corpus
from momentree.readers.text.words import TOKEN_PATTERN, read_words, unwanted_words

__all__ = ["check_limits", "default_min_df", "filter_vocabulary", "note_silent", "select_columns"]

LARGE_CORPUS = 1000
MIN_DF_LARGE = 5
MIN_DF_SMALL = 2
MAX_DF = 0.5
MAX_FEATURES = 20_000


def default_min_df(n_documents: int) -> int:
    """Return the fewest documents that a word must be in, when nothing else is asked for.

    Parameters
    ----------
    n_documents : int
        Number of documents of the corpus.

    Returns
    -------
    int
        5 from 1,000 documents on, else 2.

    Examples
    --------
    >>> from momentree.datasets import default_min_df
    >>> default_min_df(999), default_min_df(1000)
    (2, 5)
    """
    return MIN_DF_LARGE if n_documents >= LARGE_CORPUS else MIN_DF_SMALL


def filter_vocabulary(
    corpus: Corpus,
    *,
    language: str | None = "en",
    stop_words: Iterable[str] | PathLike[str] = (),
    min_df: int | float | None = None,
    max_df: int | float = MAX_DF,
    max_features: int | None = MAX_FEATURES,
    token_pattern: str | None = None,
) -> Corpus:
    """Choose the words of a corpus of counts as :func:`vectorize` chooses those of texts.

    Parameters
    ----------
    corpus : Corpus
        Counts with their words; it stays as it is.
    language : str or None, default="en"
        Language whose stop words are left out, one of ``LANGUAGES``; None keeps all words.
    stop_words : iterable of str, or path of a file with one word a line, default=()
        More words to leave out, in any case.
    min_df : int, float or None, default=None
        Words in fewer documents are left out: a number of documents, or a share of them from 0.0
        to 1.0. None is 5 from 1,000 documents on, else 2.
    max_df : int or float, default=0.5
        Words in more documents are left out: a number of documents, or a share of them.
    max_features : int or None, default=20000
        Only this many words are kept, those with the largest counts; None keeps all.
    token_pattern : str or None, default=None
        Words that do not match this regular expression as a whole are left out; None keeps words
        of any form, as codes and numbers may be what is counted.

    Returns
    -------
    Corpus
        The same documents; fewer words, in the order they had. As the counts no longer come
        from texts alone, `vectorizer` is None unless no word was left out.

    Raises
    ------
    EmptyCorpusError
        If there are no documents, or no word is left; the message says which filter took how many.
    InvalidParameterError
        If a parameter is out of its range.
    ReadError
        If the file of stop words cannot be read.

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
    pattern = TOKEN_PATTERN if token_pattern is None else token_pattern
    unwanted = unwanted_words(language, read_words(stop_words), pattern)
    words = np.asarray(corpus.vocabulary, dtype=object)
    fits = np.fromiter((str(w).lower() not in unwanted for w in words), dtype=bool)
    if token_pattern is not None:
        matches = re.compile(token_pattern).fullmatch
        fits &= np.fromiter((matches(str(w)) is not None for w in words), dtype=bool)
    if not corpus.X.shape[0]:
        msg = "there are no documents; give counts of at least one"
        raise EmptyCorpusError(msg)
    if not fits.any():
        msg = (
            f"all {len(words):,} words are stop words or do not match token_pattern; change "
            f"language, stop_words or token_pattern"
        )
        raise EmptyCorpusError(msg)
    keep = select_columns(corpus.X, words, min_df, max_df, max_features, fits)
    if len(keep) == len(words):
        return corpus
    X = sp.csr_array(corpus.X[:, keep])
    return replace(
        corpus,
        X=X,
        vocabulary=corpus.vocabulary[keep],
        vectorizer=None,
        skipped=[*corpus.skipped, *note_silent(X)],
    )


def select_columns(
    X: sp.csr_array[Any],
    words: NDArray[Any],
    min_df: int | float | None,
    max_df: int | float,
    max_features: int | None,
    fits: NDArray[np.bool_] | None = None,
) -> NDArray[np.intp]:
    """Find the columns of the words that are kept: the one rule for texts and counts.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Counts >= 0.
    words : ndarray of str, shape (d,)
        The word of each column; it decides between words of equal counts.
    min_df, max_df, max_features : int, float or None
        As in :func:`filter_vocabulary`.
    fits : ndarray of bool, shape (d,), or None, default=None
        Words that may be kept at all; None for all.

    Returns
    -------
    ndarray of int
        Columns, ascending.

    Raises
    ------
    EmptyCorpusError
        If none is left; the message says how many words each limit took.
    """
    n, d = X.shape
    df = np.bincount(X.indices[X.data > 0], minlength=d)
    lowest = default_min_df(n) if min_df is None else _as_count(min_df, n)
    highest = _as_count(max_df, n)
    allowed = df > 0 if fits is None else fits & (df > 0)
    rare, common = allowed & (df < lowest), allowed & (df > highest)
    columns = np.flatnonzero(allowed & ~rare & ~common)
    if not len(columns):
        shown = lowest if min_df is None else min_df
        n_rare, n_common = int(rare.sum()), int(common.sum())
        msg = (
            f"no word is left of {d:,} in {n:,} documents: {n_rare:,} are in fewer documents than "
            f"min_df={shown} allows, {n_common:,} in more than max_df={max_df} allows, and "
            f"{d - int(allowed.sum()):,} are stop words, of another form or in no document; "
            f"{'lower min_df' if n_rare >= n_common else 'raise max_df'}"
        )
        raise EmptyCorpusError(msg)
    if max_features is not None and len(columns) > max_features:
        totals = np.bincount(X.indices, weights=X.data, minlength=d)[columns]
        # Equal counts go by the alphabet, so that the order of the documents changes nothing.
        order = np.lexsort((words[columns].astype(str), -totals))
        columns = np.sort(columns[order[:max_features]])
    return columns


def _as_count(value: int | float, n: int) -> float:
    return float(value) if isinstance(value, Integral) else float(value) * n


def note_silent(X: sp.csr_array[Any]) -> list[str]:
    """Describe documents that have no word left.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Counts.

    Returns
    -------
    list of str
        One sentence, or none if every document has a word.
    """
    silent = int((X.sum(axis=1) == 0).sum())
    if not silent:
        return []
    return [
        f"{silent:,} of {X.shape[0]:,} documents have none of the words that are kept; "
        f"they stay as empty documents"
    ]


def check_limits(min_df: Any, max_df: Any, max_features: Any) -> None:
    """Check the limits of :func:`vectorize` and :func:`filter_vocabulary`.

    Parameters
    ----------
    min_df, max_df, max_features : object
        As there.

    Raises
    ------
    InvalidParameterError
        If one is out of its range.
    """
    if min_df is not None:
        _check_df("min_df", min_df)
    _check_df("max_df", max_df)
    top = max_features
    if top is not None and (not isinstance(top, Integral) or isinstance(top, bool) or top < 1):
        msg = f"max_features is {top!r}; give a number of at least 1, or None for all words"
        raise InvalidParameterError(msg)


def _check_df(name: str, value: Any) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    whole = isinstance(value, Integral)
    if is_number and (value >= 0 if whole else 0 <= value <= 1):
        return
    msg = f"{name} is {value!r}; give a number of documents (5) or a share of them (0.05)"
    raise InvalidParameterError(msg)
