"""Divide every component of a mixture in two: by its second moments, then by EM within it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from momentree._types import Floats, Ints
from momentree.backends import Block, LiftedRows, RowBlocks
from momentree.objects import MixtureParameters

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
    A sample is multiplied only with the vector of its own component: time O(nnz + p k),
    and another copy of the column numbers.
    """
    k, v = n_components, sample_weight
    kind = _OwnDense if isinstance(rows, LiftedRows) else _OwnComponent
    own = kind(rows, labels, k)
    sums, sizes = own.sums(v)
    means = sums / np.maximum(sizes, TINY)
    squares = (column_scale**2)[:, None]
    variance = own.squares(v) / np.maximum(sizes, TINY) - means**2 if family.signed else None
    direction = _first_direction(means, squares, variance)
    for _ in range(PRODUCTS):
        scores = own.scores(direction, -(means * direction).sum(axis=0))
        products, total = own.sums(v * scores)
        direction = squares * (products - means * total)
        direction /= np.maximum(np.abs(direction).max(axis=0), TINY)
    scores = own.scores(direction, -(means * direction).sum(axis=0))
    probability = (scores > DIFFERENT).astype(np.float64)
    whole, base = _likelihoods(family, sums, sizes, smoothing, others)
    inside = np.bincount(labels, weights=v * probability, minlength=k)
    divisible = (inside > 0) & (inside < sizes)
    found = Halves(
        np.full(k, -np.inf), np.hstack([sums, 0.0 * sums]), np.concatenate([sizes, 0.0 * sizes])
    )
    for _ in range(STEPS):
        first, n_first = own.sums(v * probability)
        second = sums - first if family.signed else np.maximum(sums - first, 0.0)
        n_second = np.maximum(sizes - n_first, 0.0)
        both, n_both = np.hstack([first, second]), np.concatenate([n_first, n_second])
        theta, offset = _likelihoods(family, both, n_both, smoothing, others)
        ahead = own.scores(theta[:, :k] - theta[:, k:], offset[:k] - offset[k:])
        probability = expit(ahead)
        # log (P[x, first] + P[x, second]) - log P[x], summed over the samples of each component.
        gain = (sums * (theta[:, k:] - whole)).sum(axis=0)
        gain += sizes * (offset[k:] - base)
        gain += np.bincount(labels, weights=v * np.logaddexp(0.0, ahead), minlength=k)
        gain = np.where(divisible, gain, -np.inf)
        found = Halves(gain, both, n_both)
    return found


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
    direction[variance.argmax(axis=0), np.arange(means.shape[1])] = GOLDEN
    return np.asarray(squares * direction)


class _OwnComponent:
    """Products of each sample with the vector of its component.

    Column w of a sample of component j becomes column w k + j of a larger matrix.
    """

    def __init__(self, rows: RowBlocks, labels: Ints, k: int) -> None:
        X, p = rows.matrix, rows.shape[1]
        kind = np.int32 if max(p * k, X.nnz) < np.iinfo(np.int32).max else np.int64
        columns = X.indices.astype(kind)
        columns *= k
        columns += np.repeat(labels.astype(kind), np.diff(X.indptr))
        placed = sp.csr_array((X.data, columns, X.indptr.astype(kind)), shape=(len(labels), p * k))
        self._rows, self._labels, self._shape = RowBlocks(placed), labels, (p, k)

    def scores(self, vectors: Floats, offsets: Floats) -> Floats:
        """Return x_i . v_j + o_j with j the component of sample i, shape (n,)."""
        flat = np.ascontiguousarray(vectors).ravel()
        out = self._rows.map(lambda B: B.dot(flat))
        return np.asarray(out + offsets[self._labels])

    def sums(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the weighted sums of the samples of each component, (p, k), and of weights."""
        flat = self._rows.sum(lambda B: B.tdot(weights[B.at]))
        sizes = np.bincount(self._labels, weights=weights, minlength=self._shape[1])
        return flat.reshape(self._shape), sizes.astype(np.float64)

    def squares(self, weights: Floats) -> Floats:
        """Return the weighted sums of squares of each component, (p, k)."""

        def kernel(B: Block) -> Floats:
            return B.with_data(B.csr[0] ** 2).tdot(weights[B.at])

        return self._rows.sum(kernel).reshape(self._shape)


class _OwnDense:
    """The same for statistics of dense rows, which BLAS multiplies component by component."""

    def __init__(self, rows: RowBlocks, labels: Ints, k: int) -> None:
        assert isinstance(rows, LiftedRows)  # noqa: S101 - for the type checker
        order = np.argsort(labels, kind="stable")
        ends = np.searchsorted(labels[order], np.arange(k + 1))
        groups = [order[a:b] for a, b in pairwise(ends)]
        self._groups = [(at, rows.lifted(at)) for at in groups]
        self._labels, self._shape = labels, (rows.shape[1], k)

    def scores(self, vectors: Floats, offsets: Floats) -> Floats:
        out = offsets[self._labels]
        for j, (at, statistics) in enumerate(self._groups):
            out[at] += statistics @ vectors[:, j]
        return np.asarray(out)

    def sums(self, weights: Floats) -> tuple[Floats, Floats]:
        sums = np.empty(self._shape)
        for j, (at, statistics) in enumerate(self._groups):
            sums[:, j] = weights[at] @ statistics
        sizes = np.bincount(self._labels, weights=weights, minlength=self._shape[1])
        return sums, sizes.astype(np.float64)

    def squares(self, weights: Floats) -> Floats:
        out = np.empty(self._shape)
        for j, (at, statistics) in enumerate(self._groups):
            out[:, j] = np.einsum("i,iw,iw->w", weights[at], statistics, statistics)
        return out
