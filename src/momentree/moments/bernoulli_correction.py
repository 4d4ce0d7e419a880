"""Raw moments of binary data minus the bias (T Theorem 4.3.1) predicted from parameters."""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats
from momentree.moments._base import BaseMoments, diagonal
from momentree.objects import Moments


class CorrectedMoments(BaseMoments):
    """Subtract the bias of raw moments of binary data, as predicted from given parameters.

    Because x_i^2 = x_i, raw moments are too large where a feature repeats. For a mixture with
    weights w and centers mu, and V = mu (1 - mu), the bias is

        M2[i, i]:     sum_j w_j V_ij,
        M3[i, i, l]:  sum_j w_j V_ij mu_lj                  (l != i, and in any order),
        M3[i, i, i]:  sum_j w_j (mu_ij - mu_ij^3).

    With the true parameters the corrected moments estimate sum w mu^(x)2 and sum w mu^(x)3 without
    bias. With parameters estimated from raw moments, most of the bias disappears, and repeating the
    correction reduces it further. This correction is not in the papers; it makes moments of few
    features useful.

    Parameters
    ----------
    moments : Moments
        Raw moments of binary data.
    weights : ndarray of shape (k,)
        w >= 0.
    centers : ndarray of shape (d, k)
        mu in columns, in [0, 1].

    Notes
    -----
    T Theorem 4.3.1 bounds this bias. The correction costs O(d k^3) for k whitened directions and
    does not read the data again.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import BernoulliMoments, CorrectedMoments
    >>> w, mu = np.array([0.5, 0.5]), np.array([[0.8, 0.2], [0.6, 0.4]])
    >>> rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> chance = [np.prod(np.where(x[:, None], mu, 1 - mu), axis=0) @ w for x in rows]
    >>> raw = BernoulliMoments.from_data(rows, sample_weight=chance)
    >>> np.allclose(CorrectedMoments(raw, w, mu).m2 @ np.eye(2), (mu * w) @ mu.T)
    True
    >>> np.allclose(raw.m2 @ np.eye(2), (mu * w) @ mu.T)
    False
    """

    def __init__(self, moments: Moments, weights: Floats, centers: Floats) -> None:
        self._moments, self._w, self._mu = moments, weights, centers
        self._v = centers * (1.0 - centers)

    @property
    def m1(self) -> Floats:
        """M1, shape (d,); it has no bias."""
        return self._moments.m1

    @property
    def m2(self) -> LinearOperator:
        """M2 minus its bias, as an operator of shape (d, d)."""
        return cast("LinearOperator", self._moments.m2 - diagonal(self._v @ self._w))

    @property
    def _d(self) -> int:
        return len(self._mu)

    def _slices(self, W: Floats) -> Floats:
        H = self._moments.whitened_slices(W).copy()
        R = W.T
        for w, mu, v in zip(self._w, self._mu.T, self._v.T, strict=True):
            u, A = W @ mu, v[:, None] * R
            H -= w * mu[:, None, None] * (W @ A)
            # Subtract both orders together, so that rounding keeps H symmetric.
            H -= w * (A[:, :, None] * u[None, None, :] + u[None, :, None] * A[:, None, :])
        H -= self._cubes[:, None, None] * R[:, :, None] * R[:, None, :]
        return np.asarray(0.5 * (H + H.transpose(0, 2, 1)))

    def _tensor(self, W: Floats) -> Floats:
        T = self._moments.whitened_tensor(W).copy()
        for w, mu, v in zip(self._w, self._mu.T, self._v.T, strict=True):
            P, u = (W * v) @ W.T, W @ mu
            E = np.multiply.outer(P, u)
            T -= w * (E + E.transpose(0, 2, 1) + E.transpose(2, 0, 1))
        T -= np.stack([(W * (self._cubes * row)) @ W.T for row in W])
        return T

    @property
    def _cubes(self) -> Floats:
        """Bias of M3[i, i, i] beyond three times sum_j w_j V_ij mu_ij."""
        return np.asarray((self._v * (1.0 - 2.0 * self._mu)) @ self._w)
