"""Nodes of a tree of samples: plain objects that any tree estimator fills and holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["TreeNode"]


@dataclass(eq=False, repr=False)
class TreeNode:
    """One node of a tree: a group of samples with its center.

    Attributes
    ----------
    center : ndarray of shape (n_features,)
        Mean profile of the node; for topic trees its word distribution, which sums to 1.
    weight : float
        Share of the total sample weight that the node holds, in [0, 1]; the root has 1.
    gain : float
        Log-likelihood (nats) that the split of this node gains over the node as one group;
        0.0 for a leaf.
    depth : int
        Number of edges to the root.
    name : str
        A short name made of the node's most relevant features.
    node_id : int
        Position in pre-order (root 0, then the first child and all below it, ...).
    leaf_id : int or None
        Position among the leaves from left to right; None for an inner node.
    reason : str
        Why a leaf was not split ("" for inner nodes).
    parent : TreeNode or None
        None for the root.
    children : list of TreeNode
        Empty for a leaf, else two nodes, the larger first.
    """

    center: NDArray[np.float64]
    weight: float
    gain: float = 0.0
    depth: int = 0
    name: str = ""
    node_id: int = 0
    leaf_id: int | None = None
    reason: str = ""
    parent: TreeNode | None = None
    children: list[TreeNode] = field(default_factory=list)
    _samples: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no children."""
        return not self.children

    @property
    def samples(self) -> NDArray[np.intp]:
        """Row numbers of the node's training samples, ascending; shape (n_samples,)."""
        if self.is_leaf:
            return self._samples
        return np.sort(np.concatenate([leaf._samples for leaf in self.leaves()]))

    @property
    def n_samples(self) -> int:
        """Number of training samples in the node."""
        return sum(len(leaf._samples) for leaf in self.leaves())

    def nodes(self) -> Iterator[TreeNode]:
        """Iterate over this node and all below it in pre-order (by ``node_id``)."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def leaves(self) -> Iterator[TreeNode]:
        """Iterate over the leaves below (or at) this node from left to right."""
        return (node for node in self.nodes() if node.is_leaf)

    def __repr__(self) -> str:
        kind = f"leaf {self.leaf_id}" if self.is_leaf else f"{len(self.children)} children"
        return f"TreeNode({self.name!r}, n_samples={self.n_samples}, {kind})"
