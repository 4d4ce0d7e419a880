"""A flat model as a tree of one level, so that whatever names or shows a node does so for both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momentree._types import Floats, Ints
from momentree.core.ties import largest_first
from momentree.tree.node import TreeNode, by_leaf


def one_level(
    profiles: Floats,
    weights: Floats,
    labels: Ints,
    shares: Floats,
    words: Sequence[Ints] | None = None,
) -> TreeNode:
    """Return a tree whose leaves are components, by descending share, without names.

    Parameters
    ----------
    profiles : ndarray of shape (k, n_features)
        Profile of each component.
    weights : ndarray of shape (k,)
        Weights of the components in the profile of the root.
    labels : ndarray of int of shape (n_samples,)
        Component of each sample.
    shares : ndarray of shape (k,)
        Weights of the leaves; one that differs from another only by rounding errors comes after it
        if its number is larger.
    words : sequence of ndarray of int, default=None
        Columns of the words that are shown for each component; None means none.

    Returns
    -------
    TreeNode
        The root; itself a leaf if there is only one component.
    """
    root = TreeNode(weights @ profiles, 1.0)
    words = [np.empty(0, dtype=np.intp)] * len(shares) if words is None else words
    samples = by_leaf(labels, len(shares))
    if len(shares) == 1:
        root.leaf_id, root._samples, root.words = 0, samples[0], words[0]
        return root
    root.children = [
        TreeNode(
            profiles[j],
            float(shares[j]),
            depth=1,
            node_id=at,
            leaf_id=int(j),
            words=words[j],
            parent=root,
            _samples=samples[j],
        )
        for at, j in enumerate(largest_first(shares), start=1)
    ]
    return root
