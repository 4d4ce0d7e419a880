"""Mixtures of spherical Gaussians: densities, M-steps, EM."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import multivariate_normal

from momentree.backends import RowBlocks
from momentree.inference import log_joint
from momentree.objects import GaussianParameters
from momentree.refinement import em

from .families import log_likelihood_never_falls, maximal


def parameters(d=4, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return GaussianParameters(
        rng.dirichlet(np.full(k, 3.0)), rng.standard_normal((d, k)), rng.uniform(0.2, 3.0, k)
    )


def samples(n=80, d=4, seed=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) + 2.0 * rng.standard_normal((2, d))[rng.integers(2, size=n)]


def rows_of(X):
    return RowBlocks(GaussianParameters.statistics(sp.csr_array(X)))


def density(X, p):
    columns = [
        multivariate_normal.logpdf(X, p.centers[:, j], p.variances[j])
        for j in range(p.n_components)
    ]
    return np.log(p.weights) + np.stack(columns, axis=1)


def test_statistics_are_values_and_the_square_of_the_length():
    X = samples()
    X[2] = 0.0
    found = GaussianParameters.statistics(sp.csr_array(X)).toarray()
    expected = np.column_stack([X, (X**2).sum(axis=1)])
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert GaussianParameters.n_features(found.shape[1]) == X.shape[1]


def test_the_log_joint_is_that_of_the_densities_up_to_a_constant():
    X, p = samples(), parameters()
    constant = -0.5 * X.shape[1] * np.log(2 * np.pi)
    np.testing.assert_allclose(log_joint(rows_of(X), p) + constant, density(X, p), rtol=1e-10)


def test_a_component_of_zero_weight_has_no_samples():
    p = GaussianParameters(np.array([1.0, 0.0]), np.zeros((2, 2)), np.ones(2))
    joint = log_joint(rows_of(samples(d=2)), p)
    assert np.isneginf(joint[:, 1]).all()
    assert np.isfinite(joint[:, 0]).all()


def expected_statistics(X, R):
    return rows_of(X).sum(lambda B: B.tdot(R[B.at])), R.sum(axis=0)


def test_the_m_step_maximizes_the_likelihood():
    X = samples()
    R = np.random.default_rng(2).dirichlet(np.ones(2), size=len(X))
    p = GaussianParameters.m_step(*expected_statistics(X, R), 1e-12)
    np.testing.assert_allclose(p.weights, R.mean(axis=0), rtol=1e-12)
    d, k = p.centers.shape

    def at(numbers):
        centers, logs = numbers[: d * k].reshape(d, k), numbers[d * k :]
        return float((R * density(X, GaussianParameters(p.weights, centers, np.exp(logs)))).sum())

    maximal(at, np.concatenate([p.centers.ravel(), np.log(p.variances)]))


def test_smoothing_adds_samples_of_average_variance():
    X = samples()
    R = np.random.default_rng(2).dirichlet(np.ones(2), size=len(X))
    p = GaussianParameters.m_step(*expected_statistics(X, R), 2.0)
    means = (X.T @ R) / R.sum(axis=0)
    np.testing.assert_allclose(p.centers, means, rtol=1e-12)
    within = [(R[:, j] * ((X - means[:, j]) ** 2).sum(axis=1)).sum() for j in range(2)]
    pooled = sum(within) / len(X)
    expected = (np.array(within) + 2.0 * pooled) / (X.shape[1] * (R.sum(axis=0) + 2.0))
    np.testing.assert_allclose(p.variances, expected, rtol=1e-10)


def test_a_component_without_samples_or_with_equal_ones_keeps_a_variance():
    X = np.vstack([samples(n=20), np.ones((5, 4))])
    R = np.zeros((25, 3))
    R[:20, 0] = R[20:, 1] = 1.0
    p = GaussianParameters.m_step(*expected_statistics(X, R), 1.0)
    np.testing.assert_allclose(p.centers[:, 2], X.mean(axis=0), rtol=1e-12)
    assert (p.variances > 0).all()
    alike = GaussianParameters.m_step(
        *expected_statistics(np.ones((6, 4)), np.eye(2)[[0, 1] * 3]), 1.0
    )
    assert (alike.variances > 0).all()
    assert np.isfinite(log_joint(rows_of(np.ones((2, 4))), alike)).all()


def test_the_maximized_likelihood_is_that_of_the_m_step():
    X = samples()
    R = np.eye(2)[np.random.default_rng(3).integers(2, size=len(X))]
    sums, sizes = expected_statistics(X, R)
    found = GaussianParameters.maximized_log_likelihood(sums, sizes)
    for j in range(2):
        part = X[R[:, j] == 1]
        mean = part.mean(axis=0)
        expected = multivariate_normal.logpdf(part, mean, ((part - mean) ** 2).mean()).sum()
        constant = -0.5 * part.size * np.log(2 * np.pi)
        assert found[j] + constant == pytest.approx(expected, rel=1e-10)
    together = GaussianParameters.maximized_log_likelihood(sums.sum(axis=1), sizes.sum())
    assert together.shape == ()
    assert together <= found.sum()
    assert GaussianParameters.maximized_log_likelihood(
        np.zeros_like(sums), np.zeros(2)
    ).tolist() == [
        0,
        0,
    ]


def test_likelihoods_of_equal_samples_are_numbers():
    for X in (np.ones((5, 3)), np.zeros((5, 3)), np.full((5, 3), 1e8)):
        sums, sizes = expected_statistics(X, np.ones((5, 1)))
        assert np.isfinite(GaussianParameters.maximized_log_likelihood(sums, sizes)).all()


@pytest.mark.parametrize("seed", range(3))
def test_em_never_lowers_the_likelihood(seed):
    X = samples(n=120, seed=seed)
    log_likelihood_never_falls(rows_of(X), parameters(seed=seed))


@pytest.mark.parametrize("seed", range(3))
def test_a_shift_of_all_values_shifts_the_centers(seed):
    X, shift = samples(n=120, seed=seed), np.array([1.0, -2.0, 0.5, 3.0])
    p, one = parameters(seed=seed), np.ones(120)
    q = GaussianParameters(p.weights, p.centers + shift[:, None], p.variances)
    a = em(rows_of(X), p, sample_weight=one, max_iter=10, tol=0.0)
    b = em(rows_of(X + shift), q, sample_weight=one, max_iter=10, tol=0.0)
    np.testing.assert_allclose(
        b.parameters.centers, a.parameters.centers + shift[:, None], atol=1e-8
    )
    np.testing.assert_allclose(b.parameters.variances, a.parameters.variances, rtol=1e-8)


def test_order_and_number_of_components():
    p = parameters()
    q = p.reordered(np.array([2, 0, 1]))
    np.testing.assert_array_equal(q.variances, p.variances[[2, 0, 1]])
    np.testing.assert_array_equal(q.centers, p.centers[:, [2, 0, 1]])
    less = p.without(1)
    np.testing.assert_array_equal(less.variances, p.variances[[0, 2]])
    np.testing.assert_allclose(less.weights.sum(), 1.0)
