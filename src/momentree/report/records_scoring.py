"""What a page needs to assign a record by itself, without telling more than its counts do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.report.records_table import ShownTable

__all__ = ["shown_scoring"]

_EXACT_DIGITS = 12
_SCORE_DIGITS = 7
_LOG_ODDS_DECIMALS = 3
_INTERCEPT_DECIMALS = 2
_NEVER = 1e6

Floats = NDArray[np.float64]


def shown_scoring(
    scoring: Mapping[str, Any], table: ShownTable, columns: NDArray[np.intp]
) -> dict[str, Any]:
    """Return the rule of assignment as JSON, with what would tell small counts taken out.

    Parameters
    ----------
    scoring : mapping
        ``scoring()`` of the estimator: the kind "mixture"; "rules" with nodes of the kinds
        "scores" and "linear"; or "nested", where groups were divided by hand.
    table : ShownTable
        The counts that the page shows, of its codes.
    columns : ndarray of int of shape (c,)
        Places of these codes among those of the estimator. The others have too few records to be
        named; the page takes it that no record has them.

    Returns
    -------
    dict
        Of the same form. With a ``min_cell`` of 1 numbers have 12 digits, and the page answers as
        the estimator does. Otherwise

        - log-odds log(mu / (1 - mu)) of a mixture, and their differences in a linear rule, are
          those of the estimated frequencies where a count or size is hidden, and numbers are
          rounded to 0.001, intercepts to 0.01;
        - coefficients of scores have 7 digits.

    Notes
    -----
    What remains: an intercept sums over all codes, so it bounds the sum of the hidden means of a
    group but none of them; coefficients of scores depend on all records at once, and on single
    counts by no formula that could be solved for one.
    """
    groups = [[leaf] for leaf in range(len(table.sizes))]
    return _shown(_of_codes(scoring, columns), table, groups)


def _of_codes(rule: Mapping[str, Any], columns: NDArray[np.intp]) -> dict[str, Any]:
    """Return a rule with the coefficients of some codes only."""
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


def _shown(
    scoring: Mapping[str, Any], table: ShownTable, groups: Sequence[Sequence[int]]
) -> dict[str, Any]:
    """Return a rule as JSON; `groups` are those of the page that each of its leaves leads to."""
    if scoring["kind"] == "nested":
        return _shown_nested(scoring, table, groups)
    if scoring["kind"] == "rules":
        sides = [
            [_joined(groups, leaves) for leaves in node]
            for node in _leaves_of_sides(scoring["nodes"])
        ]
        nodes = [
            _shown_rule(node, below, table)
            for node, below in zip(scoring["nodes"], sides, strict=True)
        ]
        return {"kind": "rules", "nodes": nodes}
    coef, intercept = _finite(scoring["coef"]), _finite(scoring["intercept"])
    group = np.asarray(scoring["group"], dtype=int)
    if table.min_cell > 1:
        odds = np.array([_log_odds(table, groups[leaf]) for leaf in group])
        hidden = np.array([_hidden(table, groups[leaf]) for leaf in group])
        coef = np.where(hidden, odds, coef)
    return {"kind": "mixture", **_rounded(coef, intercept, table), "group": group.tolist()}


def _shown_nested(
    scoring: Mapping[str, Any], table: ShownTable, groups: Sequence[Sequence[int]]
) -> dict[str, Any]:
    parts: list[Any] = []
    below = []
    for part in scoring["parts"]:
        if isinstance(part, Mapping):
            leaves = [int(leaf) for leaf in part["leaves"]]
            inner = _shown(part["scoring"], table, [groups[leaf] for leaf in leaves])
            parts.append({"scoring": inner, "leaves": leaves})
            below.append(_joined(groups, leaves))
        else:
            parts.append(int(part))
            below.append(list(groups[int(part)]))
    return {"kind": "nested", "base": _shown(scoring["base"], table, below), "parts": parts}


def _joined(groups: Sequence[Sequence[int]], leaves: Sequence[int]) -> list[int]:
    return sorted({group for leaf in leaves for group in groups[leaf]})


def _hidden(table: ShownTable, groups: Sequence[int]) -> NDArray[np.bool_]:
    """Return for which codes a count of some groups is hidden, or all where a size is."""
    at = list(groups)
    return np.asarray((table.counts.counts[at] < 0).any(axis=0) | (table.sizes[at] < 0).any())


def _shown_rule(node: Mapping[str, Any], sides: list[list[int]], table: ShownTable) -> Any:
    kind = node.get("kind", "scores")
    shown = {"kind": kind, "children": [int(child) for child in node["children"]]}
    coef, intercept = _finite(node["coef"]), _finite(node["intercept"])
    if kind == "linear":
        if table.min_cell > 1:
            first, second = (_log_odds(table, leaves) for leaves in sides)
            half = (first - second) / 2.0
            hidden = _hidden(table, [*sides[0], *sides[1]])
            coef = np.where(hidden, np.stack([half, -half]), coef)
        return {**shown, **_rounded(coef, intercept, table)}
    digits = _EXACT_DIGITS if table.min_cell <= 1 else _SCORE_DIGITS
    return {
        **shown,
        "coef": _significant(coef, digits),
        "intercept": _significant(intercept, digits),
    }


def _leaves_of_sides(nodes: Sequence[Mapping[str, Any]]) -> list[list[list[int]]]:
    """Return for each inner node and each of its sides the leaves that it leads to."""
    found: list[list[list[int]]] = [[] for _ in nodes]
    # Children come after their parents, so backwards all that is needed is there.
    for at in range(len(nodes) - 1, -1, -1):
        for child in nodes[at]["children"]:
            below = [leaf for side in found[child] for leaf in side] if child >= 0 else [-1 - child]
            found[at].append(sorted(set(below)))
    return found


def _log_odds(table: ShownTable, leaves: Sequence[int]) -> Floats:
    # Half a record more on either side: no frequency is exactly zero or one.
    n = table.observed[list(leaves)].sum(axis=0)
    ones = table.rates(leaves) * n
    return np.asarray(np.log(ones + 0.5) - np.log(n - ones + 0.5))


def _finite(values: Any) -> Floats:
    """Return numbers that JSON knows: a group without weight has an intercept of minus infinity."""
    return np.clip(np.array(values, dtype=np.float64), -_NEVER, _NEVER)


def _rounded(coef: Floats, intercept: Floats, table: ShownTable) -> dict[str, Any]:
    if table.min_cell <= 1:
        digits = _EXACT_DIGITS
        return {"coef": _significant(coef, digits), "intercept": _significant(intercept, digits)}
    return {
        "coef": np.round(coef, _LOG_ODDS_DECIMALS).tolist(),
        "intercept": np.round(intercept, _INTERCEPT_DECIMALS).tolist(),
    }


def _significant(values: Any, digits: int) -> Any:
    array = np.asarray(values, dtype=np.float64)
    short = [float(f"{value:.{digits}g}") for value in array.ravel()]
    return np.reshape(short, array.shape).tolist()
