"""Sums over groups with a few more numbers, in one array that blocks add to in place."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends.block import Block


def with_room(B: Block, g: int, m: int, n_more: int) -> tuple[Floats, Floats, Floats]:
    """Return an array for sums over the rows of a block, and two parts of it to add to.

    Parameters
    ----------
    B : Block
        Its running total is continued if it has one.
    g, m : int
        Numbers of groups and of columns.
    n_more : int
        How many more numbers there are.

    Returns
    -------
    tuple of three ndarrays
        The array to be returned by the kernel, its part of shape (g, d, m) for ``own_tdot``, and
        one of shape (n_more,).
    """
    whole = B.total
    if whole is None:
        whole = B.scratch.zeros((g * B.shape[1] * m + n_more,))
    return whole, *parted(whole, g, m, n_more)


def parted(total: Floats, g: int, m: int, n_more: int) -> tuple[Floats, Floats]:
    """Return the two parts of a sum of such arrays.

    Parameters
    ----------
    total : ndarray
        The sum over all blocks.
    g, m, n_more : int
        As in :func:`with_room`.

    Returns
    -------
    tuple of two ndarrays
        Sums of shape (g, d, m), or (g, 0, 0) without columns, and the other numbers.
    """
    end = len(total) - n_more
    return total[:end].reshape(g, end // (g * m) if m else 0, m), total[end:]


def group_totals(own: Ints, values: Floats, n_groups: int) -> Floats:
    """Return the sum of the values of each group.

    Parameters
    ----------
    own : ndarray of int of shape (n,)
        Group of each value; -1 for none.
    values : ndarray of shape (n,)
        The values.
    n_groups : int
        Number of groups.

    Returns
    -------
    ndarray of shape (n_groups,)
        The sums.
    """
    # Values without a group are counted in front.
    return np.bincount(own + 1, values, minlength=n_groups + 1)[1:].astype(np.float64, copy=False)
