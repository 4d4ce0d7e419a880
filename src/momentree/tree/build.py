"""Build the nodes of a finished tree from its branches and the leaf of each sample."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np

from momentree._types import Floats, Ints
from momentree.tree.growth import Branch
from momentree.tree.node import TreeNode, by_leaf


def build_nodes(
    root: Branch,
    labels: Ints,
    sizes: Floats,
    *,
    center: Callable[[list[int]], Floats],
    gain: Callable[[list[list[int]]], float],
) -> TreeNode:
    """Build the nodes of the tree, without names, given the total sample weight of each leaf.

    `center` returns the mean profile of a list of leaves. `gain` returns the increase in
    log-likelihood by a split, given the leaves below each child.
    """
    total = float(sizes.sum())
    samples = by_leaf(labels, len(sizes))
    node_ids, leaf_ids = count(), count()

    def make(branch: Branch, parent: TreeNode | None) -> tuple[TreeNode, list[int]]:
        node = TreeNode(
            center=np.empty(0),
            weight=0.0,
            depth=branch.depth,
            node_id=next(node_ids),
            reason=None if branch.children else branch.reason,
            parent=parent,
        )
        if branch.children:
            made = [make(child, node) for child in branch.children]
            node.children = [child for child, _ in made]
            node.weight = sum(child.weight for child in node.children)
            node.gain = gain([leaves for _, leaves in made])
            below = [i for _, leaves in made for i in leaves]
        else:
            node.leaf_id = next(leaf_ids)
            node._samples = samples[node.leaf_id]
            node.weight = float(sizes[node.leaf_id]) / total
            below = [node.leaf_id]
        node.center = center(below)
        return node, below

    return make(root, None)[0]


def branch_of(node: TreeNode) -> Branch:
    """Return the branches of a finished tree."""
    children = [branch_of(child) for child in node.children]
    return Branch(node.depth, None, node.gain, node.reason, children)
