"""Jennrich's algorithm: eigenvectors of the quotient of two contractions."""

import numpy as np

from momentree._types import Floats
from momentree._validation import generator
from momentree.decomposition import _result as results
from momentree.messages import Message
from momentree.objects import Decomposition, Moments, Whitening


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
