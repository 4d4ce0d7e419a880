"""Count the words of texts, n-grams, and phrases found in the texts."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from momentree._types import Floats, Ints
from momentree.core.choices import MAX_NGRAM
from momentree.exceptions import EmptyCorpusError, InvalidParameterError, MomentreeError

MAX_PHRASE = 3
"""Maximum number of words of a phrase."""
MIN_NPMI = 0.5
"""Neighbors are a phrase from this normalized pointwise mutual information: halfway between words
that are neighbors as often as by chance (0) and words that occur only as neighbors (1)."""

# Neighbors with one of these between them are not part of one expression.
_BREAKS = re.compile(
    r"[.,;:!?…()\[\]{}<>|/\\\"“”„«»¿¡=*•·—–。、，；：！？「」『』（）؛،؟।॥]|\n\s*\n"
)


def check_ngram_range(value: Any) -> tuple[int, int]:
    """Return the smallest and largest number of words of an n-gram."""
    ends = tuple(value) if isinstance(value, list | tuple) else ()
    whole = all(isinstance(end, Integral) and not isinstance(end, bool) for end in ends)
    if len(ends) != 2 or not whole or not 1 <= ends[0] <= ends[1] <= MAX_NGRAM:
        raise InvalidParameterError(
            "[not_an_ngram_range] {parameters.ngram_range:=value}; expected the smallest and "
            "largest number of words, such as (1, 2), from 1 to {most}",
            value=value,
            most=MAX_NGRAM,
        )
    return int(ends[0]), int(ends[1])


def split_into_runs(text: str, tokenize: Callable[[str], list[str]]) -> list[list[str]]:
    """Return the words of a text in runs without punctuation in between."""
    words = tokenize(text)
    runs = [tokenize(part) for part in _BREAKS.split(text)]
    # Patterns of words may contain punctuation.
    return runs if sum(map(len, runs)) == len(words) else [words]


def split_at(runs: Iterable[list[str]], kept: set[str]) -> Iterator[list[str]]:
    """Split runs of words at those that are not counted."""
    for run in runs:
        part: list[str] = []
        for word in run:
            if word in kept:
                part.append(word)
            elif part:
                yield part
                part = []
        if part:
            yield part


def join_neighbors(run: Sequence[str], low: int, high: int) -> Iterator[str]:
    """Return the sequences of `low` to `high` words of a run, with blanks between their words."""
    for n in range(low, high + 1):
        for start in range(len(run) - n + 1):
            yield " ".join(run[start : start + n])


def find_collocations(documents: Iterable[Iterable[list[str]]], min_documents: float) -> set[str]:
    """Find phrases of two or three words in the runs of words of documents.

    Neighbors a and b are a phrase if they are neighbors in enough documents, and

        log(p(ab) / (p(a) p(b))) / -log p(ab)  >=  0.5,

    with p the number of occurrences as a fraction of that of all words. Three words are a phrase if
    two of them are one, which is the neighbor of the third by the same rule.

    The order of documents has no effect. Time and memory are proportional to the number of words.
    """
    number: dict[str, int] = {}
    places: list[int] = []
    lengths: list[int] = []
    for runs in documents:
        before = len(places)
        for run in runs:
            places += [number.setdefault(word, len(number)) for word in run]
            places.append(-1)
        lengths.append(len(places) - before)
    words = list(number)
    ids = np.array([*places, -1, -1], dtype=np.int64)
    document = np.repeat(np.arange(len(lengths)), lengths)
    once = np.bincount(ids[ids >= 0], minlength=len(words)).astype(np.float64)
    total = max(float(once.sum()), 1.0)
    first, second, third = ids[:-2], ids[1:-1], ids[2:]

    at = np.flatnonzero((first >= 0) & (second >= 0) & (first != second))
    pairs, place = np.unique(first[at] * len(words) + second[at], return_inverse=True)
    n_pairs = np.bincount(place, minlength=len(pairs)).astype(np.float64)
    a, b = pairs // max(len(words), 1), pairs % max(len(words), 1)
    good = _enough(place, document[at], len(pairs), min_documents)
    good &= _npmi(n_pairs, once[a], once[b], total) >= MIN_NPMI
    found = {f"{words[i]} {words[j]}" for i, j in zip(a[good], b[good], strict=True)}

    pair_at = np.full(len(ids), -1)
    pair_at[at] = place
    left, right = pair_at[:-2], pair_at[1:-1]
    at = np.flatnonzero((left >= 0) & (right >= 0))
    at = at[good[left[at]] | good[right[at]]]
    keys = left[at] * max(len(pairs), 1) + right[at]
    triples, sample, place = np.unique(keys, return_index=True, return_inverse=True)
    at_sample = at[sample]
    i, j, k = first[at_sample], second[at_sample], third[at_sample]
    n_triples = np.bincount(place, minlength=len(triples)).astype(np.float64)
    one, other = left[at_sample], right[at_sample]
    good3 = good[one] & (_npmi(n_triples, n_pairs[one], once[k], total) >= MIN_NPMI)
    good3 |= good[other] & (_npmi(n_triples, once[i], n_pairs[other], total) >= MIN_NPMI)
    good3 &= _enough(place, document[at], len(triples), min_documents)
    numbers = zip(i[good3], j[good3], k[good3], strict=True)
    return found | {" ".join((words[x], words[y], words[z])) for x, y, z in numbers}


def _enough(place: Ints, document: Ints, n: int, min_documents: float) -> NDArray[np.bool_]:
    """Return whether each of n sequences occurs in enough documents, given its occurrences."""
    order = np.lexsort((document, place))
    place, document = place[order], document[order]
    new = np.ones(len(place), dtype=bool)
    new[1:] = (place[1:] != place[:-1]) | (document[1:] != document[:-1])
    return np.bincount(place[new], minlength=n) >= min_documents


def _npmi(together: Floats, one: Floats, other: Floats, total: float) -> Floats:
    p = together / total
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(p * total * total / (one * other)) / -np.log(p)
    return np.where(p < 1.0, value, 0.0)


def check_found(n_words: int, n_documents: int, token_pattern: str) -> None:
    """Raise ``EmptyCorpusError`` if there are no words but stop words."""
    if not n_words:
        raise EmptyCorpusError(
            "[no_word_in_texts] no words in {n_documents:~document}: the texts are empty, contain "
            "only what is stripped without {parameters.raw}, such as URLs, or only stop words "
            "(change {parameters.language} or {parameters.stop_words}), or "
            "{parameters.token_pattern:=token_pattern} matches nothing in them",
            n_documents=n_documents,
            token_pattern=token_pattern,
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

    def runs(self, text: str) -> list[list[str]]:
        """Return the runs of words to count in a text."""
        if not self.phrases and self.ngram_range == (1, 1):
            return [self.select(self.split(text))]
        parts = split_into_runs(text, self.split) if self.at_breaks else [self.split(text)]
        return list(split_at(parts, set(self.select([word for part in parts for word in part]))))

    def count(
        self, texts: Sequence[str], phrases: Collection[str] = ()
    ) -> tuple[NDArray[Any], sp.csr_array[Any]]:
        """Return all words, in alphabetical order, with these phrases, and their counts."""
        low, high = self.ngram_range

        def analyze(text: str) -> Iterator[str]:
            for run in self.runs(text):
                yield from join_neighbors(run, low, high)
                if phrases:
                    longer = join_neighbors(run, high + 1, MAX_PHRASE)
                    yield from filter(phrases.__contains__, longer)

        # A custom analyzer avoids warnings; words.py tokenizes stop words as it does texts.
        counter = CountVectorizer(analyzer=analyze, dtype=np.int32)
        try:
            X = sp.csr_array(counter.fit_transform(texts))
        except MomentreeError:  # of a tokenizer
            raise
        except ValueError:  # there are no words
            nothing: Any = sp.csr_array((len(texts), 0), dtype=np.int32)
            return np.empty(0, dtype=object), nothing
        X.sort_indices()
        return np.asarray(counter.get_feature_names_out(), dtype=object), X

    def count_known(self, texts: Sequence[str], vocabulary: Sequence[str]) -> Any:
        """Count the words of a vocabulary, in its order."""
        low, high = self.ngram_range
        high = max(high, MAX_PHRASE) if self.phrases else high

        def analyze(text: str) -> Iterator[str]:
            for run in self.runs(text):
                yield from join_neighbors(run, low, high)

        known = {word: column for column, word in enumerate(vocabulary)}
        return CountVectorizer(analyzer=analyze, vocabulary=known, dtype=np.int32).transform(texts)
