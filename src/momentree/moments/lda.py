"""S Theorem 3 (T Theorem 3.3.1): moments of latent Dirichlet allocation, from S Theorem 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats
from momentree._validation import as_floats, check_number, check_parameters
from momentree.core.choices import Weighting
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.moments import factorial, single_topic
from momentree.moments._base import BaseMoments, PopulationMoments, symmetric

MIN_ALPHA0, MAX_ALPHA0 = 1e-100, 1e100
"""Beyond these limits, products of alpha0 underflow or overflow."""


class LDAMoments(BaseMoments):
    """Estimate the moments of latent Dirichlet allocation from word counts.

    With N1, N2, N3 the moments of :class:`SingleTopicMoments` and a = alpha_0 = sum_i alpha_i,

        M1 = N1,
        M2 = (a + 1) N2 - a N1 (x) N1,
        M3 = ((a + 1)(a + 2) N3 - a (a + 1) N12 + 2 a^2 N1 (x) N1 (x) N1) / 2,
        N12[h, l, m] = N2[h, l] N1[m] + N2[l, m] N1[h] + N2[m, h] N1[l],

    estimate sum_i w_i mu_i^(x)m for m = 1, 2, 3 with w_i = alpha_i / alpha_0. They equal the
    moments of S Theorem 3 times (a + 1) and (a + 1)(a + 2) / 2. With these factors M1, M2 and M3
    have the same weights, which sum to 1, and every decomposition applies without change.

    Parameters
    ----------
    raw : FactorialMoments
        Moments N1, N2, N3 of the words.
    alpha0 : float > 0
        Total concentration of the Dirichlet distribution.

    Notes
    -----
    As alpha_0 goes to 0, documents have one topic each and the moments become N1, N2, N3.

    S Theorem 3 states the expectations as exact, but products of estimates are biased. With N1,
    N2 the estimates from n documents, and sums over the three orders of h, l, m,

        E[M2] = sum_i w_i mu_i mu_i^T - a Cov(N1),
        E[M3] = sum_i w_i mu_i^(x)3 - a (a + 1) / 2 sum Cov(N2[h, l], N1[m])
                + a^2 (E[N1^(x)3] - E[N1]^(x)3).

    Both biases decrease as 1 / n, faster than the noise. They are not corrected, because a document
    of weight 2 would then differ from two copies of the document.

    As for ``"length"`` in :class:`SingleTopicMoments`, the length of a document must not depend
    on its topics; use ``"uniform"`` if it does. Time and memory as for
    :class:`momentree.moments.FactorialMoments`.

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4.
       Theorem 3.
    .. [2] A. Anandkumar et al. A spectral algorithm for latent Dirichlet allocation. NIPS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import LDAMoments
    >>> moments = LDAMoments.from_parameters([0.5, 1.5], np.eye(2))
    >>> moments.m1
    array([0.25, 0.75])
    """

    def __init__(self, raw: factorial.FactorialMoments, alpha0: float) -> None:
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
            Weights of documents of different lengths; see :class:`SingleTopicMoments`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the documents.
        random_state : int, RandomState or None, default=None
            Seed for ``weighting="three_words"``; None is the same as 0.

        Returns
        -------
        LDAMoments
            The moments.

        Raises
        ------
        InvalidDataError
            As in :meth:`SingleTopicMoments.from_data`.
        InvalidParameterError
            If `alpha0` is not a number above zero, or `weighting` is not one of these.
        """
        check_alpha0(alpha0)
        raw = single_topic.SingleTopicMoments.from_data(
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
            The moments, with weights alpha_i / alpha_0.

        Raises
        ------
        InvalidDataError
            If a concentration is not above zero, components are not distributions, or their
            shapes do not match.
        """
        a = as_floats("alpha", alpha)
        if a.ndim != 1 or not ((a > 0) & np.isfinite(a)).all():
            raise InvalidDataError(wording.BAD_CONCENTRATIONS, values=np.atleast_1d(a).tolist())
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

    def _slices(self, W: Floats) -> Floats:
        a = self.alpha0
        H = 0.5 * (a + 1.0) * (a + 2.0) * self._raw.whitened_slices(W)
        N2 = self._raw.m2 @ W.T
        m = W @ self.m1
        cross = np.multiply.outer(N2, m)
        cross += cross.transpose(0, 2, 1)
        cross += np.multiply.outer(self.m1, W @ N2)
        H -= 0.5 * a * (a + 1.0) * cross
        H += a * a * np.multiply.outer(self.m1, np.outer(m, m))
        return np.asarray(H)

    def _tensor(self, W: Floats) -> Floats:
        N2 = W @ (self._raw.m2 @ W.T)
        return correct_tensor(self._raw.whitened_tensor(W), N2, W @ self.m1, self.alpha0)


def correct_tensor(N3: Floats, N2: Floats, N1: Floats, alpha0: float) -> Floats:
    """Return M3 of :class:`LDAMoments` from moments of the words projected on k directions."""
    a = alpha0
    cross = np.multiply.outer(N2, N1)
    cross = cross + cross.transpose(2, 0, 1) + cross.transpose(0, 2, 1)
    cube = np.multiply.outer(np.multiply.outer(N1, N1), N1)
    return np.asarray(0.5 * ((a + 1) * (a + 2) * N3 - a * (a + 1) * cross) + a * a * cube)


def check_alpha0(alpha0: float) -> float:
    """Return the total concentration as a float after checking that it is in range."""
    check_number("alpha0", alpha0, at_least=MIN_ALPHA0, at_most=MAX_ALPHA0)
    return float(alpha0)
