"""Nodes of a tree of samples: plain objects that hold the result of any tree estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from momentree._types import Floats, Ints
from momentree._validation import are_labels, check_lengths, check_shape
from momentree.core import pages, ties
from momentree.exceptions import InvalidDataError
from momentree.messages import Message, wording
from momentree.persistence import storable


@dataclass(frozen=True, eq=False)
class RowsOf:
    """The row numbers of a leaf, which are found in the labels of all rows when they are needed."""

    labels: Ints
    leaf: int
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Ints:
        del copy  # always a new array
        found, first, start = np.empty(self.n_rows, dtype=dtype or np.intp), 0, 0
        for part in pages.in_parts(self.labels):
            here = np.flatnonzero(part == self.leaf)
            found[first : first + len(here)] = here + start
            first, start = first + len(here), start + len(part)
        return found


@dataclass(eq=False, repr=False)
class TreeNode:
    """One node of a tree: a group of samples with its center.

    Attributes
    ----------
    center : ndarray of shape (n_features,)
        Mean profile of the node; for topic trees its word distribution, which sums to 1.
    weight : float
        Share of the node, in [0, 1]; 1 for the root: the fraction of the total sample weight or,
        after a fit to texts without sample weights, of the documents in a leaf. Copies of a text,
        which weigh less in such a fit, count in full.
    gain : float
        Increase in log-likelihood (nats) from splitting this node; 0.0 for a leaf.
    depth : int
        Number of edges to the root.
    name : str
        Short name composed of the most relevant features.
    node_id : int
        Position in pre-order (root 0, then the first child and all nodes below it, ...).
    leaf_id : int or None
        Position among the leaves from left to right; None for an inner node.
    reason : Message or None
        Why a leaf was not split; ``str(reason)`` gives a sentence. None for an inner node.
    words : ndarray of int
        Columns of the words that are shown for a topic, best first, at most 20; empty for other
        trees. See :func:`momentree.naming.choose_shown_words`.
    parent : TreeNode or None
        Parent node; None for the root.
    children : list of TreeNode
        Child nodes, largest first: none for a leaf, otherwise two or more.
    """

    center: Floats
    weight: float
    gain: float = 0.0
    depth: int = 0
    name: str = ""
    node_id: int = 0
    leaf_id: int | None = None
    reason: Message | None = None
    words: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    parent: TreeNode | None = None
    children: list[TreeNode] = field(default_factory=list)
    _samples: Ints | RowsOf = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    _n_elsewhere: int = 0  # samples of a leaf that stay where they are

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no children."""
        return not self.children

    @property
    def samples(self) -> Ints:
        """Row numbers of the node's training samples, ascending; shape (n_samples,).

        None for samples at several sites, which stay there.
        """
        if self.is_leaf:
            return np.asarray(self._samples)
        return np.sort(np.concatenate([leaf.samples for leaf in self.leaves()]))

    @property
    def n_samples(self) -> int:
        """Number of training samples in the node."""
        return sum(len(leaf._samples) + leaf._n_elsewhere for leaf in self.leaves())

    def nodes(self) -> Iterator[TreeNode]:
        """Iterate over this node and all nodes below it in pre-order (by ``node_id``)."""
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


