"""One entry for every input: look at the path, read it, choose the words."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

from momentree.exceptions import InvalidParameterError
from momentree.readers.counts.counts import Lines, holds_counts, read_counts
from momentree.readers.objects import Corpus
from momentree.readers.tables.files import check_exists
from momentree.readers.text.documents import read_documents
from momentree.readers.text.selection import MAX_DF, MAX_FEATURES, filter_vocabulary
from momentree.readers.text.vectorize import vectorize
from momentree.readers.text.words import TOKEN_PATTERN

__all__ = ["read_corpus"]


def read_corpus(
    path: str | PathLike[str],
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
    vocabulary: Lines | None = None,
    language: str | None = "en",
    stop_words: Iterable[str] | PathLike[str] = (),
    min_df: int | float | None = None,
    max_df: int | float = MAX_DF,
    max_features: int | None = MAX_FEATURES,
    token_pattern: str | None = None,
    lowercase: bool = True,
) -> Corpus:
    r"""Read texts or counts, whichever a path holds, and choose the words to learn from.

    Parameters
    ----------
    path : str or path-like
        A file or folder, as for :func:`read_counts` where :func:`holds_counts` says so, or else
        as for :func:`read_documents`.
    text_column, label_column, id_column : str or None, default=None
        For texts: the columns of a table, see :func:`read_documents`.
    encoding : str, default="utf-8"
        Encoding of texts, or of the words that go with counts.
    separator : str or None, default=None
        For texts: what stands between the columns of a table; None to find out.
    vocabulary : path, sequence of str or None, default=None
        For counts: the words of the columns, see :func:`read_counts`.
    language : str or None, default="en"
        Language whose stop words are left out; None keeps all words.
    stop_words : iterable of str, or path of a file with one word a line, default=()
        More words to leave out.
    min_df : int, float in [0, 1] or None, default=None
        Fewest documents with the word, as a number (int) or a share (float). None means 5
        from 1,000 documents on, else 2.
    max_df : int or float in [0, 1], default=0.5
        Most documents with the word, likewise.
    max_features : int or None, default=20000
        Keep the words with the largest total counts; None keeps all.
    token_pattern : str or None, default=None
        Regular expression of a word. When None, that of :func:`vectorize` for texts; the words
        of counts may then have any form.
    lowercase : bool, default=True
        For texts: whether words are put in lower case. Words of counts stay as they are.

    Returns
    -------
    Corpus
        Counts of the words kept; documents without any of them stay as empty rows.

    Raises
    ------
    ReadError
        If something cannot be read, naming the file and the line or column.
    InvalidParameterError
        If a value is outside its range, or an option for texts is given with counts or the
        other way round.
    InvalidDataError
        If counts are negative or not finite.
    EmptyCorpusError
        If there are no documents, or no words left after filtering.

    Examples
    --------
    >>> import json
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import read_corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "pets.jsonl"
    ...     texts = ["The cat sat", "A cat, a dog", "No dog"]
    ...     _ = file.write_text("\n".join(json.dumps({"text": text}) for text in texts))
    ...     corpus = read_corpus(file, max_df=0.9)
    >>> corpus.vocabulary.tolist(), corpus.X.toarray().tolist()
    (['cat', 'dog'], [[1, 0], [1, 1], [0, 1]])
    """
    path = check_exists(path)
    if holds_counts(path):
        _refuse(
            f"{path} holds counts",
            "texts",
            text_column=text_column is not None,
            label_column=label_column is not None,
            id_column=id_column is not None,
            separator=separator is not None,
        )
        return filter_vocabulary(
            read_counts(path, vocabulary=vocabulary, encoding=encoding),
            language=language,
            stop_words=stop_words,
            min_df=min_df,
            max_df=max_df,
            max_features=max_features,
            token_pattern=token_pattern,
        )
    _refuse(f"{path} holds texts", "counts", vocabulary=vocabulary is not None)
    documents = read_documents(
        path,
        text_column=text_column,
        label_column=label_column,
        id_column=id_column,
        encoding=encoding,
        separator=separator,
    )
    return vectorize(
        documents,
        language=language,
        stop_words=stop_words,
        min_df=min_df,
        max_df=max_df,
        max_features=max_features,
        token_pattern=TOKEN_PATTERN if token_pattern is None else token_pattern,
        lowercase=lowercase,
    )


def _refuse(found: str, kind: str, **given: bool) -> None:
    """Refuse options that would be without effect: their user expects one."""
    idle = [name for name, is_given in given.items() if is_given]
    if idle:
        msg = f"{found}, but {', '.join(idle)} says how to read {kind}; leave it out"
        raise InvalidParameterError(msg)
