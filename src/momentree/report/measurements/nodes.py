"""Describe groups of measurements as nodes of a tree: place, size, name and differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from momentree._types import Floats, Int64s, Ints
from momentree.estimators.names import nodes_by_number
from momentree.estimators.node import TreeNode
from momentree.naming.terms import choose_distinct
from momentree.report.disclosure import Disclosure
from momentree.report.layout import icicle_cells
from momentree.report.measurements.differences import differences, is_clear, phrase
from momentree.report.measurements.features import Feature
from momentree.report.records._groups import SEPARATOR, share_interval

_DIGITS = 9
_CANDIDATES = 12
"""Features from which a name is chosen."""


def describe_nodes(
    root: TreeNode,
    features: Sequence[Feature],
    sizes: Int64s,
    estimates: Floats,
    labels: Ints,
    proba: Floats,
    disclosure: Disclosure,
    *,
    spread: bool,
    n_features: int,
    given: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Describe every node for `summarize_measurements`, in pre-order.

    Each has its `n_features` largest differences. `given` are names by number that replace those
    made of features.
    """
    k = len(estimates)
    hidden = set(np.flatnonzero(sizes < 0).tolist())
    by_id = {
        id(node): given[number] for number, node in nodes_by_number(root).items() if number in given
    }
    below = [sorted(int(leaf.leaf_id or 0) for leaf in node.leaves()) for node in root.nodes()]
    compared = [differences(features, leaves, k, estimates, disclosure) for leaves in below]
    names = _names(features, compared)
    nodes = []
    for node, cell in zip(root.nodes(), icicle_cells(root, spread=spread), strict=True):
        leaves = below[node.node_id]
        n = float(estimates[leaves].sum())
        # The hidden sizes have a known sum: the total minus the published sizes.
        exact = not hidden & set(leaves) or hidden <= set(leaves)
        own = by_id.get(id(node))
        parts = [own] if own else _parts(node, names[node.node_id])
        nodes.append(
            {
                "id": node.node_id,
                "parent": None if node.parent is None else node.parent.node_id,
                "children": [child.node_id for child in node.children],
                "depth": node.depth,
                "leaf": node.leaf_id,
                "leaves": leaves,
                "name": SEPARATOR.join(parts),
                "name_parts": parts,
                "long_name_parts": parts,
                "automatic_parts": _parts(node, names[node.node_id]),
                "n_samples": round(n),
                "exact": exact,
                "size": disclosure.size(sizes[leaves], n, exact=exact),
                "share": round(n / max(len(labels), 1), _DIGITS),
                "share_interval": share_interval(leaves, labels, proba)
                if exact and node.parent is not None
                else None,
                "residual": False,
                "differences": compared[node.node_id][:n_features],
                "cell": cell.as_json(),
            }
        )
    return nodes


def _names(
    features: Sequence[Feature], compared: Sequence[Sequence[dict[str, Any]]]
) -> list[list[str]]:
    """Choose up to three phrases for each node, clear differences first, no two nodes alike."""
    ranked, n_leading = [], []
    for entries in compared:
        clear = [entry for entry in entries if is_clear(entry)]
        others = [entry for entry in entries if not is_clear(entry)]
        phrases = [(e, phrase(features[e["feature"]], e)) for e in (*clear, *others)]
        kept = [(e, words) for e, words in phrases if words is not None][:_CANDIDATES]
        ranked.append([words for _, words in kept])
        n_leading.append(sum(is_clear(entry) for entry, _ in kept))
    return choose_distinct(ranked, n_leading)


def _parts(node: TreeNode, phrases: list[str]) -> list[str]:
    if node.parent is None and node.children:
        return ["All records"]
    return phrases or ["(no clear differences)"]
