"""A fitted tree and its documents as one plain dictionary: all that a report shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import npmi_coherence, umass_coherence
from momentree.report._fitted import FittedTree, fitted_root
from momentree.report.documents import (
    MAX_NAME,
    clean_text,
    evenly_spread,
    snippet,
    typical_documents,
    words_of_row,
)
from momentree.report.labels import agreement, count_labels, index_labels
from momentree.report.layout import icicle_cells
from momentree.report.provenance import provenance
from momentree.report.words import relevance_order, words_for_every_lambda
from momentree.tree.node import TreeNode

__all__ = ["DEFAULT_LAMBDA", "summarize"]

DEFAULT_LAMBDA = 0.7

# The document index of the search box: what keeps the page under 3 MB and quick to open.
_MAX_DOCUMENTS = 4000
_MAX_INDEX_BYTES = 1_300_000
_INDEX_SNIPPET = 320
_TYPICAL_SNIPPET = 900
_MAX_TYPICAL_CHARACTERS = 400_000
# Words whose co-occurrence is measured, as usual for coherence.
_COHERENCE_WORDS = 10
_COHERENCE_NODES = 64


def summarize(
    estimator: FittedTree,
    X: object | None = None,
    *,
    ids: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    title: str | None = None,
    n_words: int = 20,
    n_documents: int = 8,
    made_with: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Summarize a fitted tree and its documents as a dictionary for `render_html`.

    Parameters
    ----------
    estimator : TopicTree
        A fitted tree: its ``tree_``, ``labels_`` (n_samples,), ``vocabulary_`` and
        ``get_params()`` are read.
    X : {array-like, sparse array} of shape (n_samples, n_features), optional
        The counts that the tree was fitted on, >= 0. Without them there is no coherence
        and there are no typical documents.
    ids : sequence of str of length n_samples, optional
        Names of the documents; by default their row numbers, from 0.
    texts : sequence of str of length n_samples, optional
        The documents; their beginnings are shown. Without them each shown document is
        represented by its words, which needs ``X``.
    labels : sequence of str of length n_samples, optional
        Known labels, for the breakdown; ``None`` entries mean no label.
    title : str, optional
        Name of the corpus; "Topic tree" by default.
    n_words : int, default=20
        Words that a node shows at one setting of the slider, >= 1.
    n_documents : int, default=8
        Most typical documents per node, >= 0.
    made_with : mapping of str to object, optional
        Further lines for "how it was made", such as the input or the seconds a fit took.
        Nothing is added to them: without a date there is none, so that the same input gives
        the same bytes.

    Returns
    -------
    dict
        JSON-able. ``title``, ``n_documents``, ``n_features``, ``n_leaves``, ``n_words``,
        ``default_lambda``;
        ``words``: ``word`` and ``p`` (p(w) in the corpus) of every word used;
        ``nodes`` in pre-order: ``id``, ``parent``, ``children``, ``depth``, ``leaf``,
        ``name`` ("All documents" for a root that is split), ``n_samples``, ``share`` (of
        the sample weight), ``gain`` (nats),
        ``reason``, ``words`` (``index`` into the words and ``p`` = p(w|node), complete for
        every lambda in [0, 1], by descending ``p``), ``top`` (indices at the default
        lambda, best first), ``coherence`` (``umass``, ``npmi``, or None), ``documents``
        (positions in the shown documents, most typical first), ``labels`` (pairs of label
        index and count, descending), ``other_labels`` (count of the documents whose labels
        are not listed), ``cell`` (place in the icicle);
        ``labels``: the distinct labels by descending count, or None; ``agreement``:
        ``nmi`` and ``ari`` of leaves and labels, or None;
        ``documents``: ``total``, ``shown``, ``sampled`` (whether only a sample is shown) and
        ``items`` (``row``, ``id``, ``label``, ``leaf``, ``text``);
        ``made``: ``parameters``, ``versions``, ``notes``.

    Raises
    ------
    InvalidDataError
        When ``X``, ``ids``, ``texts`` or ``labels`` do not have one entry per sample, or
        ``X`` not one column per word.
    InvalidParameterError
        When ``n_words`` < 1 or ``n_documents`` < 0.

    Notes
    -----
    Of a large corpus only a sample of documents is shipped: at most 4,000 and 1.3 MB,
    evenly spread over the leaves and within each leaf over the corpus, and in any case the
    typical documents. Time is one product X·v per node.
    """
    _check_int("n_words", n_words, 1)
    _check_int("n_documents", n_documents, 0)
    root = fitted_root(estimator)
    leaf_of = np.asarray(estimator.labels_)
    n = len(leaf_of)
    for name, values in (("ids", ids), ("texts", texts), ("labels", labels)):
        if values is not None and len(values) != n:
            msg = (
                f"{name} has {len(values)} entries but the tree was fitted on {n} documents. "
                f"Give one entry per row of X, in the same order."
            )
            raise InvalidDataError(msg)
    counts = None if X is None else _as_counts(X, n, len(estimator.vocabulary_))

    words, nodes = _summarize_nodes(root, estimator.vocabulary_, n_words)
    label_names, label_of = index_labels(labels)
    for entry, node in zip(nodes, root.nodes(), strict=True):
        entry.update(count_labels(label_of[node.samples] if label_of is not None else None))
        entry["coherence"] = None
    if counts is not None:
        _add_coherence(nodes, root, counts)
    documents, typical = _summarize_documents(
        root, leaf_of, counts, ids, texts, label_of, estimator.vocabulary_, n_documents
    )
    for entry, positions in zip(nodes, typical, strict=True):
        entry["documents"] = positions
    return {
        "title": clean_text(title if title else "Topic tree"),
        "n_documents": n,
        "n_features": len(estimator.vocabulary_),
        "n_leaves": sum(1 for _ in root.leaves()),
        "n_words": n_words,
        "default_lambda": DEFAULT_LAMBDA,
        "words": words,
        "nodes": nodes,
        "labels": label_names,
        "agreement": agreement(leaf_of, label_of),
        "documents": documents,
        "made": provenance(estimator, made_with),
    }


