"""What all moments share: M1, M2 as an operator without a d x d array, M3 only whitened."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from momentree._types import Floats, Ints
from momentree._validation import check_map

COLUMNS_AT_ONCE = 16
"""Columns per pass over the data. Wider products are no faster per column, and each thread stores a
partial sum with this many columns and d rows."""


class BaseMoments(ABC):
    """Base class of :class:`momentree.objects.Moments`."""

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
        """Return H[r] = W M3[r] W^T (H eq. 3), shape (d, k, k), for W of shape (k, d)."""
        return self._slices(check_map(W, self._d))

    def whitened_tensor(self, W: ArrayLike) -> Floats:
        """Return T = M3(W, W, W), shape (k, k, k), for W of shape (k, d), without the d slices."""
        return self._tensor(check_map(W, self._d))

    def m3_dense(self) -> Floats:
        """Return M3 as an array of shape (d, d, d), for small d; memory O(d^3)."""
        return self._slices(np.eye(self._d))

    @abstractmethod
    def _slices(self, W: Floats) -> Floats: ...

    @abstractmethod
    def _tensor(self, W: Floats) -> Floats: ...


def chunks(n: int) -> Iterator[slice]:
    """Yield slices of n columns, one for each pass over the data."""
    for start in range(0, n, COLUMNS_AT_ONCE):
        yield slice(start, start + COLUMNS_AT_ONCE)


def pairs_of(k: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs a <= b of k directions, as many as fit in one pass over the data."""
    a, b = np.triu_indices(k)
    for at in chunks(len(a)):
        yield a[at], b[at]


def symmetric(d: int, times: Callable[[Floats], Floats]) -> LinearOperator:
    """Return a symmetric operator of shape (d, d), given its products with (d,) and (d, m)."""
    # SciPy also passes columns (d, 1) to matvec; `times` keeps either shape.
    return LinearOperator(
        shape=(d, d), dtype=np.float64, matvec=times, rmatvec=times, matmat=times, rmatmat=times
    )


def diagonal(values: Floats) -> LinearOperator:
    """Return diag(values) as an operator."""

    def times(V: Floats) -> Floats:
        return np.asarray(values * V if V.ndim == 1 else values[:, None] * V)

    return symmetric(len(values), times)


class PopulationMoments(BaseMoments):
    """Represent the moments sum_i w_i mu_i^(x)m, m = 1, 2, 3, in factored form.

    Parameters
    ----------
    weights : ndarray of shape (k,)
        w_i.
    centers : ndarray of shape (d, k)
        mu_i in columns.

    Notes
    -----
    A product with M2 costs O(d k), and the whitened slices O(d k l^2) for W with l rows.
    """

    def __init__(self, weights: Floats, centers: Floats) -> None:
        self._w, self._M = weights, centers

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return np.asarray(self._M @ self._w)

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (d, d)."""
        root = aslinearoperator(self._M * np.sqrt(self._w))
        return cast("LinearOperator", root @ root.T)

    def _slices(self, W: Floats) -> Floats:
        WM = W @ self._M
        slices = np.einsum("ri,i,ai,bi->rab", self._M, self._w, WM, WM, optimize=True)
        return np.asarray(slices)

    def _tensor(self, W: Floats) -> Floats:
        WM = W @ self._M
        return np.asarray(np.einsum("i,ai,bi,ci->abc", self._w, WM, WM, WM, optimize=True))
