"""Halves of documents, and the likelihood of one given topic proportions."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.backends import RowBlocks
from momentree.inference import completion_log_likelihood, split_words
from momentree.objects import LDAParameters


def test_halves_sum_to_the_whole_and_are_binomial():
    X = sp.csr_array(np.full((200, 50), 7))
    first, second = split_words(X, np.random.RandomState(0))
    np.testing.assert_array_equal((first + second).toarray(), X.toarray())
    draws = first.toarray()
    assert (draws == np.floor(draws)).all()
    # 10,000 draws of Binomial(7, 1/2): mean 3.5, variance 1.75.
    assert abs(draws.mean() - 3.5) < 4 * np.sqrt(1.75 / 10_000)
    assert draws.var() == pytest.approx(1.75, rel=0.06)


def test_fractional_parts_are_not_split():
    first, second = split_words(sp.csr_array([[0.4, 2.4]]), np.random.RandomState(1))
    np.testing.assert_allclose((first + second).toarray(), [[0.4, 2.4]])
    assert set(np.round(np.concatenate([first.data, second.data]) % 1, 6)) <= {0.0, 0.4}


def test_the_likelihood_is_its_formula():
    rng = np.random.default_rng(0)
    p = LDAParameters(np.ones(3), rng.dirichlet(np.ones(6), 3).T)
    X, h = rng.poisson(1.0, (9, 6)), rng.dirichlet(np.ones(3), 9)
    X[4] = 0
    found = completion_log_likelihood(RowBlocks(sp.csr_array(X), 10), p, h)
    np.testing.assert_allclose(found, (X * np.log(h @ p.centers.T)).sum(axis=1), rtol=1e-12)
    assert found[4] == 0.0


def test_words_that_no_topic_has_are_impossible():
    p = LDAParameters(np.ones(1), np.array([[1.0], [0.0]]))
    found = completion_log_likelihood(RowBlocks(sp.csr_array([[1, 1]])), p, np.ones((1, 1)))
    assert found[0] == -np.inf


@pytest.mark.parametrize("count", [2.0**53, 1e30])
def test_counts_too_large_to_draw_are_halved(count):
    first, second = split_words(sp.csr_array([[count, 3.0]]), np.random.RandomState(0))
    assert first[0, 0] == pytest.approx(count / 2, rel=1e-6)
    np.testing.assert_array_equal((first + second).toarray(), [[count, 3.0]])
