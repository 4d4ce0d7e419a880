"""EM against a literal transcription, and what every EM must do."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.backends import RowBlocks
from momentree.objects import TopicParameters
from momentree.refinement import em


def data(n=60, d=8, k=3, seed=0):
    rng = np.random.default_rng(seed)
    mu = rng.dirichlet(0.5 * np.ones(d), size=k)
    X = rng.multinomial(25, mu[rng.integers(k, size=n)])
    start = TopicParameters(np.full(k, 1 / k), rng.dirichlet(np.ones(d), size=k).T)
    return X, start


def literal_step(X, start, v, smoothing):
    w, mu = start.weights, start.centers.T
    S, N, L = np.zeros_like(mu), np.zeros_like(w), 0.0
    for x, weight in zip(X, v, strict=True):
        joint = np.array([w[j] * np.prod(mu[j] ** x) for j in range(len(w))])
        R = joint / joint.sum()
        L += weight * np.log(joint.sum())
        S += weight * R[:, None] * x
        N += weight * R
    S += smoothing
    return N / N.sum(), S / S.sum(axis=1, keepdims=True), L


def test_a_step_is_its_formula():
    X, start = data()
    v = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    found = em(RowBlocks(sp.csr_array(X)), start, sample_weight=v, smoothing=0.3, max_iter=1)
    w, mu, L = literal_step(X, start, v, 0.3)
    np.testing.assert_allclose(found.parameters.weights, w, rtol=1e-9)
    np.testing.assert_allclose(found.parameters.centers.T, mu, rtol=1e-9)
    assert found.log_likelihood == pytest.approx(L, rel=1e-10)


def test_the_penalised_likelihood_never_falls():
    X, start = data(seed=3)
    rows, smoothing, last = RowBlocks(sp.csr_array(X)), 0.5, -np.inf
    for _ in range(25):
        found = em(rows, start, sample_weight=np.ones(len(X)), smoothing=smoothing, max_iter=1)
        value = found.log_likelihood + smoothing * np.log(start.centers).sum()
        assert value >= last - 1e-9 * abs(value)
        last, start = value, found.parameters


def test_it_says_whether_it_converged():
    X, start = data()
    rows, one = RowBlocks(sp.csr_array(X)), np.ones(len(X))
    assert not em(rows, start, sample_weight=one, max_iter=2, tol=0.0).converged
    found = em(rows, start, sample_weight=one, max_iter=500)
    assert found.converged
    assert found.n_iter < 500


def test_weights_are_repetitions_and_blocks_do_not_matter():
    X, start = data()
    v = np.random.default_rng(2).integers(0, 3, size=len(X))
    weighted = em(RowBlocks(sp.csr_array(X)), start, sample_weight=v.astype(float))
    repeated = em(
        RowBlocks(sp.csr_array(np.repeat(X, v, axis=0)), 50),
        start,
        sample_weight=np.ones(int(v.sum())),
    )
    np.testing.assert_allclose(weighted.parameters.centers, repeated.parameters.centers, rtol=1e-8)


def test_long_documents_do_not_overflow():
    X = np.array([[100_000, 0, 5], [0, 200_000, 5]])
    start = TopicParameters(np.array([0.5, 0.5]), np.array([[0.6, 0.2], [0.2, 0.6], [0.2, 0.2]]))
    found = em(RowBlocks(sp.csr_array(X)), start, sample_weight=np.ones(2))
    assert np.isfinite(found.parameters.centers).all()
    np.testing.assert_allclose(found.parameters.weights, [0.5, 0.5])


def test_fitted_topics_are_their_formula():
    found = TopicParameters.fitted_to(np.array([[3.0, 0.0], [1.0, 0.0]]), np.array([3.0, 1.0]), 0.5)
    np.testing.assert_allclose(found.weights, [0.75, 0.25])
    np.testing.assert_allclose(found.centers, [[0.7, 0.5], [0.3, 0.5]])
