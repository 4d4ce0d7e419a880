"""What a page needs to assign a record by itself, without telling more than its counts do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.report.records_privacy import SMALL, Published

__all__ = ["shown_scoring"]

_EXACT_DIGITS = 12
_RULE_DIGITS = 7
_LOG_ODDS_DECIMALS = 3
_INTERCEPT_DECIMALS = 2

Floats = NDArray[np.float64]


def shown_scoring(
    scoring: Mapping[str, Any], published: Published, rates: Floats, min_cell: int
) -> dict[str, Any]:
    """Return the rule of assignment as JSON, with what would tell small counts taken out.

    Parameters
    ----------
    scoring : mapping
        ``scoring()`` of the estimator: the kind "mixture" or "rules".
    published : Published
        The counts that the page shows.
    rates : ndarray of shape (k, d)
        Frequencies of codes in groups, as a reader may estimate them from `published`.
    min_cell : int >= 1
        The smallest count above zero that may be shown.

    Returns
    -------
    dict
        Of the same form. With `min_cell` of 1 numbers have 12 digits, and the page answers as the
        estimator does. Otherwise

        - a mixture's log-odds log(mu / (1 - mu)) of a hidden count are those of its estimate,
          and its numbers are rounded to 0.001, intercepts to 0.01;
        - a rule's coefficient of a code with fewer than `min_cell` records in all is zero, and
          its numbers have 7 digits.

    Notes
    -----
    What remains: an intercept sums over all codes, so it bounds the sum of the hidden means of a
    group but none of them; coefficients of rules depend on all records at once, and on single
    counts by no formula that could be solved for one.
    """
    exact = min_cell <= 1
    rare = published.totals == SMALL
    if scoring["kind"] == "rules":
        nodes = []
        for node in scoring["nodes"]:
            coef = np.array(node["coef"], dtype=np.float64)
            coef[:, rare] = 0.0
            digits = _EXACT_DIGITS if exact else _RULE_DIGITS
            nodes.append(
                {
                    "coef": _significant(coef, digits),
                    "intercept": _significant(node["intercept"], digits),
                    "children": [int(child) for child in node["children"]],
                }
            )
        return {"kind": "rules", "nodes": nodes}
    coef = np.array(scoring["coef"], dtype=np.float64)
    group = np.asarray(scoring["group"], dtype=int)
    intercept = np.asarray(scoring["intercept"], dtype=np.float64)
    if exact:
        return {
            "kind": "mixture",
            "coef": _significant(coef, _EXACT_DIGITS),
            "intercept": _significant(intercept, _EXACT_DIGITS),
            "group": group.tolist(),
        }
    hidden = published.counts[group] < 0
    means = np.clip(rates[group], 1e-12, 1.0 - 1e-12)
    coef = np.where(hidden, np.log(means) - np.log1p(-means), coef)
    return {
        "kind": "mixture",
        "coef": np.round(coef, _LOG_ODDS_DECIMALS).tolist(),
        "intercept": np.round(intercept, _INTERCEPT_DECIMALS).tolist(),
        "group": group.tolist(),
    }


def _significant(values: Any, digits: int) -> Any:
    array = np.asarray(values, dtype=np.float64)
    short = [float(f"{value:.{digits}g}") for value in array.ravel()]
    return np.reshape(short, array.shape).tolist()
