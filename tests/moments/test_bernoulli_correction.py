"""Corrected moments of binary data: exact for exact parameters, better for estimated ones."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentree.datasets import make_bernoulli_mixture
from momentree.decomposition import sidiwo, svtd
from momentree.metrics import recovery_error
from momentree.moments import BernoulliMoments, CorrectedMoments, bernoulli_bias


def model(seed, d, k):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(k, 3.0)), rng.random((d, k))


def population(w, mu):
    """The raw moments of all 2^d rows, weighted by their probabilities."""
    rows = np.array(list(itertools.product([0, 1], repeat=len(mu))))
    chance = [np.prod(np.where(x[:, None] == 1, mu, 1 - mu), axis=0) @ w for x in rows]
    return BernoulliMoments.from_data(rows, sample_weight=chance)


@given(seed=st.integers(0, 10_000), d=st.integers(1, 5), k=st.integers(1, 4))
def test_the_true_parameters_give_the_exact_moments(seed, d, k):
    w, mu = model(seed, d, k)
    found = CorrectedMoments(population(w, mu), w, mu)
    exact = BernoulliMoments.from_parameters(w, mu.T)
    W = np.random.default_rng(seed).normal(size=(3, d))
    np.testing.assert_allclose(found.m1, exact.m1, atol=1e-12)
    np.testing.assert_allclose(found.m2 @ np.eye(d), exact.m2 @ np.eye(d), atol=1e-12)
    np.testing.assert_allclose(found.m2 @ W[0], exact.m2 @ W[0], atol=1e-11)
    np.testing.assert_allclose(found.whitened_slices(W), exact.whitened_slices(W), atol=1e-10)
    np.testing.assert_allclose(found.whitened_tensor(W), exact.whitened_tensor(W), atol=1e-10)


def test_the_correction_is_the_bias():
    """The closed form of the bias, entry by entry."""
    w, mu = model(7, 5, 3)
    raw = population(w, mu)
    found, bias, one = CorrectedMoments(raw, w, mu), bernoulli_bias(w, mu.T), np.eye(5)
    np.testing.assert_allclose(np.diag(raw.m2 @ one - found.m2 @ one), bias.m2, atol=1e-14)
    excess = raw.whitened_slices(one) - found.whitened_slices(one)
    at = np.arange(5)
    np.testing.assert_allclose(excess[at, at, at], bias.m3, atol=1e-14)
    pairs = excess[:, at, at]
    np.fill_diagonal(pairs, 0.0)
    np.testing.assert_allclose(pairs.max(axis=0), bias.m3_pairs, atol=1e-14)
    for a, b, c in itertools.permutations(range(5), 3):
        assert abs(excess[a, b, c]) < 1e-14


def test_the_given_moments_are_not_changed():
    w, mu = model(1, 5, 2)
    raw, W = population(w, mu), np.eye(5)
    before = raw.whitened_slices(W), raw.whitened_tensor(W)
    found = CorrectedMoments(raw, w, mu)
    found.whitened_slices(W), found.whitened_tensor(W)
    np.testing.assert_array_equal(raw.whitened_slices(W), before[0])
    np.testing.assert_array_equal(raw.whitened_tensor(W), before[1])


@pytest.mark.parametrize("method", [svtd, sidiwo])
def test_a_decomposition_recovers_the_true_parameters(method):
    w, mu = model(3, 5, 3)
    raw = population(w, mu)
    found = method(CorrectedMoments(raw, w, mu), 3)
    assert recovery_error(found.centers.T, mu.T) < 1e-6
    # The raw moments do not.
    assert recovery_error(method(raw, 3).centers.T, mu.T) > 1e-2


@pytest.mark.parametrize("method", [svtd, sidiwo])
def test_estimated_parameters_lower_the_error_of_the_centers(method):
    """On samples of few features, where bias is most of the error: four standard errors."""
    gains = []
    for seed in range(10):
        truth = make_bernoulli_mixture(
            4000, 15, 3, weights=[0.5, 0.3, 0.2], scaled_by="feature", random_state=seed
        )
        moments = BernoulliMoments.from_data(truth.X)
        raw = found = method(moments, 3)
        for _ in range(3):
            centers, weights = np.clip(found.centers, 0, 1), found.weights / found.weights.sum()
            found = method(CorrectedMoments(moments, weights, centers), 3)
        before, after = (recovery_error(one.centers.T, truth.means) for one in (raw, found))
        gains.append((before - after) / before)
    error = np.std(gains, ddof=1) / np.sqrt(len(gains))
    assert np.mean(gains) > 4 * error
    assert np.mean(gains) > 0.1
