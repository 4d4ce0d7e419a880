"""Read Parquet files, named by a pattern or URL, on the workers of a cluster."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree import exceptions
from momentree._types import Ints
from momentree.backends.sources import taken
from momentree.messages import Message, wording
from momentree.readers.stored.arrays import Numbers
from momentree.readers.tables import grid, roles
from momentree.readers.text import (
    cleaning,
    counting,
    objects,
    selection,
    tables,
    vectorize,
)
from momentree.readers.text.vectorizer import TextVectorizer

_NO_FILES_OF_PATTERN = (
    "[no_files_of_pattern] no files found for {pattern} ({error}); check the path, and that the "
    "file system is reachable"
)


_URL = re.compile(r"^([a-z][a-z0-9+.-]+):/+", re.IGNORECASE)
PART_BYTES = 1 << 26
"""Bytes of Parquet row groups, uncompressed, that one task reads: 64 MB."""
MAX_WORDS = 5_000_000
"""Different words of which frequencies are kept: about 1 GB."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DistributedCorpus(objects.Corpus):
    """A corpus on a cluster, see :func:`read_parquet_corpus`.

    It has the attributes of :class:`Corpus`, with rows on the workers as `X`, and one more.

    Parameters
    ----------
    X, vocabulary, ids, labels, texts, name, vectorizer, notes, passages, weights : optional
        As in :class:`Corpus`.
    parts : list
        Where the texts are.
    """

    parts: list[Any]

    def take(self, rows: Ints | None) -> objects.Corpus:
        """Return some documents, with their texts, as a corpus in memory.

        Parameters
        ----------
        rows : ndarray of int or None
            Row numbers, ascending; None takes all.

        Returns
        -------
        Corpus
            The documents.
        """
        from momentree.backends.dask_tasks import Tasks, computed

        chosen = np.arange(len(self), dtype=np.intp) if rows is None else rows
        ends = np.cumsum([part.n_rows for part in self.parts])
        at = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
        wanted = [
            some - end + part.n_rows for some, end, part in zip(at, ends, self.parts, strict=True)
        ]
        raw = self.vectorizer is not None and self.vectorizer.raw
        texts = computed(Tasks.of_values(self.parts).then(_choose_texts, wanted, raw))
        return objects.Corpus(
            X=taken(self.X, chosen).matrix,
            vocabulary=self.vocabulary,
            ids=[self.ids[i] for i in chosen.tolist()],
            texts=[text for some in texts for text in some],
            name=self.name,
            vectorizer=self.vectorizer,
            notes=self.notes,
        )


def is_pattern(path: str | PathLike[str]) -> bool:
    """Return whether a path is a pattern of Parquet files, or a URL of one or several.

    Parameters
    ----------
    path : str or path-like
        The path.

    Returns
    -------
    bool
        True if Dask reads the files.
    """
    text = str(path)
    return bool(_URL.match(text)) or (
        bool(re.search(r"[*?\[]", text)) and text.lower().endswith((".parquet", ".pq"))
    )


