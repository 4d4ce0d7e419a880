"""Estimators that accept texts: ``fit`` counts their words, ``predict`` those of new texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if

from momentree._fit import all_or_nothing
from momentree._validation import check_counts, texts_of
from momentree.estimators import batches, names
from momentree.exceptions import EmptyCorpusError, InvalidDataError, InvalidParameterError
from momentree.messages import Message, wording

# The readers are imported when texts are given, because they take as long to import as the rest.
if TYPE_CHECKING:
    from momentree.readers import Corpus

E = TypeVar("E")

_SETTINGS = ("no_word_in_texts", "no_word_kept")
"""Errors whose remedy is a parameter of the vectorizer."""
_KEPT = ("vectorizer_", "vectorizer_config_", "notes_")
"""What further batches do not change."""


def fit(
    self: E,
    X: Any,
    y: object = None,  # noqa: ARG001 - the convention of scikit-learn
    *,
    sample_weight: ArrayLike | None = None,
    feature_names: Sequence[str] | NDArray[Any] | None = None,
) -> E:
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
    with all_or_nothing(self):
        estimator: Any = self
        estimator._check_parameters()
        weighted = sample_weight is not None
        corpus, vectorizer = corpus_of(X, estimator.vectorizer, weighted=weighted)
        if corpus is not None:
            X, sample_weight, feature_names = of_fit(corpus, sample_weight, feature_names)
        estimator._fit(X, sample_weight=sample_weight, feature_names=feature_names)
        if sample_weight is not None and not weighted:
            estimator._count_copies()
        keep_words(estimator, corpus, vectorizer)
        return self


@available_if(batches.learns_batches)  # type: ignore[untyped-decorator]
def partial_fit(
    self: E,
    X: Any,
    y: object = None,  # noqa: ARG001 - the convention of scikit-learn
    *,
    sample_weight: ArrayLike | None = None,
    feature_names: Sequence[str] | NDArray[Any] | None = None,
) -> E:
    """Learn from a batch of counts or texts, without those of earlier batches.

    The first batch is fitted as by :meth:`fit`. Each further one adds its expected statistics
    to sums, from which the parameters follow: earlier documents are needed no more. Topics keep
    their numbers and names, and ``changes_`` reports what happened to them. After
    :meth:`fit`, learning continues from its result.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features), \
{sequence, array or column} of str of shape (n_samples,), or Corpus
        Counts or texts, as for :meth:`fit`; a Dask collection is brought to this machine. The
        first batch decides which words are counted; ``notes_`` contains how many words of the
        last batch are not among them.
    y : None
        Ignored.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0.
    feature_names : sequence of str of shape (n_features,), default=None
        Column names of counts, with the first batch.

    Returns
    -------
    self
        The estimator. ``labels_`` are those of the documents of this batch, but weights and
        topics are those of all batches.

    Raises
    ------
    InvalidDataError
        If X contains other values, or does not have the columns of the first batch.
    EmptyCorpusError
        If no sample of positive weight has a nonzero value, or no word is kept.
    InvalidParameterError
        If a parameter is out of its range, or does not allow learning from batches.

    Warns
    -----
    MomentreeWarning
        If there are not enough documents yet for a first fit; they are kept until there are.

    Notes
    -----
    Counts are kept, and fitted anew with further ones, until there are 100 documents for each
    topic. A file saved before then contains these counts.
    """
    with all_or_nothing(self):
        estimator: Any = self
        given = {"sample_weight": sample_weight, "feature_names": feature_names}
        if not hasattr(self, "n_features_in_"):
            estimator._check_parameters()
            weighted = sample_weight is not None
            corpus, vectorizer = corpus_of(X, estimator.vectorizer, weighted=weighted)
            if corpus is not None:
                X, *of_corpus = of_fit(corpus, sample_weight, feature_names)
                given = dict(zip(given, of_corpus, strict=True))
            batches.learn_batch(estimator, X, **given)
            if hasattr(self, "labels_"):
                keep_words(estimator, corpus, vectorizer)
            elif vectorizer is not None:
                estimator.vectorizer_ = vectorizer
            return self
        kept = {name: getattr(self, name) for name in _KEPT if hasattr(self, name)}
        note = _unknown_words(estimator, texts_of(X))
        batches.learn_batch(estimator, counts_of(estimator, X), **given)
        for name, value in kept.items():
            setattr(self, name, value)
        notes = [one for one in getattr(self, "notes_", ()) if one.code != "unknown_words"]
        estimator.notes_ = [*notes, *([] if note is None else [note])]
        return self


def keep_words(estimator: Any, corpus: Corpus | None, vectorizer: Any) -> None:
    """Keep the vectorizer and notes of a fit, and choose names from its texts."""
    if vectorizer is not None:
        estimator.vectorizer_ = vectorizer
    if corpus is not None:
        names.choose_topic_names(estimator, corpus)
        estimator.notes_ = [*estimator.notes_, *corpus.notes]
    if list(estimator.vocabulary_) == [str(j) for j in range(len(estimator.vocabulary_))]:
        unnamed = Message(
            "[columns_without_names] the columns have no names, so topics are named by column "
            "numbers; pass {parameter} to fit, or use the result of "
            "name_topics(feature_names=vectorizer.get_feature_names_out())",
            parameter="feature_names",
        )
        estimator.notes_ = [*estimator.notes_, unnamed]


def counts_of(self: Any, X: Any) -> Any:
    """Return the counts of new texts as in ``fit``, or X if it is a table."""
    if is_corpus(X):
        if list(X.vocabulary) != list(self.vocabulary_):
            raise InvalidDataError(
                "[corpus_of_other_words] the corpus has other words than the model; count new "
                "texts with read_like, or use align_columns"
            )
        return X.X
    texts = texts_of(X)
    if texts is None:
        return X
    if not texts:
        raise EmptyCorpusError(wording.NO_DOCUMENTS)
    if not hasattr(self, "vectorizer_"):
        raise InvalidDataError(
            "[fitted_to_counts] X contains texts, but the model was fitted to counts and cannot "
            "count words; fit it to texts, or pass counts with the columns of fit, as from "
            "vectorizer.transform(texts)"
        )
    return self.vectorizer_.transform(texts)


def of_page(estimator: Any, X: Any) -> tuple[Any, dict[str, Any]]:
    """Return the counts of samples, and those of their ids, texts and labels that X has."""
    if is_corpus(X):
        # An empty label is unknown.
        labels = None if X.labels is None else [label or None for label in X.labels]
        return counts_of(estimator, X), {"ids": X.ids, "texts": X.texts, "labels": labels}
    texts = texts_of(X)
    return (X, {}) if not texts else (counts_of(estimator, texts), {"texts": texts})


def restore_vectorizer(estimator: Any) -> None:
    """Set what converts text to counts, from the settings in a file."""
    from momentree.readers import TextVectorizer

    # A model of counts may come with any settings, which are not those of a vectorizer.
    with suppress(InvalidDataError):
        vectorizer = TextVectorizer.from_dict(estimator.vectorizer_config_ or {})
        if len(vectorizer.vocabulary or ()) == len(estimator.vocabulary_):
            estimator.vectorizer_ = vectorizer


def check_vectorizer(name: str, value: Any) -> None:
    """Raise an error if a parameter is neither None nor counts words."""
    usable = hasattr(value, "fit_transform") and hasattr(value, "transform")
    if value is not None and (isinstance(value, type) or not usable):
        raise InvalidParameterError(
            "[not_a_vectorizer] {parameter:=value}; expected None, a TextVectorizer(...), or "
            "another object with fit_transform and transform, such as CountVectorizer()",
            parameter=name,
            value=value,
        )


def pack_vectorizer(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with the settings of a vectorizer in its place."""
    given = params.get("vectorizer")
    if given is None:
        return params
    from momentree.readers import TextVectorizer

    if not isinstance(given, TextVectorizer):
        raise InvalidParameterError(
            "[own_vectorizer] {parameters.vectorizer} is not a TextVectorizer, and cannot be saved "
            "in a model file; use TextVectorizer(...), or store the model with pickle"
        )
    return {**params, "vectorizer": given.to_dict()}


