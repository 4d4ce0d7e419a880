"""``momentree sequences``: find the states of sequences of codes, and moves between them."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from momentree import exceptions, messages, models, readers, report
from momentree.cli import by_hand, tables
from momentree.cli._run import Fit, Run, Task, made_with, perform
from momentree.cli.output import Writers
from momentree.models import StatesFit
from momentree.naming import check_names
from momentree.readers import Sequences
from momentree.report.disclosure import Disclosure

STATE_NAMES = "state_names"
"""Entry that a model file adds to the settings of the reader."""
CANDIDATES = range(2, 11)


@dataclass(frozen=True)
class Steps:
    """Sequences of codes, and names for their states."""

    sequences: Sequences
    names: by_hand.Names


def read(run: Run, _held: ExitStack) -> Steps:
    """Read sequences of codes."""
    options = run.options
    names = by_hand.read_names(options.rename)
    return Steps(readers.read_sequences(options.source, **options.read_by("sequences")), names)


def proceed(run: Run, steps: Steps) -> None:
    """Find states, and write the results."""
    # A note may not tell a number from which a small count could be derived.
    min_cell = run.options.min_cell
    shown = {len(steps.sequences)} - set(range(min_cell))
    for note in Disclosure(min_cell).notes(tuple(steps.sequences.notes), shown):
        run.note(note)
    perform(TASK, run, steps)


def _fit(run: Run, steps: Steps) -> Fit:
    """Find states of sequences; the lowest BIC chooses their number if none was given."""
    sequences = steps.sequences
    n_states = None if run.options.groups == "auto" else run.options.groups
    _check(sequences, n_states or 2)
    start = time.perf_counter()
    with run.stage("finding states"):
        fitted, fits = models.compare_states(
            models.CategoricalHMM(),
            sequences.symbols,
            sequences.lengths,
            CANDIDATES if n_states is None else [n_states],
            progress=lambda k: run.update(f"finding states: trying {k}"),
        )
        if not getattr(fitted, "converged_", True):
            run.note(
                messages.Message(
                    "[states_not_converged] the fit stopped after {n_iter:~iteration} before it "
                    "had converged; its states may still change a little",
                    n_iter=int(fitted.n_iter_),
                )
            )
    took = time.perf_counter() - start
    k, remarks = len(fitted.startprob_), list[messages.Message]()
    if n_states is None:
        most = max(fit.n_states for fit in fits[:-1])
        remarks.append(
            messages.Message(
                "[n_states_chosen] Number of states chosen by the lowest BIC among 2 to {most} "
                "states.",
                most=most,
            )
        )
        if k == most == CANDIDATES[-1]:
            remarks.append(
                messages.Message(
                    "[n_states_at_most] The lowest BIC is that of the largest number of states "
                    "tried, {most}: a larger number may be better ({parameters.n_components:N} "
                    "sets it).",
                    most=most,
                )
            )
    return Fit(fitted, took, {"fits": fits, "remarks": [*remarks, *_simpler(fits, k)]})


def _check(sequences: Sequences, n_states: int) -> None:
    """Refuse sequences in which nothing can follow anything, before the fit."""
    if sequences.lengths.max() < 2:
        raise exceptions.InvalidDataError(
            "[sequences_of_one_step] no sequence has more than one step, so nothing follows "
            "anything; check that {parameters.id_column} names the column that says which rows "
            "form a sequence"
        )
    if (longest := int(sequences.lengths.max())) < 3:
        raise exceptions.InvalidDataError(
            "[sequences_too_short] the longest of {n_records:~sequence} has {longest} steps; "
            "states require at least three steps in a row. Check {parameters.id_column}, or add "
            "longer sequences",
            n_records=len(sequences),
            longest=longest,
        )
    if len(sequences.codes) < 2:
        raise exceptions.InvalidDataError(
            "[sequences_of_one_code] all steps have the same code, {code!r}, so there are no "
            "states; check {parameters.code_column}, or keep rare codes with "
            "{parameters.min_sequences:1}",
            code=str(sequences.codes[0]),
        )
    if n_states > 2 and n_states**2 > (n_steps := len(sequences.symbols)):
        raise exceptions.InvalidDataError(
            "[more_moves_than_steps] {parameters.n_components:{n_states}} would need {n_moves:,} "
            "probabilities of moves, more than there are steps ({n_steps:,}); use fewer states",
            n_states=n_states,
            n_moves=n_states**2,
            n_steps=n_steps,
        )


def _simpler(fits: Sequence[StatesFit], k: int) -> list[messages.Message]:
    """Return a remark if a simpler model has a lower BIC than the states."""
    chosen = next(fit for fit in fits if fit.kind == "states" and fit.n_states == k)
    independent, chain = fits[0], fits[-1]
    if independent.bic <= chosen.bic:
        return [
            messages.Message(
                "[steps_independent] BIC is lower if steps do not depend on each other: the states "
                "describe little more than chance. More sequences or fewer codes may help."
            )
        ]
    if chain.bic < chosen.bic:
        return [
            messages.Message(
                "[chain_is_better] BIC is lower for a Markov chain, in which the next code depends "
                "on the present code: the states summarize the sequences, but do not explain all "
                "of how codes follow each other."
            )
        ]
    return []


def _summarize(run: Run, steps: Steps, fit: Fit) -> tuple[dict[str, Any], list[str]]:
    options, sequences = run.options, steps.sequences
    settings = {
        "codes rolled up by": sequences.coder.rollup,
        "named by hand": ", ".join(steps.names) or None,
    }
    numbers = {str(j): None for j in range(len(fit.model.startprob_))}
    with run.stage("summarizing"):
        summary = report.summarize_sequences(
            fit.model,
            sequences,
            min_cell=options.min_cell,
            include_sequences=options.include_sequences,
            title=options.title or f"States of {sequences.name}",
            made_with=made_with(sequences.name, fit.took, **settings),
            fits=fit.more["fits"],
            state_names=check_names(steps.names, numbers, parameter="rename"),
        )
    return summary, list(map(run.words, fit.more["remarks"]))


def _write(
    run: Run, steps: Steps, fit: Fit, summary: dict[str, Any], remarks: list[str]
) -> Writers:
    sequences, model, names = steps.sequences, fit.model, tables.long_names(summary)
    config = {**sequences.coder.to_dict(), STATE_NAMES: names}
    escape = run.options.escape_formulas

    def write_steps(path: Path) -> None:
        steps_table(sequences, model, names).write(path, escape_formulas=escape)

    return {
        "csv": write_steps,
        "json": lambda path: tables.write_json(
            path, "sequences", tables.states_content(summary, remarks)
        ),
        "sequence_csv": lambda path: tables.write_frame(
            shares_table(sequences, model, names), path, escape
        ),
        "save": lambda path: model.save(path, vectorizer_config=config),
    }


def steps_table(sequences: Sequences, model: Any, names: Sequence[str]) -> tables.CsvTable:
    """Return the most likely state of each step."""
    path = model.predict(sequences.symbols, sequences.lengths)
    proba = model.predict_proba(sequences.symbols, sequences.lengths)
    codes = sequences.codes[sequences.symbols].tolist()
    position = np.arange(len(path)) + 1
    position -= np.repeat(np.cumsum(sequences.lengths) - sequences.lengths, sequences.lengths)
    ids = [sequences.ids[i] for i in sequences.sequence_of]
    times = [] if sequences.times is None else [sequences.times]
    header = ["id", "step", *(["time"] if times else []), "code", "state", "name", "probability"]
    columns = [
        ids,
        position.tolist(),
        *times,
        codes,
        path.tolist(),
        [names[j] for j in path],
        [tables.decimals(p) for p in proba[np.arange(len(path)), path]],
    ]
    return tables.CsvTable(header, list(zip(*columns, strict=True)))


def shares_table(sequences: Sequences, model: Any, names: Sequence[str]) -> pd.DataFrame:
    """Return the share of each state in the steps of each sequence, as a data frame."""
    proba = model.predict_proba(sequences.symbols, sequences.lengths)
    starts = np.cumsum(sequences.lengths) - sequences.lengths
    shares = np.add.reduceat(proba, starts, axis=0) / np.asarray(sequences.lengths)[:, None]
    most = shares.argmax(axis=1)
    columns: dict[str, Any] = {
        "id": sequences.ids,
        "n_steps": np.asarray(sequences.lengths).tolist(),
        "state": most.tolist(),
        "name": [names[j] for j in most],
    }
    for j, values in enumerate(shares.T):
        columns[f"state_{j}"] = [tables.decimals(value) for value in values]
    return pd.DataFrame(columns, dtype=object)


TASK = Task(_fit, _summarize, _write)
