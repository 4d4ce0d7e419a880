"""Read texts or counts, whichever a path contains, and choose the words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Literal

from momentree.exceptions import InvalidParameterError
from momentree.readers.counts.files import Lines, check_options, holds_counts, read_counts
from momentree.readers.counts.filter import filter_vocabulary
from momentree.readers.distributed import is_pattern, read_parquet_corpus
from momentree.readers.tables.files import AUTO, check_exists
from momentree.readers.text.documents import read_documents
from momentree.readers.text.objects import Corpus
from momentree.readers.text.passages import Cutting
from momentree.readers.text.selection import MAX_DF, MAX_FEATURES
from momentree.readers.text.tables import as_list
from momentree.readers.text.vectorize import count_documents
from momentree.readers.text.vectorizer import TextVectorizer
from momentree.readers.text.words import TOKEN_PATTERN, Tokenizer, read_words


def read_corpus(
    path: str | PathLike[str],
    *,
    text_column: str | Sequence[str] | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    encoding: str = AUTO,
    vocabulary: Lines | None = None,
    language: str | None = AUTO,
    stop_words: Iterable[str] | PathLike[str] = (),
    min_df: int | float | None = None,
    max_df: int | float = MAX_DF,
    max_features: int | None = MAX_FEATURES,
    token_pattern: str | None = None,
    lowercase: bool = True,
    raw: bool = False,
    passages: Cutting = "auto",
    unique: bool | Literal["auto"] = "auto",
    phrases: bool = False,
    ngram_range: tuple[int, int] = (1, 1),
    tokenizer: Tokenizer | None = None,
) -> Corpus:
    r"""Read texts or counts from a path, and choose the words to learn from.

    Parameters
    ----------
    path : str or path-like
        A file or folder: of counts if :func:`holds_counts` returns True, see :func:`read_counts`;
        otherwise of texts, see :func:`read_documents`. Or Parquet files of texts, named by a
        pattern or by the URL of a file system that fsspec knows, such as "s3://news/*.parquet",
        which Dask reads: see :func:`read_parquet_corpus`.
    text_column, label_column, id_column, separator, sheet, skip_rows, header : optional
        For texts: how to read a table, see :func:`read_documents`.
    encoding : str, default="auto"
        Encoding of texts, or of the words that go with counts; "auto" guesses it for each file.
    vocabulary : path, sequence of str or None, default=None
        For counts: the words of the columns, see :func:`read_counts`.
    language, stop_words, min_df, max_df, max_features : optional
        Which words to keep; see :class:`TextVectorizer`.
    token_pattern : str or None, default=None
        Regular expression for a word. None means two letters or more for texts, and any word for
        counts.
    lowercase : bool, default=True
        For texts: whether to convert them to lower case. The words of counts are not changed.
    raw : bool, default=False
        For texts: whether to keep markup and boilerplate, see :func:`vectorize`.
    passages : int, "auto" or None, default="auto"
        For texts: words of the passages into which long texts are cut, see :func:`vectorize`.
    unique : bool or "auto", default="auto"
        Whether copies of a document together have the weight of one, see :func:`vectorize`.
    phrases, ngram_range, tokenizer : optional
        For texts: what else counts as a word; see :class:`TextVectorizer`.

    Returns
    -------
    Corpus
        Counts of the words kept; documents without any of these words become empty rows.

    Raises
    ------
    InvalidParameterError
        If a value is out of range, or a parameter for texts is given with counts or vice versa.
    ReadError, InvalidDataError, EmptyCorpusError
        As in :func:`read_documents` and :func:`vectorize`, or :func:`read_counts` and
        :func:`filter_vocabulary`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import read_corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "pets.csv"
    ...     _ = file.write_text('text\n"The cat sat"\n"A cat, a dog"\n"No dog"\n')
    ...     corpus = read_corpus(file, max_df=0.9)
    >>> corpus.vocabulary.tolist(), corpus.X.toarray().tolist()
    (['cat', 'dog'], [[1, 0], [1, 1], [0, 1]])
    """
    for_texts: dict[str, Any] = {
        "text_column": as_list(text_column) or None,
        "label_column": label_column,
        "id_column": id_column,
        "separator": separator,
        "sheet": sheet,
        "skip_rows": skip_rows,
        "header": header,
    }
    counting: dict[str, Any] = {
        "lowercase": lowercase,
        "raw": raw,
        "passages": passages,
        "phrases": phrases,
        "ngram_range": ngram_range,
        "tokenizer": tokenizer,
    }
    settings = TextVectorizer(
        language=language,
        stop_words=read_words("stop_words", stop_words),
        min_df=min_df,
        max_df=max_df,
        max_features=max_features,
        token_pattern=TOKEN_PATTERN if token_pattern is None else token_pattern,
        **counting,
    )
    if is_pattern(path):
        ignored = {**for_texts, "vocabulary": vocabulary, "unique": unique is True or None}
        for parameter, value in ignored.items():
            if value and parameter != "text_column":
                raise InvalidParameterError(
                    "only_texts_in_parquet", parameter=parameter, path=str(path)
                )
        return read_parquet_corpus(path, settings, text_column=text_column)
    path = check_exists(path)
    if holds_counts(path):
        check_options(path, **for_texts, **counting)
        return filter_vocabulary(
            read_counts(path, vocabulary=vocabulary, encoding=encoding),
            language=language,
            stop_words=stop_words,
            min_df=min_df,
            max_df=max_df,
            max_features=max_features,
            token_pattern=token_pattern,
            unique=unique,
        )
    if vocabulary is not None:
        raise InvalidParameterError("only_for_counts", parameter="vocabulary", path=str(path))
    documents = read_documents(path, encoding=encoding, **for_texts)
    return count_documents(documents, settings, unique=unique)
