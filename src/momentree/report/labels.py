"""Known labels of the documents: indices, counts per node, agreement with the leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from momentree.report.documents import MAX_NAME, snippet

__all__ = ["agreement", "count_labels", "index_labels"]

# Values of the label breakdown that one node lists; the rest is counted together.
_MAX_LABELS = 40


def index_labels(
    labels: Sequence[str] | None,
) -> tuple[list[str] | None, NDArray[np.intp] | None]:
    """List the distinct labels and give each document the position of its own.

    Parameters
    ----------
    labels : sequence of str or None, of length n_samples, optional
        None entries mean no label.

    Returns
    -------
    names : list of str or None
        The distinct labels by descending count, then by name; None without any label.
    codes : ndarray of shape (n_samples,) or None
        Position of each label in ``names``, -1 for no label.
    """
    if labels is None or all(label is None for label in labels):
        return None, None
    texts = [None if label is None else snippet(str(label), MAX_NAME) for label in labels]
    count = Counter(text for text in texts if text is not None)
    names = sorted(count, key=lambda text: (-count[text], text))
    code = {text: j for j, text in enumerate(names)}
    codes = np.array([-1 if text is None else code[text] for text in texts], dtype=np.intp)
    return names, codes


def count_labels(codes: NDArray[np.intp] | None) -> dict[str, Any]:
    """Count the labels of the documents of one node.

    Parameters
    ----------
    codes : ndarray of shape (n_node_samples,) or None
        Positions of the labels, -1 for no label.

    Returns
    -------
    dict
        ``labels``: pairs of position and count, descending, at most 40;
        ``other_labels``: number of documents with any further label.
    """
    if codes is None:
        return {"labels": [], "other_labels": 0}
    values, count = np.unique(codes[codes >= 0], return_counts=True)
    order = np.lexsort((values, -count))
    pairs = [[int(values[j]), int(count[j])] for j in order]
    return {
        "labels": pairs[:_MAX_LABELS],
        "other_labels": sum(pair[1] for pair in pairs[_MAX_LABELS:]),
    }


def agreement(
    leaf_of: NDArray[np.intp], label_of: NDArray[np.intp] | None
) -> dict[str, float] | None:
    """Measure how well leaves and labels agree.

    Parameters
    ----------
    leaf_of : ndarray of shape (n_samples,)
        Leaf index of each document.
    label_of : ndarray of shape (n_samples,) or None
        Position of each label; documents with -1 are left out.

    Returns
    -------
    dict or None
        ``nmi``: normalised mutual information, ``ari``: adjusted Rand index, 4 decimals.
    """
    if label_of is None:
        return None
    known = label_of >= 0
    return {
        "nmi": round(float(normalized_mutual_info_score(label_of[known], leaf_of[known])), 4),
        "ari": round(float(adjusted_rand_score(label_of[known], leaf_of[known])), 4),
    }
