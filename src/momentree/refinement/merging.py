"""Merge the components of a mixture whose union costs least likelihood."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from momentree._types import Floats, Ints
from momentree.core.ties import largest
from momentree.objects import MixtureParameters

TINY = 1e-300

MStep = Callable[[Floats, Floats], MixtureParameters]


class Merging:
    """Components of a mixture that are merged one pair after another.

    The loss of a pair is that of its log-likelihood to second order. With t the statistics,
    theta their coefficients and h = n_i n_j / (n_i + n_j), it is

        n_i KL(i, union) + n_j KL(j, union)  ~  h / 2 (E_i t - E_j t) . (theta_i - theta_j).

    Parameters
    ----------
    sums, sizes : ndarray of shape (p, k) and (k,)
        Sums of the statistics, and sizes, of the components.
    theta : ndarray of shape (p, k)
        Coefficients of the statistics.
    m_step : callable
        Maps sums and sizes of all components to their parameters.
    signed : bool, default=False
        Whether statistics may be negative.

    Notes
    -----
    Time O(p k^2) to start and O(p k) for each merge.
    """

    def __init__(
        self,
        sums: Floats,
        sizes: Floats,
        theta: Floats,
        m_step: MStep,
        *,
        signed: bool = False,
    ) -> None:
        self._sums, self._sizes = sums.copy(), np.maximum(sizes, TINY)
        self._total, self._n = sums.sum(axis=1), float(sizes.sum())
        self._m_step, self._least = m_step, -np.inf if signed else 0.0
        self._means = self._sums / self._sizes
        self._theta = theta.copy()
        self._products = self._means.T @ self._theta
        self._merged = np.zeros(len(sizes), dtype=bool)
        self.loss = self._losses(np.arange(len(sizes)))

    def merge(self, n_merges: int) -> tuple[Floats, Floats]:
        """Merge the pair of least loss `n_merges` times; return the sums and sizes left."""
        for _ in range(n_merges):
            i, j = np.unravel_index(largest(-self.loss.ravel()), self.loss.shape)
            self._unite(int(min(i, j)), int(max(i, j)))
        return self._sums[:, ~self._merged], self._sizes[~self._merged]

    def _unite(self, i: int, j: int) -> None:
        self._sums[:, i] += self._sums[:, j]
        self._sizes[i] += self._sizes[j]
        self._merged[j] = True
        sums, size = self._sums[:, i], self._sizes[i]
        self._means[:, i] = sums / size
        # The prior of smoothing is the mean of all samples, so these are the other component.
        two = np.stack([sums, np.maximum(self._total - sums, self._least)], axis=1)
        sizes = np.array([size, max(self._n - size, TINY)])
        self._theta[:, i] = self._m_step(two, sizes).coefficients[:, 0]
        self._products[i] = self._means[:, i] @ self._theta
        self._products[:, i] = self._theta[:, i] @ self._means
        self.loss[j], self.loss[:, j] = np.inf, np.inf
        self.loss[i] = self.loss[:, i] = self._losses(np.array([i]))[0]

    def _losses(self, of: Ints) -> Floats:
        """Return the losses of merging some components with each other one; inf with itself."""
        n, Q = self._sizes, self._products
        own = np.diag(Q)
        divergence = own[of, None] + own - Q[of] - Q[:, of].T
        loss = 0.5 * np.outer(n[of], n) / (n[of, None] + n) * divergence
        loss[np.arange(len(of)), of] = np.inf
        loss[:, self._merged] = np.inf
        return np.asarray(loss)
