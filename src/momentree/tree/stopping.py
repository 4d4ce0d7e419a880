"""Accept or reject splits by penalized likelihood (BIC) if no number of leaves is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats
from momentree.backends import RowBlocks
from momentree.inference import log_joint, log_posterior
from momentree.messages import Message
from momentree.objects import GaussianParameters, MixtureParameters
from momentree.preprocessing.log_scaling import typical_count_per_token
from momentree.tree.split import Split

Stop = Literal["bic"]
TopicStop = Literal["completion", "bic"]
AcceptanceCriterion: TypeAlias = Callable[[Split, RowBlocks, Floats, Floats], Message | None]
"""Returns the reason to reject a split with these rows, weights and factors; None accepts it."""

NEGLIGIBLE = 1e-9
"""Number of average samples added to the fits in this file, so that logarithms are finite."""


def accept_all(split: Split, rows: RowBlocks, sample_weight: Floats, factor: Floats) -> None:  # noqa: ARG001
    """Accept every split."""
    return


def topic_bic(
    split: Split, rows: RowBlocks, sample_weight: Floats, count_per_token: Floats
) -> Message | None:
    """Accept a split with gain > u p / 2 log n, the criterion in its quasi-likelihood form.

    n is the number (weight) of documents, p the number of different words in them. Scaling counts
    scales the gain and its fluctuations equally, so the penalty scales with the count per token u.
    """
    u = typical_count_per_token(rows, count_per_token, sample_weight)
    return _decision(split.gain, u * float(_occurring(rows, sample_weight).sum()), sample_weight)


def mixture_bic(
    family: type[MixtureParameters],
    split: Split,
    rows: RowBlocks,
    sample_weight: Floats,
    factor: Floats,  # noqa: ARG001 - the likelihood does not scale samples
) -> Message | None:
    """Accept a split of samples of a mixture that lowers the Bayesian information criterion.

        sum_i v_i ( log sum_j omega_j P[x_i | side j] - log P[x_i] ) > (s - 1) (p + 1) / 2 log n

    for s sides, n samples (the sum of their weights v), and p features that occur in them. The gain
    of :class:`Split` treats sides as known, so even a split of noise gains much; this does not.
    """
    columns = np.arange(rows.shape[1]) < family.n_features(rows.shape[1])
    added = np.count_nonzero(_occurring(rows, sample_weight) & columns) + 1
    sums, sizes = split.sums, split.sizes
    n_sides = len(sizes)
    if issubclass(family, GaussianParameters) and n_sides == 2:
        rows = _along_the_means(rows, np.where(columns[:, None], sums / sizes, 0.0))
        groups = (split.side[:, None] == np.arange(n_sides)) * sample_weight[:, None]
        sums = rows.sum(lambda B: B.tdot(groups[B.at]))
    sides = family.m_step(sums, sizes, NEGLIGIBLE)
    whole = family.m_step(sums.sum(axis=1, keepdims=True), sizes.sum(keepdims=True), NEGLIGIBLE)
    gains = _log_likelihoods(rows, sides) - _log_likelihoods(rows, whole)
    return _decision(float(sample_weight @ gains), float(added * (n_sides - 1)), sample_weight)


def _along_the_means(rows: RowBlocks, means: Floats) -> RowBlocks:
    """Return the statistics of samples projected onto the line through the means of two sides."""
    along = means[:, 0] - means[:, 1]
    along /= max(float(np.linalg.norm(along)), np.finfo(float).tiny)
    z = rows.map(lambda B: B.dot(along))
    return RowBlocks(GaussianParameters.statistics(sp.csr_array(z[:, None])))


def _log_likelihoods(rows: RowBlocks, parameters: MixtureParameters) -> Floats:
    return log_posterior(log_joint(rows, parameters))[1]


def _occurring(rows: RowBlocks, sample_weight: Floats) -> NDArray[np.bool_]:
    """Return which columns contain a nonzero value."""
    counted = (sample_weight > 0).astype(np.float64)
    return np.asarray(rows.sum(lambda B: B.tdot(counted[B.at])) != 0)


def _decision(gain: float, n_parameters: float, sample_weight: Floats) -> Message | None:
    n = max(float(sample_weight.sum()), 2.0)
    penalty = float(0.5 * n_parameters * np.log(n))
    return None if gain > penalty else Message("bic_penalty", gain=gain, penalty=penalty)
