"""SIDIWO: simultaneous diagonalisation based on whitening and optimisation (H Algorithm 1)."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from momentree.decomposition._joint_rotation import compressed, descend, jacobi, objective
from momentree.decomposition._result import (
    TINY,
    check_option,
    from_directions,
    from_slices,
    prepared,
    whitened_tensor,
)
from momentree.exceptions import InvalidParameterError
from momentree.objects import Decomposition, Moments, Whitening

__all__ = ["common_rotation", "discriminators", "sidiwo", "two_component_rotation"]

Floats = NDArray[np.float64]
Centers = Literal["diagonal", "rotation"]

MANY_COMPONENTS = 21
"""From here on the tensor of the span takes the place of d slices of k x k: these cost k^5 a sweep,
and on samples of known models the answers err the same to the second digit."""


def sidiwo(
    moments: Moments,
    n_components: int = 2,
    *,
    random_state: int | np.random.RandomState | None = None,  # noqa: ARG001
    whitening: Whitening | None = None,
    centers: Centers = "diagonal",
    tol: float = 1e-6,
    max_iter: int = 100,
) -> Decomposition:
    """Recover components by SIDIWO: one rotation for all whitened slices.

    Over rotations O of the whitened space, with D = O^T W, minimise (H eq. 5)

        sum_{i != j} ( sum_r (D M3[r] D^T)_ij^2 )^(1/2),

    then solve M Omega^(1/2) = E O and M omega = M1 for (M, omega).

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_slices``, ``whitened_tensor``).
    n_components : int >= 1, default=2
        Number of components k.
    random_state : int, RandomState or None, default=None
        Not used: SIDIWO is deterministic. Here because all decompositions share one signature.
    whitening : Whitening, default=None
        A whitening of these moments for k components or more, when there is one already.
    centers : {"diagonal", "rotation"}, default="diagonal"
        What the centers are made of once O is known. Both lie in the span of the k top
        eigenvectors of M2, as H Theorem 3.1 says, and both are exact for exact moments of k
        components. ``"diagonal"`` takes row r of M as the diagonal of O^T (W M3[r] W^T) O, as SVTD
        does, projected on that span, and solves M omega = M1 by least squares. ``"rotation"``
        solves the equations above, as H Algorithm 1 says: the length of a center is then the
        inverse of its share of M1, which noise blows up for rare components.
    tol : float >= 0, default=1e-6
        For k > 2, ends when a sweep over all planes lowers the objective by less than this share.
    max_iter : int >= 1, default=100
        For k > 2, most sweeps of each of the two stages.

    Returns
    -------
    Decomposition
        Weights descending. Fewer components come back, with the reason in ``diagnostics``, when
        M2 shows fewer. Diagnostics, besides those of all decompositions: "objective" (H eq. 5 at
        the optimum), "objective_start" (after the Jacobi sweeps), "off_diagonal_share" (objective
        relative to the size of the slices; 0 when they are jointly diagonalisable), "n_iter" (all
        sweeps), and for ``centers="diagonal"`` "clipped_weights" (how many weights were negative
        and set to zero).

    Raises
    ------
    InvalidParameterError
        If `n_components` is no whole number of 1 or more, or more than `whitening` was made for,
        or `centers`, `tol` or `max_iter` is out of its range.

    Notes
    -----
    Algorithm 1 of [1], but for the centers. With D = O^T W the diagonal of slice r is
    sum_j w_j <d_i, mu_j>^2 mu_rj: where the model has more components than are asked for, a center
    is a mean of theirs with weights that sum to 1, and with the projection no other answer of the
    eight methods was closer to the truth on samples (see ``benchmarks/decompositions.py``).

    The paper leaves the optimisation open. For k = 2 it scans a grid of angles (Theorem 3.3 of
    [1]); here the minimum is in closed form: see :func:`two_component_rotation`.
    For k > 2 the Jacobi sweeps of [2], which minimise the sum of squares of the off-diagonal,
    give the start, and rotations of single planes, each to its best angle and only when it lowers
    the sum of norms above, the end: a local minimum, and on models of known parameters the best
    that many random starts find.

    The objective depends on the slices only through inner products of their entries, so that
    k (k + 1) / 2 slices with these products take the place of d. From k = 21 on, the slices are
    those of the tensor M3(W, W, W) scaled by the root of the eigenvalues of M2, which leaves out
    what the slices hold outside the span of E: nothing for exact moments. Time: one whitening and
    one pass over the data, then O(d k^4 + k^5) for each sweep at most; memory O(d k^2).

    References
    ----------
    .. [1] M. Ruffini, G. Rabusseau, B. Balle. Hierarchical methods of moments. NIPS 2017.
    .. [2] J.-F. Cardoso, A. Souloumiac. Jacobi angles for simultaneous diagonalization. SIAM
       Journal on Matrix Analysis and Applications 17, 1996. doi:10.1137/S0895479893259546

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
    if centers not in get_args(Centers):
        msg = f"centers={centers!r} is unknown; choose one of {get_args(Centers)}"
        raise InvalidParameterError(msg)
    check_option("tol", tol, 0, whole=False)
    check_option("max_iter", max_iter)
    white = prepared(moments, n_components, whitening)
    H, T = _slices(moments, white)
    rotation, numbers = common_rotation(H, tol=tol, max_iter=max_iter)
    share = numbers["objective"] / max(float(np.linalg.norm(H)), TINY)
    numbers["off_diagonal_share"] = share
    if centers == "rotation":
        return from_directions(moments, white, white.E @ rotation, T, numbers)
    M = white.E @ np.einsum("abc,bi,ci->ai", T, rotation, rotation, optimize=True)
    return from_slices(moments, white, M, T, numbers)


