"""JADE: joint diagonalization of the slices of a fourth cumulant."""

import numpy as np
from scipy.sparse.linalg import eigsh

from momentree._types import Floats
from momentree._validation import check_integer
from momentree.decomposition.joint_rotation import compress, jacobi
from momentree.exceptions import InvalidParameterError
from momentree.moments import ICAMoments

MAX_COMPLETE = 16
"""For more sources, sweeps over all slices would take minutes."""
STEADY = 1e-12
"""A sweep that decreases the sum of squares by a smaller fraction rotates by less than 1e-6."""


def jade(moments: ICAMoments, *, max_iter: int = 100) -> tuple[Floats, int, bool]:
    r"""Find the rotation of whitened data to sources, by joint diagonalization of cumulants.

    With the slices :math:`C_{ab} = C(\cdot, \cdot, e_a, e_b)` of the fourth cumulant of whitened
    data, minimize over rotations R

    .. math:: \sum_{a, b} \sum_{i \ne j} (R\, C_{ab}\, R^T)_{ij}^2.

    Parameters
    ----------
    moments : ICAMoments
        Cumulants of k sources.
    max_iter : int >= 1, default=100
        Maximum number of Jacobi sweeps.

    Returns
    -------
    rotation : ndarray of shape (k, k)
        R: sources in rows, in no particular order, each with any sign.
    n_iter : int
        Number of sweeps.
    converged : bool
        Whether the last sweep no longer decreased the sum.

    Raises
    ------
    InvalidParameterError
        If `moments` are others, or `max_iter` is out of its range.

    Notes
    -----
    The algorithm of [1]_. For more than 16 sources, the k most significant eigenmatrices of the
    cumulant replace the slices, as in [1]_; for exact cumulants nothing is lost. Time O(k^5) per
    sweep for up to 16 sources, O(k^4) for more; memory O(k^4).

    References
    ----------
    .. [1] J.-F. Cardoso, A. Souloumiac. Blind beamforming for non-Gaussian signals. IEE
       Proceedings F 140, 362-370, 1993. doi:10.1049/ip-f-2.1993.0054

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition import jade
    >>> from momentree.moments import ICAMoments
    >>> moments = ICAMoments.from_parameters([[1, 2], [3, 1]], [3.0, -1.2])
    >>> rotation, _, _ = jade(moments)
    >>> mixing = moments.E @ rotation.T
    >>> np.sort(mixing[0] / mixing[1]).round(6)
    array([0.333333, 2.      ])
    """
    if not isinstance(moments, ICAMoments):
        raise InvalidParameterError(
            "moments is of type {type}; expected ICAMoments, such as ICAMoments.from_data(X)",
            type=type(moments).__name__,
        )
    check_integer("max_iter", max_iter, at_least=1)
    H = moments.cumulant_slices()
    A = compress(H) if H.shape[1] <= MAX_COMPLETE else _significant(H)
    _, rotation, n_iter = jacobi(A, max_iter, STEADY)
    return rotation.T, n_iter, n_iter < max_iter


def _significant(H: Floats) -> Floats:
    """Return the entry vectors (k, k, k) of the eigenmatrices with the largest eigenvalues."""
    k = H.shape[1]
    a, b = np.triu_indices(k)
    twice = np.where(a == b, 1.0, np.sqrt(2.0))
    C = H[:, a, b] * twice
    # RandomState draws the same numbers with every version of NumPy.
    start = np.random.RandomState(0).standard_normal(len(a))
    values, vectors = eigsh(0.5 * (C + C.T), k=k, which="LM", v0=start)
    A = np.empty((k, k, k))
    A[a, b] = A[b, a] = vectors * values / twice[:, None]
    return A
