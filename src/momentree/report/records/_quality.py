"""Prepare measures of the quality of groups for the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from momentree.exceptions import InvalidDataError
from momentree.report.disclosure import Disclosure
from momentree.report.text import clean_text


def summarize_quality(
    quality: Mapping[str, Any], n_groups: int, disclosure: Disclosure
) -> dict[str, Any]:
    """Return the measures of quality passed to `summarize_records`, ready for JSON."""
    stability, recurrence = quality.get("stability", ()), quality.get("recurrence")
    scores = np.asarray(stability, dtype=np.float64).ravel()
    if recurrence is not None:
        recurrence = np.asarray(recurrence, dtype=np.float64)
        if recurrence.shape != (n_groups,):
            raise InvalidDataError(
                "wrong_recurrence", shape=str(recurrence.shape), n_groups=n_groups
            )
        recurrence = [_number(value) for value in recurrence]
    return {
        "stability": {
            "mean": round(float(scores.mean()), 4),
            "low": round(float(scores.min()), 4),
            "high": round(float(scores.max()), 4),
            "n": len(scores),
        }
        if scores.size
        else None,
        "predictive_power": [
            {"name": clean_text(name), **_power(power, disclosure)}
            for name, power in quality.get("predictive_power", {}).items()
        ],
        "recurrence": recurrence,
        "other": [
            [clean_text(name), clean_text(value)]
            for name, value in quality.items()
            if name not in ("stability", "predictive_power", "recurrence")
        ],
    }


def _power(power: Any, disclosure: Disclosure) -> dict[str, Any]:
    values = power if isinstance(power, Mapping) else vars(power)
    digits = disclosure.decimals(float(values.get("n") or np.inf))
    rates = ("accuracy", "std", "baseline", "auc")
    return {key: _number(values.get(key), digits) for key in rates} | {
        "n": _number(values.get("n"))
    }


def _number(value: Any, digits: int = 4) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), digits)
