"""A fitted tree in other forms: dictionaries, tables, Newick, graphs, and HTML in notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.estimators.names import nodes_by_number, show_words
from momentree.estimators.node import TreeNode
from momentree.messages import Message
from momentree.metrics import relevance
from momentree.naming import N_SHOWN

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
            top = show_words(node, root.center, N_SHOWN).tolist()
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
        raise ImportError(
            str(Message("[networkx_missing] to_networkx requires networkx: pip install networkx"))
        ) from error
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


# Nodes deeper than this are initially collapsed.
_OPEN_DEPTH = 3

_STYLE = (
    ".momentree{font-size:.95em;line-height:1.5;max-width:60em}"
    ".momentree details,.momentree .leaf{margin-left:1.1em}"
    ".momentree>details,.momentree>.leaf{margin-left:0}"
    ".momentree summary{cursor:pointer}"
    ".momentree .leaf{padding-left:1em}"
    ".momentree small{opacity:.72}"
    ".momentree .bar{display:inline-block;width:6em;height:.5em;margin-right:.6em;"
    "border-radius:3px;background:rgba(128,128,128,.22);vertical-align:middle}"
    ".momentree .bar i{display:block;height:100%;min-width:2px;border-radius:3px;"
    "background:#4f9a94}"
)


_SAMPLES = {"binary": "records", None: "documents"}
"""Word for samples by kind of data of a cluster tree; None is for topic trees."""

_MAX_NAME = 36
"""Maximum length of a code name in characters, so that a node fits on one or two lines."""


_UNNAMED = "columns_without_names"


def repr_html(estimator: Any) -> str:
    """Render a fitted tree as a collapsible nested list, without scripts."""
    root = estimator.tree_
    kind = getattr(estimator, "data_", None)
    n_words = 5 if kind == "binary" else 8
    n_leaves = sum(1 for _ in root.leaves())
    head = (
        f"<p><b>{escape(type(estimator).__name__)}</b> "
        f"<small>{root.n_samples:,} {_SAMPLES.get(kind, 'samples')}, {n_leaves} "
        f"{'leaf' if n_leaves == 1 else 'leaves'}</small></p>"
    )

    by_number = nodes_by_number(root)
    given = {id(by_number[number]) for number in getattr(estimator, "given_names_", {})}

    described = getattr(estimator, "_described", False)
    unnamed = kind in ("real", "directions") and not described

    def words(node: TreeNode) -> str:
        if unnamed or id(node) in given:
            return node.name
        order = show_words(node, root.center, n_words)
        top = [(str(estimator.vocabulary_[j]), node.center[j]) for j in order]
        if kind == "binary":
            return " · ".join(f"{_cut(name)} {100 * rate:.0f}\u00a0%" for name, rate in top)
        return ", ".join(name for name, _ in top)

    body = _render(root, words)
    hints = [str(note) for note in getattr(estimator, "notes_", ()) if note.code == _UNNAMED]
    hint = "".join(f"<p><small>Note: {escape(note)}</small></p>" for note in hints)
    return f'<div class="momentree"><style>{_STYLE}</style>{head}{body}{hint}</div>'


def _render(node: TreeNode, words: Callable[[TreeNode], str]) -> str:
    number = f"<b>{node.leaf_id}:</b> " if node.is_leaf else ""
    line = (
        f'<span class="bar"><i style="width:{100 * node.weight:.1f}%"></i></span>'
        f'{number}<span dir="auto">{escape(words(node))}</span> '
        f"<small>{node.n_samples:,} ({100 * node.weight:.1f}&nbsp;%)</small>"
    )
    if node.is_leaf:
        return f'<div class="leaf">{line}</div>'
    inside = "".join(_render(child, words) for child in node.children)
    is_open = " open" if node.depth < _OPEN_DEPTH else ""
    return f"<details{is_open}><summary>{line}</summary>{inside}</details>"


def _cut(name: str) -> str:
    return name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 1].rstrip(" ,;(") + "…"
