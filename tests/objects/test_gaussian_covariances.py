"""Gaussian mixtures with diagonal, full and shared covariances: densities, M-steps, EM."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import multivariate_normal, norm

from momentree.backends import RowBlocks
from momentree.inference import log_joint
from momentree.objects import (
    DiagonalGaussianParameters,
    FullGaussianParameters,
    GaussianParameters,
    IncompleteDiagonalGaussianParameters,
    SharedGaussianParameters,
)
from momentree.refinement import em

from .families import log_likelihood_never_falls, maximal

LOG_2PI = np.log(2 * np.pi)
D, K = 3, 2


def samples(n=90, seed=1):
    rng = np.random.default_rng(seed)
    centers = 2.0 * rng.standard_normal((2, D))
    return (
        rng.standard_normal((n, D)) @ rng.standard_normal((D, D)) + centers[rng.integers(2, size=n)]
    )


def responsibilities(n=90):
    return np.random.default_rng(2).dirichlet(np.ones(K), size=n)


def rows_of(family, X):
    return RowBlocks(family.statistics(sp.csr_array(X)))


def shared(X):
    return SharedGaussianParameters.with_squares(X.T @ X / len(X))


def family_for(name, X):
    return {
        "diagonal": DiagonalGaussianParameters,
        "full": FullGaussianParameters,
        "shared": shared(X),
    }[name]


def covariances(p):
    if isinstance(p, SharedGaussianParameters):
        return np.repeat(p.covariance[None], p.n_components, axis=0)
    if isinstance(p, FullGaussianParameters):
        return p.covariances
    return np.stack([np.diag(v) for v in p.variances.T])


def density(X, p):
    parts = [
        multivariate_normal.logpdf(X, p.centers[:, j], C) for j, C in enumerate(covariances(p))
    ]
    return np.log(p.weights) + np.stack(parts, axis=1)


def fitted(name, X, smoothing=0.0):
    family, R = family_for(name, X), responsibilities(len(X))
    rows = rows_of(family, X)
    return family.m_step(rows.sum(lambda B: B.tdot(R[B.at])), R.sum(axis=0), smoothing), rows, R


@pytest.mark.parametrize("name", ["diagonal", "full"])
def test_the_log_joint_is_that_of_the_densities_up_to_a_constant(name):
    X = samples()
    p, rows, _ = fitted(name, X)
    np.testing.assert_allclose(log_joint(rows, p) - D / 2 * LOG_2PI, density(X, p), rtol=1e-9)


def test_the_log_likelihood_with_shared_covariances_is_right_in_total():
    X = samples()
    p, rows, _ = fitted("shared", X)
    joint = log_joint(rows, p) - D / 2 * LOG_2PI
    expected = density(X, p)
    np.testing.assert_allclose(joint[:, 0] - joint[:, 1], expected[:, 0] - expected[:, 1])
    assert joint[:, 0].sum() == pytest.approx(expected[:, 0].sum(), rel=1e-10)


@pytest.mark.parametrize("name", ["diagonal", "full", "shared"])
def test_the_m_step_maximizes_the_likelihood(name):
    X = samples()
    p, _, R = fitted(name, X)
    triangle = np.tril_indices(D)

    def changed(numbers):
        centers, rest = p.centers + numbers[: D * K].reshape(D, K), numbers[D * K :]
        if name == "diagonal":
            scale = np.exp(rest).reshape(D, K)
            return DiagonalGaussianParameters(p.weights, centers, p.variances * scale)
        roots = np.linalg.cholesky(covariances(p))
        turned = []
        for j, root in enumerate(roots):
            change = np.zeros((D, D))
            change[triangle] = rest[6 * j : 6 * j + 6] if name == "full" else rest
            left = root @ (np.eye(D) + change)
            turned.append(left @ left.T)
        return FullGaussianParameters(p.weights, centers, np.stack(turned))

    n_more = {"diagonal": D * K, "full": 6 * K, "shared": 6}[name]
    maximal(lambda z: float((R * density(X, changed(z))).sum()), np.zeros(D * K + n_more))


@pytest.mark.parametrize("name", ["diagonal", "full"])
def test_smoothing_adds_samples_of_the_pooled_covariance(name):
    X, s = samples(), 3.0
    p, _, R = fitted(name, X, s)
    N = R.sum(axis=0)
    means = (X.T @ R / N).T
    scatter = np.stack([(R[:, j, None] * (X - m)).T @ (X - m) for j, m in enumerate(means)])
    expected = (scatter + s * scatter.sum(axis=0) / len(X)) / (N + s)[:, None, None]
    if name == "diagonal":
        expected = expected * np.eye(D)
    np.testing.assert_allclose(p.centers.T, means, rtol=1e-10)
    np.testing.assert_allclose(covariances(p), expected, atol=1e-10)


@pytest.mark.parametrize("name", ["diagonal", "full", "shared"])
def test_em_never_lowers_the_likelihood(name):
    X = samples(150)
    p, rows, _ = fitted(name, X)
    log_likelihood_never_falls(rows, p)
    found = em(rows, p, sample_weight=np.ones(150), smoothing=0.0, tol=1e-9, max_iter=300)
    total = found.log_likelihood - 150 * D / 2 * LOG_2PI
    exact = np.logaddexp.reduce(density(X, found.parameters), axis=1).sum()
    assert total == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("name", ["diagonal", "full", "spherical", "shared"])
def test_a_floor_is_added_to_variances(name):
    X, floor = samples(), np.array([0.1, 0.2, 0.3])
    if name == "shared":
        with_floor = SharedGaussianParameters.with_squares(X.T @ X / len(X), floor)
        plain = shared(X)
    else:
        plain = GaussianParameters if name == "spherical" else family_for(name, X)
        with_floor = plain.with_floor(floor)
    R = responsibilities(len(X))
    rows = rows_of(plain, X)
    sums = rows.sum(lambda B: B.tdot(R[B.at]))
    p, q = (f.m_step(sums, R.sum(axis=0), 0.0) for f in (plain, with_floor))
    if name == "spherical":
        np.testing.assert_allclose(q.variances, p.variances + 0.2, rtol=1e-12)
    else:
        np.testing.assert_allclose(covariances(q), covariances(p) + np.diag(floor), atol=1e-10)


@pytest.mark.parametrize("name", ["diagonal", "full", "shared"])
def test_components_without_samples_and_equal_samples_are_proper(name):
    X = np.vstack([samples(30), np.ones((6, D))])
    R = np.zeros((36, 3))
    R[:30, 0] = R[30:, 1] = 1.0
    family = family_for(name, X)
    rows = rows_of(family, X)
    p = family.m_step(rows.sum(lambda B: B.tdot(R[B.at])), R.sum(axis=0), 0.0)
    np.testing.assert_allclose(p.centers[:, 2], X.mean(axis=0), rtol=1e-12)
    assert np.linalg.eigvalsh(covariances(p)).min() > 0
    assert np.isfinite(log_joint(rows, p)[:, :2]).all()
    assert np.isneginf(log_joint(rows, p)[:, 2]).all()
    for Y in (np.ones((5, D)), np.zeros((5, D)), np.full((5, D), 1e8)):
        of_equal = family_for(name, Y)
        sums = rows_of(of_equal, Y).sum(lambda B: B.tdot(np.ones((5, 1))[B.at]))
        assert np.isfinite(of_equal.maximized_log_likelihood(sums, np.array([5.0]))).all()
        q = of_equal.m_step(sums, np.array([5.0]), 0.0)
        assert np.isfinite(log_joint(rows_of(of_equal, Y), q)).all()


@pytest.mark.parametrize("name", ["diagonal", "full"])
def test_the_maximized_likelihood_is_that_of_the_m_step(name):
    X = samples()
    family = family_for(name, X)
    R = np.eye(2)[np.random.default_rng(3).integers(2, size=len(X))]
    rows = rows_of(family, X)
    sums, sizes = rows.sum(lambda B: B.tdot(R[B.at])), R.sum(axis=0)
    found = family.maximized_log_likelihood(sums, sizes) - sizes * D / 2 * LOG_2PI
    p = family.m_step(sums, sizes, 0.0)
    expected = (R * (density(X, p) - np.log(p.weights))).sum(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert family.maximized_log_likelihood(sums.sum(axis=1), sizes.sum()).shape == ()
    assert family.maximized_log_likelihood(0.0 * sums, 0.0 * sizes).tolist() == [0, 0]


@pytest.mark.parametrize("name", ["diagonal", "full", "shared"])
def test_components_can_be_reordered(name):
    X = samples()
    p, rows, _ = fitted(name, X)
    q = p.reordered(np.array([1, 0]))
    np.testing.assert_allclose(log_joint(rows, q), log_joint(rows, p)[:, ::-1], rtol=1e-12)


def test_missing_values_do_not_affect_diagonal_components():
    X = samples()
    rng = np.random.default_rng(4)
    gaps = rng.random(X.shape) < 0.3
    family = IncompleteDiagonalGaussianParameters
    Z = family.statistics(sp.csr_array(np.where(gaps, 0.0, X)), sp.csr_array(1.0 * gaps))
    R = responsibilities()
    rows = RowBlocks(Z)
    p = family.m_step(rows.sum(lambda B: B.tdot(R[B.at])), R.sum(axis=0), 0.0)
    seen = ~gaps[:, :, None] * R[:, None]
    means = (X[:, :, None] * seen).sum(axis=0) / seen.sum(axis=0)
    np.testing.assert_allclose(p.centers, means, rtol=1e-10)
    v = ((X[:, :, None] - means) ** 2 * seen).sum(axis=0) / seen.sum(axis=0)
    np.testing.assert_allclose(p.variances, v, rtol=1e-9)
    each = norm.logpdf(X[:, :, None], p.centers, np.sqrt(p.variances)) + LOG_2PI / 2
    expected = np.log(p.weights) + (each * ~gaps[:, :, None]).sum(axis=1)
    np.testing.assert_allclose(log_joint(rows, p), expected, rtol=1e-9)
    log_likelihood_never_falls(rows, p)
    # Without gaps the family is the one for complete samples.
    complete = RowBlocks(family.statistics(sp.csr_array(X)))
    plain = fitted("diagonal", X)[0]
    q = family(plain.weights, plain.centers, plain.variances)
    np.testing.assert_allclose(
        log_joint(complete, q), log_joint(rows_of(DiagonalGaussianParameters, X), plain)
    )
