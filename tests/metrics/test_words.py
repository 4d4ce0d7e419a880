"""Relevance and coherence against literal transcriptions of their formulas."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import npmi_coherence, relevance, umass_coherence
from tests.raising import raises


def literal_umass(words, X):
    total = 0.0
    for j in range(1, len(words)):
        for i in range(j):
            both = sum(1 for x in X if x[words[i]] > 0 and x[words[j]] > 0)
            alone = sum(1 for x in X if x[words[i]] > 0)
            if alone:
                total += math.log((both + 1) / alone)
    return total


def literal_npmi(words, X):
    values = []
    for j in range(1, len(words)):
        for i in range(j):
            p = np.mean([x[words[i]] > 0 and x[words[j]] > 0 for x in X])
            pi, pj = np.mean(X[:, words[i]] > 0), np.mean(X[:, words[j]] > 0)
            values.append(
                -1.0 if p == 0 else 1.0 if p == 1 else math.log(p / (pi * pj)) / -math.log(p)
            )
    return float(np.mean(values))


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000))
def test_coherence_is_the_formula(seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, size=(rng.integers(1, 12), 7))
    words = np.stack([rng.permutation(7)[:4] for _ in range(3)])
    for A in (X, sp.csr_array(X), sp.csc_matrix(X)):
        np.testing.assert_allclose(
            umass_coherence(words, A), [literal_umass(w, X) for w in words], atol=1e-12
        )
        np.testing.assert_allclose(
            npmi_coherence(words, A), [literal_npmi(w, X) for w in words], atol=1e-12
        )


def test_relevance_is_the_formula():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(6), size=3), rng.dirichlet(np.ones(6))
    for lam in (0.0, 0.3, 0.7, 1.0):
        np.testing.assert_allclose(
            relevance(p, q, lam), lam * np.log(p) + (1 - lam) * np.log(p / q), rtol=1e-12
        )
    assert relevance([[0.0, 1.0]], [0.0, 1.0]).tolist() == [[-np.inf, 0.0]]


@pytest.mark.parametrize(
    ("arguments", "error", "code"),
    [
        (([[1.0]], [1.0], 1.5), InvalidParameterError, "not_a_number"),
        (([[1.0]], [1.0], None), InvalidParameterError, "not_a_number"),
        (([[1.0]], [["a"]], 0.5), InvalidDataError, "not_numbers"),
        (([[1j]], [1.0], 0.5), InvalidDataError, "not_numbers"),
        (([[1.0]], [0.5, 0.5], 0.5), InvalidDataError, "wrong_shape"),
        (([[-1.0, 2.0]], [0.5, 0.5], 0.5), InvalidDataError, "negative_or_not_finite"),
        (([[0.5, 0.5]], [1.0, 0.0], 0.5), InvalidDataError, "word_without_probability"),
    ],
)
def test_relevance_refuses(arguments, error, code):
    with raises(error, code):
        relevance(*arguments)


@pytest.mark.parametrize("coherence", [umass_coherence, npmi_coherence])
def test_coherence_refuses(coherence):
    with raises(InvalidDataError, "top_words_not_columns", high=5, last=2):
        coherence([[0, 5]], np.ones((2, 3)))
    with raises(InvalidDataError, "top_words_not_columns"):
        coherence([0, 1], np.ones((2, 3)))


def test_documents_may_be_a_list_and_topics_must_be_of_one_length():
    X = [[1, 2, 0], [3, 1, 0], [0, 0, 1]]
    np.testing.assert_array_equal(
        npmi_coherence([[0, 1]], X), npmi_coherence([[0, 1]], np.array(X))
    )
    with raises(InvalidDataError, "not_numbers", parameter="top_words"):
        umass_coherence([[0, 1], [2]], X)


def test_coherence_of_counts_in_foreign_byte_order():
    X = np.array([[1, 2, 0], [0, 1, 1], [3, 1, 0]], dtype=">f8")
    native = X.astype("f8")
    np.testing.assert_array_equal(
        umass_coherence([[0, 1, 2]], X), umass_coherence([[0, 1, 2]], native)
    )
