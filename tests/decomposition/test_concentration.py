"""The total concentration, from exact moments and from samples."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from momentree.datasets import make_lda
from momentree.decomposition import estimate_alpha0
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.moments import SingleTopicMoments
from momentree.whitening import whiten
from tests.raising import raises


class ExactWords:
    """Moments of one, two and three words of a document, from E h, E h h^T and E h h h."""

    def __init__(self, alpha, mu):
        a = alpha.sum()
        k = len(alpha)
        second = (np.diag(alpha) + np.outer(alpha, alpha)) / (a * (a + 1))
        third = np.zeros((k, k, k))
        for i, j, m in np.ndindex(k, k, k):
            # The rising product of a Polya urn: each draw adds one to its color.
            draw = alpha[i] * (alpha[j] + (i == j)) * (alpha[m] + (i == m) + (j == m))
            third[i, j, m] = draw / (a * (a + 1) * (a + 2))
        self.m1 = alpha / a @ mu
        self.m2 = aslinearoperator(mu.T @ second @ mu)
        self._third = np.einsum("ijl,ia,jb,lc->abc", third, mu, mu, mu)

    def whitened_tensor(self, W):
        return np.einsum("abc,ia,jb,lc->ijl", self._third, W, W, W)

    whitened_slices = None


@pytest.mark.parametrize("alpha0", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("k", [3, 6])
def test_exact_moments_give_the_truth(k, alpha0):
    rng = np.random.default_rng(k)
    alpha = alpha0 * rng.dirichlet(5 * np.ones(k))
    words = ExactWords(alpha, rng.dirichlet(0.3 * np.ones(12), k))
    found = estimate_alpha0(words, k)
    assert found.alpha0 == pytest.approx(alpha0, rel=0.02)
    assert found.reason is None
    # Three times too large or too small is far worse.
    assert found.off_diagonal.min() < 1e-4
    assert min(found.at(3 * alpha0), found.at(alpha0 / 3)) > 100 * found.at(found.alpha0)
    assert (np.diff(found.candidates) > 0).all()


@pytest.mark.parametrize("alpha0", [0.3, 3.0])
def test_samples_give_it_within_their_noise(alpha0):
    logs = []
    for seed in range(4):
        X = make_lda(3000, 300, 5, alpha=alpha0, length=80, random_state=seed).X
        logs.append(np.log(estimate_alpha0(SingleTopicMoments.from_data(X), 5).alpha0 / alpha0))
    assert np.abs(logs).max() < np.log(2)
    assert abs(np.mean(logs)) < 0.35


def test_a_given_whitening_changes_nothing():
    moments = SingleTopicMoments.from_data(make_lda(500, 50, 4, random_state=1).X)
    given = estimate_alpha0(moments, 4, whitening=whiten(moments, 6))
    assert given.alpha0 == pytest.approx(estimate_alpha0(moments, 4).alpha0, rel=1e-6)


def test_two_components_do_not_determine_it():
    moments = SingleTopicMoments.from_data(make_lda(500, 50, 4, random_state=1).X)
    found = estimate_alpha0(moments, 2)
    assert found.alpha0 == 1.0
    assert found.reason == Message("[concentration_needs_components]", needed=3, found=2)
    assert np.isnan(found.at(1.0))


def test_an_estimate_at_the_end_of_the_range_has_a_reason():
    # One topic a document: alpha_0 goes to zero.
    rng = np.random.default_rng(0)
    mu = rng.dirichlet(0.3 * np.ones(12), 4)
    found = estimate_alpha0(SingleTopicMoments.from_parameters(np.full(4, 0.25), mu), 4)
    assert found.alpha0 < 0.04
    assert found.reason.code == "concentration_at_end"


def test_an_invalid_number_of_components_is_refused():
    moments = SingleTopicMoments.from_data(np.eye(3) + 1)
    with raises(InvalidParameterError, "not_a_number", parameter="n_components"):
        estimate_alpha0(moments, 0, whitening=whiten(moments, 2))
