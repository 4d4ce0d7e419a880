"""Samplers of mixed documents and of Poisson mixtures draw from the model that they hand out."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from momentree.datasets import _sampling, make_lda, make_poisson_mixture
from momentree.exceptions import InvalidParameterError


def z_scores(values, expected, axis=0):
    """Standardised differences of the means of a sample from what is expected."""
    error = values.std(axis=axis, ddof=1) / np.sqrt(values.shape[axis])
    return np.abs(values.mean(axis=axis) - expected) / np.where(error > 0, error, 1.0)


def test_alpha_is_a_total_or_itself():
    assert make_lda(2, 5, 4, random_state=0).alpha.tolist() == [0.25] * 4
    assert make_lda(2, 5, 4, alpha=6, random_state=0).alpha.tolist() == [1.5] * 4
    assert make_lda(2, 5, 2, alpha=[0.5, 3], random_state=0).alpha.tolist() == [0.5, 3]


def test_proportions_are_dirichlet():
    """Mean alpha_i / alpha_0 and second moment alpha_i (alpha_i + 1) / (alpha_0 (alpha_0 + 1))."""
    alpha = np.array([0.2, 0.5, 1.3])
    h = make_lda(20_000, 5, 3, alpha=alpha, length=0, random_state=0).proportions
    np.testing.assert_allclose(h.sum(axis=1), 1)
    assert (z_scores(h, alpha / 2) < 5).all()
    assert (z_scores(h**2, alpha * (alpha + 1) / 6) < 5).all()


def test_lda_words_follow_the_proportions():
    """E[x | h] = length h^T mu, and a pair of words has the cross moment of its document."""
    sample = make_lda(4000, 12, 3, alpha=1.0, length=40, concentration=2, random_state=1)
    X, p = sample.X.toarray(), sample.proportions @ sample.components
    assert (z_scores(X - 40 * p, 0) < 5).all()
    # Factorial moments given h are 40 * 39 p_a p_b, on the diagonal as well.
    x2 = X[:, :, None] * X[:, None, :] - np.eye(12) * X[:, :, None]
    assert (z_scores(x2 - 1560 * p[:, :, None] * p[:, None, :], 0) < 5).all()


def test_lda_blocks_do_not_change_the_form(monkeypatch):
    monkeypatch.setattr(_sampling, "WORDS_IN_BLOCK", 64)
    lengths = [0, 30, 1, *[30] * 40, 1000, 0]
    sample = make_lda(45, 12, 3, length=lengths, random_state=1)
    assert sample.X.sum(axis=1).tolist() == lengths


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


@pytest.mark.parametrize("make", [make_lda, make_poisson_mixture])
def test_counts_are_clean_and_the_seed_decides(make):
    a, b = (make(200, 40, 4, random_state=5) for _ in range(2))
    c = make(200, 40, 4, random_state=np.random.default_rng(5))
    d = make(200, 40, 4, random_state=6)
    assert a.X.format == "csr"
    assert a.X.dtype == np.int64
    assert a.X.has_canonical_format
    assert (a.X.data > 0).all()
    for field in dataclasses.fields(a):
        first, *same, other = (
            getattr(s, field.name).toarray() if field.name == "X" else getattr(s, field.name)
            for s in (a, b, c, d)
        )
        for again in same:
            np.testing.assert_array_equal(first, again)
        if field.name not in {"alpha", "weights"}:
            assert (first != other).any()
    with pytest.raises(dataclasses.FrozenInstanceError):
        a.X = None


@pytest.mark.parametrize(
    ("make", "change", "message"),
    [
        (make_lda, {"n_samples": 0}, "n_samples=0"),
        (make_lda, {"alpha": 0}, "alpha=0"),
        (make_lda, {"alpha": [1, 2, 3]}, "2 components"),
        (make_lda, {"alpha": [1, -1]}, "above 0"),
        (make_lda, {"alpha": "a"}, "alpha='a'"),
        (make_lda, {"alpha": np.inf}, "above 0"),
        (make_lda, {"alpha": 5e-324}, "from 1e-100"),
        (make_lda, {"length": -1}, "at least 0"),
        (make_lda, {"concentration": 0}, "concentration=0"),
        (make_lda, {"exponent": -1}, "exponent=-1"),
        (make_poisson_mixture, {"n_features": 0}, "n_features=0"),
        (make_poisson_mixture, {"total": 0}, "total=0"),
        (make_poisson_mixture, {"total": 1e30}, "to 1e\\+15"),
        (make_poisson_mixture, {"total": [1.0]}, "2 components"),
        (make_poisson_mixture, {"weights": [0.5, 0.6]}, "sum 1"),
        (make_poisson_mixture, {"components": np.ones((2, 5))}, r"expected \(2, 6\)"),
        (make_poisson_mixture, {"components": -np.ones((2, 6))}, "at least 0"),
        (make_poisson_mixture, {"components": np.zeros((2, 6))}, "positive one in each row"),
        (make_poisson_mixture, {"components": [["a"]]}, "not a matrix of numbers"),
        (make_poisson_mixture, {"random_state": "a"}, "random_state='a'"),
    ],
)
def test_bad_parameters_are_named(make, change, message):
    arguments = {"n_samples": 5, "n_features": 6, "n_components": 2, "random_state": 0, **change}
    with pytest.raises(InvalidParameterError, match=message):
        make(**arguments)
