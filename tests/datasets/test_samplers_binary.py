"""Samplers of binary data draw from the model that they hand out."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest

from momentree.datasets import make_bernoulli_mixture, make_patient_records
from momentree.exceptions import InvalidParameterError


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
    # Neighbouring rows do not know of each other either.
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


def test_default_components_can_be_told_apart():
    """The accuracy that the thesis reports needs parameters under which it is possible."""
    sample = make_bernoulli_mixture(random_state=0)
    p = np.clip(sample.means, 1e-9, 1 - 1e-9)
    scores = sample.X @ np.log(p / (1 - p)).T + np.log1p(-p).sum(axis=1) + np.log(sample.weights)
    assert np.mean(scores.argmax(axis=1) == sample.labels) > 0.995


def test_records_are_a_mixture_in_families():
    sample = make_patient_records(40_000, 300, 9, 8.0, random_state=3)
    assert sample.families.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert sample.weights @ sample.means.sum(axis=1) == pytest.approx(8)
    assert 0 < sample.means.min() <= sample.means.max() <= 0.9
    for i, mu in enumerate(sample.means):
        X = sample.X[np.flatnonzero(sample.labels == i)].toarray()
        z = (X.mean(axis=0) - mu) / np.sqrt(mu * (1 - mu) / len(X))
        # A standard error says little of a count below ten.
        assert np.abs(z[mu * len(X) >= 10]).max() < 5
    # Groups of a family are nearer to each other than to groups of other families.
    near = np.corrcoef(np.log(sample.means / sample.means.mean(axis=0)))
    same = sample.families[:, None] == sample.families
    assert near[same & ~np.eye(9, dtype=bool)].min() > near[~same].max()


def test_frequencies_of_codes_have_a_long_tail():
    frequencies = np.sort(make_patient_records(20_000, random_state=0).X.mean(axis=0))[::-1]
    assert frequencies[0] > 0.1
    assert np.median(frequencies) < 0.01
    assert frequencies[:250].sum() > 0.8 * frequencies.sum()


def test_a_million_records_are_drawn_without_their_dense_matrix():
    started = time.process_time()
    X = make_patient_records(200_000, random_state=0).X  # a fifth of a million, for quick tests
    assert time.process_time() - started < 12
    assert abs(X.nnz / 200_000 - 10) < 0.1


@pytest.mark.parametrize("make", [make_bernoulli_mixture, make_patient_records])
def test_ones_are_clean_and_the_seed_decides(make):
    arguments = (200, 60, 4)
    a, b = (make(*arguments, random_state=5) for _ in range(2))
    c = make(*arguments, random_state=np.random.default_rng(5))
    d = make(*arguments, random_state=6)
    assert a.X.format == "csr"
    assert a.X.dtype == np.int64
    assert a.X.has_canonical_format
    assert (a.X.data == 1).all()
    assert a.X.indices.dtype == a.X.indptr.dtype == np.int32
    for field in dataclasses.fields(a):
        first, *same, other = (
            getattr(s, field.name).toarray() if field.name == "X" else getattr(s, field.name)
            for s in (a, b, c, d)
        )
        for again in same:
            np.testing.assert_array_equal(first, again)
        if field.name not in {"families", "codes"}:
            assert (first != other).any()


def test_small_samples_and_many_codes():
    assert make_bernoulli_mixture(3, 2, 5, means=np.zeros((5, 2))).X.nnz == 0
    assert make_bernoulli_mixture(3, 2, 5, means=np.ones((5, 2))).X.nnz == 6
    assert make_patient_records(1, 4, 1, 1.0).X.shape == (1, 4)
    assert make_patient_records(2, 12_000, 2).codes[[0, -1]].tolist() == ["C00001", "C12000"]
    full = make_patient_records(5, 40, 3, 10.0)
    assert full.weights @ full.means.sum(axis=1) == pytest.approx(10)


@pytest.mark.parametrize(
    ("make", "change", "message"),
    [
        (make_bernoulli_mixture, {"n_samples": 0}, "n_samples=0"),
        (make_bernoulli_mixture, {"n_features": 1.5}, "n_features=1.5"),
        (make_bernoulli_mixture, {"n_components": True}, "n_components=True"),
        (make_bernoulli_mixture, {"n_components": 2, "weights": [1, 1]}, "sum 1"),
        (make_bernoulli_mixture, {"means": [[0.5]]}, r"shape \(1, 1\); expected \(12, 99\)"),
        (make_bernoulli_mixture, {"means": np.full((12, 99), 1.5)}, "expected probabilities"),
        (make_bernoulli_mixture, {"means": np.full((12, 99), np.nan)}, "expected probabilities"),
        (make_bernoulli_mixture, {"means": [["a"]]}, "not a matrix of numbers"),
        (make_bernoulli_mixture, {"scaled_by": "row"}, "expected one of 'component'"),
        (make_bernoulli_mixture, {"random_state": "a"}, "random_state='a'"),
        (make_patient_records, {"n_codes": 0}, "n_codes=0"),
        (make_patient_records, {"n_groups": -1}, "n_groups=-1"),
        (make_patient_records, {"codes_per_record": 0}, "codes_per_record=0"),
        (make_patient_records, {"codes_per_record": 176}, "a quarter of the 700 codes"),
        (make_patient_records, {"codes_per_record": np.nan}, "codes_per_record=nan"),
    ],
)
def test_bad_parameters_are_named(make, change, message):
    with pytest.raises(InvalidParameterError, match=message):
        make(**change)
