"""How a node differs from all other records: standardized differences with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from momentree._types import Floats
from momentree.report.disclosure import Disclosure
from momentree.report.measurements.features import Feature, Z

_CLEAR = 0.2
"""Smallest standardized difference that is worth a name; smaller ones are usually called small."""
_DIGITS = 4


def differences(
    features: Sequence[Feature],
    leaves: Sequence[int],
    k: int,
    sizes: Floats,
    disclosure: Disclosure,
) -> list[dict[str, Any]]:
    """Compare the records of some groups with all others, largest difference first.

    Each entry has the ``feature`` and, for categories, the ``class``; ``d``, ``low`` and ``high``
    (standardized difference and its 95% interval); ``here`` (mean or share) with ``here_low`` and
    ``here_high``; ``rest`` and ``all``; and ``estimated``, whether suppressed counts contribute.
    """
    rest = [group for group in range(k) if group not in set(leaves)]
    if not rest:
        return []
    found = []
    for at, feature in enumerate(features):
        if feature.moments is not None:
            entry = _of_means(feature, leaves, rest)
            found += [{"feature": at, "class": None, **entry}] if entry else []
            continue
        n_classes = len(feature.entry["classes"])
        for one in range(n_classes):
            entry = _of_rates(feature, one, leaves, rest, sizes, disclosure)
            # Of two classes, the rarer one here says the same as the other.
            if entry and (n_classes != 2 or entry["d"] > 0 or (entry["d"] == 0 and one == 0)):
                found.append({"feature": at, "class": one, **entry})
    return sorted(found, key=lambda e: (-abs(e["d"]), e["feature"], e["class"] or 0))


def is_clear(entry: dict[str, Any]) -> bool:
    """Return whether a difference is neither small nor due to chance."""
    return bool(abs(entry["d"]) >= _CLEAR and (entry["low"] > 0 or entry["high"] < 0))


def _of_means(
    feature: Feature, leaves: Sequence[int], rest: Sequence[int]
) -> dict[str, Any] | None:
    hidden, inside = feature.hidden, set(leaves)
    unsure = min(feature.entry["missing"]) < 0
    if feature.moments is None or (hidden & inside and (unsure or not hidden <= inside)):
        return None
    n1, mean, sd = feature.moments.joined(list(leaves))
    n2, other, other_sd = feature.moments.joined(list(rest))
    if not (n1 and n2):
        return None
    n1, n2 = float(feature.known[list(leaves)].sum()), float(feature.known[list(rest)].sum())
    # One value here and another there have no spread of their own: as of a share of 0 or 1.
    spread = max(
        float(np.sqrt((sd**2 + other_sd**2) / 2.0)), 0.5 * abs(mean - other) / np.sqrt(n1 + n2)
    )
    if not spread > 0:
        return None
    whole = feature.entry["numbers"]["all"]
    digits = 2 + (whole["digits"] if whole else 2)
    half = Z * sd / np.sqrt(n1)
    d = float((mean - other) / spread)
    error = Z * np.sqrt(1.0 / n1 + 1.0 / n2 + d**2 / (2.0 * (n1 + n2)))
    return {
        **_interval(d, error),
        "here": round(mean, digits),
        "here_low": round(mean - half, digits),
        "here_high": round(mean + half, digits),
        "rest": round(other, digits),
        "all": round(whole["mean"], digits) if whole else None,
        "estimated": unsure,
    }


def _of_rates(
    feature: Feature,
    at: int,
    leaves: Sequence[int],
    rest: Sequence[int],
    sizes: Floats,
    disclosure: Disclosure,
) -> dict[str, Any] | None:
    p, unsure = disclosure.class_rate(feature.entry, at, leaves, sizes)
    q, unsure_rest = disclosure.class_rate(feature.entry, at, rest, sizes)
    everyone = sorted([*leaves, *rest])
    base, unsure_base = disclosure.class_rate(feature.entry, at, everyone, sizes)
    n1, n2 = float(feature.known[list(leaves)].sum()), float(feature.known[list(rest)].sum())
    spread = np.sqrt((p * (1 - p) + q * (1 - q)) / 2.0)
    if not (n1 and n2 and np.isfinite(spread)):
        return None
    # A share of 0 or 1 has no spread of its own: add half a record.
    spread = max(float(spread), 0.5 / np.sqrt(n1 + n2))
    p_, q_ = (p * n1 + 0.5) / (n1 + 1), (q * n2 + 0.5) / (n2 + 1)
    error = Z * np.sqrt(p_ * (1 - p_) / n1 + q_ * (1 - q_) / n2) / spread
    half = Z * np.sqrt(p_ * (1 - p_) / n1)
    return {
        **_interval(float((p - q) / spread), float(error)),
        "here": round(p, _DIGITS),
        "here_low": round(max(p - half, 0.0), _DIGITS),
        "here_high": round(min(p + half, 1.0), _DIGITS),
        "rest": round(q, _DIGITS),
        "all": round(base, _DIGITS),
        "estimated": bool(unsure or unsure_rest or unsure_base),
    }


def _interval(d: float, error: float) -> dict[str, float]:
    low, high = d - error, d + error
    return {"d": round(d, _DIGITS), "low": round(low, _DIGITS), "high": round(high, _DIGITS)}


def phrase(feature: Feature, entry: dict[str, Any]) -> str | None:
    """Return what a difference says of a group: "high age", "sex: female"; None if too little."""
    name = feature.entry["name"]
    if feature.moments is not None:
        return f"{'high' if entry['d'] > 0 else 'low'} {name}"
    if feature.entry["binary"]:
        return f"{name}: {feature.entry['words'][entry['d'] > 0]}"
    if entry["d"] <= 0:
        return None
    return f"{name}: {feature.entry['classes'][entry['class']]['name']}"
