"""Error bounds against their formulas, simulated corpora and exact probabilities."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from momentree.datasets import make_hierarchical_topics
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.moments import SingleTopicMoments, moment_error_bound, required_samples
from tests.raising import raises


def literal(lengths, delta, order, m_norm, version):
    """T Theorem 3.2.2 and S Theorem 2, sum by sum."""
    falling = [t * (t - 1) * (t - 2 if order == 3 else 1) for t in lengths]
    total = sum(falling)
    W = sum(t**2 for t in falling) / total**2
    log = math.log(1 / delta)
    second = math.sqrt(2 * W * log)
    if version == "paper":
        longest = max(t if order == 2 else t * (t - 1) for t in lengths)
        second = math.sqrt(log) * longest * math.sqrt(sum(lengths)) / total
    return math.sqrt(W * (1 - m_norm**2)) + second


def error(X, weights, components, order):
    """||M~ - M||_F of the estimator."""
    found, true = SingleTopicMoments.from_data(X), SingleTopicMoments.from_parameters
    exact = true(weights, components)
    if order == 3:
        return np.linalg.norm(found.m3_dense() - exact.m3_dense())
    identity = np.eye(X.shape[1])
    return np.linalg.norm(found.m2 @ identity - exact.m2 @ identity)


@pytest.mark.parametrize("version", ["thesis", "paper"])
@pytest.mark.parametrize("order", [2, 3])
def test_the_bound_is_the_formula(order, version):
    lengths = [0, 1, 2, 2, 3, 7, 7, 50, 1]
    for delta, m_norm in ((0.5, 0.0), (0.05, 0.7), (1e-9, 1.0)):
        found = moment_error_bound(lengths, delta, order=order, m_norm=m_norm, version=version)
        assert found == pytest.approx(literal(lengths, delta, order, m_norm, version), rel=1e-12)


def test_only_the_published_bound_counts_short_documents():
    """C_1 of S Theorem 2 is the sum of all lengths."""
    short = [5, 9] + [1] * 30
    added = moment_error_bound(short, 0.1, version="paper")
    assert added > 1.2 * moment_error_bound([5, 9], 0.1, version="paper")
    assert added == pytest.approx(literal(short, 0.1, 2, 0.0, "paper"))
    assert moment_error_bound([5, 9, 1, 0], 0.1) == moment_error_bound([5, 9], 0.1)
    assert moment_error_bound([5, 9, 2], 0.1, order=3) == moment_error_bound([5, 9], 0.1, order=3)


@pytest.mark.parametrize("order", [2, 3])
def test_the_thesis_bound_holds(order):
    """One long document among short ones: nearly all the weight is on one topic."""
    topics = np.eye(3)
    lengths = np.r_[200, np.full(60, 4)]
    exact = SingleTopicMoments.from_parameters(np.full(3, 1 / 3), topics).m3_dense()
    m_norm = np.linalg.norm(exact if order == 3 else exact.sum(axis=2))
    samples = [
        make_hierarchical_topics(61, lengths, topics=topics, noise=0, random_state=seed)
        for seed in range(100)
    ]
    errors = [error(s.X, s.weights, s.components, order) for s in samples]
    for delta in (0.9, 0.5, 0.1):
        bound = moment_error_bound(lengths, delta, order=order, m_norm=m_norm)
        assert np.mean(np.greater(errors, bound)) <= delta
    # With equal weights for all documents, the formula would fail.
    alike = moment_error_bound(np.full(61, 50), 0.1, order=order, m_norm=m_norm)
    assert np.mean(np.greater(errors, alike)) > 0.9


@pytest.mark.parametrize("order", [2, 3])
def test_the_mean_error_is_the_first_term_where_documents_are_single_points(order):
    """Topics of one word: E ||M~ - M||^2 = W (1 - ||M||^2), so that Jensen loses little."""
    rng = np.random.default_rng(0)
    topic = rng.integers(4, size=(1000, 50))
    share = np.stack([np.mean(topic == i, axis=1) for i in range(4)])
    squares = ((share - 0.25) ** 2).sum(axis=0)
    m_norm = np.sqrt(4 * 0.25**2)
    first = moment_error_bound([order] * 50, 1 - 1e-16, order=order, m_norm=m_norm)
    assert abs(squares.mean() - first**2) < 5 * squares.std() / np.sqrt(1000)


@pytest.mark.parametrize("order", [2, 3])
def test_the_published_bound_fails_for_long_documents(order):
    """Two topics of one word each: the error is sqrt(2) |p - 1/2| for any length."""
    n, delta, m_norm = 100, 0.05, math.sqrt(0.5)
    count = np.arange(n + 1)
    chance, errors = binom.pmf(count, n, 0.5), math.sqrt(2) * np.abs(count / n - 0.5)

    def failure(length, version):
        options = {"order": order, "m_norm": m_norm, "version": version}
        return chance[errors > moment_error_bound([length] * n, delta, **options)].sum()

    assert failure(3, "thesis") <= delta
    assert failure(1000, "thesis") <= delta
    assert failure(1000, "paper") == pytest.approx(0.271, abs=5e-4)
    assert failure(10, "paper") > delta
    # The estimator has this error for documents of any length.
    for length in (3, 1000):
        sample = make_hierarchical_topics(n, length, topics=np.eye(2), noise=0, random_state=1)
        share = np.mean(sample.labels == 0)
        found = error(sample.X, sample.weights, sample.components, order)
        assert found == pytest.approx(math.sqrt(2) * abs(share - 0.5), abs=1e-12)


def test_one_word_may_change_more_than_the_paper_says():
    """By sqrt(6) (c - 1) / C2, where the proof of S Theorem 2 has sqrt(2) c / C2."""
    c = 30
    counts = np.array([[c, 0], [c - 1, 1]], dtype=float)
    pairs = counts[:, :, None] * counts[:, None, :] - np.eye(2) * counts[:, :, None]
    change = np.linalg.norm(pairs[0] - pairs[1])
    assert change == pytest.approx(math.sqrt(6) * (c - 1), rel=1e-12)
    assert change > math.sqrt(2) * c


@pytest.mark.parametrize("version", ["thesis", "paper"])
@pytest.mark.parametrize("order", [2, 3])
def test_required_samples_is_the_smallest_number(order, version):
    for epsilon, delta, length, m_norm in ((0.3, 0.1, 10, 0.0), (0.07, 0.01, 4, 0.6)):
        options = {"order": order, "m_norm": m_norm, "version": version}
        n = required_samples(epsilon, delta, length, **options)
        assert moment_error_bound([length] * n, delta, **options) < epsilon
        assert moment_error_bound([length] * (n - 1), delta, **options) >= epsilon


def test_required_samples_of_the_valid_bound_ignore_the_length():
    assert required_samples(0.1, 0.05, 3) == required_samples(0.1, 0.05, 10_000)
    assert required_samples(5.0, 0.05, 3) == 1


@pytest.mark.parametrize(
    ("change", "error", "code"),
    [
        ({"delta": 0}, InvalidParameterError, "not_a_number"),
        ({"delta": 1.0}, InvalidParameterError, "not_a_number"),
        ({"delta": "a"}, InvalidParameterError, "not_a_number"),
        ({"order": 4}, InvalidParameterError, "not_an_order"),
        ({"m_norm": 1.1}, InvalidParameterError, "not_a_number"),
        ({"m_norm": float("nan")}, InvalidParameterError, "not_a_number"),
        ({"version": "book"}, InvalidParameterError, "not_a_choice"),
        ({"lengths": [2.5]}, InvalidDataError, "bad_lengths"),
        ({"lengths": [-1]}, InvalidDataError, "bad_lengths"),
        ({"lengths": [np.nan]}, InvalidDataError, "bad_lengths"),
        ({"lengths": 5}, InvalidDataError, "bad_lengths"),
        ({"lengths": ["a"]}, InvalidDataError, "not_numbers"),
        ({"lengths": []}, InvalidDataError, "documents_too_short"),
        ({"lengths": [2, 2], "order": 3}, InvalidDataError, "documents_too_short"),
    ],
)
def test_bad_input_is_refused(change, error, code):
    with raises(error, code):
        moment_error_bound(**{"lengths": [5, 5], "delta": 0.1, **change})


def test_bad_epsilon_is_refused():
    with raises(InvalidParameterError, "not_a_number", parameter="epsilon"):
        required_samples(0, 0.1, 10)
    for epsilon in (1e-300, 5e-324):
        with raises(InvalidParameterError, "error_too_small"):
            required_samples(epsilon, 0.1, 10)
    with raises(InvalidDataError, "documents_too_short", order=3):
        required_samples(0.1, 0.1, 2, order=3)


def test_lengths_beyond_exact_floats_are_refused():
    with raises(InvalidDataError, "bad_lengths"):
        moment_error_bound([1e300], 0.1, order=3)
