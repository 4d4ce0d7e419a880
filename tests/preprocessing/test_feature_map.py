"""The feature map: the kind of data it detects, and the rows passed to moments and mixtures."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.exceptions import InvalidDataError
from momentree.objects import (
    BernoulliParameters,
    GaussianParameters,
    IncompleteBernoulliParameters,
    PoissonParameters,
)
from momentree.preprocessing import FeatureMap
from tests.raising import raises
from tests.tree.cluster_data import KINDS, of_kind


def feature_map(X, kind="auto", weight=None, scaled=True):
    X = np.asarray(X, dtype=np.float64)
    gone = np.isnan(X)
    values = sp.csr_array(np.where(gone, 0.0, X))
    missing = sp.csr_array(gone.astype(float)) if gone.any() else None
    weight = np.ones(len(X)) if weight is None else weight
    features = FeatureMap.from_data(values, missing, weight, kind, scaled=scaled)
    return features, features.rows(values, missing)


@pytest.mark.parametrize(
    ("X", "kind", "family"),
    [
        ([[0, 1], [1, 1]], "binary", BernoulliParameters),
        ([[0, np.nan], [1, 1]], "binary", IncompleteBernoulliParameters),
        ([[0, 2], [1, 1]], "counts", PoissonParameters),
        ([[0, 0.5], [1, 0]], "non_negative", GaussianParameters),
        ([[0, 0.5], [1, 1]], "real", GaussianParameters),
        ([[0, -1], [1, 1]], "real", GaussianParameters),
        ([[-0.0, 1], [1, 0]], "binary", BernoulliParameters),
        ([[0, 0], [0, 0]], "binary", BernoulliParameters),
    ],
)
def test_the_narrowest_kind_is_detected(X, kind, family):
    features, rows = feature_map(X)
    assert features.kind == kind
    assert features.family is family
    assert family.n_features(rows.shape[1]) == 2
    assert len(features.moment_scale) == rows.shape[1]


@pytest.mark.parametrize("kind", ["binary", "counts", "non_negative", "real"])
def test_a_wider_kind_may_be_given(kind):
    order = ["binary", "counts", "non_negative", "real"]
    X, _ = of_kind(kind)
    for asked in order:
        if order.index(asked) >= order.index(kind):
            assert feature_map(X, asked)[0].kind == asked
        else:
            with raises(InvalidDataError, "another_kind_of_data", kind=asked):
                feature_map(X, asked)


def test_the_first_value_of_another_kind_is_named():
    X = np.zeros((4, 3))
    X[2, 1] = 2.5
    cell = {"row": 2, "column": 1, "value": 2.5}
    with raises(InvalidDataError, "another_kind_of_data", **cell):
        feature_map(X, "binary")
    with raises(InvalidDataError, "another_kind_of_data", **cell):
        feature_map(X, "counts")
    X[1, 2] = -1
    with raises(InvalidDataError, "another_kind_of_data", row=1, column=2, value=-1.0):
        feature_map(X, "non_negative")


@pytest.mark.parametrize("kind", ["counts", "non_negative"])
def test_only_binary_and_real_data_may_have_missing_values(kind):
    X, _ = of_kind(kind)
    X = X.astype(float)
    X[3, 5] = np.nan
    with raises(InvalidDataError, "missing_not_binary", row=3, column=5, kind=kind):
        feature_map(X)


def test_a_column_that_is_never_observed_is_named():
    with raises(InvalidDataError, "never_observed", column=1, n_columns=1):
        feature_map([[0, np.nan], [1, np.nan]])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "real"])
def test_the_moments_see_records_of_unit_length(kind):
    X, _ = of_kind(kind)
    X[0] = 0.0
    features, rows = feature_map(X)
    augmented = np.column_stack(
        [rows.matrix.toarray() * features.moment_scale, np.full(len(X), features.constant)]
    )
    lengths = np.linalg.norm(features.row_scale(rows)[:, None] * augmented, axis=1)
    np.testing.assert_allclose(lengths, 1.0, rtol=1e-12)
    plain, rows = feature_map(X, scaled=False)
    np.testing.assert_array_equal(plain.row_scale(rows), np.ones(len(X)))


@pytest.mark.parametrize("weighted", [False, True])
def test_real_columns_get_mean_0_and_variance_1(weighted):
    X, _ = of_kind("real")
    X = X * 10.0 ** np.arange(24) - 5.0
    X[:, 3] = 1e9 + 1 / 3  # constant
    weight = np.random.default_rng(0).uniform(0, 2, len(X)) if weighted else np.ones(len(X))
    features, rows = feature_map(X, weight=weight)
    Z = rows.matrix.toarray()[:, :24]
    v = weight / weight.sum()
    np.testing.assert_allclose(v @ Z, 0.0, atol=1e-8)
    np.testing.assert_allclose(np.delete(v @ Z**2, 3), 1.0, rtol=1e-6)
    assert not Z[:, 3].any()
    back = Z[:, :3] * features.scale[:3] + features.shift[:3]
    np.testing.assert_allclose(back, X[:, :3], rtol=1e-9)


def test_observation_rates_remove_the_bias_of_missing_values():
    """If values are missing at random, the moments have the means of complete data."""
    rng = np.random.default_rng(0)
    n, p, share = 40_000, np.array([0.2, 0.5, 0.8]), np.array([1.0, 0.7, 0.4])
    X = (rng.random((n, 3)) < p).astype(float)
    X[rng.random((n, 3)) > share] = np.nan
    features, rows = feature_map(X, scaled=False)
    seen = (rows.matrix.toarray() * features.moment_scale)[:, :3]
    error = np.sqrt(p / share / n)  # a bound of the standard error of each mean
    assert (np.abs(seen.mean(axis=0) - p) < 4 * error).all()
    pairs = seen.T @ seen / n
    for i, j in ((0, 1), (0, 2), (1, 2)):
        bound = np.sqrt(p[i] * p[j] / (share[i] * share[j]) / n)
        assert abs(pairs[i, j] - p[i] * p[j]) < 4 * bound


def test_new_samples_must_be_of_the_kind_of_the_fit():
    features, _ = feature_map([[0, 1], [1, 0]])
    with raises(InvalidDataError, "another_kind_of_data", row=0, column=1, value=3.0):
        features.check(sp.csr_array([[0.0, 3.0]]), None)
    features.check(sp.csr_array([[0.0, 1.0]]), sp.csr_array([[1.0, 0.0]]))
    wide, _ = feature_map([[0.0, -1.5], [1, 0]])
    wide.check(sp.csr_array([[0.0, 3.0]]), None)
    wide.check(sp.csr_array([[0.0, 1.0]]), sp.csr_array([[1.0, 0.0]]))
    counts, _ = feature_map([[0, 2], [1, 0]])
    with raises(InvalidDataError, "missing_not_binary"):
        counts.check(sp.csr_array([[0.0, 1.0]]), sp.csr_array([[1.0, 0.0]]))


@pytest.mark.parametrize("value", [1e101, -1e300])
def test_values_whose_powers_overflow_are_refused(value):
    with raises(InvalidDataError, "huge_value", row=1, column=0, value=value):
        feature_map([[0.5, 1.0], [value, 1.0]])
    features, _ = feature_map([[0.5, -1.0], [1e100, 1.0]])
    with raises(InvalidDataError, "huge_value", row=0, column=1):
        features.check(sp.csr_array([[0.0, value]]), None)
