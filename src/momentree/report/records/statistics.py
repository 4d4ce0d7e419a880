"""Means, standard deviations and quartiles of numbers per group, without small counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Int64s, Ints
from momentree.report.disclosure import SMALL, Disclosure
from momentree.report.records._levels import follow_from_moments, levels_of

_MORE = 2
"""Stored decimals that are not shown, so that differences of means are exact."""
_MANY_CELLS = 6
"""Groups of this many times `min_cell` records count as large enough for means and quartiles."""
_EXACT, _EQUAL = 2**53, 1e-6
"""Whole numbers below the first are exact; the second tolerates rounding of other ones."""


@dataclass(frozen=True)
class Moments:
    """Number, mean and sum of squared deviations of the known values in each of k groups."""

    n: Floats
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, values: Floats, labels: Ints, k: int) -> Moments:
        """Count the known values in each group."""
        known = np.isfinite(values)
        at, found = labels[known], values[known]
        n = np.bincount(at, minlength=k).astype(np.float64)
        mean = np.bincount(at, found, minlength=k) / np.maximum(n, 1.0)
        squares = np.bincount(at, (found - mean[at]) ** 2, minlength=k)
        return cls(n, mean, np.asarray(squares, dtype=np.float64))

    @classmethod
    def published(cls, entries: Sequence[Mapping[str, Any] | None], n: Floats) -> Moments:
        """Return the published mean and standard deviation of estimated numbers of values."""
        shown = np.array([entry is not None for entry in entries])
        mean = np.array([entry["mean"] if entry else 0.0 for entry in entries])
        sd = np.array([entry["sd"] if entry else 0.0 for entry in entries])
        n = np.where(shown, n, 0.0)
        return cls(n, mean, np.maximum(n - 1.0, 0.0) * sd**2)

    def joined(self, groups: Sequence[int] | None = None) -> tuple[float, float, float]:
        """Return number, mean and standard deviation of some groups together, or of all."""
        groups = range(len(self.n)) if groups is None else groups
        n, mean = self.n[list(groups)], self.mean[list(groups)]
        total = float(n.sum())
        if not total:
            return 0.0, float("nan"), float("nan")
        center = float(n @ mean) / total
        squares = float(self.squares[list(groups)].sum() + n @ (mean - center) ** 2)
        return total, center, float(np.sqrt(squares / max(total - 1.0, 1.0)))


def number_statistics(
    values: Floats,
    labels: Ints,
    n_groups: int,
    disclosure: Disclosure,
    missing: Int64s,
    narrowed: NDArray[np.bool_] | None = None,
) -> dict[str, Any]:
    """Return mean, standard deviation and quartiles of numbers, NaN if missing, per group.

    ``groups`` contains one entry per group, and ``all`` that of all records: a dictionary with
    ``mean``, ``sd`` (with n - 1), ``low``, ``median``, ``high``, ``digits``, the number of decimals
    to show (three significant digits of the overall standard deviation), and ``estimated``; or None
    if there is no value or the group is ``hidden``. A group is hidden if its size is, if it has few
    known values, or few that differ from its most common one, because its mean would disclose
    their number, or if mean and standard deviation would disclose how many have one of few
    different values (`follow_from_moments`); the smallest other group with values is then hidden
    too, because its values would follow from those of all.

    `missing` are the published numbers of missing values, and `narrowed` are groups with other
    suppressed counts of these numbers. Together, mean, standard deviation and quartiles could
    disclose such a count of few records: groups of fewer than 6 `min_cell` are hidden, which
    depends on published numbers alone. If a number of missing values is suppressed, the mean of n
    multiples of a unit u would disclose n: it is rounded to a power of ten that is at least u / n
    for every possible n, so that each of them has such a mean; quartiles are values of records,
    unless a unit is too small to be seen; and mean and standard deviation of all are estimated from
    those of the groups, if all are shown.
    """
    known = np.isfinite(values)
    inside = [known & (labels == group) for group in range(n_groups)]
    filled = np.array([at.any() for at in inside])
    small = np.array([_is_small(values[at], disclosure) for at in inside])
    sizes = np.bincount(labels, minlength=n_groups)
    suppressed = missing < 0 if narrowed is None else (missing < 0) | narrowed
    small |= filled & suppressed & (sizes < _MANY_CELLS * disclosure.min_cell)
    unit = _unit(values[known])
    levels, whole_follows = levels_of(values[known], unit), False
    if levels is not None:
        table = np.zeros((n_groups, int(levels.max()) + 1), dtype=np.int64)
        np.add.at(table, (labels[known], levels), 1)
        total = table.sum(axis=0)
        small |= np.array([follow_from_moments(counts, total, disclosure) for counts in table])
        whole_follows = follow_from_moments(total, total, disclosure)
    hidden = small | disclosure.hides_size(sizes)
    if small.any() and not (hidden & ~small & filled).any():
        others = np.flatnonzero(~hidden & filled)
        if len(others):
            hidden[others[np.argmin(sizes[others])]] = True
    digits = _decimals(values[known])
    unsure, m = missing < 0, disclosure.min_cell
    fewest = np.select([missing >= 0, missing == SMALL], [sizes - missing, sizes - m + 1], m)
    entries: list[dict[str, Any] | None] = []
    for group, at in enumerate(inside):
        entry = None
        if not hidden[group]:
            n = int(fewest[group]) if unsure[group] else None
            entry = _entry(values[at], digits, unit=unit, fewest=n)
        entries.append(entry)
    n = int(fewest.sum()) if unsure.any() else None
    whole = _entry(values[known], digits, unit=unit, fewest=n)
    if whole is None or whole_follows or _is_small(values[known], disclosure):
        whole = None
    elif unsure.any() and not hidden.any():
        _, mean, sd = Moments.published(
            entries, disclosure.known(sizes.astype(np.float64), missing)
        ).joined()
        rounded = (round(value, digits + _MORE) for value in (mean, sd))
        whole |= {**dict(zip(("mean", "sd"), rounded, strict=True)), "estimated": True}
        whole["digits"] = digits
    return {"groups": entries, "all": whole, "hidden": hidden.tolist()}


def code_statistics(
    n_codes: Int64s,
    labels: Ints,
    sizes: Int64s,
    means: Floats,
    overall: float,
    n_suppressed: Int64s,
    disclosure: Disclosure,
) -> dict[str, Any]:
    """Return the same statistics of the number of codes per record, in groups of published sizes.

    The `means` and the `overall` mean are those of published counts: the exact mean would disclose
    the sum of the suppressed counts of codes. A group is hidden if few records differ from the most
    common number, or if few codes have suppressed counts, `n_suppressed`, which could follow from
    the others; so are the values of all, from which its own would follow.
    """
    values = n_codes.astype(np.float64)
    few = np.array([_is_small(values[labels == group], disclosure) for group in range(len(sizes))])
    few |= disclosure.is_small(n_suppressed)
    entries: list[dict[str, Any] | None] = []
    for group, size in enumerate(sizes):
        shown = size > 0 and not few[group]
        found = _entry(values[labels == group], 1, more=0) if shown else None
        entries.append(found and {**found, "mean": round(float(means[group]), 3)})
    whole = None if few.any() else _entry(values, 1, more=0)
    return {
        "groups": entries,
        "all": whole and {**whole, "mean": round(overall, 3)},
        "hidden": ((sizes < 0) | few).tolist(),
    }


def _is_small(values: Floats, disclosure: Disclosure) -> bool:
    if not len(values):
        return False
    _, counts = np.unique(values, return_counts=True)
    return bool(disclosure.is_small(np.array([len(values), len(values) - counts.max()])).any())


def _entry(
    values: Floats,
    digits: int,
    *,
    more: int = _MORE,
    unit: float = 0.0,
    fewest: int | None = None,
) -> dict[str, Any] | None:
    """Describe values; if their number is confidential, it is at least `fewest`."""
    if not len(values):
        return None
    visible = fewest is not None and unit > 1.01 * 10.0**-digits
    method: Literal["inverted_cdf", "linear"] = "inverted_cdf" if visible else "linear"
    quartiles = np.quantile(values, [0.25, 0.5, 0.75], method=method).tolist()
    sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    decimals = digits + more
    if fewest is not None and unit > 0:
        # One step is as large as those of the sum of values, and of the sum of their squares.
        step = unit / fewest * max(1.0, unit / sd if sd > 0 else 1.0)
        decimals = min(decimals, int(np.floor(1e-12 - np.log10(step))))
    low, median, high = (round(value, digits) for value in quartiles)
    return {
        "mean": round(float(values.mean()), decimals),
        "sd": round(sd, decimals),
        "low": low,
        "median": median,
        "high": high,
        "digits": max(0, min(digits, decimals)),
        "estimated": False,
    }


def _unit(values: Floats) -> float:
    """Return the largest number of which all differences are multiples; 0 if below 1e-6."""
    for decimals in range(7):
        scaled = values * 10.0**decimals
        whole = np.rint(scaled)
        if len(values) and np.abs(whole).max() < _EXACT and np.abs(scaled - whole).max() < _EQUAL:
            steps = np.diff(np.unique(whole)).astype(np.int64)
            return float(np.gcd.reduce(steps)) / 10.0**decimals if len(steps) else 0.0
    return 0.0


def _decimals(values: Floats) -> int:
    """Return the decimals that show three significant digits of the standard deviation."""
    sd = float(values.std()) if len(values) else 0.0
    return int(np.clip(2 - np.floor(np.log10(sd)), 0, 9)) if sd > 0 else 2
