"""Gaussian mixtures that start from moments: spherical, diagonal and full covariances."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.metrics import normalized_mutual_info_score

from momentree import GaussianMixture
from momentree.datasets import make_spherical_gaussians


def matched(means, truth):
    """The component of each true mean."""
    return linear_sum_assignment(np.linalg.norm(truth[:, None] - means, axis=2))[1]


@pytest.mark.parametrize("variances", [1.0, [0.3, 0.6, 1.0, 1.5, 2.5]], ids=["shared", "own"])
def test_means_are_within_three_standard_errors_of_those_of_known_labels(variances):
    sample = make_spherical_gaussians(
        10_000, 20, 5, separation=4, variances=variances, random_state=1
    )
    model = GaussianMixture(5, covariance_type="spherical", start="moments").fit(sample.X)
    known = np.stack([sample.X[sample.labels == j].mean(axis=0) for j in range(5)])
    errors = np.sqrt(sample.variances / np.bincount(sample.labels))
    found = model.means_[matched(model.means_, sample.means)]
    assert (np.abs(found - known) < 3 * errors[:, None]).all()


@pytest.mark.parametrize("variances", [1.0, [0.5, 0.8, 1.0, 1.2, 1.5]], ids=["shared", "own"])
def test_moments_alone_estimate_means_and_variances(variances):
    sample = make_spherical_gaussians(10_000, 20, 5, variances=variances, random_state=1)
    model = GaussianMixture(5, covariance_type="spherical", start="moments", refine=None)
    model.fit(sample.X)
    order = matched(model.means_, sample.means)
    distances = np.linalg.norm(model.means_[order] - sample.means, axis=1)
    # Third moments have larger errors than means of known groups, by a factor of about two.
    assert (distances < 3 * np.sqrt(20 * sample.variances / 2_000)).all()
    np.testing.assert_allclose(model.covariances_[order], sample.variances, rtol=0.1)
    np.testing.assert_allclose(model.weights_, 0.2, atol=0.02)


def lines(d, k, seed, n=1000):
    """Ellipsoids around the same center, ten times as long as wide, in random directions."""
    rng = np.random.default_rng(seed)
    axes = [np.linalg.qr(rng.normal(size=(d, d)))[0][0] for _ in range(k)]
    labels = rng.integers(k, size=n)
    X = 0.1 * rng.normal(size=(n, d)) + rng.normal(size=(n, 1)) * np.array(axes)[labels]
    covariances = [0.01 * np.eye(d) + np.outer(a, a) for a in axes]
    return X, labels, np.array(covariances)


@pytest.mark.parametrize(("d", "k"), [(2, 2), (3, 3), (10, 4)])
def test_lines_that_cross_are_found(d, k):
    """The likelihood is at least that of the true parameters, and so at the global maximum."""
    X, labels, covariances = lines(d, k, 1)
    model = GaussianMixture(k, covariance_type="full", start="moments").fit(X)
    truth = [multivariate_normal(np.zeros(d), C).logpdf(X) - np.log(k) for C in covariances]
    assert model.score(X) > logsumexp(truth, axis=0).mean()
    assert normalized_mutual_info_score(labels, model.labels_) > 0.4


@pytest.mark.parametrize("scale", [0.0, 1.0], ids=["equal means", "different means"])
def test_moments_across_features_find_diagonal_covariances(scale):
    rng = np.random.default_rng(1)
    means = scale * rng.normal(size=(4, 12))
    deviations = np.exp(0.8 * rng.normal(size=(4, 12)))
    labels = rng.integers(4, size=4000)
    X = means[labels] + deviations[labels] * rng.normal(size=(4000, 12))
    model = GaussianMixture(4, covariance_type="diag", start="moments", refine=None).fit(X)
    joint = -0.5 * np.square((X[:, None] - means) / deviations).sum(axis=2)
    joint -= np.log(deviations).sum(axis=1)
    known = normalized_mutual_info_score(labels, joint.argmax(axis=1))
    assert model.diagnostics_["start"] == "product_moments"
    assert normalized_mutual_info_score(labels, model.labels_) > known - 0.1


@pytest.mark.parametrize("covariance_type", ["spherical", "diag", "full", "tied"])
def test_the_order_of_samples_does_not_matter(covariance_type):
    X = make_spherical_gaussians(200, 4, 3, random_state=0).X
    order = np.random.default_rng(0).permutation(200)
    one, two = (
        GaussianMixture(3, covariance_type=covariance_type, start="moments").fit(data)
        for data in (X, X[order])
    )
    np.testing.assert_allclose(one.means_, two.means_, rtol=1e-9)
    np.testing.assert_array_equal(one.labels_[order], two.labels_)


def test_sparse_samples_start_from_the_same_moments():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=300)
    X = (rng.random((300, 12)) < 0.2) * rng.normal(size=(300, 12)) + 6.0 * np.eye(3, 12)[labels]
    one, two = (
        GaussianMixture(3, covariance_type="spherical", start="moments", refine=None).fit(data)
        for data in (X, sp.csr_array(X))
    )
    np.testing.assert_allclose(one.means_, two.means_, atol=1e-9)


def test_more_components_than_features_start_from_a_tree():
    X = make_spherical_gaussians(400, 2, 5, separation=6, random_state=0).X
    model = GaussianMixture(5, covariance_type="spherical", start="moments").fit(X)
    assert len(model.weights_) == 5
    assert model.diagnostics_["start"] == "tree"


@pytest.mark.filterwarnings("ignore::momentree.exceptions.MomentreeWarning")
@pytest.mark.parametrize("covariance_type", ["spherical", "diag", "full", "tied"])
@pytest.mark.parametrize("case", ["constant", "collinear", "copies", "outlier", "few"])
def test_degenerate_data_have_finite_mixtures(case, covariance_type):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4)) + 3.0 * (np.arange(40) % 3 == 0)[:, None]
    if case == "constant":
        X[:, 1] = 7.0
    elif case == "collinear":
        X[:, 1] = 2.0 * X[:, 0]
    elif case == "copies":
        X = np.repeat(X[:5], 8, axis=0)
    elif case == "outlier":
        X[3, 2] = 1e12
    else:
        X = X[:4]
    model = GaussianMixture(3, covariance_type=covariance_type, start="moments").fit(X)
    assert np.isfinite(model.means_).all()
    assert np.isfinite(model.score_samples(X)).all()


def test_diagonal_components_need_no_matrices_of_all_features():
    X = np.random.RandomState(0).normal(size=(40, 2000))
    X[:20] *= 3
    tracemalloc.start()
    model = GaussianMixture(2, covariance_type="diag", start="moments").fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], np.arange(40) < 20)
    assert peak < 5 * 8 * 2000**2
