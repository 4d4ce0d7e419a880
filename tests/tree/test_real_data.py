"""Trees of real data: covariances, outliers, missing values, names."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import normalized_mutual_info_score as nmi

import momentree as mt
from momentree.exceptions import InvalidDataError, InvalidParameterError

from ..raising import raises

TYPES = ("spherical", "diag", "tied", "full")


def ellipses(kind, n=600, seed=0):
    """Return three groups with covariances of a kind, and the group of each sample."""
    rng = np.random.default_rng(seed)
    means = np.array([[0, 0, 0], [4, 4, 0], [-4, 4, 0]])
    truth = np.arange(n) % 3
    Z = rng.standard_normal((n, 3))
    if kind == "spherical":
        Z *= np.array([0.5, 1.0, 1.5])[truth, None]
    elif kind == "diag":
        Z *= np.array([[0.3, 1.5, 1], [1.5, 0.3, 2], [1, 1, 0.2]])[truth]
    else:
        A = rng.standard_normal((1 if kind == "tied" else 3, 3, 3)) + np.eye(3)
        Z = np.einsum("nij,nj->ni", A[truth % len(A)], Z)
    return means[truth] + Z, truth


@pytest.mark.parametrize("kind", TYPES)
def test_the_covariances_of_the_groups_are_recognized(kind):
    X, truth = ellipses(kind)
    tree = mt.ClusterTree(3).fit(X)
    # Spheres are ellipsoids once the columns are standardized.
    assert tree.covariance_type_ == ("diag" if kind == "spherical" else kind)
    asked = mt.ClusterTree(3, covariance_type=tree.covariance_type_).fit(X)
    np.testing.assert_array_equal(asked.labels_, tree.labels_)
    np.testing.assert_array_equal(tree.predict(X), tree.labels_)
    assert nmi(truth, tree.labels_) >= nmi(
        truth, mt.ClusterTree(3, covariance_type="spherical").fit(X).labels_
    )


@pytest.mark.parametrize(("load", "least"), [(load_iris, 0.85), (load_wine, 0.8)])
def test_measurements_are_grouped_like_their_classes(load, least):
    X, y = load(return_X_y=True)
    tree = mt.ClusterTree(3).fit(X)
    assert nmi(y, tree.labels_) > least  # 0.66 with spheres on iris
    assert tree.covariance_type_ in ("diag", "full")


@pytest.mark.parametrize("kind", TYPES)
def test_order_of_rows_and_units_have_no_influence(kind):
    X, _ = load_wine(return_X_y=True)
    tree = mt.ClusterTree(4, covariance_type=kind).fit(X)
    at = np.random.default_rng(0).permutation(len(X))
    other = mt.ClusterTree(4, covariance_type=kind).fit(X[at] * 1e6 - 5e6)
    np.testing.assert_array_equal(other.labels_, tree.labels_[at])


@pytest.mark.parametrize("kind", TYPES)
def test_edits_and_cuts_work_with_all_covariances(kind):
    X, _ = ellipses("diag", n=300)
    tree = mt.ClusterTree(3, covariance_type=kind).fit(X)
    divided = tree.split_group(X, 0)
    assert (tree.n_leaves_, divided.n_leaves_) == (3, 4)
    np.testing.assert_array_equal(divided.predict(X), divided.labels_)
    merged = divided.merge_groups(X, [0, 1])
    assert merged.n_leaves_ == 3
    assert tree.cut(2).n_leaves_ == 2
    assert 3 <= mt.ClusterTree("auto", covariance_type=kind).fit(X).n_leaves_ <= 5  # by BIC


def test_weights_count_as_copies():
    X, _ = ellipses("full", n=240)
    weight = np.random.default_rng(0).integers(1, 4, size=len(X))
    one = mt.ClusterTree(3).fit(X, sample_weight=weight)
    two = mt.ClusterTree(3).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(np.repeat(one.labels_, weight), two.labels_)
    assert one.covariance_type_ == two.covariance_type_


def test_one_outlier_changes_next_to_nothing():
    X, _ = load_iris(return_X_y=True)
    clean = mt.ClusterTree(3).fit(X)
    dirty = X.copy()
    dirty[7, 2] = 1e12
    tree = mt.ClusterTree(3).fit(dirty)
    assert tree.n_leaves_ == 3
    assert (tree.labels_ != clean.labels_).sum() <= 5
    assert max(abs(node.center).max() for node in tree.tree_.nodes()) < 10.0
    assert np.isfinite(tree.predict_proba([[1e12, -1e12, 0, 5], [1e90] * 4])).all()


def test_few_outlying_rows_take_no_leaf():
    X, truth = ellipses("spherical", n=900)
    rng = np.random.default_rng(1)
    directions = rng.standard_normal((9, 3))
    far = 30.0 * directions / np.linalg.norm(directions, axis=1)[:, None]
    tree = mt.ClusterTree(3).fit(np.vstack([X, far * X.std()]))
    assert tree.n_leaves_ == 3
    assert nmi(truth, tree.labels_[:900]) > nmi(truth, mt.ClusterTree(3).fit(X).labels_) - 0.05


def test_a_far_group_of_enough_samples_is_a_leaf():
    X, _ = ellipses("spherical", n=600)
    far = np.full((20, 3), 60.0) + np.random.default_rng(0).standard_normal((20, 3))
    tree = mt.ClusterTree(4).fit(np.vstack([X, far]))
    assert [leaf.n_samples for leaf in tree.leaves_ if 619 in leaf.samples] == [20]


@pytest.mark.parametrize("kind", ["auto", "spherical", "diag"])
def test_missing_values_are_ignored(kind):
    X, truth = ellipses("diag")
    rng = np.random.default_rng(0)
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    gaps[0] = np.nan  # a sample without any value is assigned, too
    tree = mt.ClusterTree(3, covariance_type=kind).fit(gaps)
    # Each sample loses a value with probability 0.27.
    complete = mt.ClusterTree(3, covariance_type=kind).fit(X)
    assert nmi(truth, tree.labels_) > 0.8 * nmi(truth, complete.labels_)
    np.testing.assert_array_equal(tree.predict(gaps), tree.labels_)
    means = [leaf.center[2] for leaf in tree.leaves_]
    expected = [np.nanmean(gaps[leaf.samples, 2]) for leaf in tree.leaves_]
    np.testing.assert_allclose(means, expected, rtol=1e-9)
    assert tree.merge_groups(gaps, [0, 1]).n_leaves_ == 2


def test_missing_values_of_new_samples_alone():
    X, _ = ellipses("diag")
    tree = mt.ClusterTree(3, covariance_type="diag").fit(X)
    gaps = X[:50].copy()
    gaps[:, 2] = np.nan
    np.testing.assert_allclose(tree.predict_proba(gaps).sum(axis=1), 1.0)
    assert (tree.predict(gaps) == tree.labels_[:50]).mean() > 0.8
    with raises(InvalidDataError, "missing_not_assigned", row=0, column=2):
        mt.ClusterTree(3, covariance_type="full").fit(X).predict(gaps)
    gaps[0, 2] = 1.0
    with raises(InvalidDataError, "covariances_of_missing", covariance_type="full"):
        mt.ClusterTree(3, covariance_type="full").fit(gaps)


def test_covariances_of_other_data_are_refused():
    with raises(InvalidParameterError, "covariances_of_real", kind="counts"):
        mt.ClusterTree(covariance_type="diag").fit(np.arange(20).reshape(10, 2))


def test_names_say_what_is_high_and_low():
    data = load_breast_cancer(as_frame=True)
    tree = mt.ClusterTree(4).fit(data.data)
    names = [node.name for node in tree.tree_.nodes()]
    assert len(set(names)) == len(names)
    for node in list(tree.tree_.nodes())[1:]:
        for term in node.name.split(", "):
            direction, feature = term.split(" ", 1)
            at = list(tree.vocabulary_).index(feature)
            assert (direction == "high") == (node.center[at] > tree.tree_.center[at])
            assert direction in ("high", "low")


@pytest.mark.parametrize("kind", TYPES)
def test_difficult_columns(kind):
    X, truth = ellipses("spherical", n=300)
    constant = np.full((len(X), 1), 7.0)
    rare = np.zeros((len(X), 1))
    rare[3] = 1e9
    twice = np.hstack([X, 2.0 * X[:, :1], constant, rare])
    tree = mt.ClusterTree(3, covariance_type=kind).fit(twice)
    assert nmi(truth, tree.labels_) > 0.7
    assert np.isfinite(tree.predict_proba(twice)).all()
    doubled = mt.ClusterTree(3, covariance_type=kind).fit(np.vstack([X, X]))
    np.testing.assert_array_equal(doubled.labels_[:300], doubled.labels_[300:])


def test_far_from_zero_values_that_vary_little_are_grouped():
    """As of a clock or an account: mean squares less squared means would be rounding errors."""
    X, truth = ellipses("spherical", n=300)
    assert nmi(truth, mt.ClusterTree(3).fit(X + 1e9).labels_) > 0.7


@pytest.mark.parametrize("X", [[[0.5, -1.0]], [[-0.5], [2.5], [0.5]], [[-1.5, 2.0]] * 12])
def test_next_to_no_data(X):
    tree = mt.ClusterTree(3, data="real").fit(X)
    assert tree.n_leaves_ == 1
    assert (tree.predict(X) == 0).all()
