"""Samplers of documents draw from the model that they return."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from momentree.datasets import (
    make_hierarchical_topics,
    make_lda,
    make_single_topic,
    sequential,
)
from momentree.exceptions import MomentreeError
from tests.raising import raises


def z_scores(values, expected, axis=0):
    """Standardized differences between the means of a sample and their expectations."""
    error = values.std(axis=axis, ddof=1) / np.sqrt(values.shape[axis])
    return np.abs(values.mean(axis=axis) - expected) / np.where(error > 0, error, 1.0)


def test_table_5_1_is_the_file_of_the_authors(shared_data):
    pattern = np.loadtxt(shared_data / "hierarchical_topics_M.csv", delimiter=",")
    np.testing.assert_array_equal(sequential.hierarchy().T, pattern)


def test_hierarchical_topics_are_the_pattern_with_noise():
    sample = make_hierarchical_topics(random_state=3)
    assert sample.X.shape == (400, 100)
    assert set(sample.X.sum(axis=1)) == {200}
    np.testing.assert_allclose(sample.weights, 1 / 8)
    np.testing.assert_allclose(sample.components.sum(axis=1), 1)
    exact = make_hierarchical_topics(random_state=3, noise=0).components
    pattern = sequential.hierarchy()
    np.testing.assert_allclose(exact, pattern / pattern.sum(axis=1, keepdims=True))
    # Scaled back, each weight lies between that of the pattern and 0.1 above it.
    scale = sample.components.max(axis=1) / 0.8
    assert (sample.components / scale[:, None] <= 0.8 + 1e-12).all()
    high = pattern == 0.7
    assert sample.components[high].min() > sample.components[~high].max()


def test_own_topics_keep_their_zeros():
    given = [[0, 3, 1, 0], [5, 0, 0, 5]]
    sample = make_hierarchical_topics(300, 50, topics=given, noise=0, random_state=0)
    counts = sample.X.toarray()
    assert not counts[sample.labels == 0][:, [0, 3]].any()
    assert not counts[sample.labels == 1][:, [1, 2]].any()


def test_counts_follow_the_model():
    """Frequencies of topics and words lie within 5 standard errors of the parameters."""
    weights = np.array([0.5, 0.3, 0.2])
    sample = make_single_topic(
        4000, 30, 3, length=50, weights=weights, concentration=2, random_state=0
    )
    share = np.bincount(sample.labels, minlength=3) / 4000
    assert (abs(share - weights) < 5 * np.sqrt(weights * (1 - weights) / 4000)).all()
    for i, mu in enumerate(sample.components):
        words = sample.X[np.flatnonzero(sample.labels == i)].sum(axis=0)
        error = np.sqrt(mu * (1 - mu) / words.sum())
        assert (abs(words / words.sum() - mu) < 5 * error + 1e-12).all()


def test_frequencies_fall_with_the_rank_of_the_word():
    drawn = make_single_topic(1, 200, 500, concentration=5, random_state=0).components
    mean = drawn.mean(axis=0)
    slope = np.polyfit(np.log(np.arange(1, 201)), np.log(mean), 1)[0]
    assert slope == pytest.approx(-1, abs=0.05)  # 500 draws of relative spread 5^-1/2 at 200 ranks
    flat = make_single_topic(1, 200, 500, exponent=0, random_state=0).components
    assert flat.mean(axis=0).std() < 5 / 200 * np.sqrt(2 / 500)


def test_lengths_may_differ():
    lengths = [0, 1, 7, 0, 100]
    sample = make_single_topic(5, 9, 2, length=lengths, random_state=0)
    assert sample.X.sum(axis=1).tolist() == lengths


@pytest.mark.parametrize("make", [make_single_topic, make_lda])
def test_more_words_than_are_drawn_at_once(make):
    lengths = [0, 600_000, 1, 600_000, 3, 1_300_000, 0]
    sample = make(7, 12, 3, length=lengths, random_state=1)
    assert sample.X.shape == (7, 12)
    assert sample.X.sum(axis=1).tolist() == lengths


def test_rounding_at_the_edges_of_a_topic_stays_in_it(monkeypatch):
    """The largest draw below 1 gives the last word of its own topic, also by rounding."""

    class Edge:
        def __init__(self, rng):
            self.rng = rng

        def __getattr__(self, name):
            return getattr(self.rng, name)

        def random(self, size):
            return np.full(size, np.nextafter(1.0, 0.0))

    seed = sequential.generator
    monkeypatch.setattr(sequential, "generator", lambda state: Edge(seed(state)))
    sample = make_hierarchical_topics(20, 10, topics=np.eye(3, 5) + np.eye(3, 5, 1), noise=0)
    assert (sample.labels == 2).all()
    assert set(sample.X.indices) == {3}


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


@pytest.mark.parametrize("make", [make_single_topic, make_lda])
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
        if field.name not in {"alpha", "weights"}:
            assert (first != other).any()
    with pytest.raises(dataclasses.FrozenInstanceError):
        a.X = None


@pytest.mark.parametrize(
    ("make", "change", "code"),
    [
        (make_single_topic, {"n_samples": 0}, "not_a_number"),
        (make_single_topic, {"n_features": 2.5}, "not_a_number"),
        (make_single_topic, {"n_components": True}, "not_a_number"),
        (make_single_topic, {"length": -1}, "not_lengths"),
        (make_single_topic, {"length": 1.5}, "not_lengths"),
        (make_single_topic, {"length": [1, 2]}, "not_lengths"),
        (make_single_topic, {"weights": [0.5, 0.6]}, "not_a_distribution"),
        (make_single_topic, {"weights": [0.5, 0.5, 0]}, "wrong_shape"),
        (make_single_topic, {"weights": [1.5, -0.5]}, "not_a_distribution"),
        (make_single_topic, {"weights": ["a", "b"]}, "not_numbers"),
        (make_single_topic, {"concentration": 0}, "not_a_number"),
        (make_single_topic, {"concentration": float("nan")}, "not_a_number"),
        (make_single_topic, {"concentration": 1e-300}, "concentration_too_small"),
        (make_single_topic, {"exponent": -1}, "not_a_number"),
        (make_single_topic, {"random_state": -1}, "not_a_generator"),
        (make_single_topic, {"random_state": "a"}, "not_a_generator"),
        (make_lda, {"alpha": 0}, "not_one_or_each"),
        (make_lda, {"alpha": [1, 2, 3]}, "not_one_or_each"),
        (make_lda, {"alpha": [1, -1]}, "not_one_or_each"),
        (make_lda, {"alpha": "a"}, "not_numbers"),
        (make_lda, {"alpha": np.inf}, "not_one_or_each"),
        (make_lda, {"alpha": 5e-324}, "not_one_or_each"),
        (make_lda, {"length": -1}, "not_lengths"),
        (make_lda, {"exponent": -1}, "not_a_number"),
    ],
)
def test_bad_parameters_are_refused(make, change, code):
    arguments = {"n_samples": 5, "n_features": 6, "n_components": 2, "random_state": 0, **change}
    with raises(MomentreeError, code):
        make(**arguments)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"noise": -0.1}, "not_a_number"),
        ({"topics": [1, 2]}, "wrong_shape"),
        ({"topics": np.zeros((0, 3))}, "row_without_positive_number"),
        ({"topics": [[1, -1]]}, "row_without_positive_number"),
        ({"topics": [[1, np.nan]]}, "row_without_positive_number"),
        ({"topics": [[1, 2], [0, 0]]}, "row_without_positive_number"),
        ({"topics": [["a"]]}, "not_numbers"),
        ({"topics": [[1, 2], [3]]}, "not_numbers"),
        ({"n_samples": -3}, "not_a_number"),
        ({"length": "long"}, "not_lengths"),
    ],
)
def test_bad_parameters_of_the_hierarchy_are_refused(change, code):
    with raises(MomentreeError, code):
        make_hierarchical_topics(**change)
