"""How far to trust groups of records: scores that were measured elsewhere, as a page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from momentree.exceptions import InvalidDataError
from momentree.report.documents import clean_text

__all__ = ["shown_quality"]


def shown_quality(quality: Mapping[str, Any], n_groups: int, min_cell: int = 1) -> dict[str, Any]:
    """Return measures of quality as JSON.

    Parameters
    ----------
    quality : mapping of str to object
        As `momentree.report.summarize_records` takes it.
    n_groups : int
        k.
    min_cell : int, default=1
        Numbers of predictive power are rounded so far that they tell no count of fewer records.

    Returns
    -------
    dict
        ``stability``: ``mean``, ``low``, ``high`` and ``n`` of the scores, or None;
        ``predictive_power``: for each outcome ``name``, ``accuracy``, ``std``, ``baseline``,
        ``auc`` and ``n``; ``recurrence``: k numbers, or None; ``other``: pairs of name and text.

    Raises
    ------
    InvalidDataError
        If ``recurrence`` does not have one number for each group.
    """
    scores = np.asarray(quality.get("stability", ()), dtype=np.float64).ravel()
    recurrence = quality.get("recurrence")
    if recurrence is not None:
        recurrence = np.asarray(recurrence, dtype=np.float64)
        if recurrence.shape != (n_groups,):
            msg = (
                f"quality['recurrence'] has shape {recurrence.shape}; expected ({n_groups},), one "
                f"number for each group"
            )
            raise InvalidDataError(msg)
    named = ("stability", "predictive_power", "recurrence")
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
            {"name": clean_text(name), **_power(power, min_cell)}
            for name, power in quality.get("predictive_power", {}).items()
        ],
        "recurrence": None if recurrence is None else [_number(value) for value in recurrence],
        "other": [
            [clean_text(name), clean_text(value)]
            for name, value in quality.items()
            if name not in named
        ],
    }


def _power(power: Any, min_cell: int) -> dict[str, Any]:
    values = power if isinstance(power, Mapping) else vars(power)
    n = float(values.get("n") or np.inf)
    # Shares of n records: one step in the last digit is min_cell records or more.
    digits = 4 if min_cell <= 1 else int(np.clip(np.floor(np.log10(n / min_cell)), 1, 4))
    keys = ("accuracy", "std", "baseline", "auc")
    return {key: _number(values.get(key), digits) for key in keys} | {
        "n": _number(values.get("n"), 4)
    }


def _number(value: Any, digits: int = 4) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), digits)
