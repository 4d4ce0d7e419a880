"""Topic models that accept texts: ``fit`` counts their words, ``predict`` those of new texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from momentree._fit import all_or_nothing
from momentree._validation import check_counts, texts_of
from momentree.exceptions import EmptyCorpusError, InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.tree.names import NamedTopics

# The readers are imported when texts are given, because they take as long to import as the rest.
if TYPE_CHECKING:
    from momentree.readers import Corpus

_SETTINGS = ("no_word_in_texts", "only_stop_words", "no_word_kept")
"""Errors whose remedy is a parameter of the vectorizer."""


class Vectorizer(Protocol):
    """Counts words: a ``TextVectorizer``, or another class with scikit-learn's interface."""

    def fit_transform(self, texts: Any) -> Any:
        """Choose words, and return their counts, one row per text."""

    def transform(self, texts: Any) -> Any:
        """Return the counts of the same words in new texts."""


class FitsTexts(NamedTopics):
    """Topic models that are fitted to counts, or to texts whose words they count."""

    vectorizer: Vectorizer | None

    vectorizer_: Any  # only after a fit to texts
    vectorizer_config_: dict[str, Any] | None
    n_features_in_: int
    notes_: list[Message]

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: object = None,
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> Self:
        """Fit the model to counts or texts.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features), \
{sequence, array or column} of str of shape (n_samples,), or Corpus
            Word counts >= 0, one document per row. Or texts, in a list, an array, a column or a
            data frame of one column (NumPy, pandas, Polars, PyArrow): their words are counted by
            `vectorizer`. Or the result of ``read_corpus`` or ``vectorize``, with its words and
            weights; its passages are then the samples.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; a weight of 2 has the effect of two copies of the sample. With None, many
            copies of a text together have the weight of one, as in ``vectorize``; 1 gives each of
            them the weight 1.
        feature_names : sequence of str of shape (n_features,), default=None
            Words or other names of the columns of counts, used in names and reports. None uses the
            column names of a data frame, or of the counts of a ``TextVectorizer``.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X contains other values, counts above 1e30, or a text that is not a string; if
            weights or names do not match it; or if there are fewer documents with words than
            components.
        EmptyCorpusError
            If no sample of positive weight has a nonzero value, there is only one text, or no
            word is kept.
        InvalidParameterError
            If a parameter is invalid, or `feature_names` are given with texts.

        Warns
        -----
        ConvergenceWarning
            If a flat model finds fewer than `n_components` components; the message says why.
        """
        self._check_parameters()
        corpus, vectorizer = self._corpus(X, weighted=sample_weight is not None)
        notes: list[Message] = []
        if corpus is not None:
            if feature_names is not None:
                raise InvalidParameterError("names_of_texts", parameter="feature_names")
            notes, X, feature_names = list(corpus.notes), corpus.X, corpus.vocabulary
            sample_weight = corpus.weights if sample_weight is None else sample_weight
        super().fit(  # type: ignore[misc]
            X, y, sample_weight=sample_weight, feature_names=feature_names
        )
        for name in ("vectorizer_", "vectorizer_config_"):
            vars(self).pop(name, None)
        if vectorizer is not None:
            self.vectorizer_ = vectorizer
        if corpus is not None:
            vars(self).update(vars(self.name_topics(corpus)))
        if list(self.vocabulary_) == [str(j) for j in range(self.n_features_in_)]:
            notes.append(Message("columns_without_names", parameter="feature_names"))
        self.notes_ = notes
        return self

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the vectorizer, such as ``vectorizer__min_df=3``.

        Parameters
        ----------
        **params
            Values by parameter name.

        Returns
        -------
        self
            The estimator.
        """
        if self.vectorizer is None and any(name.startswith("vectorizer__") for name in params):
            from momentree.readers import TextVectorizer

            self.vectorizer = TextVectorizer()
        super().set_params(**params)  # type: ignore[misc]
        return self

    def _corpus(self, X: Any, *, weighted: bool) -> tuple[Corpus | None, Any]:
        """Return texts or a corpus with its vectorizer; None and None for counts."""
        if _is_corpus(X):
            return X, X.vectorizer
        texts = texts_of(X)
        if texts is None:
            return None, None
        from momentree.readers import TextVectorizer
        from momentree.readers.copies import find_copies, weigh_copies
        from momentree.readers.tables.values import count_words
        from momentree.readers.text.objects import Corpus
        from momentree.readers.text.vectorize import count_documents

        if not texts:
            raise EmptyCorpusError("no_documents")
        if len(texts) == 1:
            raise EmptyCorpusError("one_text", n_words=count_words(texts[0]))
        unique: Any = False if weighted else "auto"
        vectorizer = TextVectorizer() if self.vectorizer is None else clone(self.vectorizer)
        if isinstance(vectorizer, TextVectorizer):
            whole = replace(vectorizer, passages=None)  # one sample per text
            with _in_words_of_fit():
                corpus = count_documents(texts, whole, unique=unique)
            return replace(corpus, notes=[*map(_note_in_fit, corpus.notes)]), corpus.vectorizer
        counts = check_counts(vectorizer.fit_transform(texts))
        words = range(counts.shape[1])
        if hasattr(vectorizer, "get_feature_names_out"):
            words = vectorizer.get_feature_names_out()
        with _in_words_of_fit():
            weights, notes = weigh_copies(find_copies(counts, texts), unique)
        corpus = Corpus(
            counts,
            np.array([str(word) for word in words], dtype=object),
            [str(i) for i in range(1, len(texts) + 1)],
            texts=texts,
            weights=weights,
            notes=[*map(_note_in_fit, notes)],
        )
        return corpus, vectorizer

    def _counts(self, X: Any) -> Any:
        """Return the counts of new texts as in ``fit``, or X if it is a table."""
        if _is_corpus(X):
            if list(X.vocabulary) != list(self.vocabulary_):
                raise InvalidDataError("corpus_of_other_words")
            return X.X
        texts = texts_of(X)
        if texts is None:
            return X
        if not texts:
            raise EmptyCorpusError("no_documents")
        if "vectorizer_" not in vars(self):
            raise InvalidDataError("fitted_to_counts")
        return self.vectorizer_.transform(texts)

    def _of_page(self, X: Any) -> tuple[Any, dict[str, Any]]:
        if _is_corpus(X):
            # An empty label is unknown.
            labels = None if X.labels is None else [label or None for label in X.labels]
            return self._counts(X), {"ids": X.ids, "texts": X.texts, "labels": labels}
        texts = texts_of(X)
        return (X, {}) if not texts else (self._counts(texts), {"texts": texts})

    def _check_parameters(self) -> None:
        super()._check_parameters()  # type: ignore[misc]
        given = self.vectorizer
        usable = hasattr(given, "fit_transform") and hasattr(given, "transform")
        if given is not None and (isinstance(given, type) or not usable):
            raise InvalidParameterError("not_a_vectorizer", parameter="vectorizer", value=given)

    def _vectorizer_config(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = None
        if "vectorizer_" in vars(self):
            found = self.vectorizer_.to_dict()
        return found

    def _restore_vectorizer(self) -> None:
        from momentree.readers import TextVectorizer

        notes: Any = vars(self).get("notes_", [])
        if not (isinstance(notes, list) and all(isinstance(note, Message) for note in notes)):
            raise InvalidDataError("bad_entry", name="notes_", value=notes)
        # A model of counts may come with any settings, which are not those of a vectorizer.
        with suppress(InvalidDataError):
            vectorizer = TextVectorizer.from_dict(self.vectorizer_config_ or {})
            if len(vectorizer.vocabulary or ()) == self.n_features_in_:
                self.vectorizer_ = vectorizer

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = super()._state()  # type: ignore[misc]
        state.pop("vectorizer_", None)
        return state

    def _restore(self, state: dict[str, Any]) -> None:
        if "vectorizer_" in state:
            raise InvalidDataError("unknown_attribute", name="vectorizer_")
        super()._restore(state)  # type: ignore[misc]

    def _saved_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super()._saved_params()  # type: ignore[misc]
        given = params["vectorizer"]
        if given is not None:
            from momentree.readers import TextVectorizer

            if not isinstance(given, TextVectorizer):
                raise InvalidParameterError("own_vectorizer", parameter="vectorizer")
            params["vectorizer"] = given.to_dict()
        return params

    @classmethod
    def _loaded_params(cls, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("vectorizer") is None:
            return params
        from momentree.readers import TextVectorizer

        return {**params, "vectorizer": TextVectorizer.from_dict(params["vectorizer"])}


def _is_corpus(X: Any) -> bool:
    return all(hasattr(X, name) for name in ("X", "vocabulary", "texts", "weights"))


@contextmanager
def _in_words_of_fit() -> Iterator[None]:
    """Give errors of the vectorizer the remedy that ``fit`` offers."""
    try:
        yield
    except EmptyCorpusError as error:
        values = error.message.values
        if error.code == "all_copies":
            weights = {**values, "parameter": "sample_weight", "every": 1}
            raise EmptyCorpusError("all_copies", **weights) from error
        if error.code in _SETTINGS:
            raise EmptyCorpusError("settings_of_vectorizer", problem=error.message) from error
        raise


def _note_in_fit(note: Message) -> Message:
    if note.code == "copies_counted":
        return Message("copies_counted_in_fit", **note.values)
    if note.code == "copies_weighted":
        return Message(note.code, **{**note.values, "parameter": "sample_weight", "other": 1})
    return note
