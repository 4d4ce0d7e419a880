"""T Theorem 6.2.1: discriminators, the directions that split data without a model."""

from __future__ import annotations

import numpy as np

from momentree._types import Floats
from momentree.decomposition.sidiwo import common_rotation, slices
from momentree.objects import Moments, Whitening


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
