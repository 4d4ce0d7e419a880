"""Posteriors (responsibilities) and likelihoods of mixtures (S eq. 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, logsumexp

from momentree._types import Floats
from momentree.backends import RowBlocks
from momentree.objects import MixtureParameters


def log_joint(rows: RowBlocks, parameters: MixtureParameters) -> Floats:
    """Return log P[x, component j] for each sample, up to a constant that depends only on x.

        log P[x, j] = b_j + sum_w t_w(x) theta_wj + const(x)     (S eq. 1, numerator)

    For topics t(x) = x, theta = log mu, b_j = log omega_j, and the constant is the logarithm of the
    multinomial coefficient. For Poisson variables b_j = log omega_j - sum_w mu_wj, and the
    constant is -sum_w log x_w!. For binary and Gaussian variables, see their parameter classes.

    Parameters
    ----------
    rows : RowBlocks of shape (n, p)
        Sufficient statistics t(x) of the samples; for counts, the (scaled) counts.
    parameters : MixtureParameters
        Parameters of the mixture. For counts, a word that occurs although its center is zero gives
        -inf.

    Returns
    -------
    ndarray of shape (n, k)
        In nats. Time O(nnz k).
    """
    theta, offsets = parameters.coefficients, parameters.offsets
    return rows.map(lambda B: B.dot(theta) + offsets)


def log_posterior(joint: Floats) -> tuple[Floats, Floats]:
    """Return posteriors and log-likelihoods of samples.

        log P[j | x] = log P[x, j] - log P[x],   log P[x] = log sum_j P[x, j]   (S eq. 1)

    Parameters
    ----------
    joint : ndarray of shape (n, k)
        Result of :func:`log_joint`.

    Returns
    -------
    log_posterior : ndarray of shape (n, k)
        log P[j | x], the logarithms of the responsibilities.
    log_likelihood : ndarray of shape (n,)
        log P[x] in nats, up to the constant of :func:`log_joint`.
    """
    log_likelihood = np.asarray(logsumexp(joint, axis=1))
    return joint - log_likelihood[:, None], log_likelihood


def log_factorials(X: Any) -> Floats:
    """Return sum_w log x_w! of each sample.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Counts >= 0; x! is Gamma(x + 1) if a count is not whole.

    Returns
    -------
    ndarray of shape (n,)
        In nats. Time O(nnz).
    """
    logs = sp.csr_array((gammaln(X.data + 1.0), X.indices, X.indptr), shape=X.shape)
    return np.asarray(RowBlocks(logs).row_sums)


def log_multinomial(X: Any) -> Floats:
    """Return the logarithm of the multinomial coefficient of each document.

        log (c! / prod_w x_w!),   with c = sum_w x_w: the number of orders of its words

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Word counts >= 0.

    Returns
    -------
    ndarray of shape (n,)
        In nats. Time O(nnz).
    """
    return np.asarray(gammaln(RowBlocks(X).row_sums + 1.0) - log_factorials(X))
