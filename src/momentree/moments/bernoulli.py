"""T eq. 4.6 to 4.8: raw moments of (incomplete) binary data, for ASVTD (T Algorithm 2)."""

from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats
from momentree._validation import check_means, check_missing, check_ones, check_sample_weight
from momentree.backends import RowArray, RowBlocks, Rows
from momentree.exceptions import InvalidDataError
from momentree.moments._base import PopulationMoments, diagonal
from momentree.moments.sample_means import SampleMeans
from momentree.preprocessing import observation_rates as rates_of


class BernoulliMoments(SampleMeans):
    """Estimate the raw moments of rows of zeros and ones.

    With v the sample weights, scaled to sum 1,

        M1 = sum v x,     M2 = sum v x x^T,     M3 = sum v x (x) x (x) x.

    In a mixture of independent Bernoulli variables, entries of three different features have the
    expectations sum_i w_i mu_i, sum_i w_i mu_i mu_i^T and sum_i w_i mu_i^(x)3. Entries that repeat
    a feature are too large; :func:`bernoulli_bias_bounds` bounds this bias. EM, started from a
    decomposition of these moments, removes it.

    Use :meth:`from_data` for the estimators and :meth:`from_parameters` for exact moments, which
    have no bias.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Zeros and ones, zero where a value is missing.
    sample_weight : row array of shape (n,)
        Weights >= 0, not all zero.
    observation_rates : ndarray of shape (d,), default=None
        The rate p at which each feature is observed; None if no value is missing. A feature with
        p = 0 has zero moments.

    See Also
    --------
    bernoulli_bias_bounds : Bounds on the bias.
    momentree.decomposition.svtd : Decomposition of these moments, as in ASVTD.

    Notes
    -----
    ``whitened_slices`` are the slices H_i = z^T diag(x_i) z / n of T Algorithm 2, with
    z = x E^+T.

    Missing values. With x = 0 where a value is missing and y = x / p, products of different
    features of y estimate those of the complete data, if values are missing independently of each
    other and of their own values. Products that repeat a feature are too large, because
    y_i^2 = y_i / p_i. With c = 1 / p - 1 the correction is

        M2[a, b] = sum v y_a y_b - [a = b] c_a M1_a,
        M3[a, b, c] = R3 - [a = b] c_a R2_ac - [a = c] c_a R2_ab - [b = c] c_b R2_ab
                      + [a = b = c] c_a (2 c_a + 1) M1_a,

    with R2 and R3 the raw moments of y. All entries then estimate those of the complete data, but
    M2 may have negative eigenvalues. No correction helps if the probability that a value is
    missing depends on the value.

    Time and memory as for :class:`momentree.moments.FactorialMoments`; missing values cost
    another pass over k columns for the tensor, k (k + 3) / 2 for the slices.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Section 4.3.

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

    _count_per_token: ClassVar[float] = 0.0

    def __init__(
        self, rows: Rows, sample_weight: RowArray, observation_rates: Floats | None = None
    ) -> None:
        super().__init__(rows, sample_weight)
        p = np.ones(rows.shape[1]) if observation_rates is None else observation_rates
        self._scale = 1.0 / np.where(p > 0, p, 1.0)
        self._excess = self._scale - 1.0

    @classmethod
    def from_data(cls, X: Any, *, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the moments from data.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            0 or 1, NaN for a missing value (stored explicitly in a sparse matrix).
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the samples; a weight of 2 is equivalent to two copies.

        Returns
        -------
        BernoulliMoments
            The moments.

        Raises
        ------
        InvalidDataError
            If X is not two-dimensional or contains a value other than 0, 1 and NaN (the message
            names its row and column), if a feature is never observed, or if no sample has a
            positive weight.
        """
        X, missing = check_missing(X)
        check_ones(X)
        v = check_sample_weight(sample_weight, X.shape[0])
        return cls(RowBlocks(X), v, rates_of(missing, v))

    @staticmethod
    def from_parameters(weights: ArrayLike, means: ArrayLike) -> PopulationMoments:
        """Return the exact moments of a mixture of independent Bernoulli variables.

        Parameters
        ----------
        weights : array-like of shape (k,)
            omega >= 0, sum 1.
        means : array-like of shape (k, d)
            Probability that each feature is 1, one row per component, in [0, 1].

        Returns
        -------
        PopulationMoments
            M1 = sum_i w_i mu_i, M2 = sum_i w_i mu_i mu_i^T, M3 = sum_i w_i mu_i^(x)3 in all
            entries. Where a feature repeats, the expectations of the raw moments are larger.

        Raises
        ------
        InvalidDataError
            If weights are not a distribution, means are outside [0, 1], or shapes do not match.
        """
        w, mu = check_bernoulli(weights, means)
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

    def _slices(self, W: Floats) -> Floats:
        # With R2 and R3 the raw moments of y = x / p, P_ab = w_a * w_b, c = 1 / p - 1,
        #   H_ab = R3(., w_a, w_b) - R2 (c * P_ab) - c * w_a * (R2 w_b) - c * w_b * (R2 w_a)
        #          + c (2 c + 1) M1 * P_ab.
        H = super()._slices(W * self._scale)
        c = self._excess
        if not c.any():
            return H
        H *= self._scale[:, None, None]
        R2 = self._raw_m2
        cW, V = c[:, None] * W.T, R2 @ W.T
        third = c * (2.0 * c + 1.0) * self.m1
        for a in range(W.shape[0]):
            # One row of H at a time: all k^2 columns at once would double the memory.
            some = H[:, a, a:]
            some -= R2 @ (cW[:, [a]] * W[a:].T)
            some -= cW[:, [a]] * V[:, a:] + V[:, [a]] * cW[:, a:]
            some += third[:, None] * W[a, :, None] * W[a:].T
            H[:, a:, a] = some
        return H

    def _tensor(self, W: Floats) -> Floats:
        T = super()._tensor(W * self._scale)
        c = self._excess
        if not c.any():
            return T
        V = (self._raw_m2 @ W.T).T
        third = c * (2.0 * c + 1.0) * self.m1
        C = np.stack([(W * (c * v)) @ W.T for v in V])
        T -= C + C.transpose(1, 0, 2) + C.transpose(1, 2, 0)
        T += np.stack([(W * (third * w)) @ W.T for w in W])
        return T


def check_bernoulli(weights: ArrayLike, means: ArrayLike) -> tuple[Floats, Floats]:
    """Return mixing weights (k,) and means (k, d) after checking that the means are in [0, 1]."""
    w, mu = check_means(weights, means)
    if (mu > 1).any():
        j, i = np.argwhere(mu > 1)[0]
        raise InvalidDataError(
            "[not_a_probability] {parameters.means} must be probabilities from 0 to 1; component "
            "{component}, feature {feature} is {value:g}",
            component=int(j),
            feature=int(i),
            value=float(mu[j, i]),
        )
    return w, mu
