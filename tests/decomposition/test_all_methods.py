"""Guarantees of every decomposition: exact recovery, fewer components with a reason, repeats."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from momentree import decomposition
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.moments import PopulationMoments, SingleTopicMoments
from momentree.whitening import whiten
from tests.raising import raises

NAMES = [
    "als", "eigendecomposition", "jennrich", "random_projections", "sidiwo", "svd_method", "svtd",
    "tensor_power_method",
]  # fmt: skip
METHODS = [getattr(decomposition, name) for name in NAMES]
each_method = pytest.mark.parametrize("method", METHODS, ids=NAMES)
COMMON = {
    "eigenvalues", "gap", "n_iter", "negative_mass", "rank", "reason", "residual_m2", "residual_m3",
    "warnings", "whitening_residual",
}  # fmt: skip


def model(k, d, seed=0, concentration=0.3):
    """Topics of a sparse Dirichlet are far from one another: a well-conditioned M."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(5 * np.ones(k)), rng.dirichlet(concentration * np.ones(d), size=k)


def matched(found, mu):
    """The order that brings found centers (d, k) nearest to topics mu (k, d)."""
    cost = np.linalg.norm(found.centers.T[:, None] - mu[None], axis=2)
    return linear_sum_assignment(cost)[1]


def relative_errors(found, w, mu):
    order = matched(found, mu)
    centers = np.linalg.norm(found.centers.T - mu[order]) / np.linalg.norm(mu)
    return centers, np.abs(found.weights / w[order] - 1).max()


@each_method
@pytest.mark.parametrize(("k", "d"), [(1, 30), (3, 100), (20, 100)])
def test_exact_moments_return_the_parameters(method, k, d):
    w, mu = model(k, d, seed=k)
    found = method(SingleTopicMoments.from_parameters(w, mu), k)
    assert found.centers.shape == (d, k)
    assert (np.diff(found.weights) <= 0).all()
    assert max(relative_errors(found, w, mu)) < 1e-6
    diagnostics = found.diagnostics
    assert set(diagnostics) >= COMMON
    assert diagnostics["reason"] is None
    assert diagnostics["rank"] == k
    assert diagnostics["residual_m2"] < 1e-6
    assert diagnostics["residual_m3"] < 1e-6
    assert diagnostics["negative_mass"].max() < 1e-6
    values = np.linalg.eigvalsh((mu.T * w) @ mu)[::-1]
    np.testing.assert_allclose(diagnostics["eigenvalues"][:k], values[:k], rtol=1e-8)
    assert diagnostics["gap"] == pytest.approx(values[k - 1] / values[0], rel=1e-6)


@each_method
def test_centers_may_be_negative_and_weights_need_not_sum_to_one(method):
    rng = np.random.default_rng(7)
    w, mu = np.array([2.0, 1.0, 0.5]), rng.standard_normal((3, 30)) + 0.3
    found = method(PopulationMoments(w, mu.T), 3)
    assert max(relative_errors(found, w, mu)) < 1e-6
    mass = np.where(mu < 0, -mu, 0).sum(axis=1) / np.abs(mu).sum(axis=1)
    np.testing.assert_allclose(found.diagnostics["negative_mass"], mass, rtol=1e-6)
    large = int(np.count_nonzero(mass > 0.1))
    warning = Message("[negative_components]", found=large, most=0.1)
    assert warning in found.diagnostics["warnings"]


@each_method
def test_residuals_are_those_of_the_moments_themselves(method):
    """Literal: whitened M2 and M3 against those of the answer, where neither fits."""
    moments = SingleTopicMoments.from_parameters(*model(5, 30, seed=5))
    found = method(moments, 3)
    W = whiten(moments, 3).W
    T = np.einsum("ap,bq,cr,pqr->abc", W, W, W, moments.m3_dense(), optimize=True)
    answer = PopulationMoments(found.weights, found.centers)
    T_found = np.einsum("ap,bq,cr,pqr->abc", W, W, W, answer.m3_dense(), optimize=True)
    M2_found = W @ (answer.m2 @ W.T)
    assert found.diagnostics["residual_m3"] == pytest.approx(
        np.linalg.norm(T - T_found) / np.linalg.norm(T), rel=1e-8
    )
    assert found.diagnostics["residual_m2"] == pytest.approx(
        np.linalg.norm(np.eye(3) - M2_found) / np.sqrt(3), rel=1e-8, abs=1e-8
    )


