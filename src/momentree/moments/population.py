"""S eq. 2: the exact moments of a known model, as sums over its components."""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from momentree._types import Floats
from momentree.moments._base import BaseMoments


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
