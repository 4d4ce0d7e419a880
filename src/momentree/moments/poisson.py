"""T Proposition 1.2.1: moments of mixtures of independent Poisson variables."""

from __future__ import annotations

from typing import ClassVar

from numpy.typing import ArrayLike

from momentree._validation import check_means
from momentree.moments.population import PopulationMoments
from momentree.moments.sample_means import SampleMeans


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
