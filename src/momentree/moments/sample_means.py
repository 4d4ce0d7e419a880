"""Weighted means over samples: raw moments (T eq. 6.5, 6.6), Poisson ones (T Prop. 1.2.1)."""

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import check_counts, check_means, check_sample_weight
from momentree.backends import Block, RowArray, RowBlocks, Rows, kernels
from momentree.moments._base import PopulationMoments
from momentree.moments.factorial import FactorialMoments


@kernels.kernel
def shares(_: Block, v: Floats, *, total: float) -> Floats:
    """Return v / sum v in three columns, for M1, M2 and M3, shape (n, 3)."""
    return np.repeat((v / total)[:, None], 3, axis=1)


class SampleMeans(FactorialMoments):
    """Base class of moments with r1 = r2 = r3 = v / sum v, where v are the sample weights."""

    _count_per_token: ClassVar[float]
    """1 for factorial moments, 0 for raw ones."""

    def __init__(self, rows: Rows, sample_weight: RowArray) -> None:
        weights = partial(shares, total=float(rows.total(sample_weight)))
        super().__init__(rows, rows.map(weights, sample_weight), self._count_per_token)

    @classmethod
    def from_data(cls, X: Any, *, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the moments from data.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Values >= 0.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the samples; a weight of 2 is equivalent to two copies.

        Returns
        -------
        moments
            An instance of this class.

        Raises
        ------
        InvalidDataError
            If X is not two-dimensional or contains negative values, NaN or infinities, or if no
            sample has a positive weight.
        """
        X = check_counts(X)
        return cls(RowBlocks(X), check_sample_weight(sample_weight, X.shape[0]))


class RawMoments(SampleMeans):
    """Estimate the raw moments of rows.

    With v the sample weights, scaled to sum 1,

        M1 = sum v x,     M2 = sum v x x^T,     M3 = sum v x (x) x (x) x.

    If a group of features occurs together in some rows and is absent from others, a common
    rotation of the whitened slices finds it for any distribution of the rows (T section 6.2).

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Nonnegative values.
    sample_weight : row array of shape (n,)
        Weights >= 0, not all zero.

    Notes
    -----
    T Algorithm 5, line 1. Time and memory as for :class:`momentree.moments.FactorialMoments`.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Section 6.2.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import RawMoments
    >>> RawMoments.from_data(np.array([[2, 0], [0, 2]])).m2 @ np.eye(2)
    array([[2., 0.],
           [0., 2.]])
    """

    _count_per_token: ClassVar[float] = 0.0


class PoissonMoments(SampleMeans):
    """Estimate the moments M1, M2, M3 of a mixture of independent Poisson variables.

    The factorial moments of a Poisson variable are powers of its mean. With v the sample weights,
    scaled to sum 1,

        M1 = sum v x,     M2 = sum v (x x^T - diag(x)),
        M3[a, b, c] = sum v x_a (x_b - [a = b]) (x_c - [a = c] - [b = c]),

    have the expectations sum_i w_i mu_i, sum_i w_i mu_i mu_i^T and sum_i w_i mu_i^(x)3, with
    mu_i the means of component i. Use :meth:`from_data` for the estimators and
    :meth:`from_parameters` for exact moments.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Counts.
    sample_weight : row array of shape (n,)
        Weights >= 0, not all zero.

    Notes
    -----
    For two equal indices h, h != m, T Proposition 1.2.1 states E[x_h x_h x_m] - (M2)_hm, which is
    equal. Time and memory as for :class:`momentree.moments.FactorialMoments`.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Proposition 1.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import PoissonMoments
    >>> moments = PoissonMoments.from_data(np.array([[2, 0], [0, 2]]))
    >>> moments.m1
    array([1., 1.])
    >>> moments.m2 @ np.eye(2)
    array([[1., 0.],
           [0., 1.]])
    """

    _count_per_token: ClassVar[float] = 1.0

    @staticmethod
    def from_parameters(weights: ArrayLike, means: ArrayLike) -> PopulationMoments:
        """Return the exact moments of a mixture of independent Poisson variables.

        Parameters
        ----------
        weights : array-like of shape (k,)
            omega >= 0, sum 1.
        means : array-like of shape (k, d)
            Means in rows, >= 0.

        Returns
        -------
        PopulationMoments
            M1 = sum_i w_i mu_i, M2 = sum_i w_i mu_i mu_i^T, M3 = sum_i w_i mu_i^(x)3.

        Raises
        ------
        InvalidDataError
            If weights are not a distribution, means are negative or not finite, or shapes do not
            match.
        """
        w, mu = check_means(weights, means)
        return PopulationMoments(w, mu.T)
