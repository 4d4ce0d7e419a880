"""Topic models that accept texts: ``fit`` counts their words, ``predict`` those of new texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from momentree._fit import all_or_nothing
from momentree._validation import texts_of
from momentree.exceptions import EmptyCorpusError, InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.tree.counted_texts import Vectorizer, corpus_of, is_corpus, of_fit
from momentree.tree.names import NamedTopics
from momentree.tree.online import learns_batches

# The readers are imported when texts are given, because they take as long to import as the rest.
if TYPE_CHECKING:
    from momentree.readers import Corpus


class KeepsWords(NamedTopics):
    """Estimators that keep what counted the words of the texts they were fitted to."""

    vectorizer_: Any  # only after a fit to texts
    vectorizer_config_: dict[str, Any] | None

    def _forget_words(self) -> None:
        """Discard what another fit has kept."""
        for name in ("vectorizer_", "vectorizer_config_", "notes_"):
            vars(self).pop(name, None)

    def _keep_words(self, corpus: Corpus | None, vectorizer: Any) -> None:
        """Keep the vectorizer and notes of a fit, and choose names from its texts."""
        brought: list[Message] = vars(self).get("notes_", [])
        self._forget_words()
        if vectorizer is not None:
            self.vectorizer_ = vectorizer
        notes = list(brought)
        if corpus is not None:
            vars(self).update(vars(self.name_topics(corpus)))
            notes += corpus.notes
        if list(self.vocabulary_) == [str(j) for j in range(len(self.vocabulary_))]:
            notes.append(Message("columns_without_names", parameter="feature_names"))
        self.notes_ = notes

    def _counts(self, X: Any) -> Any:
        """Return the counts of new texts as in ``fit``, or X if it is a table."""
        if is_corpus(X):
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
        if is_corpus(X):
            # An empty label is unknown.
            labels = None if X.labels is None else [label or None for label in X.labels]
            return self._counts(X), {"ids": X.ids, "texts": X.texts, "labels": labels}
        texts = texts_of(X)
        return (X, {}) if not texts else (self._counts(texts), {"texts": texts})

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
            if len(vectorizer.vocabulary or ()) == len(self.vocabulary_):
                self.vectorizer_ = vectorizer

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = super()._state()  # type: ignore[misc]
        state.pop("vectorizer_", None)
        return state

    def _restore(self, state: dict[str, Any]) -> None:
        if "vectorizer_" in state:
            raise InvalidDataError("unknown_attribute", name="vectorizer_")
        super()._restore(state)  # type: ignore[misc]


class FitsTexts(KeepsWords):
    """Topic models that are fitted to counts, or to texts whose words they count."""

    vectorizer: Vectorizer | None

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
        weighted = sample_weight is not None
        corpus, vectorizer = corpus_of(X, self.vectorizer, weighted=weighted)
        if corpus is not None:
            X, sample_weight, feature_names = of_fit(corpus, sample_weight, feature_names)
        super().fit(  # type: ignore[misc]
            X, y, sample_weight=sample_weight, feature_names=feature_names
        )
        if (
            sample_weight is not None
            and not weighted
            and hasattr(self, "tree_")
            and len(self.labels_)
        ):
            # Copies weigh less in the fit, but count in full in shares.
            self._count_rows()  # type: ignore[attr-defined]
        self._keep_words(corpus, vectorizer)
        return self

    @available_if(learns_batches)  # type: ignore[untyped-decorator]
    @all_or_nothing
    def partial_fit(
        self,
        X: Any,
        y: object = None,
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> Self:
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
        attributes = vars(self)
        names = ("vectorizer_", "vectorizer_config_", "notes_")
        if "n_features_in_" not in attributes:
            self._check_parameters()
            corpus, vectorizer = corpus_of(X, self.vectorizer, weighted=sample_weight is not None)
            if corpus is not None:
                X, sample_weight, feature_names = of_fit(corpus, sample_weight, feature_names)
            super().partial_fit(  # type: ignore[misc]
                X, y, sample_weight=sample_weight, feature_names=feature_names
            )
            if "labels_" in attributes:
                self._keep_words(corpus, vectorizer)
            elif vectorizer is not None:
                self.vectorizer_ = vectorizer
            return self
        kept = {name: attributes[name] for name in names if name in attributes}
        note = self._unknown_words(texts_of(X))
        super().partial_fit(  # type: ignore[misc]
            self._counts(X), y, sample_weight=sample_weight, feature_names=feature_names
        )
        attributes.update(kept)
        notes = [one for one in attributes.get("notes_", []) if one.code != "unknown_words"]
        self.notes_ = [*notes, *([] if note is None else [note])]
        return self

    def _unknown_words(self, texts: Sequence[str] | None) -> Message | None:
        """Return a note of the words in texts that are not counted, though they are no stop words.

        Only a ``TextVectorizer`` shows how it splits texts.
        """
        split = getattr(vars(self).get("vectorizer_"), "splitter", None)
        if not texts or split is None:
            return None
        words = Counter(word for text in texts for word in split()(text))
        known, stop = set(map(str, self.vocabulary_)), _stop_words(self.vectorizer_)
        unknown = {word: n for word, n in words.items() if word not in known and word not in stop}
        if not unknown:
            return None
        often = sorted(unknown, key=lambda word: (-unknown[word], word))[:5]
        return Message(
            "unknown_words",
            n_unknown=len(unknown),
            n_words=len(words),
            examples=often,
        )

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

    def _check_parameters(self) -> None:
        super()._check_parameters()  # type: ignore[misc]
        given = self.vectorizer
        usable = hasattr(given, "fit_transform") and hasattr(given, "transform")
        if given is not None and (isinstance(given, type) or not usable):
            raise InvalidParameterError("not_a_vectorizer", parameter="vectorizer", value=given)

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


def _stop_words(vectorizer: Any) -> frozenset[str]:
    """Return the stop words that a vectorizer leaves out."""
    from momentree.readers.text.words import unwanted_words

    learned = vectorizer.learned
    return unwanted_words(learned.language, learned.stop_words, learned.token_pattern)
