"""Kernels that every algorithm needs: products with rows, sums of row arrays, sums of groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends.block import Block
from momentree.backends.room import group_totals
from momentree.core.ties import largest

LISTED = (1 << 16) - 1
"""Largest whole number for a table of values."""


@dataclass(frozen=True, eq=False)
class Product:
    """B V, for V of shape (d,) or (d, m)."""

    V: Floats

    def __call__(self, B: Block) -> Floats:
        """Return the product."""
        return B.dot(self.V)


@dataclass(frozen=True)
class TransposedProduct:
    """B^T Z, for a row array Z of shape (n,) or (n, m)."""

    def __call__(self, B: Block, Z: Floats) -> Floats:
        """Return the product."""
        return B.tdot(Z, out=B.total)


@dataclass(frozen=True)
class Ones:
    """The number one for each row."""

    def __call__(self, B: Block) -> Floats:
        """Return ones for the rows of the block."""
        return np.ones(B.shape[0])


@dataclass(frozen=True)
class Stored:
    """How many values are stored, are no whole numbers from 0 to 65,535, and are not whole."""

    def __call__(self, B: Block) -> Floats:
        """Return the numbers in a block."""
        data = B.csr[0]
        fraction = data != np.floor(data)
        unlisted = fraction | ~((data >= 0) & (data <= LISTED))
        numbers = len(data), np.count_nonzero(unlisted), np.count_nonzero(fraction)
        return np.array(numbers, dtype=np.float64)


@dataclass(frozen=True)
class Given:
    """A row array itself: `map` moves it to where the rows are."""

    def __call__(self, B: Block, values: Floats) -> Floats:  # noqa: ARG002
        """Return the entries of the rows of the block."""
        return values


@dataclass(frozen=True)
class Total:
    """The sum of a row array over its rows."""

    def __call__(self, B: Block, values: Floats) -> Floats:  # noqa: ARG002
        """Return the sum, an array without the first axis."""
        return np.array(values.sum(axis=0), dtype=np.float64)


@dataclass(frozen=True)
class LargestColumn:
    """The column of the largest entry of each row of a row array, shape (n,)."""

    def __call__(self, B: Block, values: Floats) -> Ints:  # noqa: ARG002
        """Return the columns for the rows of the block."""
        return np.asarray(largest(values))


@dataclass(frozen=True, eq=False)
class Renumbered:
    """New numbers of groups, shape (n,): group i becomes `to[i]`."""

    to: Ints

    def __call__(self, B: Block, labels: Ints) -> Ints:  # noqa: ARG002
        """Return the numbers for the rows of the block."""
        return np.asarray(self.to[labels])


@dataclass(frozen=True)
class Dot:
    """The sum of the products of two row arrays."""

    def __call__(self, B: Block, first: Floats, second: Floats) -> Floats:  # noqa: ARG002
        """Return the sum over the rows of the block."""
        return np.array(first @ second, dtype=np.float64)


@dataclass(frozen=True)
class GroupSums:
    """The weighted column sums of groups of rows, shape (n_groups, d, 1)."""

    n_groups: int

    def __call__(self, B: Block, labels: Ints, weight: Floats) -> Floats:
        """Return the sums of a block, given the group and the weight of each row."""
        return B.own_tdot(weight[:, None], labels, self.n_groups, out=B.total)


@dataclass(frozen=True)
class GroupSizes:
    """The total weight of each group of rows, shape (n_groups,)."""

    n_groups: int

    def __call__(self, B: Block, labels: Ints, weight: Floats) -> Floats:  # noqa: ARG002
        """Return the sizes in a block, given the group and the weight of each row."""
        return group_totals(labels, weight, self.n_groups)
