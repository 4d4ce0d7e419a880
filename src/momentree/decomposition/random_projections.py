"""Random projections: many contractions of M3, diagonalised jointly and without whitening."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momentree._validation import generator
from momentree.decomposition._joint_diagonal import joint_diagonaliser
from momentree.decomposition._result import (
    TINY,
    check_option,
    from_directions,
    prepared,
    whitened_tensor,
)
from momentree.decomposition.jennrich import eigenvectors_of_quotient
from momentree.objects import Decomposition, Moments, Whitening

__all__ = ["random_projections"]

Floats = NDArray[np.float64]


def random_projections(
    moments: Moments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    whitening: Whitening | None = None,
    n_projections: int | None = None,
    max_iter: int = 100,
) -> Decomposition:
    """Recover components by joint diagonalisation of projections of M3, without whitening.

    With U the top k eigenvectors of M2, every projection of M3 along a vector eta,

        U^T M3(eta) U = (U^T M) diag(w_i eta^T mu_i) (U^T M)^T,

    is made diagonal by the inverse of U^T M from both sides. That inverse is sought, first for
    random eta, then for these and the vectors dual to the components found. M1 and M2 give the
    scale.

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_tensor``).
    n_components : int >= 1
        Number of components k.
    random_state : int, RandomState or None, default=None
        Draws the projections; None is the same as 0.
    whitening : Whitening, default=None
        A whitening of these moments for k components or more, when there is one already.
    n_projections : int >= 2 or None, default=None
        Number of random projections; None takes 2 k. Another k are along the dual vectors.
    max_iter : int >= 1, default=100
        Most steps of each of the two joint diagonalisations.

    Returns
    -------
    Decomposition
        Weights descending. Fewer components come back, with the reason in ``diagnostics``, when
        M2 shows fewer. Diagnostics, besides those of all decompositions: "objective" (squared
        off-diagonal over squared diagonal of all projections), "n_iter" (all steps).

    Raises
    ------
    InvalidParameterError
        If `n_components` is no whole number of 1 or more, or more than `whitening` was made for,
        or `random_state`, `n_projections` or `max_iter` is out of its range.

    Notes
    -----
    The two stages of the method of [1]. Deviations: the joint diagonaliser takes the steps of
    FFDIAG and starts from the eigenvectors of Jennrich's algorithm on the first two projections;
    projections are restricted to the span of U, so that M2 gives the subspace and the scale, but
    not the metric. Time: one whitening, one pass over the data, O(k^4) for each step.

    References
    ----------
    .. [1] V. Kuleshov, A. Chaganty, P. Liang. Tensor factorization via matrix factorization.
       AISTATS 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition import random_projections
    >>> from momentree.moments import SingleTopicMoments
    >>> topics = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    >>> found = random_projections(SingleTopicMoments.from_parameters([0.6, 0.4], topics), 2)
    >>> found.weights.round(6)
    array([0.6, 0.4])
    >>> found.centers.T.round(6)
    array([[0.7, 0.2, 0.1],
           [0.1, 0.1, 0.8]])
    """
    if n_projections is not None:
        check_option("n_projections", n_projections, 2)
    check_option("max_iter", max_iter)
    rng = generator(random_state)
    white = prepared(moments, n_components, whitening)
    k = white.rank
    T = whitened_tensor(moments, white)
    root = np.sqrt(white.eigenvalues[:k])

    def projections(theta: Floats) -> Floats:
        """Return U^T M3(U theta_l) U for unit vectors along the rows of theta."""
        g = theta / np.maximum(np.linalg.norm(theta, axis=1, keepdims=True), TINY) * root
        return np.asarray(np.tensordot(g, T, 1) * (root[:, None] * root))

    C = projections(rng.standard_normal((n_projections or max(2 * k, 2), k)))
    start = np.asarray(np.linalg.pinv(eigenvectors_of_quotient(C[0], C[1])[0]))
    B, _, first = joint_diagonaliser(C, start, max_iter)
    C = np.concatenate([C, projections(B)])
    B, off, second = joint_diagonaliser(C, B, max_iter)
    numbers = {"objective": off / max(k, 1), "n_iter": first + second}
    return from_directions(moments, white, (white.E / root) @ np.linalg.pinv(B), T, numbers)
