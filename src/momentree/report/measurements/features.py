"""Statistics of each feature per group, with small counts suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from momentree._types import Floats, Int64s, Ints
from momentree.report.disclosure import Disclosure
from momentree.report.records._levels import outer_quantiles
from momentree.report.records.outcomes import count_outcomes
from momentree.report.records.statistics import Moments, number_statistics
from momentree.report.text import clean_text

if TYPE_CHECKING:
    from momentree.datasets import Measurements

Z = 1.959963984540054
"""Quantile of the normal distribution for intervals of 95%."""
_DIGITS = 6


@dataclass(frozen=True)
class Feature:
    """A feature with its published entry; `moments` are None for categories and yes or no."""

    entry: dict[str, Any]
    moments: Moments | None
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


def describe_features(
    table: Measurements,
    labels: Ints,
    n_groups: int,
    sizes: Floats,
    disclosure: Disclosure,
) -> list[Feature]:
    """Describe the features of fitted records, in the order of the columns.

    Each entry has the form of `count_outcomes` with, besides, ``kind``, ``unit``, ``separation``
    (the share of its variance between groups) and, in the ``numbers`` of each group, ``interval``
    (that of the mean) and ``tails`` (two quantiles, or None). `sizes` are the estimated sizes.
    Features of which nothing can be shown are left out.
    """
    found = []
    for column, (name, values) in enumerate(table.columns.items()):
        inside, kind = values[table.enough], table.kinds[name]
        if kind in ("number", "count"):
            feature = _numeric(inside, labels, n_groups, sizes, disclosure)
        else:
            # The words of a category are texts, even if they are written as numbers.
            given = inside if kind == "yes_no" else inside.astype(object)
            words = table.words.get(name, ("no", "yes"))
            counted = count_outcomes(
                {name: given}, labels, n_groups, disclosure.min_cell, {name: words}
            )
            if not counted:
                continue
            feature = _counted(counted[0], sizes, disclosure)
            if kind == "category":
                entry, levels = feature.entry, set(inside.tolist()) - {""}
                merged = len(levels) > len(entry["classes"]) + entry["binary"]
                feature = replace(feature, merged=merged)
        feature.entry.update(
            name=clean_text(name), kind=kind, unit=clean_text(table.units.get(name, ""))
        )
        if kind == "yes_no":
            feature.entry["words"] = [clean_text(word) for word in table.words[name]]
        found.append(replace(feature, column=column))
    return found


def _numeric(
    values: Floats, labels: Ints, k: int, sizes: Floats, disclosure: Disclosure
) -> Feature:
    moments = Moments.of(values, labels, k)
    counts = np.column_stack([moments.n, np.bincount(labels, minlength=k) - moments.n])
    missing = disclosure.suppress_classes(np.rint(counts).astype(np.int64)).counts[:, 1]
    numbers = number_statistics(values, labels, k, disclosure, missing)
    if (missing < 0).any():
        moments = Moments.published(numbers["groups"], disclosure.known(sizes, missing))
    known = _rounded(disclosure.known(sizes, missing), disclosure)
    for group, entry in enumerate(numbers["groups"]):
        if entry is not None:
            inside = values[(labels == group) & np.isfinite(values)]
            _extend(entry, inside, float(known[group]), disclosure, exact=missing[group] >= 0)
    if numbers["all"] is not None:
        whole, exact = values[np.isfinite(values)], bool((missing >= 0).all())
        _extend(numbers["all"], whole, float(known.sum()), disclosure, exact=exact)
    shown = [g for g in range(k) if numbers["groups"][g] is not None]
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
    half = Z * entry["sd"] / np.sqrt(max(known, 1.0))
    digits = entry["digits"] + 2
    entry["interval"] = [round(entry["mean"] - half, digits), round(entry["mean"] + half, digits)]
    entry["tails"] = None
    if tails := outer_quantiles(len(values), disclosure):
        method: Literal["inverted_cdf", "linear"] = "linear" if exact else "inverted_cdf"
        low, high = np.quantile(values, tails, method=method).tolist()
        entry["tails"] = [round(low, entry["digits"]), round(high, entry["digits"])]


def _counted(entry: dict[str, Any], sizes: Floats, disclosure: Disclosure) -> Feature:
    k = len(sizes)
    known = disclosure.known(sizes, entry["missing"])
    rates = np.array(
        [
            [disclosure.class_rate(entry, at, [group], sizes)[0] for group in range(k)]
            for at in range(len(entry["classes"]))
        ]
    )
    if entry["binary"]:
        rates = np.vstack([1.0 - rates, rates])
    feature = Feature(entry, None, _rounded(known, disclosure))
    entry["separation"] = _rate_between(np.nan_to_num(rates), feature.known)
    return feature


def _rounded(n: Floats, disclosure: Disclosure) -> Floats:
    """Round numbers of values, so that no small count follows from the width of an interval."""
    m = disclosure.min_cell
    return np.asarray(np.maximum(m * np.floor(n / m), np.where(n > 0, 1.0, 0.0)))


def _variance_between(moments: Moments, groups: Sequence[int]) -> float:
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


def sizes_of(labels: Ints, k: int, disclosure: Disclosure) -> tuple[Int64s, Floats]:
    """Return the published sizes of groups and their estimates."""
    return disclosure.suppress_sizes(np.bincount(labels, minlength=k).astype(np.int64))
