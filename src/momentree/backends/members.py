"""The rows of a block by group."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from momentree._types import Ints
from momentree._validation import check_shape
from momentree.exceptions import InvalidDataError

FEW = 1 << 15
"""With fewer groups, NumPy can use a radix sort, which is faster."""


class Members:
    """The rows of a block by group: products with them read the matrix of one group at a time.

    Parameters
    ----------
    own : ndarray of int of shape (n,)
        Group of each row, from 0; -1 for none.
    n, g : int
        Numbers of rows and of groups.

    Attributes
    ----------
    own : ndarray of intp of shape (n,)
        The same.
    complete : bool
        Whether all rows have a group.

    Raises
    ------
    InvalidDataError
        If the shape is another, or a group has no such number: compiled code does not check.
    """

    def __init__(self, own: Ints, n: int, g: int) -> None:
        own = np.ascontiguousarray(own, dtype=np.intp)
        check_shape("the groups", own, (n,))
        low, high = (int(own.min()), int(own.max())) if n else (-1, -1)
        if not -1 <= low <= high < g:
            raise InvalidDataError("no_such_row_groups", first=low, last=high, most=g - 1)
        self.own, self.complete = own, low >= 0
        self._radix = g < FEW

    @property
    def order(self) -> Ints:
        """The rows that have a group, group by group, shape (m,)."""
        own = self.own.astype(np.int16) if self._radix else self.own
        order = np.argsort(own, kind="stable")
        return order if self.complete else order[np.count_nonzero(own < 0) :]

    def by_group(self) -> Iterator[tuple[int, Ints]]:
        """Yield the groups that have rows, with their rows."""
        order = self.order
        for at in np.split(order, np.flatnonzero(np.diff(self.own[order])) + 1):
            if len(at):
                yield int(self.own[at[0]]), at
