"""Mean-field inference against its formulas, transcribed one document at a time."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln, psi

from momentree.backends import RowBlocks, num_threads
from momentree.inference import lda as module
from momentree.inference import (
    variational_bound,
    variational_gammas,
    variational_proportions,
)
from momentree.objects import LDAParameters


def model(k=3, d=12, seed=0):
    rng = np.random.default_rng(seed)
    return LDAParameters(rng.uniform(0.1, 1.0, k), rng.dirichlet(np.ones(d), k).T)


def documents(n=25, d=12, seed=1):
    X = np.random.default_rng(seed).poisson(1.0, (n, d))
    X[3] = 0
    return X


def literal_round(x, p, gamma):
    phi = p.centers * np.exp(psi(gamma))
    phi /= phi.sum(axis=1, keepdims=True)
    return p.alpha + x @ phi


def literal_bound(x, p, gamma):
    """Each term of the bound separately (Blei et al. 2003, equation 15)."""
    log_h = psi(gamma) - psi(gamma.sum())
    phi = p.centers * np.exp(psi(gamma))
    phi /= phi.sum(axis=1, keepdims=True)
    a = p.alpha
    terms = gammaln(a.sum()) - gammaln(a).sum() + ((a - 1) * log_h).sum()
    terms += (x[:, None] * phi * (log_h + np.log(p.centers) - np.log(phi))).sum()
    return terms - (gammaln(gamma.sum()) - gammaln(gamma).sum() + ((gamma - 1) * log_h).sum())


@pytest.mark.parametrize("rounds", [1, 4])
def test_rounds_are_their_formula(rounds):
    X, p = documents(), model()
    found = variational_gammas(RowBlocks(sp.csr_array(X)), p, max_iter=rounds, tol=0.0)
    for x, gamma in zip(X, found, strict=True):
        expected = p.alpha + x.sum() / 3
        for _ in range(rounds):
            expected = literal_round(x, p, expected)
        np.testing.assert_allclose(gamma, expected, rtol=1e-12)


def test_the_bound_is_its_formula_and_never_falls():
    X, p = documents(), model()
    rows, last = RowBlocks(sp.csr_array(X)), np.full(25, -np.inf)
    for rounds in range(1, 30):
        gammas = variational_gammas(rows, p, max_iter=rounds, tol=0.0)
        bound = variational_bound(rows, p, gammas)
        assert (bound >= last - 1e-12 * np.abs(bound)).all()
        last = bound
    expected = [literal_bound(x, p, g) for x, g in zip(X, gammas, strict=True)]
    np.testing.assert_allclose(bound, expected, rtol=1e-11, atol=1e-12)


def test_the_bound_is_below_the_likelihood_and_meets_it_where_topics_share_no_words():
    # A document of one word that only one topic has: its posterior is a Dirichlet distribution.
    p = LDAParameters(np.array([0.3, 0.6]), np.array([[0.5, 0.0], [0.5, 0.0], [0.0, 1.0]]))
    rows = RowBlocks(sp.csr_array(np.eye(3)))
    gammas = variational_gammas(rows, p)
    np.testing.assert_allclose(gammas, np.add(p.alpha, [[1, 0], [1, 0], [0, 1]]), rtol=1e-12)
    bound = variational_bound(rows, p, gammas)
    np.testing.assert_allclose(bound, np.log(p.centers @ p.weights), rtol=1e-12)
    q = model()
    one = RowBlocks(sp.csr_array(np.eye(12)))
    bound = variational_bound(one, q, variational_gammas(one, q))
    assert (bound < np.log(q.centers @ q.weights)).all()


def test_proportions_sum_to_one_and_empty_documents_get_the_prior():
    X, p = documents(), model()
    h = variational_proportions(RowBlocks(sp.csr_array(X)), p)
    np.testing.assert_allclose(h.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(h[3], p.weights, rtol=1e-12)


def test_results_are_independent_of_threads_blocks_and_other_documents(monkeypatch):
    X, p = documents(60), model()
    h = variational_proportions(RowBlocks(sp.csr_array(X)), p)
    alone = [variational_proportions(RowBlocks(sp.csr_array(x[None])), p)[0] for x in X]
    np.testing.assert_allclose(h, alone, rtol=1e-10)
    monkeypatch.setattr(module, "SMALL_BLOCK_NNZ", 40)
    cut = variational_proportions(RowBlocks(sp.csr_array(X)), p)
    np.testing.assert_allclose(h, cut, rtol=1e-10)
    with num_threads(1):
        np.testing.assert_array_equal(cut, variational_proportions(RowBlocks(sp.csr_array(X)), p))


def test_words_without_probability_in_any_topic_are_ignored():
    p = model(d=5)
    p = LDAParameters(p.alpha, np.vstack([p.centers, np.zeros(3)]))
    h = variational_proportions(
        RowBlocks(sp.csr_array([[2, 0, 1, 0, 0, 0], [2, 0, 1, 0, 0, 0]])), p
    )
    assert np.isfinite(h).all()
    rows = RowBlocks(sp.csr_array([[0, 0, 0, 0, 0, 2]]))
    assert variational_bound(rows, p, variational_gammas(rows, p))[0] == -np.inf
