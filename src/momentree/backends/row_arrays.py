"""Arrays that belong to rows in memory: their entries in blocks, values of kernels, and factors."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import check_shape
from momentree.backends.base import RowArray
from momentree.core.pages import room
from momentree.exceptions import InvalidDataError


class Collected:
    """The values of a kernel for all rows, in an array whose type that of the first block sets."""

    def __init__(self, n: int, *, in_files: bool) -> None:
        self._n, self._new, self._held = n, room if in_files else np.empty, Lock()
        self.all: Any = None

    def put(self, at: slice, values: Any) -> Any:
        """Store the values of a block, and return the slice of the array in which they are now."""
        with self._held:
            if self.all is None:
                self.all = self._new((self._n, *values.shape[1:]), values.dtype)
        self.all[at] = values
        return self.all[at]


def entries_of(values: RowArray, at: slice) -> RowArray:
    """Return the entries of a block; of one number for all rows, a copy that kernels can use."""
    part = values[at]
    return part if getattr(part, "strides", (1,))[0] else np.array(part)


def table_of(X: Any, values: ArrayLike | None) -> Floats | None:
    """Return the table of values, after checking that it lists all stored numbers."""
    if values is None:
        return None
    table = np.ascontiguousarray(values, dtype=np.float64)
    check_shape("values", table, ("n_values",))
    data = X.data
    if not len(data):
        return table
    low, high = data.min(), data.max()
    whole = data.dtype.kind in "iu" or not (data % 1).any()
    if not (whole and low >= 0 and high < len(table) and table[0] == 0):
        raise InvalidDataError(
            "values_not_listed", low=float(low), high=float(high), most=len(table) - 1
        )
    return table


def factors_of(X: Any, row_factor: ArrayLike | None) -> Floats | None:
    """Return the factors of rows, after checking that there is one for each row."""
    if row_factor is None:
        return None
    factor = np.ascontiguousarray(row_factor, dtype=np.float64)
    check_shape("row_factor", factor, (X.shape[0],))
    return factor
