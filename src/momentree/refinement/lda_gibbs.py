"""Stochastic EM of latent Dirichlet allocation by Gibbs sampling, started from given parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi

from momentree.backends import Block, RowBlocks
from momentree.inference.gibbs import Chains, check_whole, seed_of
from momentree.inference.variational import small_blocks
from momentree.objects import LDAParameters
from momentree.refinement.lda import RefinedLDA, dirichlet_from_logs, smoothed_topics

__all__ = ["gibbs_em"]

Floats = NDArray[np.float64]


def gibbs_em(
    rows: RowBlocks,
    start: LDAParameters,
    *,
    sample_weight: Floats,
    smoothing: float = 0.03,
    max_iter: int = 30,
    random_state: int | np.random.RandomState | None = None,
) -> RefinedLDA:
    """Improve topics and concentrations by EM with a Gibbs sampler in the place of inference.

    In each step every word draws its topic once, as in :func:`momentree.inference
    .gibbs_proportions`, and with S_wj the words w with topic j

        mu_wj ~ S_wj + smoothing,   alpha = argmax sum_i v_i E log Dirichlet(h_i; alpha),

    h_i ~ Dirichlet(alpha + n_i). In the second half of the steps S and E log h are averages over
    the steps of that half.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Whole counts of words.
    start : LDAParameters
        All centers > 0 where words occur.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    smoothing : float > 0, default=0.03
        Pseudo-count of every word in every topic.
    max_iter : int >= 1, default=30
        Steps; all are taken.
    random_state : int, RandomState or None, default=None
        Seed; None is seed 0.

    Returns
    -------
    RefinedLDA
        Its bound is NaN: sampling has none.

    Raises
    ------
    InvalidDataError
        If a count is no whole number.

    Notes
    -----
    Stochastic approximation EM [1]_. Unlike variational EM it has no bias from the independence
    of topics within a document, and unlike a collapsed sampler no words of other documents to wait
    for. Time O(k) for each word and step; memory O(words + (n + d) k).

    References
    ----------
    .. [1] B. Delyon, M. Lavielle, E. Moulines. Convergence of a stochastic approximation version
       of the EM algorithm. Annals of Statistics 27, 1999.
    """
    check_whole(rows)
    rows = small_blocks(rows)
    seed, d = seed_of(random_state), rows.shape[1]
    usable = np.where(rows.row_sums > 0, sample_weight, 0.0)
    chains: dict[int, Chains] = {}
    parameters, mean = start, np.zeros((d + 1, start.n_components))
    for step in range(1, max_iter + 1):
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

        share = 1.0 / max(1, step - max_iter // 2)
        mean = (1.0 - share) * mean + share * rows.sum(kernel)
        logs = mean[d] / usable.sum()
        parameters = LDAParameters(
            dirichlet_from_logs(logs, alpha), smoothed_topics(mean[:d], smoothing)
        )
    return RefinedLDA(parameters, float("nan"), max_iter, converged=True)
