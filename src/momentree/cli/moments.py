"""``momentree moments``: answer a question about a table with sums over its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree import backends, readers
from momentree._files import read_file
from momentree.backends import DESCRIBE, read_question
from momentree.cli._run import Run
from momentree.cli.options import Options
from momentree.cli.screen import show
from momentree.core.container import reading, write_container
from momentree.core.sparse import check_structure
from momentree.exceptions import InvalidDataError, InvalidParameterError, ReadError
from momentree.messages import wording

KEPT = ".rows"
"""Ending of a file of rows that were read in an earlier round."""
_FORMAT = "momentree-rows"
_NOT_KEPT = (
    "[not_kept_rows] {path} is not a file of momentree moments --keep, or it is damaged ({error}); "
    "give the table instead"
)
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
                raise ReadError(
                    "[not_a_question] {path} contains the sums of rows, not the question of a "
                    "round; give the file that momentree merge --next wrote",
                    path=str(path),
                ) from error
            raise ReadError(wording.DAMAGED_STATE, path=str(path), error=error.message) from error
        about = {"model": "bernoulli", "options": {}, **dict(*asked.get("about", []))}
        columns = asked.get("columns") or []
        return cls(content, asked["round"], columns, about["model"], about["options"])


@dataclass(frozen=True)
class Table:
    """Rows of a table."""

    X: sp.csr_array
    columns: list[str]
    names_columns: bool
    """Whether the columns are those that were found in the table."""
    about: dict[str, Any]

    def save(self, path: Path) -> None:
        """Save the rows, for the next rounds."""
        rest = {"columns": self.columns, "names_columns": self.names_columns, "about": self.about}
        arrays = {"data": self.X.data, "indices": self.X.indices, "indptr": self.X.indptr}
        write_container(path, {"format": _FORMAT, **rest}, arrays)

    @classmethod
    def load(cls, path: Path) -> Table:
        """Load rows that :meth:`save` has written."""
        with reading(path, unreadable=_NOT_KEPT, damaged=_NOT_KEPT) as (content, arrays):
            if content.get("format") != _FORMAT:
                raise InvalidDataError(wording.BAD_ENTRY, name="format", value=content["format"])
            parts = tuple(arrays[name] for name in ("data", "indices", "indptr"))
            X = sp.csr_array(parts, shape=(len(parts[2]) - 1, len(content["columns"])))
            check_structure(X)
            return cls(X, content["columns"], content["names_columns"], content["about"])


def read(run: Run, _held: ExitStack) -> tuple[Table, Question | None]:
    """Read a question, if there is one, and the rows of a table for its model."""
    options = run.options
    question = None if options.round is None else Question.load(options.round)
    if options.source.suffix == KEPT:
        _check_kept(options)
        table = Table.load(options.source)
    else:
        table = _read_table(run, _model_of(options) if question is None else question.model)
    if question is not None:
        _note_left_out(run, table, question)
    return table, question


def _check_kept(options: Options) -> None:
    """Refuse options for reading what was read already."""
    reading = [option.name for option in options.table if option.reads]
    for name in filter(options.is_set, ["model", "vocabulary", "keep", *reading]):
        raise InvalidParameterError(
            "[rows_were_read] the rows in {path} were read and kept in an earlier round; leave "
            "out {parameter}",
            path=str(options.source),
            parameter=name,
        )


def _read_table(run: Run, model: str) -> Table:
    """Read the rows of a table for a model."""
    options = run.options
    if model == "bernoulli":
        arguments = options.read_by("records")
        data: Any = readers.read_records(
            options.source, **arguments, min_records=1, drop_constant=False
        )
        columns, X = data.codes, sp.csr_array(data.X)[data.enough.nonzero()[0]]
        reader: dict[str, Any] | None = data.coder.to_dict()
        if n_cells := int(np.isnan(X.data).sum()):
            raise ReadError(
                "[incomplete_for_moments] {n_cells:~cell} {n_cells:?is/are} empty, and moments "
                "require complete records: add {parameters.empty:zero} if an empty cell means no, "
                "or leave such records out",
                n_cells=n_cells,
            )
    else:
        data = _read_corpus(options)
        columns, X = data.vocabulary, data.X
        reader = None if data.vectorizer is None else data.vectorizer.to_dict()
    for note in data.notes:
        run.note(note)
    about = {"model": model, "reader": reader, "options": _options_of(reader)}
    names = [str(name) for name in columns]
    return Table(sp.csr_array(X), names, options.vocabulary is None, about)


def _note_left_out(run: Run, table: Table, question: Question) -> None:
    """Note columns of a table that are not in a question, and options that differ."""
    note_differences(run, [table.about["options"], question.options])
    n_others = len(set(table.columns).difference(question.columns))
    if n_others == len(table.columns):
        raise ReadError(wording.NO_COLUMN_IN_COMMON, n_columns=n_others)
    if n_others:
        run.note(
            "[columns_left_out] {n_columns:~column} of the table {n_columns:?is/are} not in the "
            "question of this round, because they were suppressed or new, and {n_columns:?is/are} "
            "left out",
            n_columns=n_others,
        )


def _model_of(options: Options) -> str:
    """Return the model of the first round."""
    source = options.source
    if options.model != "auto":
        return str(options.model)
    documents = source.is_dir() or readers.holds_counts(source) or bool(options.text_column)
    documents = documents or source.suffix.lower() in _TEXT_SUFFIXES
    return "single-topic" if documents else "bernoulli"


def _read_corpus(options: Options) -> Any:
    source, vocabulary = options.source, options.vocabulary
    counts = readers.holds_counts(source)
    more = {} if counts else {**options.read_by("documents"), "passages": None}
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
        raise ReadError(
            "cannot read {path}: it is not in UTF-8; save the list of words as UTF-8",
            path=str(vocabulary),
        ) from error
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


def note_differences(run: Run, given: Sequence[Mapping[str, Any]]) -> None:
    """Note options that differ between tables, and change what a record or a code is."""
    known = [options for options in given if options]
    names = [
        name for name in (known or [{}])[0] if any(o.get(name) != known[0][name] for o in known)
    ]
    if names:
        run.note(
            "[read_otherwise] not all tables were read with the same {names:and}, which "
            "decides what a record or a code is; give all sites the same options in every "
            "round, unless their tables differ in this",
            names=names,
        )


def proceed(run: Run, data: tuple[Table, Question | None]) -> None:
    """Answer a question about a table, and write the answer."""
    table, question = data
    min_cell = run.options.min_cell
    # Columns that few rows have are left out if the file would name them.
    private = table.names_columns and question is None
    occurrences = np.bincount(table.X.indices, minlength=len(table.columns))
    rare = (occurrences > 0) & (occurrences < min_cell)
    if private and rare.all() and table.X.shape[0] >= min_cell:
        raise ReadError(
            "[no_common_column] every column is found in fewer than "
            "{parameters.min_cell:{min_cell}} rows, so nothing can be sent; lower it, or roll "
            "codes up",
            min_cell=min_cell,
        )
    named = [name for name, few in zip(table.columns, rare, strict=True) if not (few and private)]
    about = {**table.about, "reader": with_columns(table.about["reader"], named)}
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
        run.write_files({"sums": state.save, "keep": table.save})
    if not run.quiet:
        lines = [described(run, [state], len(site.columns), about["model"])]
        n_columns = site.suppressed_["columns"]
        n_others = sum(state.suppressed.values()) - state.suppressed["columns"]
        if n_columns or n_others:
            counts = {"n_columns": n_columns, "n_others": n_others}
            lines.append(
                run.words(
                    "[suppressed_here] Suppressed {n_columns:~column} and {n_others:~other "
                    "sum} of fewer than {min_cell} rows. The result of all sites lacks them: "
                    "it is not exactly that of the pooled rows.",
                    **counts,
                    min_cell=min_cell,
                )
            )
        show("\n".join(lines) + "\n")
    run.end()


def with_columns(reader: dict[str, Any] | None, columns: list[str]) -> dict[str, Any] | None:
    """Return the settings of a reader for these columns, without the names of others."""
    if reader is not None and "codes" in reader:
        names = {c: reader["names"][c] for c in columns if c in reader["names"]}
        return {**reader, "codes": columns, "names": names}
    return reader and {**reader, "vocabulary": columns}


def described(run: Run, states: Sequence[backends.State], n_columns: int, model: str) -> str:
    """Return a line on the answers: how many rows they are of, in which rounds."""
    facts = {"n_all": states[0].n_rows, "n_columns": n_columns, "model": model}
    size = sum(len(state.to_bytes()) for state in states)
    rounds = {"first": states[0].round, "last": states[-1].round}
    code = (
        (
            "[state_described] Answer of {n_all:~row} with {n_columns:~column} for {model}: round "
            "{first}, {kilobytes:,.1f} kB."
        )
        if len(states) == 1
        else (
            "[states_described] Answers of {n_all:~row} with {n_columns:~column} for {model}: "
            "rounds {first} to {last}, {kilobytes:,.1f} kB."
        )
    )
    return run.words(code, **facts, **rounds, kilobytes=size / 1e3)
