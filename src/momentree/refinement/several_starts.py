"""EM from several starts, of which the most likely are continued."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from momentree._types import Floats
from momentree.backends import Block, RowBlocks
from momentree.core.progress import iterations
from momentree.core.ties import largest, largest_first
from momentree.objects import MixtureParameters
from momentree.refinement.em import Refined, column_sums, expected_statistics

P = TypeVar("P", bound=MixtureParameters)

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
        for _ in iterations(steps, at_most=False):
            runs.step()
        n_iter += steps
        order = runs.promising()[: max(FINALISTS, int(np.ceil(KEPT * len(names))))]
        runs, names = runs.of_runs(order), [names[i] for i in order]
    finals = [
        _continued(rows, start, sample_weight, smoothing, n_iter, max_iter, tol)
        for start in runs.parameters()
    ]
    best = int(largest([final.log_likelihood for final in finals]))
    return names[best], finals[best]


@dataclass
class _Runs(Generic[P]):
    """EM from several starts: after an E-step, with the log-likelihoods of the last three."""

    rows: RowBlocks
    family: type[P]
    weight: Floats
    smoothing: float
    sums: Floats  # (p, m, k)
    sizes: Floats  # (m, k)
    last: Floats  # (3, m)

    @classmethod
    def of(cls, rows: RowBlocks, starts: list[P], weight: Floats, smoothing: float) -> _Runs[P]:
        theta = np.stack([p.coefficients for p in starts], axis=1)
        offsets = np.stack([p.offsets for p in starts])
        sums, sizes, found = _expected(rows, theta, offsets, weight)
        last = np.stack([np.full(len(starts), -np.inf)] * 2 + [found])
        return cls(rows, type(starts[0]), weight, smoothing, sums, sizes, last)

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
        self.sums, self.sizes, found = _expected(self.rows, theta, offsets, self.weight)
        self.last = np.vstack([self.last[1:], found])

    def promising(self) -> list[int]:
        """Return the runs in the order of their limits, without duplicates."""
        limits = [_limit(*values) for values in self.last.T.tolist()]
        kept = list[int]()
        for i in largest_first(limits).tolist():
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


def _expected(
    rows: RowBlocks, theta: Floats, offsets: Floats, weight: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return expected sums (p, m, k), sizes (m, k) and log-likelihoods (m,) of m runs."""
    p, m, k = theta.shape
    together = max(1, TOGETHER // max(1, k * rows.shape[0]))
    if m > together:
        parts = [
            _expected(rows, theta[:, i : i + together], offsets[i : i + together], weight)
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


def _continued(
    rows: RowBlocks,
    start: P,
    weight: Floats,
    smoothing: float,
    n_iter: int,
    max_iter: int,
    tol: float,
) -> Refined[P]:
    """Run EM to convergence; return the best parameters."""
    words, least = column_sums(rows, weight), tol * float(weight.sum())
    best, last, parameters, converged = start, -np.inf, start, False
    steps = max(max_iter - n_iter, 1)
    for at in iterations(steps):  # noqa: B007
        sums, sizes, found = expected_statistics(rows, parameters, weight, words)
        gain = found - last
        if gain > 0:
            best, last = parameters, found
        if gain <= least:
            converged = True
            break
        parameters = parameters.m_step(sums, sizes, smoothing)
    return Refined(best, last, n_iter + at, converged)
