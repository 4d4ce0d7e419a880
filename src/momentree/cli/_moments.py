"""Read tables to answer questions, and fit a model to the answers of all sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree import backends, models, readers, tree
from momentree._files import read_file
from momentree.backends import DESCRIBE, read_question
from momentree.cli._run import Run
from momentree.cli.screen import show
from momentree.exceptions import InvalidDataError, InvalidParameterError, ReadError
from momentree.messages import Message

SHOWN = 8
"""Columns that are printed for each component."""
_TEXT_SUFFIXES = (".txt", ".jsonl", ".ndjson", ".mbox", ".html", ".htm", ".pdf", ".docx")


@dataclass(frozen=True)
class Question:
    """The question of a round, and what the sites said of their tables in the first."""

    content: bytes
    number: int
    columns: list[str]
    model: str
    options: dict[str, Any]

    @classmethod
    def load(cls, path: Path) -> Question:
        """Load a question from a file."""
        content = read_file(path)
        try:
            asked = read_question(content)
        except ReadError as error:
            if error.code == "not_a_question_of_sites":
                raise ReadError("not_a_question", path=str(path)) from error
            raise ReadError("damaged_state", path=str(path), error=error.message) from error
        about = {"model": "bernoulli", "options": {}, **dict(*asked.get("about", []))}
        columns = asked.get("columns") or []
        return cls(content, asked["round"], columns, about["model"], about["options"])


@dataclass(frozen=True)
class Table:
    """Rows of a table."""

    X: Any
    columns: list[str]
    names_columns: bool
    """Whether the columns are those that were found in the table."""
    about: dict[str, Any]


def read_table(
    run: Run,
    source: Path,
    question: Question | None,
    model: str,
    reading: Mapping[str, Any],
    of_codes: Mapping[str, Any],
    of_texts: Mapping[str, Any],
) -> Table:
    """Read the rows of a table for a model."""
    if question is not None:
        model = question.model
    if model == "auto":
        documents = source.is_dir() or readers.holds_counts(source)
        documents = documents or bool(of_texts["text_column"])
        documents = documents or source.suffix.lower() in _TEXT_SUFFIXES
        model = "single-topic" if documents else "bernoulli"
    vocabulary = of_texts["vocabulary"]
    if model == "bernoulli":
        data: Any = readers.read_records(
            source, **reading, **of_codes, min_records=1, drop_constant=False
        )
        columns, X = data.codes, sp.csr_array(data.X)[data.enough.nonzero()[0]]
        reader: dict[str, Any] | None = data.coder.to_dict()
        if n_cells := int(np.isnan(X.data).sum()):
            raise ReadError("incomplete_for_moments", n_cells=n_cells)
    else:
        data = _read_corpus(source, reading, of_texts["text_column"], vocabulary)
        columns, X = data.vocabulary, data.X
        reader = None if data.vectorizer is None else data.vectorizer.to_dict()
    for note in data.notes:
        run.note(note)
    options = _options_of(reader)
    about = {"model": model, "reader": reader, "options": options}
    names = [str(name) for name in columns]
    if question is not None:
        _note_differences(run, [options, question.options])
        n_others = len(set(names).difference(question.columns))
        if n_others == len(names):
            raise ReadError("no_column_in_common", n_columns=n_others)
        if n_others:
            run.note(Message("columns_left_out", n_columns=n_others))
    return Table(X, names, vocabulary is None, about)


def _read_corpus(
    source: Path, reading: Mapping[str, Any], text_column: Any, vocabulary: Path | None
) -> Any:
    counts = readers.holds_counts(source)
    more = {} if counts else {**reading, "text_column": text_column, "passages": None}
    corpus = readers.read_corpus(
        source,
        min_df=1,
        max_df=1.0,
        max_features=None,
        unique=False,
        vocabulary=vocabulary if counts else None,
        **more,
    )
    if vocabulary is None or counts:
        return corpus
    try:
        lines = read_file(vocabulary).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ReadError("words_not_utf8", path=str(vocabulary)) from error
    words = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    return readers.align_columns(corpus, words)


def _options_of(reader: dict[str, Any] | None) -> dict[str, Any]:
    """Return the options that decide what a record or a code is."""
    if reader is None or "rollup" not in reader:
        return {}
    return {
        "--rollup": [reader["rollup"], reader.get("mapping")],
        "--union-by": reader.get("union_by") is None,
    }


def _note_differences(run: Run, given: Sequence[Mapping[str, Any]]) -> None:
    """Note options that differ between tables, and change what a record or a code is."""
    known = [options for options in given if options]
    names = [
        name for name in (known or [{}])[0] if any(o.get(name) != known[0][name] for o in known)
    ]
    if names:
        run.note(Message("read_otherwise", names=names))


def answer(run: Run, table: Table, question: Question | None, min_cell: int) -> None:
    """Answer a question about a table, and write the answer."""
    # Columns that few rows have are left out if the file would name them.
    private = table.names_columns and question is None
    occurrences = np.bincount(table.X.indices, minlength=len(table.columns))
    rare = (occurrences > 0) & (occurrences < min_cell)
    if private and rare.all() and table.X.shape[0] >= min_cell:
        raise ReadError("no_common_column", parameter="min_cell", min_cell=min_cell)
    named = [name for name, few in zip(table.columns, rare, strict=True) if not (few and private)]
    about = {**table.about, "reader": _with_columns(table.about["reader"], named)}
    with run.stage("adding up"):
        site = backends.Site(
            table.X,
            columns=table.columns,
            min_count=min_cell,
            name_rare=not table.names_columns,
            about=about,
        )
        state = site.state(question.content if question else DESCRIBE)
    with run.stage("writing"):
        run.write_files({"save": state.save})
    if not run.quiet:
        lines = [_described(run, [state], len(site.columns), about["model"])]
        n_columns = site.suppressed_["columns"]
        n_others = sum(state.suppressed.values()) - state.suppressed["columns"]
        if n_columns or n_others:
            counts = {"n_columns": n_columns, "n_others": n_others}
            lines.append(run.words(Message("suppressed_here", **counts, min_cell=min_cell)))
        show("\n".join(lines) + "\n")
    run.end()


def _with_columns(reader: dict[str, Any] | None, columns: list[str]) -> dict[str, Any] | None:
    """Return the settings of a reader for these columns, without the names of others."""
    if reader is not None and "codes" in reader:
        names = {c: reader["names"][c] for c in columns if c in reader["names"]}
        return {**reader, "codes": columns, "names": names}
    return reader and {**reader, "vocabulary": columns}


def merged(run: Run, sources: Sequence[Path]) -> list[backends.State]:
    """Load the answers of all sites, and merge those of each round, in order."""
    rounds: dict[int, tuple[Path, backends.State]] = {}
    for path in sources:
        state = _load(path)
        if state.round not in rounds:
            rounds[state.round] = path, state
            continue
        first, total = rounds[state.round]
        if state.parts & total.parts:
            raise InvalidDataError("site_twice", path=str(path))
        try:
            rounds[state.round] = first, total.merge(state)
        except InvalidDataError as error:
            raise InvalidDataError(
                "files_differ", path=str(path), first=str(first), reason=error.message
            ) from error
        if state.columns and len(set(state.columns) ^ set(total.columns or [])):
            n_columns = len(rounds[state.round][1].columns or [])
            run.note(Message("columns_united", n_columns=n_columns))
    return [state for _, (_, state) in sorted(rounds.items())]


def _load(path: Path) -> backends.State:
    try:
        return backends.State.load(path)
    except ReadError:
        content = read_file(path)
        try:
            read_question(content)
        except ReadError:
            pass
        else:
            raise ReadError("question_to_merge", path=str(path)) from None
        raise


def continue_with(
    run: Run,
    states: Sequence[backends.State],
    components: int | None,
    leaves: int | None,
    steps: int | None,
) -> None:
    """Write the next question, the model or the merged sums, as requested, and describe them."""
    saves: dict[str, Callable[[Path], object]] = {}
    first = states[0]
    name = str(first.about[0]["model"]) if first.about else "bernoulli"
    _note_differences(run, [one.get("options", {}) for one in first.about])
    n_columns = len(first.columns or [])
    lines = [_described(run, states, n_columns, name)]
    if any(any(state.suppressed.values()) for state in states):
        n_others = sum(sum(s.suppressed.values()) - s.suppressed["columns"] for s in states)
        note = Message(
            "suppressed_in_sum", n_columns=first.suppressed["columns"], n_others=n_others
        )
        lines.append(run.words(note))
    if run.writes("save"):
        if len(states) > 1:
            raise InvalidParameterError("save_of_one_round", parameter="save")
        saves["save"] = first.save
    if components or leaves:
        model = estimator_for(name, components, leaves, steps)
        try:
            with run.stage("fitting"):
                rows = backends.Rounds(states)
                model.fit(rows)
        except backends.NextRound as ends:
            question, number = ends.question, ends.number
            if not run.writes("next"):
                raise InvalidParameterError(
                    "fit_too_early", parameter="fit", number=number
                ) from ends
            saves["next"] = lambda path: path.write_bytes(question)
            lines.append(run.words(Message("next_is_round", number=number)))
        else:
            vars(model).pop("feature_names_in_", None)  # the command assigns arrays, not frames
            config = _reader_of(first, rows.columns.tolist())
            saves["fit"] = lambda path: model.save(path, vectorizer_config=config)
            lines += ["", *_components(model)]
            if not run.writes("fit"):
                lines += ["", run.words(Message("model_complete", parameter="fit"))]
    with run.stage("writing"):
        run.write_files(saves)
    if not run.quiet:
        show("\n".join(lines) + "\n")
    run.end()


def estimator_for(model: str, components: int | None, leaves: int | None, steps: int | None) -> Any:
    """Return the estimator of a model, for which sums suffice."""
    if leaves is not None:
        if model == "bernoulli":
            return tree.ClusterTree(leaves)
        if model == "single-topic":
            return tree.TopicTree(leaves, search="none")
        raise InvalidParameterError("no_tree_of_model", parameter="leaves", model=model)
    kinds: dict[str, Any] = {
        "single-topic": models.SingleTopicModel,
        "lda": models.LatentDirichletAllocation,
        "poisson": models.PoissonMixture,
        "bernoulli": models.BernoulliMixture,
    }
    refine = None if model == "lda" or steps == 0 else "em"
    start = "raw_moments" if model == "bernoulli" else "moments"
    estimator = kinds[model](components, start=start, refine=refine)
    return estimator.set_params(max_iter=steps) if steps else estimator


def _reader_of(description: backends.State, columns: list[str]) -> dict[str, Any] | None:
    """Return the settings that convert new data to the columns, from the first site."""
    known = [about["reader"] for about in description.about if about.get("reader")]
    if not known:
        return None
    found = known[0]
    if "codes" in found:
        names: dict[str, str] = {}
        for reader in reversed(known):
            names |= reader.get("names", {})
        found = {**found, "names": names}
    return _with_columns(found, columns)


def _described(run: Run, states: Sequence[backends.State], n_columns: int, model: str) -> str:
    """Return a line on the answers: how many rows they are of, in which rounds."""
    facts = {"n_all": states[0].n_rows, "n_columns": n_columns, "model": model}
    size = sum(len(state.to_bytes()) for state in states)
    rounds = {"first": states[0].round, "last": states[-1].round}
    code = "state_described" if len(states) == 1 else "states_described"
    return run.words(Message(code, **facts, **rounds, kilobytes=size / 1e3))


def _components(model: Any) -> list[str]:
    """Return a line for each component or leaf: its share, and its columns or name."""
    if hasattr(model, "leaves_"):
        total = sum(leaf.weight for leaf in model.leaves_)
        shares = [leaf.weight / total for leaf in model.leaves_]
        texts = [leaf.name for leaf in model.leaves_]
    else:
        shares = model.weights_
        texts = [", ".join(words) for words in model.top_words(SHOWN)]
    return [
        f"{j:>3} {share:>7.1%}  {text}"
        for j, (share, text) in enumerate(zip(shares, texts, strict=True))
    ]
