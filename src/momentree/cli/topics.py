"""``momentree topics``: find topics in documents, as a tree or a flat list."""

from __future__ import annotations

import sys
import warnings
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pandas as pd

import momentree.cli.stored as disk
from momentree import models, readers, report
from momentree.cli import by_hand, tables
from momentree.cli._run import Fit, Run, Task, made_with, note_number, perform
from momentree.cli.options import Options, words_or_file
from momentree.cli.output import Writers
from momentree.exceptions import ConvergenceWarning, InvalidParameterError, ReadError
from momentree.messages import Message, wording
from momentree.readers import Corpus, TextVectorizer
from momentree.readers.text.words import name_of, read_words
from momentree.report import text, topics
from momentree.tree import ClusterTree, TopicTree

_ON_THIS_MACHINE = (
    "memory embeddings vocabulary phrases passages order search label_column id_column unique "
    "encoding separator sheet skip_rows header"
)
"""Options that need all documents on this machine."""
_CHOOSING = "choosing the number of topics"
_SHOWN = (
    *("language", "min_df", "max_df", "max_features", "lowercase", "raw", "passages"),
    *("phrases", "ngram_range", "tokenizer"),
)
"""Settings of the vectorizer that the report lists."""
_ONLY_IF_USED, _UNUSED = ("phrases", "ngram_range"), (False, [1, 1])
_OF_TREE = ("refine", "max_depth", "min_samples_leaf")
_FITTING = (*_OF_TREE, "groups", "flat", "model", "search", "log_scaling")
"""Options that decide on the model."""


@dataclass(frozen=True)
class Documents:
    """Counted documents, and what the options say about their topics."""

    corpus: Corpus
    n_topics: int | Literal["auto"]
    title: str | None = None
    names: by_hand.Names = field(default_factory=dict)
    old: by_hand.OldModel | None = None
    order: pd.Series[Any] | None = None
    vectors: Any = None
    search: bool = True
    """Whether the machine allows a search in all documents, if one is wanted."""


def read(run: Run, held: ExitStack) -> Documents:
    """Read and count documents, and what else the options name."""
    options = run.options
    _check(options)
    source, n_topics, names = options.source, options.groups, by_hand.read_names(options.rename)
    old = by_hand.OldModel.read(options)
    if old is not None and "groups" not in options.given:
        n_topics = old.n_groups
    arguments = _reader_arguments(options)
    order = None if options.order == "input" else _read_order(source, options)
    corpus, search = _read_corpus(run, held, arguments, n_topics)
    vectors = None
    if options.embeddings is not None:
        vectors = readers.read_embeddings(options.embeddings, n_rows=len(corpus))
    title = options.title or _title_of(source)
    return Documents(corpus, n_topics, title, names, old, order, vectors, search)


def _check(options: Options) -> None:
    """Refuse options that a run cannot follow."""
    if options.model == "lda":
        options.exclude("search log_scaling", beside="model")
    if options.groups == "auto" and options.memory is not None:
        raise InvalidParameterError(
            "[auto_with_memory] {parameters.memory} does not allow {parameters.n_components:auto}, "
            "which fits many models; give a number, such as the one found for a sample"
        )
    if options.scheduler is None and not readers.is_pattern(options.source):
        return
    options.exclude(_ON_THIS_MACHINE, beside="scheduler")
    if options.groups == "auto" or (options.model == "lda" and options.refine):
        raise InvalidParameterError(
            "[not_on_workers] choosing a number of topics and the EM of lda need all documents on "
            "one machine; give {parameters.n_components:8} and {parameters.refine:none}, or "
            "read the files without {parameters.scheduler} and patterns"
        )


def _reader_arguments(options: Options) -> dict[str, Any]:
    """Return the arguments of the reader of texts."""
    tokenizer = None if options.tokenizer is None else load_tokenizer(options.tokenizer)
    lists = [words_or_file(value, "stop_words") for value in options.stop_words or ()]
    arguments = options.read_by("documents", "texts") | {
        "stop_words": [word for words in lists for word in read_words("stop_words", words)],
        "ngram_range": (1, options.ngrams),
    }
    for name, value in (("vocabulary", options.vocabulary), ("tokenizer", tokenizer)):
        if value is not None:
            arguments[name] = value
    if options.embeddings is not None:
        arguments["passages"] = None
    return arguments


