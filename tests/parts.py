"""Tables that are known only by sums over them: on other machines, or at sites that keep them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree.backends import RowBlocks, Rows


class PartArray:
    """A row array that stays where the rows are; only ``numpy.asarray`` opens it."""

    def __init__(self, parts, *, kept):
        self.parts, self._kept = parts, kept

    def __array__(self, dtype: Any = None, copy: Any = None):
        if self._kept:
            raise PermissionError("a site does not give its rows away")
        values = np.concatenate(self.parts)
        return values if dtype is None else values.astype(dtype)


class Parts(Rows):
    """A table in parts: kernels travel as bytes, as they would to other machines.

    With `site`, results of ``map`` cannot be fetched. `sent` has the size of each kernel in bytes.
    """

    def __init__(self, X, n_parts=3, *, site=False, block_nnz=None):
        X = sp.csr_array(X)
        self.shape = X.shape
        self._site, self.gives_rows = site, not site
        self._ends = np.linspace(0, X.shape[0], n_parts + 1).astype(int)
        pieces = zip(self._ends[:-1], self._ends[1:], strict=True)
        self._parts = [RowBlocks(X[a:b], block_nnz) for a, b in pieces]
        self.sent: list[int] = []
        self.passes = 0

    def sum(self, kernel, *arrays):
        kernel = self._travelled(kernel)
        total, *rest = (
            part.sum(kernel, *own) for part, own in zip(self._parts, self._own(arrays), strict=True)
        )
        for values in rest:
            total += values
        return total

    def map(self, kernel, *arrays):
        kernel = self._travelled(kernel)
        parts = [
            part.map(kernel, *own) for part, own in zip(self._parts, self._own(arrays), strict=True)
        ]
        return PartArray(parts, kept=self._site)

    def pieces(self):
        if self._site:
            yield from super().pieces()
        yield from (part.matrix for part in self._parts)

    def _travelled(self, kernel):
        content = pickle.dumps(kernel)  # by name: kernels are classes of modules
        self.sent.append(len(content))
        self.passes += 1
        return pickle.loads(content)

    def _own(self, arrays):
        """The entries of each part."""
        each = [
            values.parts
            if isinstance(values, PartArray)
            else [values[a:b] for a, b in zip(self._ends[:-1], self._ends[1:], strict=True)]
            for values in arrays
        ]
        return [tuple(own[i] for own in each) for i in range(len(self._parts))]
