"""Baum-Welch: EM for hidden Markov models, accelerated by extrapolation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from momentree._types import Floats
from momentree.backends.sequences import SequenceBlock
from momentree.backends.threads import run
from momentree.inference.forward_backward import forward_backward
from momentree.objects.hidden_markov import LEAST, HMMParameters


@dataclass(frozen=True)
class RefinedHMM:
    """Result of Baum-Welch.

    Attributes
    ----------
    parameters : HMMParameters
        Parameters after the last step.
    log_likelihood : float
        Of all sequences, in nats, given `parameters`.
    n_iter : int
        Number of EM steps.
    converged : bool
        Whether the tolerance was reached within `max_iter` steps.
    """

    parameters: HMMParameters
    log_likelihood: float
    n_iter: int
    converged: bool


class BaumWelch:
    """EM steps on given sequences.

    Parameters
    ----------
    blocks : sequence of SequenceBlock
        The sequences.
    X : array of n observations
        All observations, in original order.
    smoothing : float >= 0, default=1e-3
        Number of average observations, transitions and starts added to each state.
    """

    def __init__(self, blocks: Sequence[SequenceBlock], X: Any, smoothing: float = 1e-3) -> None:
        self._blocks, self._smoothing = blocks, smoothing
        self._parts = [X[block.at] for block in blocks]
        self.n_observations = len(X)

    def step(self, parameters: HMMParameters) -> tuple[HMMParameters, float, float]:
        """Return better parameters; log-likelihood and log posterior of the given ones."""
        k, s = parameters.n_states, self._smoothing
        head, sums = self._expected(parameters)
        start, sizes, moves = head[0] + s / k, head[1], head[3:] + s / k
        rows = moves.sum(axis=1, keepdims=True)
        # A state that is never left, only because the data end, may be followed by any state.
        moves = np.divide(moves, rows, out=np.full((k, k), 1.0 / k), where=rows > 0)
        better = HMMParameters(
            start / start.sum(), moves, parameters.emissions.m_step(sums, sizes, s)
        )
        log_likelihood = float(head[2, 0])
        return better, log_likelihood, log_likelihood + self._log_prior(parameters, sums)

    def counts(self, parameters: HMMParameters) -> tuple[list[Floats], float, float]:
        """Return expected counts with those of the prior; log-likelihood and log posterior.

        The counts are those of the start (1, k), of transitions (k, k) and of symbols (k, d).
        """
        k, s = parameters.n_states, self._smoothing
        head, sums = self._expected(parameters)
        found = [head[:1] + s / k, head[3:] + s / k, parameters.emissions.counts(sums, s)]
        log_likelihood = float(head[2, 0])
        return found, log_likelihood, log_likelihood + self._log_prior(parameters, sums)

    def _expected(self, parameters: HMMParameters) -> tuple[Floats, Floats]:
        """Return start, sizes, log-likelihood and moves in rows; sums of the emissions."""
        k = parameters.n_states

        def task(i: int) -> tuple[Floats, Floats]:
            found = forward_backward(self._blocks[i], self._parts[i], parameters)
            head = np.empty((k + 3, k))
            head[0], head[1] = found.start, found.gamma.sum(axis=1)
            head[2] = found.log_likelihood.sum()
            head[3:] = found.moves
            return head, parameters.emissions.sums(self._parts[i], found.gamma)

        parts = run(task, len(self._blocks))
        head, sums = next(parts)
        for more_head, more_sums in parts:
            head += more_head
            sums += more_sums
        return head, sums

    def _log_prior(self, parameters: HMMParameters, sums: Floats) -> float:
        s = self._smoothing
        prior = parameters.emissions.log_prior(sums, s)
        for p in (parameters.startprob, parameters.transmat):
            prior += s / parameters.n_states * float(np.log(np.maximum(p, LEAST)).sum())
        return float(prior)

    def run(self, start: HMMParameters, *, max_iter: int = 500, tol: float = 1e-8) -> RefinedHMM:
        """Improve parameters until a step gains little.

        Parameters
        ----------
        start : HMMParameters
            Initial parameters.
        max_iter : int >= 1, default=500
            Maximum number of EM steps.
        tol : float >= 0, default=1e-8
            Stop when a step raises the log posterior by at most this fraction of its size.

        Returns
        -------
        RefinedHMM
            The posterior never decreases: an extrapolation that lowers it is undone.

        Notes
        -----
        Each cycle is two EM steps and one extrapolation along their difference (SQUAREM).

        References
        ----------
        .. [1] R. Varadhan, C. Roland. Simple and globally convergent methods for accelerating the
           convergence of any EM algorithm. Scandinavian Journal of Statistics 35, 2008.
        """
        now = start
        one, ll, objective = self.step(now)
        n_iter, longest = 1, 4.0
        while n_iter < max_iter:
            two, ll_one, objective_one = self.step(one)
            n_iter += 1
            if objective_one - objective <= tol * abs(objective_one):
                return RefinedHMM(one, ll_one, n_iter, converged=True)
            further, length = _extrapolated(now, one, two, longest)
            ahead, ll, objective = self.step(further)
            n_iter += 1
            if objective >= objective_one:
                now, one = further, ahead
                longest = 4.0 * longest if length == longest else longest
                continue
            longest = max(1.0, length / 4.0)
            now = two
            one, ll, objective = self.step(now)
            n_iter += 1
        return RefinedHMM(now, ll, n_iter, converged=False)


def _extrapolated(
    first: HMMParameters, second: HMMParameters, third: HMMParameters, longest: float
) -> tuple[HMMParameters, float]:
    """Extrapolate from three successive parameters; also return the length of the step."""
    a, b, c = first.coordinates, second.coordinates, third.coordinates
    r = b - a
    v = c - b - r
    bend = float(np.linalg.norm(v))
    length = float(np.linalg.norm(r)) / bend if bend > 0 else 1.0
    length = min(max(length, 1.0), longest)
    if length == 1.0:
        return third, 1.0
    return third.moved_to(a + 2.0 * length * r + length * length * v), length
