"""Eigendecomposition of one random contraction of the third moment."""

import numpy as np

from momentree._validation import generator
from momentree.decomposition import _result as results
from momentree.objects import Decomposition, Moments, Whitening


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
