"""Count known labels of documents in each node, and measure their agreement with the leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from momentree._types import Ints
from momentree.estimators.node import TreeNode
from momentree.messages import Message
from momentree.report.text import MAX_NAME, snippet

_MAX_LABELS = 40
_EACH = 5
"""Labeled documents for each leaf and each label, at least: the mutual information of k leaves and
c labels is (k - 1)(c - 1) / 2n nats too large."""


def index_labels(labels: Sequence[str] | None) -> tuple[list[str] | None, Ints | None]:
    """List the labels by descending count, and the position of each document's label, or -1."""
    if labels is None or all(label is None for label in labels):
        return None, None
    texts = [None if label is None else snippet(str(label), MAX_NAME) for label in labels]
    count = Counter(text for text in texts if text is not None)
    names = sorted(count, key=lambda text: (-count[text], text))
    code = {text: j for j, text in enumerate(names)}
    codes = np.array([-1 if text is None else code[text] for text in texts], dtype=np.intp)
    return names, codes


def count_labels(root: TreeNode, leaf_of: Ints, label_of: Ints | None) -> list[dict[str, Any]]:
    """Count the labels of the documents in each node: at most 40, and all others together."""
    if label_of is None:
        return [{"labels": [], "other_labels": 0} for _ in root.nodes()]
    n_leaves = sum(1 for _ in root.leaves())
    table = np.zeros((n_leaves, label_of.max() + 1), dtype=np.int64)
    known = label_of >= 0
    np.add.at(table, (leaf_of[known], label_of[known]), 1)
    counted = []
    for node in root.nodes():
        leaves = np.array([leaf.leaf_id for leaf in node.leaves()], dtype=np.intp)
        counts = table[leaves].sum(axis=0)
        found = np.flatnonzero(counts)
        order = found[np.argsort(-counts[found], kind="stable")]
        counted.append(
            {
                "labels": [[int(j), int(counts[j])] for j in order[:_MAX_LABELS]],
                "other_labels": int(counts[order[_MAX_LABELS:]].sum()),
            }
        )
    return counted


def agreement(
    leaf_of: Ints, label_of: Ints | None, n_leaves: int
) -> tuple[dict[str, float] | None, Message | None]:
    """Return ``nmi`` (normalized mutual information), ``ari`` (adjusted Rand index) and ``purity``.

    All compare the leaves with the known labels, rounded to 4 decimals; purity is the share of
    documents that have the most common label of their leaf; ``n_labeled`` is the number of
    documents with a label. None without labels, or if all known ones are equal; and, with the
    reason, if there are fewer than 5 labeled documents for each leaf or each label, or only one
    label occurs twice: even random labels then seem to agree with the leaves.
    """
    if label_of is None:
        return None, None
    known = label_of >= 0
    n, sizes = int(known.sum()), np.bincount(label_of[known])
    n_labels = int(np.count_nonzero(sizes))
    if n_labels < 2:
        return None, None
    needed = _EACH * max(n_labels, n_leaves)
    if n < needed or np.count_nonzero(sizes > 1) < 2:
        facts = {"n_rows": n, "n_labels": n_labels, "n_topics": n_leaves}
        return None, Message("too_few_labels", needed=needed, **facts)
    table = contingency_matrix(leaf_of[known], label_of[known], sparse=True)
    found = {
        "n_labeled": n,
        "nmi": round(float(normalized_mutual_info_score(label_of[known], leaf_of[known])), 4),
        "ari": round(float(adjusted_rand_score(label_of[known], leaf_of[known])), 4),
        "purity": round(float(table.max(axis=1).sum() / n), 4),
    }
    return found, None
