"""Read Parquet files, named by a pattern or URL, on the workers of a cluster."""

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
from momentree.readers.text import cleaning, counting, objects, selection, tables, vectorize
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
    """A corpus on a cluster, see :func:`read_corpus`.

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


def read_on_workers(
    pattern: str | PathLike[str], settings: TextVectorizer, text_column: Sequence[str]
) -> DistributedCorpus:
    """Count the words of texts in Parquet files on the workers of a Dask cluster.

    Without a `text_column`, this is the only column of strings, or the one with a common name.
    """
    try:
        from momentree.backends.dask_rows import DaskRows
        from momentree.backends.dask_tasks import Tasks, Value, computed
    except ImportError as error:
        raise exceptions.MissingLibraryError(wording.DASK_MISSING) from error
    url = _url(fspath(pattern))
    outlines = computed(Tasks.of_values(_files(url)).then(_outline))
    columns = list(text_column) or [_text_column(outlines[0])]
    parts = [part for outline in outlines for part in outline.parts(columns)]
    read = Tasks.of_values(parts)
    name = url.rsplit("/", 1)[-1]
    seen: vectorize.SeenTexts = read.then(_seen, settings.raw).merged(_merged)
    adapted, notes = seen.adapt(settings, name)
    adapted = replace(adapted, raw=settings.raw, passages=None)
    frequencies: selection.DocumentFrequencies = read.then(_counted, Value(adapted)).merged(_merged)
    listed = frequencies.frequencies()
    counting.check_found(len(listed.words), seen.n_documents, settings.token_pattern)
    keep, dropped = selection.select_words(
        listed, settings.min_df, settings.max_df, settings.max_features
    )
    vectorizer = replace(adapted, vocabulary=tuple(listed.words[keep].tolist()))
    X = DaskRows(read.then(_counts, Value(vectorizer)))
    n_empty = int(X.sum(_count_empty)[0])
    if columns[1:]:
        values = {"columns": grid.excerpts(columns), "source": name}
        notes.insert(0, Message(wording.JOINED_TEXT_COLUMNS, **values))
    notes += dropped
    if frequencies.error:
        notes.append(
            Message(
                "[words_forgotten_on_cluster] there are more different words than memory for them: "
                "document frequencies of rare words may be too low by {n_rows:,}",
                n_rows=frequencies.error,
            )
        )
    if seen.n_long and settings.passages is not None:
        notes.append(
            Message(
                "[long_texts_whole] {n_rows:~document} of more than {longest:,} words stayed "
                "whole: texts are not cut into passages on a cluster",
                n_rows=seen.n_long,
                longest=objects.LONG_TEXT_WORDS,
            )
        )
    return DistributedCorpus(
        X=X,
        parts=parts,
        vocabulary=np.asarray(vectorizer.vocabulary, dtype=object),
        ids=Numbers(X.shape[0]),
        name=name,
        vectorizer=vectorizer,
        notes=[*notes, *selection.note_without_words(n_empty, X.shape[0], passages=False)],
    )


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
    """The columns of a file, whether they hold strings, and bytes and rows of its row groups."""

    url: str
    columns: dict[str, bool]
    groups: list[tuple[int, int]]

    def parts(self, texts: list[str]) -> Iterator[_Part]:
        """Divide the row groups, in order, by a rule that depends on the file only."""
        named = {"path": self.url, "parameter": "text_column"}
        for column in texts:
            if column not in self.columns:
                listed = list(self.columns)
                raise grid.no_such_column(self.url, column, listed, "text_column")
            if not self.columns[column]:
                raise exceptions.ReadError(
                    wording.NOT_TEXT, column=column, kind="other values", **named
                )
        some: list[int] = []
        size = n_rows = 0
        for i, (n_bytes, n) in enumerate(self.groups):
            if some and size + n_bytes > PART_BYTES:
                yield _Part(self.url, some, texts, n_rows)
                some, size, n_rows = [], 0, 0
            some.append(i)
            size, n_rows = size + n_bytes, n_rows + n
        yield _Part(self.url, some, texts, n_rows)


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
        schema = file.schema_arrow
        columns = {
            name: pt.is_string(kind) or pt.is_large_string(kind) or pt.is_dictionary(kind)
            for name, kind in zip(schema.names, schema.types, strict=True)
        }
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        return _Outline(url, columns, [(group.total_byte_size, group.num_rows) for group in groups])


def _text_column(outline: _Outline) -> str:
    strings = [name for name, is_text in outline.columns.items() if is_text]
    named = strings[0] if len(strings) == 1 else roles.pick("text", strings)
    if named is None:
        raise exceptions.ReadError(
            wording.NO_TEXT_COLUMN,
            path=outline.url,
            columns=list(outline.columns),
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


def _counted(part: _Part, settings: Any) -> selection.DocumentFrequencies:
    from momentree.backends.dask_tasks import value_of

    vectorizer: TextVectorizer = value_of(settings)
    counter = vectorizer.counter()
    frequencies = selection.DocumentFrequencies(MAX_WORDS)
    for batch in _batches(part):
        texts = batch if vectorizer.raw else cleaning.clean_batch(batch, Counter())
        words, X = counter.count(texts)
        frequencies.update(words, X)
    return frequencies


def _counts(part: _Part, settings: Any) -> sp.csr_array[Any]:
    from momentree.backends.dask_tasks import value_of

    vectorizer: TextVectorizer = value_of(settings)
    empty = sp.csr_array((0, len(vectorizer.vocabulary or ())), dtype=np.int32)
    counts = [vectorizer.transform(batch) for batch in _batches(part) if batch]
    return sp.csr_array(sp.vstack([empty, *counts], format="csr"))


def _count_empty(B: Any) -> Any:
    return np.array([(np.diff(B.csr[2]) == 0).sum()], dtype=np.float64)
