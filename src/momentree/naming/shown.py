"""Choose the words that are shown for topics: they find its documents, and occur together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.backends import Block, Rows, RowSampler, as_rows, single_threaded_blas, taken
from momentree.core import pages, ties
from momentree.metrics.words import DECIMALS, npmi

N_SHOWN = 20
"""Words that are chosen for each topic; pages and files show at most so many by default."""
_CANDIDATES = 50
"""Words of each topic from which they are chosen."""
_EMPHASIS = 0.25
"""The power of the mean of log2(1 + count): 1 lets a few words of program code or tables lead."""
_COUNTED, _SAMPLED, _LEAST = 1 << 16, 1 << 14, 1 << 10
"""Documents in which words are counted, and pairs of words, and the least number in each leaf."""
_PAIRED, _MIN_LONG = 1 << 21, 1 << 8
"""Stored counts from which pairs are counted, about, and the least number of long documents in each
leaf: a long document has many pairs."""
_COPIED = 8
"""Drawn documents are copied if they are fewer than one in so many of all."""
_HANDFUL = 5
"""A word in fewer documents of a topic, or fewer than half of them, comes after all others."""


def choose_shown_words(
    X: Any,
    labels: Ints,
    groups: Sequence[Sequence[int]],
    vocabulary: Sequence[str] | NDArray[Any],
    weight: Floats,
) -> list[Ints]:
    """Choose the words that are shown for groups of documents.

    The score of a word is how well its presence finds the documents of a group, the harmonic mean
    of precision and recall,

        F(w) = 2 n(w, group) / (n(w) + n(group)),

    with n the number of documents that contain the word, are in the group, or both, times

        r(w) = (mean of log2(1 + count) over the documents of the group that contain it)^(1/4),

    because documents repeat what they are about, but not the phrases that they all contain. The
    first word is the one with the largest F r. Each further one, among the 50 with the largest,
    has the largest product

        F(w) r(w) (1 + mean of NPMI(w, v) over the words v chosen before),

    so that the words of a group are found in the same documents. Of a phrase and the words in it,
    only the first is chosen as long as there are others.

    Parameters
    ----------
    X : {array-like, sparse array, Rows} of shape (n_samples, n_features)
        Counts >= 0; Rows store no zeros.
    labels : ndarray of int of shape (n_samples,)
        Leaf or topic of each document; -1 for documents in none, which are not counted.
    groups : sequence of sequence of int
        The leaves of each group.
    vocabulary : sequence of str of shape (n_features,)
        The words, which break ties.
    weight : ndarray of shape (n_samples,)
        Weights of the documents.

    Returns
    -------
    list of ndarray of int
        Columns of up to 20 words for each group, best first: none for a group without documents.

    Notes
    -----
    Words that are frequent only because a few documents repeat them, or that occur together in
    hardly any document, make lists that nobody can read. ``docs/choices.md`` has measurements.
    Words are counted in a systematic sample of 65,536 documents if there are more, the same number
    in each leaf, but at least 1,024, and pairs of words in one of 16,384, or of fewer documents, at
    least 256 in each leaf, if these have two million stored counts. Time: at most two passes over
    X.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.naming import choose_shown_words
    >>> X = np.array([[1, 2, 0], [3, 1, 0], [0, 1, 9], [0, 0, 1]])
    >>> words = ["boat", "sea", "hill"]
    >>> found = choose_shown_words(X, np.array([0, 0, 1, 1]), [[0], [1]], words, np.ones(4))
    >>> [[words[j] for j in order] for order in found]
    [['boat', 'sea'], ['hill', 'sea']]
    """
    rows = X if isinstance(X, Rows) else as_rows(_without_zeros(X))
    if min(int(part.min()) for part in pages.in_parts(labels)) < 0:
        weight = pages.each_part(lambda v, leaf: np.where(leaf < 0, 0.0, v), weight, labels)
        labels = pages.each_part(lambda leaf: np.maximum(leaf, 0), labels)
    n_drawn = max(int(part.max()) for part in pages.in_parts(labels)) + 1
    n_leaves = max(n_drawn, *(leaf + 1 for leaves in groups for leaf in leaves))
    rows, labels, weight = _drawn(rows, labels, weight, max(_LEAST, _COUNTED // n_drawn))
    # Weights of copies are thirds and the like, whose sums depend on the order of the documents.
    occurs, logs = rows.mapped(np.sign), rows.mapped(_log2_of_one_more)
    in_leaves, sizes = occurs.group_sums(labels, n_leaves, weight)
    in_leaves, sizes = np.round(in_leaves, DECIMALS), np.round(sizes, DECIMALS)
    repeated = np.round(logs.group_sums(labels, n_leaves, weight)[0], DECIMALS)
    everywhere = in_leaves.sum(axis=1)
    names = np.array([str(word) for word in vocabulary], dtype=object)
    ranked = []
    for leaves in groups:
        inside, size = in_leaves[:, list(leaves)].sum(axis=1), float(sizes[list(leaves)].sum())
        often = repeated[:, list(leaves)].sum(axis=1)
        ranked.append(_candidates(inside, everywhere, often, size, names))
    long = _PAIRED * rows.shape[0] // max(rows.nnz * n_drawn, 1)
    n_paired = min(max(_LEAST, _SAMPLED // n_drawn), max(_MIN_LONG, long))
    at, v = RowSampler(rows, weight).draw_from_groups(labels, n_paired)
    together = _together(rows, at, v, [order for order, _ in ranked])
    total = float(sizes.sum())
    chosen = []
    for (order, score), counted in zip(ranked, together, strict=True):
        overlap = _overlaps([names[j] for j in order])
        share = np.round(counted, DECIMALS) / total
        chosen.append(order[_coherent(score, npmi(share), overlap)])
    return chosen


def _without_zeros(X: Any) -> Any:
    X = sp.csr_array(X)
    if not all(part.all() for part in pages.in_parts(X.data)):
        X = X.copy()
        X.eliminate_zeros()
    return X


def _log2_of_one_more(counts: Floats) -> Floats:
    return np.log2(1.0 + counts)


def _drawn(rows: Rows, labels: Ints, weight: Floats, size: int) -> tuple[Rows, Ints, Floats]:
    """Return so many documents of each leaf, their leaves and weights."""
    at, v = RowSampler(rows, weight).draw_from_groups(labels, size)
    if len(at) == rows.shape[0]:
        return rows, labels, weight
    return taken(rows, at), pages.picked(labels, at), v


def _together(rows: Rows, at: Ints, v: Floats, candidates: Sequence[Ints]) -> list[Floats]:
    """Return the total weight of the documents with both words of each pair, for each group.

    The pairs are those of the candidates of the group, and the documents those at `at`, of weight
    `v`. If these are many, they are not copied: the others are skipped.
    """
    if len(at) * _COPIED < rows.shape[0]:
        rows = taken(rows, at)
    else:
        drawn, v = v, np.zeros(rows.shape[0])
        v[at] = drawn
    kept = np.unique(np.concatenate(candidates))
    place = np.full(rows.shape[1], len(kept))
    place[kept] = np.arange(len(kept))
    kernel = _Pairs(place, [np.searchsorted(kept, order) for order in candidates])
    with single_threaded_blas():
        found = rows.sum(kernel, v)
    ends = np.cumsum([len(order) ** 2 for order in candidates])[:-1]
    return [
        part.reshape(len(order), len(order))
        for order, part in zip(candidates, np.split(found, ends), strict=True)
    ]


@dataclass(frozen=True)
class _Pairs:
    """Kernel: the weight of the documents with both words of each pair, for several lists."""

    place: Ints  # of each column among the words of all lists; the others share the last place
    lists: Sequence[Ints]

    def __call__(self, B: Block, weight: Floats) -> Floats:
        columns, ends = B.pattern
        if not weight.all():
            used = np.flatnonzero(weight)
            (columns, ends), weight = B.take(used).pattern, weight[used]
        n, same = len(weight), bool((weight == weight[:1]).all())
        factor = float(weight[0]) if same and n else 1.0
        at = self.place.take(columns, mode="clip")
        at *= n
        at += np.repeat(np.arange(n), np.diff(ends))
        shape = int(self.place.max(initial=0)) + 1, n
        occurs = np.zeros(shape, dtype=np.float32 if same else np.float64)
        occurs.reshape(-1)[at] = 1.0
        if not same:
            occurs *= np.sqrt(weight)
        parts = []
        for words in self.lists:
            C = occurs[words]
            parts.append((C @ C.T).astype(np.float64).ravel() * factor)
        return np.concatenate(parts)


def _candidates(
    inside: Floats, everywhere: Floats, often: Floats, size: float, names: NDArray[Any]
) -> tuple[Ints, Floats]:
    """Return the columns with the largest F r, best first, and this score."""
    present = np.flatnonzero(inside > 0)
    found = 2 * inside[present] / (everywhere[present] + size)
    score = np.round(found * (often[present] / inside[present]) ** _EMPHASIS, DECIMALS)
    rare = inside[present] < min(_HANDFUL, size / 2)
    if len(present) > _CANDIDATES:  # strings are slow to sort
        rank = np.lexsort((-score, rare))
        last = rank[_CANDIDATES - 1]
        kept = np.flatnonzero((rare < rare[last]) | ((rare == rare[last]) & (score >= score[last])))
    else:
        kept = np.arange(len(present))
    by_name = names[present[kept]].astype(str)
    best = kept[np.lexsort((by_name, -score[kept], rare[kept]))][:_CANDIDATES]
    score[rare] *= 1e-6  # behind the others, whatever they occur with
    return present[best], score[best]


def _overlaps(words: Sequence[str]) -> NDArray[np.bool_]:
    """Return which words are parts of which phrases, or phrases of which words."""
    overlap = np.zeros((len(words), len(words)), dtype=bool)
    parts = [set(word.split()) for word in words]
    for i, phrase in enumerate(parts):
        if len(phrase) > 1:
            for j, other in enumerate(parts):
                overlap[i, j] = overlap[j, i] = overlap[i, j] or other <= phrase
    return overlap


def _coherent(score: Floats, together: Floats, overlap: NDArray[np.bool_]) -> Ints:
    """Return positions of words: the first, then those that go best with the words before.

    A word is left out if it is part of a phrase before it, and a phrase if one of its words is
    before it, unless there are too few others.
    """
    n = min(len(score), N_SHOWN)
    chosen: list[int] = []
    left, repeated = np.ones(len(score), dtype=bool), np.zeros(len(score), dtype=bool)
    sums = np.zeros(len(score))
    for _ in range(n):
        mean = sums / max(len(chosen), 1)
        value = score * (1.0 + mean) - 10.0 * repeated
        best = int(ties.largest(np.where(left, value, -np.inf)))
        chosen.append(best)
        left[best] = False
        repeated |= overlap[best]
        sums += together[best]
    return np.array(chosen, dtype=np.intp)
