"""The SVD method, two eigendecompositions and random projections: from few slices of moments."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats
from momentree._validation import check_integer, generator
from momentree.decomposition import _result as results
from momentree.decomposition.joint_diagonalization import ffdiag
from momentree.messages import Message
from momentree.objects import Decomposition, Moments, Whitening


def svd_method(
    moments: Moments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    whitening: Whitening | None = None,
) -> Decomposition:
    """Find components by the SVD method: one random combination of slices.

    For a random eta, let O be the left singular vectors of

        H_eta = sum_r eta_r W M3[r] W^T = O diag(eta^T mu_1, ..., eta^T mu_k) O^T,

    and solve M Omega^(1/2) = E O and M omega = M1 for (M, omega).

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_tensor``).
    n_components : int >= 1
        Number of components k.
    random_state : int, RandomState or None, default=None
        Seed of eta; None is seed 0.
    whitening : Whitening, default=None
        A whitening of these moments for at least k components; None computes one.

    Returns
    -------
    Decomposition
        Components, with the diagnostics common to all decompositions.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range, or `n_components` exceeds that of `whitening`.

    Notes
    -----
    The method of [1], as presented in section 1.2.1 of [2]. With eta = W^T g for a random g in R^k,
    as in [1], H_eta = sum_a g_a T_a requires only the tensor T = M3(W, W, W). The result depends on
    a single draw: if singular values of H_eta are close to each other, it is sensitive to noise.
    Time: one whitening, one pass over the data, O(k^3).

    References
    ----------
    .. [1] A. Anandkumar, D. Foster, D. Hsu, S. Kakade, Y.-K. Liu. A spectral algorithm for latent
       Dirichlet allocation. NIPS 2012.
    .. [2] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Section 1.2.1.

    Examples
    --------
    >>> from momentree.decomposition import svd_method
    >>> from momentree.moments import SingleTopicMoments
    >>> moments = SingleTopicMoments.from_parameters([0.6, 0.4], [[0.7, 0.3], [0.1, 0.9]])
    >>> svd_method(moments, 2).centers.T.round(6)
    array([[0.7, 0.3],
           [0.1, 0.9]])
    """
    white = results.whitening_for(moments, n_components, whitening)
    T = results.whitened_tensor(moments, white)
    g = generator(random_state).standard_normal(white.rank)
    rotation = np.linalg.svd(np.tensordot(g, T, 1))[0]
    return results.from_directions(moments, white, white.E @ rotation, T, {})


def eigendecomposition(
    moments: Moments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    whitening: Whitening | None = None,
) -> Decomposition:
    """Find components from the eigenvectors of one contraction of M3 against M2.

    With U the top k eigenvectors of M2, the matrices

        B(eta) = (U^T M3(eta) U) (U^T M2 U)^(-1) = (U^T M) diag(eta^T mu_1, ..., eta^T mu_k)
                 (U^T M)^(-1)

    share their eigenvectors R, found from one random theta_1 by eta = U theta_1. The diagonals of
    R^(-1) B(U theta_i) R for the rows theta_i of a rotation Theta are the rows of L = Theta U^T M,
    so M = U Theta^T L; omega solves M omega = M1.

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_tensor``).
    n_components : int >= 1
        Number of components k.
    random_state : int, RandomState or None, default=None
        Seed of theta_1; None is seed 0.
    whitening : Whitening, default=None
        A whitening of these moments for at least k components; None computes one.

    Returns
    -------
    Decomposition
        Adds this diagnostic: "clipped_weights" (number of negative weights, set to zero).

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range, or `n_components` exceeds that of `whitening`.

    Notes
    -----
    Algorithm B of [1], for symmetric moments. With U^T M2 U = S and O the eigenvectors of the
    symmetric W M3(eta) W^T, B(eta) = S^(1/2) (W M3(eta) W^T) S^(-1/2), so R = S^(1/2) O and the
    eigenvalues are real despite noise. L is linear in Theta, so Theta cancels from U Theta^T L, and
    center j is computed as E T(I, o_j, o_j) with T = M3(W, W, W). The result depends on a single
    random contraction, as in :func:`svd_method`. Time: one whitening, one pass over the data,
    O(k^4).

    References
    ----------
    .. [1] A. Anandkumar, D. Hsu, S. Kakade. A method of moments for mixture models and hidden
       Markov models. COLT 2012.

    Examples
    --------
    >>> from momentree.decomposition import eigendecomposition
    >>> from momentree.moments import SingleTopicMoments
    >>> moments = SingleTopicMoments.from_parameters([0.6, 0.4], [[0.7, 0.3], [0.1, 0.9]])
    >>> eigendecomposition(moments, 2).centers.T.round(6)
    array([[0.7, 0.3],
           [0.1, 0.9]])
    """
    rng = generator(random_state)
    white = results.whitening_for(moments, n_components, whitening)
    T = results.whitened_tensor(moments, white)
    theta = rng.standard_normal(white.rank)
    # eta = U theta = W^T S^(1/2) theta: a combination of the slices of T. The eigenvectors do not
    # depend on its length.
    g = np.sqrt(white.eigenvalues[: white.rank]) * theta
    rotation = np.linalg.eigh(np.tensordot(g, T, 1))[1]
    M = white.E @ np.einsum("abc,bj,cj->aj", T, rotation, rotation, optimize=True)
    return results.from_centers(moments, white, M, T, {})


def jennrich(
    moments: Moments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    whitening: Whitening | None = None,
) -> Decomposition:
    """Find components by Jennrich's algorithm: two random contractions of M3.

    With U the top k eigenvectors of M2 and two random vectors a, b in their span,

        A = U^T M3(a) U = (U^T M) diag(w_i a^T mu_i) (U^T M)^T,     B = U^T M3(b) U,

    so the eigenvectors of A B^(-1) are U^T mu_i up to scale; M1 and M2 determine the scale.

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_tensor``).
    n_components : int >= 1
        Number of components k.
    random_state : int, RandomState or None, default=None
        Seed of a and b; None is seed 0.
    whitening : Whitening, default=None
        A whitening of these moments for at least k components; None computes one.

    Returns
    -------
    Decomposition
        Adds this diagnostic: "complex_pairs" (number of complex pairs of eigenvectors).

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range, or `n_components` exceeds that of `whitening`.

    Notes
    -----
    Jennrich's algorithm [1], in the span of the top eigenvectors of M2, where the contractions are
    square. The eigenvectors are not orthogonal, and noise may make two of them complex; they are
    then replaced by their real and imaginary parts, a basis of the plane of the two components.
    Time: one whitening, one pass over the data, O(k^3).

    References
    ----------
    .. [1] S. Leurgans, R. Ross, R. Abel. A decomposition for three-way arrays. SIAM Journal on
       Matrix Analysis and Applications 14, 1993. doi:10.1137/0614071

    Examples
    --------
    >>> from momentree.decomposition import jennrich
    >>> from momentree.moments import SingleTopicMoments
    >>> moments = SingleTopicMoments.from_parameters([0.6, 0.4], [[0.7, 0.3], [0.1, 0.9]])
    >>> jennrich(moments, 2).centers.T.round(6)
    array([[0.7, 0.3],
           [0.1, 0.9]])
    """
    rng = generator(random_state)
    white = results.whitening_for(moments, n_components, whitening)
    T = results.whitened_tensor(moments, white)
    root = np.sqrt(white.eigenvalues[: white.rank])
    # U^T M3(U theta) U = S^(1/2) (sum_r g_r T_r) S^(1/2) with g = S^(1/2) theta. The eigenvectors
    # of a quotient of two such matrices are S^(1/2) times those for the whitened slices.
    A, B = np.tensordot(rng.standard_normal((2, white.rank)) * root, T, 1)
    V, pairs = real_eigenvectors(A @ np.linalg.pinv(B))
    warnings = (
        [
            Message(
                "[complex_eigenvectors] {found:~pair} of eigenvectors {found:?is/are} complex: "
                "noise has mixed their components. Use sidiwo or random_projections, which combine "
                "many contractions, or more samples.",
                found=pairs,
            )
        ]
        if pairs
        else []
    )
    return results.from_directions(
        moments, white, white.E @ V, T, {"complex_pairs": pairs}, warnings
    )


def real_eigenvectors(A: Floats) -> tuple[Floats, int]:
    """Return the eigenvectors of a matrix in columns, and the number of complex pairs.

    For a complex pair, return the real and the imaginary part.
    """
    values, vectors = np.linalg.eig(A)
    second = values.imag < 0
    return np.where(second, vectors.imag, vectors.real), int(np.count_nonzero(second))


def random_projections(
    moments: Moments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    whitening: Whitening | None = None,
    n_projections: int | None = None,
    max_iter: int = 100,
) -> Decomposition:
    """Find components by joint diagonalization of projections of M3, without whitening.

    With U the top k eigenvectors of M2, every projection of M3 along a vector eta,

        U^T M3(eta) U = (U^T M) diag(w_i eta^T mu_i) (U^T M)^T,

    is diagonalized by the inverse of U^T M. Find this inverse by joint diagonalization, first for
    random eta, then also for the vectors dual to the components found. M1 and M2 determine the
    scale.

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_tensor``).
    n_components : int >= 1
        Number of components k.
    random_state : int, RandomState or None, default=None
        Seed of the projections; None is seed 0.
    whitening : Whitening, default=None
        A whitening of these moments for at least k components; None computes one.
    n_projections : int >= 2 or None, default=None
        Number of random projections; None is 2 k. There are k more along the dual vectors.
    max_iter : int >= 1, default=100
        Maximum number of steps of each of the two joint diagonalizations.

    Returns
    -------
    Decomposition
        Adds these diagnostics: "objective" (sum of squares off the diagonal of all projections,
        relative to the diagonal) and "n_iter" (total number of steps).

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range, or `n_components` exceeds that of `whitening`.

    Notes
    -----
    The two stages of [1]. Deviations: joint diagonalization uses FFDIAG, starting from the
    eigenvectors of Jennrich's algorithm for the first two projections; and projections are
    restricted to the span of U, so that M2 determines the subspace and the scale, but not the
    metric. Time: one whitening, one pass over the data, O(k^4) per step.

    References
    ----------
    .. [1] V. Kuleshov, A. Chaganty, P. Liang. Tensor factorization via matrix factorization.
       AISTATS 2015.

    Examples
    --------
    >>> from momentree.decomposition import random_projections
    >>> from momentree.moments import SingleTopicMoments
    >>> moments = SingleTopicMoments.from_parameters([0.6, 0.4], [[0.7, 0.3], [0.1, 0.9]])
    >>> random_projections(moments, 2).centers.T.round(6)
    array([[0.7, 0.3],
           [0.1, 0.9]])
    """
    check_integer("n_projections", n_projections, at_least=2, optional=True)
    check_integer("max_iter", max_iter, at_least=1)
    rng = generator(random_state)
    white = results.whitening_for(moments, n_components, whitening)
    k = white.rank
    T = results.whitened_tensor(moments, white)
    root = np.sqrt(white.eigenvalues[:k])

    def projections(theta: Floats) -> Floats:
        """Return U^T M3(U theta_l) U for unit vectors along the rows of theta."""
        g = theta / np.maximum(np.linalg.norm(theta, axis=1, keepdims=True), results.TINY) * root
        return np.asarray(np.tensordot(g, T, 1) * (root[:, None] * root))

    C = projections(rng.standard_normal((n_projections or max(2 * k, 2), k)))
    start = np.asarray(np.linalg.pinv(real_eigenvectors(C[0] @ np.linalg.pinv(C[1]))[0]))
    B, _, first = ffdiag(C, start, max_iter)
    C = np.concatenate([C, projections(B)])
    B, off, second = ffdiag(C, B, max_iter)
    numbers = {"objective": off / max(k, 1), "n_iter": first + second}
    return results.from_directions(moments, white, (white.E / root) @ np.linalg.pinv(B), T, numbers)
