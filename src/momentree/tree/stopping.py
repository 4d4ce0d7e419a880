"""Accept or reject splits by penalized likelihood (BIC) if no number of leaves is given."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln

from momentree._types import Floats, Ints
from momentree.backends import Block, RowBlocks, collected, group_totals, kernels, parted, with_room
from momentree.inference import log_joint, log_posterior
from momentree.messages import Message, wording
from momentree.objects import GaussianParameters, MixtureParameters, PoissonParameters
from momentree.tree.split import SampleGroups, Split, Splits

Criterion = Literal["bic", "aic3"]
AcceptanceCriterion: TypeAlias = Callable[[Splits, SampleGroups], list[Message | None]]
"""Returns the reasons to reject the splits of groups; None accepts one."""

NEGLIGIBLE = 1e-9
"""Number of average samples added to the fits in this file, so that logarithms are finite."""
POISSON = 1e4
"""Counts of this shape are as good as Poisson counts."""


def topic_bic(splits: Splits, groups: SampleGroups) -> list[Message | None]:
    """Accept a split with gain > u p / 2 log n, the criterion in its quasi-likelihood form.

    n is the number (weight) of documents, p the number of different words in them. Scaling counts
    scales the gain and its fluctuations equally, so the penalty scales with the count per token u.
    """
    rows = groups.rows
    arrays = (groups.own, rows.row_sums, groups.weight, groups.factor)
    g = groups.n_groups
    words, more = parted(rows.sum(GroupOccurrences(g), *arrays), g, 1, 3 * g)
    n_words = np.count_nonzero(words, axis=(1, 2))
    reasons: list[Message | None] = []
    for found, p, (mass, scaled, size) in zip(
        splits.found, n_words, more.reshape(3, g).T, strict=True
    ):
        u = scaled / mass if mass > 0 else 1.0
        decision = _decision(found.gain, u * p, size) if isinstance(found, Split) else None
        reasons.append(decision)
    return reasons


@kernels.kernel
@dataclass(frozen=True)
class GroupOccurrences:
    """Occurrences of each word in groups, their words, the same in single counts, and sizes."""

    n_groups: int

    def __call__(self, B: Block, own: Ints, c: Floats, v: Floats, u: Floats) -> Floats:
        """Return the sums."""
        g = self.n_groups
        out, words, more = with_room(B, g, 1, 3 * g)
        B.own_tdot((v > 0).astype(np.float64)[:, None], own, g, out=words)
        more += np.concatenate([group_totals(own, x, g) for x in (v * c, v * c * u, v)])
        return out


def mixture_bic(
    family: type[MixtureParameters], splits: Splits, groups: SampleGroups
) -> list[Message | None]:
    """Accept a split of samples of a mixture that lowers the Bayesian information criterion.

        sum_i v_i ( log sum_j omega_j P[x_i | side j] - log P[x_i] ) > (s - 1) (p + 1) / 2 log n

    for s sides, n samples (the sum of their weights v), and p features that occur in them. The gain
    of :class:`Split` treats sides as known, so even a split of noise gains much; this does not.
    """
    side = np.asarray(splits.side)
    return [
        _mixture_bic(family, found, side[at], collected(alone.rows), alone.weight)
        if isinstance(found, Split)
        else None
        for found, (at, alone) in zip(splits.found, groups.alone(), strict=True)
    ]


def _mixture_bic(
    family: type[MixtureParameters],
    split: Split,
    side: Ints,
    rows: RowBlocks,
    sample_weight: Floats,
) -> Message | None:
    columns = np.arange(rows.shape[1]) < family.n_features(rows.shape[1])
    added = n_added(family, rows, sample_weight)
    sums, sizes = split.sums, split.sizes
    n_sides = len(sizes)
    if issubclass(family, GaussianParameters) and n_sides == 2:
        rows = _along_the_means(rows, np.where(columns[:, None], sums / sizes, 0.0))
        sums, _ = rows.group_sums(side, n_sides, sample_weight)
    whole = sums.sum(axis=1, keepdims=True), sizes.sum(keepdims=True)
    gain = log_likelihood(family, rows, sample_weight, sums, sizes)
    gain -= log_likelihood(family, rows, sample_weight, *whole)
    return _decision(gain, float(added * (n_sides - 1)), float(sample_weight.sum()))


def n_added(family: type[MixtureParameters], rows: RowBlocks, sample_weight: Floats) -> int:
    """Return the number of parameters of one more group: its share, and a mean per column."""
    columns = np.arange(rows.shape[1]) < family.n_features(rows.shape[1])
    return int(np.count_nonzero(_occurring(rows, sample_weight) & columns)) + 1


def _along_the_means(rows: RowBlocks, means: Floats) -> RowBlocks:
    """Return the statistics of samples projected onto the line through the means of two sides."""
    along = means[:, 0] - means[:, 1]
    along /= max(float(np.linalg.norm(along)), np.finfo(float).tiny)
    z = rows.map(lambda B: B.dot(along))
    return RowBlocks(GaussianParameters.statistics(sp.csr_array(z[:, None])))


def log_likelihood(
    family: type[MixtureParameters],
    rows: RowBlocks,
    sample_weight: Floats,
    sums: Floats,
    sizes: Floats,
) -> float:
    """Return the log-likelihood of a mixture of groups, up to a constant of the samples.

    `sums` and `sizes` are those of the groups. Counts are negative binomial: the shape r_w of a
    column is that of its variance within groups, mu + mu^2 / r_w, so that independent counts which
    vary more than Poisson counts are one group.
    """
    parameters = family.m_step(sums, sizes, NEGLIGIBLE)
    if not issubclass(family, PoissonParameters):
        return float(sample_weight @ log_posterior(log_joint(rows, parameters))[1])
    mu, n = parameters.centers, float(sizes.sum())
    squares = rows.sum(lambda B, v: B.with_data(np.square(B.csr[0])).tdot(v), sample_weight)
    of_means = mu**2 @ sizes
    excess = (squares - of_means) * (n / max(n - len(sizes), 1.0)) - mu @ sizes
    shape = POISSON / np.maximum(POISSON * excess / np.maximum(of_means, NEGLIGIBLE), 1.0)
    coefficients = parameters.coefficients - np.log1p(mu / shape[:, None])
    offsets = parameters.log_weights - shape @ np.log1p(mu / shape[:, None])

    def densities(B: Block) -> Floats:
        x, r = B.csr[0].astype(np.float64), shape[B.csr[1]]
        base = B.with_data(gammaln(x + r) - gammaln(r) - x * np.log(r)).dot(np.ones(len(shape)))
        return np.asarray(base + log_posterior(B.dot(coefficients) + offsets)[1])

    return float(sample_weight @ rows.map(densities))


def _occurring(rows: RowBlocks, sample_weight: Floats) -> NDArray[np.bool_]:
    """Return which columns contain a nonzero value."""
    counted = (sample_weight > 0).astype(np.float64)
    return np.asarray(rows.sum(lambda B, v: B.tdot(v), counted) != 0)


def _decision(gain: float, n_parameters: float, size: float) -> Message | None:
    n = max(float(size), 2.0)
    penalty = float(0.5 * n_parameters * np.log(n))
    return None if gain > penalty else Message(wording.BIC_PENALTY, gain=gain, penalty=penalty)
