"""Stochastic EM for latent Dirichlet allocation with Gibbs sampling, from given parameters."""

from __future__ import annotations

import numpy as np
from scipy.special import psi

from momentree._types import Floats
from momentree.backends import Block, RowBlocks
from momentree.core.progress import iterations
from momentree.inference.gibbs import Chains, check_whole_counts, seed_of
from momentree.inference.variational import small_blocks
from momentree.objects import LDAParameters
from momentree.refinement.lda import RefinedLDA, dirichlet_from_logs, smoothed_topics


def gibbs_em(
    rows: RowBlocks,
    start: LDAParameters,
    *,
    sample_weight: Floats,
    smoothing: float = 0.03,
    max_iter: int = 30,
    random_state: int | np.random.RandomState | None = None,
) -> RefinedLDA:
    """Improve topics and concentrations by EM with a Gibbs sampler in the E-step.

    Each iteration draws the topic of every word once, as
    :func:`momentree.inference.gibbs_proportions` does. With S_wj the number of occurrences of word
    w with topic j,

        mu_wj ~ S_wj + smoothing,   alpha = argmax sum_i v_i E log Dirichlet(h_i; alpha),

    where h_i ~ Dirichlet(alpha + n_i). In the second half of the iterations, S and E log h are
    averages over the iterations of that half.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Whole-number word counts.
    start : LDAParameters
        Initial parameters; centers must be > 0 for all words that occur.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    smoothing : float > 0, default=0.03
        Pseudo-count of every word in every topic.
    max_iter : int >= 1, default=30
        Number of iterations.
    random_state : int, RandomState or None, default=None
        Seed; None is seed 0.

    Returns
    -------
    RefinedLDA
        Parameters and number of iterations; the bound is NaN, because sampling has none.

    Notes
    -----
    Stochastic approximation EM [1]_. Unlike variational EM, it is not biased by assuming
    independent topics within a document; unlike a collapsed sampler, it processes documents
    independently. Time O(k) for each word and iteration; memory O(words + (n + d) k).

    References
    ----------
    .. [1] B. Delyon, M. Lavielle, E. Moulines. Convergence of a stochastic approximation version
       of the EM algorithm. Annals of Statistics 27, 1999.
    """
    check_whole_counts(rows)
    rows = small_blocks(rows)
    seed, d = seed_of(random_state), rows.shape[1]
    usable = np.where(rows.row_sums > 0, sample_weight, 0.0)
    chains: dict[int, Chains] = {}
    parameters, mean = start, np.zeros((d + 1, start.n_components))
    for step in iterations(max_iter, at_most=False):
        alpha, centers = parameters.alpha, np.ascontiguousarray(parameters.centers)

        def kernel(B: Block, alpha: Floats = alpha, centers: Floats = centers) -> Floats:
            here = chains.get(B.at.start)
            if here is None:
                here = chains[B.at.start] = Chains(B, centers, alpha, seed)
            here.sweep(centers, alpha)
            v = usable[B.at]
            g = here.counts + alpha
            logs = psi(g) - psi(g.sum(axis=1, keepdims=True))
            return np.vstack([here.word_counts(d, v), v[here.documents] @ logs])

        rate = 1.0 / max(1, step - max_iter // 2)
        mean = (1.0 - rate) * mean + rate * rows.sum(kernel)
        logs = mean[d] / usable.sum()
        parameters = LDAParameters(
            dirichlet_from_logs(logs, alpha), smoothed_topics(mean[:d], smoothing)
        )
    return RefinedLDA(parameters, float("nan"), max_iter, converged=True)
