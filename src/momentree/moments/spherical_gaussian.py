"""L Hsu and Kakade 2013: moments of mixtures of spherical Gaussians, without d x d arrays."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

import momentree._validation as valid
from momentree._types import Floats
from momentree.backends import Block, RowArray, RowBlocks, Rows, kernels, products
from momentree.core import eigenpairs, sparse
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.moments._base import BaseMoments, PopulationMoments, symmetric
from momentree.moments.augmented import AugmentedRawMoments

Variances = Literal["shared", "own"]

LARGEST = 1e100
"""Largest absolute value of data; the cubes of larger numbers overflow."""
TOLERANCE = 1e-6
"""Relative accuracy of the eigenvectors that are not noise, where d is large."""
MAX_PRODUCTS = 200
"""Products with the covariance matrix for its eigenvectors, at most; a flat spectrum has no
eigenvectors worth more."""


class SphericalGaussianMoments(BaseMoments):
    """Estimate the moments M1, M2, M3 of a mixture of spherical Gaussians.

    Component i has mean mu_i and covariance s_i I. With v the sample weights, scaled to sum 1,
    m the mean of the rows, s the average variance and g the variances times the means,

        M1 = m,     M2 = sum v x x^T - s I,
        M3 = sum v x (x) x (x) x - sum_a (g (x) e_a (x) e_a + e_a (x) g (x) e_a + e_a (x) e_a (x) g)

    have the expectations sum_i w_i mu_i, sum_i w_i mu_i mu_i^T and sum_i w_i mu_i^(x)3 if

        s = sum_i w_i s_i,     g = sum_i w_i s_i mu_i.

    The covariance matrix of the mixture is s I plus a matrix of rank k - 1 at most, so s is its
    smallest eigenvalue, and g = sum v x (u . (x - m))^2 for its eigenvector u. If all components
    have the same variance, g = s m. Use :meth:`from_data` for the estimators and
    :meth:`from_parameters` for exact moments.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Any numbers.
    sample_weight : row array of shape (n,)
        Weights >= 0, not all zero.
    n_components, variances, centered : int or None, {"shared", "own"}, bool
        As in :meth:`from_data`.
    shift : ndarray of shape (d,), default=None
        Added to all rows without a copy.

    Attributes
    ----------
    variances : {"shared", "own"}
        Whether one variance is assumed for all components.
    variance : float
        s, in squared units of X.
    weighted_variances : ndarray of shape (d,), or (d + 1,) if centered
        g.
    shift : ndarray of shape (d,)
        What was subtracted from the samples: m if centered, else zeros.
    constant : float or None
        The value of the additional feature if centered, else None.

    Notes
    -----
    The theorem of Hsu and Kakade [1] in the lecture's form, for means that are linearly
    independent and k <= d. Three additions, all of them exact for exact moments:

    - With `n_components`, s is the mean of the d - k + 1 smallest eigenvalues of the covariance
      matrix, and (u . (x - m))^2 the mean over their eigenvectors. On samples, the smallest of
      many equal eigenvalues is too small, and zero if n <= d; the mean is not. It also requires
      only the k - 1 largest eigenpairs, so that no d x d array is formed for d > 64 [2].
    - With `centered`, the moments are those of (x - m, c), where c is an additional constant
      feature. The lifted means (mu_i - m, c) are linearly independent if the mu_i do not lie in a
      plane of k - 2 dimensions, which any mixture with linearly independent means satisfies; two
      means on a line through the origin do too. The result moves with the data.
      :func:`momentree.parameters.spherical_gaussian_parameters` takes it back to the features.
    - k = d + 1 is excluded in either case, because then no eigenvalue of the covariance matrix is
      pure noise.

    Time O(nnz) per product with M2, O(nnz k^2) for the slices, O(nnz k + n k^3) for the tensor;
    memory O(d k^2 + n k).

    References
    ----------
    .. [1] D. Hsu, S. Kakade. Learning mixtures of spherical Gaussians: moment methods and spectral
       decompositions. ITCS 2013. doi:10.1145/2422436.2422439. Theorem 1.
    .. [2] S. Sherman, T. Kolda. Estimating higher-order moments using symmetric tensor
       decomposition. SIAM Journal on Matrix Analysis and Applications 41, 2020.
       doi:10.1137/19M1299633

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition import sidiwo
    >>> from momentree.moments import SphericalGaussianMoments
    >>> means = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    >>> moments = SphericalGaussianMoments.from_parameters([0.6, 0.4], means, [1.0, 2.0])
    >>> sidiwo(moments, 2).centers.T.round(6) + 0.0
    array([[1., 0., 2.],
           [0., 3., 1.]])
    """

    def __init__(
        self,
        rows: Rows,
        sample_weight: RowArray,
        *,
        n_components: int | None = None,
        variances: Variances = "shared",
        centered: bool = False,
        shift: Floats | None = None,
    ) -> None:
        d = rows.shape[1]
        self.variances = variances
        offset = np.zeros(d) if shift is None else shift
        self._rows = rows
        self._raw = AugmentedRawMoments(rows, sample_weight, rows.ones(), np.ones(d), 1.0)
        self._mean = self._raw.m1[:d]
        # All moments are those of y = (x + move, constant), with x the rows as they are stored.
        self._move = -self._mean if centered else offset
        self.shift = self._mean + offset if centered else np.zeros(d)
        self.constant: float | None = None
        noise, largest = self._noise(n_components, sample_weight)
        if centered:
            self.constant = float(np.sqrt(largest)) if largest > 0 else 1.0
        total = float(rows.total(sample_weight))
        self.variance = float(rows.total(noise)) / total
        self.weighted_variances = self.variance * self.m1
        if variances == "own":
            sums = rows.sum(products.transposed_product, noise) / total
            self.weighted_variances = self._moved(np.append(sums, self.variance))

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        n_components: int | None = None,
        variances: Variances = "shared",
        centered: bool = False,
        sample_weight: ArrayLike | None = None,
    ) -> SphericalGaussianMoments:
        """Estimate the moments from data.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Numbers. All features are assumed to have the same variance within a component.
        n_components : int from 1 to n_features or None, default=None
            Number of components k, which improves the estimates of the variances (see Notes of
            the class). None uses the smallest eigenvalue alone, as published.
        variances : {"shared", "own"}, default="shared"
            Whether all components have the same variance.
        centered : bool, default=False
            Whether to return the moments of (x - m, c) instead of x.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the samples; a weight of 2 is equivalent to two copies.

        Returns
        -------
        SphericalGaussianMoments
            The moments.

        Raises
        ------
        InvalidDataError
            If X is not a table of finite numbers of at most 1e100 in size, if it has fewer
            features than components, or if no sample has a positive weight.
        InvalidParameterError
            If `n_components`, `variances` or `centered` is invalid.
        """
        valid.check_integer("n_components", n_components, at_least=1, optional=True)
        valid.check_choice("variances", variances, get_args(Variances))
        valid.check_flag("centered", centered)
        X = _checked(X)
        v = valid.check_sample_weight(sample_weight, X.shape[0])
        if n_components is not None and n_components > X.shape[1]:
            raise InvalidDataError(
                wording.NO_EIGENVALUE_IS_NOISE, n_features=X.shape[1], needed=int(n_components)
            )
        shift = None
        if 2 * X.nnz > X.shape[0] * X.shape[1]:
            # Subtract the mean of dense data, whose squares would lose digits to it.
            shift = np.asarray((v / v.sum()) @ X)
            X = sp.csr_array(X.toarray().astype(np.float64, copy=False) - shift)
        return cls(
            RowBlocks(X),
            v,
            n_components=n_components,
            variances=variances,
            centered=bool(centered),
            shift=shift,
        )

    @staticmethod
    def from_parameters(
        weights: ArrayLike, means: ArrayLike, variances: ArrayLike, *, centered: bool = False
    ) -> PopulationSphericalGaussianMoments:
        """Return the exact moments of a mixture of spherical Gaussians.

        Parameters
        ----------
        weights : array-like of shape (k,)
            omega >= 0, sum 1.
        means : array-like of shape (k, d)
            Means in rows.
        variances : float or array-like of shape (k,), > 0
            Variance of each feature in all components, or in each.
        centered : bool, default=False
            Whether to return the moments of (x - m, c), with m the mean of the mixture.

        Returns
        -------
        PopulationSphericalGaussianMoments
            M1 = sum_i w_i mu_i, M2 = sum_i w_i mu_i mu_i^T, M3 = sum_i w_i mu_i^(x)3, and the
            attributes of this class.

        Raises
        ------
        InvalidDataError
            If weights are not a distribution, means are not finite, variances are not above zero,
            or shapes do not match.
        """
        valid.check_flag("centered", centered)
        w, mu, s = check_spherical_gaussians(weights, means, variances)
        return PopulationSphericalGaussianMoments(w, mu.T, s, centered=bool(centered))

    @property
    def m1(self) -> Floats:
        """M1, shape (d,), or (d + 1,) if centered."""
        return self._moved(np.append(self._mean, 1.0))

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (d, d), or (d + 1, d + 1) if centered."""
        raw, d = self._raw.m2, len(self._move)

        def times(V: Floats) -> Floats:
            V = np.asarray(V, dtype=np.float64)
            product = self._moved(raw @ self._back(V))
            product[:d] -= self.variance * V[:d]
            return np.asarray(product)

        return symmetric(self._d, times)

    def _slices(self, W: Floats) -> Floats:
        # With P the projection onto the features and G = W P W^T,
        #   H_ab = sum v y z_a z_b - g G_ab - (P w_a) (g . w_b) - (P w_b) (g . w_a).
        d, g = len(self._move), self.weighted_variances
        H = self._moved(self._raw.whitened_slices(self._back(W.T).T))
        Wx, Wg = W[:, :d], W @ g
        H -= np.multiply.outer(g, Wx @ Wx.T)
        cross = np.multiply.outer(Wx.T, Wg)
        H[:d] -= cross + cross.transpose(0, 2, 1)
        return H

    def _tensor(self, W: Floats) -> Floats:
        Wx, Wg = W[:, : len(self._move)], W @ self.weighted_variances
        T = self._raw.whitened_tensor(self._back(W.T).T)
        C = np.multiply.outer(Wg, Wx @ Wx.T)
        return np.asarray(T - C - C.transpose(1, 0, 2) - C.transpose(1, 2, 0))

    def _moved(self, sums: Floats) -> Floats:
        """Return sums of y times anything, given those of (x, 1) in d + 1 rows."""
        d = len(self._move)
        moved: Floats = sums[:d] + np.multiply.outer(self._move, sums[d])
        if self.constant is None:
            return moved
        return np.concatenate([moved, self.constant * sums[d:]])

    def _back(self, V: Floats) -> Floats:
        """Return U with (x, 1) . U = y . V, for V in columns."""
        d = len(self._move)
        last = self._move @ V[:d]
        if self.constant is not None:
            last = last + self.constant * V[d]
        return np.concatenate([V[:d], np.asarray(last)[None]])

    def _noise(self, k: int | None, weight: RowArray) -> tuple[RowArray, float]:
        """Return the mean squared score of each row in the directions of pure noise, times v.

        Also return the largest eigenvalue of the covariance matrix.
        """
        d, m = len(self._mean), self._mean
        raw, rows = self._raw.m2, self._rows

        def covariance(V: Floats) -> Floats:
            V = np.asarray(V, dtype=np.float64)
            product = raw @ np.concatenate([V, -np.asarray(m @ V)[None]])
            return np.asarray(product[:d] - np.multiply.outer(m, product[d]))

        def scores(U: Floats) -> RowArray:
            return rows.map(partial(squared_scores, U=np.ascontiguousarray(U), mean=m @ U))

        start = np.ones(d)
        most = min(d, MAX_PRODUCTS)
        signal = 1 if k is None else max(k - 1, 1)
        operator = symmetric(d, covariance)
        values, U, _ = eigenpairs.top_eigenpairs(operator, start, signal, TOLERANCE, most)
        largest = float(values[0])
        if k is None:
            flipped = symmetric(d, lambda V: largest * V - covariance(V))
            _, U, _ = eigenpairs.top_eigenpairs(flipped, start, 1, TOLERANCE, d)
            return rows.each(partial(noise_of, n_directions=1), weight, scores(U)), largest
        arrays = [rows.map(partial(squared_distances, mean=m))]
        if k > 1:
            arrays.append(scores(U[:, : k - 1]))
        return rows.each(partial(noise_of, n_directions=d - k + 1), weight, *arrays), largest


