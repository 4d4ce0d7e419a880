"""Read new documents or records as a saved model requires, and assign them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from momentree import readers
from momentree.cli._clusters import ASSIGNMENT, GROUP_NAMES
from momentree.cli._incomplete import IncompleteAssignments, RecordAssigner
from momentree.cli._measured_models import predicted
from momentree.cli._measurements import INCOMPLETE, NO_VALUES
from momentree.cli._run import Run
from momentree.cli._tokenizer import give_tokenizer
from momentree.cli.tables import CsvTable, assignments
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.readers import Corpus
from momentree.report.topics import topic_names


def is_of_records(model: Any) -> bool:
    """Whether a model was fitted to records rather than documents."""
    return _kind(model) in ("records", "measurements")


def is_of_measurements(model: Any) -> bool:
    """Whether a model was fitted to a table of measurements."""
    return _kind(model) == "measurements"


def _kind(model: Any) -> object:
    return (model.vectorizer_config_ or {}).get("kind")


def assign_documents(
    run: Run,
    model: Any,
    source: Path,
    vocabulary: Path | None,
    reading: dict[str, Any],
    tokenizer: str | None,
) -> tuple[CsvTable, Message]:
    """Assign documents to the leaves or topics of a model; return a table and a summary."""
    with run.stage(f"reading {source.name or source}"):
        new = _read_counts(run, model, source, vocabulary, reading, tokenizer)
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
        raise InvalidDataError("all_unknown_words", path=str(source), n_documents=len(ids))
    if unknown:
        run.note(Message("no_known_words", n_records=unknown, n_all=len(ids)))
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
    code = "assigned_to_leaves" if is_tree else "assigned_to_topics"
    return table, Message(code, n_documents=len(ids) - unknown, n_places=len(names))


def assign_embeddings(
    run: Run,
    model: Any,
    source: Path,
    vocabulary: Path | None,
    reading: dict[str, Any],
    path: Path,
) -> tuple[CsvTable, Message]:
    """Assign documents to the leaves of a model of embeddings; return a table and a summary."""
    with run.stage(f"reading {source.name or source}"):
        new: Any
        if readers.holds_counts(source):
            new = readers.read_counts(source, vocabulary=vocabulary)
        else:
            new = readers.read_documents(source, **reading)
        vectors = readers.read_embeddings(
            path, n_rows=len(new), n_columns=int(model.n_features_in_)
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
    return table, Message("assigned_to_leaves", n_documents=len(new), n_places=model.n_leaves_)


def _read_counts(
    run: Run,
    model: Any,
    source: Path,
    vocabulary: Path | None,
    reading: dict[str, Any],
    tokenizer: str | None,
) -> Corpus:
    """Read documents as counts with the columns of a model."""
    if readers.holds_counts(source):
        if tokenizer is not None:
            raise InvalidParameterError("only_for_texts", parameter="tokenizer", path=str(source))
        corpus = readers.read_counts(source, vocabulary=vocabulary)
        return readers.align_columns(corpus, model.vocabulary_.tolist())
    if model.vectorizer_config_ is None:
        raise InvalidDataError("model_of_counts", path=str(source))
    documents = readers.read_documents(source, **reading)
    vectorizer = readers.TextVectorizer.from_dict(model.vectorizer_config_)
    vectorizer = give_tokenizer(run, vectorizer, tokenizer)
    corpus = readers.read_like(documents, vectorizer)
    for note in corpus.notes:
        run.note(note)
    return corpus


def assign_records(
    run: Run, model: Any, source: Path, reading: dict[str, Any], *, complete: bool
) -> tuple[CsvTable, Message]:
    """Assign records to the groups of a model, as `complete` or possibly incomplete ones."""
    with run.stage(f"reading {source.name or source}"):
        config = dict(model.vectorizer_config_)
        names, scoring = _extras(model, config)
        coder = readers.RecordCoder.from_dict(config)
        assigner = RecordAssigner.of(scoring or model.scoring(), coder.codes, len(names))
        # All records are assigned, even those with few codes.
        records = readers.read_records(source, coder=coder, min_codes=0, **reading)
    for note in records.notes:
        run.note(note)
    X: Any = records.X
    with run.stage("assigning"):
        if complete:
            labels, proba = model.predict(X), model.predict_proba(X)
            found = IncompleteAssignments(labels, proba, [""] * len(labels))
        else:
            found = assigner.assign(X)
        table = assignments(
            "group",
            names,
            found.labels,
            found.proba,
            every=True,
            undecided=found.reasons,
            id=records.ids,
        )
    unknown = int(((X == 1).sum(axis=1) == 0).sum())
    if unknown:
        run.note(Message("no_known_codes", n_records=unknown, n_all=X.shape[0]))
    undecided = int((found.labels < 0).sum())
    if undecided:
        run.note(Message("undecided", n_records=undecided, n_all=X.shape[0]))
    assigned = len(records) - undecided
    return table, Message("assigned_to_groups", n_records=assigned, n_groups=len(names))


def assign_measurements(
    run: Run, model: Any, source: Path, reading: dict[str, Any]
) -> tuple[CsvTable, Message]:
    """Assign records with measurements to the groups of a model."""
    with run.stage(f"reading {source.name or source}"):
        config = dict(model.vectorizer_config_)
        names, _ = _extras(model, config)
        coder = readers.MeasurementCoder.from_dict(config)
        table = readers.read_measurements(source, coder=coder, **reading)
    for note in table.notes:
        run.note(note)
    with run.stage("assigning"):
        labels, proba, complete = predicted(model, table, len(names))
        reasons = np.where(complete, "", np.where(table.enough, INCOMPLETE, NO_VALUES)).tolist()
        found = assignments(
            "group", names, labels, proba, every=True, undecided=reasons, id=table.ids
        )
        # Probabilities are unknown, not zero.
        empty = [""] * len(names)
        rows = [
            row if known else (*row[: -len(names)], *empty)
            for row, known in zip(found.rows, complete, strict=True)
        ]
    undecided = int((~complete).sum())
    if undecided:
        run.note(Message("undecided_incomplete", n_records=undecided, n_all=len(table)))
    assigned = len(table) - undecided
    return replace(found, rows=rows), Message(
        "assigned_to_groups", n_records=assigned, n_groups=len(names)
    )


def _extras(model: Any, config: dict[str, Any]) -> tuple[list[str], dict[str, Any] | None]:
    """Remove and return the entries that `momentree clusters` adds to the reader settings."""
    # A mixture of densities has its own names, and no words.
    own = (
        topic_names(model)
        if hasattr(model, "components_") or hasattr(model, "tree_")
        else [str(name) for name in model.names_]
    )
    names, scoring = config.pop(GROUP_NAMES, own), config.pop(ASSIGNMENT, None)
    good = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not good or len(names) != len(own):
        raise InvalidDataError("damaged_group_names", n_groups=len(own), found=repr(names))
    if not isinstance(scoring, dict | None):
        raise InvalidDataError("damaged_assignment", found=ASSIGNMENT)
    return names, scoring
