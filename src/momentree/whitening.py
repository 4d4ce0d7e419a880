"""H Algorithm 1, steps 1 and 2: the top eigenpairs of M2, and W with W M2 W^T = I."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, eigh_tridiagonal

from momentree._types import Floats
from momentree._validation import check_integer
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.objects import Moments, Whitening

__all__ = ["whiten"]


DENSE_FEATURES = 64
"""Up to this d, a dense eigensolver costs no more than a few products and is exact."""
RANK_TOLERANCE = 1e-12
"""Eigenvalues below this fraction of the largest are rounding error."""
ROUNDING = 1e-14
"""Smallest residual attainable in double precision."""
TINY = 1e-300


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
    spectrum, U, residual = _top_eigenpairs(moments, k, tol, limit)
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


def _top_eigenpairs(
    moments: Moments, k: int, tol: float, max_iter: int
) -> tuple[Floats, Floats, float]:
    """Return up to k + 1 top eigenvalues, k vectors, and the largest relative residual."""
    d = moments.m1.shape[0]
    if d <= DENSE_FEATURES:
        M2 = moments.m2 @ np.eye(d)
        values, U = eigh(0.5 * (M2 + M2.T))
        values, U, residual = values[::-1][: k + 1], U[:, ::-1][:, :k], 0.0
    else:
        values, U, residual = _lanczos(moments, k, tol, max_iter)
    signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(k)])
    return values, U * np.where(signs == 0, 1.0, signs), residual


def _lanczos(moments: Moments, k: int, tol: float, max_iter: int) -> tuple[Floats, Floats, float]:
    """Return the k largest Ritz pairs of M2, one more value, and the largest relative residual.

    SciPy's restarted solver returns no pairs if it does not converge, which is common for groups
    of documents on a single topic, whose spectrum is flat. This iteration, with full
    reorthogonalization, always returns its best pairs after `max_iter` products.
    """
    d = moments.m1.shape[0]
    M2 = moments.m2
    # RandomState draws the same numbers with every version of NumPy.
    rng = np.random.RandomState(0)
    # This start permutes with the columns; the root limits the weight of frequent words.
    q = np.sqrt(np.abs(moments.m1))
    if not q.any():
        q = np.asarray(rng.standard_normal(d))
    Q = np.empty((d, min(max_iter, 2 * k + 8)), order="F")
    diagonal, beside = np.zeros(max_iter), np.zeros(max_iter)
    fresh = True
    for j in range(max_iter):
        if j == Q.shape[1]:
            Q = np.concatenate([Q, np.empty((d, min(j, max_iter - j)))], axis=1)
            Q = np.asfortranarray(Q)
        Q[:, j] = q / np.linalg.norm(q)
        q = M2 @ Q[:, j]
        diagonal[j] = Q[:, j] @ q
        q = _without(q, Q[:, : j + 1])
        beta = float(np.linalg.norm(q))
        size = float(max(np.abs(diagonal[: j + 1]).max(), beside[: j + 1].max()))
        closed = beta <= RANK_TOLERANCE * size
        last = j + 1 == max_iter or (closed and not fresh and j + 1 >= k)
        if last or (j + 1 >= k and _due(j)):
            values, S = _top_of_tridiagonal(diagonal[: j + 1], beside[:j], k)
            # Do not divide by an eigenvalue that is itself rounding error.
            sizes = np.maximum(np.abs(values[:k]), RANK_TOLERANCE * np.abs(values).max())
            residual = float((beta * np.abs(S[-1]) / np.maximum(sizes, TINY)).max())
            if last or (not closed and residual <= max(tol, ROUNDING)):
                break
        fresh = not closed
        if closed:
            # The span is invariant. Its complement may still contain components, for example if
            # two are exactly balanced: try a random direction in it, and stop if that adds none.
            q = _without(np.asarray(rng.standard_normal(d)), Q[:, : j + 1])
            beta = 0.0
        beside[j] = beta
    return values, Q[:, : S.shape[0]] @ S, 0.0 if closed or j + 1 == d else residual


def _due(j: int) -> bool:
    """Return whether to compute Ritz pairs after product j; less often for large j (cost O(j))."""
    return j % max(1, j // 16) == 0


def _top_of_tridiagonal(diagonal: Floats, beside: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the k + 1 largest eigenvalues, descending, and the vectors of the first k."""
    m = len(diagonal)
    values, S = eigh_tridiagonal(
        diagonal, beside, select="i", select_range=(max(0, m - k - 1), m - 1)
    )
    return np.asarray(values[::-1], np.float64), np.asarray(S[:, ::-1][:, :k], np.float64)


def _without(q: Floats, Q: Floats) -> Floats:
    """Return q minus its projection onto the columns of Q; twice is enough (Parlett)."""
    for _ in range(2):
        q = q - Q @ (Q.T @ q)
    return q
