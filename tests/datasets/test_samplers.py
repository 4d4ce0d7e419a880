"""Samplers draw from the model that they hand out."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from momentree.datasets import _sampling, make_hierarchical_topics, make_single_topic, samplers
from momentree.exceptions import InvalidParameterError, MomentreeError


def test_table_5_1_is_the_file_of_the_authors(shared_data):
    pattern = np.loadtxt(shared_data / "hierarchical_topics_M.csv", delimiter=",")
    np.testing.assert_array_equal(samplers.hierarchy().T, pattern)


def test_hierarchical_topics_are_the_pattern_with_noise():
    sample = make_hierarchical_topics(random_state=3)
    assert sample.X.shape == (400, 100)
    assert set(sample.X.sum(axis=1)) == {200}
    np.testing.assert_allclose(sample.weights, 1 / 8)
    np.testing.assert_allclose(sample.components.sum(axis=1), 1)
    exact = make_hierarchical_topics(random_state=3, noise=0).components
    pattern = samplers.hierarchy()
    np.testing.assert_allclose(exact, pattern / pattern.sum(axis=1, keepdims=True))
    # Scaled back, each weight lies between that of the pattern and 0.1 above it.
    scale = sample.components.max(axis=1) / 0.8
    assert (sample.components / scale[:, None] <= 0.8 + 1e-12).all()
    high = pattern == 0.7
    assert sample.components[high].min() > sample.components[~high].max()


@pytest.mark.parametrize("n_features", [1, 2, 7, 8, 50, 99, 101])
def test_the_pattern_fits_any_number_of_words(n_features):
    pattern = samplers.hierarchy(n_features)
    assert pattern.shape == (8, n_features)
    assert set(np.unique(pattern)) <= {0.1, 0.7}


def test_own_topics_keep_their_zeros():
    topics = [[0, 3, 1, 0], [5, 0, 0, 5]]
    sample = make_hierarchical_topics(300, 50, topics=topics, noise=0, random_state=0)
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
    topics = make_single_topic(1, 200, 500, concentration=5, random_state=0).components
    mean = topics.mean(axis=0)
    slope = np.polyfit(np.log(np.arange(1, 201)), np.log(mean), 1)[0]
    assert slope == pytest.approx(-1, abs=0.05)  # 500 draws of relative spread 5^-1/2 at 200 ranks
    flat = make_single_topic(1, 200, 500, exponent=0, random_state=0).components
    assert flat.mean(axis=0).std() < 5 / 200 * np.sqrt(2 / 500)


def test_lengths_may_differ():
    lengths = [0, 1, 7, 0, 100]
    sample = make_single_topic(5, 9, 2, length=lengths, random_state=0)
    assert sample.X.sum(axis=1).tolist() == lengths


def test_blocks_do_not_change_the_form(monkeypatch):
    monkeypatch.setattr(_sampling, "WORDS_IN_BLOCK", 64)
    sample = make_single_topic(40, 12, 3, length=[30] * 39 + [1000], random_state=1)
    assert sample.X.shape == (40, 12)
    assert sample.X.sum(axis=1).tolist() == [30] * 39 + [1000]


def test_counts_are_clean():
    X = make_single_topic(200, 40, 4, random_state=0).X
    assert X.format == "csr"
    assert X.dtype == np.int64
    assert X.indices.dtype == np.int32
    assert X.has_canonical_format
    assert (X.data > 0).all()


def test_rounding_at_the_edges_of_a_topic_stays_in_it(monkeypatch):
    """The largest draw below 1 gives the last word of its own topic, also by rounding."""

    class Edge:
        def __init__(self, rng):
            self.rng = rng

        def __getattr__(self, name):
            return getattr(self.rng, name)

        def random(self, size):
            return np.full(size, np.nextafter(1.0, 0.0))

    seed = samplers.generator
    monkeypatch.setattr(samplers, "generator", lambda state: Edge(seed(state)))
    sample = make_hierarchical_topics(20, 10, topics=np.eye(3, 5) + np.eye(3, 5, 1), noise=0)
    assert (sample.labels == 2).all()
    assert set(sample.X.indices) == {3}


def test_the_seed_decides():
    a, b = (make_single_topic(30, 10, 2, random_state=5) for _ in range(2))
    c = make_single_topic(30, 10, 2, random_state=np.random.default_rng(5))
    d = make_single_topic(30, 10, 2, random_state=6)
    for other in (b, c):
        np.testing.assert_array_equal(a.X.toarray(), other.X.toarray())
        np.testing.assert_array_equal(a.components, other.components)
    assert (a.components != d.components).any()


def test_a_sample_is_frozen():
    sample = make_single_topic(3, 4, 2, random_state=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        sample.X = None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_samples": 0}, "n_samples=0"),
        ({"n_features": 2.5}, "n_features=2.5"),
        ({"n_components": True}, "n_components=True"),
        ({"length": -1}, "at least 0"),
        ({"length": 1.5}, "length=1.5"),
        ({"length": [1, 2]}, "5 documents"),
        ({"weights": [0.5, 0.6]}, "sum 1"),
        ({"weights": [0.5, 0.5, 0]}, "2 numbers"),
        ({"weights": [1.5, -0.5]}, "at least 0"),
        ({"weights": ["a", "b"]}, "2 numbers"),
        ({"concentration": 0}, "concentration=0"),
        ({"concentration": float("nan")}, "above 0"),
        ({"concentration": 1e-300}, "raise it"),
        ({"exponent": -1}, "exponent=-1"),
        ({"random_state": -1}, "random_state=-1"),
        ({"random_state": "a"}, "random_state='a'"),
    ],
)
def test_bad_parameters_are_named(change, message):
    arguments = {"n_samples": 5, "n_features": 6, "n_components": 2, "random_state": 0, **change}
    with pytest.raises(InvalidParameterError, match=message):
        make_single_topic(**arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": -0.1}, "noise"),
        ({"topics": [1, 2]}, r"shape \(2,\)"),
        ({"topics": np.zeros((0, 3))}, "shape"),
        ({"topics": [[1, -1]]}, "at least 0"),
        ({"topics": [[1, np.nan]]}, "finite"),
        ({"topics": [[1, 2], [0, 0]]}, "positive one in each row"),
        ({"topics": [["a"]]}, "not a matrix of numbers"),
        ({"topics": [[1, 2], [3]]}, "not a matrix of numbers"),
        ({"n_samples": -3}, "n_samples"),
        ({"length": "long"}, "length"),
    ],
)
def test_bad_parameters_of_the_hierarchy_are_named(change, message):
    with pytest.raises(MomentreeError, match=message):
        make_hierarchical_topics(**change)
