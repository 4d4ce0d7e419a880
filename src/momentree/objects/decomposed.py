"""Moments, Whitening and Decomposition: the results that mathematical functions exchange."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats
from momentree.messages import Message


class Moments(Protocol):
    """Protocol of moments M1, M2, M3 of data or of a model.

    In every model they have the form M1 = sum_i w_i mu_i, M2 = sum_i w_i mu_i mu_i^T and
    M3 = sum_i w_i mu_i (x) mu_i (x) mu_i (S eq. 2, H eq. 1 and 2). M3 is accessed only after
    whitening, so that no d x d x d array is formed.
    """

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        ...

    @property
    def m2(self) -> LinearOperator:
        """M2 as a symmetric operator of shape (d, d)."""
        ...

    def whitened_slices(self, W: Floats) -> Floats:
        """Return H[r] = W M3[r] W^T, the slices of M3 whitened in two modes.

        Parameters
        ----------
        W : ndarray of shape (k, d)
            Whitening matrix.

        Returns
        -------
        ndarray of shape (d, k, k)
            Symmetric in its last two axes.
        """
        ...

    def whitened_tensor(self, W: Floats) -> Floats:
        """Return T = M3(W, W, W) = sum_r W[:, r] (x) H[r], without the d slices.

        Parameters
        ----------
        W : ndarray of shape (k, d)
            Whitening matrix.

        Returns
        -------
        ndarray of shape (k, k, k)
            Symmetric.
        """
        ...


@dataclass(frozen=True)
class Whitening:
    """Truncated eigendecomposition M2 ~ E E^T and the whitening matrix W, with W M2 W^T = I.

    Attributes
    ----------
    W : ndarray of shape (rank, d)
        W = S^(-1/2) U^T.
    E : ndarray of shape (d, rank)
        E = U S^(1/2), the pseudo-inverse of W.
    eigenvalues : ndarray of shape (n_components,)
        The largest eigenvalues of M2, descending; the first `rank` are used.
    reason : Message or None
        Why `rank` is less than the requested number of components; None if it is not.
    next_eigenvalue : float
        The next eigenvalue after `eigenvalues`, which shows the gap in the spectrum; NaN if there
        is none or it is unknown.
    residual : float
        Largest ||M2 u - s u|| / s of the eigenpairs (u, s). The sine of the angle between E and
        the true subspace is at most about ``residual * s_k / (s_k - s_(k+1))``.
    converged : bool
        Whether `residual` met the tolerance before the iteration reached its limit.
    """

    W: Floats
    E: Floats
    eigenvalues: Floats
    reason: Message | None = None
    next_eigenvalue: float = float("nan")
    residual: float = 0.0
    converged: bool = True

    @property
    def rank(self) -> int:
        """Number of components supported by M2."""
        return int(self.W.shape[0])


@dataclass(frozen=True)
class Decomposition:
    """Components recovered from moments: centers [mu_1 ... mu_k] and their weights.

    Attributes
    ----------
    centers : ndarray of shape (d, k)
        mu_i in columns, not projected to valid parameters: entries may be negative.
    weights : ndarray of shape (k,)
        w_i >= 0, descending; they sum to 1 up to sampling error.
    diagnostics : mapping
        Measures of reliability ("eigenvalues", "objective", ...), and "reason": a Message if
        there are fewer components than requested, else None.
    """

    centers: Floats
    weights: Floats
    diagnostics: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_components(self) -> int:
        """Number of components found."""
        return int(self.weights.shape[0])
