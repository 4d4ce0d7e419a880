"""Nodes of topics: their words, coherence and separation, and the known labels in them."""

import heapq
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from momentree import messages, naming
from momentree._types import Floats, Ints
from momentree.core.ties import largest_first
from momentree.estimators.names import show_words
from momentree.estimators.node import TreeNode
from momentree.metrics import words
from momentree.report import estimators, groups, layout
from momentree.report.text import MAX_NAME, clean_text, for_readers, snippet

# The usual number of words in coherence measures.
_COHERENCE_WORDS = 10
_ALSO = 8
_CLEAR, _STRONG = 0.4, 0.75
"""The usual limits for Cohen's kappa (Fleiss, Levin and Paik, Statistical Methods for Rates and
Proportions, 2003, section 18.1). Optimized splits of noise have at most 0.34, and splits of news,
abstracts and speeches 0.49 to 1."""
_SOMETIMES, _OFTEN = 0.05, 0.15
"""Limits for NPMI. Ten random words have -0.5 to 0.1; two words that each occur in 10% of the
documents occur together twice as often as by chance at 0.18."""
_SMOOTHING = 0.5
_MAX_LABELS = 40
_MIN_LABELED = 5
"""Labeled documents for each leaf and each label, at least: the mutual information of k leaves and
c labels is (k - 1)(c - 1) / 2n nats too large."""