def _read_corpus(
    run: Run,
    held: ExitStack,
    arguments: dict[str, Any],
    n_topics: Any,
) -> tuple[Corpus, bool]:
    """Read documents on workers, in memory or on disk; say whether a search is possible."""
    options = run.options
    source, memory = options.source, options.memory
    if options.scheduler is not None or readers.is_pattern(source):
        files = disk.on_workers(source)
        held.enter_context(disk.connected(options.scheduler))
        corpus = readers.read_corpus(files, phrases=options.phrases, **arguments)
        if options.model != "lda":
            run.note(
                "[search_left_out_on_cluster] rows stay on the workers: topics come from "
                "splits and EM alone, as with {parameters.search:none}"
            )
        return corpus, False
    if memory is None:
        disk.note_size(run, source)
        return readers.read_corpus(source, phrases=options.phrases, **arguments), True
    work = disk.work_folder(source, run.outputs.requested)
    held.enter_context(disk.kept(run, work, resume=options.resume))
    stored = readers.read_corpus(
        source,
        folder=work.path,
        memory=memory,
        resume=options.resume,
        also={name: options.by_name[name] for name in _FITTING} | {"groups": n_topics},
        **arguments,
    )
    fits = "none" in (options.search, options.refine or "none") or options.model == "lda"
    fits = fits or disk.search_fits(stored, n_topics, memory)
    if not fits:
        run.note(
            "[search_left_out] a search in all documents would exceed {parameters.memory}, so "
            "topics come from splits and EM alone, as with {parameters.search:none}; more "
            "memory or fewer topics allow it"
        )
    return stored, fits


def _read_order(source: Path, options: Options) -> pd.Series[Any]:
    """Read the column of a table that orders the documents."""
    column = options.order
    if source.is_dir() or readers.holds_counts(source):
        raise InvalidParameterError(
            "[no_columns_to_order_by] {parameters.order} names a column, but {path} has no "
            "columns; leave out {parameters.order}",
            path=str(source),
        )
    # It is read like labels: one value per row, "" if missing.
    arguments = options.read_by("documents") | {"label_column": column}
    arguments.pop("id_column", None)
    try:
        documents = readers.read_documents(source, **arguments)
    except ReadError as error:
        # For the user, these are not labels.
        named = {**error.message.values, "parameter": "order"}  # noqa: PD011  no data frame
        raise ReadError(error.message.replace(**named)) from error
    order = pd.Series(documents.labels, name=column, dtype=object)
    topics.sort_documents(order, len(order))  # fail now rather than after the fit
    return order


def _title_of(source: Path) -> str | None:
    """Return a title for a folder, from its name: "Old letters" for old_letters; else None."""
    words = source.resolve().name.replace("_", " ").replace("-", " ").split()
    if not source.is_dir() or not any(word.isalpha() for word in words):
        return None
    title = " ".join(words)
    return title[0].upper() + title[1:]


def load_tokenizer(name: str) -> Any:
    """Import a function by its name, "module:function"; modules may be files of this folder."""
    module, _, path = name.partition(":")
    if not module or not path:
        raise InvalidParameterError(
            "{parameters.tokenizer:=value}; expected a module and a function, such as jieba:lcut",
            value=name,
        )
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        tokenizer: Any = import_module(module)
        for part in path.split("."):
            tokenizer = getattr(tokenizer, part)
    except Exception as error:
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InvalidParameterError(
            "{parameters.tokenizer:=value} cannot be imported: {error}", value=name, error=problem
        ) from error
    finally:
        sys.path.remove(folder)
    return tokenizer


