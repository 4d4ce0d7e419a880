"""Parameters of the single-topic model, a mixture of multinomials (S section 2)."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.special import xlogy

from momentree._types import Floats
from momentree.objects.mixtures import MixtureParameters, check_sums


class TopicParameters(MixtureParameters):
    """Parameters of a single-topic model (a mixture of multinomials).

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_i = P[topic i], sum 1.
    centers : ndarray of shape (d, k)
        mu_i = P[word | topic i] in columns, each >= 0 with sum 1.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sums("centers", self.centers.sum(axis=0))

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j, shape (k,)."""
        return self.log_weights

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the topics mu_wj = (S_wj + smoothing) / sum_w (S_wj + smoothing)."""
        C = sums + smoothing
        return cls(sizes / sizes.sum(), C / C.sum(axis=0))

    @classmethod
    def limited_smoothing(cls, smoothing: float, total: float, shape: tuple[int, ...]) -> float:
        """Return min(smoothing, total / (4 d k)).

        A topic has at most a quarter as many pseudo-counts as an average topic has counts. With
        more of them, EM would leave only the largest topics of short documents.
        """
        d, k = shape
        return min(smoothing, total / (4.0 * d * k)) if total > 0 else smoothing

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:  # noqa: ARG002
        """Return smoothing sum_wj log mu_wj, the log density of Dirichlet(smoothing + 1)."""
        return smoothing * float(self.coefficients.sum())

    @classmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:  # noqa: ARG003
        """Return sum_w S_w log(S_w / sum S) of each group, without multinomial coefficients."""
        total = sums.sum(axis=0)
        logs = np.log(np.where(sums > 0, sums, 1.0))  # `xlogy` takes several times as long
        return np.asarray((sums * logs).sum(axis=0) - xlogy(total, total))
