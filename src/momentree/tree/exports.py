"""Export a tree: dictionaries, a data frame, Newick, networkx, decision paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.messages import Message
from momentree.metrics import relevance
from momentree.naming import N_SHOWN
from momentree.tree.naming import shown_words
from momentree.tree.node import TreeNode

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


def _record(node: TreeNode) -> dict[str, Any]:
    return {
        "node_id": node.node_id,
        "parent_id": None if node.parent is None else node.parent.node_id,
        "leaf_id": node.leaf_id,
        "depth": node.depth,
        "name": node.name,
        "n_samples": node.n_samples,
        "weight": node.weight,
        "gain": node.gain,
        "reason": "" if node.reason is None else str(node.reason),
        "reason_code": "" if node.reason is None else node.reason.code,
    }


def to_dict(
    root: TreeNode,
    vocabulary: Sequence[str] | NDArray[np.str_],
    *,
    scale: Floats | None = None,
) -> dict[str, Any]:
    """Return a tree as nested dictionaries of plain values.

    Words are those that are shown, best first; their relevance has lambda = 0.7. With a `scale`
    they are ranked by it, and it is (center - root center) / scale.
    """

    def visit(node: TreeNode) -> dict[str, Any]:
        if scale is None:
            score = np.asarray(relevance(node.center[None], root.center))[0]
            top = shown_words(node, root.center, N_SHOWN).tolist()
        else:
            score = (node.center - root.center) / scale
            top = [j for j in np.argsort(-np.abs(score), kind="stable")[:N_SHOWN] if score[j]]
        words = [
            {
                "word": str(vocabulary[j]),
                "probability": float(node.center[j]),
                "relevance": float(score[j]),
            }
            for j in top
        ]
        return {**_record(node), "words": words, "children": [visit(c) for c in node.children]}

    return visit(root)


def to_frame(root: TreeNode) -> pd.DataFrame:
    """Return a data frame with one row per node in pre-order.

    Columns: node_id (the index), parent_id and leaf_id (integers or missing), depth, name,
    n_samples, weight, gain (nats), reason, reason_code.
    """
    import pandas as pd

    frame = pd.DataFrame.from_records([_record(node) for node in root.nodes()])
    whole = {"parent_id": "Int64", "leaf_id": "Int64"}
    return frame.astype(whole).set_index("node_id")


def to_newick(root: TreeNode) -> str:
    """Return a tree in Newick format, with quoted names and branches of length 1."""

    def visit(node: TreeNode) -> str:
        inside = f"({','.join(visit(child) for child in node.children)})" if node.children else ""
        quoted = node.name.replace("'", "''")
        return f"{inside}'{quoted}'" + (":1" if node.parent is not None else "")

    return visit(root) + ";"


def to_networkx(root: TreeNode) -> nx.DiGraph:
    """Return a directed graph; node attributes are the columns of :func:`to_frame`."""
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError(str(Message("networkx_missing"))) from error
    graph = nx.DiGraph()
    for node in root.nodes():
        attributes = _record(node)
        graph.add_node(attributes.pop("node_id"), **attributes)
        if node.parent is not None:
            graph.add_edge(node.parent.node_id, node.node_id)
    return graph


def decision_path(root: TreeNode, labels: Ints) -> Any:
    """Return a sparse indicator, (n, n_nodes), of the nodes on the path to each sample's leaf."""
    nodes = list(root.nodes())
    paths: list[list[int]] = []
    for leaf in root.leaves():
        path, node = [], leaf
        while node is not None:
            path.append(node.node_id)
            node = node.parent  # type: ignore[assignment]
        paths.append(path[::-1])
    paths.append([])  # of samples in no leaf, -1
    lengths = np.array([len(path) for path in paths])
    starts = np.concatenate(([0], np.cumsum(lengths[labels])))
    indices = np.concatenate([np.asarray(paths[i], dtype=np.intp) for i in labels])
    return sp.csr_array(
        (np.ones(int(starts[-1]), dtype=bool), indices, starts), shape=(len(labels), len(nodes))
    )