def read_parquet_corpus(
    pattern: str | PathLike[str],
    settings: TextVectorizer,
    *,
    text_column: str | Sequence[str] | None = None,
) -> DistributedCorpus:
    """Count the words of texts in Parquet files on the workers of a Dask cluster.

    Parameters
    ----------
    pattern : str
        Path or URL of a file system that fsspec knows, with wildcards: "s3://news/*.parquet".
    settings : TextVectorizer
        What counts as a word and which words to keep.
    text_column : str or sequence of str, default=None
        Column of the texts, or several to be joined; None takes the only column of strings, or the
        one with a common name.

    Returns
    -------
    DistributedCorpus
        With `X` as :class:`momentree.backends.DaskRows`, without texts; `ids` are row numbers in
        the order of file names.

    Raises
    ------
    ReadError
        If there is no such file, or one cannot be read.
    InvalidParameterError
        If words are chosen in a way that needs all texts at once (`phrases`, or a number of
        `passages`).
    EmptyCorpusError
        If there are no documents, or no word is kept.
    MissingLibraryError
        If Dask or fsspec is not installed.
    """
    try:
        from momentree.backends.dask_rows import DaskRows
        from momentree.backends.dask_tasks import Tasks, Value, computed
    except ImportError as error:
        raise exceptions.MissingLibraryError(wording.DASK_MISSING) from error
    _check_settings(settings)
    url = _url(fspath(pattern))
    outlines = computed(Tasks.of_values(_files(url)).then(_outline))
    columns = tables.as_list(text_column) or [_text_column(outlines[0])]
    parts = [part for outline in outlines for part in outline.parts(columns)]
    read = Tasks.of_values(parts)
    name = url.rsplit("/", 1)[-1]
    facts = {"columns": grid.excerpts(columns), "source": name}
    joined = [Message(wording.JOINED_TEXT_COLUMNS, **facts)] if columns[1:] else []
    seen: vectorize.SeenTexts = read.then(_seen, settings.raw).merged(_merged)
    adapted, found = seen.adapt(settings, name)
    counted: _Counted = read.then(_counted, Value(replace(adapted, raw=settings.raw))).merged(
        _merged
    )
    frequencies = counted.frequencies
    listed = frequencies.frequencies()
    counting.check_found(
        len(listed.words), counted.n_found, seen.n_documents, settings.token_pattern
    )
    keep, dropped = selection.select_words(
        listed, settings.min_df, settings.max_df, settings.max_features
    )
    vectorizer = replace(
        adapted, raw=settings.raw, vocabulary=tuple(listed.words[keep].tolist()), passages=None
    )
    X = DaskRows(read.then(_counts, Value(vectorizer)))
    n_empty = int(X.sum(_count_empty)[0])
    return DistributedCorpus(
        X=X,
        parts=parts,
        vocabulary=np.asarray(vectorizer.vocabulary, dtype=object),
        ids=Numbers(X.shape[0]),
        name=name,
        vectorizer=vectorizer,
        notes=(
            *joined,
            *found,
            *dropped,
            *_notes(frequencies.error, 0 if settings.passages is None else seen.n_long),
            *selection.note_without_words(n_empty, X.shape[0], passages=False),
        ),
    )


def _check_settings(settings: TextVectorizer) -> None:
    """Raise an error if words are chosen in a way that needs all texts at once."""
    for parameter, off in (("phrases", False), ("passages", "auto")):
        if getattr(settings, parameter) not in (off, None):
            raise exceptions.InvalidParameterError(
                "[not_on_a_cluster] {parameter} needs all texts on one machine; leave it out, or "
                "read the files from a folder",
                parameter=parameter,
            )


def _notes(error: int, n_long: int) -> list[Message]:
    """Return notes on the error of frequencies, and on long texts, which are not cut."""
    notes = []
    if error:
        notes.append(
            Message(
                "[words_forgotten_on_cluster] there are more different words than memory for them: "
                "document frequencies of rare words may be too low by {n_rows:,}",
                n_rows=error,
            )
        )
    if n_long:
        notes.append(
            Message(
                "[long_texts_whole] {n_rows:~document} of more than {longest:,} words stayed "
                "whole: texts are not cut into passages on a cluster",
                n_rows=n_long,
                longest=objects.LONG_TEXT_WORDS,
            )
        )
    return notes


def _url(pattern: str) -> str:
    """Return a URL with all of its slashes, of which a Path has lost one."""
    found = _URL.match(pattern)
    if found is None:
        return pattern
    root = "/" if found[1].lower() == "file" else ""
    return f"{found[1]}://{root}{pattern[found.end() :]}"


@dataclass(frozen=True)
class _Part:
    """Some row groups of a file."""

    url: str
    groups: list[int]
    columns: list[str]
    n_rows: int


@dataclass(frozen=True)
class _Outline:
    """Columns of strings, and the sizes and rows of the row groups of a file."""

    url: str
    strings: list[str]
    columns: list[str]
    sizes: list[int]
    rows: list[int]

    def parts(self, texts: list[str]) -> Iterator[_Part]:
        """Divide the row groups, in order, by a rule that depends on the file only."""
        for column in texts:
            if column in self.strings:
                continue
            parameter = "text_column"
            if column not in self.columns:
                raise grid.no_such_column(self.url, column, self.columns, parameter)
            facts = {"path": self.url, "column": column, "kind": "other values"}
            raise exceptions.ReadError(wording.NOT_TEXT, parameter=parameter, **facts)
        groups: list[int] = []
        size = 0
        for i, more in enumerate(self.sizes):
            if groups and size + more > PART_BYTES:
                yield self._part(groups, texts)
                groups, size = [], 0
            groups.append(i)
            size += more
        yield self._part(groups, texts)

    def _part(self, groups: list[int], columns: list[str]) -> _Part:
        return _Part(self.url, groups, columns, sum(self.rows[i] for i in groups))


