"""A corpus on disk, in three stages: read the texts, count all words, choose the words to keep.

The stages do the same as :func:`momentree.datasets.vectorize`, batch by batch, and share its parts.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.core.pages import in_parts, picked, release
from momentree.core.progress import Pace
from momentree.messages import Message
from momentree.readers.copies import checksums, weigh_checksums
from momentree.readers.stored import arrays
from momentree.readers.stored.counts import MAX_COLUMNS, CountsWriter, StoredCounts
from momentree.readers.stored.work import WorkFolder
from momentree.readers.text import counting, objects, selection, vectorize, vectorizer

log = logging.getLogger("momentree.readers")

TEXTS, WORDS, COUNTS = "1-texts", "2-words", "3-counts"
"""The stages, by the names of their folders."""
BATCH_BYTES = 1 << 22
"""Bytes of the texts whose words are counted at a time."""
_SHARE_OF_WORDS = 0.15
"""Fraction of the memory for words and their frequencies."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StoredCorpus(objects.Corpus):
    """A corpus on disk, see :func:`read_corpus`.

    It has the attributes of :class:`Corpus`, which are read from disk as needed, and two more.

    Parameters
    ----------
    X, vocabulary, ids, labels, texts, name, vectorizer, notes, passages, weights : optional
        As in :class:`Corpus`.
    counts : StoredCounts
        The counts, whose ``blocks()`` are read one after the other.
    folder : Path
        The folder of the corpus.
    """

    counts: StoredCounts
    folder: Path

    def take(self, rows: Ints | None) -> objects.Corpus:
        """Return some documents, or passages, as a corpus in memory.

        Parameters
        ----------
        rows : ndarray of int or None
            Row numbers, ascending; None takes all.

        Returns
        -------
        Corpus
            The documents.
        """
        chosen = np.arange(len(self)) if rows is None else rows
        parts = [X[chosen[a:b] - start] for start, X, (a, b) in self._blocks_with(chosen)]
        X = sp.csr_array(sp.vstack(parts, format="csr"))
        X.has_canonical_format = True

        def some(values: Sequence[str] | None) -> list[str] | None:
            return None if values is None else [values[i] for i in chosen.tolist()]

        cut = self.passages
        return objects.Corpus(
            X=X,
            vocabulary=self.vocabulary,
            ids=some(self.ids) or [],
            labels=some(self.labels),
            texts=some(self.texts),
            name=self.name,
            vectorizer=self.vectorizer,
            notes=self.notes,
            passages=cut and objects.Passages(cut.document_of[chosen], cut.ids, cut.labels),
            weights=None if self.weights is None else picked(self.weights, chosen),
        )

    def _blocks_with(self, rows: Ints) -> Iterator[tuple[int, sp.csr_array[Any], Ints]]:
        """Yield the first row of each block, the block, and which of `rows` are in it."""
        start = 0
        for X in self.counts.blocks():
            yield start, X, np.searchsorted(rows, (start, start + X.shape[0]))
            start += X.shape[0]


