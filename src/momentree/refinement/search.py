"""Search for the most likely mixture: by divisions, merges and exchanges, or several starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends import Block, RowBlocks
from momentree.core import progress, ties
from momentree.objects import Family, MixtureParameters
from momentree.refinement.em import Refined, climb, column_sums, expected_statistics
from momentree.refinement.proposals import TINY, Halves, Merging, halves

P = TypeVar("P", bound=MixtureParameters)

GROWTH = 0.5
"""Fraction of the components that are divided at once."""
STEPS = 2
"""EM steps after each round of divisions or merges."""
DIVISION = 4.0
"""Time of dividing all components, in EM steps."""
BASE, PER_STEP = 30.0, 5.0
"""Most time of the search, in EM steps, and for each step until EM first converged. Ten random
starts take at least six steps each, and more where EM converges slowly."""
MANY = 25
"""From this many components on, random starts end so much lower that one search is enough."""
FURTHER = 2
"""The most further searches; they grow to 2 k and 3 k components."""
FURTHER_TIME = 26.0
"""Time of growing and merging in a further search, in EM steps."""
EXCHANGED = 0.25
"""Fraction of the components that are exchanged at once, at most."""
FAILURES = 3
"""Single exchanges that may fail in a row."""
MAX_STEPS = 30
"""EM steps of a mixture, at most, before exchanges and in each of them."""
TOL = 1e-5
"""EM has converged if a step raises the log posterior by less than this fraction."""


@dataclass(frozen=True)
class Candidate(Generic[P]):
    """A mixture with the expected statistics and the most likely component of each sample.

    Its log posterior, which EM raises, is the log-likelihood plus the log prior of smoothing.
    """

    parameters: P
    sums: Floats
    sizes: Floats
    log_posterior: float
    labels: Ints


@dataclass
class MixtureSearch(Generic[P]):
    """Search for the most likely mixture of a family, from one component on.

    Attributes
    ----------
    rows : RowBlocks of shape (n, p)
        Sufficient statistics of the samples, in canonical order.
    family : type of MixtureParameters, or MixtureParameters
        Family of the components: a class, or any member of a family with settings.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    column_scale : ndarray of shape (p,)
        Factor of each statistic in the moments that divide a component; zero excludes it.
    n_components : int >= 1
        k.
    smoothing : float > 0
        As in ``m_step``.
    spent : float
        Time of the search so far, in EM steps with k components.

    Notes
    -----
    Deterministic. As the number of components grows by half in each round, all rounds together
    take about as long as six EM steps.
    """

    rows: RowBlocks
    family: Family[P]
    sample_weight: Floats
    column_scale: Floats
    n_components: int
    smoothing: float
    spent: float = field(default=0.0, init=False)

    def search(self, others: Sequence[P] = (), *, brief: bool = False) -> P:
        """Return the most likely mixture found.

        Parameters
        ----------
        others : sequence of MixtureParameters, default=()
            Further starts with k components.
        brief : bool, default=False
            Whether to grow to k components only once, and to exchange some in as much time as fast
            EM would take.

        Returns
        -------
        MixtureParameters
            k components, or fewer if samples are equal.

        Notes
        -----
        Grow to k components and exchange some. If EM needed many steps, grow on to 2 k, merge back
        to k and exchange again, and the same with 3 k: the slower EM converges, the more optima
        there are, and the longer any search takes.
        """
        k = self.n_components
        grown = self._grown(self._first(), k)
        refined, n_steps = self._converged(grown)
        slow = 0.0 if brief else PER_STEP if k < MANY else 1.0
        self._budget = BASE + n_steps * slow
        best = self._exchanged(refined)
        for start in others:
            found = self._exchanged(self._converged(self._expected(start))[0])
            if ties.exceeds(found.log_posterior, best.log_posterior):
                best = found
        for times in range(2, 2 + FURTHER * (k < MANY and not brief)):
            if self.spent + FURTHER_TIME + n_steps > self._budget:
                break
            grown = self._grown(grown, times * k)
            if len(grown.sizes) <= k:
                break
            found = self._exchanged(self._converged(self._merged(grown, k))[0])
            if ties.exceeds(found.log_posterior, best.log_posterior):
                best = found
        return best.parameters

    def exchanged(self, parameters: P, time: float) -> P:
        """Return a mixture after exchanges that raise its posterior; itself if there are none.

        Parameters
        ----------
        parameters : MixtureParameters
            A mixture, after EM.
        time : float
            No exchange is tried after this time, in EM steps.

        Returns
        -------
        MixtureParameters
            As many components.
        """
        self._budget = time
        return self._exchanged(self._expected(parameters)).parameters

    def _grown(self, found: Candidate[P], n_components: int) -> Candidate[P]:
        """Divide the components that gain most, and run a few EM steps, until there are k."""
        two: Halves | None = None
        while (n := len(found.sizes)) < n_components:
            two = self._halves(found, two)
            most = min(n_components - n, math.ceil(GROWTH * n))
            chosen = ties.largest_first(two.gain)[:most]
            chosen = chosen[np.isfinite(two.gain[chosen])]
            if not len(chosen):
                break
            new = two.of(chosen)
            found = self._stepped(self._replaced(found, chosen, *new.components), STEPS)
            two = two.of(np.delete(np.arange(n), chosen))
        return found

    def _merged(self, found: Candidate[P], n_components: int) -> Candidate[P]:
        """Merge the pair of least loss until there are k components, in two rounds."""
        for rounds in (2, 1):
            n = math.ceil((len(found.sizes) - n_components) / rounds)
            sums, sizes = self._merging(found).merge(n)
            found = self._stepped(self._m_step(sums, sizes), STEPS)
        return found

    def _exchanged(self, found: Candidate[P]) -> Candidate[P]:
        """Merge pairs and divide others as long as this raises the posterior.

        An exchange merges components i and j and divides c. Those of positive gain are made at
        once, and fewer if that fails; then single ones, the best first.
        """
        most, failed = max(1, math.ceil(EXCHANGED * len(found.sizes))), 0
        if len(found.sizes) < 3:
            return found
        two = self._halves(found)
        candidates = self._exchanges(found, two)
        tried: set[tuple[int, ...]] = set()
        while failed < FAILURES and self.spent < self._budget:
            chosen = _disjoint(*candidates, most, tried)
            if not chosen:
                break
            i, j, c = np.array(chosen).T
            new, gone = two.of(c), np.concatenate([i, j, c])
            sums, sizes = new.components
            sums = np.hstack([found.sums[:, i] + found.sums[:, j], sums])
            sizes = np.concatenate([found.sizes[i] + found.sizes[j], sizes])
            trial = self._trial(self._replaced(found, gone, sums, sizes), found.log_posterior)
            if trial is not None:
                two = self._halves(trial, two.of(np.delete(np.arange(len(found.sizes)), gone)))
                found, failed, tried = trial, 0, set()
                candidates = self._exchanges(found, two)
                continue
            if len(chosen) == 1:
                failed += 1
                tried.add(chosen[0])
            most = max(1, len(chosen) // 3)
        return found

    # --- steps -----------------------------------------------------------------------------------

    def _first(self) -> Candidate[P]:
        sums, size = self._words, self.sample_weight.sum()
        return self._expected(self._m_step(sums[:, None], np.array([size])))

    def _m_step(self, sums: Floats, sizes: Floats) -> P:
        return self.family.m_step(sums, np.maximum(sizes, TINY), self.smoothing)

    def _expected(self, parameters: P) -> Candidate[P]:
        v = self.sample_weight
        self.spent += parameters.n_components / self.n_components
        labels = np.empty(len(v), dtype=np.intp)
        dense = self._dense
        sums, sizes, value = expected_statistics(dense, parameters, v, self._words, labels)
        value += parameters.log_prior(sums, sizes, self.smoothing)
        return Candidate(parameters, sums, sizes, value, labels)

    @cached_property
    def _dense(self) -> RowBlocks:
        return self.rows.for_products(self.n_components)

    @cached_property
    def _words(self) -> Floats:
        return column_sums(self.rows, self.sample_weight)

    def _stepped(self, parameters: P, n_steps: int) -> Candidate[P]:
        found = self._expected(parameters)
        for _ in range(n_steps):
            found = self._expected(self._m_step(found.sums, found.sizes))
        return found

    def _converged(self, found: Candidate[P]) -> tuple[Candidate[P], int]:
        """Run EM until the posterior rises by less than a fraction; return the steps as well."""
        for n_steps in range(1, MAX_STEPS + 1):  # noqa: B007
            last = found.log_posterior
            found = self._expected(self._m_step(found.sums, found.sizes))
            if found.log_posterior - last <= TOL * abs(last):
                break
        return found, n_steps

    def _trial(self, parameters: P, to_exceed: float) -> Candidate[P] | None:
        """Run EM until the posterior exceeds a value; None if it does not, or will not.

        It will not if the limit of the last three values by Aitken's formula is below that value.
        """
        found, before = self._expected(parameters), -np.inf
        rise = np.inf
        for step in range(MAX_STEPS):
            if ties.exceeds(found.log_posterior, to_exceed):
                return found
            last_rise, rise = rise, found.log_posterior - before
            if step > 3:
                ratio = min(max(rise / max(last_rise, TINY), 0.0), 0.98)
                if found.log_posterior + rise * ratio / (1.0 - ratio) < to_exceed:
                    return None
            before = found.log_posterior
            found = self._expected(self._m_step(found.sums, found.sizes))
        return None

    # --- divisions and merges --------------------------------------------------------------------

    def _halves(self, found: Candidate[P], known: Halves | None = None) -> Halves:
        """Return the halves of all components; those of the first ones may be known."""
        k, v, rows, labels = len(found.sizes), self.sample_weight, self.rows, found.labels
        first = 0 if known is None else len(known.gain)
        others = np.zeros(rows.shape[1]), 0.0
        if first:
            here = np.flatnonzero(labels >= first)
            rows, v, labels = rows.take(here), v[here], labels[here] - first
            others = self._words - column_sums(rows, v), float(self.sample_weight.sum() - v.sum())
        self.spent += DIVISION * (k - first) / self.n_components
        two = halves(
            rows,
            labels,
            k - first,
            self.family,
            sample_weight=v,
            column_scale=self.column_scale,
            smoothing=self.smoothing,
            others=others,
        )
        return two if known is None else known.followed_by(two)

    def _replaced(self, found: Candidate[P], gone: Ints, sums: Floats, sizes: Floats) -> P:
        """Return parameters with some components replaced by others, which come last."""
        kept = np.delete(np.arange(len(found.sizes)), gone)
        sums = np.hstack([found.sums[:, kept], sums])
        return self._m_step(sums, np.concatenate([found.sizes[kept], sizes]))

    def _merging(self, found: Candidate[P]) -> Merging:
        theta, signed = found.parameters.coefficients, self.family.signed
        return Merging(found.sums, found.sizes, theta, self._m_step, signed=signed)

    def _exchanges(self, found: Candidate[P], two: Halves) -> tuple[Ints, Floats]:
        """Return exchanges and their net losses, least first.

        An exchange (i, j, c) merges components i and j and divides c.
        """
        k = len(found.sizes)
        loss = self._merging(found).loss
        loss[np.tril_indices(k)] = np.inf
        pairs = ties.largest_first(-loss.ravel())[: min(4 * k, k * (k - 1) // 2)]
        i, j = np.unravel_index(pairs, loss.shape)
        net = loss[i, j][:, None] - two.gain
        at = np.arange(len(i))
        net[at, i] = net[at, j] = np.inf
        order = ties.largest_first(-net.ravel())[: np.count_nonzero(np.isfinite(net))]
        pair, c = np.unravel_index(order, net.shape)
        return np.stack([i[pair], j[pair], c], axis=1), net[pair, c]


def _disjoint(
    exchanges: Ints, losses: Floats, most: int, tried: set[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """Choose exchanges that share no component, with a net gain except for the first."""
    chosen: list[tuple[int, ...]] = []
    used: set[int] = set()
    for exchange, loss in zip(exchanges, losses, strict=True):
        if len(chosen) == most or (chosen and loss > 0):
            break
        components = tuple(exchange.tolist())
        if components not in tried and used.isdisjoint(components):
            chosen.append(components)
            used.update(components)
    return chosen


ROUNDS = (3, 6, 12)
"""Steps of EM from each remaining start, before fewer remain."""
KEPT = 0.5
"""Fraction of the starts that remain after each round."""
FINALISTS = 2
"""Starts from which EM runs to convergence."""
TOGETHER = 1 << 22
"""Responsibilities that are computed at once: 32 MB."""
ALIKE = 0.005
"""Largest difference of the fractions of components, and of the mean log-likelihood in nats, of
runs that count as one."""
FASTEST = 0.95
"""Largest assumed ratio of the rises of two EM steps: EM may slow down further."""


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

    All starts take three steps; the more promising half takes six more, and half of those twelve
    more. EM then runs to convergence from the two that remain. Promising is a high limit of the
    log-likelihood, extrapolated from the last three values by Aitken's formula. Of equal starts the
    earlier remains.

    Parameters
    ----------
    rows : RowBlocks of shape (n, p)
        Sufficient statistics of the samples.
    starts : mapping of str to MixtureParameters
        At least one. Those with fewer components than others are left out.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    smoothing : float >= 0
        Strength of the prior in ``m_step``.
    max_iter : int >= 1
        Maximum number of steps.
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
    A floor of variances, or a prior, may lower the likelihood; the best parameters of the last
    phase count. Runs are computed together, with one product with the data for all; a prior is then
    that of all runs.
    """
    k = max(start.n_components for start in starts.values())
    names = [name for name, start in starts.items() if start.n_components == k]
    runs = _Runs.of(rows, [starts[name] for name in names], sample_weight, smoothing)
    n_iter = 1
    for steps in ROUNDS if len(names) > 1 else ():
        steps = min(steps, max_iter - n_iter)
        for _ in progress.iterations(steps, at_most=False):
            runs.step()
        n_iter += steps
        order = runs.promising()[: max(FINALISTS, int(np.ceil(KEPT * len(names))))]
        runs, names = runs.of_runs(order), [names[i] for i in order]
    finals = [
        _continue(rows, start, sample_weight, smoothing, n_iter, max_iter, tol)
        for start in runs.parameters()
    ]
    best = int(ties.largest([final.log_likelihood for final in finals]))
    return names[best], finals[best]


