"""The Gibbs sampler against exact posteriors of tiny documents."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.backends import RowBlocks, num_threads
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.inference import gibbs_proportions, variational_proportions
from momentree.inference import lda as variational_module
from momentree.objects import LDAParameters
from tests.raising import raises


def model(k=3, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return LDAParameters(rng.uniform(0.2, 1.5, k), rng.dirichlet(np.ones(d), k).T)


def exact(x, p):
    """E[h | x] and the variance of one sample of (n + alpha) / (c + alpha_0), by enumeration."""
    words = np.repeat(np.arange(len(x)), x)
    k, total = p.n_components, 0.0
    first, second = np.zeros(k), np.zeros(k)
    for z in product(range(k), repeat=len(words)):
        n, probability = np.zeros(k), 1.0
        for i, (w, j) in enumerate(zip(words, z, strict=True)):
            probability *= p.centers[w, j] * (n[j] + p.alpha[j]) / (i + p.alpha0)
            n[j] += 1
        h = (n + p.alpha) / (len(words) + p.alpha0)
        total += probability
        first += probability * h
        second += probability * h**2
    first /= total
    return first, second / total - first**2


@pytest.mark.parametrize("k", [3])
def test_topic_proportions_are_those_of_enumeration(k):
    p = model(k)
    X = np.array([[2, 0, 0, 0], [1, 1, 0, 1], [0, 1, 2, 1], [0, 0, 0, 1], [3, 1, 0, 0]])
    n_iter = 2_000
    found = gibbs_proportions(RowBlocks(sp.csr_array(X)), p, n_iter=n_iter, random_state=1)
    for x, h in zip(X, found, strict=True):
        mean, variance = exact(x, p)
        # Sweeps are correlated: five of them are counted as one.
        assert (np.abs(h - mean) < 4 * np.sqrt(5 * variance / n_iter)).all()


def test_the_alpha_of_the_topic_counts_not_that_of_the_word():
    # With alpha_i indexed by the word, these proportions would be equal.
    p = LDAParameters(np.array([0.1, 2.0]), np.full((3, 2), 1 / 3))
    h = gibbs_proportions(RowBlocks(sp.csr_array([[2, 1, 0]])), p, n_iter=1000)
    np.testing.assert_allclose(h[0], p.weights, atol=0.04)


def test_it_agrees_with_mean_field_on_medium_documents():
    rng = np.random.default_rng(2)
    p = LDAParameters(np.full(3, 0.5), rng.dirichlet(np.full(60, 0.1), 3).T)
    h = rng.dirichlet(p.alpha, 40)
    X = np.array([rng.multinomial(80, q) for q in h @ p.centers.T])
    rows = RowBlocks(sp.csr_array(X))
    sampled, mean_field = gibbs_proportions(rows, p), variational_proportions(rows, p)
    # A regression guard: over seeds 2 to 6, the mean is 0.010 and the standard deviation 0.005.
    assert np.abs(sampled - mean_field).sum(axis=1).mean() < 0.010 + 4 * 0.005
    # Posterior means have the least expected square error, so mean field is no better.
    worse = (np.square(sampled - h) - np.square(mean_field - h)).sum(axis=1)
    assert worse.mean() < 4 * worse.std(ddof=1) / np.sqrt(40)


def test_results_are_independent_of_threads_blocks_and_other_documents(monkeypatch):
    rng = np.random.default_rng(3)
    p, X = model(d=8), rng.poisson(1.0, (20, 8))
    X[7] = 0
    full = gibbs_proportions(RowBlocks(sp.csr_array(X)), p, n_iter=5, random_state=4)
    np.testing.assert_allclose(full[7], p.weights)
    alone = [
        gibbs_proportions(RowBlocks(sp.csr_array(x[None])), p, n_iter=5, random_state=4)[0]
        for x in X
    ]
    np.testing.assert_array_equal(full, alone)
    monkeypatch.setattr(variational_module, "SMALL_BLOCK_NNZ", 20)
    with num_threads(1):
        cut = gibbs_proportions(RowBlocks(sp.csr_array(X)), p, n_iter=5, random_state=4)
    np.testing.assert_array_equal(full, cut)
    other = gibbs_proportions(RowBlocks(sp.csr_array(X)), p, n_iter=5, random_state=5)
    assert (full != other).any()


def test_bad_input_is_refused():
    rows = RowBlocks(sp.csr_array([[0.5, 1.0, 0.0, 0.0]]))
    with raises(InvalidDataError, "count_not_whole", value=0.5):
        gibbs_proportions(rows, model())
    whole = RowBlocks(sp.csr_array([[1, 1, 0, 0]]))
    with raises(InvalidParameterError, "not_a_number", parameter="n_iter"):
        gibbs_proportions(whole, model(), n_iter=0)
    with raises(InvalidParameterError, "not_a_number", parameter="burn_in"):
        gibbs_proportions(whole, model(), burn_in=-1)
    with raises(InvalidParameterError, "not_a_random_state"):
        gibbs_proportions(whole, model(), random_state="seed")
