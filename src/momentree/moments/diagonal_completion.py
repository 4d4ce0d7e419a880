"""Complete the diagonal of M2 from its other entries, which a rank of k determines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.optimize import Bounds, minimize

from momentree._types import Floats
from momentree._validation import as_floats, check_integer, check_number, check_shape
from momentree.exceptions import InvalidDataError

WARM_UP = 5
"""Steps of the fixed-point iteration before L-BFGS: cheap, and far from local minima."""


@dataclass(frozen=True)
class CompletedMatrix:
    """A symmetric matrix of low rank that agrees with the known entries of another.

    Attributes
    ----------
    values : ndarray of shape (rank,)
        Eigenvalues >= 0, descending.
    vectors : ndarray of shape (d, rank)
        Eigenvectors, in columns; the largest entry of each is positive.
    residual : float
        Norm of the known entries that the matrix does not explain, relative to their norm.
    n_iter : int
        Number of eigendecompositions.
    converged : bool
        Whether the entries changed by less than the tolerance at the end.
    """

    values: Floats
    vectors: Floats
    residual: float
    n_iter: int
    converged: bool

    @property
    def matrix(self) -> Floats:
        """The completed matrix, of shape (d, d)."""
        return np.asarray((self.vectors * self.values) @ self.vectors.T)


def complete_diagonal(
    M2: ArrayLike,
    rank: int,
    *,
    blocks: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    tol: float = 1e-10,
    max_iter: int = 500,
) -> CompletedMatrix:
    r"""Find the matrix of rank k that agrees best with the off-diagonal entries of M2.

    In a mixture whose features are independent within components, the cross moments of two
    different features are :math:`\sum_i w_i \mu_{ai} \mu_{bi}`, but moments of a feature with
    itself also contain its variance. With :math:`\Omega` the pairs of features that are not in the
    same block, the result minimizes

    .. math:: \sum_{(a, b) \in \Omega} (M_2[a, b] - L[a, b])^2, \quad \text{rank } L \le k, L \ge 0.

    Parameters
    ----------
    M2 : array-like of shape (d, d)
        Symmetric and finite. The entries within blocks are ignored, except as a start.
    rank : int from 1 to d
        Number of components k.
    blocks : array-like of int of shape (d,), default=None
        Block of each feature, such as the variable of each category or the view of each column:
        all entries of M2 between two features of a block are completed. None means that each
        feature is a block, so that only the diagonal is completed.
    lower, upper : array-like of shape (d,), default=None
        Limits of the diagonal, such as M1 squared and the raw second moments, between which the
        second moments of component means lie.
    tol : float >= 0, default=1e-10
        Stop when the completed entries change by less, relative to the largest entry of M2.
    max_iter : int >= 1, default=500
        Maximum number of eigendecompositions.

    Returns
    -------
    CompletedMatrix
        Eigenvalues and eigenvectors of the result, with the residual.

    Raises
    ------
    InvalidDataError
        If M2 is not symmetric and finite, if shapes do not match, or if there are fewer known
        entries than a matrix of this rank has free parameters (code ``diagonal_not_determined``).

    Notes
    -----
    Completion of the diagonal as by Jain and Oh [1]_, by the criterion of least-squares factor
    analysis [2]_: L-BFGS-B over the missing entries, each step an eigendecomposition, O(d^3) time
    and O(d^2) memory. The criterion has the units of M2: scale the features first if their units
    differ.

    References
    ----------
    .. [1] P. Jain, S. Oh. Learning mixtures of discrete product distributions using spectral
       decompositions. COLT 2014, 824-856.
    .. [2] H. H. Harman, W. H. Jones. Factor analysis by minimizing residuals (minres).
       Psychometrika 31, 351-368, 1966. doi:10.1007/BF02289468

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import complete_diagonal
    >>> mu = np.array([[0.9, 0.1], [0.2, 0.7], [0.5, 0.3], [0.1, 0.8], [0.6, 0.6]])
    >>> M2 = mu @ mu.T / 2
    >>> raw = M2 + np.diag((mu - mu**2).mean(axis=1))
    >>> np.allclose(complete_diagonal(raw, 2).matrix, M2)
    True
    """
    M2 = as_floats("M2", M2)
    check_shape("M2", M2, ("d", "d"))
    d = len(M2)
    check_shape("M2", M2, (d, d))
    if not np.isfinite(M2).all():
        raise InvalidDataError("not_finite", parameter="M2")
    size = float(np.abs(M2).max(initial=0.0))
    if not np.allclose(M2, M2.T, rtol=0, atol=1e-8 * size):
        raise InvalidDataError("not_symmetric", parameter="M2")
    check_integer("rank", rank, at_least=1, at_most=max(d, 1))
    check_number("tol", tol, at_least=0)
    check_integer("max_iter", max_iter, at_least=1)
    at = _missing(d, blocks)
    known = (d * d - np.count_nonzero(at)) // 2
    free = d * rank - rank * (rank - 1) // 2
    if known < free:
        raise InvalidDataError("diagonal_not_determined", known=known, free=free, rank=rank)
    low, high = _limits("lower", lower, d, -np.inf), _limits("upper", upper, d, np.inf)
    if (low > high).any():
        raise InvalidDataError("limits_crossed", feature=int(np.argmax(low > high)))
    return _complete(0.5 * (M2 + M2.T), rank, at, (low, high), tol, max_iter)


def _missing(d: int, blocks: ArrayLike | None) -> NDArray[np.bool_]:
    """Return which entries to complete, of shape (d, d)."""
    if blocks is None:
        return np.eye(d, dtype=bool)
    of = np.asarray(blocks)
    check_shape("blocks", of, (d,))
    return np.asarray(of[:, None] == of[None, :])


def _limits(parameter: str, values: ArrayLike | None, d: int, default: float) -> Floats:
    if values is None:
        return np.full(d, default)
    found = as_floats(parameter, values)
    check_shape(parameter, found, (d,))
    if np.isnan(found).any():
        raise InvalidDataError("not_finite", parameter=parameter)
    return found


def _complete(
    M2: Floats,
    k: int,
    at: NDArray[np.bool_],
    limits: tuple[Floats, Floats],
    tol: float,
    max_iter: int,
) -> CompletedMatrix:
    d = len(M2)
    scale = float(np.abs(np.where(at, 0.0, M2)).max(initial=0.0)) or 1.0
    Z = M2 / scale
    on_diagonal = np.eye(d, dtype=bool)[at]
    low, high = np.full(on_diagonal.shape, -np.inf), np.full(on_diagonal.shape, np.inf)
    low[on_diagonal], high[on_diagonal] = limits[0] / scale, limits[1] / scale
    n_iter = 0

    def value_and_gradient(x: Floats) -> tuple[float, Floats]:
        nonlocal n_iter
        n_iter += 1
        Z[at] = x
        values, U = _top(Z, k)
        R = Z - (U * values) @ U.T
        return 0.5 * float(np.sum(R * R)), R[at]

    x = np.clip(Z[at], low, high)
    for _ in range(min(WARM_UP, max_iter)):
        x = np.clip(x - value_and_gradient(x)[1], low, high)
    if n_iter < max_iter:
        x = minimize(
            value_and_gradient,
            x,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(low, high),
            options={"maxfun": max_iter - n_iter, "maxiter": max_iter, "ftol": 0.0, "gtol": tol},
        ).x
    step = np.clip(x - value_and_gradient(x)[1], low, high) - x
    values, U = _top(Z, k)
    R = np.where(at, 0.0, Z - (U * values) @ U.T)
    norm = float(np.linalg.norm(np.where(at, 0.0, Z)))
    change = float(np.abs(step).max(initial=0.0))
    return CompletedMatrix(
        values * scale,
        U,
        float(np.linalg.norm(R)) / max(norm, 1e-300),
        n_iter,
        # Rounding of an eigendecomposition can exceed a smaller tolerance.
        change <= max(tol, 1e-12 * d),
    )


def _top(Z: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues, clipped at zero, and their vectors."""
    d = len(Z)
    values, U = eigh(Z, subset_by_index=(d - k, d - 1))
    values, U = np.maximum(values[::-1], 0.0), U[:, ::-1]
    signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(k)])
    return np.asarray(values), np.asarray(U * np.where(signs == 0, 1.0, signs))