@dataclass
class _Runs(Generic[P]):
    """EM from several starts: after an E-step, with the log-likelihoods of the last three."""

    rows: RowBlocks
    family: Family[P]
    weight: Floats
    smoothing: float
    sums: Floats  # (p, m, k)
    sizes: Floats  # (m, k)
    last: Floats  # (3, m)

    @classmethod
    def of(cls, rows: RowBlocks, starts: list[P], weight: Floats, smoothing: float) -> _Runs[P]:
        theta = np.stack([p.coefficients for p in starts], axis=1)
        offsets = np.stack([p.offsets for p in starts])
        sums, sizes, found = _expected_of_runs(rows, theta, offsets, weight)
        last = np.stack([np.full(len(starts), -np.inf)] * 2 + [found])
        return cls(rows, starts[0], weight, smoothing, sums, sizes, last)

    def of_runs(self, order: list[int]) -> _Runs[P]:
        """Return some of the runs."""
        return replace(
            self, sums=self.sums[:, order], sizes=self.sizes[order], last=self.last[:, order]
        )

    def parameters(self) -> list[P]:
        """Return the parameters after the next M-step."""
        m = len(self.sizes)
        return [
            self.family.m_step(self.sums[:, i], self.sizes[i], self.smoothing) for i in range(m)
        ]

    def step(self) -> None:
        """Take one M-step, and the next E-step."""
        theta, offsets = self.family.several(self.sums, self.sizes, self.smoothing)
        self.sums, self.sizes, found = _expected_of_runs(self.rows, theta, offsets, self.weight)
        self.last = np.vstack([self.last[1:], found])

    def promising(self) -> list[int]:
        """Return the runs in the order of their limits, without duplicates."""
        limits = [_limit(*values) for values in self.last.T.tolist()]
        kept = list[int]()
        for i in ties.largest_first(limits).tolist():
            if not any(self._same(i, j) for j in kept):
                kept.append(i)
        return kept

    def _same(self, i: int, j: int) -> bool:
        """Return whether two runs are about to reach the same optimum."""
        n = float(self.sizes[i].sum())
        sizes = np.abs(np.sort(self.sizes[i]) - np.sort(self.sizes[j])).max()
        likelihoods = abs(float(self.last[-1, i] - self.last[-1, j]))
        return bool(sizes <= ALIKE * n and likelihoods <= ALIKE * n)


