"""Symmetric linear operators, which represent M2 without a d x d array."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats


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
