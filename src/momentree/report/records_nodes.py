"""Groups of records as nodes of a tree: their place, size and name, from what may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.metrics._intervals import certain_records, wilson_interval
from momentree.report.layout import icicle_cells
from momentree.report.records_table import ShownTable
from momentree.tree.naming import most_relevant
from momentree.tree.node import TreeNode

__all__ = ["group_nodes", "short_name", "tree_of_groups"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_DIGITS = 9
"""So many that what is rounded again to be shown is rounded as what is not."""
_NAME_CODES = 3
_FEW = 2 / 3
_SHARED = 0.5
"""A group is a rest where its records hold fewer codes than this part of what all hold, and no code
is in this part of them: births have few codes too, but the same ones."""
_NAME_LENGTH = 48
"""Letters of one code in the name of a group."""
_SEPARATOR = "\N{NO-BREAK SPACE}· "
"""Names of codes have commas of their own; a line does not begin with the dot."""


def tree_of_groups(estimator: Any, about: Floats) -> TreeNode:
    """Return the tree of the groups with the shares that are shown, one level for a flat model.

    Parameters
    ----------
    estimator : ClusterTree or BernoulliMixture
        Fitted.
    about : ndarray of shape (k,)
        Sizes of the groups.

    Returns
    -------
    TreeNode
        The root, without centers and samples: it holds nothing that the page does not show.
    """
    total = max(float(about.sum()), 1.0)
    nothing = np.empty(0)
    if not hasattr(estimator, "tree_"):
        root = TreeNode(nothing, 1.0)
        if len(about) == 1:
            root.leaf_id = 0
            return root
        order = np.argsort(-np.round(about, 9), kind="stable")
        root.children = [
            TreeNode(nothing, about[j] / total, depth=1, node_id=i, leaf_id=int(j), parent=root)
            for i, j in enumerate(order, start=1)
        ]
        return root
    copies: dict[int, TreeNode] = {}
    for at, node in enumerate(estimator.tree_.nodes()):
        leaves = [leaf.leaf_id for leaf in node.leaves()]
        parent = None if node.parent is None else copies[id(node.parent)]
        copy = TreeNode(
            nothing,
            float(about[leaves].sum()) / total,
            depth=node.depth,
            node_id=at,
            leaf_id=node.leaf_id if node.is_leaf else None,
            parent=parent,
        )
        copies[id(node)] = copy
        if parent is not None:
            parent.children.append(copy)
    return copies[id(estimator.tree_)]


def group_nodes(
    root: TreeNode,
    table: ShownTable,
    names: Sequence[str],
    labels: Ints,
    proba: Floats,
    *,
    spread: bool,
    n_codes: int,
) -> list[dict[str, Any]]:
    """Describe every node by its size, its codes and its name.

    Parameters
    ----------
    root : TreeNode
        From `tree_of_groups`.
    table : ShownTable
        What may be shown.
    names : sequence of str of length d
        What each code means.
    labels : ndarray of int of shape (n,)
        Group of each record.
    proba : ndarray of shape (n, k)
        Probability of each group for each record.
    spread : bool
        Whether neighbours get hues far apart.
    n_codes : int
        Codes of each node at most.

    Returns
    -------
    list of dict
        In pre-order, see `momentree.report.summarize_records`.
    """
    everyone = list(range(len(table.about)))
    base = table.rates(everyone)
    nodes = []
    cells = icicle_cells(root, spread=spread)
    for node, cell in zip(root.nodes(), cells, strict=True):
        leaves = _groups(node)
        n = float(table.about[leaves].sum())
        # Hidden sizes of all groups together are known: they are what is left of the whole.
        hidden = set(np.flatnonzero(table.sizes < 0).tolist())
        exact = not hidden & set(leaves) or hidden <= set(leaves)
        rates = table.rates(leaves)
        n_held = float(rates.sum())
        rest = node.is_leaf and n_held < _FEW * base.sum() and rates.max() < _SHARED
        top = most_relevant(rates, base, table.told(leaves))[:n_codes]
        nodes.append(
            {
                "id": node.node_id,
                "parent": None if node.parent is None else node.parent.node_id,
                "children": [child.node_id for child in node.children],
                "depth": node.depth,
                "leaf": node.leaf_id,
                "leaves": leaves,
                "name": _name(node, top, names, _NAME_LENGTH),
                "long_name": _name(node, top, names, None),
                "n_samples": round(n),
                "exact": exact,
                "size": _size(n, exact, table.sizes[leaves], table.min_cell),
                "share": round(n / max(len(labels), 1), _DIGITS),
                "share_interval": _interval(leaves, labels, proba)
                if exact and node.parent is not None
                else None,
                "codes_per_record": round(n_held, _DIGITS),
                "rest": bool(rest),
                "top": top.tolist(),
                "top_rates": np.round(rates[top], _DIGITS).tolist(),
                "top_about": table.estimated(leaves)[top].tolist(),
                "cell": {
                    "x0": round(cell.x0, 6),
                    "x1": round(cell.x1, 6),
                    "top": cell.top,
                    "bottom": cell.bottom,
                    "hue": cell.hue,
                },
            }
        )
    return nodes


def short_name(name: str, length: int = _NAME_LENGTH) -> str:
    """Return the beginning of a name, cut between words.

    Parameters
    ----------
    name : str
        What a code means.
    length : int, default=48
        Letters at most, of a name of more than one word.

    Returns
    -------
    str
        With "…" where something is cut.

    Examples
    --------
    >>> short_name("Symptoms involving respiratory system and other chest symptoms")
    'Symptoms involving respiratory system and other…'
    """
    words = name.split()
    if len(name) <= length or len(words) < 2:
        return name if len(name) <= 2 * length else name[: 2 * length] + "…"
    kept = words[:1]
    while len(" ".join([*kept, words[len(kept)]])) < length:
        kept.append(words[len(kept)])
    while len(kept) > 1 and kept[-1].lower().strip(",") in {"and", "or", "of", "the", "with", "to"}:
        kept.pop()
    return " ".join(kept).rstrip(",;") + "…"


def _name(node: TreeNode, top: Ints, names: Sequence[str], length: int | None) -> str:
    if node.parent is None and node.children:
        return "All records"
    parts = [
        names[j] if length is None else short_name(names[j], length) for j in top[:_NAME_CODES]
    ]
    return _SEPARATOR.join(parts) or "(no common codes)"


def _size(n: float, exact: bool, sizes: NDArray[np.int64], min_cell: int) -> str:
    if exact:
        return f"{round(n):,}"
    return f"<{min_cell}" if len(sizes) == 1 and sizes[0] == -1 else f"about {round(n):,}"


def _interval(leaves: list[int], labels: Ints, proba: Floats) -> list[float]:
    """Return the interval of a share that is counted, with the doubt whose record it is."""
    inside = np.clip(proba[:, leaves].sum(axis=1), 0.0, 1.0)[:, None]
    share = np.isin(labels, leaves).mean(keepdims=True)
    certain = certain_records(inside, np.ones(len(labels)))
    return [round(float(limit), _DIGITS) for limit in wilson_interval(share, certain, 0.95)[0]]


def _groups(node: TreeNode) -> list[int]:
    return sorted(int(leaf.leaf_id or 0) for leaf in node.leaves())