def _limit(first: float, second: float, third: float) -> float:
    """Return the limit of log-likelihoods by Aitken's formula."""
    rise, before = third - second, second - first
    if not np.isfinite(before) or rise <= 0 or before <= 0:
        return third
    ratio = min(rise / before, FASTEST)
    return third + rise * ratio / (1.0 - ratio)


def _expected_of_runs(
    rows: RowBlocks, theta: Floats, offsets: Floats, weight: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return expected sums (p, m, k), sizes (m, k) and log-likelihoods (m,) of m runs."""
    p, m, k = theta.shape
    together = max(1, TOGETHER // max(1, k * rows.shape[0]))
    if m > together:
        parts = [
            _expected_of_runs(rows, theta[:, i : i + together], offsets[i : i + together], weight)
            for i in range(0, m, together)
        ]
        sums, sizes, found = zip(*parts, strict=True)
        return np.concatenate(sums, axis=1), np.concatenate(sizes), np.concatenate(found)
    flat, flat_offsets = np.ascontiguousarray(theta.reshape(p, m * k)), offsets.reshape(-1, 1)

    def kernel(B: Block) -> Floats:
        v = weight[B.at]
        joint = (B.dot(flat).T + flat_offsets).reshape(m, k, len(v))
        top = joint.max(axis=1, keepdims=True)
        joint -= top
        R = np.exp(joint, out=joint)
        mass = R.sum(axis=1, keepdims=True)
        R *= v / mass
        R = R.reshape(m * k, len(v))
        out = np.zeros((p + 2, m * k))
        out[:p] = B.tdot(R.T)
        out[p] = R.sum(axis=1)
        out[p + 1, :m] = (top + np.log(mass))[:, 0] @ v
        return out

    total = rows.sum(kernel)
    return total[:p].reshape(p, m, k), total[p].reshape(m, k), total[p + 1, :m]


def _continue(
    rows: RowBlocks,
    start: P,
    weight: Floats,
    smoothing: float,
    n_iter: int,
    max_iter: int,
    tol: float,
) -> Refined[P]:
    """Run EM to convergence; return the best parameters."""
    words = column_sums(rows, weight)

    def step(parameters: P) -> tuple[float, Callable[[], P]]:
        sums, sizes, value = expected_statistics(rows, parameters, weight, words)
        return value, lambda: parameters.m_step(sums, sizes, smoothing)

    least = tol * float(weight.sum())
    refined = climb(start, step, max_iter=max(max_iter - n_iter, 1), least=least)
    return replace(refined, n_iter=n_iter + refined.n_iter)
