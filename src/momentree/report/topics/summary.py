"""Summarize a tree or flat model and its documents as a dictionary, the content of a page."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import cosine_similarity

from momentree._types import Floats
from momentree._validation import check_integer
from momentree.core.pages import counted
from momentree.messages import Message
from momentree.metrics.words import word_probabilities
from momentree.report import estimators
from momentree.report.text import clean_text, for_readers
from momentree.report.topics.documents import Corpus, Documents, index_documents
from momentree.report.topics.nodes import agreement, describe_nodes
from momentree.report.topics.word_notes import notes_on_function_words

if TYPE_CHECKING:
    from momentree.tree.selection import ComponentChoice


# Bytes of styles, scripts and fixed text in a page.
_MARKUP = 150_000


def summarize(
    estimator: Any,
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
    if documents != "all":
        check_integer("documents", documents, at_least=0, optional=True)
    estimators.check_of_topics(estimator)
    model = estimators.fitted(estimator)
    n, rows = len(model.labels), np.flatnonzero(model.labels >= 0)
    counts = None if X is None else estimators.counts_of_fit(model, X)
    corpus = Corpus(counts, topic_proportions, ids, texts, labels, order)
    corpus.check(n)
    if model.kind == "flat" and topic_proportions is None and X is not None:
        corpus = replace(corpus, proportions=np.asarray(estimator.transform(X)))
    if len(rows) < n:  # documents without words are in no topic, and not in the page
        model, corpus = replace(model, labels=model.labels[rows]), corpus.only(rows)
    label_names, label_of = corpus.label_index
    words, nodes = describe_nodes(model, n_words, corpus.counts, label_of)
    n_leaves = sum(1 for _ in model.root.leaves())
    areas = corpus.areas(np.eye(n_leaves)[model.labels])
    # Words and nodes are in the data and in the markup.
    taken = _MARKUP + 2 * len(json.dumps([words, nodes, areas], separators=(",", ":")))
    index = index_documents(model, corpus, n_documents, documents, taken)
    for entry, positions in zip(nodes, index.pop("typical"), strict=True):
        entry["documents"] = positions
    notes = getattr(estimator, "notes_", ()) if notes is None else notes
    agreed, few = agreement(model.labels, label_of, n_leaves)
    all_notes = [*notes, *notes_on_function_words(estimator), *filter(None, [few])]
    summary = {
        **estimators.head(estimator, model.kind, title or default_title(n), all_notes, made_with),
        "n_documents": n,
        "n_in_no_topic": n - len(rows),
        "copies": _copies(notes),
        "n_features": len(model.vocabulary),
        "n_leaves": n_leaves,
        "n_words": n_words,
        "default_lambda": None,
        "words": words,
        "nodes": nodes,
        "labels": label_names,
        "agreement": agreed,
        "no_agreement": for_readers(few) if few else None,
        "documents": index,
        "areas": areas,
        "choice": describe_choice(getattr(estimator, "choice_", None)),
    }
    return summary | (_of_flat(estimator, corpus.proportions) if model.kind == "flat" else {})


def _of_flat(model: Any, proportions: Floats | None) -> dict[str, Any]:
    """Return the sections of a flat model."""
    P = word_probabilities(model.components_)
    return {
        "about": describe_model(model, len(P)),
        "relations": relations(P, proportions),
        "diagnostics": diagnostics(model),
    }


def default_title(n_documents: int) -> str:
    """Return the title of a report on documents without a name."""
    return f"Topics of {n_documents:,} {'document' if n_documents == 1 else 'documents'}"


def _copies(notes: Sequence[Message]) -> str | None:
    """Return a sentence on how copies act in the fit and in shares, if they weigh less."""
    for note in notes:
        if note.code == "copies_weighted" and "n_groups" in note.values:
            sentence = (
                "[copies_in_shares] Copies weigh less in the fit: {every} weigh as {n_groups:,}; "
                "they count in full in numbers and shares"
            )
            values = {key: note.values[key] for key in ("every", "n_groups")}
            return for_readers(Message(sentence, **values))
    return None


_SIMILAR, _RELATED = 0.1, 0.05
"""Minimum strength of the relations shown."""


def describe_model(model: Any, n_topics: int) -> str:
    """Return one sentence that explains the model to readers who do not know it."""
    name = type(model).__name__
    if hasattr(model, "alpha_"):
        sentence = (
            "[about_lda] A topic model (latent Dirichlet allocation): each document is a mix of "
            "{n_topics:~topic}."
        )
    elif name == "SingleTopicModel":
        sentence = (
            "[about_single_topic] A topic model (single topic): each document is about one of "
            "{n_topics:~topic}."
        )
    else:
        sentence = (
            "[about_mixture] A mixture model ({name}): each document belongs to one of "
            "{n_topics:~topic}."
        )
    return for_readers(Message(sentence, name=name, n_topics=n_topics))


def diagnostics(model: Any) -> dict[str, Any]:
    """Return the diagnostics of a fit: sentences (``words``, ``warnings``) and ``values``."""
    facts, params = model.diagnostics_, model.get_params()
    words = _about_refinement(model, params)
    warnings = list(facts.get("warnings", ()))
    if params.get("refine"):  # the warnings concern the initialization, not the result
        words += [
            Message("[before_refinement] Before refinement: {warning}", warning=warning)
            for warning in warnings
        ]
        warnings = []
    alpha = getattr(model, "alpha_", None)
    if alpha is not None:
        words.append(
            Message(
                "[total_concentration] The total concentration is {alpha0:.3g}; the smaller it is, "
                "the fewer topics a document mixes.",
                alpha0=float(alpha.sum()),
            )
        )
    if reason := facts.get("reason"):
        choice = getattr(model, "choice_", None)
        asked = params.get("n_components") if choice is None else choice.n_components
        warnings.insert(
            0,
            Message(
                "[fewer_topics] {found} of {requested} topics were found: {reason}.",
                found=len(model.weights_),
                requested=asked,
                reason=reason,
            ),
        )
    sizes = counted(np.asarray(model.labels_), len(model.weights_))
    if sizes.any() and not sizes.all():
        warnings.append(
            Message(
                "[topics_without_documents] {n_topics:~topic} {n_topics:?is/are} the main topic of "
                "no document; ask for fewer topics",
                n_topics=int((sizes == 0).sum()),
            )
        )
    values = {key: value for key, value in sorted(facts.items()) if key != "warnings"}
    return {
        "words": list(map(for_readers, words)),
        "warnings": list(map(for_readers, warnings)),
        "values": _plain(values),
    }


def _about_refinement(model: Any, params: Mapping[str, Any]) -> list[Message]:
    """Return a sentence on how the refinement ended, if the model has one."""
    refine, steps = params.get("refine"), getattr(model, "n_iter_", None)
    if refine and steps is not None:
        method = "EM" if refine == "em" else f"The refinement ({refine})"
        code = (
            "[refinement_converged] {method} converged after {n_iter:~iteration}."
            if getattr(model, "converged_", True)
            else "[refinement_not_converged] {method} did not converge in {n_iter:~iteration}."
        )
        return [Message(code, method=method, n_iter=steps)]
    if "refine" in params:
        return [
            Message(
                "[no_refinement] There was no refinement: these are the estimates of the method of "
                "moments."
            )
        ]
    return []


def _plain(value: Any) -> Any:
    """Return a value that JSON can represent; non-finite numbers become None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    if isinstance(value, Mapping):
        return {clean_text(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return for_readers(value if isinstance(value, Message) else str(value))


def relations(P: Floats, proportions: Floats | None) -> dict[str, Any]:
    """Measure how topics relate: by words P[word | topic] (k, d), and over the documents."""
    cosine = np.clip(cosine_similarity(P), 0.0, 1.0)
    correlation, together, apart = None, [], []
    if proportions is not None:
        correlation = _correlation(proportions)
        together = _pairs(correlation, correlation > _RELATED)
        apart = _pairs(-correlation, correlation < -_RELATED)
    return {
        "cosine": _rounded(cosine),
        "correlation": None if correlation is None else _rounded(correlation),
        "alike": _pairs(cosine, cosine > _SIMILAR),
        "together": together,
        "apart": [[i, j, -value] for i, j, value in apart],
    }


def _correlation(proportions: Floats) -> Floats:
    centered = proportions - proportions.mean(axis=0)
    norms = np.linalg.norm(centered, axis=0)
    # Proportions that differ only by rounding errors are constant.
    flat = norms <= 1e-9 * np.sqrt(len(proportions))
    unit = np.where(flat, 0.0, centered / np.where(flat, 1.0, norms))
    correlation = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def _pairs(strength: Floats, wanted: NDArray[np.bool_]) -> list[list[float]]:
    first, second = np.triu_indices(len(strength), 1)
    value = np.round(strength[first, second], 3)
    order = np.argsort(-value, kind="stable")
    order = order[wanted[first, second][order]][:5]
    return [[int(first[i]), int(second[i]), float(value[i])] for i in order]


def _rounded(matrix: Floats) -> list[list[float]]:
    # Adding zero turns -0.0 into 0.0.
    values: list[list[float]] = (np.round(matrix, 2) + 0.0).tolist()
    return values


def describe_choice(choice: ComponentChoice | None) -> dict[str, Any] | None:
    """Return a choice as plain values; None if the number was given."""
    if choice is None:
        return None
    table = choice.table
    k, gain = table["n_components"].to_numpy(), table["completion"].to_numpy(dtype=np.float64)
    known = np.isfinite(gain)
    k, gain = k[known], gain[known]
    curve: list[list[float]] = []
    if len(gain) > 1 and gain.max() > gain[0]:
        fractions = (gain - gain[0]) / (gain.max() - gain[0])
        curve = [[int(n), round(float(part), 4)] for n, part in zip(k, fractions, strict=True)]
    return {
        "n_components": int(choice.n_components),
        "low": int(choice.interval[0]),
        "high": int(choice.interval[1]),
        "reason": for_readers(choice.reason),
        "curve": curve,
    }
