"""Whitening: the top eigenpairs of M2, and the map W with W M2 W^T = I (H Algorithm 1, 1-2)."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from momentree.exceptions import InvalidParameterError
from momentree.objects import Moments, Whitening

__all__ = ["whiten"]

Floats = NDArray[np.float64]

DENSE_FEATURES = 64
"""Up to this d a dense eigen-solver is as cheap as a few products, and exact."""
RANK_TOLERANCE = 1e-12
"""Eigenvalues below this share of the largest are rounding error of the products, not signal."""


def whiten(
    moments: Moments, n_components: int, *, tol: float = 1e-9, max_iter: int = 50
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
    max_iter : int >= 1, default=50
        Most products with M2, but never fewer than 2 k + 4. Where the spectrum is flat the
        iteration ends here, with the best pairs so far.

    Returns
    -------
    Whitening
        Its rank is less than `n_components`, and its reason says why, when an eigenvalue among
        the first k is not positive: the data hold fewer components. Its `next_eigenvalue` is
        eigenvalue k + 1, as good as the iteration has it when the first k have converged.

    Raises
    ------
    InvalidParameterError
        If `n_components` is no whole number or less than 1, or `moments` are no moments.

    Notes
    -----
    Step 1 and 2 of H Algorithm 1. The Lanczos iteration starts from a fixed vector, so that the
    answer is the same on every run. About 10 products with M2 where there is a gap in the
    spectrum; memory O(d max_iter). The sign of each eigenvector is fixed by its entry of largest
    size.

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
    d = moments.m1.shape[0]
    k = min(n_components, d)
    spectrum, U = _top_eigenpairs(moments, k, tol, max_iter)
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
    return Whitening((U / root).T, U * root, values, reason, following)


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
    whole = isinstance(n_components, Integral) and not isinstance(n_components, bool)
    if not whole or n_components < 1:
        msg = f"n_components={n_components!r}; expected a whole number, 1 or more"
        raise InvalidParameterError(msg)


def _top_eigenpairs(moments: Moments, k: int, tol: float, max_iter: int) -> tuple[Floats, Floats]:
    """Return the k + 1 largest eigenvalues, as far as they are known, and the first k vectors."""
    d = moments.m1.shape[0]
    if d <= DENSE_FEATURES:
        M2 = moments.m2 @ np.eye(d)
        values, U = eigh(0.5 * (M2 + M2.T))
        values, U = values[::-1][: k + 1], U[:, ::-1][:, :k]
    else:
        values, U = _lanczos(moments, k, tol, min(d, max(max_iter, 2 * k + 4)))
    signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(k)])
    return values, U * np.where(signs == 0, 1.0, signs)


def _lanczos(moments: Moments, k: int, tol: float, max_iter: int) -> tuple[Floats, Floats]:
    """Return the k largest Ritz pairs of M2 and one more value.

    Full reorthogonalisation, and a fixed start.

    A library's restarted solver gives nothing where it does not converge, which is the rule for
    groups of documents on a single topic: their spectrum is flat. Here the best pairs after
    `max_iter` products always come back.
    """
    d = moments.m1.shape[0]
    # The start depends on the columns by their values alone, so that it moves with them when
    # they are permuted; the root keeps the frequent words from hiding the others.
    q = np.sqrt(np.abs(moments.m1))
    # The stream of RandomState is the same on every version of NumPy.
    rng = np.random.RandomState(0)
    Q = np.zeros((d, max_iter), order="F")
    T = np.zeros((max_iter, max_iter))
    M2 = moments.m2
    fresh = True
    for j in range(max_iter):
        Q[:, j] = q / np.linalg.norm(q)
        q = M2 @ Q[:, j]
        T[j, j] = Q[:, j] @ q
        q = _without(q, Q[:, : j + 1])
        beta = float(np.linalg.norm(q))
        values, S = eigh(T[: j + 1, : j + 1])
        values, S = values[::-1][: k + 1], S[:, ::-1][:, :k]
        if beta <= RANK_TOLERANCE * float(np.abs(values).max()):
            # The span is invariant. What it leaves out may hold components still, as where two
            # are exactly balanced; when a direction of it adds nothing, there are no more.
            if not fresh and j + 1 >= k:
                break
            q = _without(np.asarray(rng.standard_normal(d)), Q[:, : j + 1])
            beta, fresh = 0.0, False
        else:
            fresh = True
            if j + 1 >= k and (beta * np.abs(S[-1]) <= tol * np.abs(values[:k])).all():
                break
        if j + 1 < max_iter:
            T[j, j + 1] = T[j + 1, j] = beta
    return values, Q[:, : S.shape[0]] @ S


def _without(q: Floats, Q: Floats) -> Floats:
    """Return q less its projection on the columns of Q; twice is enough (Parlett)."""
    for _ in range(2):
        q = q - Q @ (Q.T @ q)
    return q
