"""Eigenvectors of M2, from all of M2 or from its products with a subspace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momentree._types import Floats
from momentree.core.ties import fixed_vectors
from momentree.exceptions import InvalidDataError


@dataclass(frozen=True)
class RitzPairs:
    """Approximate eigenpairs of a symmetric matrix in a subspace, the largest first."""

    values: Floats
    vectors: Floats
    """Coordinates in the basis of the subspace, in columns."""
    residuals: Floats

    @classmethod
    def of(cls, Q: Floats, Y: Floats) -> RitzPairs:
        """Return the pairs, given an orthonormal basis and its products with the matrix."""
        S = Q.T @ Y
        values, V = np.linalg.eigh(0.5 * (S + S.T))
        values, V = values[::-1], V[:, ::-1]
        return cls(values, V, np.linalg.norm(Y @ V - (Q @ V) * values, axis=0))

    def residual(self, k: int) -> float:
        """Return the largest residual of the first k pairs, relative to the largest eigenvalue."""
        return float(self.residuals[:k].max() / max(float(np.abs(self.values).max()), 1e-300))


def largest_eigenvectors(M2: Floats, k: int) -> Floats:
    """Return orthonormal eigenvectors of at most k of the largest eigenvalues, those above zero."""
    values, U = np.linalg.eigh(M2)
    k = min(k, len(values), int(np.count_nonzero(values > 1e-12 * max(values[-1], 0.0))))
    if k < 1:
        raise InvalidDataError("no_component_in_state")
    return fixed_vectors(values[::-1], U[:, ::-1])[:, :k]
