"""Moments from states: of second order, or in a subspace of few directions."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from momentree._types import Floats
from momentree.exceptions import InvalidDataError
from momentree.moments._base import BaseMoments, symmetric
from momentree.moments.factorial import FactorialMoments
from momentree.moments.lda import LDAMoments

OUTSIDE = 1e-6
"""Relative part of W outside the subspace that is no rounding error."""


class SecondMoments(BaseMoments):
    """M1 and M2 without M3, for :func:`momentree.whitening.whiten`.

    Parameters
    ----------
    m1 : ndarray of shape (d,)
        M1.
    m2 : ndarray of shape (d, d)
        M2.
    """

    def __init__(self, m1: Floats, m2: Floats) -> None:
        self._m1, self._m2 = m1, m2

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return self._m1

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (d, d)."""
        return aslinearoperator(self._m2)

    def _slices(self, W: Floats) -> Floats:  # noqa: ARG002
        raise InvalidDataError("second_moments_alone")

    def _tensor(self, W: Floats) -> Floats:  # noqa: ARG002
        raise InvalidDataError("second_moments_alone")


class SubspaceMoments(BaseMoments):
    """M1, and M2 and M3 in a subspace that contains the whitening matrix.

    Parameters
    ----------
    m1 : ndarray of shape (d,)
        M1.
    basis : ndarray of shape (d, m)
        Q, with orthonormal columns.
    products : ndarray of shape (d, m)
        M2 Q.
    slices : ndarray of shape (d, m, m) or None
        Q^T M3[r] Q.
    tensor : ndarray of shape (m, m, m) or None
        M3(Q, Q, Q), if there are no slices.

    Notes
    -----
    M2 is replaced by Q Q^T M2 Q Q^T, which has the same eigenpairs if Q contains eigenvectors.
    """

    def __init__(
        self,
        m1: Floats,
        basis: Floats,
        products: Floats,
        slices: Floats | None,
        tensor: Floats | None,
    ) -> None:
        self._m1, self.basis, self.products = m1, basis, products
        self.slices, self.tensor = slices, tensor
        S = basis.T @ products
        self._core = 0.5 * (S + S.T)

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return self._m1

    @property
    def m2(self) -> LinearOperator:
        """M2 in the subspace, as an operator of shape (d, d)."""
        Q, S = self.basis, self._core
        return symmetric(len(self._m1), lambda V: np.asarray(Q @ (S @ (Q.T @ V))))

    def whitened_slices(self, W: ArrayLike) -> Floats:
        """Return H[r] = W M3[r] W^T, shape (d, k, k), for W in the subspace."""
        return super().whitened_slices(W)

    def _slices(self, W: Floats) -> Floats:
        A = self._inside(W)
        if self.slices is None:
            raise InvalidDataError("tensor_alone")
        return np.asarray(A @ self.slices @ A.T)

    def _tensor(self, W: Floats) -> Floats:
        A = self._inside(W)
        T = self.tensor
        if self.slices is not None:
            T = np.asarray(np.tensordot(self.basis.T, self.slices, axes=1))
        if T is None:
            raise InvalidDataError("second_moments_alone")
        return np.asarray(np.einsum("ai,bj,cl,ijl->abc", A, A, A, T, optimize=True))

    def _inside(self, W: Floats) -> Floats:
        """Return A with W = A Q^T."""
        A = W @ self.basis
        if np.linalg.norm(W - A @ self.basis.T) > OUTSIDE * np.linalg.norm(W):
            raise InvalidDataError("outside_subspace", n_components=self.basis.shape[1])
        return A


class _Words(SubspaceMoments):
    """Moments of words whose M2 is exact on the subspace, but not symmetric outside of it."""

    @property
    def m2(self) -> LinearOperator:
        return symmetric(len(self._m1), lambda V: np.asarray(self.products @ (self.basis.T @ V)))


def subspace_lda(found: SubspaceMoments, alpha0: float) -> SubspaceMoments:
    """Return the moments of latent Dirichlet allocation, given those of words.

    Parameters
    ----------
    found : SubspaceMoments
        Moments N1, N2, N3 of words.
    alpha0 : float > 0
        Total concentration.

    Returns
    -------
    SubspaceMoments
        As :class:`LDAMoments`.
    """
    Q = found.basis
    raw = _Words(found.m1, Q, found.products, found.slices, found.tensor)
    lda = LDAMoments(cast("FactorialMoments", raw), alpha0)
    products = np.asarray(lda.m2 @ Q)
    if found.slices is None:
        return SubspaceMoments(found.m1, Q, products, None, lda.whitened_tensor(Q.T))
    return SubspaceMoments(found.m1, Q, products, lda.whitened_slices(Q.T), None)


class SphericalSubspaceMoments(SubspaceMoments):
    """Moments of spherical Gaussians with one variance, as :class:`SphericalGaussianMoments`.

    Attributes
    ----------
    variances, variance, weighted_variances, shift, constant
        As in :class:`SphericalGaussianMoments`.
    """

    variances = "shared"
    constant: float | None = None

    def __init__(
        self,
        m1: Floats,
        basis: Floats,
        products: Floats,
        slices: Floats | None,
        tensor: Floats | None,
        variance: float,
    ) -> None:
        super().__init__(m1, basis, products, slices, tensor)
        self.variance, self.weighted_variances = variance, variance * m1
        self.shift = np.zeros(len(m1))


def spherical_moments(raw: SubspaceMoments, variance: float) -> SphericalSubspaceMoments:
    """Return the moments of spherical Gaussians, given raw moments and the variance.

    Parameters
    ----------
    raw : SubspaceMoments
        Means of x, x x^T and x (x) x (x) x.
    variance : float >= 0
        The variance of all features in all components.

    Returns
    -------
    SphericalSubspaceMoments
        The moments.
    """
    Q, g = raw.basis, variance * raw.m1
    k, q = Q.shape[1], Q.T @ g
    H, T = raw.slices, raw.tensor
    if H is not None:
        cross = np.multiply.outer(Q, q)
        H = H - np.multiply.outer(g, np.eye(k)) - cross - cross.transpose(0, 2, 1)
    if T is not None:
        C = np.multiply.outer(q, np.eye(k))
        T = T - C - C.transpose(1, 0, 2) - C.transpose(1, 2, 0)
    return SphericalSubspaceMoments(raw.m1, Q, raw.products - variance * Q, H, T, variance)
