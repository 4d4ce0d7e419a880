"""Find a mixture of k components without a random start: divide, merge, exchange."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends import RowBlocks
from momentree.objects import MixtureParameters
from momentree.refinement.em import Refined, column_sums, em, expected_statistics
from momentree.refinement.halves import TINY, Halves, halves

P = TypeVar("P", bound=MixtureParameters)

GROWTH = 0.5
"""Fraction of the components that are divided at once."""
STEPS = 2
"""EM steps after each round of divisions or merges."""
LEAST_GAIN = 1e-9
"""Gain of a division per sample; a smaller one is rounding error."""
SLOW = 10
"""Steps until EM converges for one further search: random starts, too, need more steps then."""
FURTHER = 2
"""The most further searches; they grow to 2 k and 3 k components."""
EXCHANGED = 0.25
"""Fraction of the components that are exchanged at once, at most."""
FAILURES = 3
"""Single exchanges that may fail in a row."""
TRIAL = 30
"""Most EM steps of an exchange."""


@dataclass(frozen=True)
class Found(Generic[P]):
    """A mixture with the expected statistics and the most likely component of each sample."""

    parameters: P
    sums: Floats
    sizes: Floats
    log_likelihood: float
    labels: Ints


@dataclass(frozen=True)
class Growing(Generic[P]):
    """Search for the most likely mixture of a family, from one component on.

    Attributes
    ----------
    rows : RowBlocks of shape (n, p)
        Sufficient statistics of the samples, in canonical order.
    family : type of MixtureParameters
        Family of the components.
    sample_weight : ndarray of shape (n,)
        Weights >= 0.
    column_scale : ndarray of shape (p,)
        Factor of each statistic in the moments that divide a component; zero excludes it.
    n_components : int >= 1
        k.
    smoothing : float > 0
        As in ``m_step``.

    Notes
    -----
    Deterministic. As the number of components grows by half in each round, all rounds together
    take about as long as six EM steps.
    """

    rows: RowBlocks
    family: type[P]
    sample_weight: Floats
    column_scale: Floats
    n_components: int
    smoothing: float

    def search(self) -> P:
        """Return the most likely mixture found; it has fewer components if samples are equal.

        Grow to k components and exchange some. If EM needed many steps, grow on to 2 k, merge back
        to k and exchange again, and the same with 3 k: the slower EM converges, the more optima
        there are, and the longer any search takes.
        """
        k = self.n_components
        grown = self.grown(self._first(), k)
        refined = self._em(grown.parameters)
        best = self.exchanged(self._expected(refined.parameters))
        for times in range(2, 2 + min(FURTHER, refined.n_iter // SLOW)):
            grown = self.grown(grown, times * k)
            if len(grown.sizes) <= k:
                break
            refined = self._em(self.merged(grown, k).parameters)
            found = self.exchanged(self._expected(refined.parameters))
            if found.log_likelihood > best.log_likelihood:
                best = found
        return best.parameters

    def grown(self, found: Found[P], n_components: int) -> Found[P]:
        """Divide the components that gain most, and run a few EM steps, until there are k."""
        while (n := len(found.sizes)) < n_components:
            two = self._halves(found)
            most = min(n_components - n, math.ceil(GROWTH * n))
            chosen = np.argsort(-two.gain, kind="stable")[:most]
            chosen = chosen[two.gain[chosen] > LEAST_GAIN * self.sample_weight.sum()]
            if not len(chosen):
                break
            found = self._stepped(self._replaced(found, chosen, [two.of(chosen)]), STEPS)
        return found

    def merged(self, found: Found[P], n_components: int) -> Found[P]:
        """Merge the pair of least loss until there are k components, in two rounds."""
        for rounds in (2, 1):
            n = math.ceil((len(found.sizes) - n_components) / rounds)
            sums, sizes = found.sums, found.sizes
            for _ in range(n):
                loss = self._losses(sums, sizes)
                i, j = np.unravel_index(loss.argmin(), loss.shape)
                sums[:, i] += sums[:, j]
                sizes[i] += sizes[j]
                sums, sizes = np.delete(sums, j, axis=1), np.delete(sizes, j)
            found = self._stepped(self._m_step(sums, sizes), STEPS)
        return found

    def exchanged(self, found: Found[P]) -> Found[P]:
        """Merge pairs and divide others as long as this raises the likelihood.

        An exchange merges components i and j and divides c. Those of positive gain are made at
        once, and fewer if that fails; then single ones, the best first.
        """
        most, failed = max(1, math.ceil(EXCHANGED * len(found.sizes))), 0
        if len(found.sizes) < 3:
            return found
        candidates, two = self._exchanges(found)
        tried: set[tuple[int, ...]] = set()
        while failed < FAILURES:
            chosen = candidates.disjoint(most, tried)
            if not chosen:
                break
            i, j, c = np.array(chosen).T
            merged = found.sums[:, i] + found.sums[:, j], found.sizes[i] + found.sizes[j]
            gone = np.concatenate([i, j, c])
            trial = self._trial(
                self._replaced(found, gone, [merged, two.of(c)]), found.log_likelihood
            )
            if trial is not None:
                found, failed, tried = trial, 0, set()
                candidates, two = self._exchanges(found)
                continue
            if len(chosen) == 1:
                failed += 1
                tried.add(chosen[0])
            most = max(1, len(chosen) // 3)
        return found

    # --- steps -----------------------------------------------------------------------------------

    def _first(self) -> Found[P]:
        sums, size = self._words, self.sample_weight.sum()
        return self._expected(self._m_step(sums[:, None], np.array([size])))

    def _m_step(self, sums: Floats, sizes: Floats) -> P:
        return self.family.m_step(sums, np.maximum(sizes, TINY), self.smoothing)

    def _expected(self, parameters: P) -> Found[P]:
        v = self.sample_weight
        labels = np.empty(len(v), dtype=np.intp)
        return Found(
            parameters, *expected_statistics(self._dense, parameters, v, self._words, labels), labels
        )

    @cached_property
    def _dense(self) -> RowBlocks:
        return self.rows.for_products(self.n_components)

    @cached_property
    def _words(self) -> Floats:
        return column_sums(self.rows, self.sample_weight)

    def _stepped(self, parameters: P, n_steps: int) -> Found[P]:
        found = self._expected(parameters)
        for _ in range(n_steps):
            found = self._expected(self._m_step(found.sums, found.sizes))
        return found

    def _em(self, parameters: P) -> Refined[P]:
        return em(
            self._dense,
            parameters,
            sample_weight=self.sample_weight,
            smoothing=self.smoothing,
            max_iter=TRIAL,
        )

    def _trial(self, parameters: P, to_exceed: float) -> Found[P] | None:
        """Run EM until the likelihood exceeds a value; None if it does not, or will not.

        It will not if the limit of the last three values by Aitken's formula is below that value.
        """
        found, before = self._expected(parameters), -np.inf
        rise = np.inf
        for step in range(TRIAL):
            if found.log_likelihood > to_exceed:
                return found
            last_rise, rise = rise, found.log_likelihood - before
            if step > 3:
                ratio = min(max(rise / max(last_rise, TINY), 0.0), 0.98)
                if found.log_likelihood + rise * ratio / (1.0 - ratio) < to_exceed:
                    return None
            before = found.log_likelihood
            found = self._expected(self._m_step(found.sums, found.sizes))
        return None

    # --- divisions and merges --------------------------------------------------------------------

    def _halves(self, found: Found[P]) -> Halves:
        return halves(
            self.rows,
            found.labels,
            len(found.sizes),
            self.family,
            sample_weight=self.sample_weight,
            column_scale=self.column_scale,
            smoothing=self.smoothing,
        )

    def _replaced(self, found: Found[P], gone: Ints, new: list[tuple[Floats, Floats]]) -> P:
        """Return parameters with some components replaced by others, given by their sums."""
        kept = np.delete(np.arange(len(found.sizes)), gone)
        sums = np.hstack([found.sums[:, kept], *(sums for sums, _ in new)])
        return self._m_step(sums, np.concatenate([found.sizes[kept], *(n for _, n in new)]))

    def _losses(self, sums: Floats, sizes: Floats) -> Floats:
        """Return the log-likelihood lost by merging each pair i < j, to second order; else inf.

        With h = n_i n_j / (n_i + n_j), the loss n_i KL(i, m) + n_j KL(j, m) is about h / 2 times
        the symmetric divergence (E_i t - E_j t) . (theta_i - theta_j) of an exponential family.
        """
        n = np.maximum(sizes, TINY)
        products = (sums / n).T @ self._m_step(sums, sizes).coefficients
        own = np.diag(products)
        divergence = own[:, None] + own - products - products.T
        loss = 0.5 * np.outer(n, n) / (n[:, None] + n) * divergence
        loss[np.tril_indices(len(n))] = np.inf
        return np.asarray(loss)

    def _exchanges(self, found: Found[P]) -> tuple[Exchanges, Halves]:
        """Return the possible exchanges, and the halves of all components."""
        k, two = len(found.sizes), self._halves(found)
        loss = self._losses(found.sums, found.sizes)
        pairs = np.argsort(loss, axis=None, kind="stable")[: min(4 * k, k * (k - 1) // 2)]
        i, j = np.unravel_index(pairs, loss.shape)
        net = loss[i, j][:, None] - two.gain
        at = np.arange(len(i))
        net[at, i] = net[at, j] = np.inf
        order = np.argsort(net, axis=None, kind="stable")[: np.count_nonzero(np.isfinite(net))]
        pair, c = np.unravel_index(order, net.shape)
        return Exchanges(np.stack([i[pair], j[pair], c], axis=1), net[pair, c]), two


@dataclass(frozen=True)
class Exchanges:
    """Exchanges (i, j, c): merge components i and j, divide c; least net loss first."""

    of: Ints
    loss: Floats

    def disjoint(self, most: int, tried: set[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Choose exchanges that share no component, with a net gain except for the first."""
        chosen: list[tuple[int, ...]] = []
        used: set[int] = set()
        for at, loss in enumerate(self.loss):
            if len(chosen) == most or (chosen and loss > 0):
                break
            one = tuple(self.of[at].tolist())
            if one not in tried and used.isdisjoint(one):
                chosen.append(one)
                used.update(one)
        return chosen
