"""Which documents a report ships, and what it shows of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.tree.node import TreeNode

__all__ = [
    "MAX_NAME",
    "clean_text",
    "evenly_spread",
    "snippet",
    "typical_documents",
    "words_of_row",
]

# Longest name of a document or label that is shown, characters.
MAX_NAME = 200

# Share of the corpus in the mixture that stands in for a node's word probabilities, so that
# a word the node has never seen counts against a document by log(1%) and not by infinity.
_BACKGROUND = 0.01

# C0 controls except white space, DEL and C1, and surrogates: HTML may not hold them and
# UTF-8 cannot.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def clean_text(value: object) -> str:
    r"""Return a value as text that HTML and UTF-8 can hold.

    Parameters
    ----------
    value : object
        Anything with a ``str``.

    Returns
    -------
    str
        ``str(value)`` with control characters and lone surrogates replaced by U+FFFD.

    Examples
    --------
    >>> clean_text("a\x00b") == "a\ufffdb"
    True
    """
    return _FORBIDDEN.sub("\ufffd", str(value))


def snippet(text: str, length: int) -> str:
    """Return the beginning of a text on one line, cut at a word.

    Parameters
    ----------
    text : str
        Any text.
    length : int
        Largest number of characters, >= 2.

    Returns
    -------
    str
        White space runs become one space; a cut text ends with an ellipsis.

    Examples
    --------
    >>> snippet("one  two three", 9)
    'one two…'
    """
    # The first pass need not touch more of a long text than could be shown.
    line = " ".join(clean_text(text[: 8 * length]).split())
    if len(line) <= length and len(text) <= 8 * length:
        return line
    head = line[: length - 1]
    if len(line) > len(head) and not line[len(head)].isspace():
        space = head.rfind(" ")
        if space > length // 2:
            head = head[:space]
    return head.rstrip(" ,;:.-") + "…"


def words_of_row(
    row: sp.csr_array, node: TreeNode, base: NDArray[np.float64], vocabulary: NDArray[np.str_]
) -> str:
    """Return the words of a row of counts, the most telling for its node first.

    Parameters
    ----------
    row : csr_array of shape (1, n_features)
        Counts >= 0.
    node : TreeNode
        The node whose center judges the words.
    base : ndarray of shape (n_features,)
        p(w) of the whole corpus.
    vocabulary : ndarray of str, shape (n_features,)
        The words.

    Returns
    -------
    str
        Words separated by commas, each with its count when above 1, at most 24 words.
    """
    # Not as they are: unsigned counts wrap where their sign is turned.
    counts, columns = row.data.astype(np.float64), row.indices
    evidence = counts * _log_lift(node.center, base)[columns]
    order = np.lexsort((columns, -counts, -evidence))[:24]
    return ", ".join(
        f"{vocabulary[columns[j]]} ×{counts[j]:g}"
        if counts[j] != 1
        else str(vocabulary[columns[j]])
        for j in order
    )


def typical_documents(
    X: sp.csr_array, root: TreeNode, labels: NDArray[np.intp], n_documents: int
) -> list[NDArray[np.intp]]:
    r"""Find the documents that speak most plainly for each node.

    With y = log(1 + x) the log-scaled counts of a document and
    ℓ(w) = log(0.99·p(w|node)/p(w) + 0.01), the score is Σ_w y_w ℓ(w) / (Σ_w y_w + m): the
    evidence per word for the node against the whole corpus. Log scaling keeps one repeated word
    from carrying a document, and m, the median of Σ_w y_w, keeps a document of three words
    from winning by them. The root, whose evidence is 0 for every document, shows the most
    typical document of each leaf in turn, the largest leaf first.

    Parameters
    ----------
    X : csr_array of shape (n_samples, n_features)
        Counts >= 0.
    root : TreeNode
        Root of the tree; its center is p(w).
    labels : ndarray of shape (n_samples,)
        Leaf index of each row.
    n_documents : int
        Documents per node, >= 0.

    Returns
    -------
    list of ndarray
        For each node in pre-order, at most ``n_documents`` row numbers, the most typical
        first, ties by row number. Rows without words are left out.

    Notes
    -----
    One product X·v per node; memory O(nnz + n_samples).
    """
    scaled = X.astype(np.float64, copy=True)
    np.log1p(scaled.data, out=scaled.data)
    mass = np.asarray(scaled.sum(axis=1)).ravel()
    spoken = mass > 0
    shrink = float(np.median(mass[spoken])) if spoken.any() else 1.0
    found: list[NDArray[np.intp]] = []
    for node in root.nodes():
        leaves = [leaf.leaf_id for leaf in node.leaves() if leaf.leaf_id is not None]
        rows = np.flatnonzero(np.isin(labels, leaves) & spoken)
        if node.parent is None and not node.is_leaf:
            found.append(rows[:0])
            continue
        score = (scaled @ _log_lift(node.center, root.center))[rows] / (mass[rows] + shrink)
        found.append(rows[np.lexsort((rows, -np.round(score, 12)))[:n_documents]])
    if not root.is_leaf:
        found[0] = _in_turn(
            [found[leaf.node_id] for leaf in sorted(root.leaves(), key=lambda t: -t.weight)],
            n_documents,
        )
    return found


def evenly_spread(
    labels: NDArray[np.intp], cost: NDArray[np.int64], max_documents: int, max_cost: int
) -> NDArray[np.intp]:
    """Choose rows that fit a budget, spread evenly over the leaves and over the corpus.

    The rows are put in the order of their leaves (within a leaf in the order of the corpus)
    and every (n/m)-th is taken, for the largest m found that fits: each leaf keeps its share.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Leaf index of each row.
    cost : ndarray of shape (n_samples,)
        Bytes that each row would take.
    max_documents, max_cost : int
        Largest number of rows, and largest sum of their costs, >= 0.

    Returns
    -------
    ndarray of shape (n_chosen,)
        Row numbers, ascending.

    Examples
    --------
    >>> evenly_spread(np.array([0, 1, 0, 1]), np.full(4, 10), max_documents=2, max_cost=99).tolist()
    [0, 1]
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


def _log_lift(center: NDArray[np.float64], base: NDArray[np.float64]) -> NDArray[np.float64]:
    lift = np.divide(center, base, out=np.ones_like(center), where=base > 0)
    return np.asarray(np.log((1.0 - _BACKGROUND) * lift + _BACKGROUND), dtype=np.float64)


def _in_turn(lists: Sequence[Iterable[int]], limit: int) -> NDArray[np.intp]:
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
