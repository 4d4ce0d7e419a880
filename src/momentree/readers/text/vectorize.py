"""From texts to counts of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from momentree.exceptions import EmptyCorpusError, InvalidDataError, InvalidParameterError
from momentree.readers.objects import Corpus, Documents
from momentree.readers.text.selection import (
    MAX_DF,
    MAX_FEATURES,
    check_limits,
    note_silent,
    select_columns,
)
from momentree.readers.text.words import TOKEN_PATTERN, read_words, tokenizer, unwanted_words

__all__ = ["TextVectorizer", "vectorize"]


@dataclass(frozen=True, eq=False)
class TextVectorizer:
    """How texts become counts of words; kept with a model, to read new texts in the same way.

    Parameters
    ----------
    language : str or None, default="en"
        Language whose stop words are left out, one of ``LANGUAGES``; None keeps all words.
    stop_words : tuple of str, default=()
        More words to leave out, in any case.
    min_df : int, float or None, default=None
        Words in fewer documents are left out: a number of documents, or a share of them from 0.0
        to 1.0. None is 5 from 1,000 documents on, else 2.
    max_df : int or float, default=0.5
        Words in more documents are left out: a number of documents, or a share of them.
    max_features : int or None, default=20000
        Only this many words are kept, those with the largest counts; None keeps all.
    token_pattern : str, default=TOKEN_PATTERN
        Regular expression of a word, with at most one group. The default is two letters or more
        of any alphabet: "l'amore" gives "amore", "covid19" gives "covid".
    lowercase : bool, default=True
        Whether words are put in lower case.
    vocabulary : tuple of str or None, default=None
        The words of the columns, in order; None before :meth:`learn`.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of its range.

    See Also
    --------
    vectorize : The same in one call.

    Examples
    --------
    >>> from momentree.datasets import TextVectorizer
    >>> texts = ["The sea, the sea!", "A boat at sea", "Bread and butter", "Butter in a boat"]
    >>> vectorizer, X = TextVectorizer(min_df=1, max_df=1.0).learn(texts)
    >>> vectorizer.vocabulary
    ('boat', 'bread', 'butter', 'sea')
    >>> X.toarray().tolist()
    [[0, 0, 0, 2], [1, 0, 0, 1], [0, 1, 1, 0], [1, 0, 1, 0]]
    >>> TextVectorizer.from_dict(vectorizer.to_dict()).transform(["bread and bread"]).toarray()
    array([[0, 2, 0, 0]], dtype=int32)
    """

    language: str | None = "en"
    stop_words: tuple[str, ...] = ()
    min_df: int | float | None = None
    max_df: int | float = MAX_DF
    max_features: int | None = MAX_FEATURES
    token_pattern: str = TOKEN_PATTERN
    lowercase: bool = True
    vocabulary: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop_words", read_words(self.stop_words))
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", read_words(self.vocabulary))
        check_limits(self.min_df, self.max_df, self.max_features)
        unwanted_words(self.language, (), self.token_pattern)

    def learn(self, texts: Sequence[str]) -> tuple[TextVectorizer, sp.csr_array[Any]]:
        """Choose the words of a corpus and count them.

        Parameters
        ----------
        texts : sequence of str
            One text a document.

        Returns
        -------
        vectorizer : TextVectorizer
            This one with its `vocabulary`, in alphabetical order.
        X : csr_array of shape (n, d), int32
            Counts.

        Raises
        ------
        EmptyCorpusError
            If there are no texts, or no word is left.
        InvalidDataError
            If a text is not a string.

        Notes
        -----
        Neither the words nor the counts depend on the order of the documents.
        """
        _check_texts(texts)
        unwanted = unwanted_words(self.language, self.stop_words, self.token_pattern)
        tokenize = tokenizer(self.token_pattern, lowercase=self.lowercase)
        n_stopped = 0

        def analyze(text: str) -> list[str]:
            words = tokenize(text)
            if self.lowercase:
                kept = [word for word in words if word not in unwanted]
            else:
                kept = [word for word in words if word.lower() not in unwanted]
            nonlocal n_stopped
            n_stopped += len(words) - len(kept)
            return kept

        counter = _counter(analyze)
        try:
            X = sp.csr_array(counter.fit_transform(texts))
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            raise EmptyCorpusError(_no_words(len(texts), n_stopped, self.token_pattern)) from error
        words = np.asarray(counter.get_feature_names_out(), dtype=object)
        keep = select_columns(X, words, self.min_df, self.max_df, self.max_features)
        if len(keep) < len(words):
            X = X[:, keep]
        X.sort_indices()
        return replace(self, vocabulary=tuple(words[keep].tolist())), X

    def transform(self, texts: Sequence[str]) -> sp.csr_array[Any]:
        """Count the words of the vocabulary in texts; other words are left out.

        Parameters
        ----------
        texts : sequence of str
            One text a document.

        Returns
        -------
        csr_array of shape (n, d), int32
            Counts, columns in the order of `vocabulary`.

        Raises
        ------
        InvalidParameterError
            If there is no vocabulary yet.
        EmptyCorpusError
            If there are no texts.
        InvalidDataError
            If a text is not a string.
        """
        if self.vocabulary is None:
            msg = "this vectorizer has no vocabulary yet: call learn first"
            raise InvalidParameterError(msg)
        _check_texts(texts)
        tokenize = tokenizer(self.token_pattern, lowercase=self.lowercase)
        known = {word: column for column, word in enumerate(self.vocabulary)}

        def analyze(text: str) -> list[str]:
            return [word for word in tokenize(text) if word in known]

        return sp.csr_array(_counter(analyze, known).transform(texts))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings and the vocabulary as plain values for JSON.

        Returns
        -------
        dict
            One entry a parameter; words as lists.
        """
        values = asdict(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TextVectorizer:
        """Make a vectorizer from what :meth:`to_dict` returned.

        Parameters
        ----------
        values : mapping
            Entries named as the parameters.

        Returns
        -------
        TextVectorizer
            An equal vectorizer.

        Raises
        ------
        InvalidDataError
            If an entry is unknown or has a value that the parameter cannot have.
        """
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(values) - set(known))
        if unknown:
            msg = f"unknown settings of a vectorizer: {unknown}; the known ones are {known}"
            raise InvalidDataError(msg)
        try:
            return cls(**values)
        except (InvalidParameterError, TypeError) as error:
            msg = f"these are no settings of a vectorizer: {error}"
            raise InvalidDataError(msg) from error


