"""Best rotation of two components, in closed form (H Theorem 3.3)."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats
from momentree.core.ties import fixed_vectors

ROUNDING = 1e-14
"""Eigenvalues below this, relative to the squared norm of the slices, are rounding error."""


def two_component_rotation(H: Floats) -> tuple[Floats, float]:
    """Return the rotation that minimizes H eq. 5 for 2 x 2 slices, and the minimum.

    H Theorem 3.3 scans the rotations O_a for a in [-1, 1]. The minimum has a closed form: with
    f = H[:, 0, 0] - H[:, 1, 1] and h = H[:, 0, 1], a rotation by t gives the off-diagonal

        h cos 2t - (f / 2) sin 2t,

    whose norm is smallest when (cos 2t, sin 2t) is the eigenvector of the smaller eigenvalue of
    the Gram matrix of the columns (h, -f / 2).
    """
    basis = np.stack([H[:, 0, 1], -0.5 * (H[:, 0, 0] - H[:, 1, 1])], axis=1)
    values, vectors = np.linalg.eigh(basis.T @ basis)
    vectors = fixed_vectors(np.maximum(values, ROUNDING * np.square(H).sum()), vectors)
    cos2, sin2 = vectors[:, 0]
    t = 0.5 * np.arctan2(sin2, cos2)
    rotation = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
    return rotation, 2.0 * float(np.linalg.norm(basis @ vectors[:, 0]))
