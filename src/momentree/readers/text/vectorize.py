"""Turn documents into a corpus: choose and count their words in one call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from momentree._validation import check_texts
from momentree.exceptions import EmptyCorpusError
from momentree.messages import Message, wording
from momentree.readers.copies import check_unique, find_copies, weigh_copies
from momentree.readers.tables.roles import count_words
from momentree.readers.text import cleaning, languages, objects, selection
from momentree.readers.text.vectorizer import Cutting, TextVectorizer


def vectorize(
    documents: objects.Documents | Sequence[str],
    vectorizer: TextVectorizer | None = None,
    *,
    unique: bool | Literal["auto"] = "auto",
    **settings: Any,
) -> objects.Corpus:
    """Count the words of documents.

    Parameters
    ----------
    documents : Documents or sequence of str
        Texts.
    vectorizer : TextVectorizer or None, default=None
        What counts as a word and which words to keep; its vocabulary is kept if it has one. None
        is one with the default settings that also cuts texts of more than 2,000 words into
        passages of about 200, which become the rows of the counts.
    unique : bool or "auto", default="auto"
        Whether each group of equal or nearly equal texts has the weight of one, in `weights` and
        in `min_df` and `max_df`. "auto" does so if the copies of a text with ten different words
        or more are at least 5, and 1% of the documents, so that they could form a topic.
    **settings
        Other values of parameters of :class:`TextVectorizer`: `language`, `stop_words`, `min_df`,
        `max_df`, `max_features`, `token_pattern`, `lowercase`, `raw`, `passages`, `phrases`,
        `ngram_range`, `tokenizer`.

    Returns
    -------
    Corpus
        Counts of shape (n, d), int32, words in alphabetical order, and one row per document, or per
        passage of a long one; `texts` are cleaned. Documents without any of the words kept become
        empty rows; `notes` list what was stripped, cut, dropped or found twice.

    Raises
    ------
    EmptyCorpusError
        If there are no documents, or one short one, or only copies of one; or if no word is kept:
        the message reports how many words each filter removed.
    InvalidDataError
        If a text is not a string.
    InvalidParameterError, ReadError, MissingLibraryError
        As in :class:`TextVectorizer`.

    Examples
    --------
    >>> from momentree.datasets import vectorize
    >>> texts = ["The sea, the sea!", "A boat at sea", "Bread and butter", "Butter in a boat"]
    >>> corpus = vectorize(texts)
    >>> corpus.vocabulary.tolist(), corpus.X.shape
    (['boat', 'butter', 'sea'], (4, 3))
    """
    vectorizer = replace(vectorizer or TextVectorizer(passages="auto"), **settings)
    check_unique(unique)
    if not isinstance(documents, objects.Documents):
        texts = check_texts(documents)
        documents = objects.Documents(texts, [str(i) for i in range(1, len(texts) + 1)])
    check_texts(documents.texts)
    seen = SeenTexts(vectorizer.raw, vectorizer.passages)
    cut = seen.add(documents)
    adapted, notes = seen.adapt(vectorizer, documents.name)
    words, counts = adapted.count(cut.texts)
    weights, copied = weigh_copies(find_copies(counts, cut.texts), unique, seen.is_cut)
    if vectorizer.vocabulary is None:
        adapted, X, dropped = adapted.choose(words, counts, weights)
    else:
        X, dropped = adapted.transform(cut.texts), []
    return objects.Corpus(
        X=X,
        vocabulary=np.asarray(adapted.vocabulary, dtype=object),
        ids=cut.ids,
        labels=cut.labels,
        texts=cut.texts,
        name=documents.name,
        vectorizer=replace(adapted, raw=vectorizer.raw),
        passages=seen.passages_of(documents, cut),
        weights=weights,
        notes=[*documents.notes, *notes, *copied, *dropped, *selection.note_empty(X, seen.is_cut)],
    )


@dataclass
class SeenTexts:
    """What the first pass over the texts of a corpus finds; passes over its parts add up.

    Parameters
    ----------
    raw : bool
        Whether texts are not cleaned.
    passages : int, "auto" or None
        Words of the passages into which long texts are cut.
    """

    raw: bool
    passages: Cutting
    sample: languages.TextSample = field(default_factory=languages.TextSample)
    stripped: Counter[str] = field(default_factory=Counter)
    n_documents: int = 0
    n_rows: int = 0
    n_cut: int = 0
    n_long: int = 0
    last: str = ""

    def add(self, documents: objects.Documents) -> objects.Cut:
        """Clean texts, and cut long ones into passages."""
        texts = (
            documents.texts if self.raw else cleaning.clean_batch(documents.texts, self.stripped)
        )
        cut = objects.cut_documents(texts, documents.ids, documents.labels, self.passages)
        self.sample.add(texts)
        self.n_documents += len(texts)
        self.n_rows += len(cut.texts)
        self.n_cut += int((cut.sizes > 1).sum())
        self.last = texts[-1] if texts else self.last
        return cut

    def merge(self, other: SeenTexts) -> None:
        """Add what was found in other texts."""
        self.sample.merge(other.sample)
        self.stripped.update(other.stripped)
        self.n_documents += other.n_documents
        self.n_rows += other.n_rows
        self.n_cut += other.n_cut
        self.n_long += other.n_long
        self.last = other.last or self.last

    @property
    def is_cut(self) -> bool:
        """Whether a text was cut."""
        return self.n_cut > 0

    @property
    def notes(self) -> list[Message]:
        """What was removed from the texts, and how many were cut."""
        n_passages = self.n_rows - self.n_documents + self.n_cut
        cut = [objects.note_cut(self.n_cut, n_passages, self.passages)] if self.n_cut else []
        return [*cleaning.note_stripped(self.stripped), *cut]

    def passages_of(
        self, documents: objects.Documents, cut: objects.Cut
    ) -> objects.Passages | None:
        """Return the passages of all documents; None if no text was cut."""
        if not self.is_cut:
            return None
        return objects.Passages(cut.document_of, documents.ids, documents.labels)

    def adapt(self, settings: TextVectorizer, name: str) -> tuple[TextVectorizer, list[Message]]:
        """Return the settings for the languages of the clean texts, and all notes.

        Raises
        ------
        EmptyCorpusError
            If there are no documents, or one short one.
        """
        if not self.n_rows:
            raise EmptyCorpusError(wording.NO_DOCUMENTS)
        if self.n_rows == 1 and (settings.min_df is None or settings.max_df == selection.MAX_DF):
            raise EmptyCorpusError(
                "[one_document] {name} is one document of {n_words:~word}, which is not enough to "
                "find topics; give a folder of texts, a table with one text per row, or a text of "
                "more than 2,000 words, which is cut into passages unless {parameters.passages} is "
                "given",
                name=name,
                n_words=count_words(self.last),
            )
        adapted, found = replace(settings, raw=True).adapt(self.sample.texts)
        return adapted, [*self.notes, *found]


def read_like(documents: objects.Documents, vectorizer: TextVectorizer) -> objects.Corpus:
    """Count the words of new documents as a vectorizer has learned, in whole or in passages.

    Parameters
    ----------
    documents : Documents
        New texts.
    vectorizer : TextVectorizer
        The vectorizer of a corpus: its words, and whether it cleans and cuts texts.

    Returns
    -------
    Corpus
        Counts of the words of the vectorizer; `passages` if a text was cut.

    Raises
    ------
    EmptyCorpusError, InvalidDataError, InvalidParameterError
        As in :meth:`TextVectorizer.transform`.

    Examples
    --------
    >>> from momentree.datasets import Documents, read_like, vectorize
    >>> corpus = vectorize(["The sea, the sea!", "A boat at sea", "Bread", "A boat"])
    >>> new = read_like(Documents(["<b>Boat</b> for sale"], ["1"]), corpus.vectorizer)
    >>> new.vocabulary.tolist(), new.X.toarray().tolist()
    (['boat', 'sea'], [[1, 0]])
    """
    check_texts(documents.texts)
    seen = SeenTexts(vectorizer.raw, vectorizer.passages)
    cut = seen.add(documents)
    notes = list(documents.notes)
    for note in seen.notes:  # the model decides on both: the notes do not name parameters
        values = note.values
        if note.code == "stripped":
            notes.append(
                Message(
                    "[stripped_as_model] stripped {kinds:list}, as for the model",
                    kinds=values["kinds"],
                )
            )
        else:
            kept = {name: values[name] for name in ("n_rows", "longest", "n_entries")}
            notes.append(
                Message(
                    "[cut_as_model] {n_rows:~document} with more than {longest:,} words "
                    "{n_rows:?is/are} assigned as {n_entries:~passage}; proportions are averages "
                    "over them",
                    **kept,
                )
            )
    notes += languages.notes_on_new_texts(seen.sample.texts, vectorizer.language, len(documents))
    return objects.Corpus(
        X=replace(vectorizer, raw=True).transform(cut.texts),
        vocabulary=np.asarray(vectorizer.vocabulary, dtype=object),
        ids=cut.ids,
        labels=cut.labels,
        texts=cut.texts,
        name=documents.name,
        vectorizer=vectorizer,
        passages=seen.passages_of(documents, cut),
        notes=notes,
    )
