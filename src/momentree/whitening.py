"""Whitening: the top eigenpairs of M2, and the map W with W M2 W^T = I (H Algorithm 1, 1-2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from momentree.exceptions import InvalidParameterError
from momentree.objects import Moments, Whitening

__all__ = ["whiten"]

Floats = NDArray[np.float64]

DENSE_FEATURES = 64
"""Up to this d a dense eigen-solver is as cheap as a few products, and exact."""
RANK_TOLERANCE = 1e-12
"""Eigenvalues below this share of the largest are rounding error of the products, not signal."""


def whiten(moments: Moments, n_components: int, *, tol: float = 1e-6) -> Whitening:
    """Return the whitening of M2 for a number of components.

    With M2 ~ U S U^T truncated at the k-th largest eigenvalue, E = U S^(1/2) and
    W = S^(-1/2) U^T.

    Parameters
    ----------
    moments : Moments
        Any object with ``m1`` and ``m2``.
    n_components : int >= 1
        Number of components k.
    tol : float, default=1e-6
        Relative accuracy of the eigenvalues from the iterative solver, used for d > 64.

    Returns
    -------
    Whitening
        Its rank is less than `n_components`, and its reason says why, when an eigenvalue among
        the first k is not positive: the data hold fewer components.

    Raises
    ------
    InvalidParameterError
        If `n_components` is less than 1.

    Notes
    -----
    Step 1 and 2 of H Algorithm 1. The solver (implicitly restarted Lanczos) starts from a fixed
    vector, so that the answer is the same on every run. About 10 products with M2;
    memory O(d k). The sign of each eigenvector is fixed by its entry of largest size.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import SingleTopicMoments
    >>> from momentree.whitening import whiten
    >>> moments = SingleTopicMoments.from_parameters([0.5, 0.5], np.eye(3)[:2])
    >>> found = whiten(moments, 2)
    >>> (found.W @ (moments.m2 @ found.W.T)).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    >>> whiten(moments, 3).rank
    2
    """
    if n_components < 1:
        msg = f"n_components={n_components}; expected 1 or more"
        raise InvalidParameterError(msg)
    d = moments.m1.shape[0]
    k = min(n_components, d)
    values, U = _top_eigenpairs(moments, k, tol)
    positive = values > RANK_TOLERANCE * max(values[0], 0.0)
    rank = int(np.argmin(positive)) if not positive.all() else k
    reason = ""
    if rank < n_components:
        shown = f"eigenvalue {rank + 1} of M2 is {values[rank]:.3g}" if rank < k else f"d = {d}"
        reason = f"M2 shows {rank} component(s) of {n_components} asked for ({shown})"
    root = np.sqrt(values[:rank])
    U = U[:, :rank]
    return Whitening(W=(U / root).T, E=U * root, eigenvalues=values, reason=reason)


def _top_eigenpairs(moments: Moments, k: int, tol: float) -> tuple[Floats, Floats]:
    m1 = moments.m1
    d = m1.shape[0]
    if d <= DENSE_FEATURES or d <= 2 * k + 2:
        M2 = moments.m2 @ np.eye(d)
        values, U = eigh(0.5 * (M2 + M2.T))
    else:
        # M1 lies in the span of the components; the fixed noise keeps it from being orthogonal
        # to an eigenvector, which happens when components are exactly balanced.
        noise = np.random.RandomState(0).uniform(0.5, 1.5, size=d)  # noqa: NPY002 - same on all versions
        start = m1 * noise
        try:
            values, U = eigsh(moments.m2, k=k, which="LA", v0=start, ncv=max(2 * k + 2, 6), tol=tol)
        except ArpackNoConvergence:
            values, U = eigsh(moments.m2, k=k, which="LA", v0=start, ncv=min(d, 8 * k + 16), tol=1e-3)
    order = np.argsort(values)[::-1][:k]
    values, U = values[order], U[:, order]
    signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(k)])
    return values, U * np.where(signs == 0, 1.0, signs)