@kernels.kernel
def squared_scores(B: Block, *, U: Floats, mean: Floats) -> Floats:
    """Return the sum of (x . u - mean)^2 over the columns u of U, for each row of a block."""
    return np.asarray(np.square(B.dot(U) - mean).sum(axis=1))


@kernels.kernel
def squared_distances(B: Block, *, mean: Floats) -> Floats:
    """Return |x - mean|^2 of each row of a block."""
    data, indices, indptr = B.csr
    each = np.square(data - mean[indices]) - np.square(mean[indices])
    sums = np.concatenate([[0.0], np.cumsum(each)])
    return np.asarray(np.diff(sums[indptr]) + mean @ mean)


@kernels.kernel
def noise_of(v: Floats, squares: Floats, *signal: Floats, n_directions: int) -> Floats:
    """Return v times the mean of squared scores, without those of the directions of a signal."""
    rest = np.maximum(squares - signal[0], 0.0) if signal else squares
    return np.asarray(v * rest / n_directions)


class PopulationSphericalGaussianMoments(PopulationMoments):
    """Represent the exact moments of a mixture of spherical Gaussians.

    Parameters
    ----------
    weights : ndarray of shape (k,)
        w_i.
    centers : ndarray of shape (d, k)
        mu_i in columns.
    variances : ndarray of shape (k,)
        s_i.
    centered : bool
        Whether the moments are those of (x - m, c).

    Attributes
    ----------
    variances, variance, weighted_variances, shift, constant
        As in :class:`SphericalGaussianMoments`; `variances` is always "own".
    """

    variances: Variances = "own"

    def __init__(
        self, weights: Floats, centers: Floats, variances: Floats, *, centered: bool
    ) -> None:
        self.constant: float | None = None
        self.shift = np.zeros(len(centers))
        self.variance = float(weights @ variances)
        if centered:
            self.shift = centers @ weights
            centers = centers - self.shift[:, None]
            roots = np.linalg.svd(centers * np.sqrt(weights), compute_uv=False)
            self.constant = float(np.sqrt(np.square(roots[:1]).sum() + self.variance))
            centers = np.vstack([centers, np.full(len(weights), self.constant)])
        super().__init__(weights, centers)
        self.weighted_variances = np.asarray(centers @ (weights * variances))


