"""Maximum likelihood of hidden Markov models: Baum-Welch, and L-BFGS where EM is slow."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from momentree._types import Floats
from momentree.backends.sequences import SequenceBlock
from momentree.backends.threads import run
from momentree.inference.hidden_markov import forward_backward
from momentree.objects.hidden_markov import LEAST, CategoricalEmissions, HMMParameters


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
            further, length = _extrapolate(now, one, two, longest)
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


def _extrapolate(
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


MEMORY = 20
"""Earlier steps from which curvature is estimated."""
SMALLEST = 1e-15
"""A smaller root of a probability stays as it is: its derivative would overflow."""


POINT, SLOPE, VALUE = 9, 6, 1e-11
"""Decimals of coordinates and slopes, relative rounding of values. Line searches decide by the last
bits, which differ between processors, and soon lead elsewhere; these digits have no influence."""


class _OutOfSteps(Exception):  # noqa: N818 - not an error
    pass


def quasi_newton(
    learner: BaumWelch, start: HMMParameters, *, max_iter: int, tol: float
) -> RefinedHMM:
    """Maximize the posterior that Baum-Welch maximizes, by L-BFGS.

    Parameters
    ----------
    learner : BaumWelch
        EM on the sequences.
    start : HMMParameters
        Initial parameters, with CategoricalEmissions. A few steps of EM should come before.
    max_iter : int >= 1
        Maximum number of evaluations, each of which takes as long as an EM step.
    tol : float >= 0
        Stop when a step raises the log posterior by at most this fraction of its size.

    Returns
    -------
    RefinedHMM
        The best parameters evaluated.

    Notes
    -----
    With N_ij the expected counts and p_ij = y_ij^2 / sum_l y_il^2, the gradient by y_ij is
    2 (N_ij / y_ij - y_ij N_i / sum_l y_il^2): an evaluation is an E-step. If states were known, the
    second derivatives by sqrt(N_i) y_ij would all be equal; so these are the coordinates. Memory is
    40 times that of the parameters.
    """
    k, d = start.n_states, start.emissions.probabilities.shape[1]
    ends = [k, k + k * k]
    shapes = (1, k), (k, k), (k, d)

    def parts(x: Floats) -> list[Floats]:
        return [part.reshape(s) for part, s in zip(np.split(x, ends), shapes, strict=True)]

    best, best_objective, best_likelihood, n = start, -np.inf, -np.inf, 0
    counts, _, objective = learner.counts(start)
    unit = 2.0 ** np.rint(np.log2(VALUE * max(abs(objective), 1.0)))
    scale = [np.sqrt(np.maximum(N.sum(axis=1, keepdims=True), 1.0)) for N in counts]

    def value(x: Floats) -> tuple[float, Floats]:
        nonlocal best, best_objective, best_likelihood, n
        if n == max_iter:
            raise _OutOfSteps
        n += 1
        roots = [part / c for part, c in zip(parts(x.round(POINT)), scale, strict=True)]
        sizes = [np.square(y).sum(axis=1, keepdims=True) for y in roots]
        pi, A, O = (np.square(y) / s for y, s in zip(roots, sizes, strict=True))  # noqa: E741
        parameters = HMMParameters(pi[0], A, CategoricalEmissions(O))
        counts, log_likelihood, objective = learner.counts(parameters)
        slopes = []
        for N, y, s, c in zip(counts, roots, sizes, scale, strict=True):
            up = np.divide(N, y, out=np.zeros_like(N), where=np.abs(y) > SMALLEST)
            slopes.append((2.0 / c * (up - y * N.sum(axis=1, keepdims=True) / s)).ravel())
        if objective > best_objective:
            best, best_objective, best_likelihood = parameters, objective, log_likelihood
        return -np.rint(objective / unit) * unit, -np.concatenate(slopes).round(SLOPE)

    given = [start.startprob[None], start.transmat, start.emissions.probabilities]
    x = np.concatenate([(np.sqrt(p) * c).ravel() for p, c in zip(given, scale, strict=True)])
    options: Any = {
        "maxcor": MEMORY,
        "maxiter": max_iter,
        "maxfun": max_iter,
        "ftol": tol,
        "gtol": 0.0,
    }
    try:
        found = minimize(value, x, jac=True, method="L-BFGS-B", options=options)
        converged = bool(found.success)
    except _OutOfSteps:
        converged = False
    return RefinedHMM(best, best_likelihood, n, converged)
