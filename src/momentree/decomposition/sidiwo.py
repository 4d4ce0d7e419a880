"""SIDIWO: simultaneous diagonalisation based on whitening and optimisation (H Algorithm 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.exceptions import InvalidParameterError
from momentree.objects import Decomposition, Moments, Whitening
from momentree.whitening import whiten

__all__ = ["sidiwo", "two_component_rotation"]

Floats = NDArray[np.float64]


def sidiwo(
    moments: Moments,
    n_components: int = 2,
    *,
    random_state: int | np.random.RandomState | None = None,  # noqa: ARG001
    whitening: Whitening | None = None,
) -> Decomposition:
    """Recover two components by SIDIWO, exactly and without a grid.

    Over rotations O of the whitened space, with D = O^T W, minimise (H eq. 5)

        sum_{i != j} ( sum_r (D M3[r] D^T)_ij^2 )^(1/2),

    then solve M Omega^(1/2) = E O and M omega = M1 for (M, omega).

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_slices``).
    n_components : {1, 2}, default=2
        Number of components.
    random_state : int, RandomState or None, default=None
        Not used: SIDIWO is deterministic. Here because all decompositions share one signature.
    whitening : Whitening, default=None
        A whitening of these moments, when there is one already.

    Returns
    -------
    Decomposition
        Weights descending. Fewer components come back, with the reason in ``diagnostics``, when
        M2 shows fewer. Diagnostics: "eigenvalues" of M2, "objective" (the value of H eq. 5 at
        the optimum), "off_diagonal_share" (objective relative to the size of the slices; 0 when
        they are jointly diagonalisable), "reason".

    Raises
    ------
    InvalidParameterError
        If `n_components` is neither 1 nor 2.

    Notes
    -----
    Algorithm 1 of [1]. Theorem 3.3 of [1] scans a grid of angles; here the minimum is in closed
    form, because the off-diagonal entry of a rotated symmetric 2 x 2 matrix is linear in
    (cos 2t, sin 2t): see :func:`two_component_rotation`. Time: one whitening and one pass over
    the data; then O(d).

    References
    ----------
    .. [1] M. Ruffini, G. Rabusseau, B. Balle. Hierarchical methods of moments. NIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition import sidiwo
    >>> from momentree.moments import SingleTopicMoments
    >>> topics = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    >>> found = sidiwo(SingleTopicMoments.from_parameters([0.6, 0.4], topics), 2)
    >>> found.weights.round(6)
    array([0.6, 0.4])
    >>> found.centers.T.round(6)
    array([[0.7, 0.2, 0.1],
           [0.1, 0.1, 0.8]])
    """
    if n_components not in (1, 2):
        msg = f"n_components={n_components}; sidiwo recovers 1 or 2 components"
        raise InvalidParameterError(msg)
    white = whiten(moments, n_components) if whitening is None else whitening
    k = white.rank
    diagnostics: dict[str, Any] = {"eigenvalues": white.eigenvalues, "reason": white.reason}
    rotation = np.eye(k)
    if k == 2:
        H = moments.whitened_slices(white.W)
        rotation, objective = two_component_rotation(H)
        diagnostics["objective"] = objective
        diagnostics["off_diagonal_share"] = objective / max(float(np.linalg.norm(H)), 1e-300)
    EO = white.E @ rotation
    s = rotation.T @ (white.W @ moments.m1)
    EO, s = EO * np.where(s < 0, -1.0, 1.0), np.abs(s)
    keep = s > 1e-8 * max(float(np.abs(s).max(initial=0.0)), 1e-300)
    if not keep.all():
        diagnostics["reason"] = "a component has no share of M1"
    order = [i for i in np.argsort(-s, kind="stable") if keep[i]]
    centers = EO[:, order] / s[order]
    return Decomposition(centers, s[order] ** 2, diagnostics)


def two_component_rotation(H: Floats) -> tuple[Floats, float]:
    """Return the rotation of the plane that makes 2 x 2 slices jointly as diagonal as can be.

    With f = H[:, 0, 0] - H[:, 1, 1] and h = H[:, 0, 1], rotating by t leaves the off-diagonal

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
