"""Means, standard deviations and quartiles of numbers per group, without small counts.

From mean, standard deviation and quantiles, counts of equal numbers may follow: an integer program
finds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from momentree._types import Floats, Int64s, Ints
from momentree.report.disclosure import SMALL, Disclosure
from momentree.report.groups import Groups

_MORE = 2
"""Stored decimals that are not shown, so that differences of means are exact."""
_LARGE_CELLS = 6
"""Groups of this many times `min_cell` records count as large enough for means and quartiles."""
_EXACT, _EQUAL = 2**53, 1e-6
"""Whole numbers below the first are exact; the second tolerates rounding of other ones."""
MAX_LEVELS = 60
"""Numbers with a wider range, in units, have too many solutions to search for a second one."""
_MANY_LEVELS, _MANY_CELLS = 20, 4
"""So have more levels, if as many times `min_cell` values differ from the most common one."""
_MAX_CHANGE, _MAX_NODES = 50, 3000
"""Largest change of a number that is looked for, and parts of the search: after these, the numbers
count as determined."""
_TAIL, _NO_TAIL = 0.05, 0.2
"""Smallest and largest distance of the outer quantiles from 0 and 1."""


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
    small |= filled & suppressed & (sizes < _LARGE_CELLS * disclosure.min_cell)
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
    n_codes: Int64s, groups: Groups, means: Floats, overall: float, n_suppressed: Int64s
) -> dict[str, Any]:
    """Return the same statistics of the number of codes per record, in groups of published sizes.

    The `means` and the `overall` mean are those of published counts: the exact mean would disclose
    the sum of the suppressed counts of codes. A group is hidden if few records differ from the most
    common number, or if few codes have suppressed counts, `n_suppressed`, which could follow from
    the others; so are the values of all, from which its own would follow.
    """
    values = n_codes.astype(np.float64)
    inside = [values[groups.labels == group] for group in range(groups.k)]
    few = np.array([_is_small(numbers, groups.disclosure) for numbers in inside])
    few |= groups.disclosure.is_small(n_suppressed)

    def entry(numbers: Floats, mean: float, *, shown: bool) -> dict[str, Any] | None:
        described = _entry(numbers, 1, more=0) if shown else None
        return described and {**described, "mean": round(float(mean), 3)}

    shown = (groups.sizes > 0) & ~few
    return {
        "groups": [entry(inside[j], means[j], shown=bool(shown[j])) for j in range(groups.k)],
        "all": entry(values, overall, shown=not few.any()),
        "hidden": ((groups.sizes < 0) | few).tolist(),
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


def outer_quantiles(n: int, disclosure: Disclosure) -> list[float]:
    """Return the outer quantiles that are published of n values, or none if n is small.

    They are 5% and 95%, or further inside, so that at least `min_cell` values are beyond each.
    """
    tail = max(_TAIL, disclosure.min_cell / max(n, 1))
    return [tail, 1.0 - tail] if tail <= _NO_TAIL else []


def levels_of(values: Floats, unit: float) -> Int64s | None:
    """Return by how many units each value exceeds the smallest; None without a narrow range.

    `unit` is the largest number of which all differences are multiples, or 0.
    """
    if not len(values) or unit <= 0 or np.ptp(values) >= MAX_LEVELS * unit:
        return None
    return np.asarray(np.rint((values - values.min()) / unit), dtype=np.int64)


def follow_from_moments(counts: Int64s, whole: Int64s, disclosure: Disclosure) -> bool:
    """Return whether the published statistics of a group disclose a small count of equal values.

    Published are the number of values, their sum and the sum of their squares (by mean and standard
    deviation), and their quantiles, of the group and of all records. For each level with a small
    number, an integer program looks for other numbers of the levels, in this group and in the
    others together, that leave all of these unchanged. It ignores the quantiles of the others.

    Parameters
    ----------
    counts, whole : ndarray of int of shape (n_levels,)
        Number of values at each level, ascending, in the group and in all records.
    disclosure : Disclosure
        What is a small number.
    """
    n, both = len(counts), np.concatenate([counts, whole - counts])
    unsure = disclosure.is_small(counts)
    if not unsure.any():
        return False
    if n > _MANY_LEVELS and counts.sum() - counts.max() >= _MANY_CELLS * disclosure.min_cell:
        return False
    powers, up_to = np.vander(np.arange(n), 3).T, np.tri(n)
    same = [
        LinearConstraint(np.kron(np.eye(2), powers), 0, 0),
        LinearConstraint(np.hstack([up_to, np.zeros((n, n))]), *_room(counts, disclosure)),
        LinearConstraint(np.hstack([up_to, up_to]), *_room(whole, disclosure)),
    ]
    while unsure.any():
        level, changed = int(unsure.argmax()), np.zeros(n, dtype=bool)
        for sign in (1, -1):
            least, most = np.maximum(-both, -_MAX_CHANGE), np.full(2 * n, _MAX_CHANGE)
            (least if sign > 0 else most)[level] = sign
            found = milp(
                np.concatenate([-sign * unsure, np.zeros(n)]),
                integrality=np.ones(2 * n, dtype=np.int64),
                bounds=Bounds(least, most),
                constraints=same,
                options={"node_limit": _MAX_NODES},
            )
            if found.x is not None:
                changed = np.rint(found.x[:n]) != 0
                break
        if not changed.any():
            return True
        unsure &= ~changed
    return False


def _room(counts: Int64s, disclosure: Disclosure) -> tuple[Floats, Floats]:
    """Return how far the number of values up to each level may change without other quantiles."""
    below, n = np.cumsum(counts), int(counts.sum())
    at = np.array([0.25, 0.5, 0.75, *outer_quantiles(n, disclosure)]) * (n - 1)
    low, high = np.full(len(counts), -np.inf), np.full(len(counts), np.inf)
    for rank in np.concatenate([np.floor(at), np.ceil(at)]):
        level = int(np.searchsorted(below, rank, side="right"))
        low[level] = max(low[level], rank + 1 - below[level])
        if level:
            high[level - 1] = min(high[level - 1], rank - below[level - 1])
    return low, high
