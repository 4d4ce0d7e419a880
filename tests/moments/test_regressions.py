"""Moments of mixtures of regressions: exact without noise in the design, and consistent."""

import numpy as np
import pytest

from momentree import decomposition
from momentree.exceptions import InvalidDataError
from momentree.moments import RegressionMoments
from tests.raising import raises

METHODS = [
    "als", "eigendecomposition", "jennrich", "random_projections", "sidiwo", "svd_method", "svtd",
    "tensor_power_method",
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("k", "d"), [(1, 2), (3, 3), (5, 80)])
def test_exact_moments_give_the_slopes_back(method, k, d):
    rng = np.random.default_rng(k)
    w, B = rng.dirichlet(np.full(k, 20.0)), rng.normal(size=(k, d))
    moments = RegressionMoments.from_parameters(w, B)
    found = getattr(decomposition, method)(moments, k, random_state=0)
    order = np.argsort(-w)
    np.testing.assert_allclose(found.weights, w[order], rtol=1e-6)
    np.testing.assert_allclose(found.centers.T, B[order], atol=1e-6)


@pytest.fixture(scope="module")
def population():
    """All combinations of a component, of noise and of inputs, with their probabilities."""
    w, B, b0 = np.array([0.5, 0.3, 0.2]), np.array([[1.0, 2], [-1, 0.5], [0.3, -2]]), [1.0, -2, 0.5]
    noise, sigma = np.array([-1.0, 1.0]), [0.1, 2.0, 1.0]
    grid = np.array([-1.5, -0.5, 0.1, 1.0, 2.0])
    h, e, i, j = (a.ravel() for a in np.indices((3, 2, 5, 5)))
    X = np.stack([grid[i], grid[j] ** 2 - grid[i]], axis=1)  # neither Gaussian nor independent
    y = np.take(b0, h) + (X * B[h]).sum(axis=1) + np.take(sigma, h) * noise[e]
    return X, y, w[h], w, B


@pytest.mark.parametrize("method", ["sidiwo", "jennrich", "tensor_power_method"])
def test_intercepts_and_unequal_noise_do_not_matter(population, method):
    """On a finite population, the regressions are exact."""
    X, y, weight, w, B = population
    moments = RegressionMoments.from_data(X, y, sample_weight=weight)
    exact = RegressionMoments.from_parameters(w, B)
    np.testing.assert_allclose(moments.m1, exact.m1, atol=1e-9)
    np.testing.assert_allclose(moments.m2 @ np.eye(2), exact.m2 @ np.eye(2), atol=1e-9)
    np.testing.assert_allclose(moments.m3_dense(), exact.m3_dense(), atol=1e-8)
    two = RegressionMoments.from_data(X, y, sample_weight=weight * np.isin(weight, w[:2]))
    found = getattr(decomposition, method)(two, 2, random_state=0)
    np.testing.assert_allclose(found.centers.T, B[:2], atol=1e-6)
    np.testing.assert_allclose(found.weights, [0.625, 0.375], atol=1e-6)


def test_gaussian_inputs_of_many_features_need_no_monomials():
    rng = np.random.default_rng(0)
    n, d = 30_000, 60
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.02 * rng.normal(size=(d, d)))
    B = np.zeros((2, d))
    B[0, :3], B[1, 3:6] = 1.0, -1.0
    h = rng.integers(2, size=n)
    y = (X * B[h]).sum(axis=1) + 0.5 * rng.normal(size=n)
    moments = RegressionMoments.from_data(X, y)
    assert not moments.polynomials
    M2 = moments.m2 @ np.eye(d)
    values, U = np.linalg.eigh(M2)
    # Angle between the true and the estimated span: noise of order root (d / n) = 0.045.
    outside = B.T - U[:, -2:] @ (U[:, -2:].T @ B.T)
    assert np.linalg.norm(outside, axis=0).max() < 0.3 * np.linalg.norm(B[0])
    assert values[-2] > 2 * np.abs(values[:-2]).max()


def test_refuses_bad_input():
    with raises(InvalidDataError, "not_a_distribution", parameter="weights"):
        RegressionMoments.from_parameters([0.5, 0.6], np.eye(2))
    with raises(InvalidDataError, "wrong_shape", parameter="weights"):
        RegressionMoments.from_parameters([1.0], np.eye(2))
    with raises(InvalidDataError, "not_finite", parameter="coefs"):
        RegressionMoments.from_parameters([1.0], [[np.nan]])
    with raises(InvalidDataError, "wrong_shape", parameter="y"):
        RegressionMoments.from_data(np.eye(3), [1.0])
    with raises(InvalidDataError, "not_finite", parameter="y"):
        RegressionMoments.from_data(np.eye(2), [1.0, np.inf])
