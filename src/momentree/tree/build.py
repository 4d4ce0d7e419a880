"""From grown branches to the finished tree: EM over the leaves, order, centers, gains, names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from momentree.backends import Block, RowBlocks
from momentree.inference import one_topic_log_likelihood
from momentree.metrics import relevance
from momentree.objects import TopicParameters
from momentree.refinement import em
from momentree.tree.assign import Assigner, MixtureAssigner, RuleAssigner
from momentree.tree.growth import Branch
from momentree.tree.node import TreeNode
from momentree.tree.split import LinearRule

__all__ = [
    "build_nodes",
    "group_sums",
    "leaf_labels",
    "name_nodes",
    "order",
    "refine_leaves",
    "rules",
]

Floats = NDArray[np.float64]

NAME_WORDS = 3
NAME_LAMBDA = 0.6


def leaf_labels(root: Branch) -> NDArray[np.intp]:
    """Return the leaf, from left to right, of every document below a root."""
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
    smoothing: float,
    min_samples_leaf: float,
    max_iter: int,
    tol: float,
) -> tuple[TopicParameters, int, bool]:
    """Run EM over all leaves and move every document to its likeliest leaf.

    Leaves that EM leaves with less than `min_samples_leaf` are dropped, their sibling takes the
    place of their parent, and EM goes on without them.

    Returns
    -------
    parameters : TopicParameters
        One component a leaf.
    n_iter : int
        EM steps in all.
    converged : bool
        Whether the last EM met its tolerance.
    """
    leaves, labels = root.leaves(), leaf_labels(root)
    k = len(leaves)
    sizes = np.bincount(labels, weights=weight, minlength=k).astype(np.float64)
    parameters = TopicParameters.fitted_to(group_sums(rows, labels, k, weight), sizes, smoothing)
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
        labels = MixtureAssigner(parameters).labels(rows)
        sizes = np.bincount(labels, weights=weight, minlength=len(leaves)).astype(np.float64)
        counts = np.bincount(labels, minlength=len(leaves))
        small = int(sizes.argmin())
        if len(leaves) == 1 or (sizes[small] >= min_samples_leaf and counts.min() > 0):
            break
        _drop(root, leaves[small])
        keep = np.arange(parameters.n_components) != small
        shares = parameters.weights[keep]
        parameters = TopicParameters(shares / shares.sum(), parameters.centers[:, keep])
        leaves = root.leaves()
    for i, leaf in enumerate(leaves):
        leaf.samples = np.flatnonzero(labels == i)
    return parameters, n_iter, result.converged


def _drop(root: Branch, leaf: Branch) -> None:
    parent = next(b for b in _branches(root) if leaf in b.children)
    sibling = next(child for child in parent.children if child is not leaf)
    for branch in _branches(sibling):
        branch.depth -= 1
    parent.children, parent.rule, parent.reason = sibling.children, sibling.rule, sibling.reason


def _branches(root: Branch) -> list[Branch]:
    return [root, *(b for child in root.children for b in _branches(child))]


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

    for branch in _branches(root):
        if branch.children and size(branch.children[0]) < size(branch.children[1]):
            branch.children.reverse()
            branch.rule = None  # its sides no longer stand in the order of the children
    return np.array([before[leaf] for leaf in root.leaves()], dtype=np.intp)


def rules(root: Branch) -> Assigner:
    """Return the rules of the splits as an assigner of new documents."""
    inner = [b for b in _branches(root) if b.children]
    place = {b: i for i, b in enumerate(inner)}
    place |= {leaf: -1 - i for i, leaf in enumerate(root.leaves())}
    targets = [[place[child] for child in b.children] for b in inner]
    found: list[LinearRule] = [b.rule for b in inner if b.rule is not None]
    return RuleAssigner(tuple(found), np.array(targets, dtype=np.intp).reshape(-1, 2))


def build_nodes(
    root: Branch, sums: Floats, damped_sums: Floats, weight: Floats, at: NDArray[np.intp]
) -> TreeNode:
    """Make the nodes of the tree.

    Parameters
    ----------
    root : Branch
        In final order.
    sums : ndarray of shape (d, n_leaves)
        Weighted word counts of the leaves, which give the centers.
    damped_sums : ndarray of shape (d, n_leaves)
        The same of the counts that the tree was grown on, which give the gains.
    weight : ndarray of shape (n,)
        Sample weights, in the order in which the tree was grown.
    at : ndarray of intp of shape (n,)
        Row of each document in the data.

    Returns
    -------
    TreeNode
        The root, without names.
    """
    total = float(weight.sum())
    node_ids, leaf_ids = iter(range(2 * sums.shape[1])), iter(range(sums.shape[1]))
    everything = sums.sum(axis=1)
    everything = everything / everything.sum()

    def make(branch: Branch, parent: TreeNode | None) -> tuple[TreeNode, list[int]]:
        node = TreeNode(
            center=everything,
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
            sides = np.stack([damped_sums[:, part].sum(axis=1) for _, part in made], axis=1)
            parts = one_topic_log_likelihood(sides).sum()
            node.gain = float(parts - one_topic_log_likelihood(sides.sum(axis=1)))
            below = [i for _, part in made for i in part]
        else:
            node.leaf_id = next(leaf_ids)
            node._samples = np.sort(at[branch.samples])
            node.weight = float(weight[branch.samples].sum()) / total
            below = [node.leaf_id]
        words = sums[:, below].sum(axis=1)
        if words.sum() > 0:
            node.center = words / words.sum()
        return node, below

    return make(root, None)[0]


def name_nodes(root: TreeNode, vocabulary: Sequence[str] | NDArray[np.str_]) -> None:
    """Name every node by its most relevant words (H section 4.2, lambda = 0.6)."""
    for node in root.nodes():
        score = np.asarray(relevance(node.center[None], root.center, NAME_LAMBDA))[0]
        top = np.argsort(-score, kind="stable")[:NAME_WORDS]
        node.name = ", ".join(str(vocabulary[j]) for j in top if node.center[j] > 0)
