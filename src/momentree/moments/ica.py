"""Fourth cumulants of linear mixtures of independent sources, for ICA."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator

import momentree._validation as valid
from momentree._types import Floats
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import wording
from momentree.moments._base import BaseMoments, symmetric

MAX_SOURCES = 64
"""All fourth cumulants of 64 sources are 35 MB; memory grows with the fourth power."""
RANK_TOLERANCE = 1e-12
"""Eigenvalues of the correlations below this fraction of the largest are rounding error."""
NO_SPREAD = 1e-100
"""Standard deviations whose inverse is too large for products."""
CUMULANTS_AT_ONCE = 1 << 22
"""Products of pairs of sources in a block of rows."""


class ICAMoments(BaseMoments):
    r"""Fourth cumulants of :math:`x = m + A s` with independent sources :math:`s` of variance 1.

    With a whitening :math:`W` of the covariance :math:`A A^T`, the columns :math:`o_i` of
    :math:`W A` are orthonormal, and the fourth cumulant of :math:`z = W (x - m)` is
    :math:`C = \sum_i \kappa_i\, o_i^{\otimes 4}`, with :math:`\kappa_i` the excess kurtosis of
    source i. Two ways lead to the mixing matrix:

    - :meth:`cumulant_slices`: all matrices :math:`C(\cdot, \cdot, e_a, e_b)`. The rotation
      :math:`[o_1 \dots o_k]` is what diagonalizes all of them (JADE).
    - the interface of all moments, for any function of ``momentree.decomposition``. With a fixed
      vector :math:`u`, :math:`Q = C(\cdot, \cdot, I)` and :math:`v = Q u`, let

      .. math:: M_1 = C(\cdot, u, u, v), \quad M_2 = C(\cdot, \cdot, u, v), \quad
                M_3 = C(\cdot, \cdot, \cdot, v),

      each mapped back from the whitened space. Then
      :math:`M_m = \sum_i \omega_i \mu_i^{\otimes m}` with :math:`\mu_i = a_i / \langle o_i, u
      \rangle` and :math:`\omega_i = \kappa_i^2 \langle o_i, u \rangle^4 > 0`, whatever the signs
      of the kurtoses. The columns of A are the centers, up to their scale.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        m.
    W, E : ndarray of shapes (k, d) and (d, k)
        Whitening of the covariance, and its pseudo-inverse.
    pairs : ndarray of shape (p, p), p = k (k + 1) / 2
        C[a, b, c, d] for a <= b and c <= d, in the order of ``numpy.triu_indices(k)``.

    Notes
    -----
    The contraction of a fourth cumulant with vectors is that of [1]_, section 3.3; the factor Q,
    which makes all weights positive, is not in it. One contraction uses only a part of the
    cumulants: on samples JADE is more accurate (``benchmarks/independent_components.py``). A source
    without excess kurtosis has weight zero.

    Time O(n k^4), memory O(k^4), at most 64 sources.

    References
    ----------
    .. [1] A. Anandkumar, R. Ge, D. Hsu, S. M. Kakade, M. Telgarsky. Tensor decompositions for
       learning latent variable models. JMLR 15, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition import sidiwo
    >>> from momentree.moments import ICAMoments
    >>> moments = ICAMoments.from_parameters([[1, 2], [3, 1]], [3.0, -1.2])
    >>> found = sidiwo(moments, 2).centers
    >>> np.sort(found[0] / found[1]).round(6)  # 1 / 3 and 2 / 1
    array([0.333333, 2.      ])
    """

    def __init__(self, mean: Floats, W: Floats, E: Floats, pairs: Floats) -> None:
        self.mean, self.W, self.E, self._pairs = mean, W, E, pairs
        k = len(W)
        # RandomState draws the same numbers with every version of NumPy.
        u = np.random.RandomState(0).standard_normal(k)
        v = self._contract(np.eye(k)) @ u
        self._M2 = self._contract(0.5 * (np.outer(u, v) + np.outer(v, u)))
        self._m1, self._v = self._M2 @ u, v

    @classmethod
    def from_data(
        cls, X: Any, *, n_components: int | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Estimate the cumulants from data.

        Parameters
        ----------
        X : {ndarray, data frame} of shape (n_samples, n_features)
            Finite numbers.
        n_components : int from 1 to 64, default=None
            Number of sources. Fewer than features keep the leading principal components of the
            standardized features. None means as many as the rank.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the samples; a weight of 2 is equivalent to two copies.

        Returns
        -------
        ICAMoments
            Its number of sources, ``len(W)``, is less than `n_components` if the rank is.

        Raises
        ------
        InvalidDataError
            If X contains a value that is not a finite number from -1e30 to 1e30, if no sample has a
            positive weight, or if all samples are equal (code ``no_spread``).
        InvalidParameterError
            If there are more than 64 sources (code ``too_many_sources``).
        """
        X = valid.check_real(X)
        v = valid.check_sample_weight(sample_weight, len(X))
        mean, W, E = whiten_covariance(X, v, n_components)
        pairs = fourth_cumulants((X - mean) @ W.T, v)
        return cls(mean, W, E, pairs)

    @classmethod
    def from_parameters(cls, mixing: ArrayLike, kurtoses: ArrayLike) -> Self:
        """Return the exact cumulants of sources of variance 1, with mean zero.

        Parameters
        ----------
        mixing : array-like of shape (d, k)
            A, of rank k.
        kurtoses : array-like of shape (k,)
            Excess kurtoses; 0 for a Gaussian source, 3 for Laplace, -1.2 for uniform.

        Returns
        -------
        ICAMoments
            The cumulants.

        Raises
        ------
        InvalidDataError
            If shapes do not match, values are not finite, or A has a lower rank.
        """
        A, kappa = valid.as_floats("mixing", mixing), valid.as_floats("kurtoses", kurtoses)
        valid.check_shape("mixing", A, ("d", "k"))
        valid.check_shape("kurtoses", kappa, (A.shape[1],))
        for name, values in (("mixing", A), ("kurtoses", kappa)):
            if not np.isfinite(values).all():
                raise InvalidDataError(wording.NOT_FINITE, parameter=name)
        U, S, _ = np.linalg.svd(A, full_matrices=False)
        k = A.shape[1]
        if len(S) < k or not S[-1] > RANK_TOLERANCE * S[0]:
            raise InvalidDataError(
                "[mixing_rank] mixing must have {needed:~linearly independent column}", needed=k
            )
        W, E = (U / S).T, U * S
        V = W @ A
        a, b = np.triu_indices(k)
        P = V[a] * V[b]
        return cls(np.zeros(len(A)), W, E, (P * kappa) @ P.T)

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return np.asarray(self.E @ self._m1)

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (d, d)."""
        E, M2 = self.E, self._M2
        return symmetric(len(E), lambda V: np.asarray(E @ (M2 @ (E.T @ V))))

    def cumulant_slices(self) -> Floats:
        """Return all slices of C, shape (k (k + 1) / 2, k, k), in the whitened space.

        Slice (a, b) is C(., ., e_a, e_b), times sqrt(2) if a < b: each occurs twice in C.
        """
        k = len(self.W)
        a, b = np.triu_indices(k)
        H = np.empty((len(a), k, k))
        H[:, a, b] = H[:, b, a] = self._pairs * np.where(a == b, 1.0, np.sqrt(2.0))[:, None]
        return H

    def _contract(self, B: Floats) -> Floats:
        """Return sum_cd C[., ., c, d] B[c, d] for a symmetric B."""
        k = len(self.W)
        a, b = np.triu_indices(k)
        out = np.empty((k, k))
        out[a, b] = out[b, a] = self._pairs @ (B[a, b] * np.where(a == b, 1.0, 2.0))
        return out

    @property
    def _third(self) -> Floats:
        """M3 in the whitened space, shape (k, k, k)."""
        k = len(self.W)
        out = np.empty((k, k, k))
        for c in range(k):
            B = np.zeros((k, k))
            B[c] += 0.5 * self._v
            B[:, c] += 0.5 * self._v
            out[c] = self._contract(B)
        return out

    def _slices(self, W: Floats) -> Floats:
        V = W @ self.E
        return np.asarray(np.einsum("ra,abc,ib,jc->rij", self.E, self._third, V, V, optimize=True))

    def _tensor(self, W: Floats) -> Floats:
        V = W @ self.E
        return np.asarray(np.einsum("abc,ia,jb,lc->ijl", self._third, V, V, V, optimize=True))


def whiten_covariance(
    X: Floats, weight: Floats, n_components: int | None
) -> tuple[Floats, Floats, Floats]:
    """Return the mean, and W and its pseudo-inverse E with W Cov W^T = I.

    Principal components are those of standardized features, so that units do not matter.
    """
    d = X.shape[1]
    valid.check_integer("n_components", n_components, at_least=1, optional=True)
    v = weight / weight.sum()
    largest = np.abs(X).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)  # squares of 1e30 overflow in no step below
    Y = X / unit
    mean = v @ Y
    mean += v @ (Y - mean)  # exact for constant features
    Y = Y - mean
    spread = np.sqrt(v @ (Y * Y))
    varies = (spread > 1e-15) & (spread * unit > NO_SPREAD)
    if not varies.any():
        raise InvalidDataError(
            "[no_spread] all samples are equal, so that there is nothing to separate; add {samples}"
        )
    spread = np.where(varies, spread, 1.0)
    Y = np.where(varies, Y / spread, 0.0)
    values, U = eigh((Y * v[:, None]).T @ Y)
    values, U = values[::-1], U[:, ::-1]
    rank = int(np.count_nonzero(values > RANK_TOLERANCE * d * values[0]))
    k = rank if n_components is None else min(rank, n_components)
    if k > MAX_SOURCES:
        raise InvalidParameterError(
            "[too_many_sources] fourth cumulants of {found} sources need too much memory; choose "
            "at most {parameters.n_components:{most}}",
            found=k,
            most=MAX_SOURCES,
        )
    root, U = np.sqrt(values[:k]), U[:, :k]
    U = U * np.where(U[np.abs(U).argmax(axis=0), np.arange(k)] < 0, -1.0, 1.0)
    scale = (spread * unit)[:, None]
    return mean * unit, (U / root / scale).T, U * root * scale


def fourth_cumulants(Z: Floats, weight: Floats) -> Floats:
    """Return C[a, b, c, d] of white rows Z (n, k), for pairs a <= b and c <= d."""
    n, k = Z.shape
    v = weight / weight.sum()
    a, b = np.triu_indices(k)
    C = np.zeros((len(a), len(a)))
    block = max(1, CUMULANTS_AT_ONCE // len(a))
    for at in range(0, n, block):
        rows = Z[at : at + block]
        P = rows[:, a] * rows[:, b]
        C += (P * v[at : at + block, None]).T @ P
    S = (Z * v[:, None]).T @ Z
    C -= np.outer(S[a, b], S[a, b])
    C -= S[np.ix_(a, a)] * S[np.ix_(b, b)] + S[np.ix_(a, b)] * S[np.ix_(b, a)]
    return C
