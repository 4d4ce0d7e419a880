"""Features of measurements: their statistics per group, and how they set a node apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from momentree._types import Floats
from momentree.report import outcomes, statistics, text
from momentree.report.disclosure import Disclosure
from momentree.report.groups import Groups

if TYPE_CHECKING:
    from momentree.datasets import Measurements

Z = 1.959963984540054
"""Quantile of the normal distribution for intervals of 95%."""
_DIGITS = 4
_CLEAR = 0.2
"""Smallest standardized difference that is worth a name; smaller ones are usually called small."""


@dataclass(frozen=True)
class Feature:
    """A feature with its published entry; `moments` are None for categories and yes or no."""

    entry: dict[str, Any]
    moments: statistics.Moments | None
    known: Floats  # numbers of known values per group, for the width of intervals
    column: int = -1  # of the table
    merged: bool = False  # whether classes of few records are one

    @property
    def suppressed(self) -> bool:
        """Whether a number of records is suppressed."""
        classes = self.entry["classes"]
        counts = [n for one in classes for n in (*one["counts"], one["total"])]
        return bool(min([*self.entry["missing"], *counts]) < 0)

    @property
    def hidden(self) -> set[int]:
        """Groups whose numbers are hidden."""
        return set(np.flatnonzero(self.entry["numbers"]["hidden"]).tolist())


def describe_features(table: Measurements, groups: Groups) -> list[Feature]:
    """Describe the features of fitted records, in the order of the columns.

    Each entry has the form of `count_outcomes` with, besides, ``kind``, ``unit``, ``separation``
    (the share of its variance between groups) and, in the ``numbers`` of each group, ``interval``
    (that of the mean) and ``tails`` (two quantiles, or None). Features of which nothing can be
    shown are left out.
    """
    features = []
    for column, (name, values) in enumerate(table.columns.items()):
        inside, kind = values[table.enough], table.kinds[name]
        if kind in ("number", "count"):
            feature = _numeric(inside, groups)
        else:
            # The words of a category are texts, even if they are written as numbers.
            given = inside if kind == "yes_no" else inside.astype(object)
            words = {name: table.words.get(name, ("no", "yes"))}
            cells = groups.labels, groups.k, groups.disclosure.min_cell
            counted = outcomes.count_outcomes({name: given}, *cells, words)
            if not counted:
                continue
            feature = _counted(counted[0], groups)
            if kind == "category":
                entry, levels = feature.entry, set(inside.tolist()) - {""}
                merged = len(levels) > len(entry["classes"]) + entry["binary"]
                feature = replace(feature, merged=merged)
        unit = text.clean_text(table.units.get(name, ""))
        feature.entry.update(name=text.clean_text(name), kind=kind, unit=unit)
        if kind == "yes_no":
            feature.entry["words"] = [text.clean_text(word) for word in table.words[name]]
        features.append(replace(feature, column=column))
    return features


def _numeric(values: Floats, groups: Groups) -> Feature:
    labels, k, disclosure = groups.labels, groups.k, groups.disclosure
    moments = statistics.Moments.of(values, labels, k)
    counts = np.column_stack([moments.n, np.bincount(labels, minlength=k) - moments.n])
    missing = disclosure.suppress_classes(np.rint(counts).astype(np.int64)).counts[:, 1]
    numbers = statistics.number_statistics(values, labels, k, disclosure, missing)
    if (missing < 0).any():
        n = disclosure.known(groups.estimates, missing)
        moments = statistics.Moments.published(numbers["groups"], n)
    known = _rounded(disclosure.known(groups.estimates, missing), disclosure)
    finite = np.isfinite(values)
    for group, entry in enumerate(numbers["groups"]):
        if entry is not None:
            inside, exact = values[(labels == group) & finite], bool(missing[group] >= 0)
            _extend(entry, inside, float(known[group]), disclosure, exact=exact)
    if numbers["all"] is not None:
        exact = bool((missing >= 0).all())
        _extend(numbers["all"], values[finite], float(known.sum()), disclosure, exact=exact)
    shown = [group for group in range(k) if numbers["groups"][group] is not None]
    entry = {
        "binary": False,
        "covariate": False,
        "missing": missing.tolist(),
        "classes": [],
        "numbers": numbers,
        "separation": _variance_between(moments, shown),
    }
    return Feature(entry, moments, known)


def _extend(
    entry: dict[str, Any], values: Floats, known: float, disclosure: Disclosure, *, exact: bool
) -> None:
    half, mean = Z * entry["sd"] / np.sqrt(max(known, 1.0)), entry["mean"]
    entry["interval"] = [round(limit, entry["digits"] + 2) for limit in (mean - half, mean + half)]
    entry["tails"] = None
    if tails := statistics.outer_quantiles(len(values), disclosure):
        method: Literal["inverted_cdf", "linear"] = "linear" if exact else "inverted_cdf"
        ends = np.quantile(values, tails, method=method).tolist()
        entry["tails"] = [round(end, entry["digits"]) for end in ends]


def _counted(entry: dict[str, Any], groups: Groups) -> Feature:
    disclosure, sizes = groups.disclosure, groups.estimates
    places = range(len(entry["classes"]))
    rates = np.array([disclosure.group_rates(entry, at, sizes)[0] for at in places])
    if entry["binary"]:
        rates = np.vstack([1.0 - rates, rates])
    known = _rounded(disclosure.known(sizes, entry["missing"]), disclosure)
    entry["separation"] = _rate_between(np.nan_to_num(rates), known)
    return Feature(entry, None, known)


def _rounded(n: Floats, disclosure: Disclosure) -> Floats:
    """Round numbers of values, so that no small count follows from the width of an interval."""
    m = disclosure.min_cell
    return np.asarray(np.maximum(m * np.floor(n / m), np.where(n > 0, 1.0, 0.0)))


def _variance_between(moments: statistics.Moments, groups: Sequence[int]) -> float:
    """Return the share of the variance of a number that lies between some groups (eta squared)."""
    n, mean = moments.n[groups], moments.mean[groups]
    if not n.sum():
        return 0.0
    center = float(n @ mean) / float(n.sum())
    between = float(n @ (mean - center) ** 2)
    total = between + float(moments.squares[groups].sum())
    return round(between / total, 4) if total > 0 else 0.0


def _rate_between(rates: Floats, n: Floats) -> float:
    """Return the same share for classes: Goodman and Kruskal's tau, given rates (classes, k)."""
    weight = n / max(float(n.sum()), 1.0)
    base = rates @ weight
    spread = 1.0 - float(base @ base)
    between = float((((rates - base[:, None]) ** 2) @ weight).sum())
    return round(min(max(between / spread, 0.0), 1.0), 4) if spread > 1e-12 else 0.0


