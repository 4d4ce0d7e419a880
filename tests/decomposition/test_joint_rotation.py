"""Jacobi sweeps and the descent on H eq. 5, against literal formulas and random rotations."""

import importlib
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import special_ortho_group

from momentree.decomposition import sidiwo
from momentree.decomposition.joint_rotation import compress, jacobi, minimize_norms, objective
from momentree.exceptions import InvalidParameterError
from momentree.moments import SingleTopicMoments
from momentree.whitening import whiten
from tests.raising import raises


def literal_objective(H):
    """H eq. 5 for slices (d, k, k)."""
    pairs = itertools.permutations(range(H.shape[1]), 2)
    return sum(np.sqrt(sum(H[r, i, j] ** 2 for r in range(len(H)))) for i, j in pairs)


def turned(H, R):
    return np.einsum("ai,rab,bj->rij", R, H, R)


def squares(H):
    return np.square(H).sum() - np.square(np.einsum("rii->ri", H)).sum()


def noise(seed, d, k):
    H = np.random.default_rng(seed).standard_normal((d, k, k))
    return H + H.transpose(0, 2, 1)


@pytest.mark.parametrize(("d", "k"), [(30, 3), (4, 3), (200, 5)])
def test_compression_keeps_all_inner_products(d, k):
    H = noise(0, d, k)
    A = compress(H)
    assert A.shape[2] <= min(d, k * (k + 1) // 2)
    gram = np.einsum("rab,rij->abij", H, H)
    np.testing.assert_allclose(np.einsum("abp,ijp->abij", A, A), gram, atol=1e-11 * gram.max())
    assert objective(A) == pytest.approx(literal_objective(H), rel=1e-12)


def test_compression_of_exact_slices_leaves_as_many_as_components():
    w, mu = np.array([0.5, 0.3, 0.2]), np.random.default_rng(1).dirichlet(np.ones(30), size=3)
    moments = SingleTopicMoments.from_parameters(w, mu)
    H = moments.whitened_slices(whiten(moments, 3).W)
    A = compress(H)
    sizes = np.linalg.norm(A.reshape(9, -1), axis=0)
    assert np.count_nonzero(sizes > 1e-12 * sizes.max()) == 3


@pytest.mark.parametrize("k", [3, 4, 7])
def test_no_plane_lowers_the_squares_after_jacobi(k):
    H = noise(k, 12, k)
    A, R, _ = jacobi(compress(H), 200)
    np.testing.assert_allclose(R.T @ R, np.eye(k), atol=1e-12)
    assert objective(A) == pytest.approx(literal_objective(turned(H, R)), rel=1e-10)
    least = squares(turned(H, R))
    for i, j in itertools.combinations(range(k), 2):
        for t in np.linspace(-np.pi / 4, np.pi / 4, 41):
            G = np.eye(k)
            G[[i, i, j, j], [i, j, i, j]] = np.cos(t), -np.sin(t), np.sin(t), np.cos(t)
            assert squares(turned(H, R @ G)) >= least * (1 - 1e-10)


@settings(deadline=None, max_examples=5)
@given(seed=st.integers(0, 10_000), k=st.integers(3, 5))
def test_descent_ends_below_its_start_where_no_plane_lowers_the_norms(seed, k):
    H = noise(seed, 8, k)
    A, R, _ = jacobi(compress(H), 100)
    start = objective(A)
    A, R, _ = minimize_norms(A, R, 1e-12, 500)
    value = literal_objective(turned(H, R))
    np.testing.assert_allclose(R.T @ R, np.eye(k), atol=1e-11)
    assert objective(A) == pytest.approx(value, rel=1e-10)
    assert value <= start
    for i, j in itertools.combinations(range(k), 2):
        for t in np.linspace(-np.pi / 4, np.pi / 4, 41):
            G = np.eye(k)
            G[[i, i, j, j], [i, j, i, j]] = np.cos(t), -np.sin(t), np.sin(t), np.cos(t)
            # The last sweep lowered it by no more than 1e-12; the margin is for its angles.
            assert literal_objective(turned(H, R @ G)) >= value * (1 - 1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_rounding_of_slices_moves_the_rotation_by_rounding_only(seed):
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((40, 8, 8))
    H = H + H.transpose(0, 2, 1) + 3 * rng.standard_normal((40, 8, 1)) * np.eye(8)
    rotations = []
    for noise in (0.0, 1e-15):
        factor = 1 + noise * rng.standard_normal(H.shape)
        A, R, _ = jacobi(compress(H * (factor + factor.transpose(0, 2, 1)) / 2), 100)
        rotations.append(minimize_norms(A, R, 1e-6, 100)[1])
    np.testing.assert_allclose(*rotations, atol=1e-11)


def test_descent_improves_on_jacobi_where_slices_are_noise():
    """The sum of norms and the sum of squares are different objectives."""
    gains = []
    for seed in range(10):
        A, R, _ = jacobi(compress(noise(seed, 10, 4)), 100)
        gains.append(1 - objective(minimize_norms(A, R, 1e-9, 200)[0]) / objective(A))
    assert min(gains) >= 0
    assert max(gains) > 1e-3


@pytest.mark.parametrize("k", [4, 5, 6])
def test_three_pseudo_centers_are_the_best_of_all_rotations(k):
    """l = 3 < k: not worse than thousands of rotations, and than descents from some of them."""
    rng = np.random.default_rng(k)
    w, mu = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(12), size=k)
    moments = SingleTopicMoments.from_parameters(w, mu)
    found = sidiwo(moments, 3, tol=1e-10)
    H = moments.whitened_slices(whiten(moments, 3).W)
    rotations = special_ortho_group.rvs(3, size=2000, random_state=k)
    A = compress(H)
    turns = np.einsum("nai,abp,nbj->nijp", rotations, A, rotations, optimize=True)
    norms = np.linalg.norm(turns, axis=3)
    values = norms.sum(axis=(1, 2)) - np.einsum("nii->n", norms)
    assert values[0] == pytest.approx(literal_objective(turned(H, rotations[0])), rel=1e-10)
    assert found.diagnostics["objective"] <= values.min()
    for n in range(10):
        end = minimize_norms(turns[n], rotations[n], 1e-10, 200)[0]
        assert found.diagnostics["objective"] <= objective(end) * (1 + 1e-5)


@pytest.mark.parametrize("k", [3, 5, 12])
@pytest.mark.parametrize("centers", ["rotation", "diagonal"])
def test_exact_moments_stay_exact(k, centers):
    rng = np.random.default_rng(k)
    w, mu = rng.dirichlet(5 * np.ones(k)), rng.dirichlet(0.2 * np.ones(60), size=k)
    found = sidiwo(SingleTopicMoments.from_parameters(w, mu), k, centers=centers)
    order = np.argsort(-w)
    np.testing.assert_allclose(found.weights, w[order], rtol=1e-10)
    np.testing.assert_allclose(found.centers.T, mu[order], atol=1e-10)
    assert found.diagnostics["objective"] < 1e-10
    assert found.diagnostics["objective"] <= found.diagnostics["objective_start"]


def test_slices_of_the_tensor_agree_with_those_of_m3_on_exact_moments(monkeypatch):
    rng = np.random.default_rng(4)
    w, mu = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(70), size=6)
    moments = SingleTopicMoments.from_parameters(w, mu)
    for k in (6, 4):  # 4: what the slices hold outside the span is no longer nothing
        few = sidiwo(moments, k, centers="diagonal")
        # The module, which the function of the same name hides.
        module = importlib.import_module("momentree.decomposition.sidiwo")
        monkeypatch.setattr(module, "MANY_COMPONENTS", 2)
        many = sidiwo(moments, k, centers="diagonal")
        published = sidiwo(moments, k, centers="rotation")
        monkeypatch.undo()
        # H Algorithm 1 uses all slices, whatever their number.
        assert published.diagnostics["objective"] == few.diagnostics["objective"]
        if k == 6:
            np.testing.assert_allclose(many.centers, few.centers, atol=1e-9)
            np.testing.assert_allclose(many.weights, few.weights, rtol=1e-9)
        else:
            assert many.diagnostics["objective"] <= few.diagnostics["objective"] * (1 + 1e-9)


def test_many_components():
    rng = np.random.default_rng(0)
    w, mu = rng.dirichlet(5 * np.ones(25)), rng.dirichlet(0.1 * np.ones(120), size=25)
    found = sidiwo(SingleTopicMoments.from_parameters(w, mu), 25)
    order = np.argsort(-w)
    np.testing.assert_allclose(found.weights, w[order], rtol=1e-6)
    np.testing.assert_allclose(found.centers.T, mu[order], atol=1e-7)


@pytest.mark.parametrize(
    "option", [{"tol": -1}, {"tol": None}, {"max_iter": 0}, {"max_iter": 2.5}, {"centers": "x"}]
)
def test_refuses_options_out_of_range(option):
    moments = SingleTopicMoments.from_parameters([0.4, 0.6], np.eye(3)[:2])
    code = "not_a_choice" if "centers" in option else "not_a_number"
    with raises(InvalidParameterError, code, parameter=next(iter(option))):
        sidiwo(moments, 2, **option)
