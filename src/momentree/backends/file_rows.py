"""Rows mapped from files, which also keep their row arrays in files."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from momentree._types import Floats
from momentree.backends.answers import kept_answer
from momentree.backends.base import Kernel, RowArray, Rows
from momentree.backends.rows import RowBlocks
from momentree.core.pages import digest, each_part


class FileRows(Rows):
    """Rows of a CSR matrix whose arrays are mapped from files.

    Results of :meth:`map` are mapped from temporary files, and an algorithm computes with them only
    through these rows. So the memory of a fit is the same for any number of rows.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_rows, n_columns), or RowBlocks
        The rows.
    """

    def __init__(self, X: Any) -> None:
        self.blocks = X if isinstance(X, RowBlocks) else RowBlocks(X)
        self.shape = self.blocks.shape

    @property
    def local(self) -> RowBlocks:
        """The same rows, whose results stay in memory."""
        return self.blocks

    @property
    def nnz(self) -> int:
        """Number of stored values."""
        return self.blocks.nnz

    @property
    def whole(self) -> bool:
        """Whether all stored values are whole numbers."""
        return self.blocks.whole

    def sum(self, kernel: Kernel, *arrays: RowArray) -> Floats:
        """Return the sum of a kernel over all blocks; see :meth:`Rows.sum`.

        Within :func:`answers_kept`, it is kept in a file.
        """
        asked = self._named(arrays)
        return kept_answer(kernel, self.shape, asked, lambda: self.blocks.sum(kernel, *arrays))

    def map(self, kernel: Kernel, *arrays: RowArray) -> RowArray:
        """Return the values of a kernel for all rows, in a file; see :meth:`Rows.map`."""
        return self.blocks.map(kernel, *arrays)

    def map_and_sum(
        self, mapping: Kernel, kernel: Kernel, *arrays: RowArray
    ) -> tuple[RowArray, Floats]:
        """Return the values of a kernel, and the sum of another; see :meth:`Rows.map_and_sum`."""
        values: list[RowArray] = []

        def ask() -> Floats:
            mapped, total = self.blocks.map_and_sum(mapping, kernel, *arrays)
            values.append(mapped)
            return total

        total = kept_answer((mapping, kernel), self.shape, self._named(arrays), ask)
        return (values[0] if values else self.map(mapping, *arrays)), total

    @cached_property
    def _digest(self) -> bytes:
        return digest(*self.blocks.content)

    def _named(self, arrays: tuple[RowArray, ...]) -> Callable[[], bytes]:
        """Return a function that returns a digest of the rows and of row arrays."""
        return lambda: self._digest + digest(*map(np.asarray, arrays))

    def each(self, function: Callable[..., Any], *arrays: RowArray) -> RowArray:
        """Return a function of row arrays, in a file; see :meth:`Rows.each`."""
        return each_part(function, *arrays)

    def placed(self, values: RowArray) -> RowArray:
        """Return the array itself."""
        return np.asarray(values)

    def mapped(self, function: Callable[[Floats], Floats]) -> Rows:
        """Return the rows with a function applied to each stored value; see :meth:`Rows.mapped`."""
        if not self.blocks.has_table_of_values:
            return super().mapped(function)  # not a copy in memory
        return FileRows(self.blocks.mapped(function))

    def scaled(self, row_factor: RowArray) -> Rows:
        """Return the rows multiplied by factors, without a copy; see :meth:`Rows.scaled`."""
        out = FileRows(self.blocks.scaled(row_factor))
        if "row_sums" in self.__dict__:
            out.row_sums = self.each(np.multiply, row_factor, self.row_sums)
        return out

    def pieces(self) -> Iterator[Any]:
        """Yield the rows as one CSR array; see :meth:`Rows.pieces`."""
        yield self.blocks.matrix
