"""Fit, name and summarize states of sequences, and assign new sequences."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from momentree import models, readers, report
from momentree.cli._names import GivenNames
from momentree.cli._run import Result, Run, made_with
from momentree.cli.tables import CsvTable, decimals
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.models import StatesFit
from momentree.readers import SequenceCoder, Sequences
from momentree.report.disclosure import Disclosure

STATE_NAMES = "state_names"
"""Entry that a model file adds to the settings of the reader."""
CANDIDATES = range(2, 11)


def find_states(
    run: Run,
    sequences: Sequences,
    n_states: int | None,
    *,
    given: GivenNames,
    min_cell: int,
    include_sequences: bool,
    title: str | None,
) -> Result:
    """Find states of sequences; if `n_states` is None, the lowest BIC of 2 to 10 chooses."""
    _check(sequences, n_states or 2)
    candidates = CANDIDATES if n_states is None else [n_states]
    start = time.perf_counter()
    with run.stage("finding states"):
        fitted, fits = models.compare_states(
            models.CategoricalHMM(),
            sequences.symbols,
            sequences.lengths,
            candidates,
            progress=lambda k: run.update(f"finding states: trying {k}"),
        )
        _note_convergence(run, fitted)
    took = time.perf_counter() - start
    with run.stage("summarizing"):
        k = len(fitted.startprob_)
        summary = report.summarize_sequences(
            fitted,
            sequences,
            min_cell=min_cell,
            include_sequences=include_sequences,
            title=title or _title(sequences),
            made_with=made_with(
                sequences.name,
                took,
                **{
                    "codes rolled up by": sequences.coder.rollup,
                    "named by hand": str(given) or None,
                },
            ),
            fits=fits,
            state_names=given.of_states(k),
        )
    names = _names(summary)
    remarks = []
    if n_states is None:
        most = max(fit.n_states for fit in fits[:-1])
        remarks.append(Message("n_states_chosen", most=most))
        if k == most == CANDIDATES[-1]:
            remarks.append(Message("n_states_at_most", most=most))
    remarks += _simpler(fits, k)
    lines = [run.words(remark) for remark in remarks]
    config = {**sequences.coder.to_dict(), STATE_NAMES: names}
    return Result(
        summary,
        took,
        table=lambda: steps_table(sequences, fitted, names),
        format="sequences",
        content=lambda: _content(summary, lines),
        save=lambda path: fitted.save(path, vectorizer_config=config),
        tables={"sequence_csv": lambda: shares_table(sequences, fitted, names)},
        remarks=lines,
    )


def notes_shown(sequences: Sequences, min_cell: int) -> list[Message]:
    """Return the notes on reading, without those from which a small count could be derived."""
    shown = {len(sequences)} - set(range(min_cell))
    return Disclosure(min_cell).notes(tuple(sequences.notes), shown)


def _check(sequences: Sequences, n_states: int) -> None:
    """Refuse sequences in which nothing can follow anything, before the fit."""
    if sequences.lengths.max() < 2:
        raise InvalidDataError("sequences_of_one_step")
    if (longest := int(sequences.lengths.max())) < 3:
        raise InvalidDataError("sequences_too_short", n_records=len(sequences), longest=longest)
    if len(sequences.codes) < 2:
        raise InvalidDataError("sequences_of_one_code", code=str(sequences.codes[0]))
    if n_states > 2 and n_states**2 > (n_steps := len(sequences.symbols)):
        raise InvalidDataError(
            "more_moves_than_steps", n_states=n_states, n_moves=n_states**2, n_steps=n_steps
        )


def _title(sequences: Sequences) -> str:
    return f"States of {sequences.name}"


def _note_convergence(run: Run, fitted: Any) -> None:
    if not getattr(fitted, "converged_", True):
        run.note(Message("states_not_converged", n_iter=int(fitted.n_iter_)))


def _simpler(fits: Sequence[StatesFit], k: int) -> list[Message]:
    """Return a remark if a simpler model has a lower BIC than the states."""
    chosen = next(fit for fit in fits if fit.kind == "states" and fit.n_states == k)
    independent, chain = fits[0], fits[-1]
    if independent.bic <= chosen.bic:
        return [Message("steps_independent")]
    if chain.bic < chosen.bic:
        return [Message("chain_is_better")]
    return []


def _names(summary: Mapping[str, Any]) -> list[str]:
    """Return the names of states, by their numbers."""
    names = {
        node["leaf"]: " · ".join(node["long_name_parts"])
        for node in summary["nodes"]
        if node["leaf"] is not None
    }
    return [names[j] for j in range(len(names))]


def steps_table(sequences: Sequences, model: Any, names: Sequence[str]) -> CsvTable:
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
        [decimals(p) for p in proba[np.arange(len(path)), path]],
    ]
    return CsvTable(header, list(zip(*columns, strict=True)))


def shares_table(sequences: Sequences, model: Any, names: Sequence[str]) -> Any:
    """Return the share of each state in the steps of each sequence, as a data frame."""
    import pandas as pd

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
        columns[f"state_{j}"] = [decimals(value) for value in values]
    return pd.DataFrame(columns, dtype=object)


def _content(summary: Mapping[str, Any], remarks: Sequence[str]) -> dict[str, Any]:
    """Return the states as plain values, without what the report suppresses."""
    codes = summary["codes"]
    return {
        **{key: summary[key] for key in ("title", "n_sequences", "n_steps")},
        "n_codes": summary["n_features"],
        "n_states": summary["n_leaves"],
        **{key: summary[key] for key in ("min_cell", "notes")},
        "remarks": list(remarks),
        **{key: summary[key] for key in ("made", "startprob", "transmat")},
        "states": [
            {
                "state": node["leaf"],
                "name": " · ".join(node["long_name_parts"]),
                **{key: node[key] for key in ("share", "sequences", "stay", "next")},
                "codes": [
                    {
                        "code": codes["code"][j],
                        "name": codes["name"][j],
                        "probability": rate,
                        "share_of_all": codes["rate"][j],
                    }
                    for j, rate in zip(node["top"], node["top_rates"], strict=True)
                ],
            }
            for node in summary["nodes"]
            if node["leaf"] is not None
        ],
        **{key: summary[key] for key in ("areas", "paths", "certainty", "fits")},
    }


def is_of_sequences(model: Any) -> bool:
    """Whether a model was fitted to sequences of codes."""
    return (getattr(model, "vectorizer_config_", None) or {}).get("kind") == "sequences"


def assign_steps(
    run: Run, model: Any, source: Path, reading: dict[str, Any]
) -> tuple[CsvTable, Message]:
    """Assign the steps of new sequences to the states of a model."""
    with run.stage(f"reading {source.name or source}"):
        config = dict(model.vectorizer_config_)
        k = len(model.startprob_)
        names = config.pop(STATE_NAMES, [f"state {j}" for j in range(k)])
        good = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not good or len(names) != k:
            raise InvalidDataError("damaged_state_names", n_states=k, found=repr(names))
        coder = SequenceCoder.from_dict(config)
        if len(coder.codes) != model.emissionprob_.shape[1]:
            raise InvalidDataError(
                "damaged_codes", n_codes=len(coder.codes), fitted=model.emissionprob_.shape[1]
            )
        sequences = readers.read_sequences(source, coder=coder, **reading)
    for note in sequences.notes:
        run.note(note)
    with run.stage("assigning"):
        table = steps_table(sequences, model, names)
    return table, Message("assigned_to_states", n_entries=len(table.rows), n_states=k)
