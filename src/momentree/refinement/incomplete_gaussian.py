"""EM for mixtures of Gaussians with covariances when values are missing at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from momentree._types import Floats, Ints
from momentree.core.progress import iterations
from momentree.objects import FullGaussianParameters, MixtureParameters, SharedGaussianParameters
from momentree.refinement.em import Refined


@dataclass(frozen=True)
class _Pattern:
    """Rows with the same missing values."""

    rows: Ints
    seen: Ints
    gaps: Ints


def em_with_gaps(
    Z: Floats,
    missing: Any,
    start: MixtureParameters,
    *,
    sample_weight: Floats,
    smoothing: float,
    max_iter: int,
    tol: float,
) -> Refined[MixtureParameters]:
    """Improve a mixture of Gaussians by EM over components and missing values.

    For a sample with observed values x_o and missing values x_m, the M-step uses expectations under
    each component:

        E[x_m | x_o] = mu_m + Sigma_mo Sigma_oo^-1 (x_o - mu_o),
        Cov[x_m | x_o] = Sigma_mm - Sigma_mo Sigma_oo^-1 Sigma_om

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Samples; missing values may be any finite number.
    missing : ndarray of bool of shape (n, d)
        Which values are missing.
    start : FullGaussianParameters or SharedGaussianParameters
        Initial parameters, whose M-step is used.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    smoothing : float >= 0
        As in ``m_step``.
    max_iter : int >= 0
        Maximum number of steps.
    tol : float >= 0
        Stop when a step raises the mean log-likelihood by no more than this, in nats.

    Returns
    -------
    Refined
        Parameters, and the log-likelihood of the observed values up to the constant of
        :func:`momentree.inference.log_joint`.

    Notes
    -----
    Time O(m d^3 k + n d^2 k) per step, for m different patterns of missing values.
    """
    usable = np.flatnonzero(sample_weight > 0)
    Z, missing, weight = Z[usable], missing[usable], sample_weight[usable]
    kinds, group = np.unique(missing, axis=0, return_inverse=True)
    patterns = [
        _Pattern(np.flatnonzero(group.reshape(-1) == g), np.flatnonzero(~m), np.flatnonzero(m))
        for g, m in enumerate(kinds)
    ]
    best, last, parameters, converged, n_iter = start, -np.inf, start, False, 1
    for n_iter in iterations(max_iter):  # noqa: B007
        sums, sizes, squares, log_likelihood = _expected(Z, weight, patterns, parameters)
        gain = log_likelihood - last
        if gain > 0:
            best, last = parameters, log_likelihood
        if gain <= tol * float(weight.sum()):
            converged = True
            break
        parameters = _m_step(parameters, sums, sizes, squares, smoothing)
    return Refined(best, last, n_iter, converged)


def _m_step(
    p: MixtureParameters, sums: Floats, sizes: Floats, squares: Floats, smoothing: float
) -> MixtureParameters:
    """Return the parameters for expected sums (d, k), sizes (k,) and squares (k, d, d)."""
    if isinstance(p, SharedGaussianParameters):
        family = p.with_squares(squares.sum(axis=0) / sizes.sum(), p.floor)
        return family.m_step(sums, sizes, smoothing)
    v, w = np.triu_indices(len(sums))
    return p.m_step(np.vstack([sums, squares[:, v, w].T]), sizes, smoothing)


def _expected(
    Z: Floats, weight: Floats, patterns: list[_Pattern], p: MixtureParameters
) -> tuple[Floats, Floats, Floats, float]:
    d, k = p.centers.shape
    sums, sizes, squares = np.zeros((d, k)), np.zeros(k), np.zeros((k, d, d))
    total = 0.0
    for pattern in patterns:
        rows, seen, gaps = pattern.rows, pattern.seen, pattern.gaps
        v = weight[rows]
        joint = np.empty((len(rows), k))
        completed = []
        for j in range(k):
            C = _covariances(p, j)
            residual = Z[np.ix_(rows, seen)] - p.centers[seen, j]
            root = np.linalg.cholesky(C[np.ix_(seen, seen)])
            scaled = np.linalg.solve(root, residual.T)
            joint[:, j] = -0.5 * (scaled**2).sum(axis=0) - np.log(np.diag(root)).sum()
            to_gaps = np.linalg.solve(root, C[np.ix_(seen, gaps)])
            X = Z[rows].copy()
            X[:, gaps] = p.centers[gaps, j] + scaled.T @ to_gaps
            completed.append((X, C[np.ix_(gaps, gaps)] - to_gaps.T @ to_gaps))
        joint += p.log_weights
        log_likelihood = logsumexp(joint, axis=1)
        total += float(v @ log_likelihood)
        R = np.exp(joint - log_likelihood[:, None]) * v[:, None]
        sizes += R.sum(axis=0)
        for j, (X, rest) in enumerate(completed):
            weighted = R[:, j, None] * X
            sums[:, j] += weighted.sum(axis=0)
            squares[j] += X.T @ weighted
            squares[j][np.ix_(gaps, gaps)] += R[:, j].sum() * rest
    return sums, sizes, squares, total


def _covariances(p: MixtureParameters, j: int) -> Floats:
    if isinstance(p, SharedGaussianParameters):
        return p.covariance
    assert isinstance(p, FullGaussianParameters)  # noqa: S101 - for the type checker
    return np.asarray(p.covariances[j])
