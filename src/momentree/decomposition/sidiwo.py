"""SIDIWO: simultaneous diagonalization by whitening and optimization (H Algorithm 1).

``sidiwo(..., centers="rotation")`` is the algorithm as published; in T it is Algorithm 3.
"""

from typing import Any, Literal, get_args

import numpy as np

from momentree._types import Floats
from momentree._validation import check_choice, check_integer, check_number
from momentree.core.ties import fixed_vectors
from momentree.decomposition import _result as results
from momentree.decomposition.joint_rotation import compress, jacobi, minimize_norms, objective
from momentree.objects import Decomposition, Moments, Whitening

Centers = Literal["diagonal", "rotation"]

MANY_COMPONENTS = 21
"""For this many components, ``centers="diagonal"`` uses k slices of the whitened tensor, not the d
slices of M3, whose sweeps take O(k^5): on known models the errors agree to two digits."""


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
    """Find components by SIDIWO: one rotation jointly diagonalizes all whitened slices.

    Over rotations O of the whitened space, with D = O^T W, minimize (H eq. 5)

        sum_{i != j} ( sum_r (D M3[r] D^T)_ij^2 )^(1/2),

    then solve M Omega^(1/2) = D^+ and M omega = M1 for (M, omega).

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_slices``, ``whitened_tensor``).
    n_components : int >= 1, default=2
        Number of components k.
    random_state : int, RandomState or None, default=None
        Ignored: SIDIWO is deterministic.
    whitening : Whitening, default=None
        A whitening of these moments for at least k components; None computes one.
    centers : {"diagonal", "rotation"}, default="diagonal"
        How O determines the centers. ``"rotation"`` solves the equations above: H Algorithm 1 as
        published. The length of a center is then inversely proportional to its part of M1, which
        amplifies the noise of rare components. ``"diagonal"`` sets row r of M to the diagonal of
        O^T (W M3[r] W^T) O, as in SVTD, projects M onto the span of the top k eigenvectors of M2,
        and solves M omega = M1 by least squares. Both are exact for exact moments of k components.
    tol : float >= 0, default=1e-6
        For k > 2: stop when a sweep over all planes decreases the objective by less than this
        fraction.
    max_iter : int >= 1, default=100
        For k > 2: maximum number of sweeps in each of the two stages.

    Returns
    -------
    Decomposition
        Adds these diagnostics: "objective" (H eq. 5 at the optimum), "objective_start" (after the
        Jacobi sweeps), "off_diagonal_share" (the objective relative to the norm of the slices),
        "n_iter" (sweeps of both stages), and for ``centers="diagonal"`` "clipped_weights" (number
        of negative weights, set to zero).

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range, or `n_components` exceeds that of `whitening`.

    Notes
    -----
    Algorithm 1 of [1]. Its Theorem 3.1 holds for both choices of `centers`: with fewer components
    than in the model, the pseudo-centers lie in the span of the top k eigenvectors of M2. The
    diagonal of slice r is then sum_j w_j <d_i, mu_j>^2 mu_rj, a weighted mean of true centers; on
    samples no other decomposition was more accurate (``benchmarks/decompositions.py``).

    [1] does not specify the minimization of step 3. For k = 2, where [1] scans a grid of angles
    (Theorem 3.3), the minimum has a closed form. For k > 2, Jacobi sweeps [2] minimize the sum of
    squares of the off-diagonal entries; rotations of single planes, each by its best angle, then
    decrease the sum of norms in H eq. 5 to a local minimum. On known models, no random start found
    a better one.

    The objective depends on the slices only through the inner products of their entries, so
    k (k + 1) / 2 slices with the same inner products replace the d slices. With
    ``centers="diagonal"`` and k >= 21, the slices are those of M3(W, W, W), scaled by the roots of
    the eigenvalues of M2: they omit the part of M3 outside the span of E, which is zero for exact
    moments of k components. Time: one whitening, one pass over the data and O(k^5) per sweep, or
    O(k^4) on the slices of the tensor; memory O(d k^2).

    References
    ----------
    .. [1] M. Ruffini, G. Rabusseau, B. Balle. Hierarchical methods of moments. Advances in
       Neural Information Processing Systems 30, 2017. Algorithm 1.
    .. [2] J.-F. Cardoso, A. Souloumiac. Jacobi angles for simultaneous diagonalization. SIAM
       Journal on Matrix Analysis and Applications 17, 1996. doi:10.1137/S0895479893259546

    Examples
    --------
    >>> from momentree.decomposition import sidiwo
    >>> from momentree.moments import SingleTopicMoments
    >>> moments = SingleTopicMoments.from_parameters([0.6, 0.4], [[0.7, 0.3], [0.1, 0.9]])
    >>> sidiwo(moments, 2).centers.T.round(6)
    array([[0.7, 0.3],
           [0.1, 0.9]])
    """
    check_choice("centers", centers, get_args(Centers))
    check_number("tol", tol, at_least=0)
    check_integer("max_iter", max_iter, at_least=1)
    white = results.whitening_for(moments, n_components, whitening)
    H, T = slices(moments, white, exact=centers == "rotation")
    if T is None:
        T = np.asarray(np.tensordot(white.W, H, 1))
    rotation, numbers = common_rotation(H, tol=tol, max_iter=max_iter)
    numbers["off_diagonal_share"] = numbers["objective"] / max(
        float(np.linalg.norm(H)), results.TINY
    )
    if centers == "rotation":
        return results.from_directions(moments, white, white.E @ rotation, T, numbers)
    M = white.E @ np.einsum("abc,bi,ci->ai", T, rotation, rotation, optimize=True)
    return results.from_centers(moments, white, M, T, numbers)


