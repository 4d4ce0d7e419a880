"""Merges of least loss: a tree over leaves, chains of equal splits, cuts of a finished tree."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

import numpy as np

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.core.ties import largest, largest_first
from momentree.estimators.node import TreeNode
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.objects import MixtureParameters
from momentree.persistence import storable
from momentree.refinement.em import Samples
from momentree.tree.growth import Branch, Grown

Merge = tuple[int, int, float]
"""Two groups and the log-likelihood lost by merging them, in nats. Groups are numbered as in SciPy:
leaves from 0 to k - 1; merge t makes group k + t."""

ROUNDING = 1e-13
"""Rounding error of a loss, relative to the largest log-likelihood of a leaf."""
_BLOCK = 1 << 16
"""Numbers in a block of sums: 512 kB, so that it remains in the cache of a processor."""


def hierarchy(sums: Floats, sizes: Floats, family: type[MixtureParameters]) -> tuple[Branch, Ints]:
    """Build a binary tree over leaves by merging groups, the most similar first.

    A merge of groups a and b loses l(a) + l(b) - l(a + b) nats, where l is the maximized
    log-likelihood of a group under one component; for counts this is the agglomerative information
    bottleneck of N. Slonim and N. Tishby (1999). On corpora whose labels have two levels, these
    trees agree better with both than trees grown from the root (``docs/choices.md``).

    Parameters
    ----------
    sums, sizes : ndarray of shape (p, k) and (k,)
        Sums of the statistics over each leaf, and its total sample weight.
    family : type of MixtureParameters
        Family of the likelihood.

    Returns
    -------
    tuple of Branch and ndarray of intp of shape (k,)
        The root, whose children are sorted by size, largest first; and the given leaf at each
        position from left to right.

    Notes
    -----
    Time O(p k^2), memory O(p k).
    """
    groups = [(float(size), Branch(), [i]) for i, size in enumerate(sizes)]
    for a, b, loss in least_loss_merges(sums, sizes, family):
        both = groups[a], groups[b]
        content = np.stack([sums[:, leaves].sum(axis=1) for *_, leaves in both], axis=1)
        pair = [both[i] for i in largest_first([size for size, *_ in both], content)]
        branch = Branch(gain=loss, children=[child for _, child, _ in pair])
        leaves = [leaf for _, _, below in pair for leaf in below]
        groups.append((groups[a][0] + groups[b][0], branch, leaves))
    _, root, order = groups[-1]
    set_depths(root)
    return root, np.array(order, dtype=np.intp)


def tree_of_groups(
    samples: Samples,
    labels: Ints,
    family: type[MixtureParameters],
    reason: Message | None,
    parameters: MixtureParameters | None = None,
) -> Grown:
    """Return a binary tree over groups of samples, whose leaves were not split for a reason."""
    k = int(labels.max()) + 1 if parameters is None else parameters.n_components
    root, order = hierarchy(*samples.group_sums(labels, k), family)
    for leaf in root.leaves():
        leaf.reason = reason
    in_order = None if parameters is None else parameters.reordered(order)
    return Grown(root, np.argsort(order)[labels], in_order)


def least_loss_merges(sums: Floats, sizes: Floats, family: type[MixtureParameters]) -> list[Merge]:
    """Merge groups until one remains, each time the pair that loses least log-likelihood.

    If several pairs lose the same, the first of them is merged. Parameters are those of
    :func:`hierarchy`.
    """
    k = len(sizes)
    # Columns are contiguous, because pairs of groups are added.
    S, N = np.array(sums, dtype=np.float64, order="F"), np.array(sizes, dtype=np.float64)
    own = np.array(family.maximized_log_likelihood(S, N), dtype=np.float64)
    losses = np.full((k, k), np.inf)
    active = np.ones(k, dtype=bool)
    number = np.arange(k)
    merges: list[Merge] = []

    def update(i: int, others: Ints) -> None:
        if others.size:
            merged = merged_log_likelihoods(S, N, family, i, others)
            losses[np.minimum(i, others), np.maximum(i, others)] = own[i] + own[others] - merged

    for i in range(k):
        update(i, np.arange(i + 1, k))
    least = ROUNDING * float(np.abs(own).max())
    while len(merges) < k - 1:
        i, j = divmod(int(largest(-losses.ravel(), least=least)), k)
        a, b = sorted((int(number[i]), int(number[j])))
        merges.append((a, b, max(0.0, float(losses[i, j]))))
        S[:, i] += S[:, j]
        N[i] += N[j]
        own[i] = family.maximized_log_likelihood(S[:, i], N[i])
        active[j], number[i] = False, k + len(merges) - 1
        losses[[i, j]] = losses[:, [i, j]] = np.inf
        update(i, np.flatnonzero(active & (np.arange(k) != i)))
    return merges


def merged_log_likelihoods(
    S: Floats, N: Floats, family: type[MixtureParameters], i: int, others: Ints
) -> Floats:
    """Return the maximized log-likelihood of group i merged with each of several others."""
    step = max(1, _BLOCK // max(1, len(S)))
    parts = [
        family.maximized_log_likelihood(S[:, [i]] + S[:, some], N[i] + N[some])
        for some in np.split(others, range(step, len(others), step))
    ]
    return np.concatenate(parts)


def set_depths(root: Branch) -> None:
    """Set the depth of every branch below a root from its place in the tree."""
    stack = [root]
    while stack:
        branch = stack.pop()
        for child in branch.children:
            child.depth = branch.depth + 1
        stack += branch.children


ABOUT_THE_SAME = 0.85
"""A split that separates at least this fraction of the first split of a chain is joined to it. On
samples with known levels, every level is found, and few that do not exist; above this limit, more
and more unrelated topics are shown as pairs, and below it, levels that agree with labels are lost
(``docs/choices.md``)."""


def join_chains(root: Branch, sums: Floats, sizes: Floats, family: type[MixtureParameters]) -> None:
    """Join each split to the split above it, unless its sides are clearly more similar.

    The separation of a split is the mean, over pairs of leaves on different sides, of the
    log-likelihood gained by separating one sample of each leaf:

        l(S_i / N_i) + l(S_j / N_j) - l(S_i / N_i + S_j / N_j),

    where l is the maximized log-likelihood of sums under one component. Unlike the gain, it does
    not depend on the sizes of the leaves: it is about the same for all splits of unrelated groups,
    however many are on each side, and lower for the parts of one group.

    Parameters
    ----------
    root : Branch
        The tree; it is changed in place. Joined branches no longer have rules.
    sums, sizes : ndarray of shape (p, k) and (k,)
        Sums of the statistics over each leaf from left to right, and its total sample weight.
    family : type of MixtureParameters
        Family of the likelihood.

    Notes
    -----
    Time O(p k^2). Each split is compared with the first of its chain, so that a long chain of
    slightly different splits does not join different levels.
    """
    pairs = _separations(sums, sizes, family)
    place = {leaf: i for i, leaf in enumerate(root.leaves())}
    below = {branch: [place[leaf] for leaf in branch.leaves()] for branch in root.branches()}
    separation = {
        branch: _across([below[child] for child in branch.children], pairs)
        for branch in below
        if branch.children
    }

    def joined(branch: Branch, least: float) -> list[Branch]:
        """Return the children of a branch, with those of a joined child in its place."""
        children = []
        for child in branch.children:
            if child.children and separation[child] >= least:
                children += joined(child, least)
            else:
                children.append(child)
        return children

    for branch in below:  # from the root down
        if branch.children:
            children = joined(branch, ABOUT_THE_SAME * separation[branch])
            if len(children) > len(branch.children):
                branch.children, branch.rule = children, None
    set_depths(root)


def _across(sides: list[list[int]], pairs: Floats) -> float:
    """Return the mean over pairs of leaves on different sides."""
    total, n = 0.0, 0
    for i, side in enumerate(sides):
        for other in sides[:i]:
            total += float(pairs[np.ix_(side, other)].sum())
            n += len(side) * len(other)
    return total / n


def _separations(sums: Floats, sizes: Floats, family: type[MixtureParameters]) -> Floats:
    """Return the separation of each pair of leaves, shape (k, k)."""
    means = np.asfortranarray(sums / sizes)
    one = np.ones(len(sizes))
    own = family.maximized_log_likelihood(means, one)
    everything = np.arange(len(sizes))
    merged = [merged_log_likelihoods(means, one, family, i, everything) for i in range(len(sizes))]
    return np.asarray(own[:, None] + own - np.stack(merged))


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
