"""Prepare measures of the quality of groups for the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.report.disclosure import Disclosure
from momentree.report.text import clean_text, for_readers

_IN_PART, _YES = 0.6, 0.75
"""Limits for the mean Jaccard similarity of a group to its match in resampled records: groups below
0.6 should not be trusted, those from 0.75 are stable (C. Hennig, Cluster-wise assessment of cluster
stability, Computational Statistics & Data Analysis 52, 2007)."""


def summarize_quality(
    quality: Mapping[str, Any],
    n_groups: int,
    disclosure: Disclosure,
    permits_accuracy: Callable[[str], bool],
) -> dict[str, Any]:
    """Return the measures of quality passed to `summarize_records`, ready for JSON.

    If the accuracy for an outcome may not be exact, only its rough AUC is among the ``other`` ones.
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
        if permits_accuracy(name):
            exact.append({"name": clean_text(name), **_power(values, disclosure)})
        elif (auc := values.get("auc")) is not None:
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