def pseudo_centers(m1: Floats, white: Whitening, H: Floats) -> Decomposition:
    """Return the pseudo-centers of H Algorithm 1, without diagnostics, which splits do not use.

    A multiple of the identity that is added to a slice changes nothing.
    """
    rotation, _ = common_rotation(H)
    centers, weights, reason = results.scaled_directions(m1, white, white.E @ rotation)
    return Decomposition(*results.by_weight(centers, weights), {"reason": reason or white.reason})


def slices(
    moments: Moments, white: Whitening, *, exact: bool = False
) -> tuple[Floats, Floats | None]:
    """Return the slices to diagonalize, and the tensor M3(W, W, W) if they are derived from it."""
    k = white.rank
    if k >= 2 and (exact or k < MANY_COMPONENTS):
        return moments.whitened_slices(white.W), None
    T = results.whitened_tensor(moments, white)
    return np.sqrt(white.eigenvalues[:k, None, None]) * T, T


def common_rotation(
    H: Floats, *, tol: float = 1e-6, max_iter: int = 100
) -> tuple[Floats, dict[str, Any]]:
    """Return the rotation O of slices (d, k, k) that minimizes H eq. 5, and its diagnostics."""
    k = H.shape[1]
    if k < 2:
        return np.eye(k), {"objective": 0.0, "objective_start": 0.0}
    if k == 2:
        rotation, value = two_component_rotation(H)
        return rotation, {"objective": value, "objective_start": value}
    A, rotation, first = jacobi(compress(H), max_iter)
    start = objective(A)
    A, rotation, second = minimize_norms(A, rotation, tol, max_iter)
    numbers = {"objective": objective(A), "objective_start": start, "n_iter": first + second}
    return rotation, numbers


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


def discriminators(moments: Moments, whitening: Whitening) -> Floats:
    """Return the discriminators D = O^T W of a data set, with O the rotation of :func:`sidiwo`.

    For raw moments of rows x_i, the rows d_j of D satisfy sum_i <d_j, x_i>^2 / n = 1 and
    sum_i <d_j, x_i> <d_l, x_i> = 0 for j != l, and among all such D the supports of their scores
    <d_j, x_i> overlap least (T Theorem 6.2.1).

    Parameters
    ----------
    moments : Moments
        Raw moments (T eq. 6.5 and 6.6).
    whitening : Whitening
        Whitening of these moments.

    Returns
    -------
    ndarray of shape (k, d)
        D, with k the rank of the whitening; a global optimum for k = 2.

    Notes
    -----
    T Algorithm 5, lines 1 to 4. Time and memory as for :func:`sidiwo`.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition import discriminators
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
    rotation, _ = common_rotation(slices(moments, whitening)[0])
    return np.asarray(rotation.T @ whitening.W)
