"""Groups of records in files: the table of all records, and the groups as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from momentree._version import __version__
from momentree.cli import _work
from momentree.cli._tables import Table

if TYPE_CHECKING:
    from momentree.datasets import Records

__all__ = [
    "FEW_CODES",
    "GROUP_NAMES",
    "assigned",
    "group_table",
    "json_content",
    "names_in",
    "names_of",
]

GROUP_NAMES = "group_names"
FEW_CODES = "few_codes"
"""Entries beside the settings of the reader, in the file of a model."""
_JSON_CODES = 20


def names_in(summary: Mapping[str, Any]) -> list[str]:
    """Return the names of groups, by their numbers."""
    names = {node["leaf"]: _name(node) for node in summary["nodes"] if node["leaf"] is not None}
    return [names[j] for j in range(len(names))]


def _name(node: Mapping[str, Any]) -> str:
    # The blanks that keep lines of the page together are of no use in a table.
    return str(node["long_name"]).replace("\N{NO-BREAK SPACE}", " ")


def names_of(estimator: Any) -> list[str]:
    """Return names of groups for a model that was saved without them: its most relevant codes."""
    if hasattr(estimator, "leaves_"):
        return [leaf.name for leaf in estimator.leaves_]
    from momentree.report.topics import topic_names

    return topic_names(estimator)


def assigned(
    estimator: Any, X: Any, names: Sequence[str], *, every: bool
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return a header, and for each record its group with probabilities as text.

    Parameters
    ----------
    estimator : ClusterTree or BernoulliMixture
        Fitted.
    X : csr_array of shape (n, d)
        Records.
    names : sequence of str
        Name of each group.
    every : bool
        Whether to tell the probability of every group.
    """
    proba, labels = estimator.predict_proba(X), estimator.predict(X)
    header = ["group", "name", "probability"]
    rows = [
        (int(j), names[j], _work.decimals(row[j])) for j, row in zip(labels, proba, strict=True)
    ]
    if not every:
        return header, rows
    return [*header, *(f"group_{j}" for j in range(len(names)))], [
        (*start, *map(_work.decimals, row)) for start, row in zip(rows, proba, strict=True)
    ]


def group_table(
    estimator: Any, records: Records, names: Sequence[str], escape_formulas: bool
) -> Table:
    """Return the group of every record, those included that have too few codes to learn from."""
    header, rows = assigned(estimator, records.X, names, every=False)
    X: Any = records.X
    n_codes = (X == 1).sum(axis=1).tolist()  # what is missing is no code
    fitted = ["yes" if enough else "no" for enough in records.enough]
    table = (
        (i, *row, n, f) for i, row, n, f in zip(records.ids, rows, n_codes, fitted, strict=True)
    )
    return Table(["id", *header, "n_codes", "fitted"], table, escape_formulas)


def json_content(summary: Mapping[str, Any], remarks: Sequence[str]) -> dict[str, Any]:
    """Return the groups as plain values: nothing that the report would hide."""
    codes = summary["codes"]
    return {
        "format": "momentree.clusters",
        "momentree": __version__,
        "kind": "flat" if summary["kind"] == "records-flat" else "tree",
        "title": summary["title"],
        "n_records": summary["n_records"],
        "n_left_out": summary["n_left_out"],
        "n_codes": summary["n_features"],
        "n_groups": summary["n_leaves"],
        "min_cell": summary["min_cell"],
        "notes": summary["notes"],
        "remarks": list(remarks),
        "made": summary["made"],
        "quality": summary["quality"],
        "nodes": [
            {
                "id": node["id"],
                "parent": node["parent"],
                "children": node["children"],
                "group": node["leaf"],
                "name": _name(node),
                "size": node["size"],
                "n_records": node["n_samples"] if node["exact"] else None,
                "residual": node["residual"],
                "share": node["share"],
                "share_interval": node["share_interval"],
                "codes": [
                    {
                        "code": codes["code"][j],
                        "name": codes["name"][j],
                        "rate": rate,
                        "rate_of_all": codes["rate"][j],
                    }
                    for j, rate in list(zip(node["top"], node["top_rates"], strict=True))[
                        :_JSON_CODES
                    ]
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
    """Return counts by group, None for those that are hidden."""
    return [count if count >= 0 else None for count in counts]
