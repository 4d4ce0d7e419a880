"""When a split is worth making: penalised likelihood, used where no number of leaves is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.backends import RowBlocks
from momentree.inference import log_joint, log_posterior
from momentree.objects import GaussianParameters, MixtureParameters
from momentree.preprocessing import typical_count_per_token
from momentree.tree.topic_split import Split

__all__ = ["Stop", "Worth", "always", "bic", "bic_of"]

Floats = NDArray[np.float64]
Stop = Literal["bic"]
Worth = Callable[[Split, RowBlocks, Floats, Floats], str]
"""Given a split, its documents, their weights and units, says why it is not worth making."""

NEXT_TO_NOTHING = 1e-9
"""Samples by which fits are smoothed here, so that logarithms are finite."""


def always(split: Split, rows: RowBlocks, sample_weight: Floats, unit: Floats) -> str:  # noqa: ARG001
    """Make every split."""
    return ""


def bic(split: Split, rows: RowBlocks, sample_weight: Floats, unit: Floats) -> str:
    """Make a split that lowers the Bayesian information criterion.

        gain > u p / 2 log n

    for n documents (the sum of their weights) with p different words, in which one word counts u
    on average.

    Parameters
    ----------
    split : Split
        The candidate.
    rows : RowBlocks of shape (n, d)
        Its documents, as scaled.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    unit : ndarray of shape (n,)
        What one word counts in each document; 1 without log scaling.

    Returns
    -------
    str
        Why the split is not worth making; "" when it is.

    Notes
    -----
    A split adds one parameter a word. Scaling counts scales the evidence and its chance
    fluctuations alike, so that the penalty scales with u (:func:`momentree.preprocessing.typical_count_per_token`):
    the quasi-likelihood form of the criterion.
    """
    u = typical_count_per_token(rows, unit, sample_weight)
    return _worth(split.gain, u * float(_seen(rows, sample_weight).sum()), sample_weight)


def bic_of(
    family: type[MixtureParameters],
    split: Split,
    rows: RowBlocks,
    sample_weight: Floats,
    factor: Floats,  # noqa: ARG001 - the likelihood does not scale samples
) -> str:
    """Make a split of samples under a mixture that lowers the Bayesian information criterion.

        sum_i v_i ( log sum_j omega_j P[x_i | side j] - log P[x_i] ) > (p + 1) / 2 log n

    for n samples, the sum of their weights v, with p features that occur in them.

    Parameters
    ----------
    family : type of MixtureParameters
        The mixture.
    split : Split
        The candidate; a split into s sides adds s - 1 times p + 1 parameters.
    rows : RowBlocks of shape (n, p)
        Statistics of the samples.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    factor : ndarray of shape (n,)
        Not used.

    Returns
    -------
    str
        Why the split is not worth making; "" when it is.

    Notes
    -----
    The likelihood is that of a mixture, in which no sample belongs to a side for certain. The gain
    of :class:`Split` takes the sides as known: cutting any group in halves gains as much as its
    samples differ along the cut, noise as well, and no penalty of parameters makes up for it.
    """
    columns = np.arange(rows.shape[1]) < family.n_features(rows.shape[1])
    added = np.count_nonzero(_seen(rows, sample_weight) & columns) + 1
    sums, sizes = split.sums, split.sizes
    n_sides = len(sizes)
    if family is GaussianParameters and n_sides == 2:
        rows = _along_the_means(rows, np.where(columns[:, None], sums / sizes, 0.0))
        groups = (split.side[:, None] == np.arange(n_sides)) * sample_weight[:, None]
        sums = rows.sum(lambda B: B.tdot(groups[B.at]))
    sides = family.m_step(sums, sizes, NEXT_TO_NOTHING)
    whole = family.m_step(
        sums.sum(axis=1, keepdims=True), sizes.sum(keepdims=True), NEXT_TO_NOTHING
    )
    gains = _log_likelihoods(rows, sides) - _log_likelihoods(rows, whole)
    return _worth(float(sample_weight @ gains), float(added * (n_sides - 1)), sample_weight)


def _along_the_means(rows: RowBlocks, means: Floats) -> RowBlocks:
    """Return the statistics of samples projected on the line through the means of two sides."""
    along = means[:, 0] - means[:, 1]
    along /= max(float(np.linalg.norm(along)), np.finfo(float).tiny)
    z = rows.map(lambda B: B.dot(along))
    return RowBlocks(GaussianParameters.statistics(sp.csr_array(z[:, None])))


def _log_likelihoods(rows: RowBlocks, parameters: MixtureParameters) -> Floats:
    return log_posterior(log_joint(rows, parameters))[1]


def _seen(rows: RowBlocks, sample_weight: Floats) -> NDArray[np.bool_]:
    """Return which columns hold anything."""
    counted = (sample_weight > 0).astype(np.float64)
    return np.asarray(rows.sum(lambda B: B.tdot(counted[B.at])) != 0)


def _worth(gain: float, n_parameters: float, sample_weight: Floats) -> str:
    n = max(float(sample_weight.sum()), 2.0)
    penalty = 0.5 * n_parameters * np.log(n)
    if gain > penalty:
        return ""
    return f"a split would gain {gain:.4g} nats, less than the BIC penalty of {penalty:.4g}"
