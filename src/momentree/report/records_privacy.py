"""Which counts of records a page may show: small ones are hidden, and so is what gives them away.

A page carries counts of groups only, never of the groups above them, and all that it shows is
computed from these. So the one equation a reader can use against it is, for each code, that the
groups add up to the whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError

__all__ = [
    "HIDDEN",
    "SMALL",
    "Published",
    "estimated",
    "hide_parts",
    "hide_sizes",
    "hide_small",
    "hide_yes",
]

SMALL = -1
"""Stands for a count from 1 to min_cell - 1."""
HIDDEN = -2
"""Stands for a count that would give a small one away."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Published:
    """Counts that may be shown.

    Attributes
    ----------
    counts : ndarray of int of shape (k, c)
        Records of each group, or `SMALL` or `HIDDEN`.
    totals : ndarray of int of shape (c,)
        Records of all groups together, or `SMALL` or `HIDDEN`.
    """

    counts: Ints
    totals: Ints


def hide_small(counts: Ints, min_cell: int) -> Published:
    """Hide small counts of groups, and each total that tells more of one than that it is small.

    Parameters
    ----------
    counts : ndarray of int of shape (k, c)
        Records of each group with each of c properties, >= 0.
    min_cell : int >= 1
        The smallest count above zero that may be shown.

    Returns
    -------
    Published
        All counts of `min_cell` or more, and zeros, are as they are. A total is shown where no
        count below it is hidden, or where the h hidden ones have a sum H with

            h + m - 2 <= H <= 1 + (h - 1) (m - 1),   m = min_cell,

        as then each of them may still be any number from 1 to m - 1.

    Examples
    --------
    >>> hide_small(np.array([[7, 7, 2], [0, 3, 2], [9, 9, 3]]), 5)
    Published(counts=array([[ 7,  7, -1],
           [ 0, -1, -1],
           [ 9,  9, -1]]), totals=array([16, -2,  7]))
    """
    small = (counts > 0) & (counts < min_cell)
    h, total = small.sum(axis=0), counts.sum(axis=0)
    rest = np.where(small, counts, 0).sum(axis=0)
    free = (h == 0) | ((rest >= h + min_cell - 2) & (rest <= 1 + (h - 1) * (min_cell - 1)))
    few = (total > 0) & (total < min_cell)
    totals = np.where(few, SMALL, np.where(free, total, HIDDEN))
    return Published(np.where(small, SMALL, counts), totals)


def hide_parts(counts: Ints, min_cell: int) -> Published:
    """Hide small counts in a table whose rows add up to known sums, as classes of an outcome do.

    Parameters
    ----------
    counts : ndarray of int of shape (k, c)
        Records of each group in each of c classes that exclude one another and leave none out.
    min_cell : int >= 1
        The smallest count above zero that may be shown.

    Returns
    -------
    Published
        Where a row has small counts its smallest other one is hidden too, so that a small one
        cannot be found as the rest of its group. All of the row is hidden where its sum leaves it
        open whether it has another one. The total of a column with such a count is hidden.
    """
    shown = hide_small(counts, min_cell)
    table = shown.counts.copy()
    for row, values in zip(table, counts, strict=True):
        if not (row == SMALL).any():
            continue
        if values.sum() <= len(values) * (min_cell - 1):
            row[:] = HIDDEN
        else:
            large = np.flatnonzero(row >= min_cell)
            row[large[np.argmin(values[large])]] = HIDDEN
    masked = (table == HIDDEN).any(axis=0)
    return Published(table, np.where(masked & (shown.totals > 0), HIDDEN, shown.totals))


