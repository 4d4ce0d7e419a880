"""Name the nodes of a tree by the features that set them apart (H section 4.2, T eq. 4.12)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.core.ties import SAME, ranks
from momentree.metrics.words import relevance_order
from momentree.naming import (
    N_SHOWN,
    Phrases,
    choose_distinct,
    choose_shown_words,
    choose_words,
    rank_terms,
)
from momentree.tree.node import TreeNode

Names = Sequence[str] | NDArray[Any]

CODE_LAMBDA = 0.5
"""Lambda for codes, lower than for words, because the most common diagnoses are common in nearly
every group. It determines names, and the initial order of codes in the report."""

_CANDIDATES = 24
"""Number of codes of each node from which its name is chosen."""


NOTABLE = 0.5
"""A feature is named only if its mean differs by half a standard deviation within groups, unless
there is no other."""

WORD_LAMBDA = 0.7
"""Lambda of the relevance of words, for topics without documents, and beyond the words chosen."""


def choose_words_of(
    root: TreeNode, X: Any, labels: Ints, vocabulary: Names, weight: Floats
) -> None:
    """Choose the words that are shown for every node of a tree of topics."""
    nodes = list(root.nodes())
    groups = [[leaf.leaf_id or 0 for leaf in node.leaves()] for node in nodes]
    found = choose_shown_words(X, labels, groups, vocabulary, weight)
    for node, words in zip(nodes, found, strict=True):
        node.words = words


def shown_words(node: TreeNode, base: Floats, n_words: int | None = None) -> Ints:
    """Return the columns of words of a topic as they are shown: best first, then by relevance.

    `base` is the profile of the root. None returns all words of the topic.
    """
    chosen = node.words[node.center[node.words] > 0][:n_words]
    if n_words is not None and len(chosen) >= n_words:
        return chosen
    others = np.flatnonzero((node.center > 0) & (base > 0))
    others = np.setdiff1d(others, chosen, assume_unique=True)
    order = relevance_order(node.center[others], base[others], WORD_LAMBDA)
    return np.concatenate([chosen, others[order]])[:n_words]


def name_by_words(
    root: TreeNode,
    vocabulary: Names,
    *,
    languages: Sequence[str] = ("en",),
    find: Callable[[dict[str, int]], Phrases] | None = None,
) -> None:
    """Name every node of a tree of topics; see :func:`momentree.naming.choose_words`."""
    nodes = list(root.nodes())
    centers = np.stack([node.center for node in nodes])
    shown = [shown_words(node, root.center, N_SHOWN) for node in nodes]
    chosen = choose_words(
        centers, _parents(nodes), vocabulary, shown, languages=languages, find=find
    )
    for node, terms in zip(nodes, chosen, strict=True):
        node.name = ", ".join(terms)


def name_by_codes(root: TreeNode, vocabulary: Names) -> None:
    """Name every node of a tree of records by codes, different from those of other nodes."""
    nodes = list(root.nodes())
    chosen = choose_codes([node.center for node in nodes], _parents(nodes), vocabulary)
    for node, codes in zip(nodes, chosen, strict=True):
        node.name = ", ".join(str(vocabulary[j]) for j in codes)


def choose_codes(
    centers: Sequence[Floats],
    parents: Sequence[int],
    vocabulary: Names,
    disclosed: Sequence[NDArray[np.bool_]] | None = None,
) -> list[list[int]]:
    """Choose up to three codes for each node, the root first; see `momentree.naming`.

    `disclosed` says which codes of each node may be shown.
    """
    columns: dict[str, int] = {}
    ranked, n_leading = [], []
    for i, parent in enumerate(parents):
        center = centers[i]
        if disclosed is not None:
            center = np.where(disclosed[i], center, 0.0)
        above = centers[parent if i else 0]
        order, leading = rank_terms(center, centers[0], above, CODE_LAMBDA, vocabulary, _CANDIDATES)
        # Two codes with the same name are different codes.
        columns |= {str(j): int(j) for j in order}
        ranked.append([str(j) for j in order])
        n_leading.append(leading)
    return [[columns[key] for key in keys] for keys in choose_distinct(ranked, n_leading)]


def name_by_difference(root: TreeNode, vocabulary: Names, spread: Floats) -> None:
    """Name every node by the features that set it apart, such as "high age, low weight".

    Features are ranked by how far the mean of the node is from that of all samples, and how much
    further in the same direction than that of the node above, in units of `spread`: the standard
    deviation within groups. Names differ for all nodes. One whose means are those of all samples
    has a number, such as "group 2".
    """
    ranked, n_leading = [], []
    for node in root.nodes():
        z = (node.center - root.center) / spread
        above = root if node.parent is None else node.parent
        score = np.abs(z) + np.sign(z) * (node.center - above.center) / spread
        notable = np.abs(z) >= (1.0 - SAME) * NOTABLE
        top = np.lexsort((ranks(score), ~notable))
        top = top[np.abs(z[top]) > SAME * np.abs(z).max(initial=1.0)][:_CANDIDATES]
        ranked.append([f"{'high' if z[j] > 0 else 'low'} {vocabulary[j]}" for j in top])
        n_leading.append(max(1, int(notable[top].sum())))
    chosen = choose_distinct(ranked, n_leading)
    name_by_number(root)
    for node, terms in zip(root.nodes(), chosen, strict=True):
        if terms or node is root:
            node.name = ", ".join(terms)


def name_by_number(root: TreeNode) -> None:
    """Name every node by the numbers of its leaves, if no feature has a meaning of its own."""
    for number, node in nodes_by_number(root).items():
        node.name = f"group {number}" if node.is_leaf else f"groups {number}"
    if root.children:
        root.name = "all groups"


def most_relevant(center: Floats, base: Floats, disclosed: NDArray[np.bool_] | None = None) -> Ints:
    """Return the codes that distinguish a group, most relevant first.

    Codes that are rarer in the group than overall are returned only if there are no others.
    """
    present = np.flatnonzero((center > 0) & (base > 0) & (True if disclosed is None else disclosed))
    more = present[center[present] >= base[present]]
    present = more if more.size else present
    return present[relevance_order(center[present], base[present], CODE_LAMBDA)]


def nodes_by_number(root: TreeNode) -> dict[str, TreeNode]:
    """Return the nodes below a root by number: "3" for leaf 3, "0-3" for that above 0 to 3."""
    nodes = {}
    for node in root.nodes():
        leaves = [leaf.leaf_id or 0 for leaf in node.leaves()]
        if node.is_leaf:
            nodes[str(node.leaf_id)] = node
        elif node.parent is not None:
            nodes[f"{min(leaves)}-{max(leaves)}"] = node
    return nodes


def _parents(nodes: Sequence[TreeNode]) -> list[int]:
    place = {id(node): i for i, node in enumerate(nodes)}
    return [0 if node.parent is None else place[id(node.parent)] for node in nodes]
