"""Spherical Gaussians for samples with missing values."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm

from momentree.backends import RowBlocks
from momentree.inference import log_joint
from momentree.objects import GaussianParameters, IncompleteGaussianParameters
from momentree.refinement import em


def data(n=300, d=4, seed=0, rate=0.3):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    X = np.where(truth[:, None], 2.0, -2.0) + rng.standard_normal((n, d))
    gone = rng.random((n, d)) < rate
    return np.where(gone, 0.0, X), gone, truth


def statistics(X, gone):
    return IncompleteGaussianParameters.statistics(
        sp.csr_array(X), sp.csr_array(gone.astype(float))
    )


def test_the_likelihood_ignores_missing_values():
    X, gone, _ = data()
    p = IncompleteGaussianParameters(
        np.array([0.3, 0.7]), np.random.default_rng(1).normal(size=(4, 2)), np.array([0.5, 2.0])
    )
    found = log_joint(RowBlocks(statistics(X, gone)), p)
    for j in range(2):
        logs = norm.logpdf(X, p.centers[:, j], np.sqrt(p.variances[j])) + 0.5 * np.log(2 * np.pi)
        expected = np.where(gone, 0.0, logs).sum(axis=1) + np.log(p.weights[j])
        # Up to the square of the value, which a density without missing values has as well.
        np.testing.assert_allclose(found[:, j], expected, rtol=1e-10)


def test_without_missing_values_it_is_the_spherical_family():
    X, gone, truth = data(rate=0.0)
    R = np.eye(2)[truth]
    T, U = statistics(X, gone).toarray(), GaussianParameters.statistics(sp.csr_array(X)).toarray()
    one = IncompleteGaussianParameters.m_step(T.T @ R, R.sum(axis=0), 1.0)
    two = GaussianParameters.m_step(U.T @ R, R.sum(axis=0), 1.0)
    np.testing.assert_allclose(one.variances, two.variances)
    np.testing.assert_allclose(one.centers, two.centers)
    np.testing.assert_allclose(
        IncompleteGaussianParameters.maximized_log_likelihood(T.T @ R, R.sum(axis=0)),
        GaussianParameters.maximized_log_likelihood(U.T @ R, R.sum(axis=0)),
    )


def test_em_never_lowers_the_posterior_and_finds_the_means():
    X, gone, truth = data(n=2000)
    rows, v = RowBlocks(statistics(X, gone)), np.ones(2000)
    start = IncompleteGaussianParameters(
        np.full(2, 0.5), np.tile([[0.5, -0.5]], (4, 1)), np.ones(2)
    )
    tiny = 1e-12  # almost no prior, so that the likelihood alone rises
    runs = [
        em(rows, start, sample_weight=v, smoothing=tiny, max_iter=n, tol=0) for n in range(1, 8)
    ]
    likelihoods = [run.log_likelihood for run in runs]
    assert (np.diff(likelihoods) >= -1e-9 * abs(likelihoods[0])).all()
    found = em(rows, start, sample_weight=v).parameters
    # Four standard errors of a mean of about 700 observed values.
    np.testing.assert_allclose(found.centers, [[2.0, -2.0]] * 4, atol=4 / np.sqrt(650))
    np.testing.assert_allclose(found.variances, 1.0, atol=4 * np.sqrt(2 / 2600))
    assert found.weights[0] == pytest.approx(truth.mean(), abs=0.01)


def test_a_feature_never_observed_in_a_group_has_its_overall_mean():
    X, gone, truth = data()
    X[truth == 0, 1], gone[truth == 0, 1] = 0.0, True
    R = np.eye(2)[truth]
    found = IncompleteGaussianParameters.m_step(
        statistics(X, gone).toarray().T @ R, R.sum(axis=0), 1.0
    )
    assert found.centers[1, 0] == pytest.approx(found.centers[1, 1])
    assert (found.variances > 0).all()
