"""Fit, edit, evaluate and summarize groups of measurements."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from momentree import metrics, models, report
from momentree.cli._clusters import (
    GROUP_NAMES,
    REPEATS,
    check_groups,
    known_counts,
    outcomes_and_fits,
    predictive_power,
)
from momentree.cli._edits import Edit, apply_edits
from momentree.cli._fewer import note_number, why_one
from momentree.cli._measured_models import as_data, find_model, predicted
from momentree.cli._names import GivenNames
from momentree.cli._run import Result, Run, made_with
from momentree.cli.tables import CsvTable, assignments
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.readers import Measurements, SampledMeasurements
from momentree.report.disclosure import Disclosure


def find_measured_groups(
    run: Run,
    table: Measurements,
    n_groups: int | None,
    parameters: Mapping[str, Any],
    *,
    flat: bool,
    edits: Sequence[Edit],
    given: GivenNames,
    stability: bool,
    candidates: range | None = None,
    min_cell: int,
    **shown: Any,
) -> Result:
    """Find groups of measurements; if `n_groups` is None, BIC chooses their number.

    `parameters` are those of the estimator; `shown` are a title and what the report may disclose.
    """
    check_groups(table, n_groups, int(table.enough.sum()), Disclosure(min_cell))
    is_tree = table.only_numbers and not flat
    if edits and not is_tree:
        raise InvalidParameterError("edits_need_a_tree", parameter=edits[0].option)
    if candidates is not None and is_tree:
        raise InvalidParameterError("fits_need_flat", parameter="fits")
    X = as_data(table, table.enough, frame=not table.only_numbers)
    start = time.perf_counter()
    with run.stage("finding groups"):
        fitted, remarks = find_model(run, table, X, n_groups, parameters, flat=flat)
        note_number(run, fitted, n_groups, "groups")
        edited = given.apply(apply_edits(run, fitted, X, edits, min_cell))
    took = time.perf_counter() - start
    quality: dict[str, Any] = {}
    if stability:
        with run.stage("measuring stability"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quality["stability"] = metrics.stability_score(clone(fitted), X)
    if candidates is not None:
        with run.stage("comparing numbers of groups"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quality["fits"] = models.compare_fits(
                clone(fitted),
                X,
                candidates,
                stability=REPEATS if stability else 0,
                progress=lambda k: run.update(f"comparing numbers of groups: fitting {k}"),
            )
    if table.outcomes:
        with run.stage("measuring how well groups predict outcomes"):
            quality["predictive_power"] = predictive_power(table, edited.labels_)
    kinds = table.kinds
    settings = {
        "columns": ", ".join(f"{name} ({kind.replace('_', '/')})" for name, kind in kinds.items()),
        "edited by hand": ", ".join(map(str, edits)) or None,
        "named by hand": str(given) or None,
    }
    with run.stage("summarizing"):
        summary = report.summarize_measurements(
            edited,
            table,
            proba=edited.predict_proba(X),
            made_with=made_with(table.name, took, **settings),
            quality=quality,
            min_cell=min_cell,
            **shown,
        )
    names = _names(summary)
    config = {**table.coder.to_dict(), GROUP_NAMES: names}
    lines = [run.words(remark) for remark in remarks]
    undivided = []
    if summary["n_leaves"] == 1:
        reason = why_one(edited, n_groups)
        if is_tree or n_groups is None:
            undivided.append(run.words(Message("not_split", reason=reason)))
    return Result(
        summary,
        took,
        table=lambda: _table(run, table, edited, names),
        format="clusters",
        content=lambda: _content(summary, lines),
        save=lambda path: edited.save(path, vectorizer_config=config),
        tables={
            "table_one": lambda: report.table_one(summary),
            **({"fits_table": lambda: report.fits_table(summary)} if candidates else {}),
        },
        remarks=[*lines, *undivided],
    )


def _names(summary: Mapping[str, Any]) -> list[str]:
    names = {
        node["leaf"]: " · ".join(node["long_name_parts"])
        for node in summary["nodes"]
        if node["leaf"] is not None
    }
    return [names[j] for j in range(len(names))]


def _table(run: Run, table: Measurements, estimator: Any, names: Sequence[str]) -> CsvTable:
    """Return the group of every record, made as it is written; some may have none."""
    n_unknown = 0

    def part(records: Measurements, fitted: NDArray[np.bool_]) -> CsvTable:
        nonlocal n_unknown
        labels, proba, complete = predicted(estimator, records, len(names))
        reasons = np.where(complete, "", np.where(records.enough, INCOMPLETE, NO_VALUES)).tolist()
        found = assignments(
            "group", names, labels, proba, every=False, undecided=reasons, id=records.ids
        )
        known = ["yes" if one else "no" for one in fitted & records.enough]
        rows = [(*row, one) for row, one in zip(found.rows, known, strict=True)]
        n_unknown += sum(
            note.values["n_entries"] for note in records.notes if note.code == "unknown_categories"
        )
        return replace(found, header=[*found.header, "fitted"], rows=rows)

    def more() -> Iterator[Sequence[object]]:
        for records, fitted in blocks:
            yield from part(records, fitted).rows
        if n_unknown and isinstance(table, SampledMeasurements):
            run.note(Message("unknown_categories", n_entries=n_unknown))

    blocks = table.blocks()
    return replace(part(*next(blocks)), more=more())


NO_VALUES = "no known value"
INCOMPLETE = "missing values"
"""Reasons why a record has no group."""


def _content(summary: Mapping[str, Any], remarks: Sequence[str]) -> dict[str, Any]:
    """Return the groups as plain values, without the numbers that the report suppresses."""
    features = summary["features"]

    def described(entry: Mapping[str, Any]) -> dict[str, Any]:
        one = features[entry["feature"]]
        place = entry["class"]
        value = None if place is None else one["classes"][place]["name"]
        values = {key: entry[key] for key in ("here", "here_low", "here_high", "rest", "all")}
        return {
            "feature": one["name"],
            "value": one["words"][1] if one["binary"] else value,
            **values,
            **{key: entry[key] for key in ("d", "low", "high", "estimated")},
        }

    return {
        "kind": "flat" if summary["kind"].endswith("flat") else "tree",
        **{key: summary[key] for key in ("title", "n_records", "n_left_out", "n_features")},
        "n_groups": summary["n_leaves"],
        **{key: summary[key] for key in ("min_cell", "notes")},
        "remarks": list(remarks),
        **{key: summary[key] for key in ("made", "quality")},
        "features": [
            {
                **{key: one[key] for key in ("name", "kind", "unit", "separation", "numbers")},
                "missing": known_counts(one["missing"]),
                "classes": [
                    {"name": each["name"], "n_records": known_counts(each["counts"])}
                    for each in one["classes"]
                ],
            }
            for one in features
        ],
        "nodes": [
            {
                **{key: node[key] for key in ("id", "parent", "children")},
                "group": node["leaf"],
                "name": " · ".join(node["long_name_parts"]),
                "size": node["size"],
                "n_records": node["n_samples"] if node["exact"] else None,
                **{key: node[key] for key in ("share", "share_interval")},
                "differences": [described(entry) for entry in node["differences"]],
            }
            for node in summary["nodes"]
        ],
        **outcomes_and_fits(summary),
    }