def unpack_vectorizer(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with a vectorizer in place of its settings."""
    if params.get("vectorizer") is None:
        return params
    from momentree.readers import TextVectorizer

    return {**params, "vectorizer": TextVectorizer.from_dict(params["vectorizer"])}


def _unknown_words(estimator: Any, texts: Sequence[str] | None) -> Message | None:
    """Return a note of the words in texts that are not counted, though they are no stop words.

    Only a ``TextVectorizer`` shows how it splits texts.
    """
    split = getattr(getattr(estimator, "vectorizer_", None), "splitter", None)
    if not texts or split is None:
        return None
    words = Counter(word for text in texts for word in split()(text))
    known, stop = set(map(str, estimator.vocabulary_)), _stop_words(estimator.vectorizer_)
    unknown = {word: n for word, n in words.items() if word not in known and word not in stop}
    if not unknown:
        return None
    often = sorted(unknown, key=lambda word: (-unknown[word], word))[:5]
    return Message(
        "[unknown_words] {n_unknown:,} of {n_words:~word} in the last batch {n_unknown:?is/are} "
        "not among the words of the first batch and {n_unknown:?does/do} not count (most frequent: "
        "{examples:list}); fit() again if they are important",
        n_unknown=len(unknown),
        n_words=len(words),
        examples=often,
    )


def set_params(self: E, **params: Any) -> E:
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
    estimator: Any = self
    nested = any(name.startswith("vectorizer__") for name in params)
    if nested and estimator.vectorizer is None:
        from momentree.readers import TextVectorizer

        estimator.vectorizer = TextVectorizer()
    BaseEstimator.set_params(estimator, **params)
    return self


def _stop_words(vectorizer: Any) -> frozenset[str]:
    """Return the stop words that a vectorizer leaves out."""
    from momentree.readers.text.words import unwanted_words

    learned = vectorizer.learned
    return unwanted_words(learned.language, learned.stop_words, learned.token_pattern)


class Vectorizer(Protocol):
    """Counts words: a ``TextVectorizer``, or another class with scikit-learn's interface."""

    def fit_transform(self, texts: Any) -> Any:
        """Choose words, and return their counts, one row per text."""

    def transform(self, texts: Any) -> Any:
        """Return the counts of the same words in new texts."""


def corpus_of(X: Any, given: Vectorizer | None, *, weighted: bool) -> tuple[Corpus | None, Any]:
    """Return texts or a corpus with its vectorizer; None and None for counts.

    Copies of a text keep their weights if samples are `weighted` by hand.
    """
    if is_corpus(X):
        return X, X.vectorizer
    texts = texts_of(X)
    if texts is None:
        return None, None
    from momentree.readers import TextVectorizer
    from momentree.readers.copies import find_copies, weigh_copies
    from momentree.readers.tables.roles import count_words
    from momentree.readers.text.objects import Corpus
    from momentree.readers.text.vectorize import vectorize

    if not texts:
        raise EmptyCorpusError(wording.NO_DOCUMENTS)
    if len(texts) == 1:
        raise EmptyCorpusError(
            "[one_text] one text of {n_words:~word} is not enough to find topics; give several "
            "texts, or cut a long one into passages, as in fit(vectorize([text], passages=200))",
            n_words=count_words(texts[0]),
        )
    unique: Any = False if weighted else "auto"
    vectorizer = TextVectorizer() if given is None else clone(given)
    if isinstance(vectorizer, TextVectorizer):
        whole = replace(vectorizer, passages=None)  # one sample per text
        with _in_words_of_fit():
            corpus = vectorize(texts, whole, unique=unique)
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


def of_fit(corpus: Corpus, sample_weight: Any, feature_names: Any) -> tuple[Any, Any, Any]:
    """Return the counts of a corpus, the weights of its samples, and its words."""
    if feature_names is not None:
        raise InvalidParameterError(
            "[names_of_texts] {parameters.feature_names} is given with texts, whose words are the "
            "names of the columns; leave it out"
        )
    weights = corpus.weights if sample_weight is None else sample_weight
    return corpus.X, weights, corpus.vocabulary


def is_corpus(X: Any) -> bool:
    """Whether X is a corpus of counts, without importing its class."""
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
            raise EmptyCorpusError(wording.ALL_COPIES, **weights) from error
        if error.code in _SETTINGS:
            raise EmptyCorpusError(
                "[settings_of_vectorizer] {problem}. These are settings of the counts: count the "
                "texts first, as in vectorize(texts, min_df=1, max_df=1.0), and give fit the "
                "result; topic models also take vectorizer=TextVectorizer(min_df=1, max_df=1.0)",
                problem=error.message,
            ) from error
        raise


def _note_in_fit(note: Message) -> Message:
    if note.code == "copies_counted":
        return Message(
            "[copies_counted_in_fit] {n_rows:,} of {every} {n_rows:?is a copy/are copies} of "
            "others{near}; give them less weight by sample_weight, or count each text once by "
            "fit(vectorize(texts, unique=True))",
            **note.values,
        )
    if note.code == "copies_weighted":
        return note.replace(parameter="sample_weight", other=1)
    return note
