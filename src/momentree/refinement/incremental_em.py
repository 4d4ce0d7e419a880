"""EM on a new batch of samples, with the sums of earlier batches."""

from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from momentree._types import Floats, Ints
from momentree.backends import RowBlocks, Rows, collected
from momentree.core.progress import iterations
from momentree.objects import MixtureParameters, MixtureSums
from momentree.refinement.em import column_sums, expected_statistics
from momentree.refinement.search import MixtureSearch

P = TypeVar("P", bound=MixtureParameters)
Bools: TypeAlias = NDArray[np.bool_]

MIN_SIZE = 5.0
"""Total weight that a new component needs; a component is absent only if at least as much was
expected of it."""
NEAR = 0.5
"""Components are near each other below this fraction of the median distance between them."""
TINY = 1e-300


@dataclass(frozen=True)
class Updated(Generic[P]):
    """A mixture after a batch.

    Attributes
    ----------
    parameters : MixtureParameters
        Parameters for all samples seen.
    statistics, sizes : ndarray of shape (p, k) and (k,)
        Expected statistics of the batch.
    to : ndarray of intp of shape (k_before,)
        Number of the component that each old one became; -1 if it made room for another.
    before : MixtureSums
        The sums of earlier batches without those of components that made room.
    unlike : float
        Fraction of the batch in components that are unlike all others but found no room.
    objective : float
        Free energy of Neal and Hinton, up to a constant, in nats.
    n_iter, converged : int, bool
        Steps of EM, and whether they reached the tolerance.
    """

    parameters: P
    statistics: Floats
    sizes: Floats
    to: Ints
    before: MixtureSums
    unlike: float
    objective: float
    n_iter: int
    converged: bool


def incremental_em(
    rows: Rows,
    start: P,
    before: MixtureSums,
    *,
    sample_weight: Floats,
    smoothing: float,
    max_iter: int,
    tol: float,
) -> Updated[P]:
    """Improve a mixture by the samples of a batch; those of earlier batches are known by sums.

    Alternate between the expected statistics (S, N) of the batch and the M-step for S_0 + S and
    N_0 + N, where S_0 and N_0 are the sums of earlier batches. Each step raises

        sum_i v_i log P[x_i] + S_0 . theta + N_0 . b + log prior,

    the free energy of [1]_ up to the entropy of the responsibilities of earlier samples, which
    remain as they were.

    Parameters
    ----------
    rows : Rows of shape (n, p)
        Sufficient statistics of the batch.
    start : MixtureParameters
        Parameters before the batch.
    before : MixtureSums
        Sums of earlier batches.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    smoothing : float > 0
        Strength of the prior in ``m_step``.
    max_iter : int >= 1
        Maximum number of steps.
    tol : float >= 0
        Stop when a step raises the objective by at most this fraction.

    Returns
    -------
    Updated
        The mixture, with the same components.

    Notes
    -----
    Incremental EM of [1]_, with a batch as the block of samples whose responsibilities change, and
    with as many steps as it needs. As every sample counts the same, the step size of stochastic
    approximation EM [2]_ is that of an average, weight of the batch over weight of all samples.
    Deterministic; time O(nnz k) for each step, memory O(p k + n k).

    References
    ----------
    .. [1] R. Neal, G. Hinton. A view of the EM algorithm that justifies incremental, sparse, and
       other variants. In Learning in Graphical Models, 1998.
    .. [2] O. Cappé, E. Moulines. On-line expectation-maximization algorithm for latent data models.
       Journal of the Royal Statistical Society B 71, 2009.
    """
    if isinstance(rows, RowBlocks):
        rows = rows.for_products(start.n_components)
    words = column_sums(rows, sample_weight)
    parameters, last, converged, n_iter = start, -np.inf, False, 0
    k = start.n_components
    S0, N0 = before.statistics, before.sizes
    for n_iter in iterations(max_iter):  # noqa: B007
        S, N, value = expected_statistics(rows, parameters, sample_weight, words)
        theta, offsets = _finite(parameters)
        value += float((S0 * theta).sum() + N0 @ offsets)
        value += parameters.log_prior(S0 + S, N0 + N, smoothing)
        gain, last = value - last, value
        if gain <= tol * abs(value):
            converged = True
            break
        parameters = parameters.m_step(S0 + S, N0 + N, smoothing)
    return Updated(parameters, S, N, np.arange(k), before, 0.0, last, n_iter, converged)


