"""Moments of rows whose columns are scaled, without a copy of the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from momentree._validation import check_map
from momentree.objects import Moments

__all__ = ["ScaledMoments"]

Floats = NDArray[np.float64]


class ScaledMoments:
    """Moments of y = c * x, given those of x: every mode of M1, M2 and M3 is scaled by c.

    Parameters
    ----------
    moments : Moments
        Raw moments of x.
    scale : ndarray of shape (d,)
        c, one factor a feature; zero leaves a feature out.
    """

    def __init__(self, moments: Moments, scale: Floats) -> None:
        self._moments, self._scale = moments, scale

    @property
    def m1(self) -> Floats:
        """c * M1, shape (d,)."""
        return np.asarray(self._scale * self._moments.m1)

    @property
    def m2(self) -> LinearOperator:
        """diag(c) M2 diag(c) as an operator of shape (d, d)."""
        inner, d = self._moments.m2, len(self._scale)

        def times(V: Floats) -> Floats:
            c = self._scale if V.ndim == 1 else self._scale[:, None]
            return np.asarray(c * (inner @ (c * V)))

        return LinearOperator(
            shape=(d, d), dtype=np.float64, matvec=times, rmatvec=times, matmat=times, rmatmat=times
        )

    def whitened_slices(self, W: ArrayLike) -> Floats:
        """Return the slices of M3 whitened in two modes, shape (d, k, k)."""
        W = check_map(W, len(self._scale))
        H = self._moments.whitened_slices(W * self._scale)
        return np.asarray(self._scale[:, None, None] * H)

    def whitened_tensor(self, W: ArrayLike) -> Floats:
        """Return M3 whitened in all three modes, shape (k, k, k)."""
        W = check_map(W, len(self._scale))
        return self._moments.whitened_tensor(W * self._scale)
