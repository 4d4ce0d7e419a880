"""Kernels that every algorithm needs: products with rows, sums of row arrays, sums of groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends.block import Block


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
        return B.tdot(Z)


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
class GroupSums:
    """Weighted column sums of groups, and the weight of each group in the last row."""

    n_groups: int

    def __call__(self, B: Block, label: Ints, v: Floats) -> Floats:
        """Return an array of shape (d + 1, n_groups)."""
        members = (label[:, None] == np.arange(self.n_groups)) * v[:, None]
        return np.vstack([B.tdot(members), members.sum(axis=0)])
