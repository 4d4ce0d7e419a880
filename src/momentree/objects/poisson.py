"""Parameters of a mixture of independent Poisson variables (T section 1.2)."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.special import xlogy

from momentree._types import Floats
from momentree.objects.mixtures import MixtureParameters


class PoissonParameters(MixtureParameters):
    """Parameters of a mixture of independent Poisson variables (Poisson naive Bayes).

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_i = P[component i], sum 1.
    centers : ndarray of shape (d, k)
        mu_i = E[x | component i] in columns, >= 0.
    """

    @property
    def coefficients(self) -> Floats:
        """Theta = log mu, shape (d, k).

        A feature with mean zero in all components has the same finite coefficient in each, so
        that it does not affect posteriors of new samples.
        """
        known = self.centers.max(axis=1, keepdims=True) > 0
        return np.where(known, super().coefficients, np.log(np.finfo(np.float64).tiny))

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j - sum_w mu_wj, shape (k,)."""
        return np.asarray(self.log_weights - self.centers.sum(axis=0))

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the means mu_wj = (S_wj + smoothing m_w) / (N_j + smoothing).

        m is the mean of all samples: the prior adds `smoothing` average samples to each component.
        """
        mean = sums.sum(axis=1, keepdims=True) / sizes.sum()
        return cls(sizes / sizes.sum(), (sums + smoothing * mean) / (sizes + smoothing))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return smoothing sum_wj (m_w log mu_wj - mu_wj), the log density of the Gamma prior."""
        mean = sums.sum(axis=1, keepdims=True) / sizes.sum()
        return smoothing * float((xlogy(mean, self.centers) - self.centers).sum())

    @classmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return sum_w S_w log(S_w / N) - S_w of each group, without factorials of counts."""
        return np.asarray((xlogy(sums, sums) - xlogy(sums, sizes) - sums).sum(axis=0))
