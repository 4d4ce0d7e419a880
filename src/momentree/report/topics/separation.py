"""Measure how well splits separate documents, and put this and coherence in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.estimators.node import TreeNode

_CLEAR, _STRONG = 0.4, 0.75
"""The usual limits for Cohen's kappa (Fleiss, Levin and Paik, Statistical Methods for Rates and
Proportions, 2003, section 18.1). Optimized splits of noise have at most 0.34, and splits of news,
abstracts and speeches 0.49 to 1."""
_SOMETIMES, _OFTEN = 0.05, 0.15
"""Limits for NPMI. Ten random words have -0.5 to 0.1; two words that each occur in 10% of the
documents occur together twice as often as by chance at 0.18."""
_SMOOTHING = 0.5


def separations(root: TreeNode, X: sp.csr_array, leaf_of: Ints) -> list[dict[str, Any] | None]:
    """Measure how well each split separates its documents, by halves of their words.

    The words are divided into two halves, and each half alone places each document on one side of
    the split: the side on which its words are more probable, with the document left out of its own
    side. If documents have no topics, the halves agree only by chance, even if the split was
    optimized for these documents.

    Parameters
    ----------
    root : TreeNode
        Root of the tree.
    X : sparse array of shape (n_samples, n_features)
        Counts of words, >= 0.
    leaf_of : ndarray of shape (n_samples,)
        Leaf of each document.

    Returns
    -------
    list of dict or None
        For each node in pre-order, ``same_side`` (share of the documents that both halves place on
        the same side), ``agreement`` (Cohen's kappa: 0 = chance, 1 = all) and ``words``: "weak"
        below 0.4, "strong" from 0.75, "clear" between. None for leaves, and for nodes in which
        fewer than two sides have documents.

    Notes
    -----
    Counts are log-scaled, and the words of a side are multinomial with half an occurrence added to
    each. The halves alternate from the most frequent word to the rarest. Time and memory: a few
    passes over X per level of the tree.
    """
    Y = X.astype(np.float64)
    Y.data = np.log1p(Y.data)
    n_leaves = sum(1 for _ in root.leaves())
    found: list[dict[str, Any] | None] = []
    for node in root.nodes():
        if node.is_leaf:
            found.append(None)
            continue
        side_of_leaf = np.full(n_leaves, -1)
        for side, child in enumerate(node.children):
            side_of_leaf[[leaf.leaf_id or 0 for leaf in child.leaves()]] = side
        side_of = side_of_leaf[leaf_of]
        rows = np.flatnonzero(side_of >= 0)
        found.append(_separation(Y[rows], side_of[rows], len(node.children)))
    return found


def _separation(Y: sp.csr_array, side_of: Ints, n_sides: int) -> dict[str, Any] | None:
    n = len(side_of)
    if np.count_nonzero(np.bincount(side_of, minlength=n_sides)) < 2:
        return None
    members = sp.csr_array((np.ones(n), (side_of, np.arange(n))), shape=(n_sides, n))
    sums: Floats = (members @ Y).toarray()
    total = np.round(sums.sum(axis=0), 6)
    order = np.argsort(-total, kind="stable")[: np.count_nonzero(total)]
    first, second = (
        _places(Y[:, half], sums[:, half], side_of) for half in (order[::2], order[1::2])
    )
    same = float(np.mean(first == second))
    shares = [np.bincount(placed, minlength=n_sides) / n for placed in (first, second)]
    chance = float(shares[0] @ shares[1])
    agreement = (same - chance) / (1.0 - chance) if chance < 1.0 else 0.0
    words = "weak" if agreement < _CLEAR else "clear" if agreement < _STRONG else "strong"
    return {"same_side": round(same, 6), "agreement": round(agreement, 6), "words": words}


def _places(Y: sp.csr_array, sums: Floats, side_of: Ints) -> Ints:
    """Return the most probable side of each document by some of its words, without itself."""
    n, d = Y.shape
    lengths = np.asarray(Y.sum(axis=1)).ravel()
    totals = sums.sum(axis=1) + _SMOOTHING * max(d, 1)
    scores = Y @ np.log(sums + _SMOOTHING).T - lengths[:, None] * np.log(totals)
    row = np.repeat(np.arange(n), np.diff(Y.indptr))
    # Rounding errors must not make the remaining sum negative.
    others = np.maximum(sums[side_of[row], Y.indices] - Y.data, 0.0) + _SMOOTHING
    own = np.bincount(row, Y.data * np.log(others), minlength=n)
    own = own - lengths * np.log(np.maximum(totals[side_of] - lengths, _SMOOTHING))
    scores[np.arange(n), side_of] = own
    return np.asarray(np.round(scores, 6).argmax(axis=1))


def coherence_words(npmi: float) -> str:
    """Return how often words occur together: "seldom", "sometimes" (0.05) or "often" (0.15)."""
    return "seldom" if npmi < _SOMETIMES else "sometimes" if npmi < _OFTEN else "often"
