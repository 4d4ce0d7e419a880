"""Groups that come back, groups that do not, and intervals against refits by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import bootstrap_groups
from tests.raising import raises


class ByRule(ClusterMixin, BaseEstimator):
    """Groups by the first code a record has, under names that change with each fit."""

    def fit(self, X, y=None, sample_weight=None):
        self.names_ = np.arange(3)
        if sample_weight is not None and self.shuffles:
            self.names_ = np.random.default_rng(int(sample_weight[:7] @ np.arange(7))).permutation(
                3
            )
        self.labels_ = self.predict(X)
        return self

    def __init__(self, shuffles=True):
        self.shuffles = shuffles

    def predict(self, X):
        X = X.toarray() if sp.issparse(X) else X
        return self.names_[X[:, :3].argmax(axis=1)]


def one_code_each(sizes, d=5, seed=0):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    X = np.zeros((len(groups), d))
    X[np.arange(len(groups)), groups] = 1
    X[:, 3:] = np.random.default_rng(seed).random((len(groups), d - 3)) < 0.4
    return X, groups


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_groups_by_a_rule_are_stable_under_any_numbering(form):
    X, groups = one_code_each([60, 30, 10])
    found = bootstrap_groups(ByRule(), form(X), n_bootstrap=200)
    np.testing.assert_array_equal(found.labels, groups)
    np.testing.assert_array_equal(found.jaccard, 1)
    np.testing.assert_array_equal(found.recovered, 1)
    np.testing.assert_array_equal(found.sizes, [60, 30, 10])
    np.testing.assert_allclose(found.frequencies[1], X[groups == 1].mean(axis=0))
    # Only sampling error remains: sizes are binomial. The standard error of a 2.5% quantile of 200
    # draws of a normal variable is about 0.19 of its standard deviation; the bound is five, and 1.
    for g, size in enumerate((60, 30, 10)):
        exact = binom.ppf([0.025, 0.975], 100, size / 100)
        slack = 5 * 0.19 * np.sqrt(size * (100 - size) / 100) + 1
        assert np.abs(found.size_intervals[g] - exact).max() < slack
    low, high = np.moveaxis(found.frequency_intervals[:, 3:], -1, 0)
    assert ((low < found.frequencies[:, 3:]) & (found.frequencies[:, 3:] < high)).all()


def test_intervals_are_percentiles_of_refits():
    X, groups = one_code_each([25, 20, 15])
    found = bootstrap_groups(
        ByRule(), X, n_bootstrap=20, confidence=0.8, random_state=np.random.RandomState(5)
    )
    rng = np.random.RandomState(5)
    sizes, frequencies = [], []
    for _ in range(20):
        rows = np.repeat(np.arange(60), rng.multinomial(60, np.full(60, 1 / 60)))
        sizes.append(np.bincount(groups[rows], minlength=3))
        frequencies.append([X[rows][groups[rows] == g].mean(axis=0) for g in range(3)])
    for values, interval in (
        (sizes, found.size_intervals),
        (frequencies, found.frequency_intervals),
    ):
        expected = np.quantile(np.array(values), [0.1, 0.9], axis=0)
        np.testing.assert_allclose(np.moveaxis(interval, -1, 0), expected, rtol=1e-12)


def test_an_arbitrarily_divided_group_is_not_stable():
    """Two clear groups and three requested: one comes back, the halves of the other do not."""
    rng = np.random.default_rng(0)
    P = np.array([[0.95] * 15 + [0.05] * 15, [0.05] * 15 + [0.4] * 15])
    X = (rng.random((300, 30)) < P[np.repeat([0, 1], 150)]).astype(float)
    found = bootstrap_groups(KMeans(3, n_init=1, random_state=0), X, n_bootstrap=15)
    whole = found.labels[0]
    assert (found.labels[:150] == whole).all()
    halves = np.delete(np.arange(3), whole)
    assert found.jaccard[whole] > 0.95
    assert (found.jaccard[halves] < 0.75).all()
    # Their sizes vary more than those of groups that are given.
    given = np.array([binom.ppf([0.025, 0.975], 300, s / 300) for s in found.sizes[halves]])
    assert np.diff(found.size_intervals[halves]).mean() > 1.3 * np.diff(given).mean()


def test_the_similarity_is_that_of_the_best_match():
    """Groups 0 and 1 are joined in each repeat: the larger one finds most of the union."""

    class Joins(ByRule):
        def predict(self, X):
            groups = X[:, :3].argmax(axis=1)
            return groups if self.names_[0] == 0 else np.where(groups == 2, 1, 0)

        def fit(self, X, y=None, sample_weight=None):
            self.names_ = np.full(3, 0 if sample_weight is None else 1)
            self.labels_ = self.predict(X)
            return self

    X, _ = one_code_each([30, 20, 10])
    found = bootstrap_groups(Joins(), X, n_bootstrap=6)
    np.testing.assert_allclose(found.jaccard, [30 / 50, 0, 1])
    np.testing.assert_array_equal(found.recovered, [1, 0, 1])
    assert np.isnan(found.size_intervals[1]).all()
    assert np.isnan(found.frequency_intervals[1]).all()
    assert np.isfinite(found.size_intervals[[0, 2]]).all()


def test_weights_are_numbers_of_records():
    """Rows of weight 0 are never drawn, and a weight of three is drawn as three records are."""
    X, groups = one_code_each([40, 20, 10])
    X[groups == 2, 4] = 1
    weight = np.where(groups == 0, 3.0, np.where(groups == 1, 1.0, 0.0))
    found = bootstrap_groups(ByRule(shuffles=False), X, n_bootstrap=200, sample_weight=weight)
    np.testing.assert_array_equal(found.sizes, [120, 20, 0])
    exact = binom.ppf([0.025, 0.975], 140, 20 / 140)
    assert np.abs(found.size_intervals[1] - exact).max() < 5 * 0.19 * np.sqrt(20 * 6 / 7) + 1
    assert np.isnan(found.frequencies[2]).all()


def test_the_same_seed_gives_the_same_answer():
    X, _ = one_code_each([20, 20, 20])
    a, b = (bootstrap_groups(ByRule(), X, n_bootstrap=5, random_state=s) for s in (None, 0))
    np.testing.assert_array_equal(a.size_intervals, b.size_intervals)
    other = bootstrap_groups(ByRule(), X, n_bootstrap=5, random_state=1)
    assert not np.array_equal(a.size_intervals, other.size_intervals)


@pytest.mark.parametrize(
    ("change", "error", "code"),
    [
        ({"n_bootstrap": 0}, InvalidParameterError, "not_a_number"),
        ({"confidence": 1.0}, InvalidParameterError, "not_a_number"),
        ({"confidence": None}, InvalidParameterError, "not_a_number"),
        ({"estimator": GaussianMixture()}, InvalidParameterError, "fit_without_sample_weight"),
        ({"X": np.full((4, 2), 2)}, InvalidDataError, "not_a_record_value"),
        ({"sample_weight": np.full(6, 1e18)}, InvalidDataError, "weights_too_large_to_draw"),
        ({"sample_weight": [1.0]}, InvalidDataError, "wrong_shape"),
    ],
)
def test_bad_input_is_refused(change, error, code):
    given = {"estimator": ByRule(), "X": one_code_each([2, 2, 2])[0], **change}
    with raises(error, code):
        bootstrap_groups(given.pop("estimator"), given.pop("X"), **given)
