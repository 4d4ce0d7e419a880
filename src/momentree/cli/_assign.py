"""Read new documents or records as a saved model requires, and assign them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from momentree import readers
from momentree.cli._clusters import FEW_CODES, GROUP_NAMES
from momentree.cli._run import Run
from momentree.cli.tables import CsvTable, assignments
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.report.topics import topic_names


def is_of_records(model: Any) -> bool:
    """Whether a model was fitted to records rather than documents."""
    return (model.vectorizer_config_ or {}).get("kind") == "records"


def assign_documents(
    run: Run, model: Any, source: Path, vocabulary: Path | None, reading: dict[str, Any]
) -> tuple[CsvTable, Message]:
    """Assign documents to the leaves or topics of a model; return a table and a summary."""
    with run.stage(f"reading {source.name or source}"):
        ids, X = _read_counts(run, model, source, vocabulary, reading)
    is_tree = hasattr(model, "tree_")
    unknown = int((X.sum(axis=1) == 0).sum())
    if unknown:
        code = "no_known_words_leaf" if is_tree else "no_known_words_topics"
        run.note(Message(code, n_records=unknown, n_all=X.shape[0]))
    with run.stage("assigning"):
        proba = model.predict_proba(X)
        names = topic_names(model)
        table = assignments(
            "leaf" if is_tree else "topic",
            names,
            model.predict(X) if is_tree else proba.argmax(axis=1),
            proba,
            every=not is_tree,
            id=ids,
        )
    code = "assigned_to_leaves" if is_tree else "assigned_to_topics"
    return table, Message(code, n_documents=len(ids), n_places=len(names))


def _read_counts(
    run: Run, model: Any, source: Path, vocabulary: Path | None, reading: dict[str, Any]
) -> tuple[list[str], Any]:
    """Read documents as counts with the columns of a model."""
    if readers.holds_counts(source):
        corpus = readers.read_counts(source, vocabulary=vocabulary)
        return corpus.ids, readers.align_columns(corpus, model.vocabulary_.tolist()).X
    if model.vectorizer_config_ is None:
        raise InvalidDataError("model_of_counts", path=str(source))
    documents = readers.read_documents(source, **reading)
    for note in documents.notes:
        run.note(note)
    vectorizer = readers.TextVectorizer.from_dict(model.vectorizer_config_)
    return documents.ids, vectorizer.transform(documents.texts)


def assign_records(
    run: Run, model: Any, source: Path, reading: dict[str, Any]
) -> tuple[CsvTable, Message]:
    """Assign records to the groups of a model."""
    with run.stage(f"reading {source.name or source}"):
        config = dict(model.vectorizer_config_)
        names, few_codes = _extras(model, config)
        coder = readers.RecordCoder.from_dict(config)
        # All records are assigned, even those with few codes.
        records = readers.read_records(source, coder=coder, min_codes=0, **reading)
    for note in records.notes:
        run.note(note)
    X: Any = records.X
    n_codes = (X == 1).sum(axis=1)
    few = int(((n_codes > 0) & (n_codes < few_codes)).sum())
    if few:
        run.note(Message("few_codes", n_records=few, n_all=X.shape[0], few_codes=few_codes))
    unknown = int((n_codes == 0).sum())
    if unknown:
        run.note(Message("no_known_codes", n_records=unknown, n_all=X.shape[0]))
    with run.stage("assigning"):
        table = assignments(
            "group", names, model.predict(X), model.predict_proba(X), every=True, id=records.ids
        )
    return table, Message("assigned_to_groups", n_records=len(records), n_groups=len(names))


def _extras(model: Any, config: dict[str, Any]) -> tuple[list[str], int]:
    """Remove and return the entries that `momentree clusters` adds to the reader settings."""
    own = topic_names(model)
    names, few_codes = config.pop(GROUP_NAMES, own), config.pop(FEW_CODES, 0)
    good = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not good or len(names) != len(own):
        raise InvalidDataError("damaged_group_names", n_groups=len(own), found=repr(names))
    if not isinstance(few_codes, int) or isinstance(few_codes, bool):
        raise InvalidDataError("damaged_few_codes", found=repr(few_codes))
    return names, few_codes
