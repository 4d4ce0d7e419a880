"""Variational EM of latent Dirichlet allocation: what each step must do."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln, psi
from scipy.stats import dirichlet

from momentree.backends import RowBlocks, num_threads
from momentree.exceptions import InvalidDataError
from momentree.inference import variational as inference
from momentree.inference import variational_bound, variational_gammas
from momentree.objects import LDAParameters
from momentree.refinement import (
    dirichlet_from_logs,
    gibbs_em,
    smoothed_topics,
    variational_em,
)
from momentree.refinement.lda import _expected_topics


def data(n=80, d=10, k=3, seed=0):
    rng = np.random.default_rng(seed)
    mu = rng.dirichlet(0.5 * np.ones(d), size=k)
    h = rng.dirichlet(np.full(k, 0.3), n)
    X = np.array([rng.multinomial(30, p) for p in h @ mu])
    X[5] = 0
    start = LDAParameters(np.full(k, 0.5), rng.dirichlet(2 * np.ones(d), size=k).T)
    return X, start


def test_a_step_is_its_formula():
    X, start = data()
    rows = RowBlocks(sp.csr_array(X))
    v = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    found = variational_em(rows, start, sample_weight=v, smoothing=0.3, max_iter=1)
    gammas = variational_gammas(rows, start, max_iter=20, tol=1e-3)
    S = np.zeros_like(start.centers)
    for x, g, weight in zip(X, gammas, v, strict=True):
        phi = start.centers * np.exp(psi(g))
        S += weight * x[:, None] * phi / phi.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.parameters.centers, smoothed_topics(S, 0.3), rtol=1e-10)
    some = X.sum(axis=1) > 0
    bound = v[some] @ variational_bound(rows, start, gammas)[some]
    assert found.bound == pytest.approx(bound, rel=1e-12)
    logs = psi(gammas) - psi(gammas.sum(axis=1, keepdims=True))
    mean = v[some] @ logs[some] / v[some].sum()
    # The alpha of the step is where the gradient of the likelihood is zero.
    alpha = found.parameters.alpha
    np.testing.assert_allclose(psi(alpha) - psi(alpha.sum()), mean, rtol=1e-8)


def test_the_distribution_of_topics_is_its_formula():
    counts, prior = np.array([[3.0, 0.2], [1.5, 4.0], [0.2, 2.0]]), 0.2
    topics, bound = _expected_topics(counts, prior)
    expected = 0.0
    for j, c in enumerate(counts.T):
        logs = psi(c) - psi(c.sum())
        np.testing.assert_allclose(topics[:, j], np.exp(logs))
        log_p = gammaln(3 * prior) - 3 * gammaln(prior) + (prior - 1) * logs.sum()
        expected += log_p + dirichlet(c).entropy()
    assert bound == pytest.approx(expected)


def test_the_bound_never_falls():
    """From the second step on: the first takes the topics of the start as known."""
    X, start = data(seed=3)
    rows, one = RowBlocks(sp.csr_array(X)), np.ones(len(X))
    bounds = [
        variational_em(rows, start, sample_weight=one, max_iter=m, tol=0.0).bound
        for m in range(2, 20)
    ]
    assert (np.diff(bounds) >= -1e-10 * np.abs(bounds[1:])).all()
    assert bounds[-1] > bounds[0] + 1.0


def test_it_says_whether_it_converged():
    X, start = data()
    rows, one = RowBlocks(sp.csr_array(X)), np.ones(len(X))
    assert not variational_em(rows, start, sample_weight=one, max_iter=2, tol=0.0).converged
    found = variational_em(rows, start, sample_weight=one, max_iter=500)
    assert found.converged
    assert found.n_iter < 500


def test_weights_are_repetitions(monkeypatch):
    X, start = data()
    v = np.random.default_rng(2).integers(0, 3, size=len(X))
    weighted = variational_em(RowBlocks(sp.csr_array(X)), start, sample_weight=v.astype(float))
    monkeypatch.setattr(inference, "SMALL_BLOCK_NNZ", 50)
    rows, one = RowBlocks(sp.csr_array(np.repeat(X, v, axis=0))), np.ones(int(v.sum()))
    repeated = variational_em(rows, start, sample_weight=one)
    # exp psi(c) magnifies rounding in small counts c, some twenty times a step.
    np.testing.assert_allclose(weighted.parameters.centers, repeated.parameters.centers, atol=1e-8)
    np.testing.assert_allclose(weighted.parameters.alpha, repeated.parameters.alpha, rtol=1e-8)
    with num_threads(1):
        again = variational_em(rows, start, sample_weight=one)
    np.testing.assert_array_equal(again.parameters.centers, repeated.parameters.centers)


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("start", [0.001, 1.0, 100.0])
def test_alpha_of_exact_logs(scale, start):
    alpha = scale * np.array([0.2, 1.0, 3.0, 0.5])
    found = dirichlet_from_logs(psi(alpha) - psi(alpha.sum()), np.full(4, start), max_iter=200)
    np.testing.assert_allclose(found, np.maximum(alpha, 1e-3), rtol=1e-5)


def test_gibbs_em_finds_the_truth_and_repeats_itself():
    rng = np.random.default_rng(0)
    mu = rng.dirichlet(np.full(30, 0.2), 3)
    h = rng.dirichlet([0.2, 0.3, 0.5], 1500)
    X = np.array([rng.multinomial(40, p) for p in h @ mu])
    X[4] = 0
    rows, one = RowBlocks(sp.csr_array(X)), np.ones(len(X))
    start = LDAParameters(np.ones(3), (0.5 * mu + 0.5 / 30).T)
    found = gibbs_em(rows, start, sample_weight=one, smoothing=0.01)
    # About 20,000 words a topic, over 30 words: sampling alone leaves about 0.04.
    assert np.abs(found.parameters.centers.T - mu).sum(axis=1).max() < 0.08
    np.testing.assert_allclose(found.parameters.alpha, [0.2, 0.3, 0.5], rtol=0.2)
    assert found.n_iter == 30
    with num_threads(1):
        again = gibbs_em(rows, start, sample_weight=one, smoothing=0.01)
    np.testing.assert_array_equal(again.parameters.centers, found.parameters.centers)


def test_gibbs_em_leaves_out_documents_without_weight():
    X, start = data()
    v = np.ones(len(X))
    v[::2] = 0.0
    weighted = gibbs_em(RowBlocks(sp.csr_array(X)), start, sample_weight=v, max_iter=4)
    fewer = gibbs_em(RowBlocks(sp.csr_array(X[1::2])), start, sample_weight=v[1::2], max_iter=4)
    np.testing.assert_allclose(weighted.parameters.centers, fewer.parameters.centers, rtol=1e-12)
    np.testing.assert_allclose(weighted.parameters.alpha, fewer.parameters.alpha, rtol=1e-7)


def test_gibbs_em_needs_whole_counts():
    X, start = data()
    with pytest.raises(InvalidDataError, match=r"a count is 0\.5"):
        gibbs_em(RowBlocks(sp.csr_array(0.5 * (X > 0))), start, sample_weight=np.ones(len(X)))
