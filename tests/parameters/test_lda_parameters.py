"""Parameters of latent Dirichlet allocation, and their projection from a decomposition."""

import numpy as np
import pytest

from momentree.decomposition import sidiwo
from momentree.exceptions import InvalidDataError
from momentree.moments import LDAMoments
from momentree.objects import Decomposition, LDAParameters
from momentree.parameters import lda_parameters
from tests.raising import raises


def test_exact_moments_give_the_truth():
    rng = np.random.default_rng(0)
    alpha, mu = np.array([0.9, 0.5, 0.2]), rng.dirichlet(0.5 * np.ones(8), 3)
    found = lda_parameters(sidiwo(LDAMoments.from_parameters(alpha, mu), 3), alpha.sum())
    np.testing.assert_allclose(found.alpha, alpha, rtol=1e-6)
    np.testing.assert_allclose(found.centers.T, mu, atol=1e-7)
    assert found.alpha0 == pytest.approx(1.6)


def test_any_decomposition_gives_valid_parameters():
    centers = np.array([[0.9, 0.2], [-0.2, 0.2], [0.1, 0.2]])
    found = lda_parameters(Decomposition(centers, np.array([0.8, 0.0])), 2.0)
    np.testing.assert_allclose(found.alpha, [2.0, 1e-3])
    np.testing.assert_allclose(found.centers.sum(axis=0), 1.0)
    assert (found.centers >= 0).all()


def test_invalid_parameters_are_refused():
    with raises(InvalidDataError, "bad_concentrations"):
        LDAParameters(np.array([0.0, 1.0]), np.full((2, 2), 0.5))
    with raises(InvalidDataError, "wrong_shape", parameter="alpha"):
        LDAParameters(np.ones(3), np.full((2, 2), 0.5))
    with raises(InvalidDataError, "sums_not_one", parameter="centers"):
        LDAParameters(np.ones(2), np.ones((2, 2)))


def test_reordering_keeps_topics_together():
    p = LDAParameters(np.array([1.0, 3.0]), np.array([[0.2, 0.6], [0.8, 0.4]]))
    q = p.reordered(np.array([1, 0]))
    np.testing.assert_array_equal(q.alpha, [3.0, 1.0])
    np.testing.assert_array_equal(q.centers, [[0.6, 0.2], [0.4, 0.8]])
    np.testing.assert_allclose(q.weights, [0.75, 0.25])
