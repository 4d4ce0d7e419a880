"""SVD method, eigendecomposition, Jennrich and random projections against literal formulas."""

import numpy as np
import pytest

from momentree.decomposition import (
    eigendecomposition,
    jennrich,
    random_projections,
    svd_method,
)
from momentree.decomposition.ffdiag import ffdiag
from momentree.decomposition.jennrich import real_eigenvectors
from momentree.exceptions import InvalidParameterError
from momentree.moments import SingleTopicMoments
from momentree.whitening import whiten
from tests.raising import raises


@pytest.fixture(scope="module")
def moments():
    rng = np.random.default_rng(0)
    mu = rng.dirichlet(np.ones(12), size=3)
    return SingleTopicMoments.from_data(rng.multinomial(50, mu[rng.integers(3, size=400)]))


def in_order(M, omega):
    order = np.argsort(-omega)
    return M[:, order], omega[order]


def real(array):
    """Return an array without its imaginary part, which must be zero (complex from NumPy 2.5)."""
    assert (array.imag == 0).all()
    return array.real


def test_svd_method_is_that_of_the_thesis(moments):
    """T section 1.2.1: left singular vectors of H_eta, M Omega^(1/2) = E O, M omega = M1."""
    white, M3 = whiten(moments, 3), moments.m3_dense()
    eta = white.W.T @ np.random.RandomState(5).standard_normal(3)
    H = white.W @ np.einsum("r,rpq->pq", eta, M3) @ white.W.T
    EO = white.E @ np.linalg.svd(H)[0]
    s = np.linalg.lstsq(EO, moments.m1, rcond=None)[0]
    M, omega = in_order(EO / s, s**2)
    found = svd_method(moments, 3, random_state=5)
    np.testing.assert_allclose(found.centers, M, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.weights, omega, rtol=1e-6)


def test_eigendecomposition_is_algorithm_b(moments):
    """Literal: B(eta), R by a general eigen-solver, L for a random rotation, M = U Theta^-1 L."""
    rng = np.random.RandomState(5)
    theta_1 = rng.standard_normal(3)
    Theta = np.linalg.qr(np.column_stack([theta_1, rng.standard_normal((3, 2))]))[0].T
    U = np.linalg.eigh(moments.m2 @ np.eye(12))[1]
    U, M3 = U[:, ::-1][:, :3], moments.m3_dense()
    # The signs of eigenvectors are free; those of the whitening are used for the same draw.
    U = U * np.sign((U * whiten(moments, 3).E).sum(axis=0))
    Theta = Theta * np.sign(Theta[0] @ theta_1)

    def B(eta):
        return U.T @ np.einsum("r,rpq->pq", eta, M3) @ U @ np.linalg.inv(U.T @ (moments.m2 @ U))

    R = real(np.linalg.eig(B(U @ Theta[0]))[1])
    L = np.array([np.diag(np.linalg.inv(R) @ B(U @ theta) @ R) for theta in Theta])
    M = U @ np.linalg.inv(Theta) @ L
    omega = np.maximum(np.linalg.lstsq(M, moments.m1, rcond=None)[0], 0)
    M, omega = in_order(M, omega)
    found = eigendecomposition(moments, 3, random_state=5)
    np.testing.assert_allclose(found.centers, M, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.weights, omega, rtol=1e-6)


def test_jennrich_is_the_quotient_of_two_contractions(moments):
    U = np.linalg.eigh(moments.m2 @ np.eye(12))[1]
    U, M2, M3 = U[:, ::-1][:, :3], moments.m2 @ np.eye(12), moments.m3_dense()
    U = U * np.sign((U * whiten(moments, 3).E).sum(axis=0))
    thetas = np.random.RandomState(5).standard_normal((2, 3))
    A, B = (U.T @ np.einsum("r,rpq->pq", U @ theta, M3) @ U for theta in thetas)
    vectors = real(np.linalg.eig(A @ np.linalg.inv(B))[1])
    D = U @ vectors
    # w t^2 from M2 in the span, w t from M1: t scales the direction, w is the weight.
    inverse = np.linalg.inv(vectors)
    wt2, wt = np.diag(inverse @ U.T @ M2 @ U @ inverse.T), inverse @ U.T @ moments.m1
    M, omega = in_order(D * (wt2 / wt), wt**2 / wt2)
    found = jennrich(moments, 3, random_state=5)
    np.testing.assert_allclose(found.centers, M, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.weights, omega, rtol=1e-6)


