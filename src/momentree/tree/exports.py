"""A tree in other forms: dictionaries, a data frame, Newick, networkx, paths of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.assignment.assigners import (
    Assigner,
    Division,
    MixtureAssigner,
    NestedAssigner,
    RuleAssigner,
)
from momentree.assignment.rules import LinearRule, ScoreRule
from momentree.metrics import relevance
from momentree.tree.node import TreeNode

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

__all__ = ["decision_path", "scoring", "to_dict", "to_frame", "to_networkx", "to_newick"]


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
        "reason": node.reason,
    }


def to_dict(
    root: TreeNode,
    vocabulary: Sequence[str] | NDArray[np.str_],
    n_words: int = 20,
    *,
    scale: NDArray[np.float64] | None = None,
) -> dict[str, Any]:
    """Return a tree as nested dictionaries of plain values.

    Parameters
    ----------
    root : TreeNode
        The root.
    vocabulary : sequence of str of shape (d,)
        The words.
    n_words : int >= 0, default=20
        Most relevant words (lambda = 0.7) listed for each node.
    scale : ndarray of shape (d,), default=None
        Spread of each feature, where centers are means of real values: a feature is then as
        relevant as its center is far from that of the root, (center - root center) / scale.

    Returns
    -------
    dict
        "node_id", "parent_id", "leaf_id", "depth", "name", "n_samples", "weight", "gain",
        "reason", "words" (a list of {"word", "probability", "relevance"}) and "children".
    """

    def visit(node: TreeNode) -> dict[str, Any]:
        if scale is None:
            score = np.asarray(relevance(node.center[None], root.center))[0]
            top = [j for j in np.argsort(-score, kind="stable")[:n_words] if node.center[j] > 0]
        else:
            score = (node.center - root.center) / scale
            top = [j for j in np.argsort(-np.abs(score), kind="stable")[:n_words] if score[j]]
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
    """Return a data frame with one row a node in pre-order.

    Columns: node_id (the index), parent_id and leaf_id (whole numbers or missing), depth, name,
    n_samples, weight, gain (nats), reason.
    """
    import pandas as pd

    frame = pd.DataFrame.from_records([_record(node) for node in root.nodes()])
    whole = {"parent_id": "Int64", "leaf_id": "Int64"}
    return frame.astype(whole).set_index("node_id")


def to_newick(root: TreeNode) -> str:
    """Return a tree in Newick format, names quoted, all branches of length 1."""

    def visit(node: TreeNode) -> str:
        inside = f"({','.join(visit(child) for child in node.children)})" if node.children else ""
        quoted = node.name.replace("'", "''")
        return f"{inside}'{quoted}'" + (":1" if node.parent is not None else "")

    return visit(root) + ";"


def to_networkx(root: TreeNode) -> nx.DiGraph:
    """Return a graph from parents to children with the columns of :func:`to_frame` as attributes.

    Raises
    ------
    ImportError
        If networkx is not installed.
    """
    try:
        import networkx as nx
    except ImportError as error:
        msg = "to_networkx needs networkx: pip install networkx"
        raise ImportError(msg) from error
    graph = nx.DiGraph()
    for node in root.nodes():
        attributes = _record(node)
        graph.add_node(attributes.pop("node_id"), **attributes)
        if node.parent is not None:
            graph.add_edge(node.parent.node_id, node.node_id)
    return graph


def decision_path(root: TreeNode, labels: NDArray[np.intp]) -> Any:
    """Return the nodes on the way to each document's leaf, as a sparse (n, n_nodes) indicator."""
    nodes = list(root.nodes())
    paths: list[list[int]] = []
    for leaf in root.leaves():
        path, node = [], leaf
        while node is not None:
            path.append(node.node_id)
            node = node.parent  # type: ignore[assignment]
        paths.append(path[::-1])
    lengths = np.array([len(path) for path in paths])
    starts = np.concatenate(([0], np.cumsum(lengths[labels])))
    indices = np.concatenate([np.asarray(paths[i], dtype=np.intp) for i in labels])
    return sp.csr_array(
        (np.ones(int(starts[-1]), dtype=bool), indices, starts), shape=(len(labels), len(nodes))
    )


def scoring(assigner: Assigner, d: int) -> dict[str, Any]:
    """Return how an assigner scores a record of zeros and ones; see ``ClusterTree.scoring``.

    Parameters
    ----------
    assigner : Assigner
        Of binary data.
    d : int
        Number of features; what comes after them among the statistics is for gaps.

    Returns
    -------
    dict
        Of plain arrays.
    """
    if isinstance(assigner, MixtureAssigner):
        p = assigner.parameters
        coef, intercept = p.coefficients[:d].T, p.offsets
        return {"kind": "mixture", "coef": coef, "intercept": intercept, "group": assigner.leaf}
    if isinstance(assigner, NestedAssigner):
        parts = [
            {"scoring": scoring(part.assigner, d), "leaves": list(part.leaves)}
            if isinstance(part, Division)
            else part
            for part in assigner.parts
        ]
        return {"kind": "nested", "base": scoring(assigner.base, d), "parts": parts}
    assert isinstance(assigner, RuleAssigner)  # noqa: S101 - there is no fourth
    nodes = []
    for rule, children in zip(assigner.rules, assigner.children, strict=True):
        if isinstance(rule, ScoreRule):
            node = {"kind": "scores", "coef": rule.coef[:d].T, "intercept": rule.constant}
        else:
            assert isinstance(rule, LinearRule)  # noqa: S101 - there is no third
            half = 0.5 * rule.coef[:d]
            intercept = 0.5 * rule.intercept * np.array([1.0, -1.0])
            node = {"kind": "linear", "coef": np.stack([half, -half]), "intercept": intercept}
        nodes.append({**node, "children": list(children)})
    return {"kind": "rules", "nodes": nodes}
