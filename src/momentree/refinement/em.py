"""Expectation-maximisation of mixtures, started from given parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from momentree.backends import Block, RowBlocks
from momentree.objects import MixtureParameters

__all__ = ["Convergence", "Refined", "em"]

P = TypeVar("P", bound=MixtureParameters)

Floats = NDArray[np.float64]
Convergence = Literal["likelihood", "weights", "centers"]

LOG_ZERO = -1e4
"""Stands for log 0, so that differences of two of them are numbers."""


@dataclass(frozen=True)
class Refined(Generic[P]):
    """Parameters after EM and how it went.

    Attributes
    ----------
    parameters : MixtureParameters
        After the last step; components keep their order.
    log_likelihood : float
        In nats, less what depends on the counts alone. Of `parameters` where the likelihood ended
        EM, else of those before the last step.
    n_iter : int
        Steps taken.
    converged : bool
        Whether the tolerance was met within the steps allowed.
    """

    parameters: P
    log_likelihood: float
    n_iter: int
    converged: bool


def em(
    rows: RowBlocks,
    start: P,
    *,
    sample_weight: Floats,
    smoothing: float = 1.0,
    max_iter: int = 100,
    tol: float = 1e-5,
    convergence: Convergence = "likelihood",
) -> Refined[P]:
    """Improve a mixture by EM.

    Alternate R_ij = P[component j | x_i] and the M-step of its parameters, ``m_step``, with
    S = X^T (v R), N = sum_i v_i R_i, v the sample weights.

    Parameters
    ----------
    rows : RowBlocks of shape (n, p)
        Statistics of the samples: for topics word counts, or log-scaled counts.
    start : MixtureParameters
        Of any family; for counts all centers > 0.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    smoothing : float > 0, default=1.0
        For ``m_step`` of the parameters.
    max_iter : int >= 1, default=100
        Most steps.
    tol : float >= 0, default=1e-5
        Stop when a step changes no more than this.
    convergence : {"likelihood", "weights", "centers"}, default="likelihood"
        What a step changes: the log-likelihood plus the ``log_prior`` of smoothing, as a share of
        the log-likelihood; the weights omega, in Euclidean norm (T section 4.5, with 0.01); the
        centers M, in Frobenius norm (T section 6.4.1, with 0.0001).

    Returns
    -------
    Refined
        Parameters, log-likelihood, number of steps and whether the tolerance was met.

    Notes
    -----
    With smoothing the likelihood alone may fall while EM is on its way; what never falls is the
    likelihood plus the prior under which the M-step is the maximum a posteriori.

    One fused pass over the data a step: time O(nnz k), memory O(d k + n k). Deterministic.
    """
    parameters, last, converged = start, -np.inf, False
    words = rows.sum(lambda B: B.tdot(sample_weight[B.at]))
    n_iter, gain_of_prior = 0, 0.0
    for n_iter in range(1, max_iter + 1):  # noqa: B007 - the count is part of the result
        sums, sizes, log_likelihood = _expected_statistics(rows, parameters, sample_weight, words)
        gain, last = log_likelihood - last + gain_of_prior, log_likelihood
        if convergence == "likelihood" and gain <= tol * abs(log_likelihood):
            converged = True
            break
        before, parameters = parameters, parameters.m_step(sums, sizes, smoothing)
        if convergence == "likelihood":
            new, old = (p.log_prior(sums, sizes, smoothing) for p in (parameters, before))
            gain_of_prior = new - old
        elif _distance(getattr(parameters, convergence), getattr(before, convergence)) <= tol:
            converged = True
            break
    return Refined(parameters, last, n_iter, converged)


def _distance(a: Floats, b: Floats) -> float:
    return float(np.linalg.norm(a - b))


def _expected_statistics(
    rows: RowBlocks, parameters: MixtureParameters, sample_weight: Floats, words: Floats
) -> tuple[Floats, Floats, float]:
    """Return S = X^T (v R) of shape (d, k), N = sum_i v_i R_i of shape (k,) and the likelihood.

    Everything is taken relative to the last component, which gets the rest of all `words` =
    X^T v: k - 1 products with the data instead of k, and for two components products with one
    vector, which cost a third of those with two.
    """
    # A word that never occurs may have a mean of zero.
    theta = np.maximum(parameters.coefficients, LOG_ZERO)
    offsets = parameters.offsets[:, None]
    d, k = theta.shape
    contrasts = np.ascontiguousarray(theta[:, :-1] - theta[:, -1:])

    def kernel(B: Block) -> Floats:
        v = sample_weight[B.at]
        joint = np.empty((k, len(v)))  # topics in rows: NumPy reduces the first axis fastest
        joint[:-1] = B.dot(contrasts).T
        joint[-1] = 0.0
        joint += offsets
        top = joint.max(axis=0)
        joint -= top
        R = np.exp(joint, out=joint)
        mass = R.sum(axis=0)
        R *= v / mass
        out = np.zeros((d + 2, k))
        out[:d, :-1] = B.tdot(R[:-1].T)
        out[d] = R.sum(axis=1)
        out[d + 1] = v @ (top + np.log(mass))
        return out

    total = rows.sum(kernel)
    sums, sizes = total[:d], total[d]
    log_likelihood = float(total[d + 1, 0] + words @ theta[:, -1])
    rest = words - sums[:, :-1].sum(axis=1)
    # Rounding may leave less than nothing of a word.
    sums[:, -1] = rest if parameters.signed else np.maximum(rest, 0.0)
    return sums, sizes, log_likelihood
