"""The words of a node for every setting of the slider, against relevance itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree.metrics import relevance
from momentree.metrics.words import relevance_order
from momentree.report.topics.nodes import words_for_every_lambda

LAMBDAS = np.linspace(0.0, 1.0, 11)


def oracle(center, base, lam, n):
    """The n largest relevances, by the public metric."""
    with np.errstate(divide="ignore"):
        value = np.asarray(relevance(center[np.newaxis], base, lam))[0]
    value = value[np.isfinite(value)]
    return np.sort(value)[::-1][:n]


def shown(center, base, lam, n):
    columns = words_for_every_lambda(center, base, n)
    order = relevance_order(center[columns], base[columns], lam)[:n]
    return columns[order]


def values(center, base, lam, columns):
    return np.log(center[columns]) - (1.0 - lam) * np.log(base[columns])


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    d=st.integers(1, 200),
    n=st.integers(1, 25),
    concentration=st.sampled_from([0.05, 0.5, 5.0]),
)
def test_top_words_are_those_of_relevance_at_every_lambda(seed, d, n, concentration):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(concentration, 3.0, size=(2, d)))
    counts[0, 0] += 1
    base = (counts[0] + counts[1]) / counts.sum()
    center = counts[0] / counts[0].sum()
    for lam in LAMBDAS:
        columns = shown(center, base, lam, n)
        # Equal relevances are common (words that occur in one node only all have the same
        # lift), so the values are compared; 2e-9 is the resolution of the order.
        np.testing.assert_allclose(
            values(center, base, lam, columns), oracle(center, base, lam, n), rtol=0, atol=2e-9
        )


def test_ties_go_to_the_more_probable_word():
    # Words 1 and 2 occur in the node only: the same lift of 2.
    base = np.array([0.5, 0.125, 0.375])
    center = np.array([0.0, 0.25, 0.75])
    assert shown(center, base, 0.0, 1).tolist() == [2]


def test_words_that_never_occur_are_never_shown():
    base = np.array([0.5, 0.5, 0.0])
    center = np.array([1.0, 0.0, 0.0])
    assert words_for_every_lambda(center, base, 5).tolist() == [0]


@pytest.mark.parametrize("n", [1, 3, 20])
def test_far_fewer_words_than_the_vocabulary_are_needed(n):
    rng = np.random.default_rng(0)
    base = rng.dirichlet(np.full(20_000, 0.1))
    center = rng.dirichlet(np.full(20_000, 0.1)) * 0.5 + 0.5 * base
    assert len(words_for_every_lambda(center, base, n)) < 40 * n
