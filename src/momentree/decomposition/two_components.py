"""The best rotation of two components, in closed form (H Theorem 3.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["two_component_rotation"]

Floats = NDArray[np.float64]


def two_component_rotation(H: Floats) -> tuple[Floats, float]:
    """Return the rotation of the plane that minimizes H eq. 5 for 2 x 2 slices.

    H Theorem 3.3 scans the rotations O_a for a in [-1, 1]. The minimum is also in closed form: with
    f = H[:, 0, 0] - H[:, 1, 1] and h = H[:, 0, 1], a rotation by t leaves the off-diagonal

        h cos 2t - (f / 2) sin 2t,

    whose norm is least when (cos 2t, sin 2t) is the eigenvector of the smaller eigenvalue of
    the Gram matrix of the columns (h, -f / 2).

    Parameters
    ----------
    H : ndarray of shape (d, 2, 2)
        Symmetric slices.

    Returns
    -------
    rotation : ndarray of shape (2, 2)
        O = [[cos t, -sin t], [sin t, cos t]]; the optimal slices are O^T H[r] O.
    objective : float
        2 (sum_r (O^T H[r] O)_01^2)^(1/2), the minimum of H eq. 5.
    """
    basis = np.stack([H[:, 0, 1], -0.5 * (H[:, 0, 0] - H[:, 1, 1])], axis=1)
    vectors = np.linalg.eigh(basis.T @ basis)[1]
    cos2, sin2 = vectors[:, 0]
    t = 0.5 * np.arctan2(sin2, cos2)
    rotation = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
    return rotation, 2.0 * float(np.linalg.norm(basis @ vectors[:, 0]))
