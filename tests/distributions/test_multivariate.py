"""The multivariate normal distribution: estimates, and errors that agree with simulation."""

import numpy as np

from momentree.distributions import fit_multivariate_normal
from momentree.exceptions import InvalidDataError
from tests.raising import raises


def test_errors_agree_with_simulation():
    """600 samples of 400 rows: the simulated errors are uncertain by 2.9 %; 4 SE."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 3))
    fits = [fit_multivariate_normal(rng.normal(size=(400, 3)) @ A.T + 5) for _ in range(600)]
    means = np.array([found.mean for found in fits])
    covariances = np.array([found.covariance for found in fits])
    np.testing.assert_allclose(means.mean(axis=0), 5, atol=0.05)
    np.testing.assert_allclose(covariances.mean(axis=0), A @ A.T, atol=0.05)
    np.testing.assert_allclose(
        np.mean([found.mean_errors for found in fits], axis=0), means.std(axis=0), rtol=0.12
    )
    np.testing.assert_allclose(
        np.mean([found.covariance_errors for found in fits], axis=0),
        covariances.std(axis=0),
        rtol=0.12,
    )


def test_weights_and_scipy():
    X = np.random.default_rng(1).normal(size=(50, 2))
    twice = fit_multivariate_normal(np.vstack([X, X[:9]]))
    weighted = fit_multivariate_normal(X, sample_weight=1.0 + (np.arange(50) < 9))
    np.testing.assert_allclose(weighted.covariance, twice.covariance)
    np.testing.assert_allclose(weighted.covariance_errors, twice.covariance_errors)
    np.testing.assert_allclose(twice.to_scipy().cov, twice.covariance)
    singular = fit_multivariate_normal(np.column_stack([X, X[:, 0]]))
    assert np.isfinite(singular.to_scipy().logpdf(singular.mean))


def test_refuses_bad_input():
    with raises(InvalidDataError, "all_values_equal", parameter="X"):
        fit_multivariate_normal(np.ones((3, 2)))
    with raises(InvalidDataError, "missing_count", row=1, column=0):
        fit_multivariate_normal([[1.0, 2.0], [np.nan, 1.0]])
