"""Posteriors of the single-topic model against S eq. 1 with SciPy's multinomial."""

import numpy as np
import scipy.sparse as sp
from scipy.stats import multinomial

from momentree.backends import RowBlocks
from momentree.inference import log_joint, log_posterior
from momentree.objects import TopicParameters


def test_posterior_is_equation_1():
    rng = np.random.default_rng(0)
    w, mu = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(5), size=3)
    X = rng.multinomial(12, mu[rng.integers(3, size=20)])
    joint = log_joint(RowBlocks(sp.csr_array(X)), TopicParameters(w, mu.T))
    posterior, log_likelihood = log_posterior(joint)
    p = np.array([[w[j] * multinomial.pmf(x, 12, mu[j]) for j in range(3)] for x in X])
    np.testing.assert_allclose(np.exp(posterior), p / p.sum(axis=1, keepdims=True), rtol=1e-9)
    coefficient = np.array([multinomial.logpmf(x, 12, mu[0]) - x @ np.log(mu[0]) for x in X])
    np.testing.assert_allclose(log_likelihood + coefficient, np.log(p.sum(axis=1)), rtol=1e-9)


def test_a_word_without_probability_rules_a_topic_out():
    parameters = TopicParameters(np.array([0.5, 0.5]), np.array([[1.0, 0.5], [0.0, 0.5]]))
    joint = log_joint(RowBlocks(sp.csr_array([[0, 1]])), parameters)
    assert joint[0, 0] == -np.inf
    np.testing.assert_allclose(np.exp(log_posterior(joint)[0]), [[0.0, 1.0]])


def test_an_empty_document_has_the_prior():
    parameters = TopicParameters(np.array([0.8, 0.2]), np.full((3, 2), 1 / 3))
    joint = log_joint(RowBlocks(sp.csr_array((1, 3))), parameters)
    np.testing.assert_allclose(np.exp(log_posterior(joint)[0]), [[0.8, 0.2]])


def test_one_topic_log_likelihood_is_that_of_the_best_multinomial():
    X = np.random.default_rng(1).poisson(2.0, size=(10, 4))
    p = X.sum(axis=0) / X.sum()
    expected = sum(float(x @ np.log(p)) for x in X)
    found = TopicParameters.maximized_log_likelihood(X.sum(axis=0), np.float64(10))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert TopicParameters.maximized_log_likelihood(np.array([0.0, 3.0]), np.float64(1)) == 0.0
