"""Cut a finished tree to fewer leaves, where its splits gain least."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

import numpy as np

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.core.ties import largest_first
from momentree.estimators.node import TreeNode
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.objects import MixtureParameters
from momentree.persistence import storable
from momentree.tree.hierarchy import least_loss_merges

_MERGES_NOT_OF_TREE = "[merges_not_of_tree] the merges of leaves do not match the nodes of the tree"
_CUT_HERE = "[cut_here] the tree was cut here"


@storable
@dataclass(frozen=True)
class Merges:
    """The merges of the leaves of a tree, one after another, until only the root remains.

    Each merges two children of a node. Groups are numbered as in SciPy: leaves from 0 to k - 1, and
    the group made by merge t is k + t.
    """

    pairs: Ints  # (k - 1, 2)
    losses: Floats  # (k - 1,), of log-likelihood, in nats
    hidden: Ints  # (k - 1,), 1 if the group is not a node, because its node has other children
    centers: Floats  # (m, d), of these groups

    def __post_init__(self) -> None:
        check_shape("pairs", self.pairs, ("n_merges", 2))
        check_shape("losses", self.losses, (len(self.pairs),))
        check_shape("hidden", self.hidden, (len(self.pairs),))
        check_shape("centers", self.centers, ("n_groups", "n_features"))

    @classmethod
    def of(
        cls,
        root: TreeNode,
        sums: Floats,
        sizes: Floats,
        family: type[MixtureParameters],
        center: Callable[[list[int]], Floats],
    ) -> Merges:
        """Return the merges of a tree: always the one that loses least, as far as nodes allow.

        A node can be merged once it is a leaf. `sums` (p, k) and `sizes` (k,) describe the leaves
        in a mixture of this `family`; `center` returns the mean profile of a list of leaves.
        """
        inside: dict[Hashable, list[int]] = {leaf: [leaf.leaf_id or 0] for leaf in root.leaves()}
        number = {key: leaves[0] for key, leaves in inside.items()}
        steps = [
            step
            for node in root.nodes()
            if node.children
            for step in _steps(node, sums, sizes, family)
        ]
        pairs, losses, hidden = [], [], []
        while steps:
            able = [step for step in steps if step.a in inside and step.b in inside]
            step = able[largest_first([-step.loss for step in able])[0]]
            steps.remove(step)
            pairs.append(sorted((number[step.a], number[step.b])))
            losses.append(step.loss)
            number[step.made] = len(sizes) + len(pairs) - 1
            inside[step.made] = inside[step.a] + inside[step.b]
            hidden.append(not isinstance(step.made, TreeNode))
        merges = cls(
            np.array(pairs, dtype=np.intp).reshape(-1, 2),
            np.array(losses, dtype=np.float64),
            np.array(hidden, dtype=np.intp),
            np.empty((0, 0)),
        )
        return merges.described(len(root.center), center)

    def described(self, n_features: int, center: Callable[[list[int]], Floats]) -> Merges:
        """Return the same merges with other centers, from the leaves of each group."""
        inside = [[i] for i in range(len(self.pairs) + 1)]
        for a, b in self.pairs.tolist():
            inside.append(inside[a] + inside[b])
        groups = [inside[len(self.pairs) + 1 + t] for t in np.flatnonzero(self.hidden)]
        centers = [center(group) for group in groups]
        return replace(self, centers=np.array(centers, dtype=np.float64).reshape(-1, n_features))

    def cut(self, root: TreeNode, n_leaves: int) -> tuple[Ints, Merges]:
        """Merge the leaves of a tree in place until `n_leaves` remain.

        The new leaves are numbered; those that are not nodes of the tree have no name. Also return
        the new number of each leaf, and the merges that remain. Merges that do not fit the tree
        raise InvalidDataError.
        """
        groups = sorted(root.leaves(), key=lambda leaf: leaf.leaf_id or 0)
        k = len(groups)
        if len(self.pairs) != k - 1:
            raise InvalidDataError(_MERGES_NOT_OF_TREE)
        inside = [[i] for i in range(k)]
        alive = set(range(k))
        n_centers = 0
        for (a, b), loss in zip(self.pairs[: k - n_leaves].tolist(), self.losses, strict=False):
            node = groups[a].parent if a in alive and b in alive - {a} else None
            if node is None or groups[b].parent is not node:
                raise InvalidDataError(_MERGES_NOT_OF_TREE)
            if len(node.children) > 2:
                if n_centers == len(self.centers):
                    raise InvalidDataError(_MERGES_NOT_OF_TREE)
                node.gain = max(0.0, node.gain - float(loss))
                node = _joined(node, groups[a], groups[b], self.centers[n_centers])
                n_centers += 1
            else:
                node._samples = node.samples
                node.children, node.gain = [], 0.0
                node.reason = Message(_CUT_HERE)
            alive = alive - {a, b} | {len(groups)}
            groups.append(node)
            inside.append(inside[a] + inside[b])
        to = np.empty(k, dtype=np.intp)
        number = _numbered(root)
        for group in alive:
            to[inside[group]] = number[groups[group]]
        made = len(groups) - k
        new = np.full(2 * k - 1, -1, dtype=np.intp)
        new[list(alive)] = [number[groups[group]] for group in alive]
        new[k + made :] = n_leaves + np.arange(k - 1 - made)
        remaining = Merges(
            np.sort(new[self.pairs[made:]], axis=1),
            self.losses[made:],
            self.hidden[made:],
            self.centers[n_centers:],
        )
        return to, remaining


class _Step(NamedTuple):
    """A merge of two groups: nodes, or several of the children of a node."""

    loss: float
    a: Hashable
    b: Hashable
    made: Hashable


def _steps(
    node: TreeNode, sums: Floats, sizes: Floats, family: type[MixtureParameters]
) -> list[_Step]:
    """Return the merges of the children of a node into one."""
    below = [[leaf.leaf_id or 0 for leaf in child.leaves()] for child in node.children]
    S = np.stack([sums[:, leaves].sum(axis=1) for leaves in below], axis=1)
    N = np.array([sizes[leaves].sum() for leaves in below])
    groups: list[Hashable] = [*node.children]
    steps = []
    for t, (a, b, loss) in enumerate(least_loss_merges(S, N, family)):
        groups.append((node, t) if t < len(below) - 2 else node)
        steps.append(_Step(loss, groups[a], groups[b], groups[-1]))
    return steps


def _joined(node: TreeNode, one: TreeNode, other: TreeNode, center: Floats) -> TreeNode:
    """Replace two of the children of a node by a leaf, and return it."""
    leaf = TreeNode(
        center,
        one.weight + other.weight,
        depth=one.depth,
        reason=Message(_CUT_HERE),
        parent=node,
        _samples=np.sort(np.concatenate([one.samples, other.samples])),
    )
    first, second = sorted(node.children.index(child) for child in (one, other))
    node.children[first] = leaf
    del node.children[second]
    children = node.children
    node.children = [children[i] for i in largest_first([child.weight for child in children])]
    return leaf


def _numbered(root: TreeNode) -> dict[TreeNode, int]:
    """Set the numbers of nodes and leaves; return those of the leaves."""
    leaf_ids = count()
    for node_id, node in enumerate(root.nodes()):
        node.node_id = node_id
        node.leaf_id = next(leaf_ids) if node.is_leaf else None
    return {leaf: leaf.leaf_id or 0 for leaf in root.leaves()}
