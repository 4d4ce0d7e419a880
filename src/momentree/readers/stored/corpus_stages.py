"""The stages of a corpus on disk: clean the texts, count all words, choose the words to keep."""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats
from momentree.core.pages import in_parts, release
from momentree.core.progress import Pace
from momentree.exceptions import EmptyCorpusError
from momentree.messages import Message
from momentree.readers.stored.arrays import ArrayWriter, open_array, write_array
from momentree.readers.stored.copies import checksums, weigh_stored_copies
from momentree.readers.stored.counts import CountsWriter, StoredCounts, new_folder
from momentree.readers.stored.objects import StoredCorpus
from momentree.readers.stored.strings import Numbers, StoredStrings, StringsWriter, write_strings
from momentree.readers.stored.work import WorkFolder, write_stage
from momentree.readers.tables.values import count_words
from momentree.readers.text.cleaning import clean_batch, note_stripped
from momentree.readers.text.counting import Counted
from momentree.readers.text.frequencies import BYTES_PER_WORD, DocumentFrequencies
from momentree.readers.text.languages import TextSample
from momentree.readers.text.objects import DocumentStream
from momentree.readers.text.passages import Passages, cut_documents, note_cut
from momentree.readers.text.selection import (
    MAX_DF,
    WordFrequencies,
    lowest_df,
    note_without_words,
    select_words,
)
from momentree.readers.text.vectorize import one_document_error
from momentree.readers.text.vectorizer import TextVectorizer

log = logging.getLogger("momentree.readers")

TEXTS, WORDS, COUNTS = "1-texts", "2-words", "3-counts"
"""The stages, by the names of their folders."""
BATCH_BYTES = 1 << 22
_SHARE_OF_WORDS = 0.15
"""Fraction of the memory for words and their frequencies."""


