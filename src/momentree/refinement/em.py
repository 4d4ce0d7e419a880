"""Expectation-maximization (EM) for mixtures, from given initial parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends import Block, RowArray, RowBlocks, Rows, products
from momentree.backends.kernels import kernel
from momentree.core.progress import iterations
from momentree.core.ties import largest
from momentree.objects import MixtureParameters

P = TypeVar("P", bound=MixtureParameters)

Convergence = Literal["likelihood", "weights", "centers"]

LOG_ZERO = -1e4
"""Replaces log 0, so that differences are finite."""
TINY_SIZE = 1e-9
"""Expected number of samples that is rounding error."""


@dataclass(frozen=True)
class Refined(Generic[P]):
    """Result of EM.

    Attributes
    ----------
    parameters : MixtureParameters
        Parameters after the last iteration; components keep their order.
    log_likelihood : float
        In nats, up to a constant that depends only on the data. It belongs to `parameters` if EM
        converged by the likelihood, else to the parameters before the last iteration.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the tolerance was reached within `max_iter` iterations.
    sums, sizes : ndarray of shape (p, k) and (k,)
        Expected statistics of the last iteration; empty if there was none.
    """

    parameters: P
    log_likelihood: float
    n_iter: int
    converged: bool
    sums: Floats = field(default_factory=lambda: np.empty((0, 0)))
    sizes: Floats = field(default_factory=lambda: np.empty(0))


def em(
    rows: Rows,
    start: P,
    *,
    sample_weight: RowArray,
    smoothing: float = 1.0,
    max_iter: int = 100,
    tol: float = 1e-5,
    convergence: Convergence = "likelihood",
) -> Refined[P]:
    """Improve the parameters of a mixture by EM.

    Alternate between the responsibilities R_ij = P[component j | x_i] and the M-step of the
    parameters, ``m_step``, with S = X^T (v R) and N = sum_i v_i R_i for sample weights v.

    Parameters
    ----------
    rows : Rows of shape (n, p)
        Sufficient statistics of the samples; for topics, the (log-scaled) word counts.
    start : MixtureParameters
        Initial parameters of any family; for counts, all centers must be > 0.
    sample_weight : row array of shape (n,)
        Weights >= 0.
    smoothing : float > 0, default=1.0
        Strength of the prior in ``m_step``.
    max_iter : int >= 1, default=100
        Maximum number of iterations.
    tol : float >= 0, default=1e-5
        Stop when an iteration changes the quantity given by `convergence` by at most this.
    convergence : {"likelihood", "weights", "centers"}, default="likelihood"
        The log-likelihood plus the ``log_prior`` of smoothing, relative to the log-likelihood; the
        weights omega, in Euclidean norm (T section 4.5, with 0.01); or the centers M, in Frobenius
        norm (T section 6.4.1, with 0.0001).

    Returns
    -------
    Refined
        Parameters, log-likelihood, number of iterations and whether EM converged.

    Notes
    -----
    With smoothing, the M-step maximizes the posterior under a prior: the likelihood may decrease,
    but the log-likelihood plus the log prior does not.

    Each iteration is one fused pass over the data: time O(nnz k), memory O(d k + n k), and a
    dense copy of the samples if few of their values are zero. Deterministic.
    """
    if isinstance(rows, RowBlocks):
        rows = rows.for_products(start.n_components)
    parameters, last, converged = start, -np.inf, False
    sums, sizes = np.empty((0, start.n_components)), np.empty(0)
    words = column_sums(rows, sample_weight)
    n_iter, gain_of_prior = 0, 0.0
    for n_iter in iterations(max_iter):  # noqa: B007
        sums, sizes, log_likelihood = expected_statistics(rows, parameters, sample_weight, words)
        gain, last = log_likelihood - last + gain_of_prior, log_likelihood
        if convergence == "likelihood" and gain <= tol * abs(log_likelihood):
            converged = True
            break
        before, parameters = parameters, parameters.m_step(sums, sizes, smoothing)
        if convergence == "likelihood":
            new, old = (p.log_prior(sums, sizes, smoothing) for p in (parameters, before))
            gain_of_prior = new - old
        else:
            moved = getattr(parameters, convergence) - getattr(before, convergence)
            if float(np.linalg.norm(moved)) <= tol:
                converged = True
                break
    return Refined(parameters, last, n_iter, converged, sums, sizes)


@kernel
@dataclass(frozen=True, eq=False)
class Expectation:
    """S, N and the log-likelihood of samples, relative to the last component: the E-step of EM.

    Attributes
    ----------
    contrasts : ndarray of shape (d, k - 1)
        theta of the other components minus that of the last.
    offsets : ndarray of shape (k,)
        b.
    """

    contrasts: Floats
    offsets: Floats

    def __call__(self, B: Block, v: Floats, labels: Ints | None = None) -> Floats:
        """Return S without the last column, with rows N and log P added, shape (d + 2, k)."""
        return B.expected(self.contrasts, self.offsets, v, out=B.total, labels=labels)

    def suppressed(
        self, total: Floats, min_count: int, ask: Callable[[Any], Floats]
    ) -> tuple[Floats, int]:
        """Add components of few expected samples to the largest one; return their number, too.

        The coordinator subtracts the sums of all other components from those of all samples to
        find those of the last, so that no sums may be missing.
        """
        sizes = total[-2]
        largest_size = int(sizes.argmax())
        small = (sizes > TINY_SIZE) & (sizes < min_count)
        small[largest_size] = False
        if not small.any():
            return total, 0
        merged = total.copy()
        merged[:-2, -1] = ask(products.transposed_product) - total[:-2, :-1].sum(axis=1)
        merged[:-1, largest_size] += merged[:-1, small].sum(axis=1)
        merged[:-1, small] = 0.0
        merged[:-2, -1] = 0.0  # follows from the others
        return merged, int(np.count_nonzero(small))


@kernel
@dataclass(frozen=True)
class WeightedSums:
    """X^T (v R), and sum_i v_i R_i in the last row, for responsibilities R of shape (n, k)."""

    def __call__(self, B: Block, R: Floats, v: Floats) -> Floats:
        """Return the sums of a block, shape (d + 1, k)."""
        weighted = R * v[:, None]
        return np.vstack([B.tdot(weighted), weighted.sum(axis=0)])


def column_sums(rows: Rows, sample_weight: RowArray) -> Floats:
    """Return X^T v."""
    return rows.sum(products.transposed_product, sample_weight)


def expected_statistics(
    rows: Rows,
    parameters: MixtureParameters,
    sample_weight: RowArray,
    words: Floats,
    labels: Ints | None = None,
) -> tuple[Floats, Floats, float]:
    """Return S = X^T (v R) of shape (d, k), N = sum_i v_i R_i of shape (k,) and the log-likelihood.

    If `labels` is given, write the most likely component of each sample to it, for rows in memory.

    The computation is relative to one component, whose sums follow from `words` = X^T v. This
    requires k - 1 products with the data instead of k; with two components they are products with
    one vector, which take a third of the time of products with two. Of signed statistics it is the
    largest component: the differences that remain for a small one would be rounding errors.
    """
    # The mean of a word that never occurs may be zero.
    theta = parameters.coefficients
    if not parameters.signed:
        theta = np.maximum(theta, LOG_ZERO)
    d, k = theta.shape
    base = int(largest(parameters.weights)) if parameters.signed else k - 1
    order = np.array([*np.delete(np.arange(k), base), base])
    contrasts = np.ascontiguousarray(theta[:, order[:-1]] - theta[:, base, None])
    kernel = Expectation(contrasts, parameters.offsets[order])
    total = rows.sum(kernel, sample_weight, *(() if labels is None else (labels,)))
    if labels is not None and base != k - 1:
        labels[:] = order[labels]
    sums, sizes = np.empty((d, k)), np.empty(k)
    sums[:, order], sizes[order] = total[:d], total[d]
    last = words - total[:d, :-1].sum(axis=1)
    # Rounding may make counts negative.
    sums[:, base] = last if parameters.signed else np.maximum(last, 0.0)
    return sums, sizes, float(total[d + 1, 0] + words @ theta[:, base])


def m_step(
    family: type[P], rows: Rows, responsibilities: RowArray, weight: RowArray, smoothing: float
) -> P:
    """Return the parameters for given responsibilities."""
    return family.m_step(*soft_sums(rows, responsibilities, weight), smoothing)


def soft_sums(rows: Rows, responsibilities: RowArray, weight: RowArray) -> tuple[Floats, Floats]:
    """Return S = X^T (v R) of shape (p, k) and N = sum_i v_i R_i for given responsibilities R."""
    total = rows.sum(WeightedSums(), responsibilities, weight)
    return total[:-1], total[-1]


def m_step_of_groups(
    family: type[P],
    rows: Rows,
    labels: RowArray,
    n_groups: int,
    weight: RowArray,
    smoothing: float,
) -> P:
    """Return the parameters for given groups."""
    sums = rows.group_sums(labels, n_groups, weight)
    return family.m_step(sums, rows.group_sizes(labels, n_groups, weight), smoothing)