def hide_yes(counts: Ints, min_cell: int) -> Published:
    """Hide how many have yes where that, or what it leaves of the group, is small.

    Parameters
    ----------
    counts : ndarray of int of shape (k, 3)
        Records of each group with no, with yes, and in which it is not known.
    min_cell : int >= 1
        The smallest count above zero that may be shown.

    Returns
    -------
    Published
        Of yes and not known; no is never shown. Yes is hidden too where no is small, as 18 of 20
        tell of the other two; where a small number of unknown ones could be found from it; and,
        without a word which of the two is small, where so few are known that both may be. The
        number of unknown ones is hidden where few are known. A total is hidden where such a count
        is below it.

    Examples
    --------
    >>> hide_yes(np.array([[2, 18, 0], [30, 20, 0], [40, 3, 0]]), 5)
    Published(counts=array([[-2,  0],
           [20,  0],
           [-1,  0]]), totals=array([-2,  0]))
    """
    shown = hide_small(counts[:, 1:], min_cell)
    table = shown.counts.copy()
    small = (counts > 0) & (counts < min_cell)
    no, yes, unknown = counts.T
    known = no + yes
    both = small[:, :2].any(axis=1) & (known >= min_cell) & (known <= 2 * (min_cell - 1))
    told = small[:, 2] & (no + unknown < min_cell + 2)
    table[both | ((yes >= min_cell) & (small[:, 0] | told)), 0] = HIDDEN
    table[(known > 0) & (known < min_cell) & (unknown >= min_cell), 1] = HIDDEN
    few = small.any(axis=1) & (unknown > 0) & (counts.sum(axis=1) <= 3 * (min_cell - 1))
    table[few] = HIDDEN
    # Few have no in all, and all of them where no one has yes: the total would tell them.
    if 0 < no.sum() < min_cell and not (table[:, 0] == HIDDEN).any() and (yes >= min_cell).any():
        large = np.flatnonzero(yes >= min_cell)
        table[large[np.argmin(yes[large])], 0] = HIDDEN
    masked = (table == HIDDEN).any(axis=0)
    return Published(table, np.where(masked, HIDDEN, shown.totals))


def hide_sizes(sizes: Ints, min_cell: int) -> tuple[Ints, Floats]:
    """Hide small sizes of groups, and the smallest other one where there are any.

    Parameters
    ----------
    sizes : ndarray of int of shape (k,)
        Records of each group; their sum is known to everyone.
    min_cell : int >= 1
        The smallest size above zero that may be shown.

    Returns
    -------
    shown : ndarray of int of shape (k,)
        Sizes, or `SMALL` or `HIDDEN`.
    about : ndarray of shape (k,)
        What a reader may take them for; with the same sum.

    Raises
    ------
    InvalidDataError
        If there are small groups and no other, so that none can be hidden behind another.
    """
    small = (sizes > 0) & (sizes < min_cell)
    if not small.any():
        return sizes, sizes.astype(np.float64)
    large = np.flatnonzero(sizes >= min_cell)
    if not large.size:
        msg = (
            f"every group has fewer than min_cell={min_cell} records: nothing can be shown. "
            "Ask for fewer groups, or lower min_cell where small counts are not confidential."
        )
        raise InvalidDataError(msg)
    other = large[np.argmin(sizes[large])]
    shown = np.where(small, SMALL, sizes)
    shown[other] = HIDDEN
    about = np.where(small, min_cell / 2.0, sizes)
    about[other] += sizes.sum() - about.sum()
    return shown, about


def estimated(published: Published, min_cell: int) -> Floats:
    """Return the counts a reader may take published ones for.

    Parameters
    ----------
    published : Published
        From `hide_small`.
    min_cell : int >= 1
        As it was there.

    Returns
    -------
    ndarray of shape (k, c)
        A hidden count is an equal part of what is left of its total, or half of `min_cell` where
        the total is hidden too. Nothing but what is published enters.
    """
    small = published.counts < 0
    h = np.maximum(small.sum(axis=0), 1)
    seen = np.where(small, 0, published.counts)
    totals = published.totals
    left = np.where(
        totals >= 0,
        (totals - seen.sum(axis=0)) / h,
        np.where(totals == SMALL, min_cell / 2.0 / h, min_cell / 2.0),
    )
    return np.where(small, left, seen).astype(np.float64)
