"""Corpora that come as counts of words instead of texts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from momentree._files import check_readable
from momentree._limits import BYTES_OF_A_ROW, check_unfolded
from momentree._validation import check_counts
from momentree.exceptions import EmptyCorpusError, InvalidDataError, ReadError
from momentree.readers.counts._formats import READERS, count_format
from momentree.readers.counts._raw import RawCounts
from momentree.readers.objects import Corpus
from momentree.readers.tables.files import check_exists, open_text

__all__ = ["holds_counts", "read_counts"]

PathLike = str | os.PathLike[str]
Lines = PathLike | Sequence[str]

# Files beside a matrix that name its words, documents and labels, in the order they are looked for.
VOCABULARY_NAMES = ("vocab", "vocabulary", "codes")
LABEL_NAMES = ("labels",)
ID_NAMES = ("ids", "titles")


def holds_counts(path: PathLike) -> bool:
    """Tell whether a path is read by :func:`read_counts`, rather than as texts.

    Parameters
    ----------
    path : str or path-like
        A file, which need not exist, or a folder.

    Returns
    -------
    bool
        True for a file that is .npz, .mtx, .svm, .svmlight or .libsvm by its name, or UCI
        bag-of-words, Matrix Market or SVMlight by its first lines; true for a folder that holds
        a matrix with its vocabulary.

    Examples
    --------
    >>> from momentree.datasets import holds_counts
    >>> holds_counts("counts.npz"), holds_counts("letters.csv")
    (True, False)
    """
    path = Path(path)
    return bool(_matrices(path)) if path.is_dir() else count_format(path) is not None


def read_counts(
    path: PathLike,
    *,
    vocabulary: Lines | None = None,
    labels: Lines | None = None,
    ids: Lines | None = None,
    encoding: str = "utf-8",
) -> Corpus:
    r"""Read counts of words, with documents in rows and words in columns.

    Parameters
    ----------
    path : str or path-like
        UCI bag-of-words (``docword.NAME.txt``), a matrix of ``scipy.sparse.save_npz`` (.npz),
        Matrix Market (.mtx) or SVMlight (.svm, .svmlight, .libsvm); all but .npz also packed by
        gzip. Or a folder with one of them and its vocabulary.
    vocabulary : path, sequence of str or None, default=None
        The words, or a file with one a line. When None, it is looked for beside the file:
        ``vocab.NAME.txt`` for ``docword.NAME.txt``, ``vocab_NAME.txt`` for ``X_NAME.npz``, then
        ``vocab.txt``; with ``vocabulary`` or ``codes`` in place of ``vocab``, also packed.
        An SVMlight file needs none: its words are then named by their indices.
    labels : path, sequence of str or None, default=None
        Known class of each document; when None, ``labels.txt`` beside the file, if it fits.
    ids : path, sequence of str or None, default=None
        Names of the documents; when None, ``ids.txt`` or ``titles.txt`` beside the file, if it
        fits, or else 1, 2, ...
    encoding : str, default="utf-8"
        Encoding of the files of words, labels and ids.

    Returns
    -------
    Corpus
        Columns of a word that the vocabulary names twice are added up; `skipped` says so.

    Raises
    ------
    ReadError
        If a file is missing, damaged or malformed, naming the line; if it claims, or unfolds to,
        far more than a file of its size can hold; if there is no vocabulary, or it has not one
        word for each column.
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
    path = _the_matrix(check_exists(path))
    form = count_format(path)
    if form is None:
        msg = (
            f"{path} holds no counts that can be read; expected UCI bag-of-words, SciPy .npz, "
            f"Matrix Market or SVMlight"
        )
        raise ReadError(msg)
    notes: list[str] = []
    try:
        raw = READERS[form](path)
        X = _checked(raw.X, path)
    except MemoryError as error:
        msg = f"{path} says that it holds a matrix too large for the memory of this machine"
        raise ReadError(msg) from error
    n = X.shape[0]
    X, words = _name_columns(X, raw, path, vocabulary, encoding)
    X, words = _merge_columns(X, words, notes)
    label_list = _row_names(path, labels, LABEL_NAMES, "labels", n, notes, encoding)
    id_list = _row_names(path, ids, ID_NAMES, "ids", n, notes, encoding)
    return Corpus(
        X=X,
        vocabulary=np.asarray(words, dtype=object),
        ids=id_list if id_list is not None else [str(i) for i in range(1, n + 1)],
        labels=label_list if label_list is not None else raw.labels,
        name=path.name,
        skipped=notes,
    )


def _checked(X: Any, path: Path) -> sp.csr_array[Any]:
    if X.ndim != 2:
        msg = f"{path} holds an array of shape {X.shape}; expected a matrix of documents by words"
        raise ReadError(msg)
    n, d = X.shape
    if not (n and d):
        msg = f"{path} holds {n} documents and {d} words; there is nothing to learn from"
        raise EmptyCorpusError(msg)
    # The words are in a file of their own, and must be as many as the columns.
    n_bytes, remedy = n * BYTES_OF_A_ROW, "leave out the documents without a word"
    check_unfolded(path, n_bytes, f"a matrix of {n:,} documents", remedy)
    if X.dtype.kind not in "biuf":
        msg = f"{path} holds values of type {X.dtype}; counts are integers or real numbers"
        raise InvalidDataError(msg)
    if X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):
        X = X.astype(np.float64)  # compiled code knows no others
    elif X.dtype.kind != "f" and X.dtype.itemsize < 4:
        X = X.astype(np.int32)  # sums of bytes would overflow, sums of True stay True
    try:
        checked: sp.csr_array[Any] = check_counts(X)
    except InvalidDataError as error:
        msg = f"{path}: {error}"
        raise InvalidDataError(msg) from error
    checked.eliminate_zeros()
    return checked


