"""H Algorithm 1, steps 1 and 2: the top eigenpairs of M2, and W with W M2 W^T = I."""

from __future__ import annotations

import numpy as np

from momentree._eigenpairs import DENSE_FEATURES, RANK_TOLERANCE, ROUNDING, top_eigenpairs
from momentree._validation import check_integer
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.objects import Moments, Whitening

__all__ = ["DENSE_FEATURES", "whiten"]


def whiten(
    moments: Moments, n_components: int, *, tol: float = 1e-9, max_iter: int | None = None
) -> Whitening:
    """Compute the whitening of M2 for k components.

    With M2 ~ U S U^T truncated to the k largest eigenvalues, E = U S^(1/2) and W = S^(-1/2) U^T.

    Parameters
    ----------
    moments : Moments
        Any object with ``m1`` and ``m2``.
    n_components : int >= 1
        Number of components k.
    tol : float >= 0, default=1e-9
        The Lanczos iteration, used for d > 64, stops when the residual of each eigenpair,
        divided by its eigenvalue, is below this.
    max_iter : int >= 1 or None, default=None
        Maximum number of products with M2; at least 2 k + 4 are always allowed. None allows d. If
        the limit is reached, the best pairs so far are returned, and ``converged`` is False.

    Returns
    -------
    Whitening
        If one of the first k eigenvalues is not positive, the data contain fewer components: the
        rank is then less than `n_components`, and ``reason`` explains it. ``residual`` and
        ``converged`` show the accuracy. ``next_eigenvalue``, eigenvalue k + 1, is approximate: it
        has not necessarily converged.

    Notes
    -----
    The Lanczos iteration starts from a fixed vector, so that the result is the same on every run.
    It requires about 10 products with M2 if the spectrum has a gap, up to d if it is flat; each
    product adds memory O(d). The largest entry of each eigenvector is made positive.

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
    check_integer("n_components", n_components, at_least=1)
    check_integer("max_iter", max_iter, at_least=1, optional=True)
    if not hasattr(moments, "whitened_slices"):
        raise InvalidParameterError("not_moments", type=type(moments).__name__)
    d = moments.m1.shape[0]
    k = min(n_components, d)
    limit = d if max_iter is None else min(d, max(max_iter, 2 * k + 4))
    # This start permutes with the columns; the root limits the weight of frequent words.
    start = np.sqrt(np.abs(moments.m1))
    spectrum, U, residual = top_eigenpairs(moments.m2, start, k, tol, limit)
    values = spectrum[:k]
    positive = values > RANK_TOLERANCE * max(values[0], 0.0)
    rank = int(np.argmin(positive)) if not positive.all() else k
    reason = None
    if rank < k:
        reason = Message(
            "rank_too_low",
            rank=rank,
            needed=int(n_components),
            position=rank + 1,
            eigenvalue=float(values[rank]),
        )
    elif rank < n_components:
        reason = Message("more_components_than_features", n_features=d, needed=int(n_components))
    root = np.sqrt(values[:rank])
    U = U[:, :rank]
    next_eigenvalue = float(spectrum[k]) if len(spectrum) > k else float("nan")
    return Whitening(
        (U / root).T,
        U * root,
        values,
        reason,
        next_eigenvalue,
        residual=residual,
        converged=residual <= max(tol, ROUNDING),
    )