def give_tokenizer(run: Run, vectorizer: TextVectorizer, name: str | None) -> TextVectorizer:
    """Return the vectorizer of a model with the function that finds its words, if it has one."""
    known = vectorizer.tokenizer
    if name is None:
        vectorizer.splitter()  # fails if a function is needed
        return vectorizer
    if known is None:
        raise InvalidParameterError(
            wording.NO_TOKENIZER_IN_MODEL, parameter="tokenizer", value=name
        )
    given = replace(vectorizer, tokenizer=load_tokenizer(name))
    if name_of(given.tokenizer) != known:
        run.note(
            "[other_tokenizer] the words of the model were found by {known}, those of the new "
            "documents by {given}: the results are right only if both find the same words",
            known=known,
            given=name_of(given.tokenizer),
        )
    return given


def proceed(run: Run, data: Documents) -> None:
    """Find topics, and write the results."""
    vectors = data.vectors.notes if data.vectors is not None else ()
    for note in (*data.corpus.notes, *vectors):
        run.note(note)
    perform(FLAT if run.options.flat else TREE, run, data)


def _grow(run: Run, data: Documents) -> Fit:
    """Grow a tree of topics, or of embeddings."""
    options, n_leaves, X = run.options, data.n_topics, data.corpus.X
    if data.vectors is None:
        stage = _CHOOSING if n_leaves == "auto" else "growing the tree"
        arguments = options.chosen(*_OF_TREE, "search", "log_scaling") | _left_out(data)
        tree = TopicTree(n_leaves, **arguments)
        grow = partial(tree.fit, data.corpus)
    else:
        stage, X = "growing the tree", data.vectors.X
        arguments = options.chosen(*_OF_TREE)
        grow = partial(
            ClusterTree(n_leaves, **arguments, data="directions").fit, X, counts=data.corpus
        )
    with run.stage(stage), warnings.catch_warnings():
        # A note already reports if there are fewer leaves.
        warnings.simplefilter("ignore", ConvergenceWarning)
        grown, took = disk.fit_once(data.corpus, grow)
    choice = getattr(grown, "choice_", None)
    if grown.n_leaves_ > 1:
        requested = n_leaves if choice is None else choice.n_components
        note_number(run, grown, None if requested == "auto" else requested, "leaves")
    named = by_hand.Named.of(grown, data.old, data.names)
    documents, shown = disk.shown_of(data.corpus, named.model)
    more = {"named": named, "choice": choice, "documents": documents, "shown": shown, "X": X}
    return Fit(named.model, took, more=more)


def _fit_flat(run: Run, data: Documents) -> Fit:
    """Fit a flat model of topics."""
    n_topics, arguments = data.n_topics, run.options.chosen("refine")
    estimator: Any
    if run.options.model == "lda":
        estimator = models.LatentDirichletAllocation(n_topics, **arguments)
    else:
        arguments |= run.options.chosen("log_scaling")
        searched = run.options.search != "none" and data.search
        if not searched and arguments.get("refine", "em"):
            arguments["start"] = "tree"
        estimator = models.SingleTopicModel(n_topics, **arguments)
    stage = _CHOOSING if n_topics == "auto" else "fitting topics"
    with run.stage(stage), warnings.catch_warnings():
        # The diagnostics already report if there are fewer topics.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted, took = disk.fit_once(data.corpus, partial(estimator.fit, data.corpus))
    named = by_hand.Named.of(fitted, data.old, data.names)
    documents, shown = disk.shown_of(data.corpus, named.model)
    with run.stage("inferring topic proportions"):
        proportions = named.model.predict_proba(documents.X)
    more = {"named": named, "choice": getattr(fitted, "choice_", None), "proportions": proportions}
    return Fit(named.model, took, more={**more, "documents": documents, "shown": shown})


def _left_out(data: Documents) -> dict[str, Any]:
    return {} if data.search else {"search": "none"}


