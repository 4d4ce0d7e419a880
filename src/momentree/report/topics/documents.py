"""Choose the documents that a page includes, within a budget, and describe them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.core import pages
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.report.estimators import Fitted
from momentree.report.text import MAX_NAME, clean_text, pack, snippet
from momentree.report.topics.chart import proportions_in_columns, sort_documents
from momentree.report.topics.evidence import (
    Evidence,
    Ranking,
    log_lift,
    place_documents,
    rank_documents,
)
from momentree.report.topics.nodes import index_labels

Documents = int | Literal["all"] | None

# Bytes of a page, which opens quickly, and the least of them that documents may take.
_PAGE = 3_800_000
_MIN_ROOM = 1_000_000
# Characters of each document: the most with which all fit. With the fewest, some are left out.
_SNIPPETS = (320, 200, 120)
_TYPICAL_SNIPPET = 900
_MAX_TYPICAL_CHARACTERS = 400_000
_MAX_WORDS = 24
# Documents from which the packed size of all is estimated.
_TRIED = 2000


@dataclass(frozen=True)
class Corpus:
    """What is known of the documents of a fit, one entry for each."""

    counts: sp.csr_array | None
    proportions: Floats | None
    ids: Sequence[str] | None
    texts: Sequence[str] | None
    labels: Sequence[str] | None
    order: Collection[Any] | None
    rows: Ints | None = None  # of the fit, if these are some of its documents

    def check(self, n: int) -> None:
        """Raise ``InvalidDataError`` unless there is one entry for each of n documents."""
        for name in ("ids", "texts", "labels"):
            values = getattr(self, name)
            if values is not None and len(values) != n:
                raise InvalidDataError(
                    wording.NOT_ONE_EACH, parameter=name, found=len(values), needed=n, of="document"
                )
        sort_documents(self.order, n)

    def only(self, rows: Ints) -> Corpus:
        """Return some of the documents, whose ids are by default the numbers of their rows."""
        at, order = rows.tolist(), self.order
        if order is not None:
            name = getattr(order, "name", None)
            order = pd.Series(list(order), dtype=object, name=name).iloc[rows]
        return Corpus(
            None if self.counts is None else self.counts[rows],
            None if self.proportions is None else self.proportions[rows],
            [str(i) if self.ids is None else self.ids[i] for i in at],
            None if self.texts is None else [self.texts[i] for i in at],
            None if self.labels is None else [self.labels[i] for i in at],
            order,
            rows,
        )

    @cached_property
    def label_index(self) -> tuple[list[str] | None, Ints | None]:
        """The labels by descending count, and the position of each document's label, or -1."""
        return index_labels(self.labels)

    def areas(self, hard: Floats) -> dict[str, Any] | None:
        """Return the chart of proportions; those of a tree are `hard`, and need an order."""
        if self.proportions is None and self.order is None:
            return None
        proportions = hard if self.proportions is None else self.proportions
        ordered = sort_documents(self.order, len(hard))
        areas = proportions_in_columns(proportions, ordered, self.ids, self.label_index[1])
        if self.rows is not None and areas["rows"] is not None:
            areas["rows"] = self.rows[areas["rows"]].tolist()
        return areas


