"""Mixtures for counts: densities, M-steps, EM, and features unknown to all components."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import multinomial, poisson

from momentree.backends import RowBlocks
from momentree.inference import log_joint, log_posterior
from momentree.objects import PoissonParameters, TopicParameters

from .families import log_likelihood_never_falls, maximal


def poissons(d=5, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return PoissonParameters(rng.dirichlet(np.full(k, 3.0)), rng.uniform(0.1, 4.0, (d, k)))


def topics(d=5, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return TopicParameters(rng.dirichlet(np.full(k, 3.0)), rng.dirichlet(np.ones(d), size=k).T)


def counts(n=80, d=5, seed=1):
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.uniform(0.2, 4.0, (2, d))[rng.integers(2, size=n)]).astype(float)


def rows_of(X):
    return RowBlocks(sp.csr_array(X))


def test_poisson_log_joints_are_densities_up_to_factorials():
    X, p = counts(), poissons()
    expected = np.log(p.weights) + poisson.logpmf(X[:, :, None], p.centers).sum(axis=1)
    differences = expected - log_joint(rows_of(X), p)
    np.testing.assert_allclose(differences, differences[:, :1].repeat(3, axis=1), atol=1e-9)
    np.testing.assert_allclose(
        differences[:, 0], poisson.logpmf(X, 1.0).sum(axis=1) + X.shape[1], atol=1e-9
    )


def test_topic_log_joints_are_densities_up_to_the_multinomial_coefficient():
    X, p = counts(), topics()
    expected = np.log(p.weights) + np.stack(
        [multinomial.logpmf(X, X.sum(axis=1), p.centers[:, j]) for j in range(3)], axis=1
    )
    differences = expected - log_joint(rows_of(X), p)
    np.testing.assert_allclose(differences, differences[:, :1].repeat(3, axis=1), atol=1e-9)


@pytest.mark.parametrize("family", [PoissonParameters, TopicParameters])
def test_the_m_step_maximizes_the_likelihood(family):
    X = counts()
    R = np.random.default_rng(2).dirichlet(np.ones(2), size=len(X))
    sums, sizes = X.T @ R, R.sum(axis=0)
    p = family.m_step(sums, sizes, 1e-12)
    np.testing.assert_allclose(p.weights, R.mean(axis=0), rtol=1e-12)

    def at(logs):
        centers = np.exp(logs.reshape(p.centers.shape))
        if family is TopicParameters:
            centers = centers / centers.sum(axis=0)
        return float((R * log_joint(rows_of(X), family(p.weights, centers))).sum())

    maximal(at, np.log(p.centers).ravel())


@pytest.mark.parametrize("family", [PoissonParameters, TopicParameters])
def test_the_maximized_likelihood_is_that_of_the_m_step(family):
    X = counts()
    R = np.eye(2)[np.random.default_rng(3).integers(2, size=len(X))]
    sums, sizes = X.T @ R, R.sum(axis=0)
    found = family.maximized_log_likelihood(sums, sizes)
    for j in range(2):
        best = family.m_step(sums[:, [j]], sizes[[j]], 1e-12)
        expected = log_joint(rows_of(X[R[:, j] == 1]), best).sum()
        assert found[j] == pytest.approx(expected, rel=1e-9)
    assert family.maximized_log_likelihood(sums.sum(axis=1), sizes.sum()) <= found.sum()


@pytest.mark.parametrize("start", [poissons, topics])
@pytest.mark.parametrize("seed", range(3))
def test_em_never_lowers_the_likelihood(start, seed):
    log_likelihood_never_falls(rows_of(counts(n=120, d=8, seed=seed)), start(d=8, seed=seed))


def test_a_feature_unknown_to_all_components_does_not_affect_posteriors():
    p = poissons()
    wider = PoissonParameters(p.weights, np.vstack([p.centers, np.zeros((1, 3))]))
    X = counts()
    with_it = np.column_stack([X, np.arange(len(X))])
    known, _ = log_posterior(log_joint(rows_of(X), p))
    found, _ = log_posterior(log_joint(rows_of(with_it), wider))
    np.testing.assert_allclose(found, known, atol=1e-8)
    # A feature known to some components excludes the others.
    p = PoissonParameters(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    responsibilities = np.exp(log_posterior(log_joint(rows_of(np.array([[1.0, 5.0]])), p))[0])
    np.testing.assert_array_equal(responsibilities, [[1.0, 0.0]])
