"""Fit, edit, evaluate and summarize groups of records."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from sklearn.base import clone

from momentree import metrics, models, report
from momentree.cli._edits import Edit, apply_edits
from momentree.cli._fewer import note_number, why_one
from momentree.cli._incomplete import RecordAssigner
from momentree.cli._names import GivenNames
from momentree.cli._run import Result, Run, made_with
from momentree.cli.stored import fit_once
from momentree.cli.tables import CsvTable, assignments
from momentree.exceptions import ConvergenceWarning, InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.metrics.outcomes import outcome_numbers
from momentree.readers import Measurements, Records
from momentree.report.disclosure import Disclosure
from momentree.report.records import why_no_classes
from momentree.tree import ClusterTree

GROUP_NAMES = "group_names"
ASSIGNMENT = "assignment"
"""Entries that a model file adds to the settings of the reader."""
_JSON_CODES = 20
REPEATS = 5
"""Repeats of the measure of stability."""


def find_groups(
    run: Run,
    records: Records,
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
    """Find groups of records; if `n_groups` is None, BIC chooses their number.

    `parameters` are those of the estimator; `shown` are a title and what the report may disclose.
    """
    X: Any = records.fitted
    check_groups(records, n_groups, X.shape[0], Disclosure(min_cell))
    remarks: list[Message] = []

    def fit() -> Any:
        find = _fit_flat if flat else _grow_tree
        found, more = find(run, X, n_groups, parameters, records.codes)
        remarks.extend(more)
        return found

    start = time.perf_counter()
    with run.stage("finding groups"):
        fitted, took = fit_once(records, fit)
        note_number(run, fitted, n_groups, "groups")
        edited = given.apply(apply_edits(run, fitted, X, edits, min_cell))
    if edits:
        took = time.perf_counter() - start
    quality: dict[str, Any] = {}
    if stability:
        with run.stage("measuring stability"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            quality["stability"] = metrics.stability_score(fitted, X)
    if candidates is not None:
        with run.stage("comparing numbers of groups"):
            quality["fits"] = models.compare_fits(
                clone(fitted),
                X,
                candidates,
                stability=REPEATS if stability else 0,
                progress=lambda k: run.update(f"comparing numbers of groups: fitting {k}"),
            )
    if records.outcomes:
        with run.stage("measuring how well groups predict outcomes"):
            quality["predictive_power"] = predictive_power(records, edited.labels_)
    settings = {
        "form": records.form,
        "records joined by": records.coder.union_by,
        "codes rolled up by": records.coder.rollup,
        "edited by hand": ", ".join(map(str, edits)) or None,
        "named by hand": str(given) or None,
    }
    with run.stage("summarizing"):
        summary = report.summarize_records(
            edited,
            records,
            made_with=made_with(records.name, took, **settings),
            quality=quality,
            min_cell=min_cell,
            **shown,
        )
    names = _names(summary)
    # The command assigns records by the published counts, exactly as the page does.
    scoring = {**summary["scoring"], "codes": summary["codes"]["code"]}
    config = {**records.coder.to_dict(), GROUP_NAMES: names, ASSIGNMENT: scoring}
    lines = [run.words(remark) for remark in remarks]
    undivided = []
    if summary["n_leaves"] == 1 and not flat:
        reason = why_one(edited, n_groups)
        undivided.append(run.words(Message("not_split", reason=reason)))
    return Result(
        summary,
        took,
        table=lambda: _table(records, edited, names, scoring),
        format="clusters",
        content=lambda: _content(summary, lines),
        save=lambda path: edited.save(path, vectorizer_config=config),
        tables={
            "table_one": lambda: report.table_one(summary),
            **({"fits_table": lambda: report.fits_table(summary)} if candidates else {}),
        },
        remarks=[*lines, *undivided],
    )


def check_groups(
    records: Records | Measurements, n_groups: int | None, n_fitted: int, disclosure: Disclosure
) -> None:
    """Refuse too few records, and outcomes that are names, dates or ids, before the fit."""
    if not n_fitted:
        raise InvalidDataError("no_record_with_enough_codes", n_records=len(records))
    if n_fitted < (n_groups or 0):
        raise InvalidParameterError(
            "more_groups_than_records",
            parameter="n_components",
            value=n_groups,
            n_fitted=disclosure.count(n_fitted),
        )
    for name, values in records.outcomes.items():
        if reason := why_no_classes(values[records.enough]):
            option = "covariate" if name in records.covariates else "outcome"
            raise InvalidDataError("not_an_outcome", parameter=option, value=name, reason=reason)


def _grow_tree(
    _run: Run, X: Any, n_groups: int | None, parameters: Mapping[str, Any], codes: Any
) -> tuple[Any, list[Message]]:
    tree = ClusterTree(n_groups, data="binary", **parameters)
    with warnings.catch_warnings():
        # A note already reports if there are fewer groups.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return tree.fit(X, feature_names=codes), []


def _fit_flat(
    run: Run, X: Any, n_groups: int | None, parameters: Mapping[str, Any], codes: Any
) -> tuple[Any, list[Message]]:
    """Fit a mixture; also return remarks on the number of groups."""
    if n_groups is None:
        fitted, bics = models.lowest_bic(
            models.BernoulliMixture(**parameters),
            X,
            progress=lambda k: run.update(f"finding groups: trying {k}"),
            feature_names=codes,
        )
        return fitted, [Message("n_groups_chosen", most=len(bics))]
    with warnings.catch_warnings():
        # A note already reports if there are fewer groups.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return models.BernoulliMixture(n_groups, **parameters).fit(X, feature_names=codes), []


def predictive_power(records: Records | Measurements, labels: Any) -> dict[str, Any]:
    """Measure how well groups predict each outcome; empty for an outcome with a rare class."""
    powers: dict[str, Any] = {}
    for name, values in records.outcomes.items():
        known = values[records.enough]
        if name in records.covariates or outcome_numbers(known, len(known)) is not None:
            continue  # the report shows means, and how covariates predict the group
        powers[name] = {}  # a note would disclose that a class is rare
        with suppress(InvalidDataError):
            powers[name] = metrics.predictive_accuracy(labels, known)
    return powers


def _names(summary: Mapping[str, Any]) -> list[str]:
    """Return the names of groups, by their numbers."""
    names = {node["leaf"]: _name(node) for node in summary["nodes"] if node["leaf"] is not None}
    return [names[j] for j in range(len(names))]


def _name(node: Mapping[str, Any]) -> str:
    return " · ".join(node["long_name_parts"])


def _table(
    records: Records, estimator: Any, names: Sequence[str], scoring: Mapping[str, Any]
) -> CsvTable:
    """Return the group of every record; those with too few codes for the fit may have none."""
    start = 0

    def part(X: Any) -> CsvTable:
        nonlocal start
        here = slice(start, start := start + X.shape[0])
        labels, proba = np.array(estimator.predict(X)), np.array(estimator.predict_proba(X))
        enough, reasons = records.enough[here], [""] * len(labels)
        short = np.flatnonzero(~enough)
        if len(short):
            codes = records.codes.tolist()
            found = RecordAssigner.of(scoring, codes, len(names)).assign(X[short])
            labels[short], proba[short] = found.labels, found.proba
            for i, reason in zip(short.tolist(), found.reasons, strict=True):
                reasons[i] = reason
        table = assignments(
            "group", names, labels, proba, every=False, undecided=reasons, id=records.ids[here]
        )
        n_codes = (X == 1).sum(axis=1).tolist()  # missing values are not codes
        fitted = ["yes" if one else "no" for one in enough]
        rows = [(*row, n, f) for row, n, f in zip(table.rows, n_codes, fitted, strict=True)]
        return replace(table, header=[*table.header, "n_codes", "fitted"], rows=rows)

    parts = map(part, records.blocks())
    first = next(parts)
    return replace(first, more=chain.from_iterable(one.rows for one in parts))


def _content(summary: Mapping[str, Any], remarks: Sequence[str]) -> dict[str, Any]:
    """Return the groups as plain values, without the counts that the report suppresses."""
    codes = summary["codes"]
    return {
        "kind": "flat" if summary["kind"] == "records-flat" else "tree",
        **{key: summary[key] for key in ("title", "n_records", "n_left_out")},
        "n_codes": summary["n_features"],
        "n_groups": summary["n_leaves"],
        **{key: summary[key] for key in ("min_cell", "notes")},
        "remarks": list(remarks),
        **{key: summary[key] for key in ("made", "quality")},
        "nodes": [
            {
                **{key: node[key] for key in ("id", "parent", "children")},
                "group": node["leaf"],
                "name": _name(node),
                "size": node["size"],
                "n_records": node["n_samples"] if node["exact"] else None,
                **{key: node[key] for key in ("residual", "share", "share_interval")},
                "codes": [
                    {
                        "code": codes["code"][j],
                        "name": codes["name"][j],
                        "rate": rate,
                        "rate_of_all": codes["rate"][j],
                    }
                    for j, rate in zip(
                        node["top"][:_JSON_CODES], node["top_rates"][:_JSON_CODES], strict=True
                    )
                ],
            }
            for node in summary["nodes"]
        ],
        **outcomes_and_fits(summary),
    }


def outcomes_and_fits(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of the content after the nodes."""
    return {
        "outcomes": [
            {
                "name": outcome["name"],
                "missing": known_counts(outcome["missing"]),
                "numbers": outcome["numbers"],
                "classes": [
                    {
                        "name": one["name"],
                        "n_records": known_counts(one["counts"]),
                        "n_all": known_counts([one["total"]])[0],
                    }
                    for one in outcome["classes"]
                ],
            }
            for outcome in summary["outcomes"]
        ],
        **{key: summary[key] for key in ("certainty", "corrected", "table_one")},
        "fits": summary["fits"] and summary["fits"]["numbers"],
    }


def known_counts(counts: Sequence[int]) -> list[int | None]:
    """Return counts by group, with None for suppressed ones."""
    return [count if count >= 0 else None for count in counts]
