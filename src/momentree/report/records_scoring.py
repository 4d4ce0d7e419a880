"""What a page needs to assign a record by itself, without telling more than its counts do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.report.records_privacy import SMALL
from momentree.report.records_table import ShownTable

__all__ = ["shown_scoring"]

_EXACT_DIGITS = 12
_SCORE_DIGITS = 7
_LOG_ODDS_DECIMALS = 3
_INTERCEPT_DECIMALS = 2
_NEVER = 1e6

Floats = NDArray[np.float64]


def shown_scoring(scoring: Mapping[str, Any], table: ShownTable) -> dict[str, Any]:
    """Return the rule of assignment as JSON, with what would tell small counts taken out.

    Parameters
    ----------
    scoring : mapping
        ``scoring()`` of the estimator: the kind "mixture", or "rules" with nodes of the kinds
        "scores" and "linear".
    table : ShownTable
        The counts that the page shows.

    Returns
    -------
    dict
        Of the same form. With a ``min_cell`` of 1 numbers have 12 digits, and the page answers as
        the estimator does. Otherwise

        - log-odds log(mu / (1 - mu)) of a mixture, and their differences in a linear rule, are
          those of the estimated frequencies where a count or size is hidden, and numbers are
          rounded to 0.001, intercepts to 0.01;
        - a coefficient of scores is zero for a code of fewer than ``min_cell`` records in all,
          and numbers have 7 digits.

    Notes
    -----
    What remains: an intercept sums over all codes, so it bounds the sum of the hidden means of a
    group but none of them; coefficients of scores depend on all records at once, and on single
    counts by no formula that could be solved for one.
    """
    if scoring["kind"] == "rules":
        sides = _leaves_of_sides(scoring["nodes"])
        nodes = [
            _shown_rule(node, leaves, table)
            for node, leaves in zip(scoring["nodes"], sides, strict=True)
        ]
        return {"kind": "rules", "nodes": nodes}
    coef, intercept = _finite(scoring["coef"]), _finite(scoring["intercept"])
    group = np.asarray(scoring["group"], dtype=int)
    if table.min_cell > 1:
        odds = np.array([_log_odds(table, [leaf]) for leaf in group])
        hidden = (table.counts.counts[group] < 0) | (table.sizes[group] < 0)[:, None]
        coef = np.where(hidden, odds, coef)
    return {"kind": "mixture", **_rounded(coef, intercept, table), "group": group.tolist()}


def _shown_rule(node: Mapping[str, Any], sides: list[list[int]], table: ShownTable) -> Any:
    kind = node.get("kind", "scores")
    shown = {"kind": kind, "children": [int(child) for child in node["children"]]}
    coef, intercept = _finite(node["coef"]), _finite(node["intercept"])
    if kind == "linear":
        if table.min_cell > 1:
            first, second = (_log_odds(table, leaves) for leaves in sides)
            half = (first - second) / 2.0
            below = [*sides[0], *sides[1]]
            hidden = (table.counts.counts[below] < 0).any(axis=0) | (table.sizes[below] < 0).any()
            coef = np.where(hidden, np.stack([half, -half]), coef)
        return {**shown, **_rounded(coef, intercept, table)}
    digits = _EXACT_DIGITS if table.min_cell <= 1 else _SCORE_DIGITS
    coef[:, table.counts.totals == SMALL] = 0.0
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
