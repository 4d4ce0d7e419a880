"""Choose the words to keep, by limits on document frequency and on their number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_lengths
from momentree.exceptions import EmptyCorpusError, InvalidParameterError
from momentree.messages import Message
from momentree.readers.copies import all_rows

MAX_DF = 0.5
MAX_FEATURES = 20_000
MAX_WORD_LENGTH = 255
"""Characters of the longest word that is counted: what is longer is encoded data, not language."""
_MAX_COMMON = 8


def default_min_df(n_documents: int) -> int:
    """Return the default `min_df`, the minimum number of documents that contain a word.

    Parameters
    ----------
    n_documents : int
        Number of documents in the corpus.

    Returns
    -------
    int
        5 for 1,000 documents or more, else 2.

    Examples
    --------
    >>> from momentree.datasets import default_min_df
    >>> default_min_df(999), default_min_df(1000)
    (2, 5)
    """
    return 5 if n_documents >= 1000 else 2


def check_limits(min_df: Any, max_df: Any, max_features: Any) -> None:
    """Raise ``InvalidParameterError`` if a limit is out of range."""
    if min_df is not None:
        _check_df("min_df", min_df)
    _check_df("max_df", max_df)
    check_integer("max_features", max_features, at_least=1, optional=True)


def _check_df(parameter: str, value: Any) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    whole = isinstance(value, Integral)
    if not (is_number and (value >= 0 if whole else 0 <= value <= 1)):
        raise InvalidParameterError(
            "[not_a_document_frequency] {parameter:=value}; expected a number of documents (5) or "
            "a fraction of them (0.05)",
            parameter=parameter,
            value=value,
        )


@dataclass(frozen=True)
class WordFrequencies:
    """How many documents contain each word, and how often it occurs in all of them together."""

    words: NDArray[Any]
    n_rows: int
    n_documents: float  # the sum of their weights
    df: Floats
    totals: Floats


def select_columns(
    X: sp.csr_array[Any],
    words: NDArray[Any],
    min_df: int | float | None,
    max_df: int | float,
    max_features: int | None,
    candidates: NDArray[np.bool_] | None = None,
    weights: Floats | None = None,
) -> tuple[Ints, list[Message]]:
    """Return the columns to keep, in ascending order, for texts and counts alike; and notes.

    `candidates` marks the words that may be kept. `weights` are those of the documents; None gives
    each weight 1. Ties between equal counts are broken in alphabetical order. Notes list the words
    that `max_df` drops. Words longer than `MAX_WORD_LENGTH` are not kept.
    """
    d = X.shape[1]
    n, df = _document_frequencies(X, weights)
    totals = np.bincount(X.indices, weights=X.data, minlength=d).astype(np.float64)
    found = WordFrequencies(words, X.shape[0], n, df, totals)
    return select_words(found, min_df, max_df, max_features, candidates)


def select_words(
    found: WordFrequencies,
    min_df: int | float | None,
    max_df: int | float,
    max_features: int | None,
    candidates: NDArray[np.bool_] | None = None,
) -> tuple[Ints, list[Message]]:
    """Return the positions of the words to keep; see :func:`select_columns`."""
    words, n, df = found.words, found.n_documents, found.df
    d = len(words)
    lowest = lowest_df(min_df, n)
    highest = _as_count(max_df, n)
    allowed = df > 0 if candidates is None else candidates & (df > 0)
    allowed &= np.fromiter((len(word) <= MAX_WORD_LENGTH for word in words), np.bool_, d)
    common = allowed & (df > highest)
    rare = allowed & ~common & (df < lowest)
    columns = np.flatnonzero(allowed & ~rare & ~common)
    if not len(columns):
        raise EmptyCorpusError(
            "[no_word_kept] none of {n_words:~word} in {n_documents:~document} is kept: {n_rare:,} "
            "occur in fewer documents than {parameters.min_df:{min_df}} allows, {n_common:,} in "
            "more than {parameters.max_df:{max_df}} allows, and {n_other:,} are stop words, do not "
            "match the pattern of a word, are too long for one, or occur in no document; change "
            "these limits",
            n_words=d,
            n_documents=found.n_rows,
            n_rare=int(rare.sum()),
            n_common=int(common.sum()),
            n_other=d - int(allowed.sum()),
            min_df=lowest if min_df is None else min_df,
            max_df=max_df,
        )
    if max_features is not None and len(columns) > max_features:
        totals = found.totals[columns]
        # Ties are broken by the alphabet, so that the order of the documents has no effect.
        order = np.lexsort((words[columns].astype(str), -totals))
        columns = np.sort(columns[order[:max_features]])
    return columns, _note_common(words, df, common, n, max_df)


def _document_frequencies(X: sp.csr_array[Any], weights: Floats | None) -> tuple[float, Floats]:
    """Return the number of documents, and of those with each word."""
    present = X.data > 0
    if weights is None:
        df = np.bincount(X.indices[present], minlength=X.shape[1])
        return float(X.shape[0]), df.astype(np.float64)
    each = np.repeat(weights, np.diff(X.indptr))[present]
    df = np.bincount(X.indices[present], weights=each, minlength=X.shape[1])
    # Sums of thirds depend on the order of the documents in the last digits.
    return round(float(weights.sum()), 6), np.round(df, 6)


def _note_common(
    words: NDArray[Any], df: Floats, common: NDArray[np.bool_], n: float, max_df: int | float
) -> list[Message]:
    """Return a note on the words that `max_df` drops, most frequent first."""
    columns = np.flatnonzero(common)
    if not len(columns):
        return []
    order = np.lexsort((words[columns].astype(str), -df[columns]))
    listed = [f"{words[j]} ({100 * df[j] / n:.0f}%)" for j in columns[order[:_MAX_COMMON]].tolist()]
    more = len(columns) - len(listed)
    return [
        Message(
            "[common_words_dropped] {n_words:~frequent word} {n_words:?is/are} dropped by "
            "{parameter:=max_df}: {words:list}{more}; {parameter:=keep_all} keeps "
            "{n_words:?it/them}",
            words=listed,
            n_words=len(columns),
            more=Message("[and_more_words]  and {n_words:,} more", n_words=more) if more else "",
            parameter="max_df",
            max_df=max_df,
            keep_all=1.0,
        )
    ]


def lowest_df(min_df: int | float | None, n: float) -> float:
    """Return the minimum number of documents with a word, among n documents."""
    return default_min_df(round(n)) if min_df is None else _as_count(min_df, n)


def _as_count(value: int | float, n: float) -> float:
    return float(value) if isinstance(value, Integral) else float(value) * n


def note_empty(X: sp.csr_array[Any], passages: bool = False) -> list[Message]:
    """Return a note on documents, or passages, without any of the words kept, if there are any."""
    return note_without_words(int((X.sum(axis=1) == 0).sum()), X.shape[0], passages)


def note_without_words(n_empty: int, n_rows: int, passages: bool) -> list[Message]:
    """Return a note on documents, or passages, without words, given their number."""
    if not n_empty:
        return []
    every = all_rows(n_rows, passages)
    return [
        Message(
            "[documents_without_words] {n_rows:,} of {every} {n_rows:?contains/contain} none of "
            "the words kept and {n_rows:?is/are} in no topic",
            n_rows=n_empty,
            n_all=n_rows,
            every=every,
        )
    ]


BYTES_PER_WORD = 200
"""Memory of a word, with its entry in a dictionary and its counts."""


class DocumentFrequencies:
    """In how many documents each word occurs, and how often: batches and parts add up.

    Parameters
    ----------
    most_words : int or None, default=None
        Number of words to keep in memory. When there are more, the rarest half is forgotten, and
        `error` becomes the largest number of documents that a forgotten word may have. None keeps
        all words.

    Attributes
    ----------
    n_documents : int
        Number of documents.
    error : int
        By how many documents a word may have been counted too rarely: 0 if none was forgotten.

    Notes
    -----
    This is lossy counting (Manku and Motwani, 2002): a word in more than `error` documents is never
    missing, and no word is counted too often. As long as all words fit, counts are exact, and the
    order of documents has no effect.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.datasets import DocumentFrequencies
    >>> one, other = DocumentFrequencies(), DocumentFrequencies()
    >>> _ = one.update(["boat", "sea"], np.array([[2, 0], [1, 1]]))
    >>> _ = other.update(["sea"], np.array([[3]]))
    >>> one.merge(other)
    >>> one.n_documents, one.words, one.documents.tolist(), one.occurrences.tolist()
    (3, ['boat', 'sea'], [2, 2], [3, 4])
    """

    def __init__(self, most_words: int | None = None) -> None:
        check_integer("most_words", most_words, at_least=2, optional=True)
        self._most = most_words
        self.n_documents = 0
        self.error = 0
        self._at: dict[str, int] = {}
        # Documents, occurrences, and how many documents may have been missed, of each word; and a
        # number that a forgotten word does not leave to another.
        self._counts = np.zeros((4, 1024), dtype=np.int64)
        self._next = 0

    def __len__(self) -> int:
        return len(self._at)

    @property
    def words(self) -> list[str]:
        """The words in alphabetical order."""
        return sorted(self._at)

    @property
    def documents(self) -> Ints:
        """Number of documents with each word."""
        return self._of(0)

    @property
    def occurrences(self) -> Ints:
        """Number of occurrences of each word."""
        return self._of(1)

    @property
    def numbers(self) -> Ints:
        """Number of each word, as :meth:`update` has returned it."""
        return self._of(3)

    def update(self, words: Sequence[str] | NDArray[Any], X: Any) -> Ints:
        """Add documents.

        Parameters
        ----------
        words : sequence of str of shape (d,)
            Words, each once.
        X : {ndarray, sparse matrix or array} of shape (n, d)
            Counts >= 0.

        Returns
        -------
        ndarray of int of shape (d,)
            A number for each word, which stays the same in later batches unless the word is
            forgotten in between.
        """
        X = sp.csr_array(X)
        check_lengths(X.shape[1], "column", words=words)
        d, present = X.shape[1], X.data > 0
        documents = np.bincount(X.indices[present], minlength=d)
        occurrences = np.bincount(X.indices, weights=X.data, minlength=d).astype(np.int64)
        at = self._add(words, documents, occurrences, np.zeros(d, dtype=np.int64), X.shape[0])
        numbers = np.asarray(self._counts[3, at])
        self._forget()
        return numbers

    def merge(self, other: DocumentFrequencies) -> None:
        """Add the documents of another object.

        Parameters
        ----------
        other : DocumentFrequencies
            Counts of other documents.
        """
        missing = [word for word in self._at if word not in other._at]
        if other.error:
            self._counts[2, [self._at[word] for word in missing]] += other.error
        places = np.fromiter(other._at.values(), np.intp, len(other._at))
        documents, occurrences, missed, _ = other._counts[:, places]
        self._add(list(other._at), documents, occurrences, missed, other.n_documents)
        self.error += other.error
        self._forget()

    def frequencies(self) -> WordFrequencies:
        """Return the words with their frequencies, to choose among them."""
        words = self.words
        n = self.n_documents
        return WordFrequencies(
            np.array(words, dtype=object),
            n,
            float(n),
            self.documents.astype(np.float64),
            self.occurrences.astype(np.float64),
        )

    def _of(self, row: int) -> Ints:
        return np.asarray(self._counts[row, [self._at[word] for word in self.words]])

    def _add(
        self, words: Iterable[str], documents: Ints, occurrences: Ints, missed: Ints, n: int
    ) -> Ints:
        known = len(self._at)
        at = np.fromiter(
            (self._at.setdefault(word, len(self._at)) for word in words), np.intp, len(documents)
        )
        if len(self._at) > self._counts.shape[1]:
            larger = np.zeros((4, 2 * len(self._at)), dtype=np.int64)
            larger[:, :known] = self._counts[:, :known]
            self._counts = larger
        new = len(self._at) - known
        self._counts[2, known : known + new] = self.error
        self._counts[3, known : known + new] = np.arange(self._next, self._next + new)
        self._next += new
        self._counts[0, at] += documents
        self._counts[1, at] += occurrences
        self._counts[2, at] += missed
        self.n_documents += n
        return at

    def _forget(self) -> None:
        """Forget the rarest words if there are too many."""
        if self._most is None or len(self._at) <= self._most:
            return
        most = self._counts[0] + self._counts[2]  # documents that a word may have, at most
        ranked = np.sort(most[: len(self._at)])
        self.error = int(ranked[len(self._at) - self._most // 2 - 1])
        kept = {word: at for word, at in self._at.items() if most[at] > self.error}
        places = np.fromiter(kept.values(), np.intp, len(kept))
        counts = np.zeros_like(self._counts)
        counts[:, : len(kept)] = self._counts[:, places]
        self._counts = counts
        self._at = {word: i for i, word in enumerate(kept)}
