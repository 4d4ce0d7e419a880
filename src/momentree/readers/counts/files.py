"""Read a corpus from a file of counts and the files next to it; choose or align its words."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree import exceptions
from momentree._files import check_readable
from momentree._types import Ints
from momentree._validation import check_counts
from momentree.core.limits import BYTES_PER_ROW, check_memory
from momentree.messages import Message, wording
from momentree.readers.copies import check_unique, find_copies, weigh_copies
from momentree.readers.counts import formats, lines
from momentree.readers.stored.counts import MARK, MAX_COLUMNS
from momentree.readers.tables import files
from momentree.readers.text import languages, objects, selection
from momentree.readers.text import words as tokens
from momentree.readers.text.vectorizer import TextVectorizer

Lines = str | PathLike[str] | Sequence[str]
"""Words, or the path of a file with one per line."""

LINES_AT_ONCE = 1 << 18
"""Labels or ids that are read at a time."""
# Names of the files, in the order in which they are searched.
NAMES = {
    "vocabulary": ("vocab", "vocabulary", "codes"),
    "labels": ("labels",),
    "ids": ("ids", "titles"),
}


def read_vocabulary(
    path: Path, given: Lines | None, notes: list[Message], encoding: str
) -> tuple[str, list[str]] | None:
    """Return the source of the words of a matrix, and the words; None if there are none."""
    if given is not None and not isinstance(given, str | PathLike):
        return "vocabulary", list(given)
    source = find_companion(path, "vocabulary") if given is None else check_readable(given)
    if source is None:
        return None
    words = list(lines_of(source, notes, encoding))
    while words and not words[-1]:
        words.pop()
    if "" in words:
        raise lines.fault_in_line(
            source,
            words.index("") + 1,
            Message("[empty_line_for_word] the line is empty; expected a word"),
        )
    return str(source), words


def read_row_names(
    source: Path, n: int, take: Callable[[list[str]], object], notes: list[Message], encoding: str
) -> int:
    """Give the first n lines of a file to `take`, and return how many lines there are.

    Empty lines after the first n do not count.
    """
    lines = lines_of(source, notes, encoding)
    n_lines = 0
    while some := list(islice(lines, min(LINES_AT_ONCE, n - n_lines))):
        take(some)
        n_lines += len(some)
    for number, line in enumerate(lines, start=n + 1):
        n_lines = number if line else n_lines
    return n_lines


def _row_names(
    path: Path, what: str, n: int, notes: list[Message], encoding: str
) -> list[str] | None:
    """Return the labels or ids of `n` documents in a file next to the matrix.

    A file with a different number of lines is ignored, with a note.
    """
    source = find_companion(path, what)
    if source is None:
        return None
    values: list[str] = []
    n_lines = read_row_names(source, n, values.extend, notes, encoding)
    if n_lines == n:
        return values
    notes.append(Message(wording.COMPANION_IGNORED, path=str(source), n_lines=n_lines, n_rows=n))
    return None


def find_matrices(folder: Path) -> list[Path]:
    """Return the matrices in a folder that have a vocabulary, or the mark of stored counts."""
    if formats.is_stored(folder):
        return [folder / MARK]

    def is_matrix(path: Path) -> bool:
        name = path.name.lower().removesuffix(".gz")
        named = name.endswith((".npz", ".mtx")) or name.startswith("docword.")
        return named and path.is_file() and find_companion(path, "vocabulary") is not None

    return sorted(filter(is_matrix, folder.iterdir()))


def lines_of(path: Path, notes: list[Message], encoding: str) -> Iterator[str]:
    """Yield the lines of a file, stripped."""
    found = files.find_encoding(path, encoding)
    notes += files.note_encoding(found, path.name)
    # Only line feeds end lines: a word may contain other Unicode line separators.
    with files.open_text(path, found, newline="\n") as file:
        yield from (line.strip() for line in file)


def find_companion(path: Path, what: str) -> Path | None:
    """Return the file of words, labels or ids that belongs to a matrix; None if there is none."""
    stem = path.name.removesuffix(".gz")
    stem = stem.removesuffix(Path(stem).suffix)
    # Companions of docword.NAME or X_NAME have the same name after the first part.
    cut = next((i for i, character in enumerate(stem) if character in "._-"), len(stem))
    for ending in dict.fromkeys([stem[cut:], ""]):
        for name in NAMES[what]:
            for suffix in (".txt", ".txt.gz"):
                candidate = path.with_name(f"{name}{ending}{suffix}")
                if candidate.is_file():
                    return candidate
    return None


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
    return bool(find_matrices(path)) if path.is_dir() else formats.find_opener(path) is not None


def read_counts(
    path: str | os.PathLike[str],
    *,
    vocabulary: Lines | None = None,
    encoding: str = files.AUTO,
) -> objects.Corpus:
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
    encoding : str, default="auto"
        Encoding of the files of words, labels and ids; "auto" guesses it for each.

    Returns
    -------
    Corpus
        The counts. If the vocabulary repeats a word, its columns are summed; see `notes`. Labels
        are in ``labels.txt`` next to the matrix, if it has one line per document, and ids in
        ``ids.txt`` or ``titles.txt``, or else 1, 2, ...

    Raises
    ------
    ReadError
        If a file is missing, damaged or malformed, or declares or expands to more memory than the
        limit for its size; if the words are missing, or do not match the number of columns.
    InvalidDataError
        If a count is negative or not finite.
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
    source = files.check_exists(path)
    try:
        stream = open_counts(source, vocabulary, encoding, in_parts=False)
        ((X, own),) = stream.blocks
    except MemoryError as error:
        raise exceptions.ReadError(
            "{path} declares a matrix that exceeds the memory of this machine", path=str(path)
        ) from error
    n = X.shape[0]
    check_size(stream.path, n, X.nnz if stream.n_rows is None else X.shape[1])
    try:
        X = check_counts(X)
    except exceptions.InvalidDataError as error:
        raise exceptions.InvalidDataError(
            "[bad_counts] {path}: {problem}", path=str(path), problem=error.message
        ) from error
    words = stream.words
    if words is None:
        # Only indices that occur become columns, because an index may be any number.
        used, columns = np.unique(X.indices, return_inverse=True)
        X = sp.csr_array((X.data, columns, X.indptr), shape=(n, len(used)))
        words = [str(i) for i in used]
    labels, ids = (
        _row_names(stream.path, what, n, stream.notes, encoding) or own.get(what)
        for what in ("labels", "ids")
    )
    return objects.Corpus(
        X=X,
        vocabulary=np.asarray(words, dtype=object),
        ids=[str(i) for i in range(1, n + 1)] if ids is None else list(ids),
        labels=labels,
        name=stream.name,
        notes=stream.notes,
    )


@dataclass(frozen=True)
class CountStream:
    """Counts of documents in blocks, with a column for each word; words are None if not named."""

    path: Path
    blocks: Iterator[lines.Block]
    words: Sequence[str] | None
    notes: list[Message]
    n_rows: int | None = None  # if known before reading

    @property
    def name(self) -> str:
        """The name of the file, or of the folder of stored counts."""
        return self.path.parent.name if self.path.name == MARK else self.path.name


def open_counts(
    path: Path, vocabulary: Lines | None, encoding: str, *, in_parts: bool
) -> CountStream:
    """Open a file of counts with its words, to be read in blocks or as one."""
    path = find_matrix(path)
    open_file = formats.find_opener(path)
    if open_file is None:
        raise exceptions.ReadError(
            "[no_counts] {path} is not in a known format for counts; expected UCI bag-of-words "
            "(docword.NAME.txt), SciPy (.npz), Matrix Market (.mtx) or SVMlight (.svm)",
            path=str(path),
        )
    file = open_file(path, in_parts=in_parts)
    n, d, words = file.n_rows, file.n_columns, file.words
    if n is not None and d is not None:
        check_size(path, n, d)
        # A header can declare any number of rows; the columns must match the words.
        if path.name != MARK:  # all rows are in the files already
            check_memory(path, n * BYTES_PER_ROW, wording.TOO_MANY_DOCUMENTS, n_rows=n)
    notes: list[Message] = []
    source, words = read_vocabulary(path, vocabulary, notes, encoding) or ("", words)
    if d is None:
        first = int(words is not None and formats.counts_from_one(path))
    elif words is None:
        raise exceptions.ReadError(wording.NO_VOCABULARY, path=str(path), n_columns=d)
    else:
        first = 0
        _check_number_of_words(source, len(words), n, d)
    columns, words = (None, None) if words is None else _merge_words(words, notes)
    n_words = None if words is None else len(words)

    def blocks() -> Iterator[lines.Block]:
        for X, names in file.blocks:
            yield _with_columns(X, first, columns, n_words, source), names

    return CountStream(path, blocks(), words, notes, n)


def _with_columns(
    X: Any, first: int, columns: Ints | None, n_words: int | None, source: str
) -> sp.csr_array[Any]:
    """Return counts in the columns of words: `columns` has that of each number from `first`."""
    X = X.tocsr()
    indices = X.indices - first if first else X.indices
    if columns is not None:
        if (most := int(indices.max(initial=-1)) + 1) > len(columns):
            _check_number_of_words(source, len(columns), None, most)
        indices = columns[indices]
    shape = X.shape[0], MAX_COLUMNS if n_words is None else n_words
    counts = sp.csr_array((X.data, indices.astype(np.int32), X.indptr), shape)
    counts.sum_duplicates()
    counts.eliminate_zeros()
    return counts


def find_matrix(path: Path) -> Path:
    """Return the file of counts in a folder, or the file itself."""
    if not path.is_dir():
        return path
    matrices = find_matrices(path)
    if not matrices:
        raise exceptions.ReadError(
            "[no_matrix_in_folder] the folder {path} contains no matrix with a vocabulary; add "
            "vocab.txt with one word per line, or give the file to read",
            path=str(path),
        )
    if len(matrices) > 1:
        names = [matrix.name for matrix in matrices]
        raise exceptions.ReadError(
            "[many_matrices_in_folder] the folder {path} contains more than one matrix "
            "({names:list}); give the file to read",
            path=str(path),
            names=names,
        )
    return matrices[0]


def check_size(path: Path, n: int, d: int) -> None:
    """Raise ``EmptyCorpusError`` if there are no documents or no words."""
    if not (n and d):
        raise exceptions.EmptyCorpusError(
            wording.EMPTY_MATRIX, path=str(path), n_rows=n, n_columns=d
        )


def _check_number_of_words(source: str, n_words: int, n: int | None, d: int) -> None:
    """Raise ``ReadError`` unless there is a word for each column of n rows."""
    if n_words != d:
        code = (
            (
                "[vocabulary_fits_rows] {source} has {n_words:~word}, which is the number of rows; "
                "the counts have {n_columns:~column}. Transpose the matrix: documents are rows, "
                "words are columns"
            )
            if n_words == n
            else (
                "[wrong_number_of_words] {source} has {n_words:~word}, but the counts have "
                "{n_columns:~column}; give one word per column"
            )
        )
        raise exceptions.ReadError(code, source=source, n_words=n_words, n_columns=d)


def _merge_words(words: Sequence[str], notes: list[Message]) -> tuple[Ints, list[str]]:
    """Return the new column of each column, and the words, each once; note if some are merged."""
    columns, unique = pd.factorize(np.asarray(words, dtype=object))
    if len(unique) < len(words):
        series = pd.Series(words)
        example = series[series.duplicated()].iloc[0]
        notes.append(
            Message(
                "[words_merged] {n_columns:~column} {n_columns:?was/were} added to another column "
                "for the same word, such as {example!r}",
                n_columns=len(words) - len(unique),
                example=example,
            )
        )
    return columns, list(unique)


def align_columns(corpus: objects.Corpus, vocabulary: Sequence[str]) -> objects.Corpus:
    """Align counts with the columns of another vocabulary, such as that of a fitted tree.

    Parameters
    ----------
    corpus : Corpus
        Counts with their own vocabulary.
    vocabulary : sequence of str of shape (d,)
        Words of the new columns, all different.

    Returns
    -------
    Corpus
        Counts of shape (n, d): words not in `vocabulary` are left out, and words not in `corpus`
        have zero counts.

    Raises
    ------
    InvalidDataError
        If the vocabularies have no words in common, or `vocabulary` repeats a word.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from momentree.datasets import Corpus, align_columns
    >>> corpus = Corpus(sp.csr_array([[1, 2], [0, 3]]), np.array(["cat", "dog"]), ["a", "b"])
    >>> align_columns(corpus, ["dog", "sun"]).X.toarray().tolist()
    [[2, 0], [3, 0]]
    """
    found = pd.Index(np.asarray(corpus.vocabulary, dtype=object), dtype=object)
    wanted = pd.Index(np.asarray(vocabulary, dtype=object), dtype=object)
    if not wanted.is_unique:
        word = str(wanted[wanted.duplicated()][0])
        raise exceptions.InvalidDataError(
            "[word_repeated] the vocabulary names {word!r} twice; name each word once", word=word
        )
    new = wanted.get_indexer(found)
    if not (new >= 0).any():
        raise exceptions.InvalidDataError(
            "[no_common_words] none of the {n_found:~word} of {name} ({found:quoted list}, ...) is "
            "among the {n_wanted:~word} of the vocabulary ({wanted:quoted list}, ...); give counts "
            "of the same words, with the same spelling",
            name=corpus.name,
            n_found=len(found),
            found=[str(word) for word in found[:3]],
            n_wanted=len(wanted),
            wanted=[str(word) for word in wanted[:3]],
        )
    X = corpus.X
    columns = new[X.indices]
    kept = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
    aligned = sp.csr_array((X.data[kept], columns[kept], indptr), shape=(X.shape[0], len(wanted)))
    aligned.sum_duplicates()
    return replace(corpus, X=aligned, vocabulary=wanted.to_numpy(dtype=object))


def filter_vocabulary(
    corpus: objects.Corpus,
    vectorizer: TextVectorizer | None = None,
    *,
    token_pattern: str | None = None,
    unique: bool | Literal["auto"] = "auto",
    **settings: Any,
) -> objects.Corpus:
    """Choose the words of a corpus of counts, as :func:`vectorize` does for texts.

    Parameters
    ----------
    corpus : Corpus
        Counts with their words; not modified.
    vectorizer : TextVectorizer or None, default=None
        Which words to keep; None is one with the default settings. With the language "auto", stop
        words among the most frequent words show the language.
    token_pattern : str or None, default=None
        Leave out words that do not fully match this regular expression. None keeps words of any
        form, because the counts may be of codes and numbers.
    unique : bool or "auto", default="auto"
        Whether each group of equal or nearly equal documents has the weight of one, as in
        :func:`vectorize`.
    **settings
        Other values of parameters of :class:`TextVectorizer`: `language`, `stop_words`, `min_df`,
        `max_df`, `max_features`.

    Returns
    -------
    Corpus
        The same documents; fewer words, in the same order. If a word was left out, `vectorizer`
        is None.

    Raises
    ------
    EmptyCorpusError
        If there are no documents, or no word is kept; the message reports how many words each
        filter removed.
    InvalidParameterError, ReadError
        As in :class:`TextVectorizer`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.datasets import Corpus, filter_vocabulary
    >>> X = sp.csr_array([[1, 2, 0, 3], [1, 1, 0, 0], [2, 0, 1, 0], [1, 0, 1, 0]])
    >>> corpus = Corpus(X, np.array(["the", "sea", "bread", "rare"]), ids=list("abcd"))
    >>> filter_vocabulary(corpus).vocabulary.tolist()
    ['sea', 'bread']
    """
    vectorizer = replace(vectorizer or TextVectorizer(), **settings)
    check_unique(unique)
    words = np.asarray(corpus.vocabulary, dtype=object)
    X = corpus.X
    df = np.bincount(X.indices[X.data > 0], minlength=X.shape[1])
    if not X.shape[0]:
        raise exceptions.EmptyCorpusError(wording.NO_DOCUMENTS)
    candidates, notes = candidate_words(words, df, vectorizer, token_pattern)
    counts = sp.csr_array(X)
    counts.sort_indices()
    weights, copied = weigh_copies(find_copies(counts[:, np.flatnonzero(candidates)]), unique)
    limits = vectorizer.min_df, vectorizer.max_df, vectorizer.max_features
    keep, dropped = selection.select_columns(counts, words, *limits, candidates, weights)
    found = [*notes, *copied]
    if len(keep) == len(words):
        if not found:
            return corpus
        return replace(corpus, weights=weights, notes=[*corpus.notes, *found])
    X = sp.csr_array(counts[:, keep])
    return replace(
        corpus,
        X=X,
        vocabulary=corpus.vocabulary[keep],
        vectorizer=None,
        weights=weights,
        notes=[*corpus.notes, *found, *dropped, *selection.note_empty(X)],
    )


def candidate_words(
    words: NDArray[Any],
    df: NDArray[Any],
    vectorizer: TextVectorizer,
    token_pattern: str | None,
) -> tuple[NDArray[np.bool_], tuple[Message, ...]]:
    """Mark the words that are neither stop words nor of another form, given their frequencies."""
    pattern = tokens.TOKEN_PATTERN if token_pattern is None else token_pattern
    reading = languages.choose_for_counts(list(map(str, words)), df, vectorizer.language)
    unwanted = tokens.unwanted_words(reading.language, vectorizer.stop_words, pattern)
    found = np.fromiter((str(word).lower() not in unwanted for word in words), dtype=bool)
    if token_pattern is not None:
        matches = re.compile(token_pattern).fullmatch
        found &= np.fromiter((matches(str(word)) is not None for word in words), dtype=bool)
    if not found.any():
        raise exceptions.EmptyCorpusError(
            "[no_candidate_words] all {n_words:~word} are stop words or do not match "
            "{parameters.token_pattern}; change {parameters.language}, {parameters.stop_words} or "
            "{parameters.token_pattern}",
            n_words=len(words),
        )
    return found, reading.notes
