"""EM over all leaves of a grown tree; drop small leaves, sort children, merge similar leaves."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, NamedTuple, TypeVar

import numpy as np

from momentree._types import Floats, Ints
from momentree.assignment.posteriors import MixtureAssigner
from momentree.assignment.rules import Assigner, LinearRule, Rule, RuleAssigner
from momentree.backends import RowArray, Rows, collected, products
from momentree.core.ties import largest, largest_first
from momentree.estimators.node import TreeNode, by_leaf
from momentree.messages import Message, wording
from momentree.objects import Family, MixtureParameters, MixtureSums, TopicParameters
from momentree.refinement.em import Refined, Samples, column_sums, expected_statistics
from momentree.tree.growth import Branch, Grown, log
from momentree.tree.hierarchy import Merges, join_chains, least_loss_merges, tree_of_groups
from momentree.tree.split import SPLIT_ITER
from momentree.tree.stopping import Criterion, log_likelihood, n_added

P = TypeVar("P", bound=MixtureParameters)


class RefinedLeaves(NamedTuple):
    """The leaves of a tree after EM, with the expected statistics of its last step if it ran."""

    assigner: Assigner
    labels: RowArray
    n_iter: int
    converged: bool
    statistics: Floats | None = None
    sizes: Floats | None = None

    def expected_sums(self, leaves: MixtureSums) -> MixtureSums:
        """Return the expected sums of EM, or those of the leaves without it."""
        if self.statistics is None or self.sizes is None:
            return leaves
        none = np.empty((0, len(self.sizes)))
        return replace(leaves, statistics=self.statistics, sizes=self.sizes, counts=none)


def assign_by_rules(grown: Grown) -> RefinedLeaves:
    """Return the leaves of a tree as its splits made them, without EM."""
    return RefinedLeaves(rule_assigner(grown.root), grown.labels, 1, converged=True)


def refine_leaves(
    tree: Any,
    grown: Grown,
    samples: Samples,
    family: Family[P],
    splits: tuple[Rows, type[MixtureParameters]],
) -> RefinedLeaves:
    """Run EM over all leaves, and assign every sample to its most likely leaf.

    If the weight of a leaf falls below the `min_samples_leaf` of the estimator `tree`, the leaf is
    dropped, an only child replaces its parent, and EM continues. Chains of splits are joined at the
    end unless growth is by depth; `splits` are the statistics and the family of the splits. All
    steps together are `max_iter` at most; after
    them, a further leaf may be dropped, but parameters no longer change.
    """
    root, rows, weight = grown.root, samples.rows, samples.weight
    leaves, n_iter, max_iter = root.leaves(), 0, tree.max_iter
    log.info("refining %d leaves", len(leaves))
    parameters: MixtureParameters | None = grown.parameters  # may come from other samples
    if parameters is None:
        parameters = samples.m_step(family, grown.labels, len(leaves))
    while True:
        if n_iter < max_iter:
            result = samples.em(parameters, max_iter - n_iter)
        else:
            words = column_sums(rows, weight)
            sums, of_leaves, likelihood = expected_statistics(rows, parameters, weight, words)
            result = Refined(parameters, likelihood, 0, converged=False, sums=sums, sizes=of_leaves)
        n_iter += result.n_iter
        parameters = result.parameters
        labels = MixtureAssigner.of(parameters).labels(rows)
        sizes = rows.group_sizes(labels, len(leaves), weight)
        counts = rows.group_sizes(labels, len(leaves), rows.ones())
        small = int(largest(-sizes))
        if len(leaves) == 1 or (sizes[small] >= tree.min_samples_leaf and counts.min() > 0):
            break
        drop(root, leaves[small])
        parameters = parameters.without(small)
        leaves = root.leaves()
    if tree.growth == "best_first":
        of_splits, split_family = splits
        of_leaves, _ = of_splits.group_sums(labels, len(leaves), weight)
        join_chains(root, of_leaves, sizes, split_family)
    order = sort_children(root, sizes, result.sums)
    assigner = MixtureAssigner.of(parameters.reordered(order))
    return RefinedLeaves(
        assigner,
        rows.map(partial(products.renumbered, to=np.argsort(order)), labels),
        n_iter,
        result.converged,
        result.sums[:, order],
        result.sizes[order],
    )


def drop(root: Branch, leaf: Branch) -> None:
    """Remove a leaf; an only child replaces its parent."""
    parent = next(b for b in root.branches() if leaf in b.children)
    parent.children.remove(leaf)
    parent.rule = None
    if len(parent.children) == 1:
        (sibling,) = parent.children
        for branch in sibling.branches():
            branch.depth -= 1
        parent.children, parent.rule, parent.reason = sibling.children, sibling.rule, sibling.reason


def sort_children(root: Branch, sizes: Floats, sums: Floats) -> Ints:
    """Sort children by size, largest first, and return the old position of each leaf.

    Equal sizes are in the order of the sums of the statistics over each leaf, shape (p, k).
    """
    before = {leaf: i for i, leaf in enumerate(root.leaves())}

    for branch in root.branches():
        below = [[before[leaf] for leaf in child.leaves()] for child in branch.children]
        content = [sums[:, leaves].sum(axis=1) for leaves in below]
        order = largest_first([sizes[leaves].sum() for leaves in below], np.transpose(content))
        by_size = [branch.children[i] for i in order]
        if by_size != branch.children:
            branch.children, branch.rule = by_size, None
    return np.array([before[leaf] for leaf in root.leaves()], dtype=np.intp)


def use_topics_of_sides(root: Branch, sums: Floats, sizes: Floats, smoothing: float) -> None:
    """Let the rules of all splits compare the topics of the samples on their two sides.

    On twelve labeled corpora this agrees better with the labels than the pseudo-centers by which
    the sides were found (``docs/choices.md``), and it serves words that were left out before.
    """
    place = {leaf: i for i, leaf in enumerate(root.leaves())}
    for branch in root.branches():
        sides = [[place[leaf] for leaf in child.leaves()] for child in branch.children]
        if sides:
            of_sides = np.stack([sums[:, side].sum(axis=1) for side in sides], axis=1)
            n = np.array([sizes[side].sum() for side in sides])
            topics = TopicParameters.m_step(of_sides, n, smoothing)
            branch.rule = LinearRule.between(topics, prior=False)


def rule_assigner(root: Branch) -> RuleAssigner:
    """Return the rules of the splits as an assigner."""
    inner = [b for b in root.branches() if b.children]
    place = {b: i for i, b in enumerate(inner)}
    place |= {leaf: -1 - i for i, leaf in enumerate(root.leaves())}
    rules: list[Rule] = [b.rule for b in inner if b.rule is not None]
    return RuleAssigner(tuple(rules), tuple(tuple(place[c] for c in b.children) for b in inner))


MORE_LEAVES = 2
"""A tree is grown to this many times the leaves requested."""
PATIENCE = 3
"""Stop after so many merges in a row without a lower BIC or AIC3."""


def merge_back(
    grown: Grown,
    samples: Samples,
    n_leaves: int,
    *,
    family: type[MixtureParameters],
    max_iter: int,
) -> Grown:
    """Run EM over the leaves of a grown tree, then merge the pair that loses least, to `n_leaves`.

    An early split may cut a group in halves, which EM over the leaves cannot join. The result is a
    binary tree over the merged leaves, made by the remaining merges.
    """
    k = len(grown.root.leaves())
    if k <= n_leaves:
        return grown
    log.info("merging %d leaves into %d", k, n_leaves)
    start = samples.m_step(family, grown.labels, int(np.max(grown.labels)) + 1)
    labels = _likeliest_groups(samples.em(start, max_iter).parameters, samples.rows)
    k = int(labels.max()) + 1
    merges = least_loss_merges(*samples.group_sums(labels, k), family)[: max(0, k - n_leaves)]
    group = np.arange(k)
    for t, (a, b, _) in enumerate(merges):
        group[(group == a) | (group == b)] = k + t
    labels = np.unique(group, return_inverse=True)[1][labels]
    return tree_of_groups(
        samples, labels, family, Message(wording.MAX_LEAF_NODES_REACHED, limit=n_leaves)
    )


def merge_while_better(
    grown: Grown, samples: Samples, criterion: Criterion, *, family: type[MixtureParameters]
) -> Grown:
    """Merge the pair of leaves that loses least, with EM after each merge, while BIC or AIC3 falls.

    A criterion that judges splits one by one keeps both parts of a group that an early split has
    cut. The result is a binary tree over the merged leaves, or the same tree if no merge is better.
    """
    k, rows, weight = len(grown.root.leaves()), collected(samples.rows), samples.weight
    n = max(float(weight.sum()), 2.0)
    penalty = 0.5 * n_added(family, rows, weight) * (float(np.log(n)) if criterion == "bic" else 3)
    parameters: MixtureParameters = samples.m_step(family, grown.labels, k)
    mixtures, scores = list[MixtureParameters](), list[float]()
    while True:
        refined = samples.em(parameters, SPLIT_ITER)
        sums, sizes = refined.sums.copy(), refined.sizes.copy()
        mixtures.append(refined.parameters)
        likelihood = log_likelihood(family, rows, weight, sums, sizes)
        scores.append(likelihood - penalty * len(sizes))
        best = int(np.argmax(scores))
        if len(sizes) == 1 or len(scores) > best + PATIENCE:
            break
        a, b, _ = least_loss_merges(sums, sizes, family)[0]
        sums[:, a] += sums[:, b]
        sizes[a] += sizes[b]
        parameters = family.m_step(
            np.delete(sums, b, axis=1), np.delete(sizes, b), samples.smoothing
        )
    if best == 0:
        return grown
    log.info("merged %d leaves into %d", k, k - best)
    gain = scores[best - 1] - scores[best] + penalty
    labels = _likeliest_groups(mixtures[best], rows)
    template = wording.BIC_PENALTY if criterion == "bic" else wording.AIC3_PENALTY
    reason = Message(template, gain=gain, penalty=penalty)
    return tree_of_groups(samples, labels, family, reason)


def _likeliest_groups(parameters: MixtureParameters, rows: Rows) -> Ints:
    """Return the most likely component of each sample, numbered without gaps."""
    labels = MixtureAssigner.of(parameters).labels(rows)
    return np.unique(np.asarray(labels), return_inverse=True)[1].reshape(-1)


def build_tree(
    root: Branch,
    labels: Ints,
    sums: Floats,
    sizes: Floats,
    family: type[MixtureParameters],
    center: Callable[[list[int]], Floats],
) -> tuple[TreeNode, Merges]:
    """Return the finished tree without names, and the order in which its leaves can be merged.

    Parameters
    ----------
    root : Branch
        The splits.
    labels : ndarray of int of shape (n,)
        Leaf of each sample; empty if the samples are elsewhere.
    sums, sizes : ndarray of shape (p, k) and (k,)
        Sums of the statistics over each leaf, and its total sample weight.
    family : type of MixtureParameters
        Family of the gains and losses, in nats.
    center : callable
        Returns the mean profile of a list of leaves.
    """
    total, unit = float(sizes.sum()), family.nats_per_unit(sums, sizes)
    samples = by_leaf(labels, len(sizes))
    node_ids, leaf_ids = count(), count()

    def gain(sides: list[list[int]]) -> float:
        S = np.stack([sums[:, side].sum(axis=1) for side in sides], axis=1)
        N = np.array([sizes[side].sum() for side in sides])
        whole = family.maximized_log_likelihood(S.sum(axis=1), N.sum())
        return float(family.maximized_log_likelihood(S, N).sum() - whole) * unit

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

    tree = make(root, None)[0]
    merges = Merges.of(tree, sums, sizes, family, center)
    return tree, replace(merges, losses=merges.losses * unit)


def word_shares(sums: Floats) -> Callable[[list[int]], Floats]:
    """Return the function that maps leaves to their distribution of words, given sums (d, k)."""

    def center(leaves: list[int]) -> Floats:
        words = sums[:, leaves].sum(axis=1)
        total = words.sum()
        return np.asarray(words / total if total > 0 else words)

    return center


def branch_of(node: TreeNode) -> Branch:
    """Return the branches of a finished tree."""
    children = [branch_of(child) for child in node.children]
    return Branch(node.depth, None, node.gain, node.reason, children)
