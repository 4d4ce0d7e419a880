"""Predictive accuracy against scikit-learn's cross-validation, rates against counting."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from scipy.stats.contingency import relative_risk
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import outcome_rates, predictive_accuracy
from tests.raising import raises


def make(n, k, seed, classes=2):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    rates = rng.dirichlet(np.ones(classes), size=k)
    return labels, np.array([rng.choice(classes, p=rates[g]) for g in labels])


@pytest.mark.parametrize("classes", [2, 3])
def test_the_regression_is_that_of_scikit_learn_on_the_indicator(classes):
    """Row by row, as the thesis has it, over the same folds."""
    labels, outcome = make(400, 5, 0, classes)
    found = predictive_accuracy(labels, outcome, random_state=7)
    folds = StratifiedKFold(5, shuffle=True, random_state=np.random.RandomState(7))
    model = LogisticRegression(max_iter=1000, tol=1e-8)
    one_hot = np.eye(5)[labels]
    scores = cross_val_score(model, one_hot, outcome, cv=folds)
    assert found.accuracy == pytest.approx(scores.mean(), abs=1e-12)
    assert found.std == pytest.approx(scores.std(), abs=1e-12)
    if classes == 2:
        folds = StratifiedKFold(5, shuffle=True, random_state=np.random.RandomState(7))
        areas = cross_val_score(model, one_hot, outcome, cv=folds, scoring="roc_auc")
        assert found.auc == pytest.approx(areas.mean(), abs=1e-9)
    else:
        assert found.auc is None


def test_each_group_is_predicted_to_have_its_most_frequent_class():
    labels, outcome = make(3000, 6, 1, classes=4)
    found = predictive_accuracy(labels, outcome)
    folds = StratifiedKFold(5, shuffle=True, random_state=np.random.RandomState(0))
    right, constant = [], []
    for train, test in folds.split(labels, outcome):
        table = np.zeros((6, 4))
        np.add.at(table, (labels[train], outcome[train]), 1)
        right.append(np.mean(table.argmax(axis=1)[labels[test]] == outcome[test]))
        constant.append(np.mean(table.sum(axis=0).argmax() == outcome[test]))
    assert found.accuracy == pytest.approx(np.mean(right), abs=1e-12)
    assert found.std == pytest.approx(np.std(right), abs=1e-12)
    assert found.baseline == pytest.approx(np.mean(constant), abs=1e-12)
    assert found.n == 3000


def test_unrelated_groups_are_no_better_than_a_constant():
    rng = np.random.default_rng(0)
    labels, outcome = rng.integers(4, size=20000), rng.random(20000) < 0.3
    found = predictive_accuracy(labels, outcome)
    assert found.accuracy == found.baseline
    # Under no effect the area has standard error sqrt((n + 1) / (12 a b)), a + b = n.
    assert abs(found.auc - 0.5) < 5 * np.sqrt(20001 / (12 * 6000 * 14000))


def test_groups_that_determine_the_outcome_are_always_right():
    labels = np.repeat(["red", "blue", "green"], 20)
    found = predictive_accuracy(labels, labels == "blue")
    assert (found.accuracy, found.std, found.auc) == (1, 0, 1)
    assert found.baseline == pytest.approx(2 / 3)


def test_missing_outcomes_are_omitted():
    labels, outcome = make(200, 3, 2)
    numbers = outcome.astype(float)
    numbers[150:] = np.nan
    full = predictive_accuracy(labels[:150], outcome[:150], cv=2)
    assert predictive_accuracy(labels, numbers, cv=2) == full
    counts = outcome_rates(labels[:150], outcome[:150]).counts
    kinds = [numbers, pd.Series(numbers).astype("Int64")]
    for missing in (np.nan, None, pd.NA, ""):
        holes = [*outcome[:150].tolist(), *[missing] * 50]
        kinds += [holes, pd.Series(holes, dtype=object, index=np.arange(200)[::-1])]
    for values in kinds:
        np.testing.assert_array_equal(outcome_rates(labels, values).counts, counts)


def test_a_threshold_makes_two_classes_of_numbers():
    labels, outcome = make(200, 3, 3)
    days = np.where(outcome, 7.5, 7.0) + np.linspace(0, 0.4, 200) * outcome
    expected = predictive_accuracy(labels, outcome, cv=2)
    assert predictive_accuracy(labels, days, threshold=7, cv=2) == expected
    assert predictive_accuracy(labels, [f"{day}" for day in days], threshold=7, cv=2) == expected


def test_rare_classes_do_not_warn():
    labels, outcome = make(200, 3, 3, 3)
    outcome = np.where(np.arange(200) < 2, 9, outcome)
    assert predictive_accuracy(labels, outcome).n == 200


@pytest.mark.parametrize(
    ("labels", "outcome", "options", "error", "code"),
    [
        ([0, 1], [0, 1, 1], {}, InvalidDataError, "wrong_shape"),
        ([0, 1], [[0], [1]], {}, InvalidDataError, "wrong_shape"),
        ([0, 1], sp.csr_array([[0], [1]]), {}, InvalidDataError, "wrong_shape"),
        ([0, None], [0, 1], {}, InvalidDataError, "values_without_order"),
        ([0] * 12, range(12), {}, InvalidDataError, "outcome_of_many_numbers"),
        ([0] * 60, [f"id{i}" for i in range(60)], {}, InvalidDataError, "outcome_of_many_texts"),
        ([0] * 3, ["a", "b", "c"], {"threshold": 1}, InvalidDataError, "outcome_not_a_number"),
        ([0] * 9, [1] * 9, {}, InvalidDataError, "too_few_classes"),
        ([0] * 9, [None] * 9, {}, InvalidDataError, "too_few_classes"),
        ([0] * 9, [1] * 8 + [0], {}, InvalidDataError, "classes_too_small"),
        ([[0]], [1], {}, InvalidDataError, "wrong_shape"),
        ([0, 1], [0, 1], {"cv": 1}, InvalidParameterError, "not_a_number"),
    ],
)
def test_bad_input_is_refused(labels, outcome, options, error, code):
    with raises(error, code):
        predictive_accuracy(labels, outcome, **options)


def test_rates_are_counted_with_their_intervals():
    labels, outcome = make(300, 4, 4, 3)
    found = outcome_rates(labels, np.array(["b", "a", "c"])[outcome], confidence=0.9)
    assert found.classes == ("a", "b", "c")
    for g in range(4):
        for j, name in enumerate((1, 0, 2)):
            inside, outside = outcome[labels == g] == name, outcome[labels != g] == name
            a, b = int(inside.sum()), int(outside.sum())
            wilson = binomtest(a, len(inside)).proportion_ci(0.9, method="wilson")
            assert found.counts[g, j] == a
            assert found.rates[g, j] == pytest.approx(inside.mean())
            assert found.overall[j] == pytest.approx((outcome == name).mean())
            np.testing.assert_allclose(found.intervals[g, j], [*wilson], rtol=1e-9)
            risk = relative_risk(a, len(inside), b, len(outside))
            assert found.relative[g, j] == pytest.approx(risk.relative_risk)
            limits = [*risk.confidence_interval(0.9)]
            np.testing.assert_allclose(found.relative_intervals[g, j], limits, rtol=1e-9)


@pytest.mark.parametrize(
    ("outcome", "options", "name"),
    [
        ([True, False, True, None], {}, "True"),
        ([1, 0, 1, np.nan], {}, "1"),
        ([8.5, 2, 9, np.nan], {"threshold": 7}, "above 7"),
    ],
)
def test_yes_or_no_has_one_column(outcome, options, name):
    found = outcome_rates([0, 0, 1, 1], outcome, n_groups=3, **options)
    assert found.classes == (name,)
    np.testing.assert_array_equal(found.n, [2, 1, 0])
    np.testing.assert_array_equal(found.rates.ravel(), [0.5, 1, np.nan])
    assert np.isnan(found.intervals[2]).all()
    assert np.isnan(found.relative_intervals[2]).all()


def test_an_outcome_that_never_happens_has_rate_zero():
    found = outcome_rates([0, 0, 1], [0, 0, 0])
    assert (found.classes, found.rates.ravel().tolist()) == (("1",), [0, 0])
    assert np.isnan(found.relative).all()
    nothing = outcome_rates([0, 0, 1], [None, np.nan, ""])
    np.testing.assert_array_equal(nothing.n, 0)


def test_few_numbers_are_classes_in_their_order():
    found = outcome_rates([0, 0, 0, 0], [10, 9, 2.5, 2.5])
    assert found.classes == ("2.5", "9", "10")
    np.testing.assert_array_equal(found.counts, [[2, 1, 1]])


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 4), st.integers(2, 4))
def test_intervals_contain_their_rates(seed, n, k, classes):
    labels, outcome = make(n, k, seed, classes)
    found = outcome_rates(labels, [f"c{c}" for c in outcome], n_groups=k)
    for value, interval in (
        (found.rates, found.intervals),
        (found.relative, found.relative_intervals),
    ):
        known = ~np.isnan(value)
        assert (interval[known, 0] <= value[known] + 1e-12).all()
        assert (interval[known, 1] >= value[known] - 1e-12).all()
    np.testing.assert_allclose(found.rates[found.n > 0].sum(axis=1), 1)
    assert found.n.sum() == n
