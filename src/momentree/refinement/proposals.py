"""Proposals of a search for a mixture: divide components, merge pairs, or exchange both."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.backends import Block, RowBlocks, parted, products
from momentree.core.ties import largest, largest_first, ranks
from momentree.objects import Family, MixtureParameters
from momentree.refinement import moves
from momentree.refinement.em import GroupSteps

PRODUCTS = 4
"""Products with the second moments. EM continues from the direction, so it need not be exact."""
HALF_STEPS = 3
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
    sums : ndarray of shape (p, 2, k)
        Sums of the statistics of the first halves, and of the second.
    sizes : ndarray of shape (2, k)
        Sizes of the first halves, and of the second.
    """

    gain: Floats
    sums: Floats
    sizes: Floats

    @property
    def components(self) -> tuple[Floats, Floats]:
        """Sums (p, 2 k) and sizes (2 k,) of the first halves, then of the second."""
        return self.sums.reshape(len(self.sums), -1), self.sizes.ravel()

    def of(self, components: Ints) -> Halves:
        """Return the halves of some components."""
        at = components
        return Halves(self.gain[at], self.sums[:, :, at], self.sizes[:, at])

    def followed_by(self, other: Halves) -> Halves:
        """Return the halves of these components, then those of others."""
        return Halves(
            np.concatenate([self.gain, other.gain]),
            np.concatenate([self.sums, other.sums], axis=2),
            np.concatenate([self.sizes, other.sizes], axis=1),
        )


