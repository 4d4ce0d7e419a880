"""Variational EM for latent Dirichlet allocation."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy.special import gammaln, polygamma, psi

import momentree.inference.lda as inference
from momentree._types import Floats
from momentree.backends import Block, RowArray, RowBlocks, Rows, collected
from momentree.core import pages, progress
from momentree.objects import LDAParameters
from momentree.parameters import MIN_ALPHA


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
        with words.
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

    alpha = np.maximum(start, MIN_ALPHA)
    best = value(alpha)
    if len(alpha) == 1:
        return alpha  # the likelihood does not depend on alpha
    for _ in range(max_iter):
        gradient = psi(alpha.sum()) - psi(alpha) + mean_logs
        diagonal, common = -polygamma(1, alpha), float(polygamma(1, alpha.sum()))
        b = (gradient / diagonal).sum() / (1.0 / common + (1.0 / diagonal).sum())
        step = (gradient - b) / diagonal
        for _ in range(30):
            new = np.maximum(alpha - step, np.maximum(0.1 * alpha, MIN_ALPHA))
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


FIRST_ROUNDS, ROUNDS = 20, 5
"""Iterations of inference in the first E-step, which starts from equal topic proportions, and in
later E-steps, which continue from the previous one."""
INNER_TOL = 1e-3
"""Tolerance of inference within an E-step, as a fraction of the words of a document."""


def variational_em(
    rows: Rows,
    start: LDAParameters,
    *,
    sample_weight: RowArray,
    smoothing: float = 0.05,
    max_iter: int = 30,
    tol: float = 5e-5,
    before: tuple[Floats, Floats, float] | None = None,
) -> RefinedLDA:
    """Improve topics and concentrations by variational EM.

    Topics have the prior Dirichlet(smoothing). Alternate between variational inference of gamma and
    phi for each document, with exp E_q log mu as topics, and

        q(mu_j) = Dirichlet(smoothing + sum_i v_i x_i phi_ij),   mu_j its mean,
        alpha = argmax sum_i v_i E_q log Dirichlet(h_i; alpha),   v the sample weights.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Word counts, in memory or in files.
    start : LDAParameters
        Initial parameters; centers must be > 0 for all words that occur.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    smoothing : float > 0, default=0.05
        Prior count of every word in every topic.
    max_iter : int >= 1, default=30
        Maximum number of iterations.
    tol : float >= 0, default=5e-5
        Stop when an iteration increases the bound by less than this fraction.
    before : tuple of ndarray of shape (d, k), ndarray of shape (k,) and float, default=None
        The sums and mean logarithms of earlier batches, and their total sample weight. The
        responsibilities of earlier samples remain as they were, as in incremental EM.

    Returns
    -------
    RefinedLDA
        Parameters, bound, number of iterations and whether EM converged.

    Notes
    -----
    Batch variational EM of [1]_, section 5.4, with a variational distribution over topics. The
    first iteration uses the initial topics as given. Each E-step continues from the previous one
    for a few iterations of inference instead of until convergence. From the second iteration on,
    no step decreases the bound. Time O(nnz k) per iteration of inference; memory O((n + d) k).
    Deterministic.

    References
    ----------
    .. [1] D. Blei, A. Ng, M. Jordan. Latent Dirichlet allocation. Journal of Machine Learning
       Research 3, 2003.
    """
    lengths = rows.row_sums
    usable = rows.each(_usable, lengths, sample_weight)
    gammas = rows.each(partial(_even, start.alpha), lengths)
    blocks = inference.small_blocks(collected(rows))
    parameters, last, converged = start, -np.inf, False
    # The first iteration treats the topics as known; later ones use a distribution over topics.
    topics, of_topics = start.centers, 0.0
    d, k = start.centers.shape
    earlier, earlier_logs, n = before or (np.zeros((d, k)), np.zeros(k), 0.0)
    weight = _total(usable)
    share = n / max(n + weight, 1e-300)
    if before is not None:  # the topics are known from earlier batches, as a distribution
        topics, of_topics = expected_topics(earlier + smoothing, smoothing)
    n_iter, sums, mean_logs = 0, earlier, earlier_logs
    for n_iter in progress.iterations(max_iter):
        rounds = FIRST_ROUNDS if n_iter == 1 else ROUNDS
        sums, mean_logs, bound = _variational_statistics(
            blocks, parameters.alpha, topics, gammas, usable, weight, rounds
        )
        if before is not None:
            bound += _bound_of_earlier(earlier, earlier_logs, n, topics, parameters.alpha)
        bound += of_topics
        gain, last = bound - last, bound
        if n_iter > 2 and gain < tol * abs(bound):
            converged = True
            break
        pooled_logs = share * earlier_logs + (1.0 - share) * mean_logs
        alpha = dirichlet_from_logs(pooled_logs, parameters.alpha)
        parameters = LDAParameters(alpha, smoothed_topics(earlier + sums, smoothing))
        topics, of_topics = expected_topics(earlier + sums + smoothing, smoothing)
    return RefinedLDA(parameters, last, n_iter, converged, sums, mean_logs)


def _bound_of_earlier(
    sums: Floats, mean_logs: Floats, n: float, topics: Floats, alpha: Floats
) -> float:
    """Return the part of the bound that belongs to earlier batches, up to a constant."""
    of_words = float((sums * np.log(np.maximum(topics, 1e-300))).sum())
    normalizer = float(gammaln(alpha.sum()) - gammaln(alpha).sum())
    return of_words + n * (normalizer + float((alpha - 1.0) @ mean_logs))


def expected_topics(counts: Floats, smoothing: float) -> tuple[Floats, float]:
    """Return exp E_q log mu for q(mu_j) = Dirichlet(counts_j), and E_q log P[mu] - E_q log q."""
    d, k = counts.shape
    total = counts.sum(axis=0)
    logs = psi(counts) - psi(total)
    prior = k * (gammaln(d * smoothing) - d * gammaln(smoothing))
    entropy = gammaln(counts).sum() - gammaln(total).sum()
    return np.exp(logs), float(prior + entropy + ((smoothing - counts) * logs).sum())


def _usable(lengths: Floats, weight: Floats) -> Floats:
    """Return the weights of documents with words: empty ones do not affect alpha."""
    return np.where(lengths > 0, weight, 0.0)


def _even(alpha: Floats, lengths: Floats) -> Floats:
    """Return gamma of documents whose words are spread evenly over the topics."""
    return np.asarray(alpha + lengths[:, None] / len(alpha))


def _total(values: Floats) -> float:
    return sum(float(part.sum()) for part in pages.in_parts(values))


def _variational_statistics(
    rows: RowBlocks,
    alpha: Floats,
    topics: Floats,
    gammas: Floats,
    weight: Floats,
    total_weight: float,
    rounds: int,
) -> tuple[Floats, Floats, float]:
    """Update `gammas` in place; return topic word counts (d, k), E log h (k,) and the bound."""
    centers = np.ascontiguousarray(topics)
    d, k = centers.shape

    def kernel(B: Block, v: Floats, gamma: Floats) -> Floats:
        g, e, ratios, log_mass = inference.fit_block(
            B, alpha, centers, gamma, max_iter=rounds, tol=INNER_TOL
        )
        gamma[:] = g
        out = np.empty((d + 2, k))
        out[:d] = B.with_data(ratios).tdot(v[:, None] * e)
        out[d] = v @ (psi(g) - psi(g.sum(axis=1, keepdims=True)))
        out[d + 1] = v @ inference.document_bound(alpha, g, log_mass)
        return out

    total = rows.sum(kernel, weight, gammas)
    return centers * total[:d], total[d] / max(total_weight, 1e-300), float(total[d + 1, 0])