def renewing_em(
    rows: Rows,
    start: P,
    before: MixtureSums,
    *,
    column_scale: Floats | None,
    most: int,
    renew: bool = True,
    sample_weight: Floats,
    smoothing: float,
    unit: float,
    max_iter: int,
    tol: float,
) -> Updated[P]:
    """Like :func:`incremental_em`, but a component that vanished makes room for a new one.

    The batch alone is described by a mixture of its own. A component of it is new if it is far from
    all known ones, by more than half the median distance between these, and if separate parameters
    for it and any known component gain more than p / 2 log n nats, the penalty of BIC, with p the
    number of its nonzero statistics and n the weight of all samples. A known component is absent
    if no component of the batch is near it although at least five samples were expected. The
    largest new component takes the place of the smallest absent one, whose sums are dropped, and so
    on; further ones are added while there are fewer than `most`.

    Parameters
    ----------
    rows : Rows of shape (n, p)
        Sufficient statistics of the batch, in memory.
    start : MixtureParameters
        Parameters before the batch.
    before : MixtureSums
        Sums of earlier batches.
    column_scale : ndarray of shape (p,) or None
        Factor of each statistic in the moments that divide a component; zero excludes it. None
        does not search for new components.
    most : int >= 1
        Number of components, at most, or that of `start` if it is larger.
    renew : bool, default=True
        False only finds out which fraction of the batch is unlike all components.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    smoothing : float > 0
        Strength of the prior in ``m_step``.
    unit : float > 0
        Log-likelihood of one token, in nats: less than 1 for log-scaled counts.
    max_iter : int >= 1
        Maximum number of steps.
    tol : float >= 0
        As in :func:`incremental_em`.

    Returns
    -------
    Updated
        The mixture. Components that remain keep their numbers.

    Notes
    -----
    The mixture of the batch is found as by one start of :class:`MixtureSearch`, which takes about
    as long as EM from one random start.
    """
    k, most = start.n_components, max(most, start.n_components)
    to, unlike = np.arange(k), 0.0
    n_batch = float(sample_weight.sum())
    if column_scale is not None and most > 1 and n_batch >= 2 * MIN_SIZE:
        # One more than known, so that a further one need not share a component with others.
        growing = MixtureSearch(
            collected(rows), start, sample_weight, column_scale, most + 1, smoothing
        )
        alone = growing.search(brief=True)
        S, N, _ = expected_statistics(rows, alone, sample_weight, column_sums(rows, sample_weight))
        near, alike = _near(alone.centers, start.centers, start.signed)
        unknown = (N >= MIN_SIZE) & ~near.any(axis=1)
        expected = before.sizes / before.weight * n_batch >= MIN_SIZE
        absent = np.flatnonzero(expected & ~near[N >= MIN_SIZE].any(axis=0))
        absent = absent[np.argsort(before.sizes[absent], kind="stable")]
        found = np.flatnonzero(unknown)
        found = found[np.argsort(-N[found], kind="stable")]
        found = found[[_is_separate(S[:, i], N[i], start, before, unit) for i in found]]
        for i in reversed(range(1, len(found))):  # parts of one new component
            first = next((j for j in found[:i] if alike[j, found[i]]), None)
            if first is not None:
                S[:, first] += S[:, found[i]]
                N[first] += N[found[i]]
                found = np.delete(found, i)
        places = [*absent.tolist(), *range(k, most)][: len(found)] if renew else []
        unlike = float(N[found[len(places) :]].sum()) / n_batch
        if places:
            to = np.where(np.isin(to, places), -1, to)
            before = before.regrouped(to, max(k, *(place + 1 for place in places)))
            statistics, sizes = before.statistics.copy(), before.sizes.copy()
            statistics[:, places], sizes[places] = (
                S[:, found[: len(places)]],
                N[found[: len(places)]],
            )
            start = start.m_step(statistics, sizes, smoothing)
    updated = incremental_em(
        rows,
        start,
        before,
        sample_weight=sample_weight,
        smoothing=smoothing,
        max_iter=max_iter,
        tol=tol,
    )
    return replace(updated, to=to, before=before, unlike=unlike)


def _near(found: Floats, known: Floats, signed: bool) -> tuple[Bools, Bools]:
    """Return whether components are near known ones, and near each other; centers in columns."""
    P, Q = found.T, known.T
    if not signed:
        P, Q = (C / np.maximum(C.sum(axis=1, keepdims=True), TINY) for C in (P, Q))
    metric: Literal["euclidean", "cityblock"] = "euclidean" if signed else "cityblock"
    between = cdist(Q, Q, metric)[np.triu_indices(len(Q), 1)]
    least = NEAR * (float(np.median(between)) if len(between) else 2.0)
    return cdist(P, Q, metric) < least, cdist(P, P, metric) < least


def _is_separate(
    S: Floats, N: float, start: MixtureParameters, before: MixtureSums, unit: float
) -> bool:
    """Return whether a component differs from all known ones, by BIC."""
    likelihood = start.maximized_log_likelihood
    S0, N0 = before.statistics, before.sizes
    apart = likelihood(S[:, None], np.array([N])) + likelihood(S0, N0)
    gains = apart - likelihood(S[:, None] + S0, N + N0)
    penalty = 0.5 * np.count_nonzero(S) * np.log(max(before.weight + N, 2.0)) * unit
    return bool((gains > penalty).all())


def _finite(parameters: MixtureParameters) -> tuple[Floats, Floats]:
    """Return coefficients and offsets with large negative numbers in place of -inf."""
    return np.maximum(parameters.coefficients, -1e4), np.maximum(parameters.offsets, -1e4)
