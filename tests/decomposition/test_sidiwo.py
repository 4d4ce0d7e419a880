"""Two-component SIDIWO: exact recovery, the optimum of H eq. 5, and the misspecified case."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from momentree.decomposition import sidiwo
from momentree.decomposition.sidiwo import two_component_rotation
from momentree.moments import PopulationMoments, SingleTopicMoments
from momentree.whitening import whiten


def objective(D, M3):
    """H eq. 5, literally."""
    T = np.einsum("ip,rpq,jq->rij", D, M3, D)
    pairs = itertools.permutations(range(D.shape[0]), 2)
    return sum(np.linalg.norm(T[:, i, j]) for i, j in pairs)


def rotation(a):
    """H Theorem 3.3: O_a for a in [-1, 1]."""
    return np.array([[np.sqrt(1 - a * a), a], [-a, np.sqrt(1 - a * a)]])


@pytest.mark.parametrize("d", [3, 20, 300])
@pytest.mark.parametrize("w", [0.5, 0.65, 0.95])
def test_exact_moments_return_the_parameters(d, w):
    rng = np.random.default_rng(d)
    mu = rng.dirichlet(np.ones(d), size=2)
    found = sidiwo(SingleTopicMoments.from_parameters([w, 1 - w], mu), 2)
    if found.weights[0] - found.weights[1] < 1e-9 and found.centers[0, 0] != pytest.approx(
        mu[0, 0]
    ):
        mu = mu[::-1]
    np.testing.assert_allclose(found.weights, [w, 1 - w], rtol=1e-8)
    np.testing.assert_allclose(found.centers.T, mu, rtol=1e-6, atol=1e-10)
    assert found.diagnostics["off_diagonal_share"] < 1e-9


def literal_sidiwo(moments, points=2001):
    """H Algorithm 1 for l = 2, line by line; step 3 by the grid of H Theorem 3.3."""
    d = len(moments.m1)
    M3 = moments.m3_dense()
    U, S, _ = np.linalg.svd(moments.m2 @ np.eye(d))
    E = U[:, :2] * np.sqrt(S[:2])

    def value(a):
        return objective(np.linalg.pinv(E @ rotation(a)), M3)

    grid = np.linspace(-1, 1, points)
    best = grid[np.argmin([value(a) for a in grid])]
    step = 2 / (points - 1)
    # The best grid point, improved until it is exact.
    a = minimize_scalar(value, bounds=(max(best - step, -1), min(best + step, 1)), method="bounded")
    D = np.linalg.pinv(E @ rotation(a.x))
    inverse = np.linalg.pinv(D)  # M Omega^(1/2)
    roots = np.linalg.lstsq(inverse, moments.m1, rcond=None)[0]  # Omega^(1/2), from M omega = M1
    return inverse / roots, roots**2


@pytest.mark.parametrize("seed", range(3))
def test_rotation_is_algorithm_1_as_published(seed):
    """With fewer components than topics, where the centers of other choices differ."""
    rng = np.random.default_rng(seed)
    mu = rng.dirichlet(np.ones(8), size=4)
    moments = SingleTopicMoments.from_parameters(rng.dirichlet(np.full(4, 5.0)), mu)
    M, omega = literal_sidiwo(moments)
    order = np.argsort(-omega)
    found = sidiwo(moments, 2, centers="rotation")
    np.testing.assert_allclose(found.centers, M[:, order], atol=1e-5)
    np.testing.assert_allclose(found.weights, omega[order], atol=1e-5)
    assert np.abs(sidiwo(moments, 2).centers - found.centers).max() > 1e-3


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_the_closed_form_is_not_worse_than_any_grid_point(seed, k):
    """The papers scan a; with k > 2 topics the slices are not jointly diagonalizable."""
    rng = np.random.default_rng(seed)
    w, mu = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(8), size=k)
    moments = SingleTopicMoments.from_parameters(w, mu)
    white, M3 = whiten(moments, 2), moments.m3_dense()
    H = moments.whitened_slices(white.W)
    R, value = two_component_rotation(H)
    assert value == pytest.approx(objective(R.T @ white.W, M3), rel=1e-9, abs=1e-13)
    grid = [objective(rotation(a).T @ white.W, M3) for a in np.linspace(-1, 1, 101)]
    assert value <= min(grid) + 1e-12
    np.testing.assert_allclose(R @ R.T, np.eye(2), atol=1e-12)


def test_fewer_components_than_topics_lie_in_the_best_subspace():
    """H Theorem 3.1, point 2: pseudo-centers lie in the span of the two top eigenvectors of M2."""
    rng = np.random.default_rng(0)
    w, mu = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(12), size=5)
    moments = SingleTopicMoments.from_parameters(w, mu)
    found = sidiwo(moments, 2)
    U = np.linalg.eigh(moments.m2 @ np.eye(12))[1][:, -2:]
    residual = found.centers - U @ (U.T @ found.centers)
    assert np.abs(residual).max() < 1e-12
    assert found.diagnostics["objective"] > 1e-6


def test_pseudo_centers_gather_related_topics():
    """H section 3.2: each topic is nearly orthogonal to one of the two rows of D."""
    blocks = np.kron(np.eye(2), np.ones(10))
    mu = np.repeat(blocks, 2, axis=0) + np.random.default_rng(0).uniform(0, 0.3, size=(4, 20))
    mu /= mu.sum(axis=1, keepdims=True)
    moments = SingleTopicMoments.from_parameters([0.3, 0.2, 0.25, 0.25], mu)
    found = sidiwo(moments, 2)
    D = np.linalg.pinv(found.centers * np.sqrt(found.weights))
    side = np.abs(D @ mu.T).argmax(axis=0)
    assert side[0] == side[1] != side[2] == side[3]


def test_the_counter_example_of_the_supplement():
    """H appendix A: the whitened 2 x 2 x 2 tensor has no orthogonal decomposition.

    The optimum has a symmetric and an antisymmetric direction. Along the second mu_1 and mu_2
    weigh the same and mu_3 nothing, so that it stands for the group of the two; but it has no
    share of M1, and the equations of H Algorithm 1 give it no length.
    """
    mu = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 1]], dtype=float)
    moments = PopulationMoments(np.ones(3), mu.T)
    found = sidiwo(moments, 2)
    assert found.diagnostics["off_diagonal_share"] > 0.1
    assert found.n_components == 2
    U = np.linalg.svd(moments.m2 @ np.eye(3))[0][:, :2]
    pair = U @ (U.T @ (mu[0] + mu[1]) / 2)
    distance = np.linalg.norm(found.centers.T - pair, axis=1)
    assert distance.min() < 1e-12
    other = found.centers[:, distance.argmax()]
    assert np.linalg.norm(other - mu[2]) < 0.25 * np.linalg.norm(mu[2])
    literal = sidiwo(moments, 2, centers="rotation")
    assert literal.n_components == 1
    assert literal.diagnostics["reason"].code == "component_without_weight"


def test_one_component_is_m1_direction_of_m2():
    found = sidiwo(SingleTopicMoments.from_parameters([1.0], [[0.2, 0.3, 0.5]]), 1)
    np.testing.assert_allclose(found.centers[:, 0], [0.2, 0.3, 0.5], atol=1e-12)
    np.testing.assert_allclose(found.weights, [1.0])


def test_a_single_topic_comes_back_alone_with_the_reason():
    found = sidiwo(SingleTopicMoments.from_parameters([1.0], [[0.2, 0.3, 0.5]]), 2)
    assert found.n_components == 1
    assert found.diagnostics["reason"]


def test_error_falls_with_the_root_of_the_sample():
    rng = np.random.default_rng(5)
    mu = rng.dirichlet(np.ones(30), size=2)
    sizes, errors = [250, 1000, 4000], []
    for n in sizes:
        trials = []
        for _ in range(8):
            X = rng.multinomial(50, mu[rng.choice(2, size=n, p=[0.7, 0.3])])
            trials.append(np.abs(sidiwo(SingleTopicMoments.from_data(X), 2).centers.T - mu).sum())
        errors.append(np.mean(trials))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -0.65 < slope < -0.35