@dataclass(frozen=True)
class Stages:
    """The stages of reading a corpus."""

    work: WorkFolder
    settings: TextVectorizer
    unique: bool | Literal["auto"]
    memory: int

    def read(self, stream: DocumentStream, size: int) -> None:
        """Clean the texts, cut them into passages, and find their languages."""
        found: Counter[str] = Counter()
        sample = TextSample()
        n = n_rows = n_cut = n_passages = 0
        only = ""
        has_labels = False
        pace = Pace(log, f"reading {stream.name}", stream.n_documents)
        with new_folder(self.work.path / TEXTS) as place, ExitStack() as stack:
            names = ("texts", "ids", "labels", "documents", "document_labels")
            write = {name: stack.enter_context(StringsWriter(place / name)) for name in names}
            document_of = stack.enter_context(ArrayWriter(place / "document_of.npy", np.int64))
            for batch in stream:
                texts = batch.texts if self.settings.raw else clean_batch(batch.texts, found)
                sample.add(texts)
                cut = cut_documents(texts, batch.ids, batch.labels, self.settings.passages)
                of = np.arange(len(batch))
                if cut.passages is not None:
                    of = cut.passages.document_of
                    sizes = cut.passages.counts
                    n_cut += int((sizes > 1).sum())
                    n_passages += int(sizes[sizes > 1].sum())
                document_of.append(of + n)
                has_labels |= batch.labels is not None
                write["texts"].extend(cut.texts)
                write["ids"].extend(cut.ids)
                write["labels"].extend(cut.labels or [""] * len(cut.texts))
                write["documents"].extend(batch.ids)
                write["document_labels"].extend(batch.labels or [""] * len(batch))
                only = texts[0] if n + len(texts) == 1 else only
                n, n_rows = n + len(batch), n_rows + len(cut.texts)
                pace.reached(n, f"{n:,} documents")
            if n_rows == 1 and (self.settings.min_df is None or self.settings.max_df == MAX_DF):
                raise one_document_error(stream.name, count_words(only), self.settings.passages)
            if not n_rows:
                raise EmptyCorpusError("no_documents")
            adapted, notes = self.settings.adapt(sample.texts)
            document_of.finish()
            for one in write.values():
                one.finish()
            cut_notes = [note_cut(n_cut, n_passages, self.settings.passages)] if n_cut else []
            write_stage(
                place,
                {
                    "name": stream.name,
                    "bytes": size,
                    "notes": [*stream.notes, *note_stripped(found), *cut_notes, *notes],
                    "is_cut": bool(n_cut),
                    "has_labels": has_labels,
                    "language": adapted.language,
                    "segment": adapted.segment,
                },
            )

    def count(self) -> None:
        """Count all words; their numbers take the place of columns."""
        texts = StoredStrings(self.work.path / TEXTS / "texts")
        counter = self._adapted.counter()
        frequencies = DocumentFrequencies(int(self.memory * _SHARE_OF_WORDS / BYTES_PER_WORD))
        pace = Pace(log, "counting words", texts.n_bytes)
        n_found, done = 0, 0
        with (
            new_folder(self.work.path / WORDS) as place,
            closing(CountsWriter(place)) as writer,
            ArrayWriter(place / "checksums.npy", np.uint64) as sums,
        ):
            for batch in texts.batches(BATCH_BYTES):
                counted = counter.count(batch)
                n_found += counted.n_found
                numbers = frequencies.update(list(counted.words), counted.X)
                X = counted.X
                columns = numbers[X.indices]
                writer.append(_csr(X.data, columns, X.indptr))
                sums.append(checksums(X, batch))
                done += sum(map(len, batch))
                pace.reached(done)
            words = frequencies.words
            Counted(np.array(words[:1], dtype=object), sp.csr_array((0, 0)), n_found).check(
                len(texts), self.settings.token_pattern
            )
            writer.finish(None)
            sums.finish()
            write_strings(place / "words", words)
            for name in ("documents", "occurrences", "numbers"):
                write_array(place / f"{name}.npy", getattr(frequencies, name))
            write_stage(place, {"error": frequencies.error})

    def choose(self) -> None:
        """Choose the words, and write their counts."""
        settings = self.settings
        notes: list[Message] = []
        is_cut = bool(self.work.read(TEXTS)["is_cut"])
        place = self.work.path / WORDS
        counts = StoredCounts.open(place)
        weights, copied = weigh_stored_copies(place / "checksums.npy", self.unique, is_cut)
        notes += copied
        words = np.array(list(StoredStrings(place / "words")), dtype=object)
        documents, occurrences, numbers = (
            np.asarray(open_array(place / f"{name}.npy"))
            for name in ("documents", "occurrences", "numbers")
        )
        n = float(len(counts))
        df = documents.astype(np.float64)
        if weights is not None:
            n = round(sum(float(part.sum()) for part in in_parts(weights)), 6)
            df = _weighted(counts, numbers, weights)
        found = WordFrequencies(words, len(counts), n, df, lambda: occurrences.astype(np.float64))
        keep, dropped = select_words(found, settings.min_df, settings.max_df, settings.max_features)
        notes += dropped
        error = int(self.work.read(WORDS)["error"])
        lowest = lowest_df(settings.min_df, n)
        if error:
            notes.append(Message("rare_words_forgotten", n_rows=error, n_all=round(lowest) + error))
        pace = Pace(log, "writing counts", len(counts))
        column = _Columns(numbers[keep])
        n_empty = done = 0
        with (
            new_folder(self.work.path / COUNTS) as folder,
            closing(CountsWriter(folder, len(keep))) as writer,
        ):
            for block in counts.blocks():
                X = column.of(block)
                n_empty += int((np.diff(X.indptr) == 0).sum())
                writer.append(X)
                done += block.shape[0]
                pace.reached(done)
            notes += note_without_words(n_empty, len(counts), is_cut)
            writer.finish(words[keep].tolist())
            if weights is not None:
                write_array(folder / "weights.npy", weights)
            write_stage(folder, {"notes": notes, "weighted": weights is not None})

    @property
    def _adapted(self) -> TextVectorizer:
        """The settings with the languages of the texts; they are clean already."""
        read = self.work.read(TEXTS)
        return replace(self.settings, raw=True, language=read["language"], segment=read["segment"])

    def corpus(self) -> StoredCorpus:
        """Open the result."""
        read, chosen = self.work.read(TEXTS), self.work.read(COUNTS)
        stored = StoredCounts.open(self.work.path / COUNTS)
        words = stored.feature_names if stored.feature_names is not None else np.empty(0, object)
        place = self.work.path / TEXTS
        weights = None
        if chosen["weighted"]:
            weights = np.asarray(open_array(self.work.path / COUNTS / "weights.npy"))
        common: dict[str, Any] = {
            "X": stored.X,
            "vocabulary": words,
            "name": str(read["name"]),
            "weights": weights,
            "notes": [*read["notes"], *chosen["notes"]],
            "counts": stored,
            "folder": self.work.path,
        }
        if "of_counts" in read:
            rows = {
                what: StoredStrings(place / read[what])
                for what in ("ids", "labels")
                if what in read
            }
            ids = rows.get("ids", Numbers(len(stored)))
            return StoredCorpus(ids=ids, labels=rows.get("labels"), **common)
        strings = {
            name: StoredStrings(place / name)
            for name in ("texts", "ids", "labels", "documents", "document_labels")
        }
        labelled = bool(read["has_labels"])
        cut = None
        if read["is_cut"]:
            of = np.asarray(open_array(place / "document_of.npy"))
            cut = Passages(
                of, strings["documents"], strings["document_labels"] if labelled else None
            )
        vectorizer = replace(
            self._adapted, raw=self.settings.raw, vocabulary=tuple(map(str, words))
        )
        return StoredCorpus(
            ids=strings["ids"],
            labels=strings["labels"] if labelled else None,
            texts=strings["texts"],
            vectorizer=vectorizer,
            passages=cut,
            **common,
        )


class _Columns:
    """Maps the numbers of words to the columns of those that are kept."""

    def __init__(self, numbers: Any) -> None:
        self._order = np.argsort(numbers)
        self._numbers = numbers[self._order]

    def of(self, X: sp.csr_array[Any]) -> sp.csr_array[Any]:
        """Return the counts of the words that are kept."""
        at = np.minimum(np.searchsorted(self._numbers, X.indices), len(self._numbers) - 1)
        kept = self._numbers[at] == X.indices
        ends = np.concatenate(([0], np.cumsum(kept)))[X.indptr]
        columns = self._order[at[kept]]
        return _csr(X.data[kept], columns, ends, len(self._numbers))


def _weighted(counts: StoredCounts, numbers: Any, weights: Floats) -> Floats:
    """Return the weighted document frequencies of words, given their numbers."""
    column = _Columns(numbers)
    df = np.zeros(len(numbers))
    start = 0
    for block in counts.blocks():
        X = column.of(block)
        stop = start + X.shape[0]
        each = np.repeat(weights[start:stop], np.diff(X.indptr))
        df += np.bincount(X.indices, weights=each, minlength=len(df))
        release(weights[start:stop])
        start = stop
    return np.round(df, 6)


def _csr(data: Any, columns: Any, ends: Any, d: int | None = None) -> sp.csr_array[Any]:
    """Return rows in canonical order of columns."""
    d = np.iinfo(np.int32).max if d is None else d
    X = sp.csr_array(
        (data, columns.astype(np.int32), ends.astype(np.int32)), shape=(len(ends) - 1, d)
    )
    X.has_canonical_format = False
    X.sort_indices()
    X.has_canonical_format = True
    return X