@storable
@dataclass(frozen=True)
class StoredTree:
    """A tree as stored in a file: nodes in pre-order, one array per attribute."""

    centers: Floats
    weights: Floats
    gains: Floats
    names: tuple[str, ...]
    reasons: tuple[Message | None, ...]
    parents: Ints  # -1 for the root
    words: Ints  # (n_nodes, most words of a node), filled with -1

    def __post_init__(self) -> None:
        n = len(self.parents)
        check_shape("centers", self.centers, (n, "n_features"))
        for name in ("weights", "gains", "parents"):
            check_shape(name, getattr(self, name), (n,))
        check_lengths(n, "node", names=self.names, reasons=self.reasons)
        check_columns(self.words, n, self.centers.shape[1])

    @classmethod
    def of(cls, root: TreeNode) -> StoredTree:
        """Return the stored form of a tree."""
        nodes = list(root.nodes())
        return cls(
            np.stack([node.center for node in nodes]),
            np.array([node.weight for node in nodes], dtype=np.float64),
            np.array([node.gain for node in nodes], dtype=np.float64),
            tuple(node.name for node in nodes),
            tuple(node.reason for node in nodes),
            np.array([-1 if node.parent is None else node.parent.node_id for node in nodes]),
            pack([node.words for node in nodes]),
        )

    def root(self, labels: Ints) -> TreeNode:
        """Rebuild the tree, given the leaf of each sample; return its root."""
        nodes: list[TreeNode] = []
        for i, parent_id in enumerate(self.parents.tolist()):
            parent = nodes[parent_id] if i else None
            node = TreeNode(
                center=self.centers[i],
                weight=float(self.weights[i]),
                gain=float(self.gains[i]),
                depth=0 if parent is None else parent.depth + 1,
                name=self.names[i],
                node_id=i,
                reason=self.reasons[i],
                words=unpack(self.words[i]),
                parent=parent,
            )
            if parent is not None:
                parent.children.append(node)
            nodes.append(node)
        in_order = list(nodes[0].nodes()) == nodes and not (self.parents[1:] < 0).any()
        if not in_order or self.parents[0] != -1 or any(len(n.children) == 1 for n in nodes):
            raise InvalidDataError("the nodes are not a tree in pre-order")
        leaves = list(nodes[0].leaves())
        if not are_labels(labels, len(leaves)):
            raise InvalidDataError(wording.LABELS_BEYOND_GROUPS, last=len(leaves) - 1)
        for i, (leaf, samples) in enumerate(zip(leaves, by_leaf(labels, len(leaves)), strict=True)):
            leaf.leaf_id, leaf._samples = i, samples
        return nodes[0]


def why_no_more(fitted: Any) -> Message | None:
    """Return why a tree stopped growing: the reason of the largest leaf that has one."""
    leaves = sorted(getattr(fitted, "leaves_", ()), key=lambda leaf: -leaf.weight)
    # The tree may have reached the number of leaves before EM emptied one of them.
    reasons = (leaf.reason for leaf in leaves if leaf.reason)
    return next((r for r in reasons if r.code != "max_leaf_nodes_reached"), None)


def pack(lists: Sequence[Ints]) -> Ints:
    """Return lists of columns as the rows of an array, filled with -1."""
    packed = np.full((len(lists), max(map(len, lists), default=0)), -1, dtype=np.intp)
    for row, columns in zip(packed, lists, strict=True):
        row[: len(columns)] = columns
    return packed


def unpack(row: Ints) -> Ints:
    """Return the list of columns in a row of :func:`pack`."""
    return row[row >= 0]


def check_columns(packed: Any, n_lists: int, n_columns: int) -> None:
    """Raise an error unless an array from a file is a result of :func:`pack`."""
    check_shape("words", packed, (n_lists, "n_words"))
    whole = packed.dtype.kind == "i"
    if not whole or ((packed < -1) | (packed >= n_columns)).any():
        raise InvalidDataError(
            "the words shown are not among the {n_columns:~column}", n_columns=n_columns
        )


def by_leaf(labels: Ints, n_leaves: int) -> list[RowsOf]:
    """Return the samples of each leaf in ascending order, given the leaf of each sample."""
    sizes = pages.counted(labels, n_leaves).tolist()
    return [RowsOf(labels, leaf, size) for leaf, size in enumerate(sizes)]


def one_level(
    profiles: Floats,
    weights: Floats,
    labels: Ints,
    shares: Floats,
    words: Sequence[Ints] | None = None,
) -> TreeNode:
    """Return a tree with a leaf, without a name, for each component, in descending order of share.

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
        for at, j in enumerate(ties.largest_first(shares), start=1)
    ]
    return root