def test_a_complex_pair_gives_a_basis_of_its_plane_and_a_warning():
    A, B = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0])
    V, pairs = real_eigenvectors(A @ B)  # B is its own inverse
    assert pairs == 1
    assert np.isrealobj(V)
    assert np.linalg.matrix_rank(V) == 2
    rng = np.random.default_rng(0)
    noise = SingleTopicMoments.from_data(rng.multinomial(6, np.full(30, 1 / 30), size=80))
    answers = [jennrich(noise, 6, random_state=seed) for seed in range(10)]
    mixed = [found for found in answers if found.diagnostics["complex_pairs"]]
    assert mixed
    for found in mixed:
        assert np.isfinite(found.centers).all()
        assert "complex_eigenvectors" in [w.code for w in found.diagnostics["warnings"]]


@pytest.mark.parametrize("k", [2, 12])
def test_the_joint_diagonalizer_need_not_be_orthogonal(k):
    rng = np.random.default_rng(k)
    A = np.eye(k) + 0.3 * rng.standard_normal((k, k))
    C = np.einsum("ai,li,bi->lab", A, rng.standard_normal((2 * k, k)), A)
    start = np.linalg.inv(A) + 0.05 * rng.standard_normal((k, k))
    B, off, n_iter = ffdiag(C, start, 100)
    assert off < 1e-20
    assert n_iter < 30  # quadratic convergence
    BA = np.abs(B @ A)
    np.testing.assert_allclose(BA / BA.max(axis=1, keepdims=True), np.eye(k), atol=1e-8)


@pytest.mark.parametrize("k", [3, 5])
def test_the_joint_diagonalizer_ends_near_a_minimum_with_noise(k):
    rng = np.random.default_rng(k)
    A = np.eye(k) + 0.3 * rng.standard_normal((k, k))
    noise = rng.standard_normal((3 * k, k, k))
    C = np.einsum("ai,li,bi->lab", A, rng.standard_normal((3 * k, k)), A)
    C = C + 0.01 * (noise + noise.transpose(0, 2, 1))

    def off(B):
        F = B @ C @ B.T
        scale = np.square(np.einsum("lii->li", F)).sum(axis=0) ** -0.25
        F = F * np.outer(scale, scale)
        return np.square(F).sum() - np.square(np.einsum("lii->li", F)).sum()

    start = np.linalg.inv(A) + 0.05 * rng.standard_normal((k, k))
    B, value, _ = ffdiag(C, start, 100)
    assert value == pytest.approx(off(B), rel=1e-9)
    assert value < off(start)
    for size in (0.001, 0.01, 0.1):
        steps = size * rng.standard_normal((200, k, k))
        assert value < min(off(B + step @ B) for step in steps)


def test_more_projections_than_two_steady_the_answer():
    """Better than Jennrich's two on 9 of 10 seeds or more: 2.5 standard errors above a half."""
    better = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        mu = rng.dirichlet(np.ones(40), size=8)
        data = SingleTopicMoments.from_data(rng.multinomial(60, np.repeat(mu, 100, axis=0)))
        two, many = (
            np.linalg.norm(method(data, 8).centers.T[:, None] - mu, axis=2).min(axis=1).sum()
            for method in (jennrich, random_projections)
        )
        better += many < two
    assert better >= 9


@pytest.mark.parametrize("option", [{"n_projections": 1}, {"n_projections": 2.0}, {"max_iter": 0}])
def test_refuses_options_out_of_range(option, moments):
    with raises(InvalidParameterError, "not_a_number", parameter=next(iter(option))):
        random_projections(moments, 2, **option)
