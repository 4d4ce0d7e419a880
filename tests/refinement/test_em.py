"""EM against a literal transcription, and properties of every EM."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax, xlogy

from momentree.backends import RowBlocks
from momentree.objects import (
    BernoulliParameters,
    GaussianParameters,
    IncompleteBernoulliParameters,
    PoissonParameters,
    TopicParameters,
)
from momentree.refinement import em

SMOOTHING = 2.0
ONE = np.ones(60)


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


def case(family, seed, d=6, k=3):
    """Samples, which of their values are observed, and a random start."""
    rng = np.random.default_rng(seed)
    w, truth, observed = np.full(k, 1 / k), rng.integers(k, size=60), np.ones((60, d))
    if family is TopicParameters:
        X = rng.multinomial(12, rng.dirichlet(0.5 * np.ones(d), k)[truth])
        return X, observed, family(w, rng.dirichlet(np.ones(d), k).T)
    if family is PoissonParameters:
        X = rng.poisson(rng.gamma(1, 2, (k, d))[truth])
        return X, observed, family(w, rng.gamma(1, 2, (d, k)))
    if family is GaussianParameters:
        X = rng.normal(0, 2, (k, d))[truth] + rng.normal(size=(60, d))
        return X, observed, family(w, rng.normal(0, 2, (d, k)), rng.uniform(0.5, 2, k))
    if family is IncompleteBernoulliParameters:
        observed = 1.0 * (rng.random((60, d)) < 0.7)
    X = (rng.random((60, d)) < rng.random((k, d))[truth]) * observed
    return X, observed, family(w, rng.random((d, k)))


def rows_of(family, X, observed):
    if family is IncompleteBernoulliParameters:
        return RowBlocks(family.statistics(sp.csr_array(X), sp.csr_array(1 - observed)))
    return RowBlocks(family.statistics(sp.csr_array(X)))


def literal_joint(X, observed, p):
    """log P[x, j] up to a constant that depends on x only."""
    mu = p.centers
    with np.errstate(divide="ignore"):  # components may vanish
        w = np.log(p.weights)
    if isinstance(p, TopicParameters):
        return w + X @ np.log(mu)
    if isinstance(p, PoissonParameters):
        return w + xlogy(X[:, :, None], mu).sum(axis=1) - mu.sum(axis=0)
    if isinstance(p, BernoulliParameters):
        return w + X @ np.log(mu) + (observed - X) @ np.log(1 - mu)
    squares = ((X[:, :, None] - mu) ** 2).sum(axis=1)
    return w - 0.5 * squares / p.variances - 0.5 * len(mu) * np.log(p.variances)


def literal_parameters(family, X, observed, R):
    """The parameters of an M-step, and the logarithm of the prior that smoothing implies."""
    N, S, s, d = R.sum(axis=0), X.T @ R, SMOOTHING, X.shape[1]
    mean = (X.sum(axis=0) / observed.sum(axis=0))[:, None]
    if family is TopicParameters:
        mu = (S + s) / (S + s).sum(axis=0)
        return family(N / N.sum(), mu), lambda p: s * np.log(p.centers).sum()
    if family is GaussianParameters:
        mu = S / N
        V = (R * ((X[:, :, None] - mu) ** 2).sum(axis=1)).sum(axis=0)
        v = V.sum() / (d * N.sum())
        p = family(N / N.sum(), mu, (V + s * d * v) / (d * (N + s)))
        return p, lambda p: -0.5 * s * d * (np.log(p.variances) + v / p.variances).sum()
    p = family(N / N.sum(), (S + s * mean) / (observed.T @ R + s))
    if family is PoissonParameters:
        return p, lambda p: s * (mean * np.log(p.centers) - p.centers).sum()
    log = np.log
    return p, lambda p: s * (mean * log(p.centers) + (1 - mean) * log(1 - p.centers)).sum()


def log_sum(joint):
    return float(np.logaddexp.reduce(joint, axis=1).sum())


FAMILIES = pytest.mark.parametrize(
    "family",
    [
        TopicParameters,
        PoissonParameters,
        BernoulliParameters,
        IncompleteBernoulliParameters,
        GaussianParameters,
    ],
)


def literal_gain(X, observed, before):
    """The parameters after a step, and the gains in likelihood and in likelihood plus prior."""
    joint = literal_joint(X, observed, before)
    after, prior = literal_parameters(type(before), X, observed, softmax(joint, axis=1))
    likelihood = log_sum(literal_joint(X, observed, after)) - log_sum(joint)
    return after, likelihood, likelihood + prior(after) - prior(before)


@FAMILIES
def test_no_step_lowers_the_likelihood_plus_the_prior_of_smoothing(family):
    falls = 0
    for seed in range(30, 39):
        X, observed, before = case(family, seed)
        rows = rows_of(family, X, observed)
        for _ in range(12):
            after = em(rows, before, sample_weight=ONE, smoothing=SMOOTHING, max_iter=1).parameters
            expected, likelihood, gain = literal_gain(X, observed, before)
            # A component without samples has centers of rounding error.
            sums = expected.weights * expected.centers
            np.testing.assert_allclose(after.weights * after.centers, sums, rtol=1e-6, atol=1e-9)
            size = 1e-9 * abs(log_sum(literal_joint(X, observed, after)))
            assert gain >= -size
            falls += likelihood < -size
            before = expected
    assert falls  # the likelihood alone may decrease, and does from some of these starts


@FAMILIES
def test_the_step_maximizes_the_posterior_under_the_prior(family):
    X, observed, p = case(family, 0)
    rows = rows_of(family, X, observed)
    R = softmax(literal_joint(X, observed, p), axis=1)
    after, prior = literal_parameters(family, X, observed, R)
    sums = rows.sum(lambda B: B.tdot(R[B.at]))
    found = [q.log_prior(sums, R.sum(axis=0), SMOOTHING) for q in (after, p)]
    assert np.subtract(*found) == pytest.approx(prior(after) - prior(p), rel=1e-9)


@FAMILIES
def test_it_continues_until_a_step_gains_less_than_the_tolerance(family):
    for seed in range(4):
        X, observed, start = case(family, seed)
        rows = rows_of(family, X, observed)
        options = {"sample_weight": ONE, "smoothing": SMOOTHING, "max_iter": 3000}
        found = em(rows, start, tol=1e-6, **options)
        assert found.converged
        _, _, gain = literal_gain(X, observed, found.parameters)
        assert gain < 2e-6 * abs(found.log_likelihood)


@FAMILIES
def test_it_ends_where_a_literal_em_of_many_steps_ends(family):
    X, observed, start = case(family, 0)
    rows = rows_of(family, X, observed)
    options = {"sample_weight": ONE, "smoothing": SMOOTHING, "max_iter": 3000}
    found = em(rows, start, tol=1e-12, **options)
    expected = start
    for _ in range(600):
        R = softmax(literal_joint(X, observed, expected), axis=1)
        expected, _ = literal_parameters(family, X, observed, R)
    a, b = (softmax(literal_joint(X, observed, p), axis=1) for p in (found.parameters, expected))
    np.testing.assert_allclose(a, b, atol=1e-3)


def test_converged_is_whether_the_tolerance_was_reached():
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
    found = TopicParameters.m_step(np.array([[3.0, 0.0], [1.0, 0.0]]), np.array([3.0, 1.0]), 0.5)
    np.testing.assert_allclose(found.weights, [0.75, 0.25])
    np.testing.assert_allclose(found.centers, [[0.7, 0.5], [0.3, 0.5]])
