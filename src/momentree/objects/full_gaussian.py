"""Parameters of mixtures of Gaussians with any covariances, one for each component or for all."""

import math
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.objects import gaussian, mixtures


@dataclass(frozen=True)
class FullGaussianParameters(gaussian.FlooredGaussians):
    """Parameters of a mixture of Gaussians, each with its own covariances.

        log P[x, j] = x . P_j mu_j - x' P_j x / 2 + b_j + const,   P_j = Sigma_j^-1,

    linear in the statistics (x, vech(x x')), where vech contains x_v x_w for v <= w.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_j = E[x | component j] in columns.
    covariances : ndarray of shape (k, d, d)
        Sigma_j, positive definite.
    floor : float or ndarray of shape (d,)
        Setting of the family: added to each variance in the M-step.
    """

    covariances: Floats

    def reordered(self, order: Ints) -> Self:
        """Return the same components in another order."""
        return self.member(self.weights[order], self.centers[:, order], self.covariances[order])

    @classmethod
    def statistics(cls, X: Any) -> Any:
        """Return (x, vech(x x')) of every sample; all values are stored, zeros too."""
        return stored(lifted(X))

    @classmethod
    def n_features(cls, n_statistics: int) -> int:
        """Return d, where p = d + d (d + 1) / 2."""
        return (math.isqrt(9 + 8 * n_statistics) - 3) // 2

    @cached_property
    def _precisions(self) -> tuple[Floats, Floats]:
        """P_j of shape (k, d, d), and log det Sigma_j of shape (k,)."""
        return _inverses(self.covariances)

    @cached_property
    def _turned(self) -> Floats:
        """P_j mu_j in rows, shape (k, d)."""
        return np.asarray((self._precisions[0] @ self.centers.T[:, :, None])[:, :, 0])

    @property
    def coefficients(self) -> Floats:
        """P_j mu_j, and -P_j / 2 on the diagonal and -P_j above it, shape (p, k)."""
        P = self._precisions[0]
        v, w = _triangle(P.shape[1])
        quadratic = P[:, v, w] * np.where(v == w, -0.5, -1.0)
        return np.hstack([self._turned, quadratic]).T

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j - (mu_j' P_j mu_j + log det Sigma_j) / 2, shape (k,)."""
        log_determinants = self._precisions[1]
        distances = (self._turned * self.centers.T).sum(axis=1)
        return np.asarray(self.log_weights - 0.5 * (distances + log_determinants))

    @mixtures.family_method
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the means mu_j = S_j / N_j and the covariances Sigma_j.

            Sigma_j = (V_j + smoothing V) / (N_j + smoothing) + diag(floor)

        V_j is the sum of (x - mu_j)(x - mu_j)', and V = sum_j V_j / sum N the pooled covariance:
        the prior adds `smoothing` samples of covariance V. An empty component gets the overall
        mean and the pooled covariance.
        """
        d = cls.n_features(len(sums))
        centers, within, pooled = _around_means(sums, sizes, d)
        N = sizes + smoothing
        covariances = (within + smoothing * pooled) / np.where(N > 0, N, 1.0)[:, None, None]
        covariances[N <= 0] = pooled
        total = square_matrices(sums[d:].sum(axis=1), d) / sizes.sum()
        mean = sums[:d].sum(axis=1) / sizes.sum()
        floored = bool(np.any(cls.floor))
        least = least_variance(np.diag(total), mean, floored=floored)
        covariances[:, np.arange(d), np.arange(d)] += cls.floor
        return cls.member(sizes / sizes.sum(), centers, positive_definite(covariances, least))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return -smoothing / 2 sum_j (log det Sigma_j + tr(P_j V)), the log prior density.

        The pooled covariance V changes between EM steps, and with it this prior.
        """
        if not smoothing:
            return 0.0
        pooled = _around_means(sums, sizes, len(self.centers))[2]
        P, log_determinants = self._precisions
        traces = np.einsum("jvw,vw->j", P, pooled)
        return -0.5 * smoothing * float((log_determinants + traces).sum())

    @mixtures.family_method
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return -(N / 2) (log det Sigma + d) of each group, with its own covariances."""
        d, shape = cls.n_features(len(sums)), np.shape(sizes)
        sums, sizes = sums.reshape(len(sums), -1), np.ravel(sizes)
        N = np.where(sizes > 0, sizes, 1.0)
        means = sums[:d] / N
        C = square_matrices(sums[d:] / N, d) - np.einsum("vj,wj->jvw", means, means)
        squares = sums[d:][_diagonal(d)] / N
        at = np.arange(d)
        C[:, at, at] = np.maximum(C[:, at, at], 1e-12 * squares.T) + cls.floor
        values = np.linalg.eigvalsh(C)
        largest = np.maximum(values[:, -1:], 1e-300)
        logs = np.log(np.maximum(values, 1e-12 * largest)).sum(axis=1)
        return np.asarray(-0.5 * sizes * (logs + d)).reshape(shape)


@dataclass(frozen=True)
class SharedGaussianParameters(mixtures.MixtureParameters):
    """Parameters of a mixture of Gaussians that share their covariances.

        log P[x, j] = x . P mu_j + b_j + const,   P = Sigma^-1

    The quadratic term x' P x is the same in all components: offsets contain its mean, so that sums
    of log-likelihoods over all samples are right, and those of single samples are not. This needs
    the mean C of x x' over all samples: fit members of the family that :meth:`with_squares`
    returns.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_j = E[x | component j] in columns.
    covariance : ndarray of shape (d, d)
        Sigma, positive definite.
    floor : float or ndarray of shape (d,)
        Setting of the family: added to each variance in the M-step.
    squares : ndarray of shape (d, d)
        Setting of the family: C.
    """

    covariance: Floats

    floor: Floats | float = field(default=0.0, kw_only=True, compare=False, repr=False)
    """Added to each variance in the M-step, one value or shape (d,)."""
    squares: Any = field(default=0.0, kw_only=True, compare=False, repr=False)
    """C, shape (d, d); without it, offsets lack a term that is the same in all components."""

    signed: ClassVar[bool] = True
    separate: ClassVar[bool] = False

    @classmethod
    def with_squares(cls, squares: Floats, floor: Floats | float = 0.0) -> Self:
        """Return the family for samples with a given mean of x x'.

        Parameters
        ----------
        squares : ndarray of shape (d, d)
            C, the weighted mean of x x' over all samples.
        floor : float or ndarray of shape (d,), default=0.0
            Added to each variance in the M-step.

        Returns
        -------
        SharedGaussianParameters
            A member of the family, whose components mean nothing.
        """
        return cls(np.ones(1), np.zeros((0, 1)), np.ones((0, 0)), floor=floor, squares=squares)

    def reordered(self, order: Ints) -> Self:
        """Return the same components in another order."""
        return self.member(self.weights[order], self.centers[:, order], self.covariance)

    @cached_property
    def _precision(self) -> tuple[Floats, float]:
        """P of shape (d, d), and log det Sigma."""
        P, log_determinants = _inverses(self.covariance[None])
        return P[0], float(log_determinants[0])

    @property
    def coefficients(self) -> Floats:
        """P mu_j, shape (d, k)."""
        return np.asarray(self._precision[0] @ self.centers)

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j - (mu_j' P mu_j + tr(P C) + log det Sigma) / 2, shape (k,)."""
        P, log_determinant = self._precision
        distances = (self.centers * (P @ self.centers)).sum(axis=0)
        mean_of_quadratic = float((P * self.squares).sum())
        return np.asarray(
            self.log_weights - 0.5 * (distances + mean_of_quadratic + log_determinant)
        )

    @mixtures.family_method
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:  # noqa: ARG003
        """Return the means mu_j = S_j / N_j, and the shared covariance.

            Sigma = C - sum_j omega_j mu_j mu_j' + diag(floor)

        The pooled covariance needs no prior, so `smoothing` has no effect.
        """
        weights, centers, covariances = cls._estimates(sums[:, None], sizes[None])
        return cls.member(weights[0], centers[0], covariances[0])

    @mixtures.family_method
    def several(cls, sums: Floats, sizes: Floats, smoothing: float) -> tuple[Floats, Floats]:  # noqa: ARG003
        """Return coefficients and offsets after the M-steps of several mixtures, all at once."""
        weights, centers, covariances = cls._estimates(sums, sizes)
        P, log_determinants = _inverses(covariances)
        turned = P @ centers
        constant = (P * cls.squares).sum(axis=(1, 2)) + log_determinants
        with np.errstate(divide="ignore"):
            offsets = np.log(weights) - 0.5 * ((centers * turned).sum(axis=1) + constant[:, None])
        return turned.transpose(1, 0, 2), offsets

    @mixtures.family_method
    def _estimates(cls, sums: Floats, sizes: Floats) -> tuple[Floats, Floats, Floats]:
        """Return weights (m, k), means (m, d, k) and covariances (m, d, d) of m mixtures."""
        S, N, total = sums.transpose(1, 0, 2), sizes[:, None, :], float(sizes[0].sum())
        weights = sizes / sizes.sum(axis=1, keepdims=True)
        overall = S[0].sum(axis=1) / total
        some = N > 0
        centers = (
            S / N if some.all() else np.where(some, S / np.where(some, N, 1.0), overall[:, None])
        )
        covariances = cls.squares - (centers * weights[:, None, :]) @ centers.transpose(0, 2, 1)
        _diagonals(covariances)[...] += cls.floor
        floored = bool(np.any(cls.floor))
        least = least_variance(np.diag(cls.squares), overall, floored=floored)
        return weights, centers, positive_definite(covariances, least)

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:  # noqa: ARG002
        """Return 0: there is no prior."""
        return 0.0

    @mixtures.family_method
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return N m' Q m / 2 of each group with mean m, Q the inverse of the overall covariance.

        Up to a constant, this is the log-likelihood if Q^-1 is the shared covariance.
        """
        N = np.where(sizes > 0, sizes, 1.0)
        Q = np.linalg.pinv(cls.squares, hermitian=True)
        means = sums / N
        return np.asarray(0.5 * sizes * (means * np.tensordot(Q, means, axes=1)).sum(axis=0))


def lifted(X: Any) -> Floats:
    """Return (x, vech(x x')) of every sample as a dense array.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, d)
        Samples.

    Returns
    -------
    ndarray of shape (n, d + d (d + 1) / 2)
        Values, then the products x_v x_w for v <= w.
    """
    Z: Floats = X.toarray() if hasattr(X, "toarray") else X
    n, d = Z.shape
    columns = np.ascontiguousarray(Z.T)
    out = np.empty((d + d * (d + 1) // 2, n))  # whole columns are multiplied fastest
    out[:d] = columns
    at = d
    for v in range(d):
        np.multiply(columns[v], columns[v:], out=out[at : at + d - v])
        at += d - v
    return out.T


def stored(Z: Floats) -> Any:
    """Return a dense array as a CSR array with all values stored, so that BLAS computes products.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Values.

    Returns
    -------
    csr_array of shape (n, p)
        Without a copy of the values.
    """
    n, p = Z.shape
    kind = np.int32 if n * p < np.iinfo(np.int32).max else np.int64
    every = np.tile(np.arange(p, dtype=kind), n)
    out = sp.csr_array((Z.ravel(), every, np.arange(0, n * p + 1, p, dtype=kind)), shape=(n, p))
    out.has_canonical_format = True
    return out


def square_matrices(products: Floats, d: int) -> Floats:
    """Return symmetric matrices from their upper triangles, row by row.

    Parameters
    ----------
    products : ndarray of shape (d (d + 1) / 2,) or (d (d + 1) / 2, k)
        Upper triangles in columns.
    d : int
        Number of rows of the matrices.

    Returns
    -------
    ndarray of shape (d, d) or (k, d, d)
        The matrices.
    """
    v, w = _triangle(d)
    out = np.empty((*products.shape[1:], d, d))
    out[..., v, w] = out[..., w, v] = products.T
    return out


def least_variance(squares: Floats, mean: Floats, *, floored: bool) -> Floats:
    """Return the smallest variance of each feature that is not rounding error, shape (d,)."""
    least = 0.0 if floored else gaussian.MIN_VARIANCE
    return np.maximum(np.maximum(least * (squares - mean**2), gaussian.ROUNDING * squares), 1e-200)


def positive_definite(covariances: Floats, least: Floats) -> Floats:
    """Return covariances with eigenvalues large enough for a Cholesky decomposition.

    Parameters
    ----------
    covariances : ndarray of shape (k, d, d)
        Symmetric; changed in place.
    least : ndarray of shape (d,)
        Smallest variance of each feature; eigenvalues are compared after scaling by it.

    Returns
    -------
    ndarray of shape (k, d, d)
        The covariances; those that are not positive definite, with small eigenvalues raised.
    """
    d = covariances.shape[1]
    variances = _diagonals(covariances)
    np.maximum(variances, least, out=variances)
    try:
        np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        pass
    else:
        return covariances
    for one in covariances:
        try:
            np.linalg.cholesky(one)
        except np.linalg.LinAlgError:
            deviations = np.sqrt(np.diag(one))
            values, vectors = np.linalg.eigh(one / np.outer(deviations, deviations))
            values = np.maximum(values, 4.0 * d * np.finfo(np.float64).eps * values[-1])
            one[...] = (vectors * values) @ vectors.T * np.outer(deviations, deviations)
    return covariances


def _diagonals(matrices: Floats) -> Floats:
    """Return a view of the diagonals (k, d) of matrices (k, d, d)."""
    return np.asarray(np.einsum("jvv->jv", matrices))


def _inverses(covariances: Floats) -> tuple[Floats, Floats]:
    """Return the inverses of covariances (k, d, d), and the logarithms of determinants (k,)."""
    roots = np.linalg.cholesky(covariances)
    inverse = np.linalg.inv(roots)
    diagonals = np.diagonal(roots, axis1=1, axis2=2)
    return inverse.transpose(0, 2, 1) @ inverse, 2.0 * np.log(diagonals).sum(axis=1)


@lru_cache(maxsize=8)
def _triangle(d: int) -> tuple[Ints, Ints]:
    """Return the rows and columns of an upper triangle."""
    v, w = np.triu_indices(d)
    return v, w


def _diagonal(d: int) -> Ints:
    """Return the positions of the squares among the products."""
    v, w = _triangle(d)
    return np.flatnonzero(v == w)


def _around_means(sums: Floats, sizes: Floats, d: int) -> tuple[Floats, Floats, Floats]:
    """Return means (d, k), scatter matrices around them (k, d, d), and their pooled mean (d, d)."""
    empty = sizes <= 0
    overall = sums[:d].sum(axis=1, keepdims=True) / sizes.sum()
    centers = np.where(empty, overall, sums[:d] / np.where(empty, 1.0, sizes))
    within = square_matrices(sums[d:], d)
    within -= (centers * sizes).T[:, :, None] * centers.T[:, None, :]
    within[empty] = 0.0
    return centers, within, within.sum(axis=0) / sizes.sum()
