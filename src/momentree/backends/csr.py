"""The stored values of a block of rows, read where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from momentree._types import Floats, Ints

PART = 1 << 14
"""Values are read from their table in parts that stay in the cache."""


class Csr:
    """Rows in CSR form as they are stored: slices of larger arrays, which are not copied.

    Parameters
    ----------
    stored, indices, pointers : ndarray
        Values, column numbers and row pointers. The first pointer may be any number p; the values
        of the first row begin at position 0 nevertheless.
    shape : tuple of int
        (n, d).
    values : ndarray or None
        ``values[x]`` is the value that a stored whole number x stands for; None is x itself.
    row_factor : ndarray of shape (n,) or None
        Factor of each row; None is 1.
    """

    def __init__(
        self,
        stored: Any,
        indices: Any,
        pointers: Any,
        shape: tuple[int, int],
        values: Floats | None,
        row_factor: Floats | None,
    ) -> None:
        self.stored, self.indices, self.pointers, self.shape = stored, indices, pointers, shape
        self.values, self.row_factor = values, row_factor
        # Not by `cached_property`: until Python 3.12 its lock lets one thread work at a time.
        self._indptr: Any = None
        self._data: Floats | None = None
        self._taken: tuple[Ints, Csr] | None = None

    @property
    def indptr(self) -> Any:
        """Row pointers from 0, of the type of the column numbers."""
        if self._indptr is None:
            pointers = self.pointers
            if len(pointers) and pointers[0]:
                pointers = pointers - pointers[0]
            self._indptr = pointers.astype(self.indices.dtype, copy=False)
        return self._indptr

    @property
    def data(self) -> Floats:
        """The values in double precision, without the factors of rows."""
        if self._data is None:
            if self.values is None:
                self._data = self.stored.astype(np.float64, copy=False)
            else:
                data = np.empty(len(self.stored))
                for start in range(0, len(data), PART):
                    part = slice(start, start + PART)
                    at = self.stored[part].astype(np.intp, copy=False)
                    # Numbers that the table does not list were refused: `raise` would check again.
                    self.values.take(at, mode="clip", out=data[part])
                self._data = data
        return self._data

    @property
    def scaled(self) -> Floats:
        """The values in double precision, with the factors of rows."""
        if self.row_factor is None:
            return self.data
        return self.data * np.repeat(self.row_factor, np.diff(self.pointers))

    def take(self, rows: Ints) -> Csr:
        """Return a copy of some rows, which is kept until others are asked for."""
        taken = self._taken  # read once: another thread may ask for other rows
        if taken is not None and np.array_equal(taken[0], rows):
            return taken[1]
        pointers = self.indptr
        ends = np.zeros(len(rows) + 1, dtype=pointers.dtype)
        np.cumsum(np.diff(pointers)[rows], out=ends[1:])
        stored = np.empty(ends[-1], self.stored.dtype)
        indices = np.empty(ends[-1], self.indices.dtype)
        numbers = rows.astype(pointers.dtype)
        _sparsetools.csr_row_index(
            len(rows), numbers, pointers, self.indices, self.stored, indices, stored
        )
        factor = None if self.row_factor is None else self.row_factor[rows]
        part = Csr(stored, indices, ends, (len(rows), self.shape[1]), self.values, factor)
        self._taken = rows, part
        return part
