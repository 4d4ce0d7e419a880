"""Place documents on a map, by the model alone."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats, Ints
from momentree.estimators.node import TreeNode
from momentree.report.topics.evidence import Evidence

MAP_SIZE = 1000
"""Width and height of the map; coordinates are integers."""

# On BBC, Reuters and 20 Newsgroups, larger values separate leaves slightly better, but move most
# documents to the rim, where they overlap.
_TYPICAL_ODDS = 2.0
_FEWEST_LEAVES = 3
_BLOCK = 8192


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
    if len(leaves) < _FEWEST_LEAVES:
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
