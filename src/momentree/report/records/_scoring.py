"""Prepare the rule by which a page assigns a record, without disclosing small counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.report.records._table import PublishedTable

_NEVER = 1e6


def summarize_scoring(
    scoring: Mapping[str, Any], table: PublishedTable, columns: Ints
) -> dict[str, Any]:
    """Return an assignment rule as JSON, for some columns, without disclosing small counts.

    If nothing is hidden, the page assigns records exactly as the estimator does. Otherwise,
    log-odds use estimated frequencies if a count or size is suppressed, and all are rounded. An
    intercept sums over all codes, so it bounds the sum of a group's suppressed means, but no mean.
    Coefficients of scores depend on all records jointly, so no single count follows from them.
    """
    groups = [[leaf] for leaf in range(len(table.sizes))]
    return _published(_of_codes(scoring, columns), table, groups)


def _of_codes(rule: Mapping[str, Any], columns: Ints) -> dict[str, Any]:
    """Return a rule with the coefficients of some of the codes."""
    if rule.get("kind") == "nested":
        parts = [
            {**part, "scoring": _of_codes(part["scoring"], columns)}
            if isinstance(part, Mapping)
            else part
            for part in rule["parts"]
        ]
        return {**rule, "base": _of_codes(rule["base"], columns), "parts": parts}
    if rule.get("kind") == "rules":
        return {**rule, "nodes": [_of_codes(node, columns) for node in rule["nodes"]]}
    return {**rule, "coef": np.asarray(rule["coef"], dtype=np.float64)[:, columns]}


def _published(
    scoring: Mapping[str, Any], table: PublishedTable, groups: Sequence[Sequence[int]]
) -> dict[str, Any]:
    """Return a rule as JSON; `groups` contains the group on the page for each leaf of the rule."""
    if scoring["kind"] == "nested":
        return _published_nested(scoring, table, groups)
    if scoring["kind"] == "rules":
        sides = [
            [_joined(groups, leaves) for leaves in node]
            for node in _leaves_of_sides(scoring["nodes"])
        ]
        nodes = [
            _published_rule(node, below, table)
            for node, below in zip(scoring["nodes"], sides, strict=True)
        ]
        return {"kind": "rules", "nodes": nodes}
    coef, intercept = _finite(scoring["coef"]), _finite(scoring["intercept"])
    group = np.asarray(scoring["group"], dtype=int)
    if table.disclosure.hides:
        odds = np.array([_log_odds(table, groups[leaf]) for leaf in group])
        coef = np.where([table.suppressed(groups[leaf]) for leaf in group], odds, coef)
    rounded = table.disclosure.round_log_odds(coef, intercept)
    return {"kind": "mixture", **rounded, "group": group.tolist()}


def _published_nested(
    scoring: Mapping[str, Any], table: PublishedTable, groups: Sequence[Sequence[int]]
) -> dict[str, Any]:
    parts: list[Any] = []
    below = []
    for part in scoring["parts"]:
        if isinstance(part, Mapping):
            leaves = [int(leaf) for leaf in part["leaves"]]
            inner = _published(part["scoring"], table, [groups[leaf] for leaf in leaves])
            parts.append({"scoring": inner, "leaves": leaves})
            below.append(_joined(groups, leaves))
        else:
            parts.append(int(part))
            below.append(list(groups[int(part)]))
    return {"kind": "nested", "base": _published(scoring["base"], table, below), "parts": parts}


def _joined(groups: Sequence[Sequence[int]], leaves: Sequence[int]) -> list[int]:
    return sorted({group for leaf in leaves for group in groups[leaf]})


def _published_rule(node: Mapping[str, Any], sides: list[list[int]], table: PublishedTable) -> Any:
    kind = node.get("kind", "scores")
    rule = {"kind": kind, "children": [int(child) for child in node["children"]]}
    coef, intercept = _finite(node["coef"]), _finite(node["intercept"])
    if kind != "linear":
        return {**rule, **table.disclosure.round_scores(coef, intercept)}
    if table.disclosure.hides:
        first, second = (_log_odds(table, leaves) for leaves in sides)
        half = (first - second) / 2.0
        coef = np.where(table.suppressed([*sides[0], *sides[1]]), np.stack([half, -half]), coef)
    return {**rule, **table.disclosure.round_log_odds(coef, intercept)}


def _leaves_of_sides(nodes: Sequence[Mapping[str, Any]]) -> list[list[list[int]]]:
    """Return the leaves below each side of each inner node."""
    found: list[list[list[int]]] = [[] for _ in nodes]
    for at in range(len(nodes) - 1, -1, -1):  # children come after their parents
        for child in nodes[at]["children"]:
            below = [leaf for side in found[child] for leaf in side] if child >= 0 else [-1 - child]
            found[at].append(sorted(set(below)))
    return found


def _log_odds(table: PublishedTable, leaves: Sequence[int]) -> Floats:
    # Add half a record to either side, so that no frequency is exactly 0 or 1.
    n = table.observed[list(leaves)].sum(axis=0)
    ones = table.rates(leaves) * n
    return np.asarray(np.log(ones + 0.5) - np.log(n - ones + 0.5))


def _finite(values: Any) -> Floats:
    """Clip infinite numbers, such as the intercept of a group of weight 0, for JSON."""
    return np.clip(np.array(values, dtype=np.float64), -_NEVER, _NEVER)
