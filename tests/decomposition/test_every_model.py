"""Every model by every decomposition: exact moments give the parameters back."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from momentree import decomposition
from momentree.moments import (
    BernoulliMoments,
    LDAMoments,
    PoissonMoments,
    SingleTopicMoments,
    SphericalGaussianMoments,
)

METHODS = [
    "als", "eigendecomposition", "jennrich", "random_projections", "sidiwo", "svd_method", "svtd",
    "tensor_power_method",
]  # fmt: skip


def equal_weights(rng, k, d):
    """Eigenvalues of the whitened tensor are all the same."""
    w, mu = np.full(k, 1 / k), rng.dirichlet(np.full(d, 0.1), size=k)
    return SingleTopicMoments.from_parameters(w, mu), w, mu


def lda(rng, k, d):
    alpha, mu = rng.uniform(0.05, 0.3, size=k), rng.dirichlet(np.full(d, 0.3), size=k)
    return LDAMoments.from_parameters(alpha, mu), alpha / alpha.sum(), mu


def bernoulli(rng, k, d):
    w, mu = rng.dirichlet(np.full(k, 20.0)), rng.random((k, d)) ** 3
    return BernoulliMoments.from_parameters(w, mu), w, mu


def poisson(rng, k, d):
    w, mu = rng.dirichlet(np.full(k, 20.0)), rng.gamma(0.3, 5.0, size=(k, d))
    return PoissonMoments.from_parameters(w, mu), w, mu


def spherical_gaussian(rng, k, d):
    w, mu = rng.dirichlet(np.full(k, 20.0)), rng.normal(size=(k, d))
    return SphericalGaussianMoments.from_parameters(w, mu, rng.uniform(0.5, 2, size=k)), w, mu


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", [equal_weights, lda, bernoulli, poisson, spherical_gaussian])
def test_exact_moments_give_the_parameters_back(model, method, k):
    moments, w, mu = model(np.random.default_rng(k), k, 90)
    found = getattr(decomposition, method)(moments, k, random_state=0)
    assert found.n_components == k
    cost = np.linalg.norm(found.centers.T[:, None] - mu, axis=2)
    order = linear_sum_assignment(cost)[1]
    error = np.linalg.norm(found.centers.T - mu[order], axis=1) / np.linalg.norm(mu, axis=1)[order]
    assert error.max() < 1e-6
    np.testing.assert_allclose(found.weights, w[order], rtol=1e-6)
    assert not found.diagnostics["reason"]
