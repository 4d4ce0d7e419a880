"""Count the words of texts, given how to split a text into words and which of them to leave out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from momentree.exceptions import EmptyCorpusError, InvalidDataError
from momentree.readers.text.phrases import MOST_WORDS, join_neighbors, split_at, split_into_runs


@dataclass(frozen=True, eq=False)
class Counted:
    """Words in alphabetical order, their counts, and the number of words with stop words."""

    words: NDArray[Any]
    X: sp.csr_array[Any]
    n_found: int

    def check(self, n_documents: int, token_pattern: str) -> None:
        """Raise ``EmptyCorpusError`` if there are no words."""
        if len(self.words):
            return
        if self.n_found:
            raise EmptyCorpusError("only_stop_words", n_words=self.n_found, n_documents=n_documents)
        raise EmptyCorpusError(
            "no_word_in_texts", n_documents=n_documents, token_pattern=token_pattern
        )


@dataclass(frozen=True)
class WordCounter:
    """Counts the words of texts, and sequences of neighboring words.

    Parameters
    ----------
    split : callable
        Returns the words of a text.
    select : callable
        Returns the words of a document that are counted.
    at_breaks : bool
        Whether neighbors have no punctuation between them.
    ngram_range : tuple of two int
        Smallest and largest number of neighbors that are counted together.
    phrases : bool
        Whether phrases are counted as well.
    """

    split: Callable[[str], list[str]]
    select: Callable[[list[str]], list[str]]
    at_breaks: bool
    ngram_range: tuple[int, int]
    phrases: bool

    def runs(self, text: str) -> tuple[list[str], list[list[str]]]:
        """Return the words of a text, and the runs of those to count."""
        if not self.phrases and self.ngram_range == (1, 1):
            words = self.split(text)
            return words, [self.select(words)]
        parts = split_into_runs(text, self.split) if self.at_breaks else [self.split(text)]
        words = [word for part in parts for word in part]
        return words, list(split_at(parts, set(self.select(words))))

    def count(self, texts: Sequence[str], phrases: Collection[str] = ()) -> Counted:
        """Count all words, and these phrases; there may be none."""
        n_found = n_kept = 0
        low, high = self.ngram_range

        def analyze(text: str) -> list[str]:
            words, kept = self.runs(text)
            nonlocal n_found, n_kept
            n_found, n_kept = n_found + len(words), n_kept + sum(map(len, kept))
            found = [joined for run in kept for joined in join_neighbors(run, low, high)]
            for run in kept if phrases else ():
                found += filter(phrases.__contains__, join_neighbors(run, high + 1, MOST_WORDS))
            return found

        counter = _counter(analyze)
        try:
            X = sp.csr_array(counter.fit_transform(texts))
        except InvalidDataError:  # of a tokenizer
            raise
        except ValueError:
            if n_kept:
                raise
            none = np.empty(0, dtype=object)
            nothing: Any = sp.csr_array((len(texts), 0), dtype=np.int32)
            return Counted(none, nothing, n_found)
        X.sort_indices()
        words = np.asarray(counter.get_feature_names_out(), dtype=object)
        return Counted(words, X, n_found)

    def count_known(self, texts: Sequence[str], vocabulary: Sequence[str]) -> Any:
        """Count the words of a vocabulary, in its order."""
        low, high = self.ngram_range
        high = max(high, MOST_WORDS) if self.phrases else high

        def analyze(text: str) -> list[str]:
            kept = self.runs(text)[1]
            return [joined for run in kept for joined in join_neighbors(run, low, high)]

        known = {word: column for column, word in enumerate(vocabulary)}
        return _counter(analyze, known).transform(texts)


def _counter(
    analyze: Callable[[str], list[str]], vocabulary: Mapping[str, int] | None = None
) -> CountVectorizer:
    # A custom analyzer avoids warnings; words.py tokenizes stop words as it does texts.
    return CountVectorizer(analyzer=analyze, vocabulary=vocabulary, dtype=np.int32)
