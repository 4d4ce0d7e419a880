"""Document frequencies of words: sums over batches of documents, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_lengths
from momentree.readers.text.selection import WordFrequencies

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

    def update(self, words: Sequence[str], X: Any) -> Ints:
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
            lambda: _as_floats(self.occurrences),
        )

    def _of(self, row: int) -> Ints:
        return np.array([self._counts[row, self._at[word]] for word in self.words], dtype=np.int64)

    def _add(
        self, words: Sequence[str], documents: Ints, occurrences: Ints, missed: Ints, n: int
    ) -> Ints:
        known = len(self._at)
        at = np.fromiter(
            (self._at.setdefault(word, len(self._at)) for word in words), np.intp, len(words)
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


def _as_floats(values: NDArray[Any]) -> Floats:
    return values.astype(np.float64)
