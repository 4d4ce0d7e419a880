"""Profiles against loops over records, and their intervals against simulated bootstraps."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from scipy.stats.contingency import relative_risk

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import group_profiles
from momentree.metrics.intervals import wilson_interval
from tests.raising import raises


def make(n, d, k, seed, missing=0.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    X = (rng.random((n, d)) < rng.random((k, d))[labels]).astype(float)
    X[rng.random((n, d)) < missing] = np.nan
    return X, labels


def same(a, b, rtol=1e-12):
    for field in dataclasses.fields(a):
        left, right = getattr(a, field.name), getattr(b, field.name)
        np.testing.assert_allclose(left, right, rtol=rtol, atol=1e-12, err_msg=field.name)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_counts_and_ratios_are_those_of_a_loop_over_records(missing):
    X, labels = make(80, 4, 3, 0, missing)
    found = group_profiles(X, labels)
    for j in range(4):
        column = X[:, j]
        known = ~np.isnan(column)
        assert found.overall[j] == pytest.approx(column[known].mean())
        for g in range(3):
            inside = [x for x, label in zip(column, labels, strict=True) if label == g and x == x]
            outside = [x for x, label in zip(column, labels, strict=True) if label != g and x == x]
            assert found.observed[g, j] == len(inside)
            assert found.counts[g, j] == sum(inside)
            assert found.frequencies[g, j] == pytest.approx(np.mean(inside))
            risk = np.mean(inside) / np.mean(outside)
            assert found.relative_risk[g, j] == pytest.approx(risk)
            assert found.lift[g, j] == pytest.approx(np.mean(inside) / column[known].mean())
    np.testing.assert_array_equal(found.n_records, np.bincount(labels))
    np.testing.assert_allclose(found.proportions, np.bincount(labels) / 80)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, lambda X: np.asfortranarray(X)])
def test_the_form_of_the_table_does_not_matter(missing, form):
    X, labels = make(60, 5, 3, 1, missing)
    same(group_profiles(X, labels), group_profiles(form(X), labels))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_type_of_the_numbers_does_not_matter(dtype, form):
    X, labels = make(300, 5, 2, 1)
    same(group_profiles(X, labels), group_profiles(form(X.astype(dtype)), labels))


def test_a_weight_of_two_is_a_record_twice():
    X, labels = make(50, 4, 3, 2, 0.2)
    weight = np.random.default_rng(0).integers(0, 4, size=50)
    proba = np.random.default_rng(1).dirichlet(np.ones(3), size=50)
    rows = np.repeat(np.arange(50), weight)
    same(
        group_profiles(X, labels, sample_weight=weight, proba=proba, n_groups=3),
        group_profiles(X[rows], labels[rows], proba=proba[rows], n_groups=3),
        rtol=1e-9,
    )


def test_rounding_of_weights_makes_no_counts():
    """Sums of tenths differ in the last bit; none of the difference is a record."""
    X = np.zeros((70, 2))
    X[:7, 0], X[7:, 1] = 1, np.nan
    found = group_profiles(X, np.repeat([0, 1, 2], [7, 30, 33]), sample_weight=np.full(70, 0.1))
    assert found.relative_risk[0, 0] == np.inf
    np.testing.assert_array_equal(found.observed[1:, 1], 0)
    assert np.isnan(found.relative_risk[:, 1]).all()


def agrees_with_draws(interval, draws, confidence):
    """Whether limits are percentiles of draws: tails of each within five standard errors."""
    tail = (1 - confidence) / 2
    error = 5 * np.sqrt(tail / len(draws))
    low, high = interval[..., 0] + 1e-9, interval[..., 1] - 1e-9
    assert ((draws < low - 2e-9).mean(axis=0) <= tail + error).all()
    assert ((draws <= low).mean(axis=0) >= tail - error).all()
    assert ((draws > high + 2e-9).mean(axis=0) <= tail + error).all()
    assert ((draws >= high).mean(axis=0) >= tail - error).all()


@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_intervals_are_those_of_a_literal_bootstrap(confidence):
    X, labels = make(40, 3, 2, 3)
    assert ((X[labels == 0].sum(axis=0) > 0) & (X[labels == 1].sum(axis=0) > 0)).all()
    found = group_profiles(X, labels, confidence=confidence)
    rng = np.random.default_rng(0)
    for g in range(2):
        rows = np.flatnonzero(labels == g)
        draws = np.array([X[rng.choice(rows, len(rows))].mean(axis=0) for _ in range(3000)])
        agrees_with_draws(found.frequency_intervals[g], draws, confidence)


def test_sizes_have_the_interval_of_wilson():
    labels = np.repeat([0, 1, 3], [30, 9, 1])
    found = group_profiles(np.zeros((40, 1)), labels, confidence=0.9)
    for g, size in enumerate((30, 9, 0, 1)):
        wilson = binomtest(size, 40).proportion_ci(0.9, method="wilson")
        np.testing.assert_allclose(found.proportion_intervals[g], [*wilson], atol=1e-12)
        np.testing.assert_allclose(found.size_intervals[g], 40 * np.array([*wilson]), atol=1e-9)


def test_size_intervals_with_probabilities_add_the_uncertainty_of_assignment():
    rng = np.random.default_rng(4)
    P = rng.dirichlet(np.ones(3), size=200)
    X = np.zeros((200, 1))
    found = group_profiles(X, P.argmax(axis=1), proba=P)
    np.testing.assert_allclose(found.sizes, P.sum(axis=0))
    certain = np.eye(3)[P.argmax(axis=1)]
    for g in range(3):
        m = P[:, g].mean()
        kept = 200 * ((P[:, g] - m) ** 2).sum() / (200 * m * (1 - m))
        expected = 200 * wilson_interval(m, kept, 0.95)
        np.testing.assert_allclose(found.size_intervals[g], expected)
    same(
        group_profiles(X, P.argmax(axis=1)),
        group_profiles(X, P.argmax(axis=1), proba=certain),
    )
    # Uninformative probabilities.
    vague = group_profiles(X, P.argmax(axis=1), proba=np.full((200, 3), 1 / 3))
    np.testing.assert_allclose(vague.proportion_intervals, [[0, 1]] * 3, atol=1e-5)


def test_size_intervals_with_probabilities_cover_the_true_share():
    """Weights of a mixture of two known normals, fitted by EM, cover 0.3 in 95% of samples.

    Within five standard errors of 200 samples; without the term of assignment they would not.
    """
    rng = np.random.default_rng(0)
    hit, hit_by_label = 0, 0
    for _ in range(200):
        n = 300
        x = rng.normal(size=n) + 1.8 * (rng.random(n) < 0.3)
        ratio, share = np.exp(1.8 * x - 1.8**2 / 2), 0.5
        for _ in range(60):
            p = share * ratio / (share * ratio + 1 - share)
            share = p.mean()
        P = np.column_stack([1 - p, p])
        labels = P.argmax(axis=1)
        X = np.zeros((n, 1))
        low, high = group_profiles(X, labels, proba=P, n_groups=2).proportion_intervals[1]
        hit += low <= 0.3 <= high
        low, high = wilson_interval(share, n, 0.95)
        hit_by_label += low <= 0.3 <= high
    error = np.sqrt(0.95 * 0.05 / 200)
    assert abs(hit / 200 - 0.95) < 5 * error
    assert hit_by_label / 200 < 0.95 - 3 * error


def test_relative_risks_have_the_interval_of_katz():
    X, labels = make(200, 5, 3, 5)
    found = group_profiles(X, labels, confidence=0.9)
    for g in range(3):
        for j in range(5):
            a, b = X[labels == g, j], X[labels != g, j]
            assert 0 < a.sum() < len(a)
            oracle = relative_risk(int(a.sum()), len(a), int(b.sum()), len(b))
            limits = oracle.confidence_interval(0.9)
            assert found.relative_risk[g, j] == pytest.approx(oracle.relative_risk)
            np.testing.assert_allclose(found.relative_risk_intervals[g, j], [*limits], rtol=1e-10)


def test_cells_of_zero_get_half_a_record():
    """Group 0: 0 of 4 against 3 of 6."""
    X = np.array([0] * 4 + [1, 1, 1, 0, 0, 0])[:, None]
    found = group_profiles(X, [0] * 4 + [1] * 6)
    middle = np.log((0.5 / 5) / (3.5 / 7))
    error = np.sqrt(1 / 0.5 - 1 / 5 + 1 / 3.5 - 1 / 7)
    limit = np.exp(middle + norm.ppf(0.975) * error)
    assert found.relative_risk[0, 0] == 0
    np.testing.assert_allclose(found.relative_risk_intervals[0, 0], [0, limit])
    assert found.relative_risk[1, 0] == np.inf
    np.testing.assert_allclose(found.relative_risk_intervals[1, 0], [1 / limit, np.inf])


def test_all_or_none_has_the_exact_limit():
    X = np.column_stack([np.zeros(7), np.ones(7)])
    found = group_profiles(X, np.zeros(7, dtype=int))
    for j, ones in enumerate((0, 7)):
        exact = binomtest(ones, 7).proportion_ci(0.95, method="exact")
        np.testing.assert_allclose(found.frequency_intervals[0, j], [*exact], rtol=1e-9)


def test_unknown_values_are_nan_without_a_warning():
    X = np.array([[1, 0, np.nan], [0, 0, 1], [1, 0, 1]])
    found = group_profiles(X, [0, 2, 2], n_groups=4)
    np.testing.assert_array_equal(found.sizes, [1, 0, 2, 0])
    assert np.isnan(found.frequencies[[1, 3]]).all()
    assert np.isnan(found.frequency_intervals[[1, 3]]).all()
    assert np.isnan(found.relative_risk[[1, 3]]).all()
    assert np.isnan(found.relative_risk_intervals[[1, 3]]).all()
    assert found.overall[1] == 0
    assert np.isnan(found.relative_risk[:, 1]).all()
    assert np.isnan(found.lift[:, 1]).all()
    assert np.isnan(found.frequencies[0, 2])
    assert found.frequencies[2, 2] == 1
    assert np.isnan(found.relative_risk[2, 2])  # nobody else is observed
    assert np.isfinite(found.size_intervals).all()
    one = group_profiles(X, [0, 0, 0])
    np.testing.assert_array_equal(one.proportion_intervals[0, 1], 1)
    assert np.isnan(one.relative_risk).all()


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 10**6),
    st.integers(1, 25),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.4]),
    st.sampled_from([0.5, 0.95, 0.999]),
)
def test_intervals_contain_their_estimates(seed, n, k, missing, confidence):
    X, labels = make(n, 3, k, seed, missing)
    P = np.random.default_rng(seed).dirichlet(np.full(k, 0.3), size=n)
    found = group_profiles(X, labels, n_groups=k, proba=P, confidence=confidence)
    step = 1e-12
    for value, interval in (
        (found.frequencies, found.frequency_intervals),
        (found.relative_risk, found.relative_risk_intervals),
    ):
        known = ~np.isnan(value)
        assert (np.isnan(interval).any(axis=-1) == ~known).all()
        assert (interval[known, 0] <= value[known] + step).all()
        assert (interval[known, 1] >= value[known] - step).all()
    assert (found.proportion_intervals[:, 0] <= found.proportions + step).all()
    assert (found.proportion_intervals[:, 1] >= found.proportions - step).all()
    assert (found.proportion_intervals >= 0).all()
    assert (found.proportion_intervals <= 1).all()
    assert found.proportions.sum() == pytest.approx(1)
    # Groups by another name are the same groups.
    order = np.random.default_rng(seed).permutation(k)
    again = group_profiles(
        X, np.argsort(order)[labels], n_groups=k, proba=P[:, order], confidence=confidence
    )
    np.testing.assert_allclose(again.frequency_intervals, found.frequency_intervals[order])
    np.testing.assert_allclose(
        again.proportion_intervals, found.proportion_intervals[order], rtol=1e-9
    )


def test_the_interval_of_wilson_is_that_of_scipy():
    ones, n = np.array([0, 1, 5, 9, 10, 10]), np.array([10, 10, 10, 10, 10, 4000])
    for (low, high), a, b in zip(wilson_interval(ones / n, n, 0.9), ones, n, strict=True):
        exact = binomtest(int(a), int(b)).proportion_ci(0.9, method="wilson")
        assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-12)


@pytest.mark.parametrize(
    ("change", "error", "code"),
    [
        ({"X": [[2, 0], [0, 1]]}, InvalidDataError, "not_a_record_value"),
        ({"X": sp.csr_array([[0.5, 0], [0, 1]])}, InvalidDataError, "not_a_record_value"),
        ({"X": [[np.inf, 0], [0, 1]]}, InvalidDataError, "not_a_record_value"),
        ({"X": [1, 0]}, InvalidDataError, "refused_by_sklearn"),
        ({"labels": [0, 1, 1]}, InvalidDataError, "wrong_shape"),
        ({"labels": [0.0, 1.0]}, InvalidDataError, "labels_not_whole"),
        ({"labels": [0, -1]}, InvalidDataError, "labels_out_of_range"),
        ({"n_groups": 1}, InvalidDataError, "labels_out_of_range"),
        ({"n_groups": 0}, InvalidParameterError, "not_a_number"),
        ({"proba": np.ones((2, 3))}, InvalidDataError, "wrong_shape"),
        ({"proba": [["a", "b"]] * 2}, InvalidDataError, "not_numbers"),
        ({"proba": np.ones((2, 2))}, InvalidDataError, "rows_not_distributions"),
        ({"sample_weight": [1, -1]}, InvalidDataError, "bad_sample_weight"),
        ({"confidence": "high"}, InvalidParameterError, "not_a_number"),
        ({"confidence": 95}, InvalidParameterError, "not_a_number"),
    ],
)
def test_bad_input_is_refused(change, error, code):
    given = {"X": [[1, 0], [0, 1]], "labels": [0, 1], **change}
    with raises(error, code):
        group_profiles(given.pop("X"), given.pop("labels"), **given)
