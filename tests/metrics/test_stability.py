"""Agreement of two clusterings against counted pairs, and the protocol of the thesis."""

import itertools
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin

from momentree import MixedMixture
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import stability_score
from tests.raising import raises


class FirstCode(ClusterMixin, BaseEstimator):
    """Puts a record into the group of its first code, and remembers what it was fitted to."""

    seen: ClassVar = []

    def fit(self, X, y=None, sample_weight=None):
        X = X.toarray() if sp.issparse(X) else X
        self.labels_ = X[:, :3].argmax(axis=1)
        FirstCode.seen.append((X, sample_weight))
        return self


class Chance(ClusterMixin, BaseEstimator):
    """Groups that have nothing to do with the data, and differ from fit to fit."""

    n = 0

    def fit(self, X, y=None):
        Chance.n += 1
        self.n_ = Chance.n
        return self

    def predict(self, X):
        return np.random.default_rng(self.n_).integers(4, size=len(X))


@pytest.fixture
def numbered():
    """Records whose last column is their number."""
    X = np.zeros((101, 4))
    X[np.arange(101), np.arange(101) % 3] = 1
    X[:, 3] = np.arange(101)
    FirstCode.seen.clear()
    return X


def test_stability_is_measured_on_the_common_samples():
    rng = np.random.default_rng(0)
    clusters = rng.integers(3, size=100)
    rows = rng.permutation(100)
    common, only_a, only_b = rows[:80], rows[80:90], rows[90:]
    a, b = rng.permutation(np.r_[common, only_a]), rng.permutation(np.r_[common, only_b])
    # What happens outside S, and how clusters are named, does not count.
    labels_a = np.where(np.isin(a, only_a), rng.integers(3, size=90), clusters[a])
    labels_b = np.array(["x", "y", "z"])[clusters[b]]
    assert stability_score(labels_a, labels_b, ids_a=a, ids_b=b) == 1
    assert stability_score(clusters, 2 - clusters) == 1


def test_stability_of_unrelated_clusterings_is_near_zero():
    """The adjusted Rand index has mean 0 over random partitions: within 5 standard errors."""
    rng = np.random.default_rng(1)
    scores = [
        stability_score(rng.integers(4, size=200), rng.integers(4, size=200)) for _ in range(50)
    ]
    assert abs(np.mean(scores)) < 5 * np.std(scores, ddof=1) / np.sqrt(50)


