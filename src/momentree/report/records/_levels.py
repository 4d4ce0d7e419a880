"""Find counts of equal numbers that mean and standard deviation would disclose."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from momentree._types import Floats, Int64s
from momentree.report.disclosure import Disclosure

MAX_LEVELS = 60
"""Numbers with a wider range, in units, have too many solutions to search for a second one."""
_MANY_LEVELS, _MANY_CELLS = 20, 4
"""So have more levels, if as many times `min_cell` values differ from the most common one."""
_MOST, _NODES = 50, 3000
"""Largest change of a number that is looked for, and parts of the search: after these, the numbers
count as determined."""
_TAIL, _NO_TAIL = 0.05, 0.2
"""Smallest and largest distance of the outer quantiles from 0 and 1."""


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
            least, most = np.maximum(-both, -_MOST), np.full(2 * n, _MOST)
            (least if sign > 0 else most)[level] = sign
            found = milp(
                np.concatenate([-sign * unsure, np.zeros(n)]),
                integrality=np.ones(2 * n, dtype=np.int64),
                bounds=Bounds(least, most),
                constraints=same,
                options={"node_limit": _NODES},
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
