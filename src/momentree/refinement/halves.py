"""Divide every component of a mixture in two: by its second moments, then by EM within it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends import Block, RowBlocks, parted
from momentree.core.ties import largest
from momentree.objects import MixtureParameters
from momentree.refinement.em_groups import GroupSteps, SumsAndWeights, group_sums

PRODUCTS = 4
"""Products with the second moments. EM continues from the direction, so it need not be exact."""
STEPS = 3
"""EM steps within each component."""
DIFFERENT = 1e-9
"""Smaller scores are rounding errors: the largest entry of a direction is 1."""
TINY = 1e-300
GOLDEN = (1.0 + math.sqrt(5.0)) / 2.0


@dataclass(frozen=True)
class Halves:
    """The two halves of each of k components.

    Attributes
    ----------
    gain : ndarray of shape (k,)
        Log-likelihood gained by dividing a component, with uncertain halves; -inf if its samples
        are all equal. Negative values occur because EM takes only a few steps.
    sums : ndarray of shape (p, 2 k)
        Sums of the statistics of the first halves, then of the second.
    sizes : ndarray of shape (2 k,)
        Sizes of the first halves, then of the second.
    """

    gain: Floats
    sums: Floats
    sizes: Floats

    def of(self, components: Ints) -> Halves:
        """Return the halves of some components."""
        both = np.concatenate([components, components + len(self.gain)])
        return Halves(self.gain[components], self.sums[:, both], self.sizes[both])

    def followed_by(self, other: Halves) -> Halves:
        """Return the halves of these components, then those of others."""
        k, m = len(self.gain), len(other.gain)
        order = np.concatenate([np.arange(k), np.arange(m) + 2 * k])
        order = np.concatenate([order, np.arange(k, 2 * k), np.arange(m) + 2 * k + m])
        return Halves(
            np.concatenate([self.gain, other.gain]),
            np.hstack([self.sums, other.sums])[:, order],
            np.concatenate([self.sizes, other.sizes])[order],
        )


def halves(
    rows: RowBlocks,
    labels: Ints,
    n_components: int,
    family: type[MixtureParameters] | MixtureParameters,
    *,
    sample_weight: Floats,
    column_scale: Floats,
    smoothing: float,
    others: tuple[Floats, float],
) -> Halves:
    """Divide several components of a mixture at once.

    The samples of a component are divided at their mean along the first principal direction of
    their statistics. EM for a mixture of two, within the component, continues from the two sides.

    Parameters
    ----------
    rows : RowBlocks of shape (n, p)
        Sufficient statistics of the samples.
    labels : ndarray of int of shape (n,)
        The component of each sample.
    n_components : int >= 1
        k.
    family : type of MixtureParameters, or MixtureParameters
        Family of the components.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    column_scale : ndarray of shape (p,)
        Factor of each statistic in the moments; zero excludes it.
    smoothing : float > 0
        As in ``m_step``.
    others : tuple of ndarray of shape (p,) and float
        Sum of the statistics and weight of all other samples, for the prior of smoothing.

    Returns
    -------
    Halves
        Halves and gains.

    Notes
    -----
    A sample is multiplied only with the vector of its own component: time O(nnz + p k).
    """
    k, v = n_components, sample_weight
    by_group, sizes = group_sums(rows, labels, k, v)
    sums = by_group.T
    means = sums / np.maximum(sizes, TINY)
    squares = (column_scale**2)[:, None]
    variance = None
    if family.signed:
        second_moments = rows.sum(OwnSquares(k), labels, v)[:, :, 0].T
        variance = second_moments / np.maximum(sizes, TINY) - means**2
    direction = _first_direction(means, squares, variance)
    for _ in range(PRODUCTS):
        total = rows.sum(OwnProducts(_scores(direction, means)), labels, v)
        products, at_mean = parted(total, k, 1, k)
        direction = squares * (products[:, :, 0].T - means * at_mean)
        direction /= np.maximum(np.abs(direction).max(axis=0), TINY)
    total = rows.sum(OwnSides(_scores(direction, means)), labels, v)
    firsts, n_first = parted(total, k, 1, k)
    whole, base = _likelihoods(family, sums, sizes, smoothing, others)
    divisible = (n_first > 0) & (n_first < sizes)
    found = Halves(
        np.full(k, -np.inf), np.hstack([sums, 0.0 * sums]), np.concatenate([sizes, 0.0 * sizes])
    )
    every = np.append(np.arange(k), -1)
    for _ in range(STEPS):
        first = firsts[:, :, 0].T
        second = sums - first if family.signed else np.maximum(sums - first, 0.0)
        n_second = np.maximum(sizes - n_first, 0.0)
        both, n_both = np.hstack([first, second]), np.concatenate([n_first, n_second])
        theta, offset = _likelihoods(family, both, n_both, smoothing, others)
        contrasts = np.ascontiguousarray((theta[:, :k] - theta[:, k:]).T)[:, :, None]
        step = GroupSteps(contrasts, offset[:k] - offset[k:], every)
        firsts, more = parted(rows.sum(step, labels, v), k, 1, 2 * k)
        n_first, ahead = np.split(more, 2)
        # log (P[x, first] + P[x, second]) - log P[x], summed over the samples of each component.
        gain = (sums * (theta[:, k:] - whole)).sum(axis=0)
        gain += sizes * (offset[k:] - base) + ahead
        gain = np.where(divisible, gain, -np.inf)
        found = Halves(gain, both, n_both)
    return found


def _scores(direction: Floats, means: Floats) -> OwnScores:
    """Return the scores along the direction of each component, from its mean."""
    vectors = np.ascontiguousarray(direction.T)[:, :, None]
    return OwnScores(vectors, -(means * direction).sum(axis=0))


def _likelihoods(
    family: type[MixtureParameters] | MixtureParameters,
    sums: Floats,
    sizes: Floats,
    smoothing: float,
    others: tuple[Floats, float],
) -> tuple[Floats, Floats]:
    """Return the coefficients and offsets of components that are not the whole mixture."""
    all_sums = np.hstack([sums, others[0][:, None]])
    parameters = family.m_step(all_sums, np.maximum(np.append(sizes, others[1]), TINY), smoothing)
    return parameters.coefficients[:, :-1], parameters.offsets[:-1]


def _first_direction(means: Floats, squares: Floats, variance: Floats | None) -> Floats:
    """Return the start for the principal directions, shape (p, k).

    The sum of a sample is a good one, but is none if all have the same sum: so the column that
    varies most in a component counts more, by an irrational factor, which no other sum makes up.
    """
    if variance is None:  # of zeros and ones, and about that of rare counts
        variance = means * np.maximum(1.0 - means, 0.0)
    variance = squares * variance
    direction = np.ones_like(means)
    direction[largest(variance.T), np.arange(means.shape[1])] = GOLDEN
    return np.asarray(squares * direction)


@dataclass(frozen=True)
class OwnScores:
    """The score of each sample by the vector of its component."""

    vectors: Floats  # (k, p, 1)
    offsets: Floats  # (k,)

    def __call__(self, B: Block, own: Ints) -> Floats:
        """Return x_i . v_j + o_j with j the component of sample i, shape (n,)."""
        return np.asarray(B.own_dot(self.vectors, own)[:, 0] + self.offsets[own])


@dataclass(frozen=True)
class OwnProducts:
    """Sums over each component of its samples times their scores, and of the scores."""

    scores: OwnScores

    def __call__(self, B: Block, own: Ints, v: Floats) -> Floats:
        """Return the weighted sums."""
        return SumsAndWeights(len(self.scores.offsets))(B, v * self.scores(B, own), own)


@dataclass(frozen=True)
class OwnSquares:
    """Weighted sums of squares of each component."""

    n_components: int

    def __call__(self, B: Block, own: Ints, v: Floats) -> Floats:
        """Return the sums, shape (k, p, 1)."""
        squared = B.with_data(B.csr[0] ** 2)
        return squared.own_tdot(v[:, None], own, self.n_components, out=B.total)


@dataclass(frozen=True)
class OwnSides:
    """Sums over the first halves by the principal directions."""

    scores: OwnScores

    def __call__(self, B: Block, own: Ints, v: Floats) -> Floats:
        """Return the weighted sums and sizes of the first halves."""
        first = self.scores(B, own) > DIFFERENT
        return SumsAndWeights(len(self.scores.offsets))(B, v * first, own)
