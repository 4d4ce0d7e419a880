"""Whitening: the equation it solves, its rank, and its independence of the order of columns."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from momentree.core.eigenpairs import DENSE_FEATURES
from momentree.exceptions import InvalidParameterError
from momentree.moments import BernoulliMoments, SingleTopicMoments
from momentree.whitening import whiten
from tests.raising import raises


def model(k, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(5 * np.ones(k)), rng.dirichlet(np.ones(d), size=k)


@pytest.mark.parametrize("d", [5, DENSE_FEATURES, DENSE_FEATURES + 1, 200])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_whitened_second_moment_is_the_identity(k, d):
    moments = SingleTopicMoments.from_parameters(*model(4, d))
    found = whiten(moments, k)
    M2 = moments.m2 @ np.eye(d)
    np.testing.assert_allclose(found.W @ M2 @ found.W.T, np.eye(k), atol=1e-9)
    np.testing.assert_allclose(found.W @ found.E, np.eye(k), atol=1e-9)
    values = np.linalg.eigvalsh(M2)[::-1][:k]
    np.testing.assert_allclose(found.eigenvalues, values, rtol=1e-9)
    assert found.reason is None


@pytest.mark.parametrize("d", [10, 300])
def test_fewer_components_have_a_reason(d):
    moments = SingleTopicMoments.from_parameters(*model(2, d))
    found = whiten(moments, 3)
    assert found.rank == 2
    assert (found.reason.code, found.reason.values["rank"]) == ("rank_too_low", 2)


def test_balanced_components_are_found_although_m1_is_orthogonal_to_the_second():
    d = 200
    mu = np.zeros((2, d))
    mu[0, : d // 2] = mu[1, d // 2 :] = 2 / d
    moments = SingleTopicMoments.from_parameters([0.5, 0.5], mu)
    np.testing.assert_allclose(whiten(moments, 2).eigenvalues, [1 / d, 1 / d], rtol=1e-9)


def test_lanczos_agrees_with_a_dense_solver_on_data():
    rng = np.random.default_rng(1)
    w, mu = model(3, 150, seed=1)
    X = rng.multinomial(80, mu[rng.choice(3, size=500, p=w)])
    moments = SingleTopicMoments.from_data(X)
    found = whiten(moments, 3, tol=1e-10, max_iter=150)
    values, U = np.linalg.eigh(moments.m2 @ np.eye(150))
    np.testing.assert_allclose(found.eigenvalues, values[::-1][:3], rtol=1e-8)
    overlap = np.abs(np.sum(U[:, ::-1][:, :3] * (found.E / np.sqrt(found.eigenvalues)), axis=0))
    np.testing.assert_allclose(overlap, 1.0, atol=1e-6)


def test_a_flat_spectrum_gives_the_best_pairs_so_far():
    rng = np.random.default_rng(2)
    X = rng.multinomial(30, np.full(500, 1 / 500), size=60)
    found = whiten(SingleTopicMoments.from_data(X), 2, max_iter=5)
    assert np.isfinite(found.W).all()


def test_the_order_of_columns_does_not_matter():
    rng = np.random.default_rng(3)
    w, mu = model(3, 120, seed=3)
    X = rng.multinomial(50, mu[rng.choice(3, size=300, p=w)])
    columns = rng.permutation(120)
    base = whiten(SingleTopicMoments.from_data(X), 2, tol=1e-2)
    moved = whiten(SingleTopicMoments.from_data(X[:, columns]), 2, tol=1e-2)
    np.testing.assert_allclose(moved.E, base.E[columns], atol=1e-10)


def test_a_negative_second_eigenvalue_is_not_a_component():
    """Two documents of one word: M2 has one positive eigenvalue."""
    X = sp.csr_array(np.array([[3, 0], [3, 0]]))
    found = whiten(SingleTopicMoments.from_data(X), 2)
    assert found.rank == 1


def test_zero_components_are_refused():
    with raises(InvalidParameterError, "not_a_number", parameter="n_components"):
        whiten(SingleTopicMoments.from_parameters(*model(2, 5)), 0)


@pytest.mark.parametrize("d", [DENSE_FEATURES, 300])
def test_the_next_eigenvalue_shows_the_gap(d):
    moments = SingleTopicMoments.from_parameters(*model(4, d))
    values = np.linalg.eigvalsh(moments.m2 @ np.eye(d))[::-1]
    for k in (1, 3):
        found = whiten(moments, k, tol=1e-10)
        assert len(found.eigenvalues) == k
        # The iteration ends by exhaustion, so that the Ritz value is the eigenvalue.
        assert found.next_eigenvalue == pytest.approx(values[k], rel=1e-8)
    assert abs(whiten(moments, 4).next_eigenvalue) < 1e-12 * values[0]
    assert np.isnan(whiten(moments, d).next_eigenvalue)


@pytest.mark.parametrize("k", [True, 2.0, "2", None, np.float64(3)])
def test_other_numbers_of_components_are_refused(k):
    with raises(InvalidParameterError, "not_a_number", parameter="n_components"):
        whiten(SingleTopicMoments.from_parameters(*model(2, 5)), k)


# --- accuracy ------------------------------------------------------------------------------------


def noise(n=100, d=500):
    """Documents on one topic: a flat spectrum, in which eigenvectors are slow to converge."""
    return SingleTopicMoments.from_data(np.random.default_rng(5).poisson(0.3, size=(n, d)))


def sine(found, moments, k):
    """Sine of the largest angle between the span of E and that of the true eigenvectors."""
    d = len(moments.m1)
    U = np.linalg.eigh(moments.m2 @ np.eye(d))[1][:, ::-1][:, :k]
    Q = np.linalg.qr(found.E)[0]
    return np.linalg.norm(Q - U @ (U.T @ Q), 2)


def test_a_flat_spectrum_is_whitened_exactly_by_default():
    moments = noise()
    found = whiten(moments, 20)
    assert found.converged
    assert found.residual <= 1e-9
    assert sine(found, moments, 20) < 1e-6


def test_an_iteration_that_ends_early_has_not_converged():
    moments = noise()
    found = whiten(moments, 20, max_iter=50)
    assert not found.converged
    assert sine(found, moments, 20) > 0.1
    # The reported residual is that of the returned pairs.
    U = found.E / np.linalg.norm(found.E, axis=0)
    off = np.linalg.norm(moments.m2 @ U - U * found.eigenvalues, axis=0) / found.eigenvalues
    assert found.residual == pytest.approx(off.max(), rel=1e-6)
    assert whiten(moments, 20, tol=2 * found.residual, max_iter=50).converged


@pytest.mark.parametrize("d", [20, 100])
def test_zero_moments_have_no_component(d):
    empty = whiten(BernoulliMoments.from_data(np.zeros((5, d))), 3)
    assert empty.rank == 0
    assert empty.converged


@pytest.mark.parametrize("max_iter", [0, -1, 2.5, True])
def test_a_bad_limit_is_refused(max_iter):
    with raises(InvalidParameterError, "not_a_number", parameter="max_iter"):
        whiten(SingleTopicMoments.from_parameters(*model(2, 5)), 2, max_iter=max_iter)


def rounded_differently(moments, seed):
    """Return moments whose M2 differs by rounding errors, as on another processor."""
    d = len(moments.m1)
    noise = 1e-16 * np.random.default_rng(seed).standard_normal((d, d))
    M2 = aslinearoperator(moments.m2 @ np.eye(d) + noise + noise.T)
    return SimpleNamespace(m1=moments.m1, m2=M2, whitened_slices=None)


@pytest.mark.parametrize("repeats", [3, 30])
@pytest.mark.parametrize("k", [2, 4])
def test_vectors_of_equal_eigenvalues_do_not_depend_on_rounding(k, repeats):
    topics = np.kron(np.eye(4), np.full((1, repeats), 1.0 / repeats))
    moments = SingleTopicMoments.from_parameters(np.full(4, 0.25), topics)
    found = [whiten(rounded_differently(moments, seed), k).W for seed in range(3)]
    for W in found[1:]:
        np.testing.assert_allclose(W, found[0], atol=1e-6 * np.abs(found[0]).max())


def test_the_sign_of_a_vector_with_equal_entries_does_not_depend_on_rounding():
    moments = SingleTopicMoments.from_parameters([1.0], [[0.25, 0.25, 0.25, 0.25]])
    C = np.eye(4) - 2.0 * np.outer([1, -1, 1, -1], [1, -1, 1, -1])
    for seed in range(5):
        noise = 1e-15 * np.random.default_rng(seed).standard_normal((4, 4))
        M2 = aslinearoperator(10.0 * np.eye(4) - C + noise + noise.T)
        W = whiten(SimpleNamespace(m1=moments.m1, m2=M2, whitened_slices=None), 1).W
        assert np.sign(W[0]).tolist() == [1, -1, 1, -1]