def _name_columns(
    X: sp.csr_array[Any], raw: RawCounts, path: Path, vocabulary: Lines | None, encoding: str
) -> tuple[sp.csr_array[Any], list[str]]:
    d = X.shape[1]
    if isinstance(vocabulary, str | os.PathLike):
        source = check_readable(vocabulary)
    elif vocabulary is None:
        found = _beside(path, VOCABULARY_NAMES)
        if found is None and raw.words is not None:
            return X, raw.words
        if found is None:
            msg = (
                f"{path} has {d} columns, but no file names their words: put vocab.txt with one "
                f"word a line beside it, or name such a file as the vocabulary"
            )
            raise ReadError(msg)
        source = found
    else:
        return _widen(X, raw, list(vocabulary), "the vocabulary", X.shape[0])
    words = _lines(source, encoding)
    while words and not words[-1].strip():
        words.pop()
    words = [word.strip() for word in words]
    if "" in words:
        msg = f"{source}, line {words.index('') + 1}: the line is empty; expected a word"
        raise ReadError(msg)
    return _widen(X, raw, words, str(source), X.shape[0])


def _widen(
    X: sp.csr_array[Any], raw: RawCounts, words: list[str], source: str, n: int
) -> tuple[sp.csr_array[Any], list[str]]:
    """Check that there is a word for each column; put the used columns of SVMlight in place."""
    if raw.words is not None:
        used = np.array([int(word) for word in raw.words])
        # As in scikit-learn: a file that never uses index 0 counts from 1.
        used = used - 1 if used[0] > 0 else used
        if used[-1] < len(words):
            return sp.csr_array((X.data, used[X.indices], X.indptr), shape=(n, len(words))), words
        d = int(used[-1]) + 1
    else:
        d = X.shape[1]
    if len(words) != d:
        hint = "; the matrix seems to have words in rows: transpose it" if len(words) == n else ""
        msg = f"{source} has {len(words)} words, but the counts have {d} columns{hint}"
        raise ReadError(msg)
    return X, words


def _merge_columns(
    X: sp.csr_array[Any], words: list[str], notes: list[str]
) -> tuple[sp.csr_array[Any], list[str]]:
    codes, unique = pd.factorize(np.asarray(words, dtype=object))
    if len(unique) == len(words):
        return X, words
    twice = pd.Series(words)
    example = twice[twice.duplicated()].iloc[0]
    notes.append(
        f"{len(words) - len(unique)} columns were added to another column of the same word "
        f"(such as {example!r})"
    )
    merged = sp.csr_array((X.data, codes[X.indices], X.indptr), shape=(X.shape[0], len(unique)))
    merged.sum_duplicates()
    return merged, list(unique)


def _row_names(
    path: Path,
    given: Lines | None,
    names: tuple[str, ...],
    what: str,
    n: int,
    notes: list[str],
    encoding: str,
) -> list[str] | None:
    """Read labels or ids. Given ones must fit the rows; found ones that do not are left out."""
    if given is not None and not isinstance(given, str | os.PathLike):
        values = [str(value) for value in given]
        if len(values) != n:
            msg = f"{len(values)} {what} were given for {n} documents; give one for each"
            raise InvalidDataError(msg)
        return values
    source = _beside(path, names) if given is None else check_readable(given)
    if source is None:
        return None
    values = [line.strip() for line in _lines(source, encoding)]
    while len(values) > n and not values[-1]:
        values.pop()
    if len(values) == n:
        return values
    msg = f"{source} has {len(values)} lines, but {path.name} has {n} documents"
    if given is not None:
        msg = f"{msg}; give one line for each"
        raise ReadError(msg)
    notes.append(f"{msg}: it was not used as {what}")
    return None


def _lines(path: Path, encoding: str) -> list[str]:
    # Only line feeds end lines: a word may hold other separators of Unicode.
    with open_text(path, encoding, newline="\n") as file:
        return [line.rstrip("\r\n") for line in file]


def _beside(path: Path, kinds: tuple[str, ...]) -> Path | None:
    """Find the file of words, labels or ids that belongs to a matrix."""
    stem = path.name.removesuffix(".gz")
    stem = stem.removesuffix(Path(stem).suffix)
    # docword.NAME and X_NAME: what follows the first part of the name is common to both files.
    cut = next((i for i, character in enumerate(stem) if character in "._-"), len(stem))
    for rest in dict.fromkeys([stem[cut:], ""]):
        for kind in kinds:
            for suffix in (".txt", ".txt.gz"):
                candidate = path.with_name(f"{kind}{rest}{suffix}")
                if candidate.is_file():
                    return candidate
    return None


def _matrices(folder: Path) -> list[Path]:
    """Matrices of a folder that have their vocabulary there."""

    def is_matrix(path: Path) -> bool:
        name = path.name.lower().removesuffix(".gz")
        named = name.endswith((".npz", ".mtx")) or name.startswith("docword.")
        return named and path.is_file() and _beside(path, VOCABULARY_NAMES) is not None

    return sorted(filter(is_matrix, folder.iterdir()))


def _the_matrix(path: Path) -> Path:
    if not path.is_dir():
        return path
    matrices = _matrices(path)
    if len(matrices) == 1:
        return matrices[0]
    found = ", ".join(m.name for m in matrices) or "none"
    msg = (
        f"{path} is a folder; expected one matrix with its vocabulary in it, found: {found}; name "
        f"the file to read"
    )
    raise ReadError(msg)
