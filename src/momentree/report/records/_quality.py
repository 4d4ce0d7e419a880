"""Prepare measures of the quality of groups for the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import chi2

from momentree._types import Floats, Ints
from momentree.core.ties import largest_first
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.metrics import bivariate_residuals
from momentree.report.disclosure import Disclosure
from momentree.report.text import clean_text, for_readers

_IN_PART, _YES = 0.6, 0.75
"""Limits for the mean Jaccard similarity of a group to its match in resampled records: groups below
0.6 should not be trusted, those from 0.75 are stable (C. Hennig, Cluster-wise assessment of cluster
stability, Computational Statistics & Data Analysis 52, 2007)."""

_MOST_PAIRS = 3
"""Pairs of items that are shown."""
_BY_CHANCE = 0.05
"""Probability, at most, that any pair of independent items exceeds the limit of all pairs."""


def summarize_quality(
    quality: Mapping[str, Any],
    n_groups: int,
    disclosure: Disclosure,
    permits_accuracy: Callable[[str], bool],
    rough_auc: Callable[[str], float | None],
) -> dict[str, Any]:
    """Return the measures of quality passed to `summarize_records`, ready for JSON.

    If the accuracy for an outcome is not known or may not be exact, its rough AUC, which follows
    from what is published, is among the ``other`` ones.
    """
    stability, recurrence = quality.get("stability", ()), quality.get("recurrence")
    scores = np.asarray(stability, dtype=np.float64).ravel()
    if recurrence is not None:
        recurrence = np.asarray(recurrence, dtype=np.float64)
        if recurrence.shape != (n_groups,):
            raise InvalidDataError(
                "wrong_recurrence", shape=str(recurrence.shape), n_groups=n_groups
            )
        recurrence = [_number(value) for value in recurrence]
    exact: list[dict[str, Any]] = []
    rough: list[list[str]] = []
    for name, power in quality.get("predictive_power", {}).items():
        values = power if isinstance(power, Mapping) else vars(power)
        if values and permits_accuracy(name):
            exact.append({"name": clean_text(name), **_power(values, disclosure)})
        elif (auc := rough_auc(name)) is not None:
            measure = clean_text(f"{name}: predicted from the group alone")
            rough.append([measure, for_readers(Message("rough_auc", auc=auc))])
    return {
        "stability": {
            "mean": round(float(scores.mean()), 4),
            "low": round(float(scores.min()), 4),
            "high": round(float(scores.max()), 4),
            "n": len(scores),
        }
        if scores.size
        else None,
        "predictive_power": exact,
        "recurrence": recurrence,
        "recurrence_words": recurrence and [_recurrence_words(value) for value in recurrence],
        "other": [
            [clean_text(name), clean_text(value)]
            for name, value in quality.items()
            if name not in ("stability", "predictive_power", "recurrence", "fits")
        ]
        + rough,
    }


def largest_residuals(
    X: Any,
    proba: Floats,
    names: Sequence[str],
    disclosure: Disclosure,
    columns: Ints,
) -> dict[str, Any] | None:
    """Return the pairs of items with the largest residual dependence, ready for JSON.

    The largest residual by chance has at most the limit of Bonferroni for all pairs. Of the items
    in `columns`, no count may be suppressed: it could follow from a residual, and from whether one
    is shown. The root of the residual is rounded if counts are suppressed, because two digits could
    disclose how many records have both items.
    """
    values = bivariate_residuals(X, proba, columns=columns, min_cell=disclosure.min_cell)
    first, second = np.triu_indices(len(values), 1)
    found = np.nan_to_num(values[first, second], nan=-1.0)
    order = [at for at in largest_first(found)[:_MOST_PAIRS].tolist() if found[at] >= 0]
    pairs = [
        {
            "items": [names[first[at]], names[second[at]]],
            "residual": float(round(found[at] ** 0.5) ** 2)
            if disclosure.hides
            else float(f"{found[at]:.2g}"),
        }
        for at in order
    ]
    limit = round(float(chi2.isf(_BY_CHANCE / max(len(found), 1), 1)))
    return {"pairs": pairs, "limit": limit} if pairs else None


def _recurrence_words(similarity: float | None) -> str:
    if similarity is None:
        return "–"
    return "no" if similarity < _IN_PART else "in part" if similarity < _YES else "yes"


def _power(values: Mapping[str, Any], disclosure: Disclosure) -> dict[str, Any]:
    digits = disclosure.decimals(float(values.get("n") or np.inf))
    rates = ("accuracy", "std", "baseline", "auc")
    return {key: _number(values.get(key), digits) for key in rates} | {
        "n": _number(values.get("n"))
    }


def _number(value: Any, digits: int = 4) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), digits)
