"""Expectation-maximization (EM) for mixtures: of all samples, in groups, with missing values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from scipy.special import expit, logsumexp

from momentree import backends, objects
from momentree._types import Floats, Ints
from momentree.backends import products
from momentree.backends.kernels import kernel
from momentree.core import progress, ties

P = TypeVar("P", bound=objects.MixtureParameters)

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
    rows: backends.Rows,
    start: P,
    *,
    sample_weight: backends.RowArray,
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

    Each iteration is one fuse pass over the data: time O(nnz k), memory O(d k + n k), and a
    dense copy of the samples if few of their values are zero. Deterministic.
    """
    if isinstance(rows, backends.RowBlocks):
        rows = rows.for_products(start.n_components)
    parameters, last, converged = start, -np.inf, False
    sums, sizes = np.empty((0, start.n_components)), np.empty(0)
    words = column_sums(rows, sample_weight)
    n_iter, gain_of_prior = 0, 0.0
    for n_iter in progress.iterations(max_iter):  # noqa: B007
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


def climb(
    start: P,
    step: Callable[[P], tuple[float, Callable[[], P]]],
    *,
    max_iter: int,
    least: float,
) -> Refined[P]:
    """Run EM until the log-likelihood rises by no more than `least`; return the best parameters.

    A floor of variances, or a prior, may lower the likelihood. `step` returns the log-likelihood of
    parameters, and the M-step that follows.
    """
    best, last, parameters, converged, n_iter = start, -np.inf, start, False, 1
    for n_iter in progress.iterations(max_iter):  # noqa: B007
        log_likelihood, m_step = step(parameters)
        gain = log_likelihood - last
        if gain > 0:
            best, last = parameters, log_likelihood
        if gain <= least:
            converged = True
            break
        parameters = m_step()
    return Refined(best, last, n_iter, converged)


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

    def __call__(self, B: backends.Block, v: Floats, labels: Ints | None = None) -> Floats:
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

    def __call__(self, B: backends.Block, R: Floats, v: Floats) -> Floats:
        """Return the sums of a block, shape (d + 1, k)."""
        weighted = R * v[:, None]
        return np.vstack([B.tdot(weighted), weighted.sum(axis=0)])


def column_sums(rows: backends.Rows, sample_weight: backends.RowArray) -> Floats:
    """Return X^T v."""
    return rows.sum(products.transposed_product, sample_weight)


