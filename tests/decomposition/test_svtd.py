"""SVTD: S Algorithm 1 literally, the choice of its feature, and its diagnostics."""

import importlib
import itertools

import numpy as np
import pytest

from momentree.decomposition import svtd
from momentree.exceptions import InvalidParameterError
from momentree.moments import PopulationMoments, SingleTopicMoments
from momentree.whitening import whiten
from tests.raising import raises


def sample(seed=0, k=3, d=12, n=400, length=50):
    rng = np.random.default_rng(seed)
    mu = rng.dirichlet(np.ones(d), size=k)
    return SingleTopicMoments.from_data(rng.multinomial(length, mu[rng.integers(k, size=n)]))


def literal(moments, k, r):
    """S Algorithm 1 with dense moments; E by SVD, rotation by eigenvectors."""
    d = len(moments.m1)
    M3 = moments.m3_dense()
    U, S, _ = np.linalg.svd(moments.m2 @ np.eye(d))
    E = U[:, :k] * np.sqrt(S[:k])
    inverse = np.linalg.pinv(E)
    H = [inverse @ M3[i] @ inverse.T for i in range(d)]
    R = np.linalg.eigh(H[r])[1]
    M = np.array([np.diag(R.T @ H[i] @ R) for i in range(d)])
    return M, np.linalg.lstsq(M, moments.m1, rcond=None)[0]


@pytest.mark.parametrize("feature", [0, 5, 11])
def test_is_algorithm_1(feature):
    moments = sample()
    found = svtd(moments, 3, feature=feature)
    M, omega = literal(moments, 3, feature)
    order = np.argsort(-np.maximum(omega, 0))
    np.testing.assert_allclose(found.centers, M[:, order], atol=1e-10)
    np.testing.assert_allclose(found.weights, np.maximum(omega, 0)[order], atol=1e-8)
    assert found.diagnostics["feature"] == feature


def test_selects_the_feature_that_distinguishes_components_best():
    """Remark 7 on exact moments: eigenvalues of H_r are row r of M."""
    rng = np.random.default_rng(3)
    mu = rng.dirichlet(np.ones(25), size=4)
    found = svtd(SingleTopicMoments.from_parameters(np.full(4, 0.25), mu), 4)
    alpha = [min(abs(a - b) for a, b in itertools.combinations(row, 2)) for row in mu.T]
    assert found.diagnostics["feature"] == np.argmax(alpha)
    assert found.diagnostics["alpha_r"] == pytest.approx(max(alpha), rel=1e-8)


def singular_choice(moments, k):
    """The feature of Remark 7 by singular values of slices, as the paper has it."""
    H = moments.whitened_slices(whiten(moments, k).W)
    return int(np.abs(np.diff(np.linalg.svd(H, compute_uv=False), axis=1)).min(axis=1).argmax())


def test_eigenvalues_choose_the_feature_of_singular_values_for_exact_moments_only():
    rng = np.random.default_rng(3)
    chosen = []
    for seed in range(20):
        mu = rng.dirichlet(np.ones(30), size=3)
        exact = SingleTopicMoments.from_parameters(np.full(3, 1 / 3), mu)
        assert svtd(exact, 3).diagnostics["feature"] == singular_choice(exact, 3)
        found = sample(seed, d=30, n=100, length=6)
        chosen.append((svtd(found, 3).diagnostics["feature"], singular_choice(found, 3)))
    assert any(ours != theirs for ours, theirs in chosen)


def test_slices_are_handled_in_chunks(monkeypatch):
    moments = sample()
    base = svtd(moments, 3)
    # The module, which the function of the same name hides.
    monkeypatch.setattr(importlib.import_module("momentree.decomposition.svtd"), "CHUNK", 30)
    np.testing.assert_array_equal(svtd(moments, 3).centers, base.centers)


def test_topics_that_no_word_distinguishes_give_a_warning():
    """Two pairs of topics alike in every word but not both: no row of M has distinct entries."""
    mu = np.array([[0.4, 0.4, 0.1, 0.1], [0.4, 0.1, 0.4, 0.1], [0.1, 0.4, 0.4, 0.1]])
    found = svtd(SingleTopicMoments.from_parameters([0.5, 0.3, 0.2], mu), 3)
    assert found.diagnostics["alpha_r"] < 1e-10
    assert "components_not_distinct" in [w.code for w in found.diagnostics["warnings"]]


def shifted(share):
    """Moments whose M1 has less of the second component than there is of it."""
    moments = PopulationMoments(np.array([1.0, 1.0]), np.array([[1.0, 0.2], [0.1, 1.0], [0.3, 0]]))

    class Shifted:
        m1 = moments.m1 - share * np.array([0.2, 1.0, 0.0])
        m2 = moments.m2
        whitened_slices = moments.whitened_slices

    return Shifted()


def test_negative_weights_are_set_to_zero_and_counted():
    found = svtd(shifted(1.1), 2)
    assert found.weights.tolist() == [pytest.approx(1.0), 0.0]
    assert found.diagnostics["clipped_weights"] == 1
    assert "negative_weights" in [w.code for w in found.diagnostics["warnings"]]


def test_a_center_that_points_away_from_m1_is_turned():
    moments = shifted(3)
    found = svtd(moments, 2)
    np.testing.assert_allclose(found.weights, [2.0, 1.0])
    np.testing.assert_allclose(found.centers @ found.weights, moments.m1, atol=1e-12)
    assert found.diagnostics["clipped_weights"] == 0


@pytest.mark.parametrize("feature", [-1, 12, 1.0, True, "the"])
def test_an_invalid_feature_is_refused(feature):
    with raises(InvalidParameterError, "not_a_number", parameter="feature"):
        svtd(sample(), 2, feature=feature)