@each_method
def test_fewer_components_come_back_with_the_reason(method):
    w, mu = model(3, 40, seed=1)
    found = method(SingleTopicMoments.from_parameters(w, mu), 6)
    assert found.n_components == 3
    assert found.diagnostics["reason"]
    assert found.diagnostics["rank"] == 3
    assert max(relative_errors(found, w, mu)) < 1e-6


@each_method
def test_no_component_at_all_is_an_answer(method):
    moments = PopulationMoments(np.zeros(1), np.full((4, 1), 0.25))
    found = method(moments, 2)
    assert found.n_components == 0
    assert found.centers.shape == (4, 0)
    assert found.diagnostics["reason"]


@each_method
def test_the_answer_repeats_and_a_given_whitening_is_used(method):
    mu = model(4, 50, seed=2)[1]
    X = np.random.default_rng(2).multinomial(60, mu[np.repeat(np.arange(4), 60)])
    moments = SingleTopicMoments.from_data(X)
    first, again = method(moments, 3), method(moments, 3, random_state=0)
    given = method(moments, 3, whitening=whiten(moments, 3))
    part = method(moments, 3, whitening=whiten(moments, 4))
    for other in (again, given):
        np.testing.assert_array_equal(other.centers, first.centers)
        np.testing.assert_array_equal(other.weights, first.weights)
    np.testing.assert_allclose(part.centers, first.centers, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(part.diagnostics["eigenvalues"], first.diagnostics["eigenvalues"])
    with raises(InvalidParameterError, "whitening_too_small", requested=4, found=3):
        method(moments, 4, whitening=whiten(moments, 3))


@each_method
@pytest.mark.parametrize("k", [0, -1, True, 2.0, "2", None])
def test_an_invalid_number_of_components_is_refused(method, k):
    moments = SingleTopicMoments.from_parameters([0.4, 0.6], np.eye(3)[:2])
    with pytest.raises(InvalidParameterError):
        method(moments, k)
    with raises(InvalidParameterError, "not_a_number", parameter="n_components"):
        method(moments, k, whitening=whiten(moments, 2))


@pytest.mark.parametrize("name", sorted({*NAMES} - {"sidiwo", "svtd"}))  # these draw nothing
def test_an_invalid_random_state_is_refused(name):
    method = getattr(decomposition, name)
    moments = SingleTopicMoments.from_parameters([0.4, 0.6], np.eye(3)[:2])
    with raises(InvalidParameterError, "not_a_random_state"):
        method(moments, 2, random_state="x")


@each_method
@settings(deadline=None, max_examples=4)
@given(seed=st.integers(0, 10_000))
def test_permuting_features_permutes_centers(method, seed):
    rng = np.random.default_rng(seed)
    w, mu = model(3, 20, seed=seed, concentration=1.0)
    columns = rng.permutation(20)
    base = method(SingleTopicMoments.from_parameters(w, mu), 3)
    moved = method(SingleTopicMoments.from_parameters(w, mu[:, columns]), 3)
    np.testing.assert_allclose(moved.weights, base.weights, rtol=1e-6)
    np.testing.assert_allclose(moved.centers, base.centers[columns], atol=1e-7)


@each_method
def test_a_scale_of_the_weights_leaves_the_centers_alone(method):
    """Moments scale with their weights, so weights do and centers do not."""
    w, mu = model(3, 30, seed=3)
    base = method(PopulationMoments(w, mu.T), 3)
    scaled = method(PopulationMoments(4 * w, mu.T), 3)
    np.testing.assert_allclose(scaled.weights, 4 * base.weights, rtol=1e-6)
    np.testing.assert_allclose(scaled.centers, base.centers, atol=1e-8)


def test_a_spectrum_without_a_gap_gives_a_warning():
    mu = np.kron(np.eye(4), np.ones(5) / 5)
    moments = SingleTopicMoments.from_parameters(np.full(4, 0.25), mu)
    found = decomposition.sidiwo(moments, 3)
    assert abs(found.diagnostics["gap"]) < 1e-9
    assert [warning.code for warning in found.diagnostics["warnings"]] == ["no_gap_in_m2"]
    assert decomposition.sidiwo(moments, 4).diagnostics["warnings"] == []
