"""Read a corpus from a file of counts in any format, with the files next to it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from momentree._types import Ints
from momentree._validation import check_counts
from momentree.core.limits import BYTES_PER_ROW, check_memory
from momentree.exceptions import (
    EmptyCorpusError,
    InvalidDataError,
    InvalidParameterError,
    ReadError,
)
from momentree.messages import Message
from momentree.readers.counts._companions import (
    Lines,
    find_matrices,
    read_row_names,
    read_vocabulary,
)
from momentree.readers.counts._formats import find_reader
from momentree.readers.counts._raw import RawCounts
from momentree.readers.stored.counts import MARK
from momentree.readers.tables.files import AUTO, check_exists
from momentree.readers.text.objects import Corpus

_WORDS_ONLY = {
    "phrases": False,
    "ngram_range": (1, 1),
    "skip_rows": 0,
    "lowercase": True,
    "raw": False,
    "passages": "auto",
}


def holds_counts(path: str | os.PathLike[str]) -> bool:
    """Return whether a path contains counts, for :func:`read_counts`, rather than texts.

    Parameters
    ----------
    path : str or path-like
        A file, which need not exist, or a folder.

    Returns
    -------
    bool
        True for a .npz, .mtx, .svm, .svmlight or .libsvm file, a file that begins like UCI
        bag-of-words, Matrix Market or SVMlight, and a folder with a matrix and its vocabulary, or
        written by :func:`store_counts`.

    Examples
    --------
    >>> from momentree.datasets import holds_counts
    >>> holds_counts("counts.npz"), holds_counts("letters.csv")
    (True, False)
    """
    path = Path(path)
    return bool(find_matrices(path)) if path.is_dir() else find_reader(path) is not None


def read_counts(
    path: str | os.PathLike[str],
    *,
    vocabulary: Lines | None = None,
    labels: Lines | None = None,
    ids: Lines | None = None,
    encoding: str = AUTO,
) -> Corpus:
    r"""Read word counts, with documents in rows and words in columns.

    Parameters
    ----------
    path : str or path-like
        UCI bag-of-words (``docword.NAME.txt``), a matrix of ``scipy.sparse.save_npz`` (.npz),
        Matrix Market (.mtx) or SVMlight (.svm, .svmlight, .libsvm); all except .npz may be
        compressed with gzip. Or a folder with one of these and its vocabulary, or a folder that
        :func:`store_counts` has written.
    vocabulary : path, sequence of str or None, default=None
        The words, or a file with one per line. None looks for a file next to the matrix:
        ``vocab.NAME.txt`` for ``docword.NAME.txt``, ``vocab_NAME.txt`` for ``X_NAME.npz``, then
        ``vocab.txt``; with ``vocabulary`` or ``codes`` instead of ``vocab``, also compressed.
        An SVMlight file does not need one: the indices then serve as words.
    labels : path, sequence of str or None, default=None
        Known class of each document. None uses ``labels.txt`` next to the matrix if it has one
        line per document.
    ids : path, sequence of str or None, default=None
        Names of the documents. None uses ``ids.txt`` or ``titles.txt`` next to the matrix if it
        has one line per document, or else 1, 2, ...
    encoding : str, default="auto"
        Encoding of the files of words, labels and ids; "auto" guesses it for each.

    Returns
    -------
    Corpus
        The counts. If the vocabulary repeats a word, its columns are summed; see `notes`.

    Raises
    ------
    ReadError
        If a file is missing, damaged or malformed, or declares or expands to more memory than the
        limit for its size; if the words are missing, or do not match the number of columns.
    InvalidDataError
        If a count is negative or not finite, or a sequence has the wrong length.
    InvalidParameterError
        If the encoding is unknown.
    EmptyCorpusError
        If there are no documents or no words.

    Notes
    -----
    Nothing is ever unpickled. Time and memory are linear in the number of counts.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import read_counts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "docword.pets.txt"
    ...     _ = file.write_text("2\n3\n3\n1 1 2\n1 3 1\n2 2 5\n")
    ...     corpus = read_counts(file, vocabulary=["cat", "dog", "sun"])
    >>> corpus.X.toarray().tolist()
    [[2, 0, 1], [0, 5, 0]]
    """
    path = find_matrix(check_exists(path))
    read = find_reader(path)
    if read is None:
        raise ReadError("no_counts", path=str(path))
    notes: list[Message] = []
    try:
        raw = read(path)
        X = _checked(raw.X, path)
    except MemoryError as error:
        raise ReadError("counts_exceed_memory", path=str(path)) from error
    n = X.shape[0]
    X, words = _name_columns(X, raw, path, read_vocabulary(path, vocabulary, notes, encoding))
    X, words = _merge_columns(X, words, notes)
    found_labels = read_row_names(path, labels, "labels", n, notes, encoding)
    found_ids = read_row_names(path, ids, "ids", n, notes, encoding)
    return Corpus(
        X=X,
        vocabulary=np.asarray(words, dtype=object),
        ids=found_ids or raw.ids or [str(i) for i in range(1, n + 1)],
        labels=raw.labels if found_labels is None else found_labels,
        name=path.parent.name if path.name == MARK else path.name,
        notes=notes,
    )


def find_matrix(path: Path) -> Path:
    """Return the file of counts in a folder, or the file itself."""
    if not path.is_dir():
        return path
    matrices = find_matrices(path)
    if not matrices:
        raise ReadError("no_matrix_in_folder", path=str(path))
    if len(matrices) > 1:
        names = [matrix.name for matrix in matrices]
        raise ReadError("many_matrices_in_folder", path=str(path), names=names)
    return matrices[0]


def _checked(X: Any, path: Path) -> sp.csr_array[Any]:
    """Return the matrix of a file as counts in CSR format, without stored zeros."""
    n, d = X.shape
    if not (n and d):
        raise EmptyCorpusError("empty_matrix", path=str(path), n_rows=n, n_columns=d)
    # A header can declare any number of rows; the columns must match the words.
    if path.name != MARK:  # all rows are in the files already
        check_memory(path, n * BYTES_PER_ROW, "too_many_documents", n_rows=n)
    if X.dtype.kind not in "biuf":
        raise InvalidDataError("counts_not_numeric", path=str(path), type=str(X.dtype))
    if X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):
        X = X.astype(np.float64)  # no kernels for other precisions
    elif X.dtype.kind != "f" and X.dtype.itemsize < 4:
        X = X.astype(np.int32)  # sums of bytes would overflow, and sums of True would be True
    try:
        checked: sp.csr_array[Any] = check_counts(X)
    except InvalidDataError as error:
        raise InvalidDataError("bad_counts", path=str(path), problem=error.message) from error
    checked.eliminate_zeros()
    return checked


def _name_columns(
    X: sp.csr_array[Any], raw: RawCounts, path: Path, vocabulary: tuple[str, list[str]] | None
) -> tuple[sp.csr_array[Any], list[str]]:
    """Return counts with one word per column; SVMlight columns move to their indices."""
    n, d = X.shape
    if vocabulary is None:
        if raw.words is None:
            raise ReadError("no_vocabulary", path=str(path), n_columns=d)
        return X, raw.words
    source, words = vocabulary
    if raw.words is not None and raw.numbered:
        used = np.array([int(word) for word in raw.words])
        # As in scikit-learn: a file that never uses index 0 counts from 1.
        used = used - 1 if used[0] > 0 else used
        if used[-1] < len(words):
            return sp.csr_array((X.data, used[X.indices], X.indptr), shape=(n, len(words))), words
        d = int(used[-1]) + 1
    check_number_of_words(source, len(words), n, d)
    return X, words


def check_number_of_words(source: str, n_words: int, n: int, d: int) -> None:
    """Raise ``ReadError`` unless there is a word for each column of n rows."""
    if n_words != d:
        code = "vocabulary_fits_rows" if n_words == n else "wrong_number_of_words"
        raise ReadError(code, source=source, n_words=n_words, n_columns=d)


def _merge_columns(
    X: sp.csr_array[Any], words: list[str], notes: list[Message]
) -> tuple[sp.csr_array[Any], list[str]]:
    """Sum columns with the same word."""
    columns, unique = merged_words(words, notes)
    if len(unique) == len(words):
        return X, words
    merged = sp.csr_array((X.data, columns[X.indices], X.indptr), shape=(X.shape[0], len(unique)))
    merged.sum_duplicates()
    return merged, unique


def merged_words(words: Sequence[str], notes: list[Message]) -> tuple[Ints, list[str]]:
    """Return the new column of each column, and the words, each once; note if some are merged."""
    columns, unique = pd.factorize(np.asarray(words, dtype=object))
    if len(unique) < len(words):
        series = pd.Series(words)
        example = series[series.duplicated()].iloc[0]
        notes.append(Message("words_merged", n_columns=len(words) - len(unique), example=example))
    return columns, list(unique)


def check_options(path: Path, **for_texts: object) -> None:
    """Raise ``InvalidParameterError`` if an option for texts is given with counts."""
    for parameter, value in for_texts.items():
        if value not in (None, _WORDS_ONLY.get(parameter)):
            raise InvalidParameterError("only_for_texts", parameter=parameter, path=str(path))
