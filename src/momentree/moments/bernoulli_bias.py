"""T Theorem 4.3.1: the bias of raw moments of binary data, its bounds, and moments without it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats, Ints
from momentree.moments._base import BaseMoments, diagonal
from momentree.moments.bernoulli import BernoulliMoments, check_bernoulli
from momentree.objects import Moments

COLUMNS = 64
"""Columns of M2 computed at a time, so that the full M2 is never in memory."""


@dataclass(frozen=True)
class BernoulliBias:
    """Bias of the raw moments of binary data, or bounds on it: by entry and in summary.

    The bias of every entry is nonnegative, and zero if its three features are different.

    Attributes
    ----------
    m2 : ndarray of shape (d,)
        Bias of M2_ii.
    m2_worst : float
        Largest of `m2`. The bias of M2 is diagonal, so this is its spectral norm: an eigenvalue
        of M2 that is not well above it may be due to bias, not to a component.
    m2_relative : float
        Frobenius norm of the bias of M2 divided by that of the raw M2, in [0, 1].
    m3 : ndarray of shape (d,)
        Bias of M3_iii.
    m3_pairs : ndarray of shape (d,)
        Largest bias of M3_iil over all features l other than i.
    m3_pairs_worst : float
        Largest of `m3_pairs`; 0 for a single feature.
    m3_norm : float
        Frobenius norm of the bias of M3; M3_iil occurs in three places.
    """

    m2: Floats
    m2_worst: float
    m2_relative: float
    m3: Floats
    m3_pairs: Floats
    m3_pairs_worst: float
    m3_norm: float


def bernoulli_bias_bounds(moments: Moments | Any) -> BernoulliBias:
    """Bound the bias of the raw moments of binary data, from the data alone.

    Because x is 0 or 1 and equals its powers, the bounds of T Theorem 4.3.1 contain no unknowns.
    The raw moments are too large by at most

        M1_i - M1_i^2  in M2_ii,    M1_i - M1_i^3  in M3_iii,
        M2_il - M2_il^2 / M1_l  in M3_iil, i != l.

    Parameters
    ----------
    moments : Moments, or array-like of shape (n_samples, n_features)
        Moments of binary data (``m1`` and the off-diagonal entries of ``m2`` are used), or the
        data themselves.

    Returns
    -------
    BernoulliBias
        The bounds.

    Raises
    ------
    InvalidDataError
        If data are given that are not binary.

    See Also
    --------
    bernoulli_bias : The bias itself, for known parameters.

    Notes
    -----
    All bounds are attained if the components do not differ. They are far larger than the bias if
    each feature is almost always present or almost always absent in a component.

    The thesis states the theorem for any variables with means in [0, 1]. The third inequality
    requires nonnegative variables: for one component with the values -2 and 1.5, and
    probabilities 1/3 and 2/3, its right-hand side is -49/108. (Misprints: read i != l for i != j,
    and j = 1 for j = i as the start of the sums; the bias is that of the expected raw moments.)

    The bounds are for population moments; estimates from n samples have an additional error of
    order n^(-1/2). With missing values, a pair may be estimated to be more frequent than one of its
    features; the bound is then set to zero.

    Time O(nnz d), memory O(64 (n_block + d)): M2 is computed 64 columns at a time.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Theorem 4.3.1.

    Examples
    --------
    >>> from momentree.moments import BernoulliMoments, bernoulli_bias, bernoulli_bias_bounds
    >>> X = [[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> bernoulli_bias_bounds(X).m2
    array([0.25  , 0.25  , 0.1875])
    >>> w, mu = [0.5, 0.5], [[0.9, 0.2], [0.1, 0.2]]
    >>> bernoulli_bias(w, mu).m2.round(2)
    array([0.09, 0.16])
    >>> bernoulli_bias_bounds(BernoulliMoments.from_parameters(w, mu)).m2.round(2)
    array([0.25, 0.16])
    """
    if not hasattr(moments, "whitened_slices"):
        moments = BernoulliMoments.from_data(moments)
    m1, M2 = moments.m1, moments.m2
    d = len(m1)
    # A feature l that never occurs is in no pair: treat 0 / 0 as 0.
    inverse = np.divide(1.0, m1, out=np.zeros(d), where=m1 > 0)

    def columns(at: Ints) -> tuple[Floats, Floats]:
        chosen = np.zeros((d, len(at)))
        chosen[at, np.arange(len(at))] = 1.0
        pairs = M2 @ chosen
        return pairs, np.maximum(pairs - np.square(pairs) * inverse[at], 0.0)

    return _collected(m1, m1 - m1**2, m1 - m1**3, columns)


def bernoulli_bias(weights: ArrayLike, means: ArrayLike) -> BernoulliBias:
    """Return the bias of the raw moments of a mixture of independent Bernoulli variables.

        sum_j w_j mu_ji (1 - mu_ji)  in M2_ii,    sum_j w_j mu_ji (1 - mu_ji^2)  in M3_iii,
        sum_j w_j mu_ji (1 - mu_ji) mu_jl  in M3_iil, i != l.

    Parameters
    ----------
    weights : array-like of shape (k,)
        omega >= 0, sum 1.
    means : array-like of shape (k, d)
        Probability that each feature is 1, one row per component, in [0, 1].

    Returns
    -------
    BernoulliBias
        The bias of the expected raw moments.

    Raises
    ------
    InvalidDataError
        If weights are not a distribution, means are outside [0, 1], or shapes do not match.

    See Also
    --------
    bernoulli_bias_bounds : Bounds from data alone.

    Notes
    -----
    The left-hand sides of T Theorem 4.3.1. Time O(d^2 k), memory O(d (k + 64)).

    Examples
    --------
    >>> from momentree.moments import bernoulli_bias
    >>> found = bernoulli_bias([1.0], [[0.5, 0.1]])
    >>> found.m3_pairs, round(found.m2_worst, 3)
    (array([0.025, 0.045]), 0.25)
    """
    w, mu = check_bernoulli(weights, means)
    spread = (w[:, None] * mu * (1.0 - mu)).T

    def columns(at: Ints) -> tuple[Floats, Floats]:
        return (w[:, None] * mu).T @ mu[:, at], spread @ mu[:, at]

    return _collected(w @ mu, spread.sum(axis=1), w @ (mu - mu**3), columns)


def _collected(
    m1: Floats,
    m2: Floats,
    m3: Floats,
    columns: Callable[[Ints], tuple[Floats, Floats]],
) -> BernoulliBias:
    """Summarize biases; `columns` returns M2_il and the bias of M3_iil for some features l."""
    d = len(m1)
    m2, m3 = np.maximum(m2, 0.0), np.maximum(m3, 0.0)
    pairs, squares = np.zeros(d), 0.0
    # The diagonal of the raw M2 is M1, even if exact moments are given.
    raw = float(m1 @ m1)
    for start in range(0, d, COLUMNS):
        at = np.arange(start, min(start + COLUMNS, d))
        second, bias = columns(at)
        second[at, at - start] = bias[at, at - start] = 0.0
        raw += float(np.square(second).sum())
        pairs = np.maximum(pairs, bias.max(axis=1))
        squares += float(np.square(bias).sum())
    return BernoulliBias(
        m2,
        float(m2.max(initial=0.0)),
        float(np.linalg.norm(m2)) / math.sqrt(raw) if raw else 0.0,
        m3,
        pairs,
        float(pairs.max(initial=0.0)),
        math.sqrt(float(m3 @ m3) + 3.0 * squares),
    )


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
