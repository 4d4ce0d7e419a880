"""EM from several starts, of which the most likely are continued."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from momentree._types import Floats
from momentree.backends import RowBlocks
from momentree.objects import MixtureParameters
from momentree.refinement.em import Refined, column_sums, expected_statistics

P = TypeVar("P", bound=MixtureParameters)

ROUNDS = (4, 8, 16)
"""Steps of EM from each remaining start, before fewer remain."""
KEPT = 0.5
"""Fraction of the starts that remain after each round."""


def em_from_several(
    rows: RowBlocks,
    starts: Mapping[str, P],
    *,
    sample_weight: Floats,
    smoothing: float,
    max_iter: int,
    tol: float,
) -> tuple[str, Refined[P]]:
    """Run EM from several starts, and return the most likely result.

    All starts take four steps; the more likely half takes eight more, and half of those 16 more. Of
    equal ones the earlier remains. EM then continues from the most likely one.

    Parameters
    ----------
    rows : RowBlocks of shape (n, p)
        Sufficient statistics of the samples.
    starts : mapping of str to MixtureParameters
        At least one.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    smoothing : float >= 0
        Strength of the prior in ``m_step``.
    max_iter : int >= 1
        Maximum number of steps from the most likely start.
    tol : float >= 0
        EM stops when a step raises the mean log-likelihood by no more than this, in nats.

    Returns
    -------
    str
        Name of the start.
    Refined
        Parameters, and their log-likelihood.

    Notes
    -----
    A floor of variances, or a prior, may lower the likelihood. The best parameters count.
    """
    words = column_sums(rows, sample_weight)
    data = _Data(rows, sample_weight, words, smoothing, tol * float(sample_weight.sum()))
    runs = [_Run(name, parameters) for name, parameters in starts.items()]
    for steps in ROUNDS:
        if len(runs) == 1:
            break
        for run in runs:
            run.advance(data, min(steps, max_iter - run.n_iter))
        runs.sort(key=lambda run: -run.log_likelihood)
        runs = runs[: max(1, int(np.ceil(KEPT * len(runs))))]
        runs = _distinct(runs)
    for run in runs[:1]:
        run.advance(data, max(1, max_iter - run.n_iter))
    best = runs[0]
    return best.name, Refined(best.best, best.log_likelihood, best.n_iter, best.converged)


@dataclass(frozen=True)
class _Data:
    rows: RowBlocks
    weight: Floats
    words: Floats
    smoothing: float
    tol: float


class _Run(Generic[P]):
    """EM from one start."""

    def __init__(self, name: str, start: P) -> None:
        self.name, self.best, self._next = name, start, start
        self.log_likelihood, self.n_iter, self.converged = -np.inf, 0, False

    def advance(self, data: _Data, n_steps: int) -> None:
        """Take some steps; the likelihood is that of the parameters before the last M-step."""
        for _ in range(n_steps):
            if self.converged:
                return
            sums, sizes, found = expected_statistics(data.rows, self._next, data.weight, data.words)
            self.n_iter += 1
            gain = found - self.log_likelihood
            if gain > 0 or not np.isfinite(self.log_likelihood):
                self.best, self.log_likelihood = self._next, found
            if gain <= data.tol:
                self.converged = True
                return
            self._next = self._next.m_step(sums, sizes, data.smoothing)


def _distinct(runs: list[_Run[P]]) -> list[_Run[P]]:
    """Return runs without those that have converged to the likelihood of a better one."""
    kept: list[_Run[P]] = []
    for run in runs:
        near = [
            abs(run.log_likelihood - other.log_likelihood) <= 1e-7 * abs(other.log_likelihood)
            for other in kept
        ]
        if not any(near):
            kept.append(run)
    return kept
