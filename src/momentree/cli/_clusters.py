"""Fit, edit, evaluate and summarize groups of records."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from momentree import metrics, models, report
from momentree._version import __version__
from momentree.cli._edits import Edit, apply_edits
from momentree.cli._run import Result, Run
from momentree.cli.progress import seconds
from momentree.cli.tables import Table, assignments
from momentree.exceptions import ConvergenceWarning, InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.readers import Records
from momentree.report.disclosure import Disclosure
from momentree.report.records import count_outcomes, why_no_classes
from momentree.tree import ClusterTree

GROUP_NAMES = "group_names"
FEW_CODES = "few_codes"
"""Entries that a model file adds to the settings of the reader."""
_MOST_GROUPS = 20
_MOST_CLASSES = 10
"""A numeric outcome with more different values is continuous."""
_PATIENCE = 3
"""Stop after this many consecutive numbers of groups without a lower BIC."""
_JSON_CODES = 20


@dataclass(frozen=True)
class Job:
    """What to do with records; if `n_groups` is None, BIC chooses the number of groups."""

    records: Records
    n_groups: int | None
    flat: bool
    min_samples_leaf: int
    refine: Literal["em"] | None
    edits: Sequence[Edit]
    stability: bool
    include_records: bool
    min_cell: int
    title: str | None


def find_groups(run: Run, job: Job) -> Result:
    """Group records as a job specifies."""
    records = job.records
    X: Any = records.X
    X = X[records.enough.nonzero()[0]]
    _check(job, X.shape[0])
    start = time.perf_counter()
    with run.stage("finding groups"):
        fitted, remarks = _fit(run, job, X)
        found = len(getattr(fitted, "leaves_", ())) or len(fitted.weights_)
        reason = _why_no_more(fitted)
        if job.n_groups and found < job.n_groups:
            code = "fewer_groups" if reason is None else "fewer_groups_because"
            run.note(Message(code, found=found, requested=job.n_groups, reason=reason))
        edited = apply_edits(run, fitted, X, job.edits)
    took = time.perf_counter() - start
    quality = _quality(run, job, fitted, edited, X)
    with run.stage("summarizing"):
        summary = report.summarize_records(
            edited,
            records,
            min_cell=job.min_cell,
            include_records=job.include_records,
            title=job.title,
            made_with=_made_with(job, took),
            quality=quality,
        )
    names = names_in(summary)
    config = {**records.coder.to_dict(), GROUP_NAMES: names, FEW_CODES: summary["few_codes"]}
    lines = [run.words(remark) for remark in remarks]
    undivided = []
    if summary["n_leaves"] == 1 and not job.flat:
        reason = _why_no_more(edited) or Message("one_group_requested")
        undivided.append(run.words(Message("not_split", reason=reason)))
    return Result(
        summary,
        took,
        table=lambda: _table(records, edited, names),
        content=lambda: json_content(summary, lines),
        save=lambda path: edited.save(path, vectorizer_config=config),
        remarks=[*lines, *undivided],
    )


def _check(job: Job, n_fitted: int) -> None:
    """Refuse too few records, and outcomes that are names, dates or ids, before the fit."""
    n_records = len(job.records)
    if not n_fitted:
        raise InvalidDataError("no_record_with_enough_codes", n_records=n_records)
    if n_fitted < (job.n_groups or 0):
        raise InvalidParameterError(
            "more_groups_than_records",
            parameter="n_components",
            value=job.n_groups,
            n_fitted=n_fitted,
            n_records=n_records,
        )
    for name, values in job.records.outcomes.items():
        if reason := why_no_classes(values[job.records.enough]):
            raise InvalidDataError("not_an_outcome", parameter="outcome", value=name, reason=reason)


def _fit(run: Run, job: Job, X: Any) -> tuple[Any, list[Message]]:
    """Fit a tree or a mixture; also return remarks on the number of groups."""
    names = job.records.codes
    if not job.flat:
        tree = ClusterTree(
            job.n_groups,
            min_samples_leaf=job.min_samples_leaf,
            refine=job.refine,
            data="binary",
        )
        return tree.fit(X, feature_names=names), []

    def fit(k: int) -> Any:
        with warnings.catch_warnings():
            # A note already reports if there are fewer groups.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return models.BernoulliMixture(k, refine=job.refine).fit(X, feature_names=names)

    if job.n_groups:
        return fit(job.n_groups), []
    best, best_bic, best_k = None, float("inf"), 0
    for k in range(1, min(_MOST_GROUPS, X.shape[0]) + 1):
        run.update(f"finding groups: trying {k}")
        model = fit(k)
        bic = float(model.bic(X))
        if bic < best_bic:
            best, best_bic, best_k = model, bic, k
        elif k >= best_k + _PATIENCE:
            break
    return best, [Message("n_groups_chosen", most=k)]


def _why_no_more(fitted: Any) -> Message | None:
    """Return why a tree stopped growing: the reason of the largest leaf that has one."""
    leaves = sorted(getattr(fitted, "leaves_", ()), key=lambda leaf: -leaf.weight)
    # The tree may have reached the number of leaves before EM emptied one of them.
    reasons = (leaf.reason for leaf in leaves if leaf.reason)
    return next((r for r in reasons if r.code != "max_leaf_nodes_reached"), None)


def _quality(run: Run, job: Job, fitted: Any, edited: Any, X: Any) -> dict[str, Any]:
    """Measure the stability of the fit, and how well groups predict outcomes."""
    quality: dict[str, Any] = {}
    if job.stability:
        with run.stage("measuring stability"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            quality["stability"] = metrics.stability_score(fitted, X)
    if job.records.outcomes:
        with run.stage("measuring how well groups predict outcomes"):
            quality |= _predictive_power(run, job, edited.labels_)
    return quality


def _predictive_power(run: Run, job: Job, labels: Any) -> dict[str, Any]:
    """Measure how well groups predict each outcome, as exactly as disclosure control permits."""
    records = job.records
    k = int(labels.max()) + 1
    exact, rough = {}, {}
    for name, values in records.outcomes.items():
        known = values[records.enough]
        if known.dtype.kind == "f" and len(set(known[known == known])) > _MOST_CLASSES:
            run.note(Message("numeric_outcome", name=name))
            continue
        try:
            power = metrics.predictive_accuracy(labels, known)
        except InvalidDataError:  # the message contains counts of records per class
            run.note(Message("outcome_not_measured", name=name))
            continue
        counted = count_outcomes({name: known}, labels, k, job.min_cell, records.outcome_names)
        if Disclosure(job.min_cell).permits_accuracy(counted, known.tolist()):
            exact[name] = power
        elif power.auc is not None:
            rough[f"{name}: predicted from the group alone"] = (
                f"AUC about {power.auc:.1f} (0.5 = chance, 1 = perfect)"
            )
    return {"predictive_power": exact, **rough}


def _made_with(job: Job, took: float) -> dict[str, object]:
    coder = job.records.coder
    made = {
        "input": job.records.name,
        "form": job.records.form,
        "records joined by": coder.union_by,
        "codes rolled up by": coder.rollup,
        "edited by hand": ", ".join(map(str, job.edits)) or None,
        "time to fit": seconds(took),
    }
    return {name: value for name, value in made.items() if value is not None}


def names_in(summary: Mapping[str, Any]) -> list[str]:
    """Return the names of groups, by their numbers."""
    names = {node["leaf"]: _name(node) for node in summary["nodes"] if node["leaf"] is not None}
    return [names[j] for j in range(len(names))]


def _name(node: Mapping[str, Any]) -> str:
    # The page uses no-break spaces to control line breaks.
    return str(node["long_name"]).replace("\N{NO-BREAK SPACE}", " ")


def _table(records: Records, estimator: Any, names: Sequence[str]) -> Table:
    """Return the group of every record, including those with too few codes for the fit."""
    X: Any = records.X
    table = assignments(
        "group",
        names,
        estimator.predict(X),
        estimator.predict_proba(X),
        every=False,
        id=records.ids,
    )
    n_codes = (X == 1).sum(axis=1).tolist()  # missing values are not codes
    fitted = ["yes" if enough else "no" for enough in records.enough]
    rows = [(*row, n, f) for row, n, f in zip(table.rows, n_codes, fitted, strict=True)]
    return replace(table, header=[*table.header, "n_codes", "fitted"], rows=rows)


def json_content(summary: Mapping[str, Any], remarks: Sequence[str]) -> dict[str, Any]:
    """Return the groups as plain values, without the counts that the report suppresses."""
    codes = summary["codes"]
    return {
        "format": "momentree.clusters",
        "momentree": __version__,
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
        "outcomes": [
            {
                "name": outcome["name"],
                "missing": _known(outcome["missing"]),
                "classes": [
                    {
                        "name": one["name"],
                        "n_records": _known(one["counts"]),
                        "n_all": _known([one["total"]])[0],
                    }
                    for one in outcome["classes"]
                ],
            }
            for outcome in summary["outcomes"]
        ],
    }


def _known(counts: Sequence[int]) -> list[int | None]:
    """Return counts by group, with None for suppressed ones."""
    return [count if count >= 0 else None for count in counts]
