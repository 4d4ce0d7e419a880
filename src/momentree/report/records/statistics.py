"""Means, standard deviations and quartiles of numbers per group, without small counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from momentree._types import Floats, Int64s, Ints
from momentree.report.disclosure import Disclosure

_MORE = 2
"""Stored decimals that are not shown, so that differences of means are exact."""


def number_statistics(
    values: Floats, labels: Ints, n_groups: int, disclosure: Disclosure
) -> dict[str, Any]:
    """Return mean, standard deviation and quartiles of numbers, NaN if missing, per group.

    ``groups`` contains one entry per group, and ``all`` that of all records: a dictionary with
    ``mean``, ``sd`` (with n - 1), ``low``, ``median``, ``high`` and ``digits``, the number of
    decimals to show (three significant digits of the overall standard deviation); or None if there
    is no value or the group is ``hidden``. A group is hidden if it has few known values, or few
    that differ from its most common one, because its mean would disclose their number; the smallest
    other group is then hidden too, because its values would follow from those of all.
    """
    known = np.isfinite(values)
    inside = [known & (labels == group) for group in range(n_groups)]
    small = np.array([_is_small(values[at], disclosure) for at in inside])
    sizes = np.array([int(at.sum()) for at in inside])
    hidden = small.copy()
    if small.any():
        others = np.flatnonzero(~small & (sizes > 0))
        if len(others):
            hidden[others[np.argmin(sizes[others])]] = True
    digits = _decimals(values[known])
    entries = [
        None if hide else _entry(values[at], digits)
        for at, hide in zip(inside, hidden, strict=True)
    ]
    whole = None if _is_small(values[known], disclosure) else _entry(values[known], digits)
    return {"groups": entries, "all": whole, "hidden": hidden.tolist()}


def code_statistics(
    n_codes: Int64s, labels: Ints, sizes: Int64s, means: Floats, overall: float
) -> dict[str, Any]:
    """Return the same statistics of the number of codes per record, in groups of published sizes.

    The `means` and the `overall` mean are those of published counts: the exact mean would disclose
    the sum of the suppressed counts of codes.
    """
    entries: list[dict[str, Any] | None] = []
    for group, size in enumerate(sizes):
        found = _entry(n_codes[labels == group].astype(np.float64), 1, 0) if size > 0 else None
        entries.append(found and {**found, "mean": round(float(means[group]), 3)})
    whole = _entry(n_codes.astype(np.float64), 1, 0)
    return {
        "groups": entries,
        "all": whole and {**whole, "mean": round(overall, 3)},
        "hidden": (sizes < 0).tolist(),
    }


def _is_small(values: Floats, disclosure: Disclosure) -> bool:
    if not len(values):
        return False
    _, counts = np.unique(values, return_counts=True)
    return bool(disclosure.is_small(np.array([len(values), len(values) - counts.max()])).any())


def _entry(values: Floats, digits: int, more: int = _MORE) -> dict[str, Any] | None:
    if not len(values):
        return None
    sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    return {
        "mean": round(float(values.mean()), digits + more),
        "sd": round(sd, digits + more),
        "low": round(low, digits),
        "median": round(median, digits),
        "high": round(high, digits),
        "digits": digits,
    }


def _decimals(values: Floats) -> int:
    """Return the decimals that show three significant digits of the standard deviation."""
    sd = float(values.std()) if len(values) else 0.0
    return int(np.clip(2 - np.floor(np.log10(sd)), 0, 9)) if sd > 0 else 2
