"""Variational EM of latent Dirichlet allocation: the formulas of a step, and its properties."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln, psi
from scipy.stats import dirichlet

from momentree.backends import RowBlocks, num_threads
from momentree.inference import lda as inference
from momentree.inference import variational_bound, variational_gammas
from momentree.refinement import variational_em
from momentree.refinement.lda import expected_topics, smoothed_topics
from tests.refinement.documents import data


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
    topics, bound = expected_topics(counts, prior)
    expected = 0.0
    for j, c in enumerate(counts.T):
        logs = psi(c) - psi(c.sum())
        np.testing.assert_allclose(topics[:, j], np.exp(logs))
        log_p = gammaln(3 * prior) - 3 * gammaln(prior) + (prior - 1) * logs.sum()
        expected += log_p + dirichlet(c).entropy()
    assert bound == pytest.approx(expected)


def test_the_bound_never_falls():
    """From the second iteration on: the first treats the initial topics as known."""
    X, start = data(seed=3)
    rows, one = RowBlocks(sp.csr_array(X)), np.ones(len(X))
    bounds = [
        variational_em(rows, start, sample_weight=one, max_iter=m, tol=0.0).bound
        for m in range(2, 12)
    ]
    assert (np.diff(bounds) >= -1e-10 * np.abs(bounds[1:])).all()
    assert bounds[-1] > bounds[0] + 1.0


def test_converged_is_whether_the_tolerance_was_reached():
    X, start = data()
    rows, one = RowBlocks(sp.csr_array(X)), np.ones(len(X))
    assert not variational_em(rows, start, sample_weight=one, max_iter=2, tol=0.0).converged
    found = variational_em(rows, start, sample_weight=one, max_iter=500)
    assert found.converged
    assert found.n_iter < 500


def test_weights_are_repetitions(monkeypatch):
    X, start = data()
    v = np.random.default_rng(2).integers(0, 3, size=len(X))
    weighted = variational_em(
        RowBlocks(sp.csr_array(X)), start, sample_weight=v.astype(float), max_iter=12
    )
    monkeypatch.setattr(inference, "SMALL_BLOCK_NNZ", 50)
    rows, one = RowBlocks(sp.csr_array(np.repeat(X, v, axis=0))), np.ones(int(v.sum()))
    repeated = variational_em(rows, start, sample_weight=one, max_iter=12)
    # exp psi(c) amplifies rounding of small counts c, about twenty times in each iteration.
    np.testing.assert_allclose(weighted.parameters.centers, repeated.parameters.centers, atol=1e-8)
    np.testing.assert_allclose(weighted.parameters.alpha, repeated.parameters.alpha, rtol=1e-8)
    with num_threads(1):
        again = variational_em(rows, start, sample_weight=one, max_iter=12)
    np.testing.assert_array_equal(again.parameters.centers, repeated.parameters.centers)