def check_spherical_gaussians(
    weights: ArrayLike, means: ArrayLike, variances: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    """Return weights (k,) that sum to 1, finite means (k, d) and variances (k,) > 0."""
    w, mu = valid.as_floats("weights", weights), valid.as_floats("means", means)
    s = valid.as_floats("variances", variances)
    valid.check_shape("means", mu, ("k", "d"))
    valid.check_shape("weights", w, (len(mu),))
    valid.check_distribution("weights", w)
    if not np.isfinite(mu).all():
        raise InvalidDataError(wording.NOT_FINITE, parameter="means")
    if s.ndim == 0:
        s = np.full(len(mu), float(s))
    valid.check_shape("variances", s, (len(mu),))
    if not ((s > 0) & np.isfinite(s)).all():
        raise InvalidDataError(wording.NOT_POSITIVE, parameter="variances")
    return w, mu, s


def _checked(X: Any) -> Any:
    """Return a CSR array of finite numbers whose cubes are finite."""
    X, missing = valid.check_missing(X)
    if missing is not None:
        row, column = (int(part[0]) for part in missing.nonzero())
        raise InvalidDataError(wording.MISSING_IN_MOMENTS, row=row, column=column)
    X = sparse.as_csr(X)
    huge = np.abs(X.data) > LARGEST
    if huge.any():
        raise InvalidDataError(wording.HUGE_VALUE, largest=LARGEST, **valid.first_cell(X, huge))
    return X