@dataclass(frozen=True)
class Stages:
    """The stages of reading a corpus."""

    work: WorkFolder
    settings: vectorizer.TextVectorizer
    unique: bool | Literal["auto"]
    memory: int

    def read(self, stream: objects.DocumentStream) -> None:
        """Clean the texts, cut them into passages, and find their languages."""
        seen = vectorize.SeenTexts(self.settings.raw, self.settings.passages)
        labelled = False
        pace = Pace(log, f"reading {stream.name}", stream.n_documents)
        with self.work.stage(TEXTS) as (folder, noted), ExitStack() as stack:
            names = ("texts", "ids", "labels", "documents", "document_labels")
            files = {
                name: stack.enter_context(arrays.StringsWriter(folder / name)) for name in names
            }
            document_of = stack.enter_context(
                arrays.ArrayWriter(folder / "document_of.npy", np.int64)
            )
            for batch in stream:
                first = seen.n_documents
                cut = seen.add(batch)
                labelled |= batch.labels is not None
                document_of.append(cut.document_of + first)
                files["texts"].extend(cut.texts)
                files["ids"].extend(cut.ids)
                files["labels"].extend(cut.labels or [""] * len(cut.texts))
                files["documents"].extend(batch.ids)
                files["document_labels"].extend(batch.labels or [""] * len(batch))
                pace.reached(seen.n_documents, f"{seen.n_documents:,} documents")
            adapted, notes = seen.adapt(self.settings, stream.name)
            document_of.finish()
            for file in files.values():
                file.finish()
            noted |= {
                "name": stream.name,
                "notes": [*stream.notes, *notes],
                "rows": {name: name for name in names[: 3 if labelled else 2]},
                "is_cut": seen.is_cut,
                "language": adapted.language,
                "segment": adapted.segment,
            }

    def count(self) -> None:
        """Count all words; their numbers take the place of columns."""
        texts = arrays.StoredStrings(self.work.path / TEXTS / "texts")
        counter = self._adapted.counter()
        n_words = int(self.memory * _SHARE_OF_WORDS / selection.BYTES_PER_WORD)
        frequencies = selection.DocumentFrequencies(n_words)
        pace = Pace(log, "counting words", texts.n_bytes)
        n_characters = 0
        with (
            self.work.stage(WORDS) as (folder, noted),
            CountsWriter(folder) as writer,
            arrays.ArrayWriter(folder / "checksums.npy", np.uint64) as sums,
        ):
            for batch in texts.batches(BATCH_BYTES):
                found, X = counter.count(batch)
                numbers = frequencies.update(found, X)
                writer.append(_csr(X.data, numbers[X.indices], X.indptr, MAX_COLUMNS))
                sums.append(checksums(X, batch))
                n_characters += sum(map(len, batch))
                pace.reached(n_characters)
            words = frequencies.words
            counting.check_found(len(words), len(texts), self.settings.token_pattern)
            writer.finish()
            sums.finish()
            arrays.write_strings(folder / "words", words)
            for name in ("documents", "occurrences", "numbers"):
                arrays.write_array(folder / f"{name}.npy", getattr(frequencies, name))
            noted["error"] = frequencies.error

    def choose(self) -> None:
        """Choose the words, and write their counts."""
        folder, is_cut = self.work.path / WORDS, bool(self.work.read(TEXTS)["is_cut"])
        counts = StoredCounts.open(folder)
        weights, notes = weigh_checksums(
            arrays.open_array(folder / "checksums.npy"), self.unique, is_cut
        )
        words = np.array(list(arrays.StoredStrings(folder / "words")), dtype=object)
        documents, occurrences, numbers = (
            np.asarray(arrays.open_array(folder / f"{name}.npy"))
            for name in ("documents", "occurrences", "numbers")
        )
        n, df = float(len(counts)), documents.astype(np.float64)
        if weights is not None:
            n = round(sum(float(part.sum()) for part in in_parts(weights)), 6)
            df = _weighted(counts, numbers, weights)
        limits = self.settings.min_df, self.settings.max_df, self.settings.max_features
        found = selection.WordFrequencies(words, len(counts), n, df, occurrences.astype(np.float64))
        keep, dropped = selection.select_words(found, *limits)
        notes += dropped
        if error := int(self.work.read(WORDS)["error"]):
            n_all = round(selection.lowest_df(self.settings.min_df, n)) + error
            notes.append(
                Message(
                    "[rare_words_forgotten] there are more different words than memory for them: "
                    "words in fewer than {n_all:~document} may be missing, and document "
                    "frequencies may be too low by {n_rows:,}; increase {parameters.memory} to "
                    "count all words",
                    n_rows=error,
                    n_all=n_all,
                )
            )
        pace = Pace(log, "writing counts", len(counts))
        n_empty = n_done = 0
        with self.work.stage(COUNTS) as (folder, noted), CountsWriter(folder, len(keep)) as writer:
            for X in _columns_of(counts, numbers[keep]):
                n_empty += int((np.diff(X.indptr) == 0).sum())
                writer.append(X)
                n_done += X.shape[0]
                pace.reached(n_done)
            notes += selection.note_without_words(n_empty, len(counts), is_cut)
            writer.finish(words[keep].tolist())
            if weights is not None:
                arrays.write_array(folder / "weights.npy", weights)
            noted |= {"notes": notes, "weighted": weights is not None}

    @property
    def _adapted(self) -> vectorizer.TextVectorizer:
        """The settings with the languages of the texts; they are clean already."""
        noted = self.work.read(TEXTS)
        return replace(
            self.settings, raw=True, language=noted["language"], segment=noted["segment"]
        )

    def corpus(self) -> StoredCorpus:
        """Open the result."""
        noted, chosen = self.work.read(TEXTS), self.work.read(COUNTS)
        folder, counts = self.work.path / TEXTS, StoredCounts.open(self.work.path / COUNTS)
        words = counts.feature_names if counts.feature_names is not None else np.empty(0, object)
        rows: dict[str, Any] = {
            name: arrays.StoredStrings(folder / file) for name, file in noted["rows"].items()
        }
        if "texts" in rows:
            vocabulary = tuple(map(str, words))
            rows["vectorizer"] = replace(
                self._adapted, raw=self.settings.raw, vocabulary=vocabulary
            )
        if noted["is_cut"]:
            labels = arrays.StoredStrings(folder / "document_labels") if "labels" in rows else None
            document_of = np.asarray(arrays.open_array(folder / "document_of.npy"))
            rows["passages"] = objects.Passages(
                document_of, arrays.StoredStrings(folder / "documents"), labels
            )
        if chosen["weighted"]:
            weights = arrays.open_array(self.work.path / COUNTS / "weights.npy")
            rows["weights"] = np.asarray(weights)
        rows.setdefault("ids", arrays.Numbers(len(counts)))
        return StoredCorpus(
            X=counts.X,
            vocabulary=words,
            name=str(noted["name"]),
            notes=[*noted["notes"], *chosen["notes"]],
            counts=counts,
            folder=self.work.path,
            **rows,
        )


def _columns_of(counts: StoredCounts, numbers: Ints) -> Iterator[sp.csr_array[Any]]:
    """Yield the counts of the words with these numbers, in this order, block by block."""
    column_of = pd.Index(numbers.astype(np.int32))
    for block in counts.blocks():
        columns = column_of.get_indexer(pd.Index(block.indices))
        kept = columns >= 0
        ends = np.concatenate(([0], np.cumsum(kept)))[block.indptr]
        yield _csr(block.data[kept], columns[kept], ends, len(numbers))


def _weighted(counts: StoredCounts, numbers: Ints, weights: Floats) -> Floats:
    """Return the weighted document frequencies of words, given their numbers."""
    df = np.zeros(len(numbers))
    start = 0
    for X in _columns_of(counts, numbers):
        stop = start + X.shape[0]
        each = np.repeat(weights[start:stop], np.diff(X.indptr))
        df += np.bincount(X.indices, weights=each, minlength=len(df))
        release(weights[start:stop])
        start = stop
    return np.round(df, 6)


def _csr(data: Any, columns: Any, ends: Any, d: int) -> sp.csr_array[Any]:
    """Return rows in canonical order of columns."""
    X = sp.csr_array(
        (data, columns.astype(np.int32), ends.astype(np.int32)), shape=(len(ends) - 1, d)
    )
    X.has_canonical_format = False
    X.sort_indices()
    X.has_canonical_format = True
    return X
