"""Matching against all permutations, errors against their definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import match_components, recovery_error
from tests.raising import raises

NORMS = {"l1": lambda v: np.abs(v).sum(), "l2": lambda v: np.sqrt((v**2).sum())}


def best_of_all(found, truth, norm):
    """The smallest mean distance over all matchings; zeros stand for missing components."""
    k, d = truth.shape
    found = np.vstack([found, np.zeros((max(0, k - len(found)), d))])
    return min(
        sum(norm(found[i] - truth[j]) for j, i in enumerate(choice)) / k
        for choice in itertools.permutations(range(len(found)), k)
    )


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.integers(0, 5), st.integers(1, 4), st.sampled_from(["l1", "l2"]))
def test_the_error_is_the_least_over_all_matchings(seed, n_found, k, metric):
    rng = np.random.default_rng(seed)
    found, truth = rng.normal(size=(n_found, 3)), rng.normal(size=(k, 3))
    expected = best_of_all(found, truth, NORMS[metric])
    assert recovery_error(found, truth, metric) == pytest.approx(expected, rel=1e-12)
    order = match_components(found, truth, metric)
    assert order.shape == (k,)
    assert (order >= 0).sum() == min(n_found, k)
    matched = np.where((order >= 0)[:, None], np.vstack([found, np.zeros(3)])[order], 0.0)
    attained = np.mean([NORMS[metric](row) for row in matched - truth])
    assert attained == pytest.approx(expected, rel=1e-12)


@settings(deadline=None, max_examples=20)
@given(st.permutations(range(6)))
def test_a_permutation_is_found(p):
    truth = np.random.default_rng(0).dirichlet(np.ones(8), size=6)
    found = truth[p]
    np.testing.assert_array_equal(found[match_components(found, truth)], truth)
    assert recovery_error(found, truth) == 0


def test_unmatched_components_count_with_their_norms():
    truth = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert recovery_error(truth[1:], truth) == 0.5
    assert recovery_error(np.zeros((0, 2)), truth) == 1
    assert recovery_error([[3.0, 4.0]], [[0.0, 0.0]], "l2") == 5
    assert recovery_error([[9.0, 9.0], [1.0, 0.0]], truth[:1]) == 0


@pytest.mark.parametrize(
    ("found", "truth", "code"),
    [
        (np.ones((2, 3)), np.ones((2, 4)), "wrong_shape"),
        (np.ones((2, 3)), np.ones((0, 3)), "no_true_components"),
        (np.ones(3), np.ones((2, 3)), "wrong_shape"),
        ([[np.nan]], [[1.0]], "not_finite"),
        ([["a"]], [[1.0]], "not_numbers"),
    ],
)
@pytest.mark.parametrize("function", [match_components, recovery_error])
def test_bad_components_are_refused(function, found, truth, code):
    with raises(InvalidDataError, code):
        function(found, truth)
    with raises(InvalidParameterError, "not_a_choice", parameter="metric"):
        function([[1.0]], [[1.0]], "l3")
