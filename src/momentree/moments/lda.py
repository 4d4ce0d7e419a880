"""Moments of latent Dirichlet allocation: S Theorem 3; exact population moments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from momentree._validation import as_floats, check_parameters
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.moments._population import PopulationMoments
from momentree.moments._symmetric import symmetric
from momentree.moments.factorial import FactorialMoments
from momentree.moments.single_topic import SingleTopicMoments, Weighting

__all__ = ["LDAMoments"]

Floats = NDArray[np.float64]


class LDAMoments:
    """Estimate the moments of latent Dirichlet allocation from word counts.

    With N1, N2, N3 the moments of :class:`SingleTopicMoments` and a = alpha_0 = sum_i alpha_i,

        M1 = N1,
        M2 = (a + 1) N2 - a N1 (x) N1,
        M3 = ((a + 1)(a + 2) N3 - a (a + 1) N12 + 2 a^2 N1 (x) N1 (x) N1) / 2,
        N12[h, l, m] = N2[h, l] N1[m] + N2[l, m] N1[h] + N2[m, h] N1[l],

    which estimate sum_i w_i mu_i^(x)m for m = 1, 2, 3 with w_i = alpha_i / alpha_0, without bias
    in the limit of many documents: see the notes.
    These are S Theorem 3 times (a + 1) and (a + 1)(a + 2) / 2: with that factor M1, M2 and M3
    share their weights, which sum to 1, and every decomposition applies as it stands.

    Parameters
    ----------
    raw : FactorialMoments
        Moments N1, N2, N3 of the words.
    alpha0 : float > 0
        Total concentration of the Dirichlet distribution.

    Attributes
    ----------
    m1 : ndarray of shape (d,)
        M1, sum 1.
    m2 : LinearOperator of shape (d, d)
        M2, symmetric.

    Notes
    -----
    As alpha_0 goes to 0 documents have one topic each and the moments become N1, N2, N3.

    Theorem 3 of [1]_ states the expectations as exact. Those of products of estimates are not:
    with N1, N2 the estimates from n documents, and sums over the three orders of h, l, m,

        E[M2] = sum_i w_i mu_i mu_i^T - a Cov(N1),
        E[M3] = sum_i w_i mu_i^(x)3 - a (a + 1) / 2 sum Cov(N2[h, l], N1[m])
                + a^2 (E[N1^(x)3] - E[N1]^(x)3).

    Both biases vanish as 1 / n, faster than noise, which falls as 1 / sqrt(n), and are left as
    they are: to take a document out of its product with itself would make a document of weight 2
    another thing than the document twice. As for ``"length"`` in :class:`SingleTopicMoments`, the
    lengths of documents must not depend on their topics; use ``"uniform"`` where they do.
    Time and memory as :class:`momentree.moments.FactorialMoments`.

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018. Theorem 3.
    .. [2] A. Anandkumar et al. A spectral algorithm for latent Dirichlet allocation. NIPS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import LDAMoments
    >>> moments = LDAMoments.from_parameters([0.5, 1.5], np.eye(2))
    >>> moments.m1
    array([0.25, 0.75])
    """

    def __init__(self, raw: FactorialMoments, alpha0: float) -> None:
        self._raw, self.alpha0 = raw, check_alpha0(alpha0)

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        alpha0: float = 1.0,
        weighting: Weighting = "length",
        sample_weight: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> LDAMoments:
        """Estimate the moments from documents.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Word counts >= 0.
        alpha0 : float > 0, default=1.0
            Total concentration.
        weighting : {"length", "uniform", "three_words"}, default="length"
            How documents of different lengths are weighted; see :class:`SingleTopicMoments`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the documents.
        random_state : int, RandomState or None, default=None
            Draws the words of ``weighting="three_words"``; not used otherwise.

        Returns
        -------
        LDAMoments
            The moments.

        Raises
        ------
        InvalidDataError
            As :meth:`SingleTopicMoments.from_data`.
        InvalidParameterError
            If `alpha0` is not a number above zero, or `weighting` is none of the three.
        """
        check_alpha0(alpha0)
        raw = SingleTopicMoments.from_data(
            X, weighting=weighting, sample_weight=sample_weight, random_state=random_state
        )
        return cls(raw, alpha0)

    @staticmethod
    def from_parameters(alpha: ArrayLike, components: ArrayLike) -> PopulationMoments:
        """Return the exact moments of a model.

        Parameters
        ----------
        alpha : array-like of shape (k,)
            Concentrations > 0.
        components : array-like of shape (k, d)
            Topics in rows, >= 0, each with sum 1.

        Returns
        -------
        PopulationMoments
            With weights alpha_i / alpha_0.

        Raises
        ------
        InvalidDataError
            If a concentration is not above zero, components are no distributions, or their shapes
            do not fit.
        """
        a = as_floats("alpha", alpha)
        if a.ndim != 1 or not ((a > 0) & np.isfinite(a)).all():
            msg = f"alpha={alpha!r}; expected k concentrations above zero"
            raise InvalidDataError(msg)
        w, mu = check_parameters(a / a.sum(), components)
        return PopulationMoments(w, mu.T)

    @property
    def m1(self) -> Floats:
        """M1, shape (d,), sum 1."""
        return self._raw.m1

    @property
    def m2(self) -> LinearOperator:
        """M2 as an operator of shape (d, d)."""
        a, m1, raw = self.alpha0, self.m1, self._raw.m2

        def matmat(V: Floats) -> Floats:
            V = np.asarray(V, dtype=np.float64)
            rank_one = np.multiply.outer(m1, m1 @ V)
            return np.asarray((a + 1.0) * (raw @ V) - a * rank_one)

        return symmetric(len(m1), matmat)

    def whitened_slices(self, W: ArrayLike) -> Floats:
        """Return H[r] = W M3[r] W^T, the slices of M3 whitened in two modes.

        Parameters
        ----------
        W : array-like of shape (k, d)
            Whitening map.

        Returns
        -------
        ndarray of shape (d, k, k)
            Symmetric in its last two axes.
        """
        a, W = self.alpha0, np.asarray(W, dtype=np.float64)
        H = 0.5 * (a + 1.0) * (a + 2.0) * self._raw.whitened_slices(W)
        N2 = self._raw.m2 @ W.T
        m = W @ self.m1
        cross = np.multiply.outer(N2, m)
        cross += cross.transpose(0, 2, 1)
        cross += np.multiply.outer(self.m1, W @ N2)
        H -= 0.5 * a * (a + 1.0) * cross
        H += a * a * np.multiply.outer(self.m1, np.outer(m, m))
        return np.asarray(H)

    def whitened_tensor(self, W: ArrayLike) -> Floats:
        """Return T = M3(W, W, W), M3 whitened in all three modes.

        Parameters
        ----------
        W : array-like of shape (k, d)
            Whitening map.

        Returns
        -------
        ndarray of shape (k, k, k)
            Symmetric.
        """
        W = np.asarray(W, dtype=np.float64)
        N2 = W @ (self._raw.m2 @ W.T)
        return correct_tensor(self._raw.whitened_tensor(W), N2, W @ self.m1, self.alpha0)

    def m3_dense(self) -> Floats:
        """Return M3 as an array of shape (d, d, d), for small d; memory O(d^3)."""
        return self.whitened_slices(np.eye(self.m1.shape[0]))


def correct_tensor(N3: Floats, N2: Floats, N1: Floats, alpha0: float) -> Floats:
    """Return M3 of S Theorem 3, scaled as in :class:`LDAMoments`, from moments in any k directions.

    Parameters
    ----------
    N3, N2, N1 : ndarray of shape (k, k, k), (k, k), (k,)
        Moments of the words.
    alpha0 : float > 0
        Total concentration.

    Returns
    -------
    ndarray of shape (k, k, k)
        ((a + 1)(a + 2) N3 - a (a + 1) N12 + 2 a^2 N1^(x)3) / 2.
    """
    a = alpha0
    cross = np.multiply.outer(N2, N1)
    cross = cross + cross.transpose(2, 0, 1) + cross.transpose(0, 2, 1)
    cube = np.multiply.outer(np.multiply.outer(N1, N1), N1)
    return np.asarray(0.5 * ((a + 1) * (a + 2) * N3 - a * (a + 1) * cross) + a * a * cube)


def check_alpha0(alpha0: float) -> float:
    """Return alpha0 as a float.

    Raises
    ------
    InvalidParameterError
        If it is not a number above zero, or one that no arithmetic can bear.
    """
    try:
        value = np.nan if isinstance(alpha0, bool) else float(alpha0)
    except (TypeError, ValueError):
        value = np.nan
    if not 1e-100 <= value <= 1e100:
        msg = f"alpha0={alpha0!r}; expected a number above zero (from 1e-100 to 1e100)"
        raise InvalidParameterError(msg)
    return value
