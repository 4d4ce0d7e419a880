"""Samplers of mixtures draw from the model that they return."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from momentree.datasets import make_bernoulli_mixture, make_poisson_mixture
from momentree.exceptions import MomentreeError
from tests.raising import raises


def z_scores(values, expected, axis=0):
    """Standardized differences between the means of a sample and their expectations."""
    error = values.std(axis=axis, ddof=1) / np.sqrt(values.shape[axis])
    return np.abs(values.mean(axis=axis) - expected) / np.where(error > 0, error, 1.0)


def test_poisson_moments():
    """Given the component, mean and factorial moments are powers of the mean (T Prop. 1.2.1)."""
    total = [3.0, 8.0]
    sample = make_poisson_mixture(20_000, 6, 2, total=total, weights=[0.3, 0.7], random_state=0)
    np.testing.assert_allclose(sample.means.sum(axis=1), total)
    n = np.bincount(sample.labels)
    assert abs(n[0] / 20_000 - 0.3) < 5 * np.sqrt(0.21 / 20_000)
    for i, m in enumerate(sample.means):
        X = sample.X[np.flatnonzero(sample.labels == i)].toarray()
        assert (z_scores(X, m) < 5).all()
        x2 = X[:, :, None] * X[:, None, :] - np.eye(6) * X[:, :, None]
        assert (z_scores(x2, np.outer(m, m)) < 5).all()


def test_poisson_means_are_those_given():
    sample = make_poisson_mixture(50, 3, 2, total=6, components=[[1, 2, 0], [0, 0, 9]])
    np.testing.assert_allclose(sample.means, [[2, 4, 0], [0, 0, 6]])
    X = sample.X.toarray()
    assert not X[sample.labels == 0, 2].any()
    assert not X[sample.labels == 1, :2].any()


def test_poisson_means_are_uniform_by_default():
    means = make_poisson_mixture(1, 10_000, 1, total=5_000.0, random_state=0).means[0]
    assert means.max() / means.mean() == pytest.approx(2, abs=0.1)
    share = np.mean(means < means.max() / 4)
    assert abs(share - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 10_000)


def test_ones_have_the_frequencies_of_their_component():
    means = np.array([[0.0, 1.0, 0.3, 0.02], [0.5, 0.0, 0.9, 0.001]])
    sample = make_bernoulli_mixture(20_000, 4, 2, weights=[0.3, 0.7], means=means, random_state=0)
    np.testing.assert_array_equal(sample.means, means)
    assert abs(np.mean(sample.labels == 0) - 0.3) < 5 * np.sqrt(0.21 / 20_000)
    for i, mu in enumerate(means):
        X = sample.X[np.flatnonzero(sample.labels == i)].toarray()
        error = np.sqrt(mu * (1 - mu) / len(X))
        assert (np.abs(X.mean(axis=0) - mu) <= 5 * error).all()


def test_features_are_independent_given_the_component():
    """Pairs and triples of features have the product of their means (T eq. 4.1)."""
    mu = np.array([0.4, 0.7, 0.15])
    X = make_bernoulli_mixture(50_000, 3, 1, means=[mu], random_state=1).X.toarray()
    for subset in ([0, 1], [0, 2], [1, 2], [0, 1, 2]):
        p = mu[subset].prod()
        error = np.sqrt(p * (1 - p) / len(X))
        assert abs(X[:, subset].prod(axis=1).mean() - p) < 5 * error
    # Neighboring rows are independent.
    lag = np.mean(X[1:, 0] * X[:-1, 0])
    assert abs(lag - 0.16) < 5 * np.sqrt(0.16 / len(X))


def test_default_parameters_are_scaled_exponential_variables():
    """The largest is 1, and -log P[mu > t] is linear in t: the law of an exponential variable."""
    sample = make_bernoulli_mixture(1, 5000, 20, scaled_by="all", random_state=0)
    mu = sample.means
    assert mu.max() == 1
    scaled = mu / mu.mean()
    for t in (0.5, 1.0, 3.0):
        p = np.exp(-t)
        assert abs(np.mean(scaled > t) - p) < 5 * np.sqrt(p / mu.size)
    assert sample.weights.sum() == pytest.approx(1)
    w = make_bernoulli_mixture(1, 1, 20_000, random_state=0).weights * 20_000
    assert abs(np.mean(w > 1) - np.exp(-1)) < 5 * np.sqrt(0.25 / 20_000)


@pytest.mark.parametrize(("scaled_by", "axis"), [("component", 1), ("feature", 0), ("all", None)])
def test_largest_means_are_one(scaled_by, axis):
    means = make_bernoulli_mixture(1, 30, 20, scaled_by=scaled_by, random_state=0).means
    assert (means.max(axis=axis) == 1).all()
    assert means.min() > 0


def test_default_components_can_be_distinguished():
    """The accuracy that the thesis reports needs parameters under which it is possible."""
    sample = make_bernoulli_mixture(random_state=0)
    p = np.clip(sample.means, 1e-9, 1 - 1e-9)
    scores = sample.X @ np.log(p / (1 - p)).T + np.log1p(-p).sum(axis=1) + np.log(sample.weights)
    assert np.mean(scores.argmax(axis=1) == sample.labels) > 0.995


def test_means_of_zero_and_one_are_certain():
    assert make_bernoulli_mixture(3, 2, 5, means=np.zeros((5, 2))).X.nnz == 0
    assert make_bernoulli_mixture(3, 2, 5, means=np.ones((5, 2))).X.nnz == 6


@pytest.mark.parametrize("make", [make_bernoulli_mixture, make_poisson_mixture])
def test_samples_are_clean_frozen_and_repeat_with_the_seed(make):
    a, b, c, d = (
        make(200, 40, 4, random_state=seed) for seed in (5, 5, np.random.default_rng(5), 6)
    )
    assert a.X.format == "csr"
    assert a.X.dtype == np.int64
    assert a.X.indices.dtype == a.X.indptr.dtype == np.int32
    assert a.X.has_canonical_format
    assert (a.X.data > 0).all()
    for field in dataclasses.fields(a):
        first, *same, other = (
            getattr(s, field.name).toarray() if field.name == "X" else getattr(s, field.name)
            for s in (a, b, c, d)
        )
        for again in same:
            np.testing.assert_array_equal(first, again)
        if field.name not in {"weights"}:
            assert (first != other).any()
    with pytest.raises(dataclasses.FrozenInstanceError):
        a.X = None


@pytest.mark.parametrize(
    ("make", "change", "code"),
    [
        (make_bernoulli_mixture, {"n_samples": 0}, "not_a_number"),
        (make_bernoulli_mixture, {"n_features": 1.5}, "not_a_number"),
        (make_bernoulli_mixture, {"n_components": True}, "not_a_number"),
        (make_bernoulli_mixture, {"weights": [1, 1]}, "not_a_distribution"),
        (make_bernoulli_mixture, {"means": [[0.5]]}, "wrong_shape"),
        (make_bernoulli_mixture, {"means": np.full((2, 6), 1.5)}, "not_probabilities"),
        (make_bernoulli_mixture, {"means": np.full((2, 6), np.nan)}, "not_probabilities"),
        (make_bernoulli_mixture, {"means": [["a"]]}, "not_numbers"),
        (make_bernoulli_mixture, {"scaled_by": "row"}, "not_a_choice"),
        (make_bernoulli_mixture, {"random_state": "a"}, "not_a_generator"),
        (make_poisson_mixture, {"n_features": 0}, "not_a_number"),
        (make_poisson_mixture, {"total": 0}, "not_one_or_each"),
        (make_poisson_mixture, {"total": 1e30}, "not_one_or_each"),
        (make_poisson_mixture, {"total": [1.0]}, "not_one_or_each"),
        (make_poisson_mixture, {"weights": [0.5, 0.6]}, "not_a_distribution"),
        (make_poisson_mixture, {"components": np.ones((2, 5))}, "wrong_shape"),
        (make_poisson_mixture, {"components": -np.ones((2, 6))}, "row_without_positive_number"),
        (make_poisson_mixture, {"components": np.zeros((2, 6))}, "row_without_positive_number"),
        (make_poisson_mixture, {"components": [["a"]]}, "not_numbers"),
    ],
)
def test_bad_parameters_are_refused(make, change, code):
    arguments = {"n_samples": 5, "n_features": 6, "n_components": 2, "random_state": 0, **change}
    with raises(MomentreeError, code):
        make(**arguments)
