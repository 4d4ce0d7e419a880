"""SVTD: singular value-based tensor decomposition (S Algorithm 1)."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from momentree.decomposition._result import TINY, from_slices, prepared
from momentree.exceptions import InvalidParameterError
from momentree.objects import Decomposition, Moments, Whitening

__all__ = ["svtd"]

Floats = NDArray[np.float64]

CHUNK = 1 << 22
"""Entries of slices whose eigenvalues are found at once: 32 MB."""
SMALL_ALPHA = 1e-3
"""Below this share of their range, eigenvalues of a slice cross at a thousandth of noise in it."""


def svtd(
    moments: Moments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,  # noqa: ARG001
    whitening: Whitening | None = None,
    feature: int | None = None,
) -> Decomposition:
    """Recover components by SVTD: the eigenvectors of one whitened slice diagonalise all.

    With H[r] = W M3[r] W^T = O diag(mu_r1, ..., mu_rk) O^T, O is taken from the slice of one
    feature r, row i of M is the diagonal of O^T H[i] O, and omega solves M omega = M1.

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_slices``).
    n_components : int >= 1
        Number of components k.
    random_state : int, RandomState or None, default=None
        Not used: SVTD is deterministic. Here because all decompositions share one signature.
    whitening : Whitening, default=None
        A whitening of these moments for k components or more, when there is one already.
    feature : int in [0, d) or None, default=None
        The feature r. None takes the one with the largest least difference of eigenvalues,
        alpha_r = min_{i != j} |mu_ri - mu_rj|.

    Returns
    -------
    Decomposition
        Weights descending, zero where the linear system has them negative. Fewer components come
        back, with the reason in ``diagnostics``, when M2 shows fewer. Diagnostics, besides those
        of all decompositions: "feature" (r), "alpha_r" (infinite for k = 1), "clipped_weights"
        (how many weights were negative).

    Raises
    ------
    InvalidParameterError
        If `n_components` is no whole number of 1 or more, or more than `whitening` was made for,
        or `feature` is no feature.

    Notes
    -----
    Algorithm 1 of [1], whose Theorem 4 says that it is exact when all entries of row r of M are
    distinct, with the choice of r of its Remark 7. Deviation: eigenvalues and eigenvectors of
    slices stand in for singular ones. For exact moments of a non-negative M both are the same, up
    to sign, and so is r; where M has negative entries, eigenvalues are the right ones. Estimated
    slices have negative eigenvalues too, whose singular values may lie closer together or further
    apart: on a sample the paper's choice of r may be another one.
    Time: one whitening, one pass over the data, O(d k^3); memory O(d k^2).

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018. Algorithm 1, Remark 7.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition import svtd
    >>> from momentree.moments import SingleTopicMoments
    >>> topics = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    >>> found = svtd(SingleTopicMoments.from_parameters([0.6, 0.4], topics), 2)
    >>> found.weights.round(6)
    array([0.6, 0.4])
    >>> found.centers.T.round(6)
    array([[0.7, 0.2, 0.1],
           [0.1, 0.1, 0.8]])
    >>> found.diagnostics["feature"], round(found.diagnostics["alpha_r"], 6)
    (2, 0.7)
    """
    white = prepared(moments, n_components, whitening)
    d = moments.m1.shape[0]
    whole = isinstance(feature, Integral) and not isinstance(feature, bool)
    if feature is not None and not (whole and 0 <= feature < d):
        msg = f"feature={feature!r}; expected a whole number from 0 to {d - 1}, or None"
        raise InvalidParameterError(msg)
    k = white.rank
    H = moments.whitened_slices(white.W) if k else np.zeros((d, 0, 0))
    alpha = _least_differences(H) if feature is None else _least_differences(H[[feature]])
    r = int(alpha.argmax()) if feature is None else int(feature)
    alpha_r = float(alpha.max())
    values, R = np.linalg.eigh(H[r])
    M = np.einsum("rab,ai,bi->ri", H, R, R, optimize=True)
    advice = []
    if k > 1 and alpha_r < SMALL_ALPHA * max(float(np.ptp(values)), TINY):
        advice.append(
            f"The best feature, {r}, hardly tells two components apart (alpha_r = {alpha_r:.2g}): "
            "use sidiwo, which looks at all features, or fewer components."
        )
    T = np.asarray(np.tensordot(white.W, H, 1))
    return from_slices(moments, white, M, T, {"feature": r, "alpha_r": alpha_r}, advice)


def _least_differences(H: Floats) -> Floats:
    """Return the least difference between two eigenvalues of each slice."""
    d, k, _ = H.shape
    step = max(1, CHUNK // max(k * k, 1))
    parts = [np.linalg.eigvalsh(H[at : at + step]) for at in range(0, d, step)]
    return np.asarray(np.diff(np.concatenate(parts), axis=1).min(axis=1, initial=np.inf))
