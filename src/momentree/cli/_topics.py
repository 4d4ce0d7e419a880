"""Fit a tree or a flat model of topics, and summarize it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from momentree import models, readers, report
from momentree.cli._fewer import note_number
from momentree.cli._like import Named, OldModel
from momentree.cli._names import GivenNames
from momentree.cli._run import Result, Run, made_with
from momentree.cli.stored import Elsewhere, fit_once, of_all, shown_of, table_in_blocks
from momentree.cli.tables import CsvTable, assignments, decimals
from momentree.core.choices import TopicModel
from momentree.exceptions import ConvergenceWarning, InvalidParameterError, ReadError
from momentree.messages import Message
from momentree.metrics.words import word_probabilities
from momentree.readers import Corpus
from momentree.report.topics import (
    default_title,
    notes_on_common_words,
    notes_on_function_words,
    sort_documents,
    topic_names,
)
from momentree.tree import ClusterTree, TopicTree

CHOOSING = "choosing the number of topics"

_SHOWN = (
    "embeddings",
    *("language", "min_df", "max_df", "max_features", "lowercase", "raw", "passages"),
    *("phrases", "ngram_range", "tokenizer"),
)
"""Settings of the vectorizer that the report lists."""

_ONLY_IF_USED, _UNUSED = ("phrases", "ngram_range"), (False, [1, 1])


def read_order(source: Path, column: str, **options: Any) -> pd.Series[Any]:
    """Read the column of a table that orders the documents."""
    if source.is_dir() or readers.holds_counts(source):
        raise InvalidParameterError("no_columns_to_order_by", parameter="order", path=str(source))
    try:
        # Read it like labels: one value per row, "" if missing.
        documents = readers.read_documents(source, label_column=column, **options)
    except ReadError as error:
        # For the user, these are not labels.
        named = {**error.message.values, "parameter": "order"}  # noqa: PD011  no data frame
        raise ReadError(error.code, **named) from error
    order = pd.Series(documents.labels, name=column, dtype=object)
    sort_documents(order, len(order))  # fail now rather than after the fit
    return order


def title_of(source: Path) -> str | None:
    """Return a title for a folder, from its name: "Old letters" for old_letters; else None."""
    words = source.resolve().name.replace("_", " ").replace("-", " ").split()
    if not source.is_dir() or not any(word.isalpha() for word in words):
        return None
    title = " ".join(words)
    return title[0].upper() + title[1:]


def grow_tree(
    run: Run,
    corpus: Corpus,
    parameters: Mapping[str, Any],
    given: GivenNames,
    *,
    like: OldModel | None = None,
    embeddings: tuple[str, Any] | None = None,
    **shown: Any,
) -> Result:
    """Grow a tree of topics, or of embeddings; `shown` are arguments of `summarize`."""
    tree: Any
    X: Any = corpus.X
    chosen = parameters.get("max_leaf_nodes", 8) == "auto" and embeddings is None
    with run.stage(CHOOSING if chosen else "growing the tree"), warnings.catch_warnings():
        # A note already reports if there are fewer leaves.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if embeddings is None:
            tree, took = fit_once(corpus, lambda: TopicTree(**parameters).fit(corpus))
        else:
            name, X = embeddings
            start = time.perf_counter()
            tree = ClusterTree(**parameters, data="directions").fit(X, counts=corpus)
            took = time.perf_counter() - start
            shown["embeddings"] = f"{name}: {X.shape[1]:,} dimensions"
    choice = getattr(tree, "choice_", None)
    if tree.n_leaves_ > 1:
        asked = parameters["max_leaf_nodes"] if choice is None else choice.n_components
        note_number(run, tree, None if asked == "auto" else asked, "leaves")
    named = Named.of(tree, like, given)
    tree = named.model
    documents, of_documents = shown_of(corpus, tree)
    summary = _summarize(run, of_documents, documents, took, **shown) | named.in_report()
    of_all(summary, corpus, tree)
    content = {
        "title": summary["title"],
        **_sizes(summary),
        "n_words": summary["n_features"],
        **{key: summary[key] for key in ("n_leaves", "agreement", "made")},
        **named.content(),
    }
    remarks = [*named.remarks(run), *_on_words(run, of_documents, documents)]
    if choice is not None:
        content["choice"] = _choice(run, choice)
        remarks.insert(0, run.words(Message("n_topics_chosen", reason=choice.reason)))
    if summary["n_leaves"] == 1 and tree.tree_.reason:
        remarks.append(run.words(Message("not_split", reason=tree.tree_.reason)))
    return Result(
        summary,
        took,
        table=lambda: (
            table_in_blocks(corpus, "leaf", tree)
            if isinstance(corpus, Elsewhere)
            else _table(corpus, "leaf", tree, tree.labels_, tree.predict_proba(X))
        ),
        format="tree",
        content=lambda: {**content, "tree": tree.to_dict()},
        save=lambda path: tree.save(path),
        remarks=remarks,
    )


def fit_flat(
    run: Run,
    corpus: Corpus,
    model: TopicModel,
    n_components: int | None,
    parameters: Mapping[str, Any],
    given: GivenNames,
    *,
    like: OldModel | None = None,
    **shown: Any,
) -> Result:
    """Fit a flat model of topics; `shown` as for `grow_tree`."""
    kind: Any = models.LatentDirichletAllocation if model == "lda" else models.SingleTopicModel
    step = "fitting topics" if n_components else CHOOSING
    with run.stage(step), warnings.catch_warnings():
        # The diagnostics already report if there are fewer topics.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model_of = kind("auto" if n_components is None else n_components, **parameters)
        fitted, took = fit_once(corpus, lambda: model_of.fit(corpus))
    choice = getattr(fitted, "choice_", None)
    named = Named.of(fitted, like, given)
    fitted = named.model
    documents, of_documents = shown_of(corpus, fitted)
    with run.stage("inferring topic proportions"):
        proportions = fitted.predict_proba(documents.X)
    summary = _summarize(run, of_documents, documents, took, **shown, topic_proportions=proportions)
    summary |= named.in_report()
    of_all(summary, corpus, fitted)
    remarks = named.remarks(run)
    remarks += [f"Note: {warning}" for warning in summary["diagnostics"]["warnings"]]
    remarks += _on_words(run, of_documents, documents)
    if choice is not None:
        remarks.insert(0, run.words(Message("n_topics_chosen", reason=choice.reason)))
    return Result(
        summary,
        took,
        table=lambda: (
            table_in_blocks(corpus, "topic", fitted)
            if isinstance(corpus, Elsewhere)
            else _table(corpus, "topic", fitted, fitted.labels_, proportions)
        ),
        format="topics",
        content=lambda: _flat_content(fitted, summary, _choice(run, choice)) | named.content(),
        save=lambda path: fitted.save(path),
        remarks=remarks,
    )


def _on_words(run: Run, model: Any, corpus: Corpus) -> list[str]:
    """Return remarks on topics that consist of function words, and on words of no topic."""
    notes = notes_on_function_words(model) or _on_common_words(model, corpus)
    return [f"Note: {run.words(note)}" for note in notes]


def _on_common_words(model: Any, corpus: Corpus) -> list[Message]:
    return notes_on_common_words(corpus.X, model.labels_, corpus.vocabulary)


def _choice(run: Run, choice: models.ComponentChoice | None) -> dict[str, Any] | None:
    """Return a choice of the number of topics as plain values."""
    if choice is None:
        return None
    low, high = choice.interval
    return {
        "n_components": int(choice.n_components),
        "interval": [int(low), int(high)],
        "reason": run.words(choice.reason),
    }


def _summarize(
    run: Run,
    model: Any,
    corpus: Corpus,
    took: float,
    *,
    title: str | None = None,
    order: pd.Series[Any] | None = None,
    documents: Any = None,
    embeddings: str | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Summarize a model completely for a report, otherwise only what is printed."""
    if order is not None and corpus.passages is not None:
        order = order.iloc[corpus.passages.document_of]  # passages have the place of their document
    if run.writes("output"):
        options |= {"ids": corpus.ids, "texts": corpus.texts, "order": order}
    else:
        documents = 0
    labels: Any = corpus.labels
    settings = {
        name: value
        for name, value in (_config(corpus) or {}).items()
        if name not in _ONLY_IF_USED or value not in _UNUSED
    }
    settings["embeddings"] = embeddings
    with run.stage("summarizing"):
        summary = report.summarize(
            model,
            corpus.X if run.writes("output") else None,
            # An empty label is unknown.
            labels=labels and [label or None for label in labels],
            title=title or default_title(len(corpus.passages or corpus)),
            documents=documents,
            notes=[*corpus.notes, *_on_common_words(model, corpus)],
            made_with=made_with(corpus.name, took, **{key: settings.get(key) for key in _SHOWN}),
            **options,
        )
    if corpus.passages is not None:
        n = len(corpus.passages)
        summary["passages_of"] = n
        if title is None:
            # A title gives the rows of the CSV file: passages of a single text, else documents.
            one = n == 1
            every = Message(
                "all_passages" if one else "all_documents", n_all=len(corpus) if one else n
            )
            summary["title"] = f"Topics of {every}"
    return summary


