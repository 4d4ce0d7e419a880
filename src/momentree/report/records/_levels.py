"""Counts of equal numbers that follow from mean and standard deviation."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from momentree._types import Floats, Int64s
from momentree.report.disclosure import Disclosure

MAX_LEVELS = 60
"""Numbers with a wider range, in units, have too many solutions to search for a second one."""
_MOST, _NODES = 50, 3000
"""Largest change of a number that is looked for, and parts of the search: after these, the numbers
count as determined."""
_TAIL = 0.05
"""Lowest quantile that is published, if it has `min_cell` records below it."""


def levels_of(values: Floats, unit: float) -> Int64s | None:
    """Return the values in units above the smallest; None without a unit or if the range is wide.

    `unit` is the largest number of which all differences are multiples, or 0.
    """
    if not len(values) or unit <= 0 or np.ptp(values) >= MAX_LEVELS * unit:
        return None
    return np.asarray(np.rint((values - values.min()) / unit), dtype=np.int64)


def follow_from_moments(counts: Int64s, whole: Int64s, disclosure: Disclosure) -> bool:
    """Return whether a small number of equal values in a group follows from what is published.

    That is the number n of values, their sum and that of their squares (by mean and standard
    deviation), and their quantiles. For each level with a small number, an integer program looks
    for other numbers of the levels with the same sums and quantiles.

    Parameters
    ----------
    counts, whole : ndarray of int of shape (n_levels,)
        Number of values at each level, ascending, in the group and in all records.
    disclosure : Disclosure
        What is a small number.
    """
    open_levels = set(np.flatnonzero(disclosure.is_small(counts)).tolist())
    powers = np.vander(np.arange(len(counts)), 3).T
    (low, high), (at_least, at_most) = (_room(one, disclosure) for one in (counts, whole))
    sums = LinearConstraint(powers, 0, 0)
    quantiles = LinearConstraint(
        np.tri(len(counts)), np.maximum(low, at_least), np.minimum(high, at_most)
    )
    while open_levels:
        level, changed = min(open_levels), np.zeros(len(counts), dtype=bool)
        for sign in (1, -1):
            least, most = np.maximum(-counts, -_MOST), np.full(len(counts), _MOST)
            (least if sign > 0 else most)[level] = sign
            if (least > most).any():
                continue
            wished = np.array([sign * (j in open_levels) for j in range(len(counts))])
            found = milp(
                -wished,
                integrality=np.ones(len(counts), dtype=np.int64),
                bounds=Bounds(least, most),
                constraints=[sums, quantiles],
                options={"node_limit": _NODES},
            )
            if found.x is not None:
                changed = np.rint(found.x) != 0
                break
        if not changed.any():
            return True
        open_levels -= set(np.flatnonzero(changed).tolist())
    return False


def _room(counts: Int64s, disclosure: Disclosure) -> tuple[Floats, Floats]:
    """Return how far the number of values up to each level may change without other quantiles."""
    below, n = np.cumsum(counts), int(counts.sum())
    tail = max(_TAIL, disclosure.min_cell / n)
    at = np.array([tail, 0.25, 0.5, 0.75, 1.0 - tail]) * (n - 1)
    low, high = np.full(len(counts), -np.inf), np.full(len(counts), np.inf)
    for rank in np.concatenate([np.floor(at), np.ceil(at)]):
        level = int(np.searchsorted(below, rank, side="right"))
        low[level] = max(low[level], rank + 1 - below[level])
        if level:
            high[level - 1] = min(high[level - 1], rank - below[level - 1])
    return low, high
