"""The documents of a report: which are shipped, within a budget, and what is said of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.report._fitted import Fitted
from momentree.report.documents import (
    MAX_NAME,
    clean_text,
    evenly_spread,
    snippet,
    typical_documents,
    words_of_row,
)

__all__ = ["index_documents"]

# The document index of the search box: what keeps the page under 3 MB and quick to open.
_MAX_DOCUMENTS = 4000
_MAX_INDEX_BYTES = 1_300_000
_INDEX_SNIPPET = 320
_TYPICAL_SNIPPET = 900
_MAX_TYPICAL_CHARACTERS = 400_000
# Of each document the largest shares of topics, none below a percent.
_MAX_SHARES = 8
_MIN_SHARE = 0.01


def index_documents(
    model: Fitted,
    X: sp.csr_array | None,
    ids: Sequence[str] | None,
    texts: Sequence[str] | None,
    label_of: NDArray[np.intp] | None,
    shares: NDArray[np.float64] | None,
    n_documents: int,
) -> tuple[dict[str, Any], list[list[int]]]:
    """Choose the documents that a report ships, and describe each.

    Parameters
    ----------
    model : Fitted
        A tree or flat model.
    X : csr_array of shape (n_samples, n_features) or None
        Counts; without them there are no typical documents.
    ids, texts : sequence of str of length n_samples or None
        Names and texts.
    label_of : ndarray of int of shape (n_samples,) or None
        Position of each label, -1 for none.
    shares : ndarray of shape (n_samples, k) or None
        Shares of topics in documents.
    n_documents : int
        Most typical documents per node.

    Returns
    -------
    documents : dict
        ``total``, ``shown``, ``sampled``, ``searched`` (characters of each document that are
        there to be searched, or None where all are) and ``items``.
    typical : list of list of int
        For each node positions in ``items``, the most typical first.
    """
    root, leaf_of, vocabulary = model.root, model.labels, model.vocabulary
    n = len(leaf_of)
    leaves = {leaf.leaf_id: leaf for leaf in root.leaves()}

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
        item = {
            "row": row,
            "id": name,
            "label": label,
            "leaf": int(leaf_of[row]),
            "text": clean_text(text),
        }
        return item if shares is None else {**item, "shares": _largest(shares[row])}

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
    cut = texts is not None and any(items[row]["text"].endswith("…") for row in shown)
    documents = {
        "total": n,
        "shown": len(shown),
        "sampled": len(shown) < n,
        "searched": _INDEX_SNIPPET if cut else None,
        "items": [items[row] for row in shown],
    }
    return documents, [[place[int(row)] for row in rows] for rows in typical]


def _largest(shares: NDArray[np.float64]) -> list[list[float]]:
    """Return pairs of topic and share, per mille, the largest first."""
    order = np.argsort(-shares, kind="stable")[:_MAX_SHARES]
    return [[int(j), round(1000 * float(shares[j]))] for j in order if shares[j] >= _MIN_SHARE]


def _json_bytes(item: dict[str, Any]) -> int:
    return len(json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode())
