"""The groups of a page as nodes of a tree: their place, published size and name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from momentree._types import Floats, Int64s, Ints
from momentree.estimators.names import nodes_by_number
from momentree.estimators.node import TreeNode
from momentree.metrics import intervals
from momentree.report.disclosure import Disclosure
from momentree.report.layout import Cell, icicle_cells

DIGITS = 9
"""Enough digits that a second rounding, for display, gives the same result as one rounding."""
SEPARATOR = "\N{NO-BREAK SPACE}· "
"""A dot, because names of codes contain commas; no line begins with it."""


def place_of(node: TreeNode, cell: Cell) -> dict[str, Any]:
    """Return the place of a node in its tree and in the icicle."""
    return {
        "id": int(node.node_id),
        "parent": None if node.parent is None else int(node.parent.node_id),
        "children": [int(child.node_id) for child in node.children],
        "depth": int(node.depth),
        "leaf": None if node.leaf_id is None else int(node.leaf_id),
        "cell": cell.as_json(),
    }


def names_of(short: list[str], full: list[str], given: str | None) -> dict[str, Any]:
    """Return the name of a node and its parts; a name given by hand replaces them."""
    short, full = ([given], [given]) if given else (short, full)
    return {"name": SEPARATOR.join(short), "name_parts": short, "long_name_parts": full}


def level_of(shares: Floats) -> TreeNode:
    """Return a tree of one level: groups by descending share, without centers and samples."""
    root = TreeNode(np.empty(0), 1.0)
    order = np.argsort(-np.round(shares, 9), kind="stable").tolist()
    root.children = [
        TreeNode(np.empty(0), shares[j], depth=1, node_id=i, leaf_id=j, parent=root)
        for i, j in enumerate(order, start=1)
    ]
    return root


def tree_of_groups(estimator: Any, sizes: Floats) -> TreeNode:
    """Return the tree of k groups with estimated sizes; flat models give one level.

    Nodes have no centers and no samples, so they contain only what the page shows.
    """
    total = max(float(sizes.sum()), 1.0)
    if not hasattr(estimator, "tree_"):
        if len(sizes) > 1:
            return level_of(sizes / total)
        return TreeNode(np.empty(0), 1.0, leaf_id=0)
    copies: dict[int, TreeNode] = {}
    for at, node in enumerate(estimator.tree_.nodes()):
        parent = None if node.parent is None else copies[id(node.parent)]
        copies[id(node)] = TreeNode(
            np.empty(0),
            float(sizes[[leaf.leaf_id for leaf in node.leaves()]].sum()) / total,
            depth=node.depth,
            node_id=at,
            leaf_id=node.leaf_id if node.is_leaf else None,
            parent=parent,
        )
        if parent is not None:
            parent.children.append(copies[id(node)])
    return copies[id(estimator.tree_)]


@dataclass(frozen=True)
class Groups:
    """The k groups of fitted records, with their published sizes and estimates of all sizes."""

    root: TreeNode
    flat: bool
    labels: Ints
    proba: Floats
    sizes: Int64s
    estimates: Floats
    given: Mapping[str, str]
    disclosure: Disclosure

    @classmethod
    def of(cls, estimator: Any, proba: Floats, disclosure: Disclosure) -> Groups:
        """Count the fitted records of each group, and suppress small counts."""
        labels = np.asarray(estimator.labels_)
        flat = not hasattr(estimator, "tree_")
        k = len(estimator.weights_) if flat else len(list(estimator.tree_.leaves()))
        sizes, estimates = disclosure.suppress_sizes(np.bincount(labels, minlength=k))
        root, given = tree_of_groups(estimator, estimates), getattr(estimator, "given_names_", {})
        return cls(root, flat, labels, proba, sizes, estimates, given, disclosure)

    @property
    def k(self) -> int:
        """The number of groups."""
        return len(self.sizes)

    @cached_property
    def below(self) -> list[list[int]]:
        """The groups at or below each node, in pre-order."""
        nodes = self.root.nodes()
        return [sorted(int(leaf.leaf_id or 0) for leaf in node.leaves()) for node in nodes]

    def describe(
        self, short: Sequence[list[str]], full: Sequence[list[str]], nothing: str
    ) -> list[dict[str, Any]]:
        """Describe every node, in pre-order, with the parts of its short and full name.

        Names given by hand replace them, and `nothing` those without parts.
        """
        cells = icicle_cells(self.root, spread=self.flat)
        by_hand = {
            id(node): self.given[number]
            for number, node in nodes_by_number(self.root).items()
            if number in self.given
        }
        hidden = set(np.flatnonzero(self.sizes < 0).tolist())
        nodes = []
        for node, cell, leaves in zip(self.root.nodes(), cells, self.below, strict=True):
            n = float(self.estimates[leaves].sum())
            # The hidden sizes have a known sum: the total minus the published sizes.
            exact = not hidden & set(leaves) or hidden <= set(leaves)
            whole = ["All records"] if node.parent is None and node.children else None
            parts = whole or short[node.node_id] or [nothing]
            full_parts = whole or full[node.node_id] or [nothing]
            nodes.append(
                {
                    **place_of(node, cell),
                    **names_of(parts, full_parts, by_hand.get(id(node))),
                    "automatic_parts": parts,
                    "leaves": leaves,
                    "n_samples": round(n),
                    "exact": exact,
                    "size": self.disclosure.size(self.sizes[leaves], n, exact=exact),
                    "share": round(n / max(len(self.labels), 1), DIGITS),
                    "share_interval": self._share_interval(leaves)
                    if exact and node.parent is not None
                    else None,
                    "residual": False,
                }
            )
        return nodes

    def _share_interval(self, leaves: list[int]) -> list[float]:
        """Return the interval of a counted share, widened if the groups are uncertain."""
        inside = np.clip(self.proba[:, leaves].sum(axis=1), 0.0, 1.0)[:, None]
        share = np.isin(self.labels, leaves).mean(keepdims=True)
        certain = intervals.effective_sample_size(inside, np.ones(len(self.labels)))
        limits = intervals.wilson_interval(share, certain, 0.95)[0]
        return [round(float(limit), DIGITS) for limit in limits]
