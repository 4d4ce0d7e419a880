"""Variational EM of latent Dirichlet allocation, started from given parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, polygamma, psi

from momentree.backends import Block, RowBlocks
from momentree.inference.variational import document_bound, fit_block, small_blocks
from momentree.objects import LDAParameters

__all__ = ["RefinedLDA", "dirichlet_from_logs", "smoothed_topics", "variational_em"]

Floats = NDArray[np.float64]

FIRST_ROUNDS, ROUNDS = 20, 5
"""Rounds of inference in the first step, which starts from equal shares, and in the others,
which go on from where they were."""
INNER_TOL = 1e-3
"""Documents that a round moves less than this are done until the next step."""
LEAST_ALPHA = 1e-3
"""Below this a topic has no documents; smaller numbers only tire the digamma function."""


@dataclass(frozen=True)
class RefinedLDA:
    """Parameters after refinement and how it went.

    Attributes
    ----------
    parameters : LDAParameters
        After the last step; topics keep their order.
    bound : float
        Lower bound of the log-likelihood, in nats, less what depends on the counts alone: after
        the first step of that of alpha, with topics of the prior Dirichlet(smoothing) integrated
        out. Of the parameters before the last step, or, where the tolerance ended it, of
        `parameters`.
    n_iter : int
        Steps taken.
    converged : bool
        Whether the tolerance was met within the steps allowed.
    """

    parameters: LDAParameters
    bound: float
    n_iter: int
    converged: bool


def variational_em(
    rows: RowBlocks,
    start: LDAParameters,
    *,
    sample_weight: Floats,
    smoothing: float = 0.05,
    max_iter: int = 30,
    tol: float = 5e-5,
) -> RefinedLDA:
    """Improve topics and concentrations by variational EM.

    Topics have the prior Dirichlet(smoothing). Alternate inference, which gives gamma and phi of
    each document with exp E_q log mu for the topics, with

        q(mu_j) = Dirichlet(smoothing + sum_i v_i x_i phi_ij),   mu_j its mean,
        alpha = argmax sum_i v_i E_q log Dirichlet(h_i; alpha),   v the sample weights.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Word counts.
    start : LDAParameters
        All centers > 0 where words occur.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    smoothing : float > 0, default=0.05
        Prior count of every word in every topic.
    max_iter : int >= 1, default=30
        Most steps.
    tol : float >= 0, default=5e-5
        Stop when a step raises the bound by less than this share of its size.

    Returns
    -------
    RefinedLDA
        Parameters, bound, number of steps and whether the tolerance was met.

    Notes
    -----
    Batch variational EM of [1]_, section 5.4: topics have a distribution too, which takes less
    from words that are rare. The first step takes the topics of the start as they are. Inference
    goes on from the last step for a few rounds instead of to its end: from the second step on
    each round raises the bound, and so does each step. Time O(nnz k) a round; memory
    O((n + d) k). Deterministic.

    References
    ----------
    .. [1] D. Blei, A. Ng, M. Jordan. Latent Dirichlet allocation. JMLR 3, 2003.
    """
    rows = small_blocks(rows)
    lengths = rows.row_sums
    # Documents without words say nothing of alpha.
    usable = np.where(lengths > 0, sample_weight, 0.0)
    gammas = start.alpha + lengths[:, None] / start.n_components
    parameters, last, converged = start, -np.inf, False
    # The first step takes the topics as known; from then on they have a distribution.
    topics, of_topics = start.centers, 0.0
    n_iter = 0
    for n_iter in range(1, max_iter + 1):
        rounds = FIRST_ROUNDS if n_iter == 1 else ROUNDS
        sums, mean_logs, bound = _expected_statistics(
            rows, parameters.alpha, topics, gammas, usable, rounds
        )
        bound += of_topics
        gain, last = bound - last, bound
        if n_iter > 2 and gain < tol * abs(bound):
            converged = True
            break
        alpha = dirichlet_from_logs(mean_logs, parameters.alpha)
        parameters = LDAParameters(alpha, smoothed_topics(sums, smoothing))
        topics, of_topics = _expected_topics(sums + smoothing, smoothing)
    return RefinedLDA(parameters, last, n_iter, converged)


def _expected_topics(counts: Floats, smoothing: float) -> tuple[Floats, float]:
    """Return exp E_q log mu for q(mu_j) = Dirichlet(counts_j), and E_q log P[mu] - E_q log q."""
    d, k = counts.shape
    total = counts.sum(axis=0)
    logs = psi(counts) - psi(total)
    prior = k * (gammaln(d * smoothing) - d * gammaln(smoothing))
    entropy = gammaln(counts).sum() - gammaln(total).sum()
    return np.exp(logs), float(prior + entropy + ((smoothing - counts) * logs).sum())


def _expected_statistics(
    rows: RowBlocks, alpha: Floats, topics: Floats, gammas: Floats, weight: Floats, rounds: int
) -> tuple[Floats, Floats, float]:
    """Improve `gammas` in place; return word counts of topics (d, k), E log h (k,), the bound."""
    centers = np.ascontiguousarray(topics)
    d, k = centers.shape

    def kernel(B: Block) -> Floats:
        v = weight[B.at]
        g, e, ratios, log_mass = fit_block(
            B, alpha, centers, gammas[B.at], max_iter=rounds, tol=INNER_TOL
        )
        gammas[B.at] = g
        out = np.empty((d + 2, k))
        out[:d] = B.with_data(ratios).tdot(v[:, None] * e)
        out[d] = v @ (psi(g) - psi(g.sum(axis=1, keepdims=True)))
        out[d + 1] = v @ document_bound(alpha, g, log_mass)
        return out

    total = rows.sum(kernel)
    return centers * total[:d], total[d] / weight.sum(), float(total[d + 1, 0])


def smoothed_topics(sums: Floats, smoothing: float) -> Floats:
    """Return topics from word counts: (S_wj + smoothing) / sum_w (S_wj + smoothing).

    Parameters
    ----------
    sums : ndarray of shape (d, k)
        S, the word counts of each topic.
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
    """Return the alpha that maximises the likelihood of shares with given mean logarithms.

        max over alpha of  log G(alpha_0) - sum_j log G(alpha_j) + sum_j (alpha_j - 1) l_j.

    Parameters
    ----------
    mean_logs : ndarray of shape (k,)
        l_j, the mean of log h_j over documents.
    start : ndarray of shape (k,)
        Where to start, > 0.
    max_iter : int >= 1, default=20
        Most Newton steps.

    Returns
    -------
    ndarray of shape (k,)
        alpha >= 0.001.

    Notes
    -----
    Newton's method of [1]_ in O(k) a step, halved until it raises the likelihood.

    References
    ----------
    .. [1] T. Minka. Estimating a Dirichlet distribution. 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import psi
    >>> from momentree.refinement import dirichlet_from_logs
    >>> alpha = np.array([0.2, 0.5, 2.0])
    >>> dirichlet_from_logs(psi(alpha) - psi(alpha.sum()), np.ones(3)).round(6)
    array([0.2, 0.5, 2. ])
    """

    def value(a: Floats) -> float:
        return float(gammaln(a.sum()) - gammaln(a).sum() + (a - 1.0) @ mean_logs)

    alpha = np.maximum(start, LEAST_ALPHA)
    best = value(alpha)
    if len(alpha) == 1:
        return alpha  # any concentration gives the one topic all of the words
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
