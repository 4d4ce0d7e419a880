"""Samplers of mixtures of Gaussian variables."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import as_floats, check_number, check_shape
from momentree.datasets._sampling import (
    RandomState,
    check_one_or_each,
    check_sizes,
    check_weights,
    draw_labels,
    generator,
)
from momentree.datasets.samples import GaussianSample
from momentree.exceptions import InvalidDataError

FARTHEST = 1e15
"""Largest separation; the components' own spread would be lost to rounding."""


def make_spherical_gaussians(
    n_samples: int,
    n_features: int,
    n_components: int,
    *,
    separation: float = 4.0,
    weights: ArrayLike | None = None,
    means: ArrayLike | None = None,
    variances: float | ArrayLike = 1.0,
    random_state: RandomState = None,
) -> GaussianSample:
    """Draw rows from a mixture of spherical Gaussians.

        Y ~ Discrete(weights), x | Y = i ~ Normal(means[i], variances[i] I)

    Parameters
    ----------
    n_samples, n_features, n_components : int, >= 1
        Number of rows, columns and components.
    separation : float >= 0, default=4.0
        Distance of the two closest means, in standard deviations of the wider of the two. Ignored
        if `means` are given.
    weights : array-like of shape (n_components,) or None, default=None
        Probabilities of the components, with sum 1; None for equal probabilities.
    means : array-like of shape (n_components, n_features) or None, default=None
        Means; None draws them from a standard normal distribution, and scales them to match
        `separation`.
    variances : float or array-like of shape (n_components,), > 0, default=1.0
        Variance of each feature, in all components or in each.
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    GaussianSample
        Rows, labels, weights, means and variances.

    Raises
    ------
    InvalidDataError
        If `weights` are not probabilities, or `means` not finite numbers, of these shapes.
    InvalidParameterError
        If another parameter is invalid.

    Notes
    -----
    Time and memory O(n d + k^2 d).

    Examples
    --------
    >>> from momentree.datasets import make_spherical_gaussians
    >>> sample = make_spherical_gaussians(1000, 2, 2, means=[[0, 0], [5, 5]], random_state=0)
    >>> sample.X[sample.labels == 1].mean(axis=0).round()
    array([5., 5.])
    """
    n, d, k = check_sizes(n_samples=n_samples, n_features=n_features, n_components=n_components)
    check_number("separation", separation, at_least=0, at_most=FARTHEST)
    w = check_weights(weights, k)
    s = np.full(k, check_one_or_each("variances", variances, k))
    rng = generator(random_state)
    if means is None:
        mu = _separated(rng.standard_normal((k, d)), np.sqrt(s), separation)
    else:
        mu = as_floats("means", means)
        check_shape("means", mu, (k, d))
        if not np.isfinite(mu).all():
            raise InvalidDataError("not_finite", parameter="means")
    labels = draw_labels(w, n, rng)
    X = rng.standard_normal((n, d))
    X *= np.sqrt(s)[labels, None]
    X += mu[labels]
    return GaussianSample(X, labels, w, mu, s)


def _separated(mu: Floats, deviations: Floats, separation: float) -> Floats:
    """Scale means so that the closest two are `separation` standard deviations apart."""
    if len(mu) == 1:
        return mu
    first, second = np.triu_indices(len(mu), 1)
    distances = np.linalg.norm(mu[first] - mu[second], axis=1)
    closest = (distances / np.maximum(deviations[first], deviations[second])).min()
    return np.asarray(mu * (separation / closest))