def _summarize_nodes(
    root: TreeNode, vocabulary: NDArray[np.str_], n_words: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    base = root.center
    position: dict[int, int] = {}
    nodes = []
    for node, cell in zip(root.nodes(), icicle_cells(root), strict=True):
        columns = words_for_every_lambda(node.center, base, n_words)
        index = [position.setdefault(int(c), len(position)) for c in columns]
        top = relevance_order(node.center[columns], base[columns], DEFAULT_LAMBDA)[:n_words]
        nodes.append(
            {
                "id": int(node.node_id),
                "parent": None if node.parent is None else int(node.parent.node_id),
                "children": [int(child.node_id) for child in node.children],
                "depth": int(node.depth),
                "leaf": None if node.leaf_id is None else int(node.leaf_id),
                "name": _name(node),
                "n_samples": int(node.n_samples),
                "share": float(node.weight),
                "gain": float(node.gain),
                "reason": clean_text(node.reason),
                "words": {"index": index, "p": _short(node.center[columns])},
                "top": [index[j] for j in top],
                "cell": {
                    "x0": round(cell.x0, 6),
                    "x1": round(cell.x1, 6),
                    "top": cell.top,
                    "bottom": cell.bottom,
                    "hue": cell.hue,
                },
            }
        )
    used = np.fromiter(position, dtype=np.intp, count=len(position))
    words = {
        "word": [clean_text(word) for word in vocabulary[used]],
        "p": _short(base[used]),
    }
    return words, nodes


def _name(node: TreeNode) -> str:
    if node.parent is None and node.children:
        return "All documents"
    return clean_text(node.name) or "(no words)"


def _add_coherence(nodes: list[dict[str, Any]], root: TreeNode, X: sp.csr_array) -> None:
    columns = sp.csc_array(X)
    # Nodes with the same number of words go together, in groups that keep the table of
    # co-occurrences small.
    by_length: dict[int, list[tuple[dict[str, Any], NDArray[np.intp]]]] = {}
    for entry, node in zip(nodes, root.nodes(), strict=True):
        top = np.argsort(-node.center, kind="stable")[:_COHERENCE_WORDS]
        top = top[node.center[top] > 0]
        by_length.setdefault(len(top), []).append((entry, top))
    for length, entries in by_length.items():
        if length < 2:
            continue
        for start in range(0, len(entries), _COHERENCE_NODES):
            group = entries[start : start + _COHERENCE_NODES]
            table = np.array([top for _, top in group])
            umass, npmi = umass_coherence(table, columns), npmi_coherence(table, columns)
            for (entry, _), u, v in zip(group, umass, npmi, strict=True):
                if np.isfinite(u) and np.isfinite(v):
                    entry["coherence"] = {"umass": round(float(u), 6), "npmi": round(float(v), 6)}


def _summarize_documents(
    root: TreeNode,
    leaf_of: NDArray[np.intp],
    X: sp.csr_array | None,
    ids: Sequence[str] | None,
    texts: Sequence[str] | None,
    label_of: NDArray[np.intp] | None,
    vocabulary: NDArray[np.str_],
    n_documents: int,
) -> tuple[dict[str, Any], list[list[int]]]:
    n = len(leaf_of)
    leaves = list(root.leaves())

    def describe(row: int, length: int) -> dict[str, Any]:
        if texts is not None:
            text = snippet(texts[row] if texts[row] is not None else "", length)
        elif X is not None:
            leaf = leaves[int(leaf_of[row])]
            text = words_of_row(X[[row]], leaf, root.center, vocabulary)
        else:
            text = ""
        label = None if label_of is None or label_of[row] < 0 else int(label_of[row])
        name = snippet(str(ids[row]), MAX_NAME) if ids is not None else str(row)
        return {
            "row": row,
            "id": name,
            "label": label,
            "leaf": int(leaf_of[row]),
            "text": clean_text(text),
        }

    typical: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp) for _ in root.nodes()]
    if X is not None and n_documents:
        typical = typical_documents(X, root, leaf_of, n_documents)
    must = {int(row) for rows in typical for row in rows}
    # Only rows that can be chosen are described: of a huge corpus a first sample by number.
    few = evenly_spread(leaf_of, np.ones(n, dtype=np.int64), _MAX_DOCUMENTS, n)
    items = {int(row): describe(int(row), _INDEX_SNIPPET) for row in few}
    cost = np.array([_json_bytes(items[int(row)]) for row in few], dtype=np.int64)
    fits = evenly_spread(leaf_of[few], cost, _MAX_DOCUMENTS, _MAX_INDEX_BYTES)
    chosen = {int(few[j]) for j in fits} | must
    length = max(_INDEX_SNIPPET, min(_TYPICAL_SNIPPET, _MAX_TYPICAL_CHARACTERS // (len(must) or 1)))
    for row in must:
        items[row] = describe(row, length)
    shown = sorted(chosen)
    place = {row: j for j, row in enumerate(shown)}
    documents = {
        "total": n,
        "shown": len(shown),
        "sampled": len(shown) < n,
        "items": [items[row] for row in shown],
    }
    return documents, [[place[int(row)] for row in rows] for rows in typical]


def _short(values: NDArray[np.float64]) -> list[float]:
    # Nine significant digits: half the bytes, and 5e-10 in a logarithm is below what the
    # order of the words resolves.
    return [float(f"{value:.9g}") for value in values]


def _json_bytes(item: dict[str, Any]) -> int:
    return len(json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode())


def _as_counts(X: Any, n_samples: int, n_features: int) -> sp.csr_array:
    source: Any = X if sp.issparse(X) else np.asarray(X)
    counts = sp.csr_array(source)
    if counts.shape != (n_samples, n_features):
        msg = (
            f"X has shape {counts.shape} but the tree was fitted on {n_samples} documents and "
            f"{n_features} words. Give the matrix that was given to fit."
        )
        raise InvalidDataError(msg)
    return counts


def _check_int(name: str, value: object, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        msg = f"{name} is {value!r} but must be an integer of at least {low}. Give one."
        raise InvalidParameterError(msg)
