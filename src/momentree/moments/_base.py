"""The interface of all moments: M1, M2 as an operator, and M3 after whitening only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from momentree._validation import check_map

__all__ = ["BaseMoments", "chunks", "pairs_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

COLUMNS_AT_ONCE = 16
"""Columns per pass over the data. Wider products are no faster per column, and each thread holds a
partial sum of this many columns and d rows."""


class BaseMoments(ABC):
    """Moments M1, M2, M3 of which no d x d x d array is formed.

    Subclasses implement :attr:`m1`, :attr:`m2`, ``_slices`` and ``_tensor``. All of them estimate
    M1 = sum_i w_i mu_i, M2 = sum_i w_i mu_i mu_i^T and M3 = sum_i w_i mu_i (x) mu_i (x) mu_i for
    weights w_i and centers mu_i of a model (S eq. 2, H eq. 1 and 2).
    """

    @property
    @abstractmethod
    def m1(self) -> Floats:
        """M1, shape (d,)."""

    @property
    @abstractmethod
    def m2(self) -> LinearOperator:
        """M2 as a symmetric operator of shape (d, d)."""

    @property
    def _d(self) -> int:
        return len(self.m1)

    def whitened_slices(self, W: ArrayLike) -> Floats:
        """Return H[r] = W M3[r] W^T, the slices of M3 whitened in two modes (H eq. 3).

        Parameters
        ----------
        W : array-like of shape (k, d)
            Whitening matrix.

        Returns
        -------
        ndarray of shape (d, k, k)
            Symmetric in its last two axes.

        Raises
        ------
        InvalidDataError
            If W does not have one column per feature.
        """
        return self._slices(check_map(W, self._d))

    def whitened_tensor(self, W: ArrayLike) -> Floats:
        """Return T = M3(W, W, W), M3 whitened in all three modes, without its d slices.

        Parameters
        ----------
        W : array-like of shape (k, d)
            Whitening matrix.

        Returns
        -------
        ndarray of shape (k, k, k)
            Symmetric.

        Raises
        ------
        InvalidDataError
            If W does not have one column per feature.
        """
        return self._tensor(check_map(W, self._d))

    def m3_dense(self) -> Floats:
        """Return M3 as an array of shape (d, d, d), for small d; memory O(d^3)."""
        return self._slices(np.eye(self._d))

    @abstractmethod
    def _slices(self, W: Floats) -> Floats: ...

    @abstractmethod
    def _tensor(self, W: Floats) -> Floats: ...


def chunks(n: int) -> Iterator[slice]:
    """Yield slices of n columns for one pass over the data each."""
    for start in range(0, n, COLUMNS_AT_ONCE):
        yield slice(start, start + COLUMNS_AT_ONCE)


def pairs_of(k: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield the pairs a <= b of k directions, as many as fit in one pass over the data."""
    a, b = np.triu_indices(k)
    for at in chunks(len(a)):
        yield a[at], b[at]
