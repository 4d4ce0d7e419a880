"""The sampler of spherical Gaussians draws from the model that it returns."""

import numpy as np
import pytest

from momentree.datasets import make_spherical_gaussians
from momentree.exceptions import InvalidDataError, InvalidParameterError
from tests.raising import raises


def test_samples_have_the_moments_of_their_component():
    sample = make_spherical_gaussians(
        20_000, 3, 2, weights=[0.3, 0.7], means=[[0, 0, 0], [5, 1, 2]], variances=[4.0, 0.25],
        random_state=0,
    )  # fmt: skip
    n = np.bincount(sample.labels)
    assert abs(n[0] / 20_000 - 0.3) < 5 * np.sqrt(0.21 / 20_000)
    for j, (mean, v) in enumerate(zip(sample.means, sample.variances, strict=True)):
        X = sample.X[sample.labels == j]
        assert (np.abs(X.mean(axis=0) - mean) < 5 * np.sqrt(v / n[j])).all()
        # A variance has the standard error v (2 / n)^(1/2), a covariance v / n^(1/2).
        assert np.abs(np.cov(X.T) - v * np.eye(3)).max() < 5 * v * np.sqrt(2 / n[j])


@pytest.mark.parametrize("variances", [1.0, 9.0, [1.0, 4.0, 0.25]])
def test_the_closest_means_are_as_far_apart_as_requested(variances):
    sample = make_spherical_gaussians(1, 4, 3, separation=3, variances=variances, random_state=0)
    deviations = np.sqrt(sample.variances)
    ratios = [
        np.linalg.norm(sample.means[i] - sample.means[j]) / max(deviations[i], deviations[j])
        for i in range(3)
        for j in range(i)
    ]
    assert min(ratios) == pytest.approx(3)


def test_the_seed_determines_the_sample():
    one, two, other = (make_spherical_gaussians(9, 2, 2, random_state=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.X, two.X)
    assert (one.X != other.X).any()


def test_one_component_has_a_mean_too():
    assert make_spherical_gaussians(5, 2, 1, random_state=0).means.shape == (1, 2)


@pytest.mark.parametrize(
    ("change", "error", "code"),
    [
        ({"n_samples": 0}, InvalidParameterError, "not_a_number"),
        ({"separation": -1}, InvalidParameterError, "not_a_number"),
        ({"variances": 0}, InvalidParameterError, "not_one_or_each"),
        ({"variances": [1, 2, 3]}, InvalidParameterError, "not_one_or_each"),
        ({"means": [[np.inf] * 4] * 2}, InvalidDataError, "not_finite"),
        ({"means": [[0.0]]}, InvalidDataError, "wrong_shape"),
        ({"weights": [1, 1]}, InvalidDataError, "not_a_distribution"),
    ],
)
def test_bad_parameters_are_refused(change, error, code):
    arguments = {"n_samples": 5, "n_features": 4, "n_components": 2, **change}
    with raises(error, code):
        make_spherical_gaussians(**arguments)