def test_stability_is_the_adjusted_rand_index():
    """Hubert and Arabie's formula, counted pair by pair."""
    rng = np.random.default_rng(2)
    a, b = rng.integers(3, size=15), rng.integers(4, size=15)
    pairs = list(itertools.combinations(range(15), 2))
    same_a = np.array([a[i] == a[j] for i, j in pairs])
    same_b = np.array([b[i] == b[j] for i, j in pairs])
    expected = same_a.sum() * same_b.sum() / len(pairs)
    both, most = (same_a & same_b).sum(), (same_a.sum() + same_b.sum()) / 2
    score = (both - expected) / (most - expected)
    assert stability_score(a, b) == pytest.approx(score, rel=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_protocol_draws_two_overlapping_samples(numbered, form):
    """S is 80% of the records, Sa and Sb are disjoint tenths, drawn again for each repeat."""
    scores = stability_score(FirstCode(), form(numbered), n_repeats=3)
    np.testing.assert_array_equal(scores, np.ones(3))
    rows = [set(X[:, 3].astype(int)) for X, _ in FirstCode.seen]
    assert len(rows) == 6
    for a, b in zip(rows[::2], rows[1::2], strict=True):
        assert (len(a & b), len(a - b), len(b - a)) == (80, 10, 10)
    assert len({frozenset(a & b) for a, b in zip(rows[::2], rows[1::2], strict=True)}) == 3


def test_weights_go_with_their_records(numbered):
    stability_score(FirstCode(), numbered, n_repeats=1, sample_weight=numbered[:, 3] + 1)
    for X, weight in FirstCode.seen:
        np.testing.assert_array_equal(weight, X[:, 3] + 1)
    FirstCode.seen.clear()
    stability_score(FirstCode(), numbered, n_repeats=1)
    assert all(weight is None for _, weight in FirstCode.seen)


def test_the_score_is_that_of_the_labels_on_the_common_records(numbered):
    """An estimator whose groups change with the sample, scored by hand from what it saw."""

    class Halves(FirstCode):
        def fit(self, X, y=None):
            super().fit(X)
            self.labels_ = (X[:, 3] > X[:, 3].mean() + (X[:, 3].sum() % 7)).astype(int)
            FirstCode.seen[-1] = (X, self.labels_)
            return self

    scores = stability_score(Halves(), numbered, n_repeats=4, random_state=3)
    runs = [(X[:, 3].astype(int), labels) for X, labels in FirstCode.seen]
    expected = [
        stability_score(a[1], b[1], ids_a=a[0], ids_b=b[0])
        for a, b in zip(runs[::2], runs[1::2], strict=True)
    ]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    assert scores.min() < 1


def test_groups_by_chance_score_near_zero():
    """Mean 0 of the index over random partitions: within 5 standard errors."""
    scores = stability_score(Chance(), np.zeros((200, 2)), n_repeats=40)
    assert abs(scores.mean()) < 5 * scores.std(ddof=1) / np.sqrt(40)


def test_the_same_seed_draws_the_same_samples(numbered):
    for seed in (None, 0, np.random.RandomState(0)):
        stability_score(FirstCode(), numbered, n_repeats=1, random_state=seed)
    first = FirstCode.seen[0][0]
    assert all(np.array_equal(X, first) for X, _ in FirstCode.seen[2::2])


def test_labels_may_be_any_numbers():
    """Only which labels are equal counts: also infinite and complex ones."""
    assert stability_score([np.inf, 1.0, np.inf], [1j, 0j, 1j]) == 1.0


@pytest.mark.parametrize(
    ("arguments", "ids", "code"),
    [
        (([0, 1], [0, 1, 1]), {}, "labels_of_unequal_length"),
        (([0, 1], [0, 1]), {"ids_a": [0, 1]}, "one_list_of_ids"),
        (([0, 1], [0, 1]), {"ids_a": [0, 0], "ids_b": [0, 1]}, "ids_not_unique"),
        (([0, 1], [0, 1]), {"ids_a": [0, 1, 2], "ids_b": [0, 1]}, "ids_not_unique"),
        (([0, 1], [0, 1]), {"ids_a": [0, 1], "ids_b": [1, 2]}, "too_few_common_samples"),
        (([[0, 1]], [0, 1]), {}, "wrong_shape"),
        (([0, None], [0, 1]), {}, "values_without_order"),
        (([0, 1], [0, 1]), {"ids_a": [None, 0], "ids_b": [0, 1]}, "values_without_order"),
    ],
)
def test_bad_labels_are_refused(arguments, ids, code):
    with raises(InvalidDataError, code):
        stability_score(*arguments, **ids)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"n_repeats": 0}, "not_a_number"),
        ({"n_repeats": 2.5}, "not_a_number"),
        ({"overlap": 1.0}, "not_a_number"),
        ({"overlap": 0.0}, "not_a_number"),
        ({"ids_a": [1]}, "ids_with_an_estimator"),
        ({"random_state": "x"}, "not_a_random_state"),
    ],
)
def test_bad_parameters_of_the_protocol_are_refused(numbered, options, code):
    with raises(InvalidParameterError, code):
        stability_score(FirstCode(), numbered, **options)


def test_too_few_records_are_refused(numbered):
    with raises(InvalidDataError, "too_few_samples_to_overlap", n_rows=2, both=1):
        stability_score(FirstCode(), numbered[:2])
    with raises(InvalidDataError, "refused_by_sklearn"):
        stability_score(FirstCode(), numbered[:, 0])


def test_a_table_with_categories_goes_to_the_estimator_as_it_is():
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=300)
    table = pd.DataFrame(
        {
            "age": rng.normal(20.0 * group, 2),
            "site": np.array(["a", "b", "c"], dtype=object)[group],
            "smokes": pd.Categorical.from_codes((group > 0).astype(int), ["no", "yes"]),
        }
    )
    model = MixedMixture(3, kinds={"smokes": "category"})
    assert stability_score(model, table, n_repeats=2).min() > 0.99
