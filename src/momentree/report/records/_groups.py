"""Describe groups of records as nodes of a tree: place, size and name, from published counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.estimators.names import choose_codes, most_relevant, nodes_by_number
from momentree.estimators.node import TreeNode
from momentree.metrics.intervals import effective_sample_size, wilson_interval
from momentree.report.layout import icicle_cells
from momentree.report.records._table import PublishedTable

_DIGITS = 9
"""Enough digits that a second rounding, for display, gives the same result as one rounding."""
_FEW_CODES = 2 / 3
_COMMON = 0.5
"""In a residual group, records have fewer codes than this fraction of the overall mean, and no code
occurs in half of them. Births also have few codes, but they have the same ones."""
SEPARATOR = "\N{NO-BREAK SPACE}· "
"""A dot, because names of codes contain commas; no line begins with it."""


def tree_of_groups(estimator: Any, sizes: Floats) -> TreeNode:
    """Return the tree of k groups with estimated sizes; flat models give one level.

    Nodes have no centers and no samples, so they contain only what the page shows.
    """
    total = max(float(sizes.sum()), 1.0)
    nothing = np.empty(0)
    if not hasattr(estimator, "tree_"):
        root = TreeNode(nothing, 1.0)
        if len(sizes) == 1:
            root.leaf_id = 0
            return root
        order = np.argsort(-np.round(sizes, 9), kind="stable")
        root.children = [
            TreeNode(nothing, sizes[j] / total, depth=1, node_id=i, leaf_id=int(j), parent=root)
            for i, j in enumerate(order, start=1)
        ]
        return root
    copies: dict[int, TreeNode] = {}
    for at, node in enumerate(estimator.tree_.nodes()):
        parent = None if node.parent is None else copies[id(node.parent)]
        copy = TreeNode(
            nothing,
            float(sizes[[leaf.leaf_id for leaf in node.leaves()]].sum()) / total,
            depth=node.depth,
            node_id=at,
            leaf_id=node.leaf_id if node.is_leaf else None,
            parent=parent,
        )
        copies[id(node)] = copy
        if parent is not None:
            parent.children.append(copy)
    return copies[id(estimator.tree_)]


def describe_groups(
    root: TreeNode,
    table: PublishedTable,
    names: Sequence[str],
    shorts: Sequence[str],
    labels: Ints,
    proba: Floats,
    *,
    spread: bool,
    n_codes: int,
    given: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Describe every node for `summarize_records`, in pre-order, with at most `n_codes` codes.

    `given` are names by number that replace those made of codes.
    """
    base = table.rates(range(len(table.size_estimates)))
    hidden = set(np.flatnonzero(table.sizes < 0).tolist())
    nodes = []
    by_id = {
        id(node): given[number] for number, node in nodes_by_number(root).items() if number in given
    }
    below = [sorted(int(leaf.leaf_id or 0) for leaf in node.leaves()) for node in root.nodes()]
    all_rates = [table.rates(leaves) for leaves in below]
    parents = [0 if node.parent is None else node.parent.node_id for node in root.nodes()]
    named = choose_codes(all_rates, parents, names, [table.disclosed(leaves) for leaves in below])
    for node, cell in zip(root.nodes(), icicle_cells(root, spread=spread), strict=True):
        leaves, rates, codes = below[node.node_id], all_rates[node.node_id], named[node.node_id]
        n = float(table.size_estimates[leaves].sum())
        # The hidden sizes have a known sum: the total minus the published sizes.
        exact = not hidden & set(leaves) or hidden <= set(leaves)
        per_record = float(rates.sum())
        top = most_relevant(rates, base, table.disclosed(leaves))[:n_codes]
        own = by_id.get(id(node))
        short = [own] if own else _parts(node, [shorts[j] for j in codes])
        full = [own] if own else _parts(node, [names[j] for j in codes])
        nodes.append(
            {
                "id": node.node_id,
                "parent": None if node.parent is None else node.parent.node_id,
                "children": [child.node_id for child in node.children],
                "depth": node.depth,
                "leaf": node.leaf_id,
                "leaves": leaves,
                "name": SEPARATOR.join(short),
                "name_parts": short,
                "long_name_parts": full,
                "n_samples": round(n),
                "exact": exact,
                "size": table.disclosure.size(table.sizes[leaves], n, exact=exact),
                "share": round(n / max(len(labels), 1), _DIGITS),
                "share_interval": share_interval(leaves, labels, proba)
                if exact and node.parent is not None
                else None,
                "codes_per_record": round(per_record, _DIGITS),
                "residual": bool(
                    node.is_leaf and per_record < _FEW_CODES * base.sum() and rates.max() < _COMMON
                ),
                "top": top.tolist(),
                "top_rates": np.round(rates[top], _DIGITS).tolist(),
                "top_estimated": table.estimated(leaves)[top].tolist(),
                "cell": cell.as_json(),
            }
        )
    return nodes


def _parts(node: TreeNode, codes: list[str]) -> list[str]:
    if node.parent is None and node.children:
        return ["All records"]
    return codes or ["(no common codes)"]


def share_interval(leaves: list[int], labels: Ints, proba: Floats) -> list[float]:
    """Return the interval of a counted share, widened if the groups of records are uncertain."""
    inside = np.clip(proba[:, leaves].sum(axis=1), 0.0, 1.0)[:, None]
    share = np.isin(labels, leaves).mean(keepdims=True)
    certain = effective_sample_size(inside, np.ones(len(labels)))
    return [round(float(limit), _DIGITS) for limit in wilson_interval(share, certain, 0.95)[0]]
