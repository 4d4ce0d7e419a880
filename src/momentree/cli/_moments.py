"""Read rows for states, add them up, and describe states on the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree import readers
from momentree.cli._run import Run
from momentree.cli.screen import show
from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.moments import MomentState, State
from momentree.refinement import ExpectedState

RECORDS, TEXTS = "records", "texts"
_TEXT_SUFFIXES = (".txt", ".jsonl", ".ndjson", ".mbox", ".html", ".htm", ".pdf", ".docx")


@dataclass(frozen=True)
class Rows:
    """Rows of a table, and the empty state that they update."""

    X: Any
    state: State
    names_columns: bool
    """Whether the columns are those that were found in the table."""


def load_file(path: Path) -> State:
    """Load a state from a file."""
    return State.load(path)


def model_of(state: State) -> str:
    """Return the model of a state."""
    return str(state.settings["model"])


def round_of(state: State) -> Message:
    """Return the round of a state in words."""
    if isinstance(state, ExpectedState):
        return Message("round_of_em", n_iter=state.settings["n_iter"])
    third = isinstance(state, MomentState) and state.third
    if third:
        return Message("round_of_slices")
    return Message("round_of_subspace" if state._fixed else "first_round")


def read_rows(
    run: Run,
    source: Path,
    question: Path | None,
    model: str,
    reading: Mapping[str, Any],
    of_codes: Mapping[str, Any],
    text_column: list[str] | None,
    vocabulary: Path | None,
) -> Rows:
    """Read rows, with the columns of the question if there is one."""
    asked = None if question is None else load_file(question)
    if asked is not None:
        if asked.n_rows:
            raise ReadError("not_a_question", path=str(question))
        model = model_of(asked)
    if model == "auto":
        documents = source.is_dir() or readers.holds_counts(source) or bool(text_column)
        documents = documents or source.suffix.lower() in _TEXT_SUFFIXES
        model = "single-topic" if documents else "bernoulli"
    if model == "bernoulli":
        records = readers.read_records(
            source, **reading, **of_codes, min_records=1, drop_constant=False
        )
        notes, columns = records.notes, records.codes
        X: Any = sp.csr_array(records.X)[records.enough.nonzero()[0]]
        reader: dict[str, Any] | None = records.coder.to_dict()
    else:
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
        if vocabulary is not None and not counts:
            corpus = readers.align_columns(corpus, _words(vocabulary))
        notes, columns = corpus.notes, np.asarray(corpus.vocabulary, dtype=object)
        X = corpus.X
        reader = None if corpus.vectorizer is None else corpus.vectorizer.to_dict()
    for note in notes:
        run.note(note)
    if asked is None:
        chosen: Any = model
        state: State = MomentState([str(name) for name in columns], model=chosen)
        state.reader = reader
        return Rows(X, state, names_columns=vocabulary is None)
    note_readers(run, [reader, asked.reader])
    return Rows(_aligned(run, X, columns, asked), asked, names_columns=False)


def _words(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ReadError("words_not_utf8", path=str(path)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ReadError("unreadable_path", path=str(path), error=reason) from error
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


def _aligned(run: Run, X: Any, columns: Any, asked: State) -> Any:
    """Return rows with the columns of the question; columns that it lacks are left out."""
    place = {str(name): i for i, name in enumerate(asked.columns)}
    new = np.array([place.get(str(name), -1) for name in columns], dtype=np.intp)
    if not (new >= 0).any():
        raise ReadError("no_column_in_common", n_columns=len(columns))
    if (new < 0).any():
        run.note(Message("columns_left_out", n_columns=int((new < 0).sum())))
    entries = sp.coo_array(X)
    to = new[entries.coords[1]]
    kept = to >= 0
    at = (entries.coords[0][kept], to[kept])
    return sp.csr_array((entries.data[kept], at), shape=(X.shape[0], len(place)))


def add_up(run: Run, rows: Rows, min_cell: int) -> None:
    """Add up the rows, suppress small counts, and write the state."""
    if model_of(rows.state) == "bernoulli" and (n_cells := int(np.isnan(rows.X.data).sum())):
        raise ReadError("incomplete_for_moments", n_cells=n_cells)
    rows, left_out = _without_rare(rows, min_cell)
    with run.stage("adding up moments"):
        state = rows.state.update(rows.X).release(min_cell, left_out=left_out)
    with run.stage("writing"):
        run.write_files({"save": state.save})
    if not run.quiet:
        show("\n".join(described(run, state)) + "\n")
        columns, others = state.suppressed
        if columns or others:
            note = Message("suppressed_here", n_columns=columns, n_others=others, min_cell=min_cell)
            show(run.words(note) + "\n")
    run.end()


def _without_rare(rows: Rows, min_cell: int) -> tuple[Rows, int]:
    """Empty the columns that few rows have, or leave them out if the file would name them.

    No total then tells what was in them. The number of these columns is returned, too.
    """
    X, names = rows.X, rows.state.columns
    found = np.bincount(X.indices, minlength=len(names))
    rare = (found > 0) & (found < min_cell)
    n_rare = int(np.count_nonzero(rare))
    if X.shape[0] < min_cell or not n_rare:  # `release` refuses so few rows
        return rows, 0
    if not rows.names_columns:
        X.data[rare[X.indices]] = 0
        return replace(rows, X=X), n_rare
    if n_rare == len(names):
        raise ReadError("no_common_column", parameter="min_cell", min_cell=min_cell)
    chosen: Any = model_of(rows.state)
    state = MomentState(names[~rare], model=chosen)
    state.reader = with_columns(rows.state.reader, names[~rare].tolist())
    return Rows(X[:, np.flatnonzero(~rare)], state, names_columns=True), n_rare


def with_columns(reader: dict[str, Any] | None, columns: list[str]) -> dict[str, Any] | None:
    """Return the settings of a reader for these columns, without the names of others."""
    if reader is not None and "codes" in reader:
        names = {c: reader["names"][c] for c in columns if c in reader["names"]}
        return {**reader, "codes": columns, "names": names}
    return reader and {**reader, "vocabulary": columns}


def note_readers(run: Run, readers: Sequence[dict[str, Any] | None]) -> None:
    """Note options that differ between tables, and change what a record or a code is."""
    given = [reader for reader in readers if reader is not None]
    meant: dict[str, list[Any]] = {
        "--rollup": [(reader.get("rollup"), reader.get("mapping")) for reader in given],
        "--union-by": [reader.get("union_by") is None for reader in given],
    }
    names = [name for name, found in meant.items() if any(one != found[0] for one in found)]
    if names:
        run.note(Message("read_otherwise", names=names))


def described(run: Run, state: State) -> list[str]:
    """Return lines on a state: how much was added to it, in which round."""
    size = len(state.to_bytes())
    line = Message(
        "state_described",
        n_all=state.n_rows,
        n_columns=len(state.columns),
        model=model_of(state),
        step=round_of(state),
        kilobytes=size / 1e3,
    )
    return [run.words(line)]