def vectorize(
    documents: Documents | Sequence[str],
    *,
    language: str | None = "en",
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
    token_pattern : str, default=TOKEN_PATTERN
        Regular expression of a word, with at most one group; by default two letters or more.
    lowercase : bool, default=True
        Whether words are put in lower case.

    Returns
    -------
    Corpus
        Counts of shape (n, d), int32, one row a document, words in alphabetical order. Documents
        without a word that is kept stay as empty rows.

    Raises
    ------
    EmptyCorpusError
        If there are no documents, or no word is left; the message says which filter took how many.
    InvalidDataError
        If a text is not a string.
    InvalidParameterError
        If a parameter is out of its range.
    ReadError
        If the file of stop words cannot be read.

    See Also
    --------
    filter_vocabulary : The same choice of words where counts are given.

    Examples
    --------
    >>> from momentree.datasets import Documents
    from momentree.readers.text import vectorize
    >>> texts = ["The sea, the sea!", "A boat at sea", "Bread and butter", "Butter in a boat"]
    >>> corpus = vectorize(texts)
    >>> corpus.vocabulary.tolist(), corpus.X.shape
    (['boat', 'butter', 'sea'], (4, 3))
    """
    vectorizer = TextVectorizer(
        language=language,
        stop_words=read_words(stop_words),
        min_df=min_df,
        max_df=max_df,
        max_features=max_features,
        token_pattern=token_pattern,
        lowercase=lowercase,
    )
    if not isinstance(documents, Documents):
        _check_texts(documents)
        texts = list(documents)
        documents = Documents(texts, [str(i) for i in range(1, len(texts) + 1)])
    vectorizer, X = vectorizer.learn(documents.texts)
    return Corpus(
        X=X,
        vocabulary=np.asarray(vectorizer.vocabulary, dtype=object),
        ids=documents.ids,
        labels=documents.labels,
        texts=documents.texts,
        name=documents.name,
        vectorizer=vectorizer,
        skipped=[*documents.skipped, *note_silent(X)],
    )


def _counter(
    analyze: Callable[[str], list[str]], vocabulary: Mapping[str, int] | None = None
) -> CountVectorizer:
    # With an analyzer of its own it warns of nothing: stop words are cut as texts are (words.py).
    return CountVectorizer(analyzer=analyze, vocabulary=vocabulary, dtype=np.int32)


def _check_texts(texts: Sequence[str]) -> None:
    if isinstance(texts, str):
        msg = "one string was given where a sequence of texts is expected; put it in a list"
        raise InvalidDataError(msg)
    if not len(texts):
        msg = "there are no documents; give at least one text"
        raise EmptyCorpusError(msg)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            msg = (
                f"text {place} is a {type(text).__name__}, not a string; "
                f"remove it or fill it with an empty string"
            )
            raise InvalidDataError(msg)


def _no_words(n: int, n_stopped: int, token_pattern: str) -> str:
    if n_stopped:
        return (
            f"all {n_stopped:,} words of {n:,} documents are stop words; "
            f"change language or stop_words"
        )
    return (
        f"there is no word in {n:,} documents: the texts are empty, or token_pattern "
        f"{token_pattern!r} matches nothing in them"
    )
