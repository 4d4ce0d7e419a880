"""EM for a mixture of two within each of several groups of samples, in the same passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from scipy.special import expit

from momentree._types import Floats, Ints
from momentree.backends import Block, RowArray, Rows
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
) -> list[Refined[P] | None]:
    """Improve mixtures of two components, one for each group of samples, by EM.

    The results are those of :func:`em` for the samples of each group alone. One pass over the data
    is a step of all groups that have not converged.

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

    Returns
    -------
    list of Refined or None
        One per group; None without a start.
    """
    g, p = len(starts), rows.shape[1]
    total = rows.sum(WeightedSums(g), own, sample_weight)
    words, weight = total[:, :p], total[:, p]
    found = [None if start is None else _Running(start) for start in starts]
    for step in range(1, max_iter + 1):
        going = [j for j in range(g) if (run := found[j]) is not None and not run.converged]
        if not going:
            break
        own_contrasts = [_contrast(found[j].parameters) for j in going]  # type: ignore[union-attr]
        table = np.full(g + 1, -1)
        table[going] = np.arange(len(going))
        kernel = GroupSteps(
            np.stack([c.coef for c in own_contrasts])[:, :, None],
            np.array([c.ahead for c in own_contrasts]),
            table,
        )
        sums = rows.sum(kernel, own, sample_weight)
        for j, contrast, part in zip(going, own_contrasts, sums, strict=True):
            run = found[j]
            assert run is not None  # noqa: S101 - for the type checker
            run.step(contrast, part, words[j], float(weight[j]), smoothing, tol, step)
    return [None if run is None else run.result() for run in found]


@dataclass(frozen=True)
class _Contrast:
    """The log-likelihood ratio of one component to the other, the base."""

    base: int
    coef: Floats
    ahead: float
    theta: Floats  # of the base
    offset: float


def _contrast(parameters: MixtureParameters) -> _Contrast:
    theta, offsets = parameters.coefficients, np.maximum(parameters.offsets, LOG_ZERO)
    if not parameters.signed:  # the mean of a word that never occurs may be zero
        theta = np.maximum(theta, LOG_ZERO)
    # Of signed statistics the base is the larger component: see `expected_statistics`.
    base = int(parameters.weights.argmax()) if parameters.signed else 1
    coef, ahead = theta[:, 1 - base] - theta[:, base], offsets[1 - base] - offsets[base]
    return _Contrast(base, coef, float(ahead), theta[:, base], float(offsets[base]))


class _Running(Generic[P]):
    """EM of one group."""

    def __init__(self, start: P) -> None:
        self.parameters, self.converged = start, False
        self._last, self._gain_of_prior, self._n_iter = -np.inf, 0.0, 0

    def step(
        self,
        contrast: _Contrast,
        sums: Floats,
        words: Floats,
        weight: float,
        smoothing: float,
        tol: float,
        n_iter: int,
    ) -> None:
        """Continue after the sums of a pass: those of the other component, its size, its gain."""
        p, base = len(words), contrast.base
        log_likelihood = float(sums[p + 1] + weight * contrast.offset + words @ contrast.theta)
        gain = log_likelihood - self._last + self._gain_of_prior
        self._last, self._n_iter = log_likelihood, n_iter
        if gain <= tol * abs(log_likelihood):
            self.converged = True
            return
        both, sizes = np.empty((p, 2)), np.empty(2)
        both[:, 1 - base], sizes[1 - base] = sums[:p], sums[p]
        both[:, base], sizes[base] = words - sums[:p], max(weight - sums[p], 0.0)
        if not self.parameters.signed:  # rounding may make counts negative
            both = np.maximum(both, 0.0)
        before, self.parameters = self.parameters, self.parameters.m_step(both, sizes, smoothing)
        new, old = (q.log_prior(both, sizes, smoothing) for q in (self.parameters, before))
        self._gain_of_prior = new - old

    def result(self) -> Refined[P]:
        return Refined(self.parameters, self._last, self._n_iter, self.converged)


@dataclass(frozen=True)
class WeightedSums:
    """Weighted sums of the rows of each group, and of the weights, shape (g, p + 1)."""

    n_groups: int

    def __call__(self, B: Block, own: Ints, v: Floats) -> Floats:
        """Return the sums."""
        some = own >= 0
        sizes = np.bincount(own[some], v[some], minlength=self.n_groups)
        sums = B.own_tdot(v[:, None], own, self.n_groups)[:, :, 0]
        return np.concatenate([sums, sizes[:, None]], axis=1)


@dataclass(frozen=True)
class GroupSteps:
    """The E-step of a mixture of two in each of several groups."""

    coef: Floats  # (h, p, 1)
    ahead: Floats  # (h,)
    table: Ints  # which of the h groups that still run a group is; -1 for the others and for none

    def __call__(self, B: Block, own: Ints, v: Floats) -> Floats:
        """Return the sums of the component ahead, its size and the gain over the base."""
        h, p = self.coef.shape[:2]
        own = self.table[own]
        ahead = B.own_dot(self.coef, own)[:, 0] + self.ahead[own]
        r = v * expit(ahead)
        some = own >= 0
        out = np.empty((h, p + 2))
        out[:, :p] = B.own_tdot(r[:, None], own, h)[:, :, 0]
        out[:, p] = np.bincount(own[some], r[some], minlength=h)
        gain = v * np.logaddexp(0.0, ahead)
        out[:, p + 1] = np.bincount(own[some], gain[some], minlength=h)
        return out