def halves(
    rows: RowBlocks,
    labels: Ints,
    n_components: int,
    family: Family[MixtureParameters],
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
    sums_of_groups = partial(products.group_sums, n_groups=k)
    sums, sizes = rows.group_sums(labels, k, v)
    means = sums / np.maximum(sizes, TINY)
    squares = (column_scale**2)[:, None]

    def squares_of(B: Block, own: Ints, v: Floats) -> Floats:
        return B.with_data(B.csr[0] ** 2).own_tdot(v[:, None], own, k, out=B.total)

    def products_of(B: Block, own: Ints, v: Floats) -> Floats:
        return sums_of_groups(B, v * score(B, own), own)

    def first_sides_of(B: Block, own: Ints, v: Floats) -> Floats:
        return sums_of_groups(B, v * (score(B, own) > DIFFERENT), own)

    variance = None
    if family.signed:
        second_moments = rows.sum(squares_of, labels, v)[:, :, 0].T
        variance = second_moments / np.maximum(sizes, TINY) - means**2
    direction = _first_direction(means, squares, variance)
    score = _score_along(direction, means)
    for _ in range(PRODUCTS):
        scored, at_mean = parted(rows.sum(products_of, labels, v), k, 1, k)
        direction = squares * (scored[:, :, 0].T - means * at_mean)
        direction /= np.maximum(np.abs(direction).max(axis=0), TINY)
        score = _score_along(direction, means)
    firsts, n_first = parted(rows.sum(first_sides_of, labels, v), k, 1, k)
    whole, base = _likelihoods(family, sums, sizes, smoothing, others)
    divisible = (n_first > 0) & (n_first < sizes)
    every = np.append(np.arange(k), -1)
    for _ in range(HALF_STEPS):
        first = firsts[:, :, 0].T
        second = sums - first if family.signed else np.maximum(sums - first, 0.0)
        both = np.stack([first, second], axis=1)
        n_both = np.stack([n_first, np.maximum(sizes - n_first, 0.0)])
        theta, offset = _likelihoods(
            family, both.reshape(-1, 2 * k), n_both.ravel(), smoothing, others
        )
        contrasts = np.ascontiguousarray((theta[:, :k] - theta[:, k:]).T)[:, :, None]
        step = GroupSteps(contrasts, offset[:k] - offset[k:], every)
        firsts, more = parted(rows.sum(step, labels, v), k, 1, 2 * k)
        n_first, ahead = np.split(more, 2)
    # log (P[x, first] + P[x, second]) - log P[x], summed over the samples of each component.
    gain = (sums * (theta[:, k:] - whole)).sum(axis=0) + sizes * (offset[k:] - base) + ahead
    return Halves(np.where(divisible, gain, -np.inf), both, n_both)


def _score_along(direction: Floats, means: Floats) -> Callable[[Block, Ints], Floats]:
    """Return the function of the score of each sample along its component's direction."""
    vectors = np.ascontiguousarray(direction.T)[:, :, None]
    offsets = -(means * direction).sum(axis=0)
    return lambda B, own: B.own_dot(vectors, own)[:, 0] + offsets[own]


def _likelihoods(
    family: Family[MixtureParameters],
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


MStep = Callable[[Floats, Floats], MixtureParameters]


class Merging:
    """Components of a mixture that are merged one pair after another.

    The loss of a pair is that of its log-likelihood to second order. With t the statistics,
    theta their coefficients and h = n_i n_j / (n_i + n_j), it is

        n_i KL(i, union) + n_j KL(j, union)  ~  h / 2 (E_i t - E_j t) . (theta_i - theta_j).

    Parameters
    ----------
    sums, sizes : ndarray of shape (p, k) and (k,)
        Sums of the statistics, and sizes, of the components.
    theta : ndarray of shape (p, k)
        Coefficients of the statistics.
    m_step : callable
        Maps sums and sizes of all components to their parameters.
    signed : bool, default=False
        Whether statistics may be negative.

    Notes
    -----
    Time O(p k^2) to start and O(p k) for each merge.
    """

    def __init__(
        self,
        sums: Floats,
        sizes: Floats,
        theta: Floats,
        m_step: MStep,
        *,
        signed: bool = False,
    ) -> None:
        self._sums, self._sizes = sums.copy(), np.maximum(sizes, TINY)
        self._total, self._n = sums.sum(axis=1), float(sizes.sum())
        self._m_step, self._least = m_step, -np.inf if signed else 0.0
        self._means = self._sums / self._sizes
        self._theta = theta.copy()
        self._products = self._means.T @ self._theta
        self._merged = np.zeros(len(sizes), dtype=bool)
        self.loss = self._losses(np.arange(len(sizes)))

    def merge(self, n_merges: int) -> tuple[Floats, Floats]:
        """Merge the pair of least loss `n_merges` times; return the sums and sizes left."""
        for _ in range(n_merges):
            i, j = np.unravel_index(largest(-self.loss.ravel()), self.loss.shape)
            self._unite(int(min(i, j)), int(max(i, j)))
        return self._sums[:, ~self._merged], self._sizes[~self._merged]

    def _unite(self, i: int, j: int) -> None:
        self._sums[:, i] += self._sums[:, j]
        self._sizes[i] += self._sizes[j]
        self._merged[j] = True
        sums, size = self._sums[:, i], self._sizes[i]
        self._means[:, i] = sums / size
        # The prior of smoothing is the mean of all samples, so these are the other component.
        two = np.stack([sums, np.maximum(self._total - sums, self._least)], axis=1)
        sizes = np.array([size, max(self._n - size, TINY)])
        self._theta[:, i] = self._m_step(two, sizes).coefficients[:, 0]
        self._products[i] = self._means[:, i] @ self._theta
        self._products[:, i] = self._theta[:, i] @ self._means
        self.loss[j], self.loss[:, j] = np.inf, np.inf
        self.loss[i] = self.loss[:, i] = self._losses(np.array([i]))[0]

    def _losses(self, of: Ints) -> Floats:
        """Return the losses of merging some components with each other one; inf with itself."""
        n, Q = self._sizes, self._products
        own = np.diag(Q)
        divergence = own[of, None] + own - Q[of] - Q[:, of].T
        loss = 0.5 * np.outer(n[of], n) / (n[of, None] + n) * divergence
        loss[np.arange(len(of)), of] = np.inf
        loss[:, self._merged] = np.inf
        return np.asarray(loss)


NEAREST = 4
"""Partners of each component whose merges are computed; further ones lose more."""


@dataclass(frozen=True)
class Sides:
    """The samples of a component on two sides."""

    samples: Ints
    second: NDArray[np.bool_]  # whether each of them is on the second side
    sums: Floats  # of the counts of each side, (d, 2)
    sizes: Floats  # total sample weight of each side


@dataclass(frozen=True)
class Exchange:
    """Component `j` is merged into `i`, and `j` becomes the second side of `split`."""

    split: int
    i: int
    j: int


def exchanges(
    sums: Floats,
    sizes: Floats,
    halves: Mapping[int, Sides],
    *,
    smoothing: float,
    min_size: float,
) -> list[Exchange]:
    """Return exchanges that raise the likelihood, no two with a component in common.

    Each is the split of largest gain, with the merge of least loss among other components.

    Parameters
    ----------
    sums, sizes : ndarray of shape (d, k) and (k,)
        Sums of the counts, and total sample weight, of each component.
    halves : mapping from int to Sides
        The sides of each component that can be split.
    smoothing : float > 0
        Pseudo-count of every word.
    min_size : float
        Components of a smaller total weight are merged first, whatever they lose.

    Returns
    -------
    list of Exchange
        Largest gain of the split first.

    Notes
    -----
    The split and merge steps of N. Ueda, R. Nakano, Z. Ghahramani and G. E. Hinton, SMEM algorithm
    for mixture models, Neural Computation 12, 2000; here they are chosen by the likelihood of
    samples and components. Time O(d k^2), but only O(d k) logarithms.
    """
    own = moves.classification_log_likelihood(sums, sizes, smoothing)
    merges = _merges(sums, sizes, own, smoothing)
    small = sizes < min_size
    merges = [(-np.inf if small[i] or small[j] else loss, i, j) for loss, i, j in merges]
    merges = [merges[at] for at in largest_first([-loss for loss, _, _ in merges])]
    gains = {
        s: float(moves.classification_log_likelihood(two.sums, two.sizes, smoothing).sum() - own[s])
        for s, two in halves.items()
    }
    found: list[Exchange] = []
    used: set[int] = set()
    by_gain = largest_first(list(gains.values()))
    for s in np.array([*gains], dtype=np.intp)[by_gain].tolist():
        if s in used:
            continue
        free = (merge for merge in merges if not {s, *used} & set(merge[1:]))
        loss, i, j = next(free, (np.inf, 0, 0))
        if gains[s] <= loss:
            break
        used |= {s, i, j}
        found.append(Exchange(s, i, j))
    return found


def after_exchanges(labels: Ints, halves: Mapping[int, Sides], chosen: Sequence[Exchange]) -> Ints:
    """Return the component of each sample after exchanges, shape (n,)."""
    new = labels.copy()
    for e in chosen:
        new[labels == e.j] = e.i
        new[halves[e.split].samples[halves[e.split].second]] = e.j
    return new


def _merges(
    sums: Floats, sizes: Floats, own: Floats, smoothing: float
) -> list[tuple[float, int, int]]:
    """Return the loss of merging components with their nearest ones, least first."""
    k = len(sizes)
    C = sums + smoothing
    total = C.sum(axis=0)
    # The loss is about proportional to the squared Hellinger distance times the harmonic mean of
    # the sizes, which needs no logarithms for each pair.
    roots = np.sqrt(C / total)
    near = (1.0 - roots.T @ roots) * (total[:, None] * total / (total[:, None] + total))
    np.fill_diagonal(near, np.inf)
    partners = np.argsort(ranks(-near), axis=1, kind="stable")[:, : min(NEAREST, k - 1)]
    pairs = sorted({(min(i, j), max(i, j)) for i in range(k) for j in partners[i].tolist()})
    found = []
    for i, j in pairs:
        S, N = sums[:, i] + sums[:, j], sizes[i] + sizes[j]
        merged = moves.classification_log_likelihood(S, N, smoothing)
        found.append((float(own[i] + own[j] - merged), i, j))
    return found
