"""Maximum likelihood of hidden Markov models of symbols by L-BFGS, where EM is slow."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from momentree._types import Floats
from momentree.objects.hidden_markov import CategoricalEmissions, HMMParameters
from momentree.refinement.baum_welch import BaumWelch, RefinedHMM

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
