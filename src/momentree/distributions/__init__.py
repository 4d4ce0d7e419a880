"""Distributions: fit simple distributions by their first two moments, with standard errors."""

from momentree.distributions.fit import MomentFit
from momentree.distributions.multivariate import MultivariateNormalFit, fit_multivariate_normal
from momentree.distributions.univariate import (
    fit_binomial,
    fit_gamma,
    fit_normal,
    fit_poisson,
    fit_uniform,
    from_moments,
)

__all__ = [
    "MomentFit",
    "MultivariateNormalFit",
    "fit_binomial",
    "fit_gamma",
    "fit_multivariate_normal",
    "fit_normal",
    "fit_poisson",
    "fit_uniform",
    "from_moments",
]
