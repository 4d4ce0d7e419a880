"""Turn documents into a corpus: choose and count their words in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Literal

import numpy as np

from momentree._validation import check_texts
from momentree.exceptions import EmptyCorpusError
from momentree.messages import Message
from momentree.readers.copies import check_unique, find_copies, weigh_copies
from momentree.readers.tables.values import count_words
from momentree.readers.text.cleaning import clean_texts
from momentree.readers.text.languages import notes_on_new_texts
from momentree.readers.text.objects import Corpus, Documents
from momentree.readers.text.passages import (
    LONG_TEXT_WORDS,
    Cutting,
    cut_documents,
)
from momentree.readers.text.selection import MAX_DF, MAX_FEATURES, note_empty
from momentree.readers.text.vectorizer import TextVectorizer
from momentree.readers.text.words import AUTO, TOKEN_PATTERN, Tokenizer, read_words


def vectorize(
    documents: Documents | Sequence[str],
    *,
    language: str | None = AUTO,
    stop_words: Iterable[str] | PathLike[str] = (),
    min_df: int | float | None = None,
    max_df: int | float = MAX_DF,
    max_features: int | None = MAX_FEATURES,
    token_pattern: str = TOKEN_PATTERN,
    lowercase: bool = True,
    raw: bool = False,
    passages: Cutting = "auto",
    unique: bool | Literal["auto"] = "auto",
    phrases: bool = False,
    ngram_range: tuple[int, int] = (1, 1),
    tokenizer: Tokenizer | None = None,
) -> Corpus:
    """Count the words of documents.

    Parameters
    ----------
    documents : Documents or sequence of str
        Texts.
    language, stop_words, min_df, max_df, max_features, token_pattern, lowercase : optional
        What counts as a word and which words to keep; see :class:`TextVectorizer`.
    raw : bool, default=False
        Whether to keep markup and boilerplate. False strips HTML, mail headers except subjects,
        quoted replies, signatures, URLs and mail addresses, and page numbers.
    passages : int, "auto" or None, default="auto"
        Words of the passages into which long texts are cut, which become the rows of the counts.
        "auto" cuts texts of more than 2,000 words into passages of about 200; None cuts none.
    unique : bool or "auto", default="auto"
        Whether each group of equal or nearly equal texts has the weight of one, in `weights` and
        in `min_df` and `max_df`. "auto" does so if the copies of a text with ten different words
        or more are at least 5, and 1% of the documents, so that they could form a topic.
    phrases, ngram_range, tokenizer : optional
        What else counts as a word; see :class:`TextVectorizer`.

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
    settings = TextVectorizer(
        language=language,
        stop_words=read_words("stop_words", stop_words),
        min_df=min_df,
        max_df=max_df,
        max_features=max_features,
        token_pattern=token_pattern,
        lowercase=lowercase,
        raw=raw,
        passages=passages,
        phrases=phrases,
        ngram_range=ngram_range,
        tokenizer=tokenizer,
    )
    return count_documents(documents, settings, unique=unique)


def count_documents(
    documents: Documents | Sequence[str],
    settings: TextVectorizer,
    *,
    unique: bool | Literal["auto"] = "auto",
) -> Corpus:
    """Count the words of documents as :func:`vectorize` does, with the settings of a vectorizer.

    Parameters
    ----------
    documents : Documents or sequence of str
        Texts.
    settings : TextVectorizer
        What counts as a word and which words to keep; its vocabulary is kept if it has one. Texts
        are cut into its `passages`.
    unique : bool or "auto", default="auto"
        As in :func:`vectorize`.

    Returns
    -------
    Corpus
        As in :func:`vectorize`.

    Raises
    ------
    EmptyCorpusError, InvalidDataError, InvalidParameterError, MissingLibraryError
        As in :func:`vectorize`.

    Examples
    --------
    >>> from momentree.datasets import TextVectorizer
    >>> from momentree.readers.text.vectorize import count_documents
    >>> count_documents(["A boat", "Boats at sea", "The boat"], TextVectorizer("en", max_df=1.0))
    Corpus('documents', 3 documents, 1 words)
    """
    check_unique(unique)
    if not isinstance(documents, Documents):
        texts = check_texts(documents)
        documents = Documents(texts, [str(i) for i in range(1, len(texts) + 1)])
    check_texts(documents.texts)
    # The texts are cleaned here, to show them.
    texts, notes = (documents.texts, []) if settings.raw else clean_texts(documents.texts)
    whole = replace(settings, raw=True)
    cut = cut_documents(texts, documents.ids, documents.labels, settings.passages)
    if len(cut.texts) == 1 and (settings.min_df is None or settings.max_df == MAX_DF):
        raise one_document_error(documents.name, count_words(texts[0]), settings.passages)
    whole, adapted = whole.adapt(texts)
    words, counts = whole.count(cut.texts)
    weights, copied = weigh_copies(find_copies(counts, cut.texts), unique, cut.passages is not None)
    if settings.vocabulary is None:
        vectorizer, X, dropped = whole.choose(words, counts, weights)
    else:
        vectorizer, X, dropped = whole, whole.transform(cut.texts), []
    empty = note_empty(X, cut.passages is not None)
    notes = [*documents.notes, *notes, *cut.notes, *adapted, *copied, *dropped, *empty]
    return Corpus(
        X=X,
        vocabulary=np.asarray(vectorizer.vocabulary, dtype=object),
        ids=cut.ids,
        labels=cut.labels,
        texts=cut.texts,
        name=documents.name,
        vectorizer=replace(vectorizer, raw=settings.raw),
        passages=cut.passages,
        weights=weights,
        notes=notes,
    )


def one_document_error(name: str, n_words: int, passages: Cutting) -> EmptyCorpusError:
    """Return the error for a corpus of one short document."""
    if n_words > LONG_TEXT_WORDS and passages != "auto":
        return EmptyCorpusError("one_whole_document", name=name, n_words=n_words)
    return EmptyCorpusError("one_document", name=name, n_words=n_words)


_AS_MODEL = {"stripped": "stripped_as_model", "cut_into_passages": "cut_as_model"}
_KEPT = {"kinds", "n_rows", "longest", "n_entries"}


def read_like(documents: Documents, vectorizer: TextVectorizer) -> Corpus:
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
    texts, notes = documents.texts, list[Message]()
    if not vectorizer.raw:
        texts, notes = clean_texts(texts)
    cut = cut_documents(texts, documents.ids, documents.labels, vectorizer.passages)
    # The model decides on both: the notes do not name parameters.
    as_model = [
        Message(_AS_MODEL[note.code], **{k: note.values[k] for k in note.values if k in _KEPT})
        for note in (*notes, *cut.notes)
    ]
    return Corpus(
        X=replace(vectorizer, raw=True).transform(cut.texts),
        vocabulary=np.asarray(vectorizer.vocabulary, dtype=object),
        ids=cut.ids,
        labels=cut.labels,
        texts=cut.texts,
        name=documents.name,
        vectorizer=vectorizer,
        passages=cut.passages,
        notes=[
            *documents.notes,
            *as_model,
            *notes_on_new_texts(texts, vectorizer.language),
        ],
    )
