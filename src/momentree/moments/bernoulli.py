"""Raw moments of binary data, with or without missing values: T eq. 4.6 to 4.8, Algorithm 2."""

from __future__ import annotations

from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from momentree._validation import check_binary, check_map, check_means, check_sample_weight
from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError
from momentree.moments._population import PopulationMoments
from momentree.moments._sample_means import SampleMeans
from momentree.moments._symmetric import diagonal
from momentree.moments.observation_rates import observation_rates

__all__ = ["BernoulliMoments"]

Floats = NDArray[np.float64]


class BernoulliMoments(SampleMeans):
    """Estimate the raw moments of rows of zeros and ones.

    With v the sample weights, scaled to sum 1,

        M1 = sum v x,     M2 = sum v x x^T,     M3 = sum v x (x) x (x) x.

    In a mixture of independent Bernoulli variables the entries of three different features have
    the expectations sum_i w_i mu_i, sum_i w_i mu_i mu_i^T and sum_i w_i mu_i^(x)3; entries that
    repeat a feature are too large, by no more than :func:`bernoulli_bias_bounds` says. A
    decomposition of these moments is a start for EM, which removes the bias.

    ``svtd(BernoulliMoments.from_data(X), k)`` is ASVTD. Use :meth:`from_data` for the estimators
    and :meth:`from_parameters` for exact moments, without bias.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Zeros and ones, zero where a value is missing.
    row_weights : ndarray of shape (3, n)
        v three times.
    unit : float, default=0.0
        Zero: one code of a row does not pair with itself twice.
    observed : ndarray of shape (d,), default=None
        The share p of the weight with which each feature is observed; None where no value is
        missing. A feature with p = 0 has no moments but zero.

    See Also
    --------
    bernoulli_bias_bounds : How large the bias may be.
    momentree.decomposition.svtd : With these moments, ASVTD.

    Notes
    -----
    T section 4.3.2; ASVTD is T Algorithm 2, whose slices H_i = z^T diag(x_i) z / n, z = x E^+T,
    are `whitened_slices` here. Deviations from its print: eigenvectors stand in for singular
    vectors, and negative weights are set to zero (see :func:`momentree.decomposition.svtd`).

    Missing values. With x = 0 where a value is missing and y = x / p, products of different
    features of y estimate what they would be with no value missing, where values go missing
    independently of the others and of their own. In a product that repeats a feature, y_i^2 =
    y_i / p_i is too large, and with c = 1 / p - 1 it is put right:

        M2[a, b] = sum v y_a y_b - [a = b] c_a M1_a,
        M3[a, b, c] = R3 - [a = b] c_a R2_ac - [a = c] c_a R2_ab - [b = c] c_b R2_ab
                      + [a = b = c] c_a (2 c_a + 1) M1_a,

    R2 and R3 the raw moments of y. So all entries estimate those of complete data; M2 may then
    have negative eigenvalues. Data that are missing for what they would have been are not put
    right by any of this.

    Time and memory as :class:`momentree.moments.FactorialMoments`; missing values cost one more
    pass of k columns for the tensor, k (k + 3) / 2 for the slices.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, 2018. Section 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import BernoulliMoments
    >>> moments = BernoulliMoments.from_data(np.array([[1, 0], [1, 1], [0, np.nan], [0, 0]]))
    >>> moments.m1.round(3)
    array([0.5  , 0.333])
    >>> (moments.m2 @ np.eye(2)).round(3)
    array([[0.5  , 0.333],
           [0.333, 0.333]])
    >>> BernoulliMoments.from_parameters([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]]).m1
    array([0.5, 0.5])
    """

    _unit: ClassVar[float] = 0.0

    def __init__(
        self,
        rows: RowBlocks,
        row_weights: Floats,
        unit: float = 0.0,
        observed: Floats | None = None,
    ) -> None:
        super().__init__(rows, row_weights, unit)
        shares = np.ones(rows.shape[1]) if observed is None else observed
        self._scale = 1.0 / np.where(shares > 0, shares, 1.0)
        self._excess = self._scale - 1.0

    @classmethod
    def from_data(cls, X: Any, *, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the moments from data.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1, NaN for a missing value (in a sparse matrix as a stored value).
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the samples; a weight of 2 is the same as the sample twice.

        Returns
        -------
        BernoulliMoments
            The moments.

        Raises
        ------
        InvalidDataError
            If X holds another value than 0, 1 and NaN (the message names row and column), is not
            two-dimensional, a feature is never observed, or no sample has a positive weight.
        """
        X, missing = check_binary(X)
        v = check_sample_weight(sample_weight, X.shape[0])
        return cls.from_rows(RowBlocks(X), sample_weight=v, observed=observation_rates(missing, v))

    @classmethod
    def from_rows(
        cls, rows: RowBlocks, *, sample_weight: Floats, observed: Floats | None = None
    ) -> Self:
        """Estimate the moments from rows that have been checked already.

        Parameters
        ----------
        rows : RowBlocks of shape (n, d)
            Zeros and ones, zero where a value is missing.
        sample_weight : ndarray of shape (n,)
            Weights >= 0, not all zero.
        observed : ndarray of shape (d,), default=None
            The share of the weight with which each feature is observed, as
            :func:`observation_rates` gives it; None where no value is missing.

        Returns
        -------
        BernoulliMoments
            The moments.
        """
        v = sample_weight / sample_weight.sum()
        return cls(rows, np.stack([v, v, v]), cls._unit, observed)

    @staticmethod
    def from_parameters(weights: ArrayLike, means: ArrayLike) -> PopulationMoments:
        """Return the exact moments of a mixture of independent Bernoulli variables.

        Parameters
        ----------
        weights : array-like of shape (k,)
            omega >= 0, sum 1.
        means : array-like of shape (k, d)
            Probabilities of a one in rows, in [0, 1].

        Returns
        -------
        PopulationMoments
            M1 = sum_i w_i mu_i, M2 = sum_i w_i mu_i mu_i^T, M3 = sum_i w_i mu_i^(x)3: also where
            a feature repeats, so that they are not the expectations of the raw moments.

        Raises
        ------
        InvalidDataError
            If weights are no distribution, means are outside [0, 1], or shapes do not fit.
        """
        w, mu = check_probabilities(weights, means)
        return PopulationMoments(w, mu.T)

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return np.asarray(super().m1 * self._scale)

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (d, d)."""
        if not self._excess.any():
            return super().m2
        return cast("LinearOperator", self._raw_m2 - diagonal(self._excess * self.m1))

    @property
    def _raw_m2(self) -> LinearOperator:
        """R2 = sum v y y^T."""
        scale = diagonal(self._scale)
        return cast("LinearOperator", scale @ super().m2 @ scale)

    def whitened_slices(self, W: ArrayLike) -> Floats:
        """Return H[r] = W M3[r] W^T, the slices of M3 whitened in two modes.

        With R2 and R3 the raw moments of y = x / p, P_ab = w_a * w_b, c = 1 / p - 1,

            H_ab = R3(., w_a, w_b) - R2 (c * P_ab) - c * w_a * (R2 w_b) - c * w_b * (R2 w_a)
                   + c (2 c + 1) M1 * P_ab.

        Parameters
        ----------
        W : array-like of shape (k, d)
            Whitening map.

        Returns
        -------
        ndarray of shape (d, k, k)
            Symmetric in its last two axes. Time O(nnz k^2), memory O(d k^2 + n k).

        Raises
        ------
        InvalidDataError
            If W has not a column for each feature.
        """
        W = check_map(W, self._rows.shape[1])
        H = super().whitened_slices(W * self._scale)
        c = self._excess
        if not c.any():
            return H
        H *= self._scale[:, None, None]
        R2 = self._raw_m2
        cW, V = c[:, None] * W.T, R2 @ W.T
        third = c * (2.0 * c + 1.0) * self.m1
        for a in range(W.shape[0]):
            # The pairs of one row of H at a time: k^2 columns of R2 would hold d k^2 more.
            some = H[:, a, a:]
            some -= R2 @ (cW[:, [a]] * W[a:].T)
            some -= cW[:, [a]] * V[:, a:] + V[:, [a]] * cW[:, a:]
            some += third[:, None] * W[a, :, None] * W[a:].T
            H[:, a:, a] = some
        return H

    def whitened_tensor(self, W: ArrayLike) -> Floats:
        """Return T = M3(W, W, W), M3 whitened in all three modes.

        Parameters
        ----------
        W : array-like of shape (k, d)
            Whitening map.

        Returns
        -------
        ndarray of shape (k, k, k)
            Symmetric. Time O(nnz k + n k^3 + d k^3), memory O(k^3 + (n + d) k).

        Raises
        ------
        InvalidDataError
            If W has not a column for each feature.
        """
        W = check_map(W, self._rows.shape[1])
        T = super().whitened_tensor(W * self._scale)
        c = self._excess
        if not c.any():
            return T
        V = (self._raw_m2 @ W.T).T
        third = c * (2.0 * c + 1.0) * self.m1
        C = np.stack([(W * (c * v)) @ W.T for v in V])
        T -= C + C.transpose(1, 0, 2) + C.transpose(1, 2, 0)
        T += np.stack([(W * (third * w)) @ W.T for w in W])
        return T


def check_probabilities(weights: ArrayLike, means: ArrayLike) -> tuple[Floats, Floats]:
    """Return mixing weights (k,) and means (k, d) after checking that the means are in [0, 1]."""
    w, mu = check_means(weights, means)
    if (mu > 1).any():
        j, i = np.argwhere(mu > 1)[0]
        msg = f"means must be probabilities in [0, 1]: component {j}, feature {i} has {mu[j, i]}"
        raise InvalidDataError(msg)
    return w, mu
