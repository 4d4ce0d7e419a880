"""T Theorem 4.3.1: bounds from data, the bias itself, and where the theorem needs a condition."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from momentree.exceptions import InvalidDataError
from momentree.moments import BernoulliMoments, bernoulli_bias, bernoulli_bias_bounds
from tests.raising import raises

ARRAYS = ("m2", "m3", "m3_pairs")
NUMBERS = ("m2_worst", "m3_pairs_worst", "m3_norm")

probabilities = hnp.arrays(
    float,
    st.tuples(st.integers(1, 4), st.integers(1, 5)),
    elements=st.one_of(st.just(0.0), st.just(1.0), st.floats(1e-6, 1)),
)


def literal(w, mu):
    """E[raw] - exact as dense tensors, by the powers of a binary variable."""
    k, d = mu.shape
    second, third = np.zeros((d, d)), np.zeros((d, d, d))
    for j in range(k):
        for a, b, c in np.ndindex(d, d, d):
            different = [mu[j, i] for i in {a, b, c}]
            third[a, b, c] += w[j] * (np.prod(different) - mu[j, a] * mu[j, b] * mu[j, c])
        for a in range(d):
            second[a, a] += w[j] * (mu[j, a] - mu[j, a] ** 2)
    return second, third


def test_the_bias_is_that_of_the_expected_raw_moments():
    rng = np.random.default_rng(0)
    w, mu = rng.dirichlet(np.ones(3)), rng.random((3, 4))
    second, third = literal(w, mu)
    found = bernoulli_bias(w, mu)
    at = np.arange(4)
    np.testing.assert_allclose(found.m2, np.diag(second))
    np.testing.assert_allclose(found.m3, third[at, at, at])
    pairs = third[at, at] * (1 - np.eye(4))
    np.testing.assert_allclose(found.m3_pairs, pairs.max(axis=1))
    assert found.m3_pairs_worst == pytest.approx(pairs.max())
    assert found.m3_norm == pytest.approx(np.linalg.norm(third))
    assert found.m2_worst == pytest.approx(np.linalg.norm(second, 2))
    raw = (mu.T * w) @ mu + second
    assert found.m2_relative == pytest.approx(np.linalg.norm(second) / np.linalg.norm(raw))


def test_the_bounds_are_those_of_the_theorem():
    X = (np.random.default_rng(1).random((30, 5)) < 0.4).astype(float)
    found = bernoulli_bias_bounds(X)
    M1, M2 = X.mean(axis=0), X.T @ X / 30
    np.testing.assert_allclose(found.m2, M1 - M1**2)
    np.testing.assert_allclose(found.m3, M1 - M1**3)
    pairs = np.array(
        [[M2[i, l] - M2[i, l] ** 2 / M1[l] if i != l else 0 for l in range(5)] for i in range(5)]  # noqa: E741
    )
    np.testing.assert_allclose(found.m3_pairs, pairs.max(axis=1))
    whole = np.sum((M1 - M1**3) ** 2) + 3 * np.sum(pairs**2)
    assert found.m3_norm == pytest.approx(np.sqrt(whole))
    assert found.m2_relative == pytest.approx(np.linalg.norm(M1 - M1**2) / np.linalg.norm(M2))


@given(mu=probabilities, data=st.data())
def test_no_bias_is_above_its_bound(mu, data):
    k = len(mu)
    w = data.draw(hnp.arrays(float, k, elements=st.floats(0.01, 1)))
    w = w / w.sum()
    bias = bernoulli_bias(w, mu)
    bound = bernoulli_bias_bounds(BernoulliMoments.from_parameters(w, mu))
    for name in ARRAYS + NUMBERS:
        assert (getattr(bias, name) <= np.asarray(getattr(bound, name)) + 1e-12).all(), name
        assert (np.asarray(getattr(bias, name)) >= 0).all(), name


@settings(max_examples=15, deadline=None)
@given(row=hnp.arrays(float, 4, elements=st.floats(0.01, 1)))
def test_bounds_are_attained_where_components_do_not_differ(row):
    w, mu = np.array([0.3, 0.7]), np.stack([row, row])
    bias = bernoulli_bias(w, mu)
    bound = bernoulli_bias_bounds(BernoulliMoments.from_parameters(w, mu))
    for name in (*ARRAYS, *NUMBERS, "m2_relative"):
        np.testing.assert_allclose(getattr(bias, name), getattr(bound, name), atol=1e-12)


def test_there_is_no_bias_where_features_are_certain():
    found = bernoulli_bias([0.5, 0.5], [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    assert found.m2_worst == found.m3_norm == found.m2_relative == 0.0


def test_the_third_inequality_needs_variables_that_are_not_negative():
    """The printed theorem requires only means in [0, 1]; this variable has mean 1/3."""
    values, chances = np.array([-2.0, 1.5]), np.array([1 / 3, 2 / 3])
    mean, cube = chances @ values, chances @ values**3
    assert 0 <= mean <= 1
    assert abs(mean**3 - cube) > 0 > cube - mean**3
    assert cube - mean**3 == pytest.approx(-49 / 108)


def test_m2_is_read_in_blocks(monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.random((50, 23)) < 0.3
    whole, params = bernoulli_bias_bounds(X), (rng.dirichlet(np.ones(2)), rng.random((2, 23)))
    exact = bernoulli_bias(*params)
    module = importlib.import_module("momentree.moments.bernoulli_bias")
    monkeypatch.setattr(module, "COLUMNS", 5)
    parts, again = bernoulli_bias_bounds(X), bernoulli_bias(*params)
    for name in (*ARRAYS, *NUMBERS, "m2_relative"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)
        np.testing.assert_allclose(getattr(again, name), getattr(exact, name), rtol=1e-12)


def test_the_bias_agrees_with_samples():
    """Mean over samples of raw minus exact second moments, within five standard errors."""
    rng = np.random.default_rng(3)
    w, mu = np.array([0.6, 0.4]), rng.random((2, 4))
    exact = np.diag((mu.T * w) @ mu)
    found = []
    for _ in range(60):
        X = rng.random((300, 4)) < mu[rng.choice(2, size=300, p=w)]
        found.append(np.diag(BernoulliMoments.from_data(X).m2 @ np.eye(4)) - exact)
    error = np.std(found, axis=0, ddof=1) / np.sqrt(60)
    assert (np.abs(np.mean(found, axis=0) - bernoulli_bias(w, mu).m2) < 5 * error).all()


def test_features_that_are_always_or_never_present():
    found = bernoulli_bias_bounds([[0, 1], [0, 1]])
    assert found.m2.tolist() == [0, 0]
    assert found.m3_norm == 0
    assert bernoulli_bias_bounds([[0, 0]]).m2_relative == 0
    assert bernoulli_bias_bounds([[1], [0]]).m3_pairs_worst == 0


def test_bad_input_is_refused():
    with raises(InvalidDataError, "not_binary"):
        bernoulli_bias_bounds([[0, 3]])
    with raises(InvalidDataError, "not_a_probability"):
        bernoulli_bias([1.0], [[2.0]])


def test_no_features_have_no_bias():
    found = bernoulli_bias([0.5, 0.5], np.empty((2, 0)))
    assert found.m2.shape == (0,)
