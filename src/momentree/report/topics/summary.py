"""Summarize a tree or flat model and its documents as a dictionary, the content of a page."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_table
from momentree.core.sparse import as_csr
from momentree.core.ties import largest_first
from momentree.estimators.names import shown_words
from momentree.estimators.node import TreeNode
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.metrics import npmi_coherence, umass_coherence
from momentree.metrics.words import word_probabilities
from momentree.naming import join_forms
from momentree.report._estimators import (
    Fitted,
    FittedFlat,
    FittedTree,
    check_of_topics,
    fitted,
)
from momentree.report._provenance import provenance
from momentree.report.layout import icicle_cells
from momentree.report.text import clean_text, for_readers
from momentree.report.topics._choice import describe_choice
from momentree.report.topics._diagnostics import describe_model, diagnostics
from momentree.report.topics._function_words import notes_on_function_words
from momentree.report.topics._labels import agreement, count_labels, index_labels
from momentree.report.topics.chart import proportions_in_columns
from momentree.report.topics.document_order import sort_documents
from momentree.report.topics.documents import Documents, Sources, check_documents, index_documents
from momentree.report.topics.relations import relations
from momentree.report.topics.relevant_words import words_for_every_lambda
from momentree.report.topics.separation import coherence_words, separations

# The usual number of words in coherence measures.
_COHERENCE_WORDS = 10
_COHERENCE_NODES = 64
_ALSO = 8
# Bytes of styles, scripts and fixed text in a page.
_MARKUP = 150_000


def summarize(
    estimator: FittedTree | FittedFlat,
    X: object | None = None,
    *,
    topic_proportions: Floats | None = None,
    ids: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    order: Collection[Any] | None = None,
    title: str | None = None,
    n_words: int = 20,
    n_documents: int = 10,
    documents: Documents = None,
    made_with: Mapping[str, object] | None = None,
    notes: Sequence[Message] | None = None,
) -> dict[str, Any]:
    """Summarize a fitted tree or flat model and its documents as a dictionary for `render_html`.

    Parameters
    ----------
    estimator : TopicTree or flat model
        Fitted estimator. A tree has ``tree_``, ``labels_`` (n_samples,), ``vocabulary_`` and
        ``get_params()``; a flat model has ``weights_`` (k,), ``components_`` (k, d),
        ``diagnostics_`` and ``transform`` instead of ``tree_``.
    X : {array-like, sparse array} of shape (n_samples, n_features), optional
        The counts of ``fit``, >= 0. Without them, the page has no coherence, typical documents or
        topic proportions.
    topic_proportions : ndarray of shape (n_samples, k), optional
        For a flat model, the result of ``transform(X)`` if already known; by default it is computed
        from ``X``.
    ids : sequence of str of length n_samples, optional
        Names of the documents; by default their row numbers, from 0.
    texts : sequence of str of length n_samples, optional
        The documents, whose beginnings are shown. Without them, documents are represented by their
        words, which requires ``X``.
    labels : sequence of str of length n_samples, optional
        Known labels, counted in each node; ``None`` entries are unknown.
    order : sequence of length n_samples, optional
        Numbers or dates, also as strings (2020-12-31), by which the chart of topic proportions
        orders the documents; it omits None, NaN and "" entries. By default, a flat model uses the
        order of the input, and a tree has no chart.
    title : str, optional
        Name of the corpus; "Topics of 2,225 documents" by default.
    n_words : int, default=20
        Number of words that a node shows at one setting of the slider, >= 1.
    n_documents : int, default=10
        Maximum number of typical documents per node, >= 0. They represent the node and differ from
        one another: near-copies, and reports on one event, count as one.
    documents : int >= 0, "all" or None, default=None
        Number of documents in the page, besides the typical ones; 0 includes none at all. None
        includes as many as a page below 4 MB has room for.
    made_with : mapping of str to object, optional
        Further lines for the section on how the page was made, such as the input or the time of
        the fit. No date is added, so that equal input gives equal bytes.
    notes : sequence of Message, default=None
        What was found when the documents were read, as in :class:`Corpus`. None gives the
        ``notes_`` of the estimator, if it was fitted to texts.

    Returns
    -------
    dict
        Ready for JSON. ``kind`` ("tree" or "flat"), ``title``, ``n_documents``, ``n_in_no_topic``
        (those without words, which are in no topic and no share), ``copies`` (a sentence on how
        copies act in the fit and in shares, or None), ``n_features``, ``n_leaves``, ``n_words``,
        ``default_lambda`` (None: words are in the order of ``top``);
        ``words``: ``word`` and ``p`` (p(w) in the corpus) of every word used;
        ``nodes`` in pre-order: ``id``, ``parent``, ``children``, ``depth``, ``leaf``,
        ``name`` ("All documents" for a root that was split), ``n_samples`` (for a topic of a flat
        model, documents with this main topic), ``share`` (``n_samples`` as a fraction of the
        documents in a topic; of their weights after a fit of a tree with ``sample_weight``),
        ``gain`` (nats), ``reason`` (text),
        ``words`` (``index`` into the words and ``p`` = p(w|node), complete for every lambda in
        [0, 1], by descending ``p``), ``top`` (indices of the words shown, best first), ``also``
        (those that are not in the name), ``coherence`` (of the first ten of ``top``: ``umass``,
        ``npmi`` and, for NPMI, ``words``; or None), ``separation`` (for a split of a tree
        ``same_side``, ``agreement``, ``words``, see
        `momentree.report.topics.separation`; or None), ``documents`` (positions in the shown
        documents, most typical first), ``labels`` (pairs of label index and count, descending),
        ``other_labels`` (number of documents whose labels are not listed), ``cell`` (position in
        the icicle);
        ``labels``: the distinct labels by descending count, or None; ``agreement``:
        ``nmi``, ``ari`` and ``purity`` of leaves and labels with ``n_labeled``, the number of
        documents with a label, or None; ``no_agreement``: why there are too few labels, or None;
        ``documents``: ``total``, ``shown``, ``sampled`` (whether only a sample is shown),
        ``searched`` (characters of each that can be searched, None for all), ``ranked`` (whether
        the documents of a leaf are in the order of their scores, after its typical ones),
        ``map`` (the place of each leaf on the map of documents, or None) and ``items``, leaf by
        leaf (``row``, ``id``, ``label``, ``leaf``, ``text``; with a map ``at``, the coordinates,
        from 0 to 1000; for a flat model with ``X`` ``proportions``: pairs of topic and proportion,
        per mille);
        ``choice``: how the number of topics was chosen, or None: ``n_components``, ``low``,
        ``high``, ``reason`` and ``curve``, pairs of a number of topics and the fraction of the
        largest gain of document completion that it achieves;
        ``notes``: sentences, those given and one on each language whose function words make up
        topics;
        ``given_names``: names given by hand, by the number of a leaf or the first and last number
        below a node ("0-3"); ``made``: ``parameters``, ``versions``, ``notes``;
        ``areas``: the chart of topic proportions, or None: ``proportions`` (k rows, per mille),
        ``names``, ``rows``, ``ticks`` and ``runs`` of its columns, ``note``, ``axis``,
        ``left_out``.
        For a flat model also ``about``, a sentence that explains it; ``relations`` of topics:
        ``cosine``, ``correlation``, ``alike``, ``together``, ``apart``; ``diagnostics``:
        ``words``, ``warnings`` and ``values``. A flat model is a tree of one level: its first node
        is all documents, the others are its topics by descending share.

    Raises
    ------
    InvalidDataError
        If the estimator has no topics, but sequences (:func:`summarize_sequences`) or measurements
        (:func:`summarize_measurements`), for instance; if ``X``, ``ids``, ``texts``, ``labels`` or
        ``order`` does not have one entry per sample, ``X`` does not have one column per word, or
        ``order`` contains neither numbers nor dates.
    InvalidParameterError
        If ``n_words`` < 1, ``n_documents`` < 0, or ``documents`` is neither a number nor "all".

    Notes
    -----
    The page includes the first 900 characters of typical documents, and 320, 200 or 120 of the
    others: the most with which all documents fit. If even 120 are too many, it includes a sample,
    evenly spread over the leaves and over the corpus within each leaf. Time: one product X·v per
    node, and per leaf one for the map.
    """
    check_integer("n_words", n_words, at_least=1)
    check_integer("n_documents", n_documents, at_least=0)
    documents = check_documents(documents)
    check_of_topics(estimator)
    model = fitted(estimator)
    n, d = len(model.labels), len(model.vocabulary)
    for name, values in (("ids", ids), ("texts", texts), ("labels", labels)):
        if values is not None and len(values) != n:
            raise InvalidDataError(
                "not_one_each", parameter=name, found=len(values), needed=n, of="document"
            )
    counts = None if X is None else _as_counts(X, n, d, "tree" if model.kind == "tree" else "model")
    proportions = topic_proportions
    if model.kind == "flat" and proportions is None and X is not None:
        proportions = np.asarray(cast("FittedFlat", estimator).transform(X))
    if order is not None:
        sort_documents(order, n)  # check it
        order = pd.Series(list(order), dtype=object, name=getattr(order, "name", None))
    at = np.flatnonzero(model.labels >= 0)
    if len(at) < n:  # documents without words are in no topic, and not in the page
        model = replace(model, labels=model.labels[at])
        counts = None if counts is None else counts[at]
        proportions = None if proportions is None else proportions[at]
        ids = [str(i) if ids is None else ids[i] for i in at.tolist()]
        texts, labels = (
            None if a is None else [a[i] for i in at.tolist()] for a in (texts, labels)
        )
        order = None if order is None else order.iloc[at]
    root, leaf_of = model.root, model.labels

    words, nodes = _summarize_nodes(model, n_words)
    label_names, label_of = index_labels(labels)
    for entry, counted in zip(nodes, count_labels(root, leaf_of, label_of), strict=True):
        entry.update(counted, coherence=None, separation=None)
    if counts is not None:
        _add_coherence(nodes, root, counts)
        if model.kind == "tree":
            for entry, found in zip(nodes, separations(root, counts, leaf_of), strict=True):
                entry["separation"] = found
    n_leaves = sum(1 for _ in root.leaves())
    areas = None
    if proportions is not None or order is not None:
        hard = np.eye(n_leaves)[leaf_of] if proportions is None else proportions
        areas = proportions_in_columns(hard, sort_documents(order, len(at)), ids, label_of)
        areas["rows"] = areas["rows"] and at[areas["rows"]].tolist()
    sources = Sources(counts, ids, texts, label_of, proportions)
    # Words and nodes are in the data and in the markup.
    taken = _MARKUP + 2 * len(json.dumps([words, nodes, areas], separators=(",", ":")))
    index = index_documents(model, sources, n_documents, documents, taken)
    for entry, positions in zip(nodes, index.pop("typical"), strict=True):
        entry["documents"] = positions
    for item in index["items"]:
        item["row"] = int(at[item["row"]])
    given = getattr(estimator, "notes_", ()) if notes is None else notes
    agreed, too_few = agreement(leaf_of, label_of, n_leaves)
    said = [*given, *notes_on_function_words(estimator), *([] if too_few is None else [too_few])]
    summary = {
        "kind": model.kind,
        "title": clean_text(title or default_title(n)),
        "n_documents": n,
        "n_in_no_topic": n - len(at),
        "copies": _copies(given),
        "n_features": d,
        "n_leaves": n_leaves,
        "n_words": n_words,
        "default_lambda": None,
        "words": words,
        "nodes": nodes,
        "labels": label_names,
        "agreement": agreed,
        "no_agreement": None if too_few is None else for_readers(too_few),
        "documents": index,
        "areas": areas,
        "choice": describe_choice(getattr(estimator, "choice_", None)),
        "given_names": dict(getattr(estimator, "given_names_", {})),
        "notes": [for_readers(note) for note in said],
        "made": provenance(estimator, made_with),
    }
    if model.kind == "flat":
        flat = cast("FittedFlat", estimator)
        summary |= {
            "about": describe_model(flat, n_leaves),
            "relations": relations(word_probabilities(flat.components_), proportions),
            "diagnostics": diagnostics(flat),
        }
    return summary


def default_title(n_documents: int) -> str:
    """Return the title of a report on documents without a name."""
    return f"Topics of {n_documents:,} {'document' if n_documents == 1 else 'documents'}"


def _copies(notes: Sequence[Message]) -> str | None:
    """Return a sentence on how copies act in the fit and in shares, if they weigh less."""
    for note in notes:
        facts = note.values  # noqa: PD011  no data frame
        if note.code == "copies_weighted" and "n_groups" in facts:
            every, n_groups = facts["every"], facts["n_groups"]
            return for_readers(Message("copies_in_shares", every=every, n_groups=n_groups))
    return None


def _summarize_nodes(model: Fitted, n_words: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    root, vocabulary, languages = model.root, model.vocabulary, model.languages
    base = root.center
    position: dict[int, int] = {}
    nodes = []
    for node, cell in zip(
        root.nodes(), icicle_cells(root, spread=model.kind == "flat"), strict=True
    ):
        top = shown_words(node, base, n_words)
        columns = words_for_every_lambda(node.center, base, n_words)
        columns = np.union1d(columns, top)
        columns = columns[largest_first(node.center[columns])]
        index = [position.setdefault(int(c), len(position)) for c in columns]
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
                "reason": for_readers(node.reason or ""),
                "words": {"index": index, "p": _short(node.center[columns])},
                "top": [position[int(c)] for c in top],
                "also": _also(
                    node.name, [(vocabulary[c], position[int(c)]) for c in top], languages
                ),
                "cell": cell.as_json(),
            }
        )
    used = np.fromiter(position, dtype=np.intp, count=len(position))
    words = {
        "word": [clean_text(word) for word in vocabulary[used]],
        "p": _short(base[used]),
    }
    return words, nodes


def _also(name: str, top: Sequence[tuple[Any, int]], languages: Sequence[str]) -> list[int]:
    """Return the most relevant words that are not in a name, one form of each."""
    named = name.replace(",", " ").split()
    words = list(dict.fromkeys([*named, *(str(word) for word, _ in top)]))
    form = dict(zip(words, join_forms(words, languages).tolist(), strict=True))
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


def _add_coherence(nodes: list[dict[str, Any]], root: TreeNode, X: sp.csr_array) -> None:
    columns = sp.csc_array(X)
    # Nodes with the same number of words are evaluated together, in groups that keep the table
    # of co-occurrences small.
    by_length: dict[int, list[tuple[dict[str, Any], Ints]]] = {}
    for entry, node in zip(nodes, root.nodes(), strict=True):
        top = shown_words(node, root.center, _COHERENCE_WORDS)
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
                    entry["coherence"] = {
                        "umass": round(float(u), 6),
                        "npmi": round(float(v), 6),
                        "words": coherence_words(float(v)),
                    }


def _short(values: Floats) -> list[float]:
    # Nine significant digits halve the size; the error of 5e-10 in a logarithm does not change
    # the order of words.
    return [float(f"{value:.9g}") for value in values]


def _as_counts(X: Any, n_samples: int, n_features: int, model: str) -> sp.csr_array:
    counts: sp.csr_array = as_csr(check_table(X))
    if counts.shape != (n_samples, n_features):
        raise InvalidDataError(
            "x_not_of_fit",
            shape=str(counts.shape),
            model=model,
            expected=str((n_samples, n_features)),
        )
    return counts
