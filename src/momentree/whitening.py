"""Whitening: the top eigenpairs of M2, and the map W with W M2 W^T = I (H Algorithm 1, 1-2)."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, eigh_tridiagonal

from momentree.exceptions import InvalidParameterError
from momentree.objects import Moments, Whitening

__all__ = ["whiten"]

Floats = NDArray[np.float64]

DENSE_FEATURES = 64
"""Up to this d a dense eigen-solver is as cheap as a few products, and exact."""
RANK_TOLERANCE = 1e-12
"""Eigenvalues below this share of the largest are rounding error of the products, not signal."""
ROUNDING = 1e-14
"""Residuals are not to be had below this."""
TINY = 1e-300


def whiten(
    moments: Moments, n_components: int, *, tol: float = 1e-9, max_iter: int | None = None
) -> Whitening:
    """Return the whitening of M2 for a number of components.

    With M2 ~ U S U^T truncated at the k-th largest eigenvalue, E = U S^(1/2) and
    W = S^(-1/2) U^T.

    Parameters
    ----------
    moments : Moments
        Any object with ``m1`` and ``m2``.
    n_components : int >= 1
        Number of components k.
    tol : float >= 0, default=1e-9
        The Lanczos iteration, used for d > 64, stops when the residual of each eigenpair is
        below this share of its eigenvalue.
    max_iter : int >= 1 or None, default=None
        Most products with M2, but never fewer than 2 k + 4. None takes as many as the tolerance
        requires, d at most. An iteration that ends here returns the best pairs so far, and its
        ``converged`` is False.

    Returns
    -------
    Whitening
        Its rank is less than `n_components`, and its reason says why, when an eigenvalue among
        the first k is not positive: the data hold fewer components. Its ``residual`` and
        ``converged`` say how exact it is. Its `next_eigenvalue` is eigenvalue k + 1, as good as
        the iteration has it when the first k have converged.

    Raises
    ------
    InvalidParameterError
        If `n_components` or `max_iter` is no whole number or less than 1, or `moments` are no
        moments.

    Notes
    -----
    Step 1 and 2 of H Algorithm 1. The Lanczos iteration starts from a fixed vector, so that the
    answer is the same on every run. About 10 products with M2 where there is a gap in the
    spectrum, up to d where it is flat; memory O(d) for each product. The sign of each eigenvector
    is fixed by its entry of largest size.

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
    check_n_components(n_components)
    if not hasattr(moments, "whitened_slices"):
        msg = (
            f"moments is a {type(moments).__name__}; expected moments, such as "
            "momentree.moments.SingleTopicMoments.from_data(X)"
        )
        raise InvalidParameterError(msg)
    if max_iter is not None:
        check_n("max_iter", max_iter)
    d = moments.m1.shape[0]
    k = min(n_components, d)
    limit = d if max_iter is None else min(d, max(max_iter, 2 * k + 4))
    spectrum, U, residual = _top_eigenpairs(moments, k, tol, limit)
    values = spectrum[:k]
    positive = values > RANK_TOLERANCE * max(values[0], 0.0)
    rank = int(np.argmin(positive)) if not positive.all() else k
    reason = ""
    if rank < n_components:
        shown = f"eigenvalue {rank + 1} of M2 is {values[rank]:.3g}" if rank < k else f"d = {d}"
        reason = f"M2 shows {rank} component(s) of {n_components} asked for ({shown})"
    root = np.sqrt(values[:rank])
    U = U[:, :rank]
    following = float(spectrum[k]) if len(spectrum) > k else float("nan")
    return Whitening(
        (U / root).T,
        U * root,
        values,
        reason,
        following,
        residual=residual,
        converged=residual <= max(tol, ROUNDING),
    )


def check_n_components(n_components: int) -> None:
    """Refuse a number of components that is no whole number, or less than 1.

    Parameters
    ----------
    n_components : int >= 1
        Number of components.

    Raises
    ------
    InvalidParameterError
        If it is not; True, which Python takes for 1, is not either.
    """
    check_n("n_components", n_components)


def check_n(name: str, n: object) -> None:
    """Refuse a number that is no whole number, or less than 1.

    Raises
    ------
    InvalidParameterError
        With the name and value.
    """
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        msg = f"{name}={n!r}; expected a whole number, 1 or more"
        raise InvalidParameterError(msg)


def _top_eigenpairs(
    moments: Moments, k: int, tol: float, max_iter: int
) -> tuple[Floats, Floats, float]:
    """Return the k + 1 largest eigenvalues, as far as they are known, k vectors, and a residual.

    The residual is the largest of the k pairs, as a share of its eigenvalue.
    """
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
    """Return the k largest Ritz pairs of M2, one more value, and the residual.

    Full reorthogonalisation, and a fixed start.

    A library's restarted solver gives nothing where it does not converge, which is the rule for
    groups of documents on a single topic: their spectrum is flat. Here the best pairs after
    `max_iter` products always come back.
    """
    d = moments.m1.shape[0]
    M2 = moments.m2
    # The stream of RandomState is the same on every version of NumPy.
    rng = np.random.RandomState(0)
    # The start depends on the columns by their values alone, so that it moves with them when
    # they are permuted; the root keeps the frequent words from hiding the others.
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
            # The size of an eigenvalue that is rounding error itself is nothing to go by.
            sizes = np.maximum(np.abs(values[:k]), RANK_TOLERANCE * np.abs(values).max())
            residual = float((beta * np.abs(S[-1]) / np.maximum(sizes, TINY)).max())
            if last or (not closed and residual <= max(tol, ROUNDING)):
                break
        fresh = not closed
        if closed:
            # The span is invariant. What it leaves out may hold components still, as where two
            # are exactly balanced; when a direction of it adds nothing, there are no more.
            q = _without(np.asarray(rng.standard_normal(d)), Q[:, : j + 1])
            beta = 0.0
        beside[j] = beta
    return values, Q[:, : S.shape[0]] @ S, 0.0 if closed or j + 1 == d else residual


def _due(j: int) -> bool:
    """Whether to look at the Ritz pairs after product j: ever more seldom, as each look costs j."""
    return j % max(1, j // 16) == 0


def _top_of_tridiagonal(diagonal: Floats, beside: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the k + 1 largest eigenvalues, descending, and the vectors of the first k."""
    m = len(diagonal)
    values, S = eigh_tridiagonal(
        diagonal, beside, select="i", select_range=(max(0, m - k - 1), m - 1)
    )
    return np.asarray(values[::-1], np.float64), np.asarray(S[:, ::-1][:, :k], np.float64)


def _without(q: Floats, Q: Floats) -> Floats:
    """Return q less its projection on the columns of Q; twice is enough (Parlett)."""
    for _ in range(2):
        q = q - Q @ (Q.T @ q)
    return q
