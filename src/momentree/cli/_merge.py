"""Merge states, and write the next question, a model, or the merged state."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from momentree import models
from momentree.cli._moments import described, load_file, note_readers, with_columns
from momentree.cli._run import Run
from momentree.cli.screen import show
from momentree.exceptions import (
    InvalidDataError,
    InvalidParameterError,
    MomentreeWarning,
    ReadError,
)
from momentree.messages import Message
from momentree.moments import MomentState, State, union
from momentree.refinement import ExpectedState

SHOWN = 8
"""Columns that are printed for each component."""


def merged(run: Run, sources: Sequence[Path]) -> State:
    """Load states and merge them; in the first round, on the union of their columns."""
    states = [load_file(path) for path in sources]
    for path, state in zip(sources, states, strict=True):
        if not state.n_rows:
            raise ReadError("question_to_merge", path=str(path))
    first = states[0]
    note_readers(run, [state.reader for state in states])
    if all(isinstance(s, MomentState) and not s._fixed for s in states):
        named: Any = states
        sizes = {len(s.columns) for s in states}
        states = list(union(named))
        if len(first.columns) != len(states[0].columns) or len(sizes) > 1:
            run.note(Message("columns_united", n_columns=len(states[0].columns)))
    total, seen = states[0], {str(sources[0]): states[0]}
    for path, state in zip(sources[1:], states[1:], strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("error", MomentreeWarning)
            try:
                total = total.merge(state)
            except MomentreeWarning as error:
                raise InvalidDataError("site_twice", path=str(path)) from error
            except InvalidDataError as error:
                if error.code != "states_differ":
                    raise
                raise InvalidDataError(
                    "files_differ", path=str(path), first=str(sources[0]), reason=error.message
                ) from error
        seen[str(path)] = state
    total.reader = _reader(states, total)
    return total


def _reader(states: Sequence[State], total: State) -> dict[str, Any] | None:
    """Return the settings that convert new data to the columns, from the first site."""
    found = states[0].reader
    if found is None:
        return None
    if "codes" in found:
        names: dict[str, str] = {}
        for state in reversed(states):
            names |= (state.reader or {}).get("names", {})
        found = {**found, "names": names}
    return with_columns(found, total.columns.tolist())


def continue_with(
    run: Run, state: State, components: int | None, *, writes_next: bool, fits: bool
) -> None:
    """Write the next question, the model and the merged state, as requested, and describe them."""
    saves: dict[str, Callable[[Path], object]] = {"save": state.save}
    lines = described(run, state)
    columns, others = state.suppressed
    if columns or others:
        note = Message("suppressed_in_sum", n_columns=columns, n_others=others)
        lines.append(run.words(note))
    if isinstance(state, ExpectedState):
        done = state.converged(1e-7 if state.settings["model"] == "bernoulli" else 1e-5)
        code = "em_converged" if done else "em_continues"
        lines.append(run.words(Message(code, log_likelihood=state.log_likelihood)))
    if fits:
        if isinstance(state, MomentState) and not state.third:
            raise InvalidParameterError("fit_too_early", parameter="fit")
        model: Any = models.fitted_from(state)
        config = state.reader
        saves["fit"] = lambda path: model.save(path, vectorizer_config=config)
        lines += ["", *_components(model)]
    if writes_next:
        needs = isinstance(state, MomentState) and not state.third
        if needs and components is None:
            raise InvalidParameterError("components_needed", parameter="components")
        if not needs and components is not None:
            raise InvalidParameterError("components_are_fixed", parameter="components")
        question = models.next_round(state, components)
        saves["next"] = question.save
        lines += described_question(run, question)
    with run.stage("writing"):
        run.write_files(saves)
    if not run.quiet:
        show("\n".join(lines) + "\n")
    run.end()


def described_question(run: Run, question: State) -> list[str]:
    """Return a line on what the sites do next."""
    if isinstance(question, ExpectedState):
        code = "next_is_em"
    else:
        code = (
            "next_is_slices"
            if isinstance(question, MomentState) and question.third
            else "next_is_subspace"
        )
    return [run.words(Message(code))]


def _components(model: Any) -> list[str]:
    """Return a line for each component: its share and its columns."""
    words = model.top_words(SHOWN)
    return [
        f"{j:>3} {share:>7.1%}  {', '.join(row)}"
        for j, (share, row) in enumerate(zip(model.weights_, words, strict=True))
    ]
