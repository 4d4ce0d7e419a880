"""Kernels that every algorithm needs: products with rows, sums of row arrays, sums of groups."""

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends.block import Block
from momentree.backends.kernels import kernel
from momentree.core.ties import largest

MAX_LISTED = (1 << 16) - 1
"""Largest whole number for a table of values."""


@kernel
def product(B: Block, *, V: Floats) -> Floats:
    """Return B V, for V of shape (d,) or (d, m)."""
    return B.dot(V)


@kernel
def transposed_product(B: Block, Z: Floats) -> Floats:
    """Return B^T Z, for a row array Z of shape (n,) or (n, m)."""
    return B.tdot(Z, out=B.total)


@kernel
def stored_values(B: Block) -> Floats:
    """Count the stored values, those not whole and from 0 to 65,535, and those not whole."""
    data = B.csr[0]
    fraction = data != np.floor(data)
    unlisted = fraction | ~((data >= 0) & (data <= MAX_LISTED))
    numbers = len(data), np.count_nonzero(unlisted), np.count_nonzero(fraction)
    return np.array(numbers, dtype=np.float64)


@kernel
def given(_: Block, values: Floats) -> Floats:
    """Return a row array itself: `map` moves it to where the rows are."""
    return values


@kernel
def total(_: Block, values: Floats) -> Floats:
    """Return the sum of a row array over its rows, an array without the first axis."""
    return np.array(values.sum(axis=0), dtype=np.float64)


@kernel
def largest_column(_: Block, values: Floats) -> Ints:
    """Return the column of the largest entry of each row of a row array, shape (n,)."""
    return np.asarray(largest(values))


@kernel
def renumbered(_: Block, labels: Ints, *, to: Ints) -> Ints:
    """Return new numbers of groups, shape (n,): group i becomes `to[i]`."""
    return np.asarray(to[labels])


@kernel
def dot(_: Block, first: Floats, second: Floats) -> Floats:
    """Return the sum of the products of two row arrays."""
    return np.array(first @ second, dtype=np.float64)


@kernel
def group_sums(B: Block, weight: Floats, labels: Ints, *, n_groups: int) -> Floats:
    """Return the weighted column sums of groups of rows, (n_groups, d, 1), and their weights."""
    out, sums, sizes = with_room(B, n_groups, 1, n_groups)
    B.own_tdot(weight[:, None], labels, n_groups, out=sums)
    sizes += group_totals(labels, weight, n_groups)
    return out


@kernel
def group_sizes(_: Block, labels: Ints, weight: Floats, *, n_groups: int) -> Floats:
    """Return the total weight of each group of rows, shape (n_groups,)."""
    return group_totals(labels, weight, n_groups)


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
    whole = np.zeros(g * B.shape[1] * m + n_more) if B.total is None else B.total
    return whole, *parted(whole, g, m, n_more)


def parted(whole: Floats, g: int, m: int, n_more: int) -> tuple[Floats, Floats]:
    """Return the two parts of a sum of such arrays.

    Parameters
    ----------
    whole : ndarray
        The sum over all blocks.
    g, m, n_more : int
        As in :func:`with_room`.

    Returns
    -------
    tuple of two ndarrays
        Sums of shape (g, d, m), or (g, 0, 0) without columns, and the other numbers.
    """
    end = len(whole) - n_more
    return whole[:end].reshape(g, end // (g * m) if m else 0, m), whole[end:]
