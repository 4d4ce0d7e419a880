"""Assigners as kernels: the groups of the rows of one block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from momentree._types import Floats, Ints
from momentree.backends import Block, RowArray, Rows


class BlockAssigner(ABC):
    """Base class of assigners, which map each row to a group without regard to the others."""

    @abstractmethod
    def labels_kernel(self) -> Callable[[Block], Ints]:
        """Return a kernel that maps a block to the group of each row, shape (n,)."""

    @abstractmethod
    def proba_kernel(self) -> Callable[[Block], Floats]:
        """Return a kernel that maps a block to group probabilities, shape (n, n_groups)."""

    def labels(self, rows: Rows) -> RowArray:
        """Return the group of each sample, shape (n,)."""
        return rows.map(self.labels_kernel())

    def proba(self, rows: Rows) -> RowArray:
        """Return the probability of each group for each sample, shape (n, n_groups)."""
        return rows.map(self.proba_kernel())
