"""The result of a fit by moments: estimates, standard errors and confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtri

from momentree._types import Floats
from momentree._validation import check_number
from momentree.messages import Message


@dataclass(frozen=True)
class MomentFit:
    r"""Parameters of a distribution, estimated from the mean and variance of a sample.

    If :math:`\theta = g(m)` with sample moments m, the delta method gives

    .. math:: \mathrm{Cov}\, \hat\theta = \frac{1}{n}\, G\, S\, G^T,

    with G the derivative of g and S the sample covariance of the terms that m averages. S needs no
    model: standard errors are valid even if the data have another distribution, for the parameters
    that have the same mean and variance.

    Attributes
    ----------
    distribution : str
        "normal", "binomial", "poisson", "gamma" or "uniform".
    parameters : tuple of str
        Names of the parameters.
    values : ndarray of shape (p,)
        Estimates.
    covariance : ndarray of shape (p, p)
        Estimated covariance of the estimates.
    n_samples : float
        Number of samples, or the sum of their weights.
    notes : tuple of Message
        What in the data contradicts the distribution.
    """

    distribution: str
    parameters: tuple[str, ...]
    values: Floats
    covariance: Floats
    n_samples: float
    notes: tuple[Message, ...] = ()

    @property
    def estimates(self) -> Mapping[str, float]:
        """Estimates by name."""
        return dict(zip(self.parameters, self.values.tolist(), strict=True))

    @property
    def standard_errors(self) -> Mapping[str, float]:
        """Standard errors by name, in the units of the parameters."""
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return dict(zip(self.parameters, errors.tolist(), strict=True))

    def confidence_intervals(self, level: float = 0.95) -> Mapping[str, tuple[float, float]]:
        """Return confidence intervals by name.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
            Confidence level of each interval.

        Returns
        -------
        dict of str to (low, high)
            Intervals from the normal approximation: of the logarithm for positive parameters, of
            the log odds for probabilities, so that no interval leaves the valid range.
        """
        check_number("level", level, above=0, below=1)
        z = float(ndtri(0.5 + level / 2.0))
        errors = self.standard_errors
        out = {}
        for name, value in self.estimates.items():
            half = z * errors[name]
            if name in _POSITIVE and value > 0:
                ends = value * np.exp(np.array([-1.0, 1.0]) * half / value)
            elif name == "p" and 0 < value < 1:
                ends = expit(logit(value) + np.array([-1.0, 1.0]) * half / (value * (1.0 - value)))
            else:
                ends = value + np.array([-half, half])
            out[name] = (float(ends[0]), float(ends[1]))
        return out

    def to_scipy(self) -> Any:
        """Return the distribution as a frozen distribution of scipy.stats.

        Returns
        -------
        rv_frozen
            For the binomial, with the number of trials rounded to the nearest whole number of 1 or
            more, and the probability that keeps the mean.
        """
        # Imported here because it is slow to load.
        from scipy import stats

        values = self.estimates
        if self.distribution == "normal":
            return stats.norm(values["mean"], np.sqrt(values["variance"]))
        if self.distribution == "poisson":
            return stats.poisson(values["rate"])
        if self.distribution == "gamma":
            return stats.gamma(values["shape"], scale=values["scale"])
        if self.distribution == "uniform":
            return stats.uniform(values["low"], values["high"] - values["low"])
        n = max(1, round(values["n"]))
        return stats.binom(n, min(1.0, values["n"] * values["p"] / n))


_POSITIVE = ("variance", "n", "rate", "shape", "scale")