def describe_nodes(
    model: estimators.Fitted, n_words: int, counts: sp.csr_array | None, label_of: Ints | None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Describe the nodes of topics in pre-order; return the words that they use, and the nodes.

    Without `counts`, coherence and separation are None.
    """
    root, base = model.root, model.root.center
    position: dict[int, int] = {}
    nodes = []
    cells = layout.icicle_cells(root, spread=model.kind == "flat")
    for node, cell in zip(root.nodes(), cells, strict=True):
        top = show_words(node, base, n_words)
        columns = np.union1d(words_for_every_lambda(node.center, base, n_words), top)
        columns = columns[largest_first(node.center[columns])]
        index = [position.setdefault(int(c), len(position)) for c in columns]
        placed = [(model.vocabulary[c], position[int(c)]) for c in top]
        nodes.append(
            {
                **groups.place_of(node, cell),
                "name": _name(node),
                "n_samples": int(node.n_samples),
                "share": float(node.weight),
                "gain": float(node.gain),
                "reason": for_readers(node.reason or ""),
                "words": {"index": index, "p": _short(node.center[columns])},
                "top": [place for _, place in placed],
                "also": _also(node.name, placed, model.languages),
                "coherence": None,
                "separation": None,
            }
        )
    if label_of is None:
        counted = [{"labels": [], "other_labels": 0} for _ in nodes]
    else:
        counted = _count_labels(root, model.labels, label_of)
    for entry, labels in zip(nodes, counted, strict=True):
        entry.update(labels)
    if counts is not None:
        _add_coherence(nodes, root, counts)
    if counts is not None and model.kind == "tree":
        measured = separations(root, counts, model.labels)
        for entry, separation in zip(nodes, measured, strict=True):
            entry["separation"] = separation
    used = np.fromiter(position, dtype=np.intp, count=len(position))
    texts = [clean_text(word) for word in model.vocabulary[used]]
    return {"word": texts, "p": _short(base[used])}, nodes


def _also(name: str, top: Sequence[tuple[Any, int]], languages: Sequence[str]) -> list[int]:
    """Return the most relevant words that are not in a name, one form of each."""
    named = name.replace(",", " ").split()
    words = list(dict.fromkeys([*named, *(str(word) for word, _ in top)]))
    form = dict(zip(words, naming.join_forms(words, languages).tolist(), strict=True))
    seen = {form[word] for word in named}
    also = []
    for word, index in top:
        if form[str(word)] not in seen:
            seen.add(form[str(word)])
            also.append(index)
    return also[:_ALSO]


def _name(node: TreeNode) -> str:
    if node.parent is None and node.children:
        return "All documents"
    return clean_text(node.name) or "(no words)"


def _short(values: Floats) -> list[float]:
    # Nine significant digits halve the size; the error of 5e-10 in a logarithm does not change
    # the order of words.
    return [float(f"{value:.9g}") for value in values]


def words_for_every_lambda(center: Floats, base: Floats, n_words: int) -> Ints:
    r"""Return the words that are among the `n_words` most relevant for at least one lambda.

    The relevance lam·log p(w|node) + (1-lam)·log(p(w|node)/p(w)) of a word is a line in lam over
    [0, 1]. A word that lies below `n_words` others at both ends lies below them everywhere and is
    never shown. The function returns all other words (the `n_words`-skyband of the end points), so
    that the slider is exact at every setting.

    Returns columns by descending p(w|node) = `center`, without words with p(w|node) = 0 or
    p(w) = `base` = 0, in time O(d log d) for d features.
    """
    present = np.flatnonzero((center > 0) & (base > 0))
    at_one = np.log(center[present])
    at_zero = at_one - np.log(base[present])
    kept: list[int] = []
    best: list[float] = []  # heap of the n_words largest at_zero among the words so far
    for i in np.lexsort((present, -at_zero, -at_one)):
        value = float(at_zero[i])
        if len(best) < n_words:
            heapq.heappush(best, value)
        elif value > best[0]:
            heapq.heapreplace(best, value)
        else:
            continue
        kept.append(int(present[i]))
    return np.array(kept, dtype=np.intp)


def _add_coherence(nodes: list[dict[str, Any]], root: TreeNode, X: sp.csr_array) -> None:
    columns = sp.csc_array(X)
    for entry, node in zip(nodes, root.nodes(), strict=True):
        top = show_words(node, root.center, _COHERENCE_WORDS)
        if len(top) < 2:
            continue
        occurs = (columns[:, top] > 0).astype(np.float64)
        together = (occurs.T @ occurs).toarray()
        umass, npmi = words.umass_of(together), words.npmi_of(together / X.shape[0])
        entry["coherence"] = {
            "umass": round(umass, 6),
            "npmi": round(npmi, 6),
            "words": coherence_words(npmi),
        }


def coherence_words(npmi: float) -> str:
    """Return how often words occur together: "seldom", "sometimes" (0.05) or "often" (0.15)."""
    return "seldom" if npmi < _SOMETIMES else "sometimes" if npmi < _OFTEN else "often"


def separations(root: TreeNode, X: sp.csr_array, leaf_of: Ints) -> list[dict[str, Any] | None]:
    """Measure how well each split separates its documents, by halves of their words.

    The words are divided into two halves, and each half alone places each document on one side of
    the split: the side on which its words are more probable, with the document left out of its own
    side. If documents have no topics, the halves agree only by chance, even if the split was
    optimized for these documents.

    Parameters
    ----------
    root : TreeNode
        Root of the tree.
    X : sparse array of shape (n_samples, n_features)
        Counts of words, >= 0.
    leaf_of : ndarray of shape (n_samples,)
        Leaf of each document.

    Returns
    -------
    list of dict or None
        For each node in pre-order, ``same_side`` (share of the documents that both halves place on
        the same side), ``agreement`` (Cohen's kappa: 0 = chance, 1 = all) and ``words``: "weak"
        below 0.4, "strong" from 0.75, "clear" between. None for leaves, and for nodes in which
        fewer than two sides have documents.

    Notes
    -----
    Counts are log-scaled, and the words of a side are multinomial with half an occurrence added to
    each. The halves alternate from the most frequent word to the rarest. Time and memory: a few
    passes over X per level of the tree.
    """
    Y = X.astype(np.float64)
    Y.data = np.log1p(Y.data)
    n_leaves = sum(1 for _ in root.leaves())
    measured: list[dict[str, Any] | None] = []
    for node in root.nodes():
        if node.is_leaf:
            measured.append(None)
            continue
        side_of_leaf = np.full(n_leaves, -1)
        for side, child in enumerate(node.children):
            side_of_leaf[[leaf.leaf_id or 0 for leaf in child.leaves()]] = side
        side_of = side_of_leaf[leaf_of]
        rows = np.flatnonzero(side_of >= 0)
        measured.append(_separation(Y[rows], side_of[rows], len(node.children)))
    return measured


def _separation(Y: sp.csr_array, side_of: Ints, n_sides: int) -> dict[str, Any] | None:
    n = len(side_of)
    if np.count_nonzero(np.bincount(side_of, minlength=n_sides)) < 2:
        return None
    members = sp.csr_array((np.ones(n), (side_of, np.arange(n))), shape=(n_sides, n))
    sums: Floats = (members @ Y).toarray()
    total = np.round(sums.sum(axis=0), 6)
    order = np.argsort(-total, kind="stable")[: np.count_nonzero(total)]
    first, second = (
        _places(Y[:, half], sums[:, half], side_of) for half in (order[::2], order[1::2])
    )
    same = float(np.mean(first == second))
    shares = [np.bincount(placed, minlength=n_sides) / n for placed in (first, second)]
    chance = float(shares[0] @ shares[1])
    agreement = (same - chance) / (1.0 - chance) if chance < 1.0 else 0.0
    words = "weak" if agreement < _CLEAR else "clear" if agreement < _STRONG else "strong"
    return {"same_side": round(same, 6), "agreement": round(agreement, 6), "words": words}


def _places(Y: sp.csr_array, sums: Floats, side_of: Ints) -> Ints:
    """Return the most probable side of each document by some of its words, without itself."""
    n, d = Y.shape
    lengths = np.asarray(Y.sum(axis=1)).ravel()
    totals = sums.sum(axis=1) + _SMOOTHING * max(d, 1)
    scores = Y @ np.log(sums + _SMOOTHING).T - lengths[:, None] * np.log(totals)
    row = np.repeat(np.arange(n), np.diff(Y.indptr))
    # Rounding errors must not make the remaining sum negative.
    others = np.maximum(sums[side_of[row], Y.indices] - Y.data, 0.0) + _SMOOTHING
    own = np.bincount(row, Y.data * np.log(others), minlength=n)
    own = own - lengths * np.log(np.maximum(totals[side_of] - lengths, _SMOOTHING))
    scores[np.arange(n), side_of] = own
    return np.asarray(np.round(scores, 6).argmax(axis=1))


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


def _count_labels(root: TreeNode, leaf_of: Ints, label_of: Ints) -> list[dict[str, Any]]:
    """Count the labels of the documents in each node: at most 40, and all others together."""
    n_leaves = sum(1 for _ in root.leaves())
    table = np.zeros((n_leaves, label_of.max() + 1), dtype=np.int64)
    known = label_of >= 0
    np.add.at(table, (leaf_of[known], label_of[known]), 1)
    counted = []
    for node in root.nodes():
        leaves = np.array([leaf.leaf_id for leaf in node.leaves()], dtype=np.intp)
        counts = table[leaves].sum(axis=0)
        present = np.flatnonzero(counts)
        order = present[np.argsort(-counts[present], kind="stable")]
        counted.append(
            {
                "labels": [[int(j), int(counts[j])] for j in order[:_MAX_LABELS]],
                "other_labels": int(counts[order[_MAX_LABELS:]].sum()),
            }
        )
    return counted


def agreement(
    leaf_of: Ints, label_of: Ints | None, n_leaves: int
) -> tuple[dict[str, float] | None, messages.Message | None]:
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
    needed = _MIN_LABELED * max(n_labels, n_leaves)
    if n < needed or np.count_nonzero(sizes > 1) < 2:
        facts = {"n_rows": n, "n_labels": n_labels, "n_topics": n_leaves}
        return None, messages.Message(
            "[too_few_labels] The agreement of topics and labels is not shown: only "
            "{n_rows:~document} {n_rows:?has/have} a label, of {n_labels:~label} in "
            "{n_topics:~topic}, and it takes at least {needed:,}, and two labels that occur twice",
            needed=needed,
            **facts,
        )
    table = contingency_matrix(leaf_of[known], label_of[known], sparse=True)
    scores = {
        "n_labeled": n,
        "nmi": round(float(normalized_mutual_info_score(label_of[known], leaf_of[known])), 4),
        "ari": round(float(adjusted_rand_score(label_of[known], leaf_of[known])), 4),
        "purity": round(float(table.max(axis=1).sum() / n), 4),
    }
    return scores, None