def _files(url: str) -> list[str]:
    """Return the files of a pattern in alphabetical order."""
    try:
        import fsspec
    except ImportError as error:
        raise exceptions.MissingLibraryError(wording.DASK_MISSING) from error
    try:
        found = sorted(file.full_name for file in fsspec.open_files(url))
    except (OSError, ValueError, ImportError) as error:
        raise exceptions.ReadError(_NO_FILES_OF_PATTERN, pattern=url, error=_text(error)) from error
    if not found:
        raise exceptions.ReadError(_NO_FILES_OF_PATTERN, pattern=url, error="no such file")
    return found


@contextmanager
def _opened(url: str) -> Iterator[Any]:
    import fsspec
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    try:
        with fsspec.open(url) as raw, pq.ParquetFile(raw) as file:
            yield file
    except exceptions.MomentreeError:
        raise
    except (pa.ArrowException, MemoryError, OSError, ValueError) as error:
        raise exceptions.ReadError(
            wording.UNREADABLE_PARQUET, path=url, details=_text(error)
        ) from error


def _text(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _outline(url: str) -> _Outline:
    import pyarrow.types as pt  # type: ignore[import-untyped]

    with _opened(url) as file:
        arrow, metadata = file.schema_arrow, file.metadata
        strings = [
            name
            for name, kind in zip(arrow.names, arrow.types, strict=True)
            if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_dictionary(kind)
        ]
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        sizes, rows = [one.total_byte_size for one in groups], [one.num_rows for one in groups]
        return _Outline(url, strings, list(arrow.names), sizes, rows)


def _text_column(outline: _Outline) -> str:
    named = outline.strings[0] if len(outline.strings) == 1 else roles.pick("text", outline.strings)
    if named is None:
        raise exceptions.ReadError(
            wording.NO_TEXT_COLUMN,
            path=outline.url,
            columns=outline.columns,
            parameter="text_column",
        )
    return named


def _batches(part: _Part) -> Iterator[list[str]]:
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    with _opened(part.url) as file:
        for batch in file.iter_batches(10_000, row_groups=part.groups, columns=part.columns):
            batch.validate(full=True)
            texts = [
                pc.cast(batch.column(name), pa.large_string()).to_pylist() for name in part.columns
            ]
            yield tables.joined([[text or "" for text in column] for column in texts])


def _choose_texts(part: _Part, rows: Ints, raw: bool) -> list[str]:
    """Return the texts of some rows of a part, in ascending order."""
    found: list[str] = []
    start = 0
    for batch in _batches(part) if len(rows) else ():
        a, b = np.searchsorted(rows, (start, start + len(batch)))
        found += [batch[i - start] for i in rows[a:b].tolist()]
        start += len(batch)
    return found if raw else cleaning.clean_batch(found, Counter())


def _seen(part: _Part, raw: bool) -> vectorize.SeenTexts:
    seen = vectorize.SeenTexts(raw, None)
    for batch in _batches(part):
        texts = seen.add(objects.Documents(batch, [""] * len(batch))).texts
        seen.n_long += sum(roles.count_words(text) > objects.LONG_TEXT_WORDS for text in texts)
    return seen


def _merged(first: Any, *others: Any) -> Any:
    """Add what tasks have found, in the order of the parts."""
    total = deepcopy(first)
    for other in others:
        total.merge(other)
    return total


@dataclass
class _Counted:
    """Frequencies of words, and the number of words with stop words."""

    frequencies: selection.DocumentFrequencies
    n_found: int = 0

    def merge(self, other: _Counted) -> None:
        self.frequencies.merge(other.frequencies)
        self.n_found += other.n_found


def _counted(part: _Part, settings: Any) -> _Counted:
    from momentree.backends.dask_tasks import value_of

    vectorizer: TextVectorizer = value_of(settings)
    counter = vectorizer.counter()
    found = _Counted(selection.DocumentFrequencies(MAX_WORDS))
    for batch in _batches(part):
        counted = counter.count(batch if vectorizer.raw else cleaning.clean_batch(batch, Counter()))
        found.frequencies.update(list(counted.words), counted.X)
        found.n_found += counted.n_found
    return found


def _counts(part: _Part, settings: Any) -> sp.csr_array[Any]:
    from momentree.backends.dask_tasks import value_of

    vectorizer: TextVectorizer = value_of(settings)
    empty = sp.csr_array((0, len(vectorizer.vocabulary or ())), dtype=np.int32)
    counts = [vectorizer.transform(batch) for batch in _batches(part) if batch]
    return sp.csr_array(sp.vstack([empty, *counts], format="csr"))


def _count_empty(B: Any) -> Any:
    return np.array([(np.diff(B.csr[2]) == 0).sum()], dtype=np.float64)
