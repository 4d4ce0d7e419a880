"""From grown branches to the finished tree: EM over the leaves, order, centers, gains, names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from momentree.assignment.assigners import Assigner, MixtureAssigner, RuleAssigner
from momentree.assignment.rules import Rule
from momentree.backends import Block, RowBlocks
from momentree.metrics import relevance
from momentree.metrics.words import relevance_order
from momentree.objects import MixtureParameters
from momentree.refinement import em
from momentree.tree.growth import Branch
from momentree.tree.node import TreeNode

__all__ = [
    "branches_of",
    "build_nodes",
    "drop",
    "group_sums",
    "leaf_labels",
    "most_relevant",
    "name_by_difference",
    "name_groups",
    "name_nodes",
    "order",
    "refine_leaves",
    "rules",
]

P = TypeVar("P", bound=MixtureParameters)

Floats = NDArray[np.float64]

NAME_WORDS = 3
NAME_LAMBDA = 0.6
CODE_LAMBDA = 0.5
"""Of codes of records, below that of words: the most common diagnoses are common in nearly every
group. It names groups, and orders their codes in the report until its reader moves the slider."""


def leaf_labels(root: Branch) -> NDArray[np.intp]:
    """Return the leaf, from left to right, of every sample below a root."""
    labels = np.empty(len(root.samples), dtype=np.intp)
    for i, leaf in enumerate(root.leaves()):
        labels[leaf.samples] = i
    return labels


def group_sums(rows: RowBlocks, labels: NDArray[np.intp], n: int, weight: Floats) -> Floats:
    """Return the weighted column sums of n groups of rows, shape (d, n)."""
    groups = np.arange(n)

    def kernel(B: Block) -> Floats:
        return B.tdot((labels[B.at, None] == groups) * weight[B.at, None])

    return rows.sum(kernel)


def refine_leaves(
    root: Branch,
    rows: RowBlocks,
    weight: Floats,
    *,
    family: type[P],
    smoothing: float,
    min_samples_leaf: float,
    max_iter: int,
    tol: float,
) -> tuple[P, int, bool]:
    """Run EM over all leaves and move every sample to its likeliest leaf.

    Leaves that EM leaves with less than `min_samples_leaf` are dropped, their sibling takes the
    place of their parent, and EM goes on without them.

    Returns
    -------
    parameters : MixtureParameters
        One component a leaf.
    n_iter : int
        EM steps in all.
    converged : bool
        Whether the last EM met its tolerance.
    """
    leaves, labels = root.leaves(), leaf_labels(root)
    k = len(leaves)
    sizes = np.bincount(labels, weights=weight, minlength=k).astype(np.float64)
    parameters = family.m_step(group_sums(rows, labels, k, weight), sizes, smoothing)
    n_iter = 0
    while True:
        result = em(
            rows,
            parameters,
            sample_weight=weight,
            smoothing=smoothing,
            max_iter=max_iter,
            tol=tol,
        )
        n_iter += result.n_iter
        parameters = result.parameters
        labels = MixtureAssigner.of(parameters).labels(rows)
        sizes = np.bincount(labels, weights=weight, minlength=len(leaves)).astype(np.float64)
        counts = np.bincount(labels, minlength=len(leaves))
        small = int(sizes.argmin())
        if len(leaves) == 1 or (sizes[small] >= min_samples_leaf and counts.min() > 0):
            break
        drop(root, leaves[small])
        parameters = parameters.without(small)
        leaves = root.leaves()
    for i, leaf in enumerate(leaves):
        leaf.samples = np.flatnonzero(labels == i)
    return parameters, n_iter, result.converged


def drop(root: Branch, leaf: Branch) -> None:
    """Take a leaf away; a sibling that is left alone takes the place of their parent."""
    parent = next(b for b in branches_of(root) if leaf in b.children)
    parent.children.remove(leaf)
    parent.rule = None  # it knows a side that is no more
    if len(parent.children) == 1:
        (sibling,) = parent.children
        for branch in branches_of(sibling):
            branch.depth -= 1
        parent.children, parent.rule, parent.reason = sibling.children, sibling.rule, sibling.reason


def branches_of(root: Branch) -> list[Branch]:
    """Return a branch and all below it in pre-order."""
    return [root, *(b for child in root.children for b in branches_of(child))]


def order(root: Branch, weight: Floats) -> NDArray[np.intp]:
    """Put the larger child first everywhere, after EM has changed their sizes.

    Returns
    -------
    ndarray of int of shape (n_leaves,)
        The old position of each leaf.
    """
    before = {leaf: i for i, leaf in enumerate(root.leaves())}

    def size(branch: Branch) -> float:
        return sum(float(weight[leaf.samples].sum()) for leaf in branch.leaves())

    for branch in branches_of(root):
        by_size = sorted(branch.children, key=size, reverse=True)
        if by_size != branch.children:
            branch.children = by_size
            branch.rule = None  # its sides no longer stand in the order of the children
    return np.array([before[leaf] for leaf in root.leaves()], dtype=np.intp)


def rules(root: Branch) -> Assigner:
    """Return the rules of the splits as an assigner of new documents."""
    inner = [b for b in branches_of(root) if b.children]
    place = {b: i for i, b in enumerate(inner)}
    place |= {leaf: -1 - i for i, leaf in enumerate(root.leaves())}
    targets = tuple(tuple(place[child] for child in b.children) for b in inner)
    found: list[Rule] = [b.rule for b in inner if b.rule is not None]
    return RuleAssigner(tuple(found), targets)


def build_nodes(
    root: Branch,
    weight: Floats,
    at: NDArray[np.intp],
    *,
    center: Callable[[list[int]], Floats],
    gain: Callable[[list[list[int]]], float],
) -> TreeNode:
    """Make the nodes of the tree.

    Parameters
    ----------
    root : Branch
        In final order.
    weight : ndarray of shape (n,)
        Sample weights, in the order in which the tree was grown.
    at : ndarray of intp of shape (n,)
        Row of each sample in the data.
    center : callable
        Of numbers of leaves: the mean profile of their samples.
    gain : callable
        Of the numbers of the leaves below each child: the log-likelihood gained by the split.

    Returns
    -------
    TreeNode
        The root, without names.
    """
    total = float(weight.sum())
    node_ids, leaf_ids = count(), count()
    in_order = bool((at[1:] > at[:-1]).all())

    def make(branch: Branch, parent: TreeNode | None) -> tuple[TreeNode, list[int]]:
        node = TreeNode(
            center=np.empty(0),
            weight=0.0,
            depth=branch.depth,
            node_id=next(node_ids),
            reason="" if branch.children else branch.reason,
            parent=parent,
        )
        if branch.children:
            made = [make(child, node) for child in branch.children]
            node.children = [child for child, _ in made]
            node.weight = sum(child.weight for child in node.children)
            node.gain = gain([part for _, part in made])
            below = [i for _, part in made for i in part]
        else:
            node.leaf_id = next(leaf_ids)
            node._samples = branch.samples if in_order else np.sort(at[branch.samples])
            node.weight = float(weight[branch.samples].sum()) / total
            below = [node.leaf_id]
        node.center = center(below)
        return node, below

    return make(root, None)[0]


def name_nodes(root: TreeNode, vocabulary: Sequence[str] | NDArray[np.str_]) -> None:
    """Name every node by its most relevant words (H section 4.2, lambda = 0.6)."""
    for node in root.nodes():
        score = np.asarray(relevance(node.center[None], root.center, NAME_LAMBDA))[0]
        top = np.argsort(-score, kind="stable")[:NAME_WORDS]
        node.name = ", ".join(str(vocabulary[j]) for j in top if node.center[j] > 0)


def name_groups(root: TreeNode, vocabulary: Sequence[str] | NDArray[np.str_]) -> None:
    """Name every node by its most relevant codes, by the rule of the report of records."""
    for node in root.nodes():
        top = most_relevant(node.center, root.center)[:NAME_WORDS]
        node.name = ", ".join(str(vocabulary[j]) for j in top)


def most_relevant(
    center: Floats, base: Floats, told: NDArray[np.bool_] | None = None
) -> NDArray[np.intp]:
    """Return the codes that set a group apart, the most relevant first.

    Parameters
    ----------
    center : ndarray of shape (d,)
        How common each code is in the group.
    base : ndarray of shape (d,)
        How common it is in all records.
    told : ndarray of bool of shape (d,), default=None
        Which codes may be told at all; None is all.

    Returns
    -------
    ndarray of int
        Columns. What a group has less of than others may be common in it, but does not tell it
        apart: such codes are returned only where there are no others.
    """
    present = np.flatnonzero((center > 0) & (base > 0) & (True if told is None else told))
    more = present[center[present] >= base[present]]
    present = more if more.size else present
    return present[relevance_order(center[present], base[present], CODE_LAMBDA)]


def name_by_difference(
    root: TreeNode, vocabulary: Sequence[str] | NDArray[np.str_], scale: Floats
) -> None:
    """Name every node by the features of real values that differ most from the mean of all."""
    for node in root.nodes():
        z = (node.center - root.center) / scale
        top = np.argsort(-np.abs(z), kind="stable")[:NAME_WORDS]
        node.name = ", ".join(
            f"{vocabulary[j]} {'high' if z[j] > 0 else 'low'}" for j in top if z[j]
        )
