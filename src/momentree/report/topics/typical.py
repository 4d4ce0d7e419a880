"""Rank the documents of each node: first typical ones that differ from one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.estimators.node import TreeNode
from momentree.preprocessing import tfidf
from momentree.report.topics.evidence import Evidence

# Candidates are the first hundred, among the first thousand, that do not repeat an earlier one.
# Reports on one event have a cosine of 0.5 and more in news (BBC, Reuters), two documents of a
# topic one of 0.1. Where all documents of a topic are alike, such as forms, only near-copies count
# as repetitions.
_MAX_CANDIDATES = 100
_MAX_RANKED = 1000
_REPETITIONS = (0.5, 0.8)
# Documents that the candidates are compared with: every k-th in the order of their scores.
_MAX_COVERED = 1000


@dataclass(frozen=True)
class Ranking:
    """The order in which a page shows documents.

    Attributes
    ----------
    typical : list of ndarray
        For each node in pre-order, its typical documents.
    leaves : dict of int to ndarray
        For each leaf, all its documents, typical ones first.
    """

    typical: list[Ints]
    leaves: dict[int, Ints]


def rank_documents(
    X: sp.csr_array, evidence: Evidence, root: TreeNode, labels: Ints, n_documents: int
) -> Ranking:
    """Rank the documents of each node by their score, after at most `n_documents` typical ones.

    At the root, where the evidence is 0, the typical documents of the leaves alternate, largest
    leaf first. Documents without words are never typical and come last.

    Notes
    -----
    Time: one product X·v per node, and up to a hundred thousand comparisons of two documents.
    Memory: O(nnz + n_samples).
    """
    rows_of_words = tfidf(X, np.ones(X.shape[0]))
    filled = evidence.mass > 0
    typical: list[Ints] = []
    of_leaves: dict[int, Ints] = {}
    for node in root.nodes():
        if node.parent is None and not node.is_leaf:
            typical.append(np.empty(0, dtype=np.intp))
            continue
        leaves = [leaf.leaf_id for leaf in node.leaves() if leaf.leaf_id is not None]
        rows = np.flatnonzero(np.isin(labels, leaves))
        score = evidence.scores(node.center)[rows]
        ranked = rows[np.lexsort((rows, -np.round(score, 12), ~filled[rows]))]
        first = representative(ranked[filled[ranked]], rows_of_words, n_documents)
        typical.append(first)
        if node.leaf_id is not None:
            of_leaves[node.leaf_id] = np.append(first, ranked[~np.isin(ranked, first)])
    if not root.is_leaf:
        by_size = sorted(root.leaves(), key=lambda leaf: -leaf.weight)
        typical[0] = _in_turn([typical[leaf.node_id] for leaf in by_size], n_documents)
    return Ranking(typical, of_leaves)


def representative(ranked: Ints, unit_rows: sp.csr_array, limit: int) -> Ints:
    r"""Choose documents that represent a node and differ from one another.

    Chooses, one after another, the candidate c that most increases

        Σ_i max_{c chosen} cos(i, c)

    over the documents i of the node, with tf-idf vectors. A second document on the same event
    adds little to the sum, and so does one that resembles no others.

    Parameters
    ----------
    ranked : ndarray of shape (n,)
        Row numbers of a node, highest score first; candidates are from the first half.
    unit_rows : csr_array of shape (n_samples, n_features)
        Tf-idf rows of unit length.
    limit : int
        Largest number of documents to choose; near-copies may leave fewer.

    Returns
    -------
    ndarray
        Row numbers, in the order chosen.
    """
    if not limit or not len(ranked):
        return ranked[:0]
    half = ranked[: max(limit, len(ranked) // 2)]
    candidates = half[:0]
    for cosine in _REPETITIONS:
        if len(candidates) < limit:
            candidates = _without_repetitions(half[:_MAX_RANKED], unit_rows, cosine)
    covered = unit_rows[ranked[:: -(-len(ranked) // _MAX_COVERED)]]
    similarity = _cosines(covered, unit_rows[candidates])
    best = np.zeros(similarity.shape[0])
    chosen: list[int] = []
    for _ in range(min(limit, len(candidates))):
        gain = np.maximum(similarity - best[:, None], 0.0).sum(axis=0).round(9)
        gain[chosen] = -1.0
        chosen.append(int(gain.argmax()))
        best = np.maximum(best, similarity[:, chosen[-1]])
    return candidates[chosen]


def _without_repetitions(ranked: Ints, unit_rows: sp.csr_array, cosine: float) -> Ints:
    """Return the first candidates that have no greater cosine with an earlier one."""
    kept = ranked[:0]
    for start in range(0, len(ranked), _MAX_CANDIDATES):
        block = ranked[start : start + _MAX_CANDIDATES]
        known = _cosines(unit_rows[block], unit_rows[kept]).max(axis=1, initial=0.0)
        block = block[known <= cosine]
        among = _cosines(unit_rows[block], unit_rows[block])
        new: list[int] = []
        for i in range(len(block)):
            if among[i, new].max(initial=0.0) <= cosine:
                new.append(i)
        kept = np.append(kept, block[new])
        if len(kept) >= _MAX_CANDIDATES:
            break
    return kept[:_MAX_CANDIDATES]


def _cosines(some: sp.csr_array, others: sp.csr_array) -> Floats:
    return np.asarray((some @ others.T).toarray(), dtype=np.float64)


def _in_turn(lists: Sequence[Iterable[int]], limit: int) -> Ints:
    turns = [iter(rows) for rows in lists]
    taken: list[int] = []
    while turns and len(taken) < limit:
        for turn in list(turns):
            row = next(turn, None)
            if row is None:
                turns.remove(turn)
            else:
                taken.append(int(row))
    return np.array(taken[:limit], dtype=np.intp)
