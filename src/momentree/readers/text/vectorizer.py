"""Count the words of texts, in the same way for training texts and new texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from momentree._types import Floats
from momentree._validation import check_flag, check_integer, check_texts
from momentree.core.sparse import NamedColumns
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.readers.text import cleaning, counting, languages, selection
from momentree.readers.text import words as tokens
from momentree.readers.text.words import TOKEN_PATTERN

_UNKNOWN_SETTINGS = (
    "[unknown_settings] unknown vectorizer settings: {names:quoted list}; expected {known:list}"
)

Cutting = int | Literal["auto"] | None
"""Words of a passage; "auto" cuts long texts, None cuts none."""


@dataclass(eq=False, repr=False)
class TextVectorizer(BaseEstimator):  # type: ignore[misc]
    """Turn texts into word counts; saved with a model, to count new texts in the same way.

    Use it as the parameter `vectorizer` of a topic model, as a step of a scikit-learn pipeline with
    ``fit`` and ``transform``, or by itself with ``learn``, which returns a copy with a vocabulary.

    Parameters
    ----------
    language : str or None, default="auto"
        Languages whose stop words are left out: a code of ``LANGUAGES``, or several, "en,fr". From
        each document, those of its own language are left out. "auto" finds the languages of the
        texts, and takes English if they are uncertain; None keeps all words.
    stop_words : iterable of str, or path of a file with one word per line, default=()
        More words to leave out, in upper or lower case.
    min_df : int, float or None, default=None
        Leave out words that occur in fewer documents: a number of documents (int) or a fraction
        of them (float). None means 5 for 1,000 documents or more, else 2.
    max_df : int or float, default=0.5
        Leave out words that occur in more documents, given in the same way.
    max_features : int or None, default=20000
        Keep only this many words, those with the largest total counts; None keeps all.
    token_pattern : str, default=TOKEN_PATTERN
        Regular expression for a word, with at most one group, which then matches the word. The
        default is two letters or more of any alphabet: "l'amore" gives "amore", "covid19" gives
        "covid". A pattern that takes more than 10 seconds on a text is an error. Words of more than
        255 characters are not counted, as they are usually encoded data.
    lowercase : bool, default=True
        Whether to convert texts to lower case.
    raw : bool, default=False
        Whether to count all words of the texts. False strips markup and boilerplate first, see
        :func:`momentree.readers.text.cleaning.clean_text`.
    passages : int, "auto" or None, default=None
        Words of the passages into which the readers cut long texts; the vectorizer counts each
        text as a whole.
    vocabulary : tuple of str or None, default=None
        The words of the columns, in order; None before :meth:`learn`. If given, ``fit`` keeps it.
    segment : bool or None, default=None
        Whether to find words in scripts without blanks: Chinese, Japanese, Thai, Lao, Khmer,
        Burmese. This requires icu4py, ``pip install 'momentree[segmentation]'``. None does so
        if at least one text in a hundred is in such a script.
    phrases : bool, default=False
        Whether to count phrases of two or three words, such as "climate change", in addition to
        their words: neighbors that occur together more often than by chance, with normalized
        pointwise mutual information of at least 0.5. They have neither stop words nor punctuation
        between them.
    ngram_range : tuple of two int, default=(1, 1)
        Smallest and largest number of neighboring words that are counted together: (1, 2) counts
        words and all pairs of neighbors, (1, 1) words only.
    tokenizer : callable, str or None, default=None
        Function that splits a text into a list of words, such as the lemmas of spaCy; it replaces
        `token_pattern` and `segment`. Words without a letter or digit are dropped. A file of a
        model contains only its name, "module:function", and needs the function again to count
        texts. None splits texts by `token_pattern`.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.
    MissingLibraryError
        If `segment` is True and icu4py is not installed.
    ReadError
        If the file of stop words cannot be read.

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

    In a pipeline, the words name the leaves:

    >>> from momentree import TopicTree
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["The sea, a boat, the sea!", "A boat, a boat at sea", "Bread, butter, bread"]
    >>> pipeline = make_pipeline(TextVectorizer(max_df=0.7), TopicTree(2)).fit(texts * 5)
    >>> pipeline[-1].names_
    ['boat, sea', 'bread, butter']
    """

    language: str | None = tokens.AUTO
    stop_words: tuple[str, ...] = ()
    min_df: int | float | None = None
    max_df: int | float = selection.MAX_DF
    max_features: int | None = selection.MAX_FEATURES
    token_pattern: str = TOKEN_PATTERN
    lowercase: bool = True
    raw: bool = False
    passages: Cutting = None
    vocabulary: tuple[str, ...] | None = None
    segment: bool | None = None
    phrases: bool = False
    ngram_range: tuple[int, int] = (1, 1)
    tokenizer: tokens.Tokenizer | str | None = None

    def __post_init__(self) -> None:
        self._set("stop_words", tokens.read_words("stop_words", self.stop_words))
        if self.vocabulary is not None:
            self._set("vocabulary", tokens.read_words("vocabulary", self.vocabulary))
        selection.check_limits(self.min_df, self.max_df, self.max_features)
        for name in ("lowercase", "raw", "phrases"):
            check_flag(name, getattr(self, name))
        check_flag("segment", self.segment, optional=True)
        check_passages(self.passages)
        self._set("ngram_range", counting.check_ngram_range(self.ngram_range))
        tokens.check_tokenizer(self.tokenizer, self.token_pattern)
        if self.tokenizer is not None and self.segment is None:
            self.segment = False
        if self.language != tokens.AUTO and self.language is not None:
            self._set("language", ",".join(tokens.language_codes(self.language)))
        tokens.tokenizer(self.token_pattern, lowercase=self.lowercase, segment=bool(self.segment))

    def _set(self, name: str, value: Any) -> None:
        # Scikit-learn's clone checks that a parameter is the object that was given.
        if value != getattr(self, name):
            setattr(self, name, value)

    def adapt(self, texts: Sequence[str]) -> tuple[Self, tuple[Message, ...]]:
        """Choose `language` and `segment` for a corpus where they are left open.

        Parameters
        ----------
        texts : sequence of str
            One text per document.

        Returns
        -------
        vectorizer : TextVectorizer
            A copy with a `language` other than "auto", and with `segment`.
        notes : tuple of Message
            What was found and is not obvious, such as texts in a language other than English, or
            other than the given one.

        Raises
        ------
        MissingLibraryError
            If many texts are in scripts without blanks and icu4py is not installed.
        """
        reading = languages.choose_reading(texts, self.language, self.segment, self.token_pattern)
        return replace(self, language=reading.language, segment=reading.segment), reading.notes

    def learn(self, texts: Sequence[str]) -> tuple[Self, sp.csr_array[Any]]:
        """Choose the words of a corpus and count them; the order of documents has no effect.

        Parameters
        ----------
        texts : sequence of str
            One text per document.

        Returns
        -------
        vectorizer : TextVectorizer
            A copy with the chosen `vocabulary`, in alphabetical order, and as in :meth:`adapt`.
        X : csr_array of shape (n, d), int32
            Counts.

        Raises
        ------
        EmptyCorpusError
            If there are no texts, or no word is kept.
        InvalidDataError
            If a text is not a string.
        MissingLibraryError
            As in :meth:`adapt`.
        """
        texts = check_texts(texts)
        if self.language == tokens.AUTO:
            return self.adapt(texts)[0].learn(texts)
        if self.segment is None:
            segment, _ = languages.choose_segment(texts, self.token_pattern)
            return replace(self, segment=segment).learn(texts)
        vectorizer, X, _ = self.choose(*self.count(texts))
        return vectorizer, X

    def count(self, texts: Sequence[str]) -> tuple[NDArray[Any], sp.csr_array[Any]]:
        """Count all words of texts except stop words: a step of :meth:`learn` after :meth:`adapt`.

        Parameters
        ----------
        texts : sequence of str
            One text per document.

        Returns
        -------
        words : ndarray of str of shape (d,)
            The words in alphabetical order.
        X : csr_array of shape (n, d), int32
            Counts.

        Raises
        ------
        EmptyCorpusError, InvalidDataError
            As in :meth:`learn`.
        """
        texts = check_texts(texts)
        if not self.raw:
            texts = [cleaning.clean_text(text)[0] for text in texts]
        counter, phrases = self.counter(), set[str]()
        if self.phrases:
            least = selection.lowest_df(self.min_df, len(texts))
            phrases = counting.find_collocations(map(counter.runs, texts), least)
        words, X = counter.count(texts, phrases)
        counting.check_found(len(words), len(texts), self.token_pattern)
        return words, X

    def choose(
        self, words: NDArray[Any], X: sp.csr_array[Any], weights: Floats | None = None
    ) -> tuple[Self, sp.csr_array[Any], list[Message]]:
        """Choose the words of a corpus: the last step of :meth:`learn`.

        Parameters
        ----------
        words : ndarray of str of shape (d,)
            The words that :meth:`count` found.
        X : csr_array of shape (n, d)
            Their counts.
        weights : ndarray of shape (n,), default=None
            Weights of the documents in document frequencies; None gives each weight 1.

        Returns
        -------
        vectorizer : TextVectorizer
            A copy with the chosen `vocabulary`, in alphabetical order.
        X : csr_array of shape (n, d), int32
            Counts of these words.
        notes : list of Message
            The words that `max_df` drops, if any.

        Raises
        ------
        EmptyCorpusError
            If no word is kept.
        """
        keep, notes = selection.select_columns(
            X, words, self.min_df, self.max_df, self.max_features, weights=weights
        )
        if len(keep) < len(words):
            X = X[:, keep]
            X.sort_indices()
        return replace(self, vocabulary=tuple(words[keep].tolist())), X, notes

    def transform(self, texts: Sequence[str]) -> sp.csr_array[Any]:
        """Count the words of the vocabulary in texts; other words are ignored.

        Parameters
        ----------
        texts : sequence of str
            One text per document.

        Returns
        -------
        csr_array of shape (n, d), int32
            Counts, with columns in the order of `vocabulary`.

        Raises
        ------
        InvalidParameterError
            If there is no vocabulary yet.
        EmptyCorpusError
            If there are no texts.
        InvalidDataError
            If a text is not a string.
        """
        vectorizer = self.learned
        texts = check_texts(texts)
        if not self.raw:
            texts = [cleaning.clean_text(text)[0] for text in texts]
        vocabulary = vectorizer.vocabulary or ()
        return NamedColumns.of(vectorizer.counter().count_known(texts, vocabulary), vocabulary)

    def counter(self) -> counting.WordCounter:
        """Return what counts the words of clean texts.

        Returns
        -------
        WordCounter
            Its ``count`` is a step of :meth:`count`, for some of the texts of a corpus.
        """
        select = tokens.word_selector(
            None if self.language == tokens.AUTO else self.language,
            self.stop_words,
            self.token_pattern,
            lowercase=self.lowercase,
            segment=bool(self.segment),
        )
        at_breaks = self.tokenizer is None  # one's own may read a text as a whole
        return counting.WordCounter(
            self.splitter(), select, at_breaks, self.ngram_range, self.phrases
        )

    def splitter(self) -> Callable[[str], list[str]]:
        """Return the function that splits a text into words, as they are counted.

        Returns
        -------
        callable
            Given a text, returns its words in order, with those that are not counted.
        """
        if self.tokenizer is not None:
            return tokens.own_tokenizer(self.tokenizer, lowercase=self.lowercase)
        segment = bool(self.segment)
        return tokens.tokenizer(self.token_pattern, lowercase=self.lowercase, segment=segment)

    @property
    def learned(self) -> Self:
        """The vectorizer with the vocabulary that :meth:`fit` has chosen, or that was given."""
        found: Self | None = vars(self).get("_learned")
        if found is None and self.vocabulary is not None:
            found = self
        if found is None:
            raise InvalidParameterError(
                "[vectorizer_has_not_learned] the vectorizer has no vocabulary yet; call fit or "
                "learn first"
            )
        return found

    def fit(self, texts: Sequence[str], y: object = None) -> Self:
        """Choose the words of texts, like :meth:`learn`, and remember them for :meth:`transform`.

        Parameters
        ----------
        texts : sequence of str
            One text per document: a list, array or column, or a data frame of one column.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted vectorizer; its parameters are unchanged.

        Raises
        ------
        EmptyCorpusError, InvalidDataError, MissingLibraryError
            As in :meth:`learn`.
        """
        self.fit_transform(texts, y)
        return self

    def fit_transform(self, texts: Sequence[str], y: object = None) -> sp.csr_array[Any]:  # noqa: ARG002
        """Choose the words of texts, and count them.

        Parameters
        ----------
        texts : sequence of str
            One text per document.
        y : None
            Ignored.

        Returns
        -------
        csr_array of shape (n, d), int32
            Counts, with the words in the attribute `feature_names`, where topic models find them.
        """
        if self.vocabulary is None:
            learned, X = self.learn(texts)
            self.__dict__["_learned"] = learned
            return NamedColumns.of(X, learned.vocabulary or ())
        self.__dict__["_learned"] = self.adapt(check_texts(texts))[0]
        return self.transform(texts)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:  # noqa: ARG002
        """Return the words of the columns.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str of shape (d,)
            The vocabulary.

        Raises
        ------
        InvalidParameterError
            If there is no vocabulary yet.
        """
        return np.asarray(self.learned.vocabulary, dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:  # noqa: ARG002
        """Change nothing: counts are always sparse and have the words of their columns.

        Parameters
        ----------
        transform : str or None, default=None
            Ignored, so that a pipeline can set the output of its last step.

        Returns
        -------
        self
            The vectorizer.
        """
        return self

    def set_params(self, **params: Any) -> Self:
        """Change parameters; a fitted vocabulary is forgotten.

        Parameters
        ----------
        **params
            Values by parameter name.

        Returns
        -------
        self
            The vectorizer.

        Raises
        ------
        InvalidParameterError
            If a name is unknown or a value is invalid.
        """
        known = [field.name for field in fields(self)]
        unknown = sorted(set(params) - set(known))
        if unknown:
            raise InvalidParameterError(_UNKNOWN_SETTINGS, names=unknown, known=known)
        if params:
            changed = replace(self, **params)
            self.__dict__.clear()
            self.__dict__.update(vars(changed))
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self.vocabulary is not None or "_learned" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values for JSON; of a `tokenizer` only its name."""
        learned = vars(self).get("_learned", self)
        values = {field.name: getattr(learned, field.name) for field in fields(self)}
        values["tokenizer"] = tokens.name_of(self.tokenizer)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TextVectorizer:
        """Return a vectorizer from the result of :meth:`to_dict`.

        Parameters
        ----------
        values : mapping
            Values by parameter name.

        Returns
        -------
        TextVectorizer
            An equal vectorizer.

        Raises
        ------
        InvalidDataError
            If a name is unknown or a value is invalid.
        """
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise InvalidDataError(_UNKNOWN_SETTINGS, names=unknown, known=known)
        try:
            # Models of earlier versions counted all words of the texts.
            return cls(**{"raw": True, **values})
        except InvalidParameterError as error:
            raise InvalidDataError(
                "[bad_settings] the vectorizer settings are damaged: {problem}",
                problem=error.message,
            ) from error


def check_passages(value: Any) -> None:
    """Raise ``InvalidParameterError`` unless a value is "auto", None or a number of words."""
    if value is None or value == "auto":
        return
    if isinstance(value, str):
        raise InvalidParameterError(
            "{parameters.passages:=value}; expected a number of words, 'auto', or "
            "{parameters.passages:=none} to keep texts whole",
            value=value,
            none=None,
        )
    check_integer("passages", value, at_least=1)
