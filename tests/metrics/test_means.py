"""Means of groups against loops over samples and scipy's intervals."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import t as student

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import group_means
from tests.raising import raises


def make(n=90, d=4, k=3, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    X = 3.0 * rng.normal(size=(k, d))[labels] + rng.normal(size=(n, d))
    X[rng.random((n, d)) < missing] = np.nan
    return X, labels


def same(a, b, rtol=1e-10):
    for field in dataclasses.fields(a):
        left, right = getattr(a, field.name), getattr(b, field.name)
        np.testing.assert_allclose(left, right, rtol=rtol, atol=1e-12, err_msg=field.name)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_means_are_those_of_a_loop_over_samples(missing):
    X, labels = make(missing=missing)
    found = group_means(X, labels, confidence=0.9)
    for j in range(4):
        known = [X[(labels == g) & ~np.isnan(X[:, j]), j] for g in range(3)]
        every = np.concatenate(known)
        assert found.overall[j] == pytest.approx(every.mean())
        assert found.overall_deviations[j] == pytest.approx(every.std(ddof=1))
        within = np.sqrt(sum(((x - x.mean()) ** 2).sum() for x in known) / (len(every) - 3))
        assert found.within[j] == pytest.approx(within)
        for g, inside in enumerate(known):
            outside = np.concatenate([x for h, x in enumerate(known) if h != g])
            assert found.observed[g, j] == len(inside)
            assert found.means[g, j] == pytest.approx(inside.mean())
            assert found.standard_deviations[g, j] == pytest.approx(inside.std(ddof=1))
            error = inside.std(ddof=1) / np.sqrt(len(inside))
            limits = student.interval(0.9, len(inside) - 1, inside.mean(), error)
            np.testing.assert_allclose(found.mean_intervals[g, j], limits)
            apart = (inside.mean() - outside.mean()) / within
            assert found.differences[g, j] == pytest.approx(apart)
    np.testing.assert_array_equal(found.n_samples, np.bincount(labels))


def test_intervals_cover_the_true_mean_as_often_as_they_say():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(6, 20_000)), [0, 0, 0, 0, 1, 1]
    low, high = group_means(X, labels).mean_intervals[0].T
    covered = ((low < 0) & (high > 0)).mean()
    assert abs(covered - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 20_000)  # four standard errors


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_weight_of_two_equals_two_rows(missing):
    X, labels = make(missing=missing)
    weight = np.random.default_rng(1).integers(0, 4, size=len(X))
    at = np.repeat(np.arange(len(X)), weight)
    same(group_means(X, labels, sample_weight=weight), group_means(X[at], labels[at]))


def test_the_form_of_the_table_does_not_matter():
    X, labels = make()
    X[X < 0] = 0.0
    same(group_means(X, labels), group_means(sp.csr_array(X), labels))


def test_a_shift_far_from_zero_loses_no_digits():
    X, labels = make()
    near, far = group_means(X, labels), group_means(X + 1e9, labels)
    np.testing.assert_allclose(far.differences, near.differences, rtol=1e-5)  # of 1e9 * eps
    np.testing.assert_allclose(far.within, near.within, rtol=1e-5)


def test_cells_without_an_answer_are_nan():
    X = np.array([[1.0, np.nan, 2.0], [2.0, np.nan, 2.0], [3.0, 4.0, 2.0]])
    found = group_means(X, [0, 0, 1], n_groups=3)
    assert np.isnan(found.means[2]).all()  # an empty group
    assert np.isnan(found.means[0, 1])
    assert np.isnan(found.standard_deviations[1]).all()  # one sample has no spread
    assert np.isnan(found.mean_intervals[1]).all()
    assert found.within[2] == 0.0
    assert found.differences[0, 2] == 0.0  # a constant feature differs nowhere
    assert np.isposinf(group_means([[1.0], [2.0]], [0, 1]).differences[1, 0])


def test_bad_input_is_refused():
    X, labels = make()
    with pytest.raises(InvalidParameterError):
        group_means(X, labels, confidence=1.0)
    with raises(InvalidDataError, "infinite_value"):
        group_means(np.where(X > 3, np.inf, X), labels)
    with pytest.raises(InvalidDataError):
        group_means(X, labels[1:])
