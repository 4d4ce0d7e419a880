"""Score documents by the evidence of their words; rank them and place them on a map by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.estimators.node import TreeNode
from momentree.preprocessing import tfidf

# Weight of the corpus in the mixture that replaces a node's word probabilities, so that a word
# absent from the node contributes log(1%) to a document's score instead of minus infinity.
_BACKGROUND = 0.01

# Candidates are the first hundred, among the first thousand, that do not repeat an earlier one.
# Reports on one event have a cosine of 0.5 and more in news (BBC, Reuters), two documents of a
# topic one of 0.1. Where all documents of a topic are alike, such as forms, only near-copies count
# as repetitions.
_MAX_CANDIDATES = 100
_MAX_RANKED = 1000
_REPETITIONS = (0.5, 0.8)
# Documents that the candidates are compared with: every k-th in the order of their scores.
_MAX_COVERED = 1000

MAP_SIZE = 1000
"""Width and height of the map; coordinates are integers."""

# On BBC, Reuters and 20 Newsgroups, larger values separate leaves slightly better, but move most
# documents to the rim, where they overlap.
_TYPICAL_ODDS = 2.0
_MIN_LEAVES = 3
_BLOCK = 8192


@dataclass(frozen=True)
class Evidence:
    """Documents as log-scaled counts.

    Attributes
    ----------
    scaled : csr_array of shape (n, d)
        y = log(1 + x).
    mass : ndarray of shape (n,)
        The sum of y over the words of a document.
    base : ndarray of shape (d,)
        p(w) in the whole corpus.
    """

    scaled: sp.csr_array
    mass: Floats
    base: Floats

    @classmethod
    def of(cls, X: sp.csr_array, base: Floats) -> Evidence:
        """Scale counts."""
        scaled = X.astype(np.float64, copy=True)
        np.log1p(scaled.data, out=scaled.data)
        mass = np.asarray(scaled.sum(axis=1), dtype=np.float64).ravel()
        return cls(scaled, mass, base)

    def scores(self, center: Floats) -> Floats:
        r"""Return the evidence per word of each document for a node.

        With ℓ(w) = log(0.99·p(w|node)/p(w) + 0.01), the score is Σ_w y_w ℓ(w) / (Σ_w y_w + m). Log
        scaling keeps repeated words from dominating, and m, the median of Σ_w y_w, shrinks the
        scores of very short documents.
        """
        filled = self.mass > 0
        shrink = float(np.median(self.mass[filled])) if filled.any() else 1.0
        scores = (self.scaled @ log_lift(center, self.base)) / (self.mass + shrink)
        return np.asarray(scores, dtype=np.float64)


def log_lift(center: Floats, base: Floats) -> Floats:
    """Return ℓ(w) of `Evidence.scores` for every word."""
    lift = np.divide(center, base, out=np.ones_like(center), where=base > 0)
    return np.asarray(np.log((1.0 - _BACKGROUND) * lift + _BACKGROUND), dtype=np.float64)


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


def _in_turn(lists: Sequence[Ints], limit: int) -> Ints:
    turns = [row for turn in zip_longest(*lists) for row in turn if row is not None]
    return np.array(turns[:limit], dtype=np.intp)


def place_documents(evidence: Evidence, root: TreeNode) -> tuple[Ints, list[list[int]]] | None:
    r"""Place documents between the leaves, which have places on a circle.

    Each leaf j has a place a_j on the circle, in the order of the tree, so that siblings are
    neighbors. With the score s_ij of document i for leaf j (see `Evidence.scores`), its place is

        Σ_j q_ij a_j,   q_ij ∝ exp(2 s_ij / g),

    with g the median, over the documents, of the difference of the two highest scores. A document
    close to the rim is typical of one leaf; one between two leaves uses the words of both. A
    document without words is placed at the mean of all places.

    Returns
    -------
    tuple or None
        Coordinates of the documents, shape (n, 2), from 0 to 1000, with y downward, and the place
        of each leaf by its number. None with fewer than three leaves, whose documents would lie
        on a line.

    Notes
    -----
    The coordinates of a document depend on the other documents only by g, and the same data give
    the same map in any order of rows. Time O(nnz · n_leaves).
    """
    leaves = list(root.leaves())
    if len(leaves) < _MIN_LEAVES:
        return None
    places = _on_circle(np.array([leaf.weight for leaf in leaves]))
    scores = np.stack([evidence.scores(leaf.center) for leaf in leaves], axis=1)
    highest = np.sort(scores[evidence.mass > 0], axis=1)[:, -2:]
    gap = float(np.median(highest[:, 1] - highest[:, 0])) if len(highest) else 0.0
    at = np.empty((len(scores), 2))
    for start in range(0, len(scores), _BLOCK):
        block = scores[start : start + _BLOCK]
        odds = np.exp((block - block.max(axis=1, keepdims=True)) * (_TYPICAL_ODDS / (gap or 1.0)))
        at[start : start + _BLOCK] = (odds @ places) / odds.sum(axis=1, keepdims=True)
    by_number = {leaf.leaf_id: place for leaf, place in zip(leaves, _scaled(places), strict=True)}
    return _scaled(at), [by_number[j].tolist() for j in range(len(leaves))]


def _on_circle(weights: Floats) -> Floats:
    """Return points on the unit circle, clockwise from the top.

    Arcs are half by weight and half equal, as the hues of the page.
    """
    total = weights.sum()
    shares = weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))
    arcs = (shares + 1.0 / len(weights)) / 2.0
    angles = 2.0 * np.pi * (np.cumsum(arcs) - arcs / 2.0)
    return np.stack([np.sin(angles), -np.cos(angles)], axis=1)


def _scaled(points: Floats) -> Ints:
    return np.rint((points + 1.0) * (MAP_SIZE / 2)).astype(np.intp)
