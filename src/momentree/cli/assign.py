"""``momentree assign``: assign new data to the leaves, topics, groups or states of a model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from momentree import models, readers
from momentree.cli._run import Run
from momentree.cli.clusters import ASSIGNMENT, GROUP_NAMES, reasons_for_none
from momentree.cli.groups import IncompleteAssignments, RecordAssigner, predicted
from momentree.cli.options import Options
from momentree.cli.screen import show
from momentree.cli.sequences import STATE_NAMES, steps_table
from momentree.cli.tables import CsvTable, assignments
from momentree.cli.topics import give_tokenizer
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message, wording
from momentree.readers import Corpus
from momentree.report.topics import topic_names

_APPLIES_TO_RECORDS = (
    "[applies_to_records] {parameter} applies only to records, but {path} is a model of {kind}; "
    "leave it out"
)
_ASSIGNED_TO_LEAVES = (
    "[assigned_to_leaves] Assigned {n_documents:~document} to {n_places:~leaf/leaves}."
)
_ASSIGNED_TO_GROUPS = "[assigned_to_groups] Assigned {n_records:~record} to {n_groups:~group}."


Kind = Literal["documents", "records", "measurements", "sequences"]
Assigned = tuple[CsvTable, Message]
"""The table of assignments, and a line on it."""


def read(run: Run, _held: ExitStack) -> Any:
    """Read a model, and refuse options that do not apply to it."""
    options = run.options
    model = models.load(options.model)
    kind = _kind_of(model)
    if kind != "sequences" and not hasattr(model, "vocabulary_"):
        raise InvalidDataError(
            "{path} contains a {kind}, which does not assign samples to groups by their columns "
            "alone; use it in Python, with momentree.load",
            path=str(options.model),
            kind=type(model).__name__,
        )
    _check(options, kind)
    embedded = getattr(model, "data_", "") in ("directions", "embeddings")
    if embedded and options.embeddings is None:
        raise InvalidParameterError(
            "{path} is a model of embeddings; give those of the new documents: "
            "{parameters.embeddings:FILE.npy}",
            path=str(options.model),
        )
    if options.embeddings is not None and not embedded:
        raise InvalidParameterError(
            "{path} is not a model of embeddings; leave out {parameters.embeddings}",
            path=str(options.model),
        )
    return model


def _kind_of(model: Any) -> Kind:
    """Return what a model was fitted to."""
    kind = (getattr(model, "vectorizer_config_", None) or {}).get("kind")
    return kind if kind in ("records", "measurements", "sequences") else "documents"


def _check(options: Options, kind: Kind) -> None:
    """Refuse options for another kind of data than that of the model."""
    codes = {
        "documents": (
            "[applies_to_documents] {parameter} applies only to documents, but {path} is a model "
            "of {kind}; leave it out"
        ),
        "records": _APPLIES_TO_RECORDS,
        "records measurements": _APPLIES_TO_RECORDS,
        "sequences": (
            "[applies_to_sequences] {parameter} applies only to sequences, but {path} is a model "
            "of {kind}; leave it out"
        ),
        "records sequences": (
            "[applies_to_codes] {parameter} applies only to records and sequences, but {path} is a "
            "model of {kind}; leave it out"
        ),
    }
    for option in options.table:
        if option.only and option.name in options.given and kind not in option.only.split():
            raise InvalidParameterError(
                codes[option.only], parameter=option.name, path=str(options.model), kind=kind
            )


def proceed(run: Run, model: Any) -> None:
    """Read the new data as the model requires, assign them, and write or print the table."""
    assign: dict[Kind, Callable[[Run, Any], Assigned]] = {
        "documents": _assign_documents if run.options.embeddings is None else _assign_embeddings,
        "records": _assign_records,
        "measurements": _assign_measurements,
        "sequences": _assign_steps,
    }
    table, result = assign[_kind_of(model)](run, model)
    escape = run.options.escape_formulas
    if run.options.csv is None:
        table.print(escape_formulas=escape)
    else:
        run.write_files({"csv": lambda path: table.write(path, escape_formulas=escape)})
        if not run.quiet:
            show(f"{run.words(result)}\n")
    run.end()


def _reading(run: Run) -> Any:
    source = run.options.source
    return run.stage(f"reading {source.name or source}")


def _assign_documents(run: Run, model: Any) -> Assigned:
    """Assign documents to the leaves or topics of a model."""
    with _reading(run):
        new = _read_counts(run, model)
    with run.stage("assigning"):
        proba = model.predict_proba(new.X)
    is_tree = hasattr(model, "tree_")
    places: Any = model.predict(new.X) if is_tree else proba.argmax(axis=1)
    n_words = np.asarray(new.X.sum(axis=1)).ravel()
    ids, passages, extra = new.ids, new.passages, {}
    if passages is not None:
        proba = passages.join(proba, n_words)
        places = proba.argmax(axis=1)
        n_words = np.bincount(passages.document_of, weights=n_words)
        ids, extra = passages.ids, {"passages": passages.counts.tolist()}
    unknown = int((n_words == 0).sum())
    if unknown == len(ids):
        path = str(run.options.source)
        raise InvalidDataError(
            "{n_documents:~document} in {path}, but none has a word in common with the model; "
            "check that the column of text, the language and the model are the right ones",
            path=path,
            n_documents=len(ids),
        )
    if unknown:
        run.note(
            Message(
                "[no_known_words] {n_records:,} of {n_all:~document} {n_records:?has/have} no "
                "words in common with the model and {n_records:?is/are} not assigned; "
                "{n_records:?its/their} cells are empty",
                n_records=unknown,
                n_all=len(ids),
            )
        )
    names = topic_names(model)
    table = assignments(
        "leaf" if is_tree else "topic",
        names,
        places,
        proba,
        every=not is_tree or passages is not None,
        assigned=n_words > 0,
        id=ids,
        **extra,
    )
    n_assigned, n_places = len(ids) - unknown, len(names)
    if is_tree:
        return table, Message(_ASSIGNED_TO_LEAVES, n_documents=n_assigned, n_places=n_places)
    return table, Message(
        "[assigned_to_topics] Assigned {n_documents:~document} to {n_places:~topic}.",
        n_documents=n_assigned,
        n_places=n_places,
    )


def _read_counts(run: Run, model: Any) -> Corpus:
    """Read documents as counts with the columns of a model."""
    options = run.options
    source, tokenizer = options.source, options.tokenizer
    if readers.holds_counts(source):
        if tokenizer is not None:
            raise InvalidParameterError(
                wording.ONLY_FOR_TEXTS, parameter="tokenizer", path=str(source)
            )
        corpus = readers.read_counts(source, vocabulary=options.vocabulary)
        return readers.align_columns(corpus, model.vocabulary_.tolist())
    if model.vectorizer_config_ is None:
        raise InvalidDataError(
            "the model was fitted to word counts, but {path} contains text; give counts, or fit a "
            "model to text with momentree topics --save",
            path=str(source),
        )
    documents = readers.read_documents(source, **options.read_by("documents"))
    vectorizer = readers.TextVectorizer.from_dict(model.vectorizer_config_)
    corpus = readers.read_like(documents, give_tokenizer(run, vectorizer, tokenizer))
    for note in corpus.notes:
        run.note(note)
    return corpus


def _assign_embeddings(run: Run, model: Any) -> Assigned:
    """Assign documents to the leaves of a model of embeddings."""
    options = run.options
    if options.tokenizer is not None:
        raise InvalidParameterError(
            wording.NO_TOKENIZER_IN_MODEL, parameter="tokenizer", value=options.tokenizer
        )
    with _reading(run):
        new: Any
        if readers.holds_counts(options.source):
            new = readers.read_counts(options.source, vocabulary=options.vocabulary)
        else:
            new = readers.read_documents(options.source, **options.read_by("documents"))
        vectors = readers.read_embeddings(
            options.embeddings, n_rows=len(new), n_columns=int(model.n_features_in_)
        )
    for note in (*new.notes, *vectors.notes):
        run.note(note)
    with run.stage("assigning"):
        table = assignments(
            "leaf",
            topic_names(model),
            model.predict(vectors.X),
            model.predict_proba(vectors.X),
            every=False,
            assigned=[bool(row.any()) for row in vectors.X],
            id=new.ids,
        )
    return table, Message(_ASSIGNED_TO_LEAVES, n_documents=len(new), n_places=model.n_leaves_)


def _assign_records(run: Run, model: Any) -> Assigned:
    """Assign records to the groups of a model, as complete or possibly incomplete ones."""
    with _reading(run):
        config = dict(model.vectorizer_config_)
        names, scoring = _taken_extras(model, config)
        coder = readers.RecordCoder.from_dict(config)
        assigner = RecordAssigner.of(scoring or model.scoring(), coder.codes, len(names))
        # All records are assigned, even those with few codes.
        arguments = run.options.read_by("records")
        records = readers.read_records(run.options.source, coder=coder, min_codes=0, **arguments)
    for note in records.notes:
        run.note(note)
    X: Any = records.X
    with run.stage("assigning"):
        if run.options.complete:
            labels, proba = model.predict(X), model.predict_proba(X)
            assigned = IncompleteAssignments(labels, proba, [""] * len(labels))
        else:
            assigned = assigner.assign(X)
        table = assignments(
            "group",
            names,
            assigned.labels,
            assigned.proba,
            every=True,
            undecided=assigned.reasons,
            id=records.ids,
        )
    unknown = int(((X == 1).sum(axis=1) == 0).sum())
    if unknown:
        run.note(
            Message(
                "[no_known_codes] {n_records:,} of {n_all:~record} {n_records:?has/have} no codes "
                "in common with the model; check that the codes are of the same system",
                n_records=unknown,
                n_all=X.shape[0],
            )
        )
    undecided = int((assigned.labels < 0).sum())
    if undecided:
        run.note(
            Message(
                "[undecided] {n_records:,} of {n_all:~record} {n_records:?has/have} no group, "
                "because {n_records:?its/their} codes are too few, or belong to different groups; "
                "the columns of probabilities show the leading groups. If the records are as "
                "complete as those of the fit, add {parameters.complete}",
                n_records=undecided,
                n_all=X.shape[0],
            )
        )
    n_assigned = len(records) - undecided
    return table, Message(_ASSIGNED_TO_GROUPS, n_records=n_assigned, n_groups=len(names))


def _assign_measurements(run: Run, model: Any) -> Assigned:
    """Assign records with measurements to the groups of a model."""
    with _reading(run):
        config = dict(model.vectorizer_config_)
        names, _ = _taken_extras(model, config)
        coder = readers.MeasurementCoder.from_dict(config)
        arguments = run.options.read_by("measurements")
        table = readers.read_measurements(run.options.source, coder=coder, **arguments)
    for note in table.notes:
        run.note(note)
    with run.stage("assigning"):
        labels, proba, complete = predicted(model, table, len(names))
        reasons = reasons_for_none(table, complete)
        assigned = assignments(
            "group", names, labels, proba, every=True, undecided=reasons, id=table.ids
        )
        # Probabilities are unknown, not zero.
        empty = [""] * len(names)
        rows = [
            row if known else (*row[: -len(names)], *empty)
            for row, known in zip(assigned.rows, complete, strict=True)
        ]
    undecided = int((~complete).sum())
    if undecided:
        run.note(
            Message(
                "[undecided_incomplete] {n_records:,} of {n_all:~record} {n_records:?has/have} no "
                "group, because values are missing",
                n_records=undecided,
                n_all=len(table),
            )
        )
    n_assigned = len(table) - undecided
    return replace(assigned, rows=rows), Message(
        _ASSIGNED_TO_GROUPS, n_records=n_assigned, n_groups=len(names)
    )


def _taken_extras(model: Any, config: dict[str, Any]) -> tuple[list[str], dict[str, Any] | None]:
    """Remove and return the entries that `momentree clusters` adds to the reader settings."""
    # A mixture of densities has its own names, and no words.
    own_names = (
        topic_names(model)
        if hasattr(model, "components_") or hasattr(model, "tree_")
        else [str(name) for name in model.names_]
    )
    names, scoring = config.pop(GROUP_NAMES, own_names), config.pop(ASSIGNMENT, None)
    valid = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not valid or len(names) != len(own_names):
        raise InvalidDataError(
            "[damaged_group_names] the model is damaged: its {n_groups} groups have the names "
            "{found}",
            n_groups=len(own_names),
            found=repr(names),
        )
    if not isinstance(scoring, dict | None):
        raise InvalidDataError(wording.DAMAGED_ASSIGNMENT, found=ASSIGNMENT)
    return names, scoring


def _assign_steps(run: Run, model: Any) -> Assigned:
    """Assign the steps of new sequences to the states of a model."""
    columns = run.options.code_column or []
    if len(columns) > 1:
        raise InvalidParameterError(
            "[one_code_column] {parameters.code_column} was given more than once; sequences have "
            "one column of codes"
        )
    with _reading(run):
        config = dict(model.vectorizer_config_)
        k = len(model.startprob_)
        names = config.pop(STATE_NAMES, [f"state {j}" for j in range(k)])
        valid = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not valid or len(names) != k:
            raise InvalidDataError(
                "the model is damaged: its {n_states} states have the names {found}",
                n_states=k,
                found=repr(names),
            )
        coder = readers.SequenceCoder.from_dict(config)
        if len(coder.codes) != model.emissionprob_.shape[1]:
            raise InvalidDataError(
                "the model is damaged: it has {n_codes:~code} for {fitted} symbols",
                n_codes=len(coder.codes),
                fitted=model.emissionprob_.shape[1],
            )
        arguments = run.options.read_by("sequences")
        arguments.pop("code_columns", None)
        sequences = readers.read_sequences(
            run.options.source, coder=coder, code_column=next(iter(columns), None), **arguments
        )
    for note in sequences.notes:
        run.note(note)
    with run.stage("assigning"):
        table = steps_table(sequences, model, names)
    return table, Message(
        "[assigned_to_states] Assigned {n_entries:~step} to {n_states:~state}.",
        n_entries=len(table.rows),
        n_states=k,
    )
