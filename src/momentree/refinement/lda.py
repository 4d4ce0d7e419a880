"""Result and M-step shared by both EM algorithms for latent Dirichlet allocation."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaln, polygamma, psi

from momentree._types import Floats
from momentree.objects import LDAParameters
from momentree.parameters.lda import LEAST_ALPHA


@dataclass(frozen=True)
class RefinedLDA:
    """Result of EM for latent Dirichlet allocation.

    Attributes
    ----------
    parameters : LDAParameters
        Parameters after the last iteration; topics keep their order.
    bound : float
        Lower bound on the log-likelihood in nats, up to a constant that depends only on the counts;
        from the second iteration on, with the topics, under the prior Dirichlet(smoothing),
        integrated out. For `parameters` if EM converged, else for those before the last iteration.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the tolerance was reached within `max_iter` iterations.
    sums, mean_logs : ndarray of shape (d, k) and (k,)
        Expected word counts of topics in the last iteration, and the mean of E log h over documents
        with words; empty for Gibbs sampling.
    """

    parameters: LDAParameters
    bound: float
    n_iter: int
    converged: bool
    sums: Floats = field(default_factory=lambda: np.empty((0, 0)))
    mean_logs: Floats = field(default_factory=lambda: np.empty(0))


def smoothed_topics(sums: Floats, smoothing: float) -> Floats:
    """Return smoothed topics from word counts: (S_wj + smoothing) / sum_w (S_wj + smoothing).

    Parameters
    ----------
    sums : ndarray of shape (d, k)
        S, the word counts in each topic.
    smoothing : float > 0
        Pseudo-count of every word in every topic.

    Returns
    -------
    ndarray of shape (d, k)
        Columns > 0 with sum 1.
    """
    C = sums + smoothing
    return np.asarray(C / C.sum(axis=0))


def dirichlet_from_logs(mean_logs: Floats, start: Floats, *, max_iter: int = 20) -> Floats:
    """Return the alpha that maximizes the Dirichlet likelihood for given mean logarithms.

        max over alpha of  log G(alpha_0) - sum_j log G(alpha_j) + sum_j (alpha_j - 1) l_j.

    Parameters
    ----------
    mean_logs : ndarray of shape (k,)
        l_j, the mean of log h_j over documents, with h the topic proportions.
    start : ndarray of shape (k,)
        Initial values > 0.
    max_iter : int >= 1, default=20
        Maximum number of Newton steps.

    Returns
    -------
    ndarray of shape (k,)
        alpha >= 0.001.

    Notes
    -----
    Newton's method of [1]_, O(k) for each step, with steps halved until the likelihood increases.

    References
    ----------
    .. [1] T. Minka. Estimating a Dirichlet distribution. 2000.
    """

    def value(a: Floats) -> float:
        return float(gammaln(a.sum()) - gammaln(a).sum() + (a - 1.0) @ mean_logs)

    alpha = np.maximum(start, LEAST_ALPHA)
    best = value(alpha)
    if len(alpha) == 1:
        return alpha  # the likelihood does not depend on alpha
    for _ in range(max_iter):
        gradient = psi(alpha.sum()) - psi(alpha) + mean_logs
        diagonal, common = -polygamma(1, alpha), float(polygamma(1, alpha.sum()))
        b = (gradient / diagonal).sum() / (1.0 / common + (1.0 / diagonal).sum())
        step = (gradient - b) / diagonal
        for _ in range(30):
            new = np.maximum(alpha - step, np.maximum(0.1 * alpha, LEAST_ALPHA))
            if (reached := value(new)) > best:
                break
            step = 0.5 * step
        else:
            break
        moved = np.abs(new / alpha - 1.0).max()
        alpha, best = new, reached
        if moved < 1e-10:
            break
    return alpha


def concentrations(weights: Floats, n: float, alpha0: float) -> Floats:
    """Return concentrations with sum `alpha0`, given the fraction of n documents in each topic.

    Each topic receives one additional document, so that EM does not starve a rare one.
    """
    alpha = weights * n + 1.0
    return np.asarray(alpha * (alpha0 / alpha.sum()))