def differences(
    features: Sequence[Feature], leaves: Sequence[int], groups: Groups
) -> list[dict[str, Any]]:
    """Compare the records of some groups with all others, largest difference first.

    Each entry has the ``feature`` and, for categories, the ``class``; ``d``, ``low`` and ``high``
    (standardized difference and its 95% interval); ``here`` (mean or share) with ``here_low`` and
    ``here_high``; ``rest`` and ``all``; and ``estimated``, whether suppressed counts contribute.
    """
    rest = [group for group in range(groups.k) if group not in set(leaves)]
    if not rest:
        return []
    compared = []
    for at, feature in enumerate(features):
        if feature.moments is not None:
            entry = _of_means(feature, feature.moments, leaves, rest)
            compared += [{"feature": at, "class": None, **entry}] if entry else []
            continue
        n_classes = len(feature.entry["classes"])
        for one in range(n_classes):
            entry = _of_rates(feature, one, leaves, rest, groups)
            # Of two classes, the rarer one here says the same as the other.
            if entry and (n_classes != 2 or entry["d"] > 0 or (entry["d"] == 0 and one == 0)):
                compared.append({"feature": at, "class": one, **entry})
    return sorted(compared, key=lambda e: (-abs(e["d"]), e["feature"], e["class"] or 0))


def is_clear(entry: dict[str, Any]) -> bool:
    """Return whether a difference is neither small nor due to chance."""
    return bool(abs(entry["d"]) >= _CLEAR and (entry["low"] > 0 or entry["high"] < 0))


def _of_means(
    feature: Feature, moments: statistics.Moments, leaves: Sequence[int], rest: Sequence[int]
) -> dict[str, Any] | None:
    hidden, inside = feature.hidden, set(leaves)
    unsure = min(feature.entry["missing"]) < 0
    if hidden & inside and (unsure or not hidden <= inside):
        return None
    n1, mean, sd = moments.joined(list(leaves))
    n2, other, other_sd = moments.joined(list(rest))
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
    feature: Feature, at: int, leaves: Sequence[int], rest: Sequence[int], groups: Groups
) -> dict[str, Any] | None:
    (p, unsure), (q, unsure_rest), (base, unsure_base) = (
        groups.disclosure.class_rate(feature.entry, at, some, groups.estimates)
        for some in (leaves, rest, sorted([*leaves, *rest]))
    )
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
