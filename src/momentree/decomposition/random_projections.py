"""Random projections: joint diagonalization of contractions, without whitening."""

import numpy as np

from momentree._types import Floats
from momentree._validation import check_integer, generator
from momentree.decomposition import _result as results
from momentree.decomposition.ffdiag import ffdiag
from momentree.decomposition.jennrich import real_eigenvectors
from momentree.objects import Decomposition, Moments, Whitening


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