def expected_statistics(
    rows: backends.Rows,
    parameters: objects.MixtureParameters,
    sample_weight: backends.RowArray,
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
    base = int(ties.largest(parameters.weights)) if parameters.signed else k - 1
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


def log_likelihood(
    rows: backends.Rows, parameters: objects.MixtureParameters, sample_weight: backends.RowArray
) -> float:
    """Return the log-likelihood of parameters, as :func:`em` does."""
    words = column_sums(rows, sample_weight)
    return expected_statistics(rows, parameters, sample_weight, words)[2]


def m_step(
    family: objects.Family[P],
    rows: backends.Rows,
    responsibilities: backends.RowArray,
    weight: backends.RowArray,
    smoothing: float,
) -> P:
    """Return the parameters for given responsibilities."""
    return family.m_step(*soft_sums(rows, responsibilities, weight), smoothing)


def soft_sums(
    rows: backends.Rows, responsibilities: backends.RowArray, weight: backends.RowArray
) -> tuple[Floats, Floats]:
    """Return S = X^T (v R) of shape (p, k) and N = sum_i v_i R_i for given responsibilities R."""
    total = rows.sum(WeightedSums(), responsibilities, weight)
    return total[:-1], total[-1]


@dataclass(frozen=True)
class Samples:
    """Samples of a fit by EM, with the strength of the prior and the tolerance.

    Attributes
    ----------
    rows : Rows of shape (n, p)
        Sufficient statistics of the samples.
    weight : row array of shape (n,)
        Weights >= 0.
    smoothing : float > 0
        Strength of the prior in ``m_step``.
    tol : float >= 0
        EM stops when a step raises the log-likelihood by at most this fraction.
    """

    rows: backends.Rows
    weight: backends.RowArray
    smoothing: float
    tol: float = 1e-5

    def group_sums(self, labels: backends.RowArray, n_groups: int) -> tuple[Floats, Floats]:
        """Return the sums of the statistics of each group, (p, k), and the sizes, (k,)."""
        return self.rows.group_sums(labels, n_groups, self.weight)

    def m_step(self, family: objects.Family[P], labels: backends.RowArray, n_groups: int) -> P:
        """Return the parameters for given groups."""
        return family.m_step(*self.group_sums(labels, n_groups), self.smoothing)

    def em(self, start: P, max_iter: int) -> Refined[P]:
        """Run EM from initial parameters."""
        rows, v, s = self.rows, self.weight, self.smoothing
        return em(rows, start, sample_weight=v, smoothing=s, max_iter=max_iter, tol=self.tol)


def em_of_groups(
    rows: backends.Rows,
    own: backends.RowArray,
    starts: Sequence[P | None],
    *,
    sample_weight: backends.RowArray,
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
    if totals is None:
        sums, weights = rows.group_sums(own, len(starts), sample_weight)
        totals = sums.T, weights
    sums, weights = totals
    found = [
        None if start is None else _GroupRun(start, sums[j], float(weights[j]), smoothing, tol)
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
        firsts, more = backends.parted(total, len(going), 1, 2 * len(going))
        for run, first, size, gain in zip(running, firsts, *np.split(more, 2), strict=True):
            run.step(first[:, 0], float(size), float(gain))
    return [None if run is None else run.result for run in found]


class _GroupRun(Generic[P]):
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
        self._base = base = int(ties.largest(parameters.weights)) if parameters.signed else 1
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


@kernel
@dataclass(frozen=True)
class GroupSteps:
    """The E-step of a mixture of two in each of several groups."""

    contrasts: Floats  # (h, p, 1)
    ahead: Floats  # (h,)
    place: Ints  # which of the h groups that still run a group is; -1 for others

    def __call__(self, B: backends.Block, own: Ints, v: Floats) -> Floats:
        """Return the sums of the component ahead, its sizes and its gains over the base."""
        h = len(self.contrasts)
        own = self.place[own]
        scores = B.own_dot(self.contrasts, own)[:, 0] + self.ahead[own]
        r = v * expit(scores)
        out, sums, more = backends.with_room(B, h, 1, 2 * h)
        B.own_tdot(r[:, None], own, h, out=sums)
        more[:h] += backends.group_totals(own, r, h)
        more[h:] += backends.group_totals(own, v * np.logaddexp(0.0, scores), h)
        return out


@dataclass(frozen=True)
class _Pattern:
    """Rows with the same missing values."""

    rows: Ints
    seen: Ints
    gaps: Ints


def em_with_gaps(
    Z: Floats,
    missing: Any,
    start: objects.MixtureParameters,
    *,
    sample_weight: Floats,
    smoothing: float,
    max_iter: int,
    tol: float,
) -> Refined[objects.MixtureParameters]:
    """Improve a mixture of Gaussians by EM over components and missing values.

    For a sample with observed values x_o and missing values x_m, the M-step uses expectations under
    each component:

        E[x_m | x_o] = mu_m + Sigma_mo Sigma_oo^-1 (x_o - mu_o),
        Cov[x_m | x_o] = Sigma_mm - Sigma_mo Sigma_oo^-1 Sigma_om

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Samples; missing values may be any finite number.
    missing : ndarray of bool of shape (n, d)
        Which values are missing.
    start : FullGaussianParameters or SharedGaussianParameters
        Initial parameters, whose M-step is used.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    smoothing : float >= 0
        As in ``m_step``.
    max_iter : int >= 0
        Maximum number of steps.
    tol : float >= 0
        Stop when a step raises the mean log-likelihood by no more than this, in nats.

    Returns
    -------
    Refined
        Parameters, and the log-likelihood of the observed values up to the constant of
        :func:`momentree.inference.log_joint`.

    Notes
    -----
    Time O(m d^3 k + n d^2 k) per step, for m different patterns of missing values.
    """
    usable = np.flatnonzero(sample_weight > 0)
    Z, missing, weight = Z[usable], missing[usable], sample_weight[usable]
    kinds, group = np.unique(missing, axis=0, return_inverse=True)
    patterns = [
        _Pattern(np.flatnonzero(group.reshape(-1) == g), np.flatnonzero(~m), np.flatnonzero(m))
        for g, m in enumerate(kinds)
    ]

    def step(
        parameters: objects.MixtureParameters,
    ) -> tuple[float, Callable[[], objects.MixtureParameters]]:
        sums, sizes, squares, value = _expected_with_gaps(Z, weight, patterns, parameters)
        return value, lambda: _m_step_with_gaps(parameters, sums, sizes, squares, smoothing)

    return climb(start, step, max_iter=max_iter, least=tol * float(weight.sum()))


def _m_step_with_gaps(
    p: objects.MixtureParameters, sums: Floats, sizes: Floats, squares: Floats, smoothing: float
) -> objects.MixtureParameters:
    """Return the parameters for expected sums (d, k), sizes (k,) and squares (k, d, d)."""
    if isinstance(p, objects.SharedGaussianParameters):
        family = replace(p, squares=squares.sum(axis=0) / sizes.sum())
        return family.m_step(sums, sizes, smoothing)
    v, w = np.triu_indices(len(sums))
    return p.m_step(np.vstack([sums, squares[:, v, w].T]), sizes, smoothing)


def _expected_with_gaps(
    Z: Floats, weight: Floats, patterns: list[_Pattern], p: objects.MixtureParameters
) -> tuple[Floats, Floats, Floats, float]:
    d, k = p.centers.shape
    sums, sizes, squares = np.zeros((d, k)), np.zeros(k), np.zeros((k, d, d))
    total = 0.0
    for pattern in patterns:
        rows, seen, gaps = pattern.rows, pattern.seen, pattern.gaps
        v = weight[rows]
        joint = np.empty((len(rows), k))
        completed = []
        for j in range(k):
            C = _covariances(p, j)
            residual = Z[np.ix_(rows, seen)] - p.centers[seen, j]
            root = np.linalg.cholesky(C[np.ix_(seen, seen)])
            scaled = np.linalg.solve(root, residual.T)
            joint[:, j] = -0.5 * (scaled**2).sum(axis=0) - np.log(np.diag(root)).sum()
            to_gaps = np.linalg.solve(root, C[np.ix_(seen, gaps)])
            X = Z[rows].copy()
            X[:, gaps] = p.centers[gaps, j] + scaled.T @ to_gaps
            completed.append((X, C[np.ix_(gaps, gaps)] - to_gaps.T @ to_gaps))
        joint += p.log_weights
        log_likelihood = logsumexp(joint, axis=1)
        total += float(v @ log_likelihood)
        R = np.exp(joint - log_likelihood[:, None]) * v[:, None]
        sizes += R.sum(axis=0)
        for j, (X, rest) in enumerate(completed):
            weighted = R[:, j, None] * X
            sums[:, j] += weighted.sum(axis=0)
            squares[j] += X.T @ weighted
            squares[j][np.ix_(gaps, gaps)] += R[:, j].sum() * rest
    return sums, sizes, squares, total


def _covariances(p: objects.MixtureParameters, j: int) -> Floats:
    if isinstance(p, objects.SharedGaussianParameters):
        return p.covariance
    assert isinstance(p, objects.FullGaussianParameters)  # noqa: S101 - for the type checker
    return np.asarray(p.covariances[j])