def _config(corpus: Corpus) -> dict[str, Any] | None:
    return None if corpus.vectorizer is None else corpus.vectorizer.to_dict()


def _table(corpus: Corpus, kind: str, model: Any, places: Any, proba: Any) -> CsvTable:
    """Return a row for each document, with its proportions over its passages if it has any."""
    # A single text has a row for each passage.
    passages = None if corpus.passages is None or len(corpus.passages) == 1 else corpus.passages
    documents = corpus if passages is None else passages
    columns: dict[str, Any] = {"id": documents.ids}
    if documents.labels is not None:
        columns["label"] = documents.labels
    assigned = places >= 0
    if passages is not None:
        columns["passages"] = passages.counts.tolist()
        proba = passages.join(proba, np.asarray(corpus.X.sum(axis=1)).ravel())
        assigned = np.bincount(passages.document_of, assigned) > 0
        places = proba.argmax(axis=1)
    every = kind == "topic" or passages is not None
    return assignments(
        kind, topic_names(model), places, proba, every=every, assigned=assigned, **columns
    )


def _flat_content(
    model: Any, summary: Mapping[str, Any], choice: Mapping[str, Any] | None
) -> dict[str, Any]:
    words = _top_words(model)
    content = {
        **{key: summary[key] for key in ("title", "about")},
        **_sizes(summary),
        "n_words": summary["n_features"],
        "n_topics": summary["n_leaves"],
        "choice": choice,
        **{key: summary[key] for key in ("agreement", "made", "diagnostics")},
        "topics": [
            {
                "topic": node["leaf"],
                "name": node["name"],
                "share": _rounded(node["share"]),
                "weight": _rounded(model.weights_[node["leaf"]]),
                "n_documents": node["n_samples"],
                "words": words[node["leaf"]],
            }
            for node in summary["nodes"]
            if node["leaf"] is not None
        ],
    }
    alpha = getattr(model, "alpha_", None)
    if alpha is not None:
        content["alpha"] = [_rounded(value) for value in alpha]  # by topic number
        content["alpha0"] = _rounded(alpha.sum())
    return content


def _sizes(summary: Mapping[str, Any]) -> dict[str, int]:
    """Return the numbers of documents, of passages if a document was cut, and of those left out."""
    n, left_out = summary["n_documents"], {"n_in_no_topic": summary["n_in_no_topic"]}
    if "passages_of" not in summary:
        return {"n_documents": n, **left_out}
    return {"n_documents": summary["passages_of"], "n_passages": n, **left_out}


def _rounded(value: float) -> float:
    return float(decimals(value))


def _top_words(model: Any) -> list[list[dict[str, Any]]]:
    """Return the most relevant words of each topic with their probabilities."""
    column = {str(word): j for j, word in enumerate(model.vocabulary_)}
    P = word_probabilities(model.components_)
    return [
        [{"word": word, "probability": _rounded(row[column[word]])} for word in words]
        for words, row in zip(model.top_words(20), P, strict=True)
    ]
