"""Choose the documents that a page includes, within a budget, and describe them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats, Int64s, Ints
from momentree.report._estimators import Fitted
from momentree.report.text import MAX_NAME, clean_text, snippet
from momentree.tree.node import TreeNode

# Limits that keep the page below 3 MB and quick to open.
_MAX_DOCUMENTS = 4000
_MAX_INDEX_BYTES = 1_300_000
_INDEX_SNIPPET = 320
_TYPICAL_SNIPPET = 900
_MAX_TYPICAL_CHARACTERS = 400_000
_MAX_WORDS = 24
# Weight of the corpus in the mixture that replaces a node's word probabilities, so that a word
# absent from the node contributes log(1%) to a document's score instead of minus infinity.
_BACKGROUND = 0.01


def index_documents(
    model: Fitted,
    X: sp.csr_array | None,
    ids: Sequence[str] | None,
    texts: Sequence[str] | None,
    label_of: Ints | None,
    proportions: Floats | None,
    n_documents: int,
) -> tuple[dict[str, Any], list[list[int]]]:
    """Choose the documents that a page includes, and describe each.

    Returns the documents and, for each node, the positions of at most `n_documents` typical ones,
    most typical first (none without counts X). `label_of` contains the number of the known label of
    each document, or -1.
    """
    root, leaf_of = model.root, model.labels
    n = len(leaf_of)
    leaves = {leaf.leaf_id: leaf for leaf in root.leaves()}

    def describe(row: int, length: int) -> dict[str, Any]:
        text = ""
        if texts is not None:
            text = snippet(texts[row] if texts[row] is not None else "", length)
        elif X is not None:
            leaf = leaves[int(leaf_of[row])]
            text = words_of_row(X[[row]], leaf, root.center, model.vocabulary)
        item = {
            "row": row,
            "id": snippet(str(ids[row]), MAX_NAME) if ids is not None else str(row),
            "label": None if label_of is None or label_of[row] < 0 else int(label_of[row]),
            "leaf": int(leaf_of[row]),
            "text": clean_text(text),
        }
        if proportions is not None:
            item["proportions"] = _largest(proportions[row])
        return item

    typical: list[Ints] = [np.empty(0, dtype=np.intp) for _ in root.nodes()]
    if X is not None and n_documents:
        typical = typical_documents(X, root, leaf_of, n_documents)
    required = {int(row) for rows in typical for row in rows}
    # Describe only rows that can be chosen; sample a huge corpus by row number first.
    few = evenly_spread(leaf_of, np.ones(n, dtype=np.int64), _MAX_DOCUMENTS, n)
    items = {int(row): describe(int(row), _INDEX_SNIPPET) for row in few}
    cost = np.array([_json_bytes(items[int(row)]) for row in few], dtype=np.int64)
    fits = evenly_spread(leaf_of[few], cost, _MAX_DOCUMENTS, _MAX_INDEX_BYTES)
    shown = sorted({int(few[j]) for j in fits} | required)
    length = _MAX_TYPICAL_CHARACTERS // (len(required) or 1)
    for row in required:
        items[row] = describe(row, max(_INDEX_SNIPPET, min(_TYPICAL_SNIPPET, length)))
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


def words_of_row(
    row: sp.csr_array, node: TreeNode, base: Floats, vocabulary: NDArray[np.str_]
) -> str:
    """Return at most 24 words of a row of counts, most characteristic of a node first.

    `base` is p(w) in the whole corpus. Counts above 1 follow their words, as in "sea ×3".
    """
    counts, columns = row.data.astype(np.float64), row.indices  # unsigned counts cannot be negated
    evidence = counts * _log_lift(node.center, base)[columns]
    order = np.lexsort((columns, -counts, -evidence))[:_MAX_WORDS]
    return ", ".join(
        f"{vocabulary[columns[j]]} ×{counts[j]:g}"
        if counts[j] != 1
        else str(vocabulary[columns[j]])
        for j in order
    )


def typical_documents(
    X: sp.csr_array, root: TreeNode, labels: Ints, n_documents: int
) -> list[Ints]:
    r"""Find the most typical documents of each node.

    With the log-scaled counts y = log(1 + x) of a document and
    ℓ(w) = log(0.99·p(w|node)/p(w) + 0.01), the score is Σ_w y_w ℓ(w) / (Σ_w y_w + m), the
    evidence per word for the node against the whole corpus. Log scaling keeps repeated words from
    dominating, and m, the median of Σ_w y_w, shrinks the scores of very short documents. At the
    root, where the evidence is 0, the most typical documents of the leaves alternate, largest leaf
    first.

    Notes
    -----
    Time: one product X·v per node. Memory: O(nnz + n_samples).
    """
    scaled = X.astype(np.float64, copy=True)
    np.log1p(scaled.data, out=scaled.data)
    mass = np.asarray(scaled.sum(axis=1)).ravel()
    filled = mass > 0
    shrink = float(np.median(mass[filled])) if filled.any() else 1.0
    found: list[Ints] = []
    for node in root.nodes():
        leaves = [leaf.leaf_id for leaf in node.leaves() if leaf.leaf_id is not None]
        rows = np.flatnonzero(np.isin(labels, leaves) & filled)
        if node.parent is None and not node.is_leaf:
            found.append(rows[:0])
            continue
        score = (scaled @ _log_lift(node.center, root.center))[rows] / (mass[rows] + shrink)
        found.append(rows[np.lexsort((rows, -np.round(score, 12)))[:n_documents]])
    if not root.is_leaf:
        by_size = sorted(root.leaves(), key=lambda leaf: -leaf.weight)
        found[0] = _in_turn([found[leaf.node_id] for leaf in by_size], n_documents)
    return found


def evenly_spread(labels: Ints, cost: Int64s, max_documents: int, max_cost: int) -> Ints:
    """Choose rows within a budget, spread evenly over the leaves and over the corpus.

    Sort rows by leaf, then by position in the corpus, and choose every (n/m)-th row, with the
    largest m that fits, so that each leaf keeps its share. Returns ascending row numbers.
    """
    order = np.argsort(labels, kind="stable")
    n = len(order)
    m = min(n, max_documents)
    while m > 0:
        rows = order[(np.arange(m) * n) // m]
        total = int(cost[rows].sum())
        if total <= max_cost:
            return np.sort(rows)
        m = min(m - 1, m * max_cost // total)
    return order[:0]


def _log_lift(center: Floats, base: Floats) -> Floats:
    lift = np.divide(center, base, out=np.ones_like(center), where=base > 0)
    return np.asarray(np.log((1.0 - _BACKGROUND) * lift + _BACKGROUND), dtype=np.float64)


def _in_turn(lists: Sequence[Iterable[int]], limit: int) -> Ints:
    turns = [iter(rows) for rows in lists]
    taken: list[int] = []
    while turns and len(taken) < limit:
        for turn in list(turns):
            row = next(turn, None)
            if row is None:
                turns.remove(turn)
            else:
                taken.append(int(row))
    return np.array(taken[:limit], dtype=np.intp)


def _largest(proportions: Floats) -> list[list[float]]:
    """Return up to eight topics with proportions of at least 1%, in per mille, largest first."""
    order = np.argsort(-proportions, kind="stable")[:8]
    return [[int(j), round(1000 * float(proportions[j]))] for j in order if proportions[j] >= 0.01]


def _json_bytes(item: dict[str, Any]) -> int:
    return len(json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode())
