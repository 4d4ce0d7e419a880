"""EM for a mixture of two within each of several groups of samples, in the same passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from scipy.special import expit

from momentree._types import Floats, Ints
from momentree.backends import Block, RowArray, Rows, group_totals, parted, with_room
from momentree.backends.kernels import kernel
from momentree.core.ties import largest
from momentree.objects import MixtureParameters
from momentree.refinement.em import LOG_ZERO, Refined

P = TypeVar("P", bound=MixtureParameters)


def em_of_groups(
    rows: Rows,
    own: RowArray,
    starts: Sequence[P | None],
    *,
    sample_weight: RowArray,
    smoothing: float,
    max_iter: int,
    tol: float = 1e-5,
    totals: tuple[Floats, Floats] | None = None,
) -> list[Refined[P] | None]:
    """Improve mixtures of two components, one for each group of samples, by EM.

    The results are those of :func:`em` for the samples of each group alone. A step of all groups
    that have not converged is one pass over the data.

    Parameters
    ----------
    rows : Rows of shape (n, p)
        Sufficient statistics of the samples.
    own : row array of int of shape (n,)
        Group of each sample; -1 for none.
    starts : sequence of MixtureParameters or None
        Two components for each group; None skips a group.
    sample_weight : row array of shape (n,)
        Weights >= 0.
    smoothing : float > 0
        As in ``m_step``.
    max_iter : int >= 1
        Maximum number of steps.
    tol : float >= 0, default=1e-5
        A group converges when a step changes its log-likelihood plus log prior by at most this
        fraction.
    totals : tuple of ndarray of shape (g, p) and (g,), default=None
        Weighted sums of the statistics of each group, and its weight; None computes them.

    Returns
    -------
    list of Refined or None
        One per group; None without a start.
    """
    sums, weights = group_sums(rows, own, len(starts), sample_weight) if totals is None else totals
    found = [
        None if start is None else _Running(start, sums[j], float(weights[j]), smoothing, tol)
        for j, start in enumerate(starts)
    ]
    for _ in range(max_iter):
        going = [j for j, run in enumerate(found) if run is not None and not run.converged]
        if not going:
            break
        running = [run for run in found if run is not None and not run.converged]
        place = np.full(len(starts) + 1, -1)  # the last entry is for samples without a group
        place[going] = np.arange(len(going))
        contrasts = np.stack([run.contrast for run in running])[:, :, None]
        kernel = GroupSteps(contrasts, np.array([run.ahead for run in running]), place)
        total = rows.sum(kernel, own, sample_weight)
        firsts, more = parted(total, len(going), 1, 2 * len(going))
        for run, first, size, gain in zip(running, firsts, *np.split(more, 2), strict=True):
            run.step(first[:, 0], float(size), float(gain))
    return [None if run is None else run.result for run in found]


class _Running(Generic[P]):
    """EM of one group: the log-likelihood ratio of one component to the other, the base."""

    def __init__(self, start: P, sums: Floats, weight: float, smoothing: float, tol: float) -> None:
        self._sums, self._weight, self._smoothing, self._tol = sums, weight, smoothing, tol
        self._last, self._gain_of_prior, self._n_iter = -np.inf, 0.0, 0
        self.converged = False
        self._use(start)

    def _use(self, parameters: P) -> None:
        self._parameters = parameters
        theta, offsets = parameters.coefficients, np.maximum(parameters.offsets, LOG_ZERO)
        if not parameters.signed:  # the mean of a word that never occurs may be zero
            theta = np.maximum(theta, LOG_ZERO)
        # Of signed statistics the base is the larger component: see `expected_statistics`.
        self._base = base = int(largest(parameters.weights)) if parameters.signed else 1
        self.contrast = theta[:, 1 - base] - theta[:, base]
        self.ahead = float(offsets[1 - base] - offsets[base])
        self._of_base = float(self._sums @ theta[:, base] + self._weight * offsets[base])

    def step(self, first: Floats, size: float, gain: float) -> None:
        """Continue, given the sums and size of the other component and its gain over the base."""
        log_likelihood = self._of_base + gain
        rise = log_likelihood - self._last + self._gain_of_prior
        self._last, self._n_iter = log_likelihood, self._n_iter + 1
        if rise <= self._tol * abs(log_likelihood):
            self.converged = True
            return
        base, before = self._base, self._parameters
        sums, sizes = np.empty((len(first), 2)), np.empty(2)
        sums[:, 1 - base], sizes[1 - base] = first, size
        sums[:, base], sizes[base] = self._sums - first, max(self._weight - size, 0.0)
        if not before.signed:  # rounding may make counts negative
            sums = np.maximum(sums, 0.0)
        self._use(before.m_step(sums, sizes, self._smoothing))
        new, old = (p.log_prior(sums, sizes, self._smoothing) for p in (self._parameters, before))
        self._gain_of_prior = new - old

    @property
    def result(self) -> Refined[P]:
        """The outcome so far."""
        return Refined(self._parameters, self._last, self._n_iter, self.converged)


def group_sums(
    rows: Rows, own: RowArray, n_groups: int, sample_weight: RowArray
) -> tuple[Floats, Floats]:
    """Return the weighted sums of the statistics of each group, (g, p), and the weights, (g,)."""
    total = rows.sum(SumsAndWeights(n_groups), sample_weight, own)
    sums, weights = parted(total, n_groups, 1, n_groups)
    return sums[:, :, 0], weights


@kernel
@dataclass(frozen=True)
class SumsAndWeights:
    """Weighted sums of the rows of each group, and of the weights."""

    n_groups: int

    def __call__(self, B: Block, v: Floats, own: Ints) -> Floats:
        """Return the sums."""
        out, sums, sizes = with_room(B, self.n_groups, 1, self.n_groups)
        B.own_tdot(v[:, None], own, self.n_groups, out=sums)
        sizes += group_totals(own, v, self.n_groups)
        return out


@kernel
@dataclass(frozen=True)
class GroupSteps:
    """The E-step of a mixture of two in each of several groups."""

    contrasts: Floats  # (h, p, 1)
    ahead: Floats  # (h,)
    place: Ints  # which of the h groups that still run a group is; -1 for others

    def __call__(self, B: Block, own: Ints, v: Floats) -> Floats:
        """Return the sums of the component ahead, its sizes and its gains over the base."""
        h = len(self.contrasts)
        own = self.place[own]
        scores = B.own_dot(self.contrasts, own)[:, 0] + self.ahead[own]
        r = v * expit(scores)
        out, sums, more = with_room(B, h, 1, 2 * h)
        B.own_tdot(r[:, None], own, h, out=sums)
        more[:h] += group_totals(own, r, h)
        more[h:] += group_totals(own, v * np.logaddexp(0.0, scores), h)
        return out
