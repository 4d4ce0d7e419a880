"""A corpus, and coded records, on disk: what the stages end with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Ints
from momentree.core.pages import picked
from momentree.readers.records.objects import Records
from momentree.readers.stored.counts import StoredCounts
from momentree.readers.text.objects import Corpus
from momentree.readers.text.passages import Passages


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StoredCorpus(Corpus):
    """A corpus on disk, see :func:`store_corpus`.

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

    def take(self, rows: Ints | None) -> Corpus:
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
        parts, start = [], 0
        for X in self.counts.blocks():
            a, b = np.searchsorted(chosen, (start, start + X.shape[0]))
            parts.append(X[chosen[a:b] - start])
            start += X.shape[0]
        X = sp.csr_array(sp.vstack(parts, format="csr"))
        X.has_canonical_format = True

        def some(values: Sequence[str] | None) -> list[str] | None:
            return None if values is None else [values[i] for i in chosen.tolist()]

        cut = self.passages
        if cut is not None:
            cut = Passages(cut.document_of[chosen], cut.ids, cut.labels)
        return Corpus(
            X=X,
            vocabulary=self.vocabulary,
            ids=some(self.ids) or [],
            labels=some(self.labels),
            texts=some(self.texts),
            name=self.name,
            vectorizer=self.vectorizer,
            notes=self.notes,
            passages=cut,
            weights=None if self.weights is None else picked(self.weights, chosen),
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StoredRecords(Records):
    """Coded records on disk, see :func:`store_records`.

    Parameters
    ----------
    X, codes, names, ids, enough, coder, outcomes, outcome_names : optional
        As in :class:`Records`.
    name, form, notes, covariates : optional
        As in :class:`Records`.
    counts : StoredCounts
        The codes of all records, whose ``blocks()`` are read one after the other.
    folder : Path
        The folder of the records.
    """

    counts: StoredCounts
    folder: Path

    @property
    def fitted(self) -> sp.csr_array[Any]:
        """The rows of X with enough codes, mapped from files."""
        if self.enough.all():
            return self.X
        return StoredCounts.open(self.counts.folder / "fitted").X

    def blocks(self) -> Iterator[sp.csr_array[Any]]:
        """Yield X in order, in parts of about a million entries."""
        return self.counts.blocks()
