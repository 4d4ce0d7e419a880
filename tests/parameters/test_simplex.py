"""Projection to the simplex: the conditions of its optimum, against a general solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from momentree.exceptions import InvalidDataError
from momentree.objects import Decomposition, TopicParameters
from momentree.parameters import project_to_simplex, topic_parameters
from tests.raising import raises

vectors = arrays(np.float64, st.integers(1, 12), elements=st.floats(-5, 5, width=32))


@settings(deadline=None)
@given(vectors)
def test_projection_meets_its_optimality_conditions(v):
    """Duchi et al. 2008: p = max(v - t, 0) for one t, p >= 0, sum p = 1."""
    p = project_to_simplex(v[:, None])[:, 0]
    assert p.sum() == pytest.approx(1.0)
    assert (p >= 0).all()
    shift = (v - p)[p > 0]
    assert np.ptp(shift) < 1e-9
    assert (v[p == 0] <= shift.max() + 1e-9).all()


@settings(deadline=None)
@given(vectors)
def test_projection_twice_is_projection_once(v):
    p = project_to_simplex(v[:, None])
    np.testing.assert_allclose(project_to_simplex(p), p, atol=1e-12)


def test_projection_agrees_with_a_general_solver():
    v = np.random.default_rng(0).normal(size=6)
    found = minimize(
        lambda p: ((p - v) ** 2).sum(),
        np.full(6, 1 / 6),
        bounds=[(0, None)] * 6,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(project_to_simplex(v[:, None])[:, 0], found.x, atol=1e-6)


def test_columns_are_projected_independently():
    V = np.random.default_rng(1).normal(size=(9, 4))
    one_by_one = [project_to_simplex(V[:, [j]]) for j in range(4)]
    np.testing.assert_array_equal(project_to_simplex(V), np.hstack(one_by_one))


def test_topic_parameters_are_distributions():
    found = topic_parameters(
        Decomposition(np.array([[0.9, -0.1], [0.2, 1.0]]), np.array([0.9, 0.3]))
    )
    np.testing.assert_allclose(found.weights, [0.75, 0.25])
    np.testing.assert_allclose(found.centers, [[0.85, 0.0], [0.15, 1.0]])


def test_invalid_parameters_are_refused():
    with raises(InvalidDataError, "sums_not_one", parameter="weights"):
        TopicParameters(np.array([0.5, 0.6]), np.full((2, 2), 0.5))
    with raises(InvalidDataError, "wrong_shape", parameter="weights"):
        TopicParameters(np.array([1.0]), np.full((2, 2), 0.5))
