"""Moments of mixtures of linear regressions: powers of y, regressed on powers of x."""

from itertools import combinations_with_replacement, permutations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import momentree._validation as valid
from momentree._types import Floats
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.moments._base import BaseMoments, PopulationMoments

MAX_MONOMIALS = 1500
"""More quadratic terms than this (d > 53) are too slow to regress on."""
LARGEST = 1e30
"""Largest absolute value of y, whose cubes are averaged."""
ROWS_PER_TERM = 2
"""With fewer rows per quadratic term, the regression is less accurate than the Gaussian formula."""


class RegressionMoments(BaseMoments):
    r"""Estimate the moments of the slopes of a mixture of linear regressions.

    The model is :math:`y = \beta_{0h} + \langle \beta_h, x \rangle + \varepsilon` with a component
    h that does not depend on x, and noise of mean zero, whose variance may differ between the
    components. Given x, the mean of :math:`y^m` is a polynomial of degree m in x, whose part of
    degree m is :math:`\sum_h w_h \langle \beta_h, x \rangle^m`, whatever the intercepts and the
    noise. So a least-squares regression of :math:`y^m` on all monomials up to degree m estimates

    .. math:: M_m = \sum_h w_h \beta_h^{\otimes m}, \quad m = 1, 2, 3.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Inputs; best standardized.
    y : ndarray of shape (n,)
        Outputs; best standardized.
    sample_weight : ndarray of shape (n,)
        Weights >= 0, not all zero.

    Attributes
    ----------
    polynomials : bool
        Whether M2 is estimated by regression on monomials. If there are more than 53 features, or
        fewer than two rows for each quadratic term, M2 is instead
        :math:`\frac12 S^{-1} E[(y^2 - E y^2)\, x x^T] S^{-1}` for x of mean zero and covariance S,
        which is right for Gaussian x.

    Notes
    -----
    The regression on powers is that of [1]_. Since all slopes lie in the span of M2, the cubic
    regression uses only the k coordinates of x in this span: k^3 / 6 terms instead of d^3 / 6. The
    slopes must be linearly independent, and k <= d. The estimates require many samples, because
    :math:`y^3` has a large variance; EM refines them.

    Time O(n d^4) for M2, O(n d^2) with the Gaussian formula, and O(n k^6) for the tensor.

    References
    ----------
    .. [1] A. T. Chaganty, P. Liang. Spectral experts for estimating mixtures of linear
       regressions. ICML 2013, 1040-1048.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition import sidiwo
    >>> from momentree.moments import RegressionMoments
    >>> slopes = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]])
    >>> sidiwo(RegressionMoments.from_parameters([0.7, 0.3], slopes), 2).centers.T.round(6) + 0.0
    array([[ 1.,  2.,  0.],
           [ 0., -1.,  3.]])
    """

    def __init__(self, X: Floats, y: Floats, sample_weight: Floats) -> None:
        self._X, self._y = X, y
        self._v = sample_weight / sample_weight.sum()
        d = X.shape[1]
        terms = (d + 1) * (d + 2) // 2
        n = np.count_nonzero(sample_weight)
        self.polynomials = terms <= MAX_MONOMIALS and n >= ROWS_PER_TERM * terms
        self._m1 = coefficients(X, y, self._v, 1)
        self._M2 = coefficients(X, y**2, self._v, 2) if self.polynomials else self._gaussian()

    @classmethod
    def from_data(cls, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the moments from data.

        Parameters
        ----------
        X : {ndarray, data frame} of shape (n_samples, n_features)
            Inputs, finite numbers.
        y : array-like of shape (n_samples,)
            Outputs, finite numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the samples; a weight of 2 is equivalent to two copies.

        Returns
        -------
        RegressionMoments
            The moments.

        Raises
        ------
        InvalidDataError
            If values are not finite numbers, shapes do not match, or no sample has a positive
            weight.
        """
        X = valid.check_real(X)
        target = valid.as_floats("y", y)
        valid.check_shape("y", target, (len(X),))
        if not (np.abs(target) <= LARGEST).all():
            raise InvalidDataError(wording.NOT_FINITE, parameter="y")
        return cls(X, target, valid.check_sample_weight(sample_weight, len(X)))

    @staticmethod
    def from_parameters(weights: ArrayLike, coefs: ArrayLike) -> PopulationMoments:
        """Return the exact moments of the slopes.

        Parameters
        ----------
        weights : array-like of shape (k,)
            w >= 0, sum 1.
        coefs : array-like of shape (k, d)
            Slopes, one row per component.

        Returns
        -------
        PopulationMoments
            M1, M2 and M3.

        Raises
        ------
        InvalidDataError
            If weights are not a distribution, slopes are not finite, or shapes do not match.
        """
        w, B = valid.as_floats("weights", weights), valid.as_floats("coefs", coefs)
        valid.check_shape("coefs", B, ("k", "d"))
        valid.check_shape("weights", w, (len(B),))
        if not np.isfinite(B).all():
            raise InvalidDataError(wording.NOT_FINITE, parameter="coefs")
        valid.check_distribution("weights", w)
        return PopulationMoments(w, B.T)

    @property
    def m1(self) -> Floats:
        """M1, shape (d,): the slopes of one linear regression."""
        return self._m1

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (d, d)."""
        return aslinearoperator(self._M2)

    def _gaussian(self) -> Floats:
        """Return M2 by Stein's identity for Gaussian inputs."""
        v = self._v
        Y = self._X - v @ self._X
        inverse = np.linalg.pinv((Y * v[:, None]).T @ Y, hermitian=True)
        square = self._y**2
        M = (Y * (v * (square - v @ square))[:, None]).T @ Y
        return np.asarray(0.5 * inverse @ M @ inverse)

    def _slices(self, W: Floats) -> Floats:
        return np.asarray(np.einsum("ra,abc->rbc", np.linalg.pinv(W), self._tensor(W)))

    def _tensor(self, W: Floats) -> Floats:
        # Slopes are E c with E = W^+, so that <beta, x> = <c, E^T x>.
        return coefficients(self._X @ np.linalg.pinv(W), self._y**3, self._v, 3)


def coefficients(F: Floats, target: Floats, v: Floats, degree: int) -> Floats:
    """Return the symmetric tensor of the terms of highest degree of a polynomial regression.

    The regression of the target (n,) is on all monomials of F (n, k) up to the degree, 1 to 3, by
    least squares with weights v.
    """
    k = F.shape[1]
    terms = [at for m in range(degree + 1) for at in combinations_with_replacement(range(k), m)]
    design = np.empty((len(F), len(terms)))
    for column, at in enumerate(terms):
        design[:, column] = F[:, list(at)].prod(axis=1)
    # The variance of y^m grows like |x|^2m. Weights that depend on x alone cause no bias.
    square = np.square(F).sum(axis=1)
    mean = float(v @ square)
    root = np.sqrt(v / (1.0 + square / mean) ** degree) if mean > 0 else np.sqrt(v)
    found = np.linalg.lstsq(design * root[:, None], target * root, rcond=None)[0]
    out = np.zeros((k,) * degree)
    top = [(at, c) for at, c in zip(terms, found, strict=True) if len(at) == degree]
    for at, c in top:
        orders = set(permutations(at))
        for order in orders:
            out[order] = c / len(orders)
    return out