def index_documents(
    model: Fitted, corpus: Corpus, n_documents: int, documents: Documents, taken: int = 0
) -> dict[str, Any]:
    """Choose the documents that a page includes, and describe each.

    `taken` is the number of bytes of everything else in the page.

    Returns the part of a summary on documents: leaf by leaf, and within a leaf at most
    `n_documents` typical ones first, then by score. `typical` contains, for each node, the
    positions of its typical documents (none without counts X).
    """
    leaf_of, n = model.labels, len(model.labels)
    ranking = Ranking([np.empty(0, dtype=np.intp) for _ in model.root.nodes()], {})
    places, place_of_leaf = None, None
    if corpus.counts is not None:
        evidence = Evidence.of(corpus.counts, model.root.center)
        ranking = rank_documents(corpus.counts, evidence, model.root, leaf_of, n_documents)
        places, place_of_leaf = place_documents(evidence, model.root) or (None, None)
    centers = {leaf.leaf_id: leaf.center for leaf in model.root.leaves()}
    describe = _Describer(model, corpus, places, centers)
    wanted = n if documents == "all" else documents
    required = {int(row) for rows in ranking.typical for row in rows} if wanted != 0 else set()
    length = _SNIPPETS[0]
    if wanted is None:
        wanted, length = _fitting(describe, leaf_of, max(_PAGE - taken, _MIN_ROOM))
    chosen = evenly_spread(leaf_of, min(wanted, n))
    longer = max(length, min(_TYPICAL_SNIPPET, _MAX_TYPICAL_CHARACTERS // (len(required) or 1)))
    shown = np.zeros(n, dtype=bool)
    shown[chosen] = True
    shown[list(required)] = True
    by_leaf = [ranking.leaves.get(j, np.flatnonzero(leaf_of == j)) for j in range(len(centers))]
    rows = [int(row) for ranked in by_leaf for row in ranked[shown[ranked]]]
    items = [describe(row, longer if row in required else length) for row in rows]
    place = {row: j for j, row in enumerate(rows)}
    cut = corpus.texts is not None and any(item["text"].endswith("…") for item in items)
    typical = [[place[row] for row in first.tolist() if row in place] for first in ranking.typical]
    return {
        "total": n,
        "shown": len(items),
        "sampled": len(items) < n,
        "searched": length if cut else None,
        "ranked": corpus.counts is not None,
        "map": place_of_leaf if items else None,
        "items": items,
        "typical": typical,
    }


@dataclass(frozen=True)
class _Describer:
    """Describes a document by at most so many characters."""

    model: Fitted
    corpus: Corpus
    places: Ints | None
    centers: dict[int | None, Floats]

    def __call__(self, row: int, length: int) -> dict[str, Any]:
        corpus, label_of = self.corpus, self.corpus.label_index[1]
        label = -1 if label_of is None else int(label_of[row])
        item = {
            "row": row if corpus.rows is None else int(corpus.rows[row]),
            "id": str(row) if corpus.ids is None else snippet(str(corpus.ids[row]), MAX_NAME),
            "label": None if label < 0 else label,
            "leaf": int(self.model.labels[row]),
            "text": self._text(row, length),
        }
        if corpus.proportions is not None:
            item["proportions"] = _largest(corpus.proportions[row])
        if self.places is not None:
            item["at"] = self.places[row].tolist()
        return item

    def _text(self, row: int, length: int) -> str:
        X, texts, model = self.corpus.counts, self.corpus.texts, self.model
        if texts is not None:
            return snippet(texts[row] if texts[row] is not None else "", length)
        if X is None:
            return ""
        cells = slice(X.indptr[row], X.indptr[row + 1])
        profiles = self.centers[int(model.labels[row])], model.root.center
        words = characteristic_words(X.indices[cells], X.data[cells], *profiles, model.vocabulary)
        return clean_text(words)


def _fitting(describe: _Describer, leaf_of: Ints, room: int) -> tuple[int, int]:
    """Return how many documents fit in so many bytes, and with how many characters each."""
    n = len(leaf_of)
    tried = evenly_spread(leaf_of, min(n, _TRIED))
    # Leaf by leaf as in the page, where neighbors share words.
    tried = tried[np.argsort(leaf_of[tried], kind="stable")].tolist()
    fits, length = n, _SNIPPETS[0]
    for length in _SNIPPETS:
        size = len(pack([describe(row, length) for row in tried]))
        fits = n * room // max(size * n // (len(tried) or 1), room)
        if fits == n:
            break
    return fits, length


def characteristic_words(
    columns: NDArray[Any],
    counts: NDArray[Any],
    center: Floats,
    base: Floats,
    vocabulary: NDArray[np.str_],
) -> str:
    """Return at most 24 words of a document, most characteristic of a node first.

    `columns` and `counts` are of the document, `center` contains p(w) in the node, and `base` in
    the whole corpus. Counts above 1 follow their words, as in "sea ×3".
    """
    counts = counts.astype(np.float64)  # unsigned counts cannot be negated
    evidence = counts * log_lift(center[columns], base[columns])
    order = np.lexsort((columns, -counts, -evidence))[:_MAX_WORDS]
    words, times = vocabulary[columns[order]].tolist(), counts[order].tolist()
    return ", ".join(
        word if count == 1 else f"{word} ×{count:g}"
        for word, count in zip(words, times, strict=True)
    )


def evenly_spread(labels: Ints, m: int) -> Ints:
    """Choose m rows, spread evenly over the leaves and over the corpus.

    Sort rows by leaf, then by position in the corpus, and choose every (n/m)-th row, so that each
    leaf keeps its share. Returns ascending row numbers.
    """
    n, sizes = len(labels), pages.counted(labels)
    # Where the rows of each leaf begin in this order, after those of no leaf; sorting all at once
    # would keep the labels of a large corpus in memory.
    next_place = np.concatenate(([0], n - sizes.sum() + np.cumsum([0, *sizes])))
    chosen, start = [np.empty(0, dtype=np.intp)], 0
    for block in pages.in_parts(labels, always=True):
        place = np.empty(len(block), dtype=np.int64)
        for leaf in np.unique(block).tolist():
            rows = np.flatnonzero(block == leaf)
            place[rows] = next_place[leaf + 1] + np.arange(len(rows))
            next_place[leaf + 1] += len(rows)
        rank = -(-place * m // n)
        chosen.append(start + np.flatnonzero((rank * n // max(m, 1) == place) & (rank < m)))
        start += len(block)
    return np.concatenate(chosen)


def _largest(proportions: Floats) -> list[list[float]]:
    """Return up to eight topics with proportions of at least 1%, in per mille, largest first."""
    order = np.argsort(-proportions, kind="stable")[:8]
    return [[int(j), round(1000 * float(proportions[j]))] for j in order if proportions[j] >= 0.01]