def _slices(moments: Moments, white: Whitening) -> tuple[Floats, Floats]:
    """Return the slices to make diagonal, and the tensor M3(W, W, W)."""
    k = white.rank
    if 2 <= k < MANY_COMPONENTS:
        H = moments.whitened_slices(white.W)
        return H, np.asarray(np.tensordot(white.W, H, 1))
    T = whitened_tensor(moments, white)
    return np.sqrt(white.eigenvalues[:k, None, None]) * T, T


def discriminators(moments: Moments, whitening: Whitening) -> Floats:
    """Return D = O^T W, the discriminators of the data-centric reading of SIDIWO.

    O is the rotation of :func:`sidiwo`. For raw moments of rows x_i, the rows d_j of D have
    sum_i <d_j, x_i>^2 / n = 1, and sum_i <d_j, x_i> <d_l, x_i> = 0 for j != l, and are those for
    which the scores <d_j, x_i> have supports as disjoint as can be (T Theorem 6.2.1).

    Parameters
    ----------
    moments : Moments
        Raw moments (T eq. 6.5 and 6.6); of a model, its centers M have D M Omega^(1/2) = I.
    whitening : Whitening
        Of these moments.

    Returns
    -------
    ndarray of shape (k, d)
        D, with k the rank of the whitening. For k = 2 the global optimum.

    Notes
    -----
    T Algorithm 5, line 1 to 4. Time and memory as :func:`sidiwo`.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition.sidiwo import discriminators
    >>> from momentree.moments import RawMoments
    >>> from momentree.whitening import whiten
    >>> X = np.array([[1, 1, 0, 0]] * 3 + [[0, 0, 1, 1]] * 2)
    >>> moments = RawMoments.from_data(X)
    >>> scores = X @ discriminators(moments, whiten(moments, 2)).T
    >>> (scores**2).mean(axis=0).round(6)
    array([1., 1.])
    >>> abs(scores).argmax(axis=1).tolist()
    [0, 0, 0, 1, 1]
    """
    rotation, _ = common_rotation(_slices(moments, whitening)[0])
    return np.asarray(rotation.T @ whitening.W)


def common_rotation(
    H: Floats, *, tol: float = 1e-6, max_iter: int = 100
) -> tuple[Floats, dict[str, Any]]:
    """Return the rotation that makes slices jointly as diagonal as can be, and how it went.

    Parameters
    ----------
    H : ndarray of shape (d, k, k)
        Symmetric slices.
    tol : float >= 0, default=1e-6
        For k > 2, ends when a sweep lowers the objective by less than this share.
    max_iter : int >= 1, default=100
        For k > 2, most sweeps of each of the two stages.

    Returns
    -------
    rotation : ndarray of shape (k, k)
        O; the optimal slices are O^T H[r] O.
    numbers : dict
        "objective", "objective_start" and for k > 2 "n_iter"; see :func:`sidiwo`.
    """
    k = H.shape[1]
    if k < 2:
        return np.eye(k), {"objective": 0.0, "objective_start": 0.0}
    if k == 2:
        rotation, value = two_component_rotation(H)
        return rotation, {"objective": value, "objective_start": value}
    A, rotation, first = jacobi(compressed(H), max_iter)
    start = objective(A)
    A, rotation, second = descend(A, rotation, tol, max_iter)
    numbers = {"objective": objective(A), "objective_start": start, "n_iter": first + second}
    return rotation, numbers


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
