"""``momentree assign``: assign new data to the leaves, topics, groups or states of a model."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from momentree import models, readers
from momentree.cli import clusters, groups, screen, tables, topics
from momentree.cli._run import Run
from momentree.cli.options import Options
from momentree.cli.sequences import STATE_NAMES, steps_table
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import wording
from momentree.report.topics import topic_names

Kind = Literal["documents", "records", "measurements", "sequences"]
Place = Literal["leaf", "topic", "group", "state"]
_RESULTS = {
    "leaf": "Assigned {n_assigned:~document} to {n_places:~leaf/leaves}.",
    "topic": "Assigned {n_assigned:~document} to {n_places:~topic}.",
    "group": "Assigned {n_assigned:~record} to {n_places:~group}.",
    "state": "Assigned {n_assigned:~step} to {n_places:~state}.",
}
"""What was done, by the kind of place."""


@dataclass(frozen=True)
class Assigned:
    """A table of assignments to places of one kind, and the number of rows that have one."""

    table: tables.CsvTable
    place: Place
    n_places: int
    n_assigned: int


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
    embedded = getattr(model, "data_", "") == "directions"
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
    for option in options.table:
        kinds = option.only.split()
        if kinds and option.name in options.given and kind not in kinds:
            raise InvalidParameterError(
                "[applies_to_other_data] {parameter} applies only to {kinds:and}, but {path} is a "
                "model of {kind}; leave it out",
                parameter=option.name,
                kinds=[name for name in kinds if name != "measurements"],
                path=str(options.model),
                kind=kind,
            )


def proceed(run: Run, model: Any) -> None:
    """Read the new data as the model requires, assign them, and write or print the table."""
    assign: dict[Kind, Callable[[Run, Any], Assigned]] = {
        "documents": _assign_documents if run.options.embeddings is None else _assign_embeddings,
        "records": _assign_records,
        "measurements": _assign_measurements,
        "sequences": _assign_steps,
    }
    found = assign[_kind_of(model)](run, model)
    escape = run.options.escape_formulas
    if run.options.csv is None:
        found.table.print(escape_formulas=escape)
    else:
        run.write_files({"csv": lambda path: found.table.write(path, escape_formulas=escape)})
        if not run.quiet:
            numbers = {"n_assigned": found.n_assigned, "n_places": found.n_places}
            screen.show(f"{run.words(_RESULTS[found.place], **numbers)}\n")
    run.end()


def _read(run: Run, reader: Callable[..., Any], **arguments: Any) -> Any:
    """Read the new data, and print the notes on them."""
    source = run.options.source
    with run.stage(f"reading {source.name or source}"):
        new = reader(source, **arguments)
    for note in new.notes:
        run.note(note)
    return new


def _note_some(run: Run, template: str, n_records: int, n_all: int) -> None:
    """Print a note on some of the records, if there are any."""
    if n_records:
        run.note(template, n_records=n_records, n_all=n_all)


def _assign_documents(run: Run, model: Any) -> Assigned:
    """Assign documents to the leaves or topics of a model."""
    new = _read(run, partial(_read_counts, run=run, model=model))
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
    _note_some(
        run,
        "[no_known_words] {n_records:,} of {n_all:~document} {n_records:?has/have} no words in "
        "common with the model and {n_records:?is/are} not assigned; {n_records:?its/their} cells "
        "are empty",
        unknown,
        len(ids),
    )
    names = topic_names(model)
    place: Place = "leaf" if is_tree else "topic"
    every, assigned = not is_tree or passages is not None, n_words > 0
    table = tables.assignments(
        place, names, places, proba, every=every, assigned=assigned, id=ids, **extra
    )
    return Assigned(table, place, len(names), len(ids) - unknown)


def _read_counts(source: Path, *, run: Run, model: Any) -> Any:
    """Read documents as counts with the columns of a model."""
    options, tokenizer = run.options, run.options.tokenizer
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
    return readers.read_like(documents, topics.give_tokenizer(run, vectorizer, tokenizer))


def _assign_embeddings(run: Run, model: Any) -> Assigned:
    """Assign documents to the leaves of a model of embeddings."""
    options = run.options
    if options.tokenizer is not None:
        raise InvalidParameterError(
            wording.NO_TOKENIZER_IN_MODEL, parameter="tokenizer", value=options.tokenizer
        )
    if readers.holds_counts(options.source):
        new = _read(run, readers.read_counts, vocabulary=options.vocabulary)
    else:
        new = _read(run, readers.read_documents, **options.read_by("documents"))
    n_columns = int(model.n_features_in_)
    vectors = readers.read_embeddings(options.embeddings, n_rows=len(new), n_columns=n_columns)
    for note in vectors.notes:
        run.note(note)
    with run.stage("assigning"):
        X, names = vectors.X, topic_names(model)
        places, proba, known = model.predict(X), model.predict_proba(X), [row.any() for row in X]
        table = tables.assignments(
            "leaf", names, places, proba, every=False, assigned=known, id=new.ids
        )
    return Assigned(table, "leaf", model.n_leaves_, len(new))


def _assign_records(run: Run, model: Any) -> Assigned:
    """Assign records to the groups of a model, as complete or possibly incomplete ones."""
    config = dict(model.vectorizer_config_)
    names = _take_names(config, clusters.GROUP_NAMES, _names_of(model))
    scoring = config.pop(clusters.ASSIGNMENT, None)
    if not isinstance(scoring, dict | None):
        raise InvalidDataError(wording.DAMAGED_ASSIGNMENT, found=clusters.ASSIGNMENT)
    coder = readers.RecordCoder.from_dict(config)
    assigner = groups.RecordAssigner.of(scoring or model.scoring(), coder.codes, len(names))
    # All records are assigned, even those with few codes.
    arguments = run.options.read_by("records")
    records = _read(run, readers.read_records, coder=coder, min_codes=0, **arguments)
    X: Any = records.X
    with run.stage("assigning"):
        if run.options.complete:
            labels, proba = model.predict(X), model.predict_proba(X)
            assigned = groups.IncompleteAssignments(labels, proba, [""] * len(labels))
        else:
            assigned = assigner.assign(X)
        labels, proba, reasons = assigned.labels, assigned.proba, assigned.reasons
        table = tables.assignments(
            "group", names, labels, proba, every=True, undecided=reasons, id=records.ids
        )
    n = len(records)
    _note_some(
        run,
        "[no_known_codes] {n_records:,} of {n_all:~record} {n_records:?has/have} no codes in "
        "common with the model; check that the codes are of the same system",
        int(((X == 1).sum(axis=1) == 0).sum()),
        n,
    )
    undecided = int((labels < 0).sum())
    _note_some(
        run,
        "[undecided] {n_records:,} of {n_all:~record} {n_records:?has/have} no group, because "
        "{n_records:?its/their} codes are too few, or belong to different groups; the columns of "
        "probabilities show the leading groups. If the records are as complete as those of the "
        "fit, add {parameters.complete}",
        undecided,
        n,
    )
    return Assigned(table, "group", len(names), n - undecided)


def _assign_measurements(run: Run, model: Any) -> Assigned:
    """Assign records with measurements to the groups of a model."""
    config = dict(model.vectorizer_config_)
    names = _take_names(config, clusters.GROUP_NAMES, _names_of(model))
    config.pop(clusters.ASSIGNMENT, None)
    coder = readers.MeasurementCoder.from_dict(config)
    arguments = run.options.read_by("measurements")
    new = _read(run, readers.read_measurements, coder=coder, **arguments)
    with run.stage("assigning"):
        labels, proba, complete = groups.predicted(model, new, len(names))
        reasons = clusters.reasons_for_none(new, complete)
        table = tables.assignments(
            "group", names, labels, proba, every=True, undecided=reasons, id=new.ids
        )
        # Probabilities are unknown, not zero.
        empty = [""] * len(names)
        rows = [
            row if known else (*row[: -len(names)], *empty)
            for row, known in zip(table.rows, complete, strict=True)
        ]
    undecided = int((~complete).sum())
    _note_some(
        run,
        "[undecided_incomplete] {n_records:,} of {n_all:~record} {n_records:?has/have} no group, "
        "because values are missing",
        undecided,
        len(new),
    )
    return Assigned(replace(table, rows=rows), "group", len(names), len(new) - undecided)


def _assign_steps(run: Run, model: Any) -> Assigned:
    """Assign the steps of new sequences to the states of a model."""
    columns = run.options.code_column or []
    if len(columns) > 1:
        raise InvalidParameterError(
            "[one_code_column] {parameters.code_column} was given more than once; sequences have "
            "one column of codes"
        )
    config = dict(model.vectorizer_config_)
    n_states = len(model.startprob_)
    names = _take_names(config, STATE_NAMES, [f"state {j}" for j in range(n_states)])
    coder = readers.SequenceCoder.from_dict(config)
    if len(coder.codes) != model.emissionprob_.shape[1]:
        raise InvalidDataError(
            "the model is damaged: it has {n_codes:~code} for {fitted} symbols",
            n_codes=len(coder.codes),
            fitted=model.emissionprob_.shape[1],
        )
    arguments = run.options.read_by("sequences") | {"code_column": next(iter(columns), None)}
    arguments.pop("code_columns", None)
    sequences = _read(run, readers.read_sequences, coder=coder, **arguments)
    with run.stage("assigning"):
        table = steps_table(sequences, model, names)
    return Assigned(table, "state", n_states, len(table.rows))


def _names_of(model: Any) -> list[str]:
    """Return the names that a model has of its own; a mixture of densities has no words."""
    if hasattr(model, "components_") or hasattr(model, "tree_"):
        return list(topic_names(model))
    return [str(name) for name in model.names_]


def _take_names(config: dict[str, Any], entry: str, names: Sequence[str]) -> list[str]:
    """Remove and return the names that a command added to the settings of the reader."""
    given = config.pop(entry, names)
    valid = isinstance(given, list) and all(isinstance(name, str) for name in given)
    if not valid or len(given) != len(names):
        raise InvalidDataError(
            "[damaged_group_names] the model is damaged: its {n_groups} groups or states have the "
            "names {found}",
            n_groups=len(names),
            found=repr(given),
        )
    return list(given)