def _summarize(run: Run, data: Documents, fit: Fit) -> tuple[dict[str, Any], list[str]]:
    """Summarize a model completely for a report, otherwise only what is printed."""
    corpus, named = fit.more["documents"], fit.more["named"]
    order, passages = data.order, corpus.passages
    if order is not None and passages is not None:
        order = order.iloc[passages.document_of]  # passages have the place of their document
    shown: dict[str, Any] = {"documents": 0}
    if run.writes("output"):
        shown = {"ids": corpus.ids, "texts": corpus.texts, "order": order}
        shown["documents"] = run.options.documents
    labels: Any = corpus.labels
    common = topics.notes_on_common_words(corpus.X, fit.more["shown"].labels_, corpus.vocabulary)
    with run.stage("summarizing"):
        summary = report.summarize(
            fit.more["shown"],
            corpus.X if run.writes("output") else None,
            topic_proportions=fit.more.get("proportions"),
            # An empty label is unknown.
            labels=labels and [label or None for label in labels],
            title=data.title or topics.default_title(len(passages or corpus)),
            notes=[*corpus.notes, *common],
            made_with=made_with(corpus.name, fit.took, **_settings(run, data, corpus)),
            **shown,
        )
    if passages is not None:
        summary["passages_of"] = n = len(passages)
        if data.title is None:
            # A title gives the rows of the CSV file: passages of a single text, else documents.
            single = Message(wording.ALL_PASSAGES, n_all=len(corpus))
            every = single if n == 1 else Message(wording.ALL_DOCUMENTS, n_all=n)
            summary["title"] = f"Topics of {every}"
    summary["changes"] = list(map(text.for_readers, named.messages))
    disk.of_all(summary, data.corpus, fit.model)
    return summary, _remarks(run, fit, summary, common)


def _settings(run: Run, data: Documents, corpus: Corpus) -> dict[str, Any]:
    """Return what the report says on how words were counted."""
    config = {} if corpus.vectorizer is None else corpus.vectorizer.to_dict()
    settings: dict[str, Any] = {}
    if data.vectors is not None:
        n_dimensions = data.vectors.X.shape[1]
        settings["embeddings"] = f"{run.options.embeddings.name}: {n_dimensions:,} dimensions"
    used = {n: v for n, v in config.items() if n not in _ONLY_IF_USED or v not in _UNUSED}
    return settings | {name: used.get(name) for name in _SHOWN}


def _remarks(run: Run, fit: Fit, summary: dict[str, Any], common: list[Message]) -> list[str]:
    """Return lines below the topics: their number, changes, and words that say little."""
    choice = fit.more["choice"]
    remarks = (
        []
        if choice is None
        else [
            Message(
                "[n_topics_chosen] Number of topics chosen by cross-validation: {reason}",
                reason=choice.reason,
            )
        ]
    )
    lines = list(map(run.words, [*remarks, *fit.more["named"].messages]))
    if summary["kind"] == "flat":
        lines += [f"Note: {warning}" for warning in summary["diagnostics"]["warnings"]]
    # Topics that consist of function words, or else words of no topic.
    notes = topics.notes_on_function_words(fit.more["shown"]) or common
    lines += [f"Note: {run.words(note)}" for note in notes]
    if summary["kind"] == "tree" and summary["n_leaves"] == 1 and fit.model.tree_.reason:
        lines.append(run.words(wording.NOT_SPLIT, reason=fit.model.tree_.reason))
    return lines


def _write(
    run: Run, data: Documents, fit: Fit, summary: dict[str, Any], _remarks: list[str]
) -> Writers:
    flat, model, choice = summary["kind"] == "flat", fit.model, fit.more["choice"]
    kind, format_, content = (
        ("topic", "topics", tables.topics_content)
        if flat
        else ("leaf", "tree", tables.tree_content)
    )

    def write_csv(path: Path) -> None:
        proba = None
        if not isinstance(data.corpus, disk.Elsewhere):
            proba = fit.more["proportions"] if flat else model.predict_proba(fit.more["X"])
        table = disk.table_of_documents(data.corpus, kind, model, proba)
        table.write(path, escape_formulas=run.options.escape_formulas)

    def write_content(path: Path) -> None:
        chosen = {} if choice is None and not flat else {"choice": _choice(run, choice)}
        named = fit.more["named"].content()
        tables.write_json(path, format_, {**content(summary, model), **named, **chosen})

    return {"csv": write_csv, "json": write_content, "save": model.save}


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


TREE = Task(_grow, _summarize, _write)
FLAT = Task(_fit_flat, _summarize, _write)
