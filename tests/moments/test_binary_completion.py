"""T section 4.3.1: the diagonal of binary moments, completed and predicted, on the same data."""

import itertools

import numpy as np
import pytest

from momentree.datasets import make_bernoulli_mixture
from momentree.decomposition import sidiwo
from momentree.metrics import recovery_error
from momentree.moments import BernoulliMoments, CorrectedMoments, ProductMoments


@pytest.fixture(scope="module")
def population():
    """All rows of nine binary features, with their probabilities under two components."""
    rng = np.random.default_rng(0)
    w, mu = np.array([0.6, 0.4]), rng.random((2, 9))
    rows = np.array(list(itertools.product([0, 1], repeat=9)))
    chance = np.array([np.prod(np.where(x == 1, mu, 1 - mu), axis=1) @ w for x in rows])
    return rows, chance, w, mu


def test_the_diagonal_of_binary_moments_is_completed(population):
    """From the entries of different features alone, M2 and M3 of the mixture."""
    rows, chance, w, mu = population
    completed = ProductMoments.from_data(rows, n_components=2, sample_weight=chance)
    exact = BernoulliMoments.from_parameters(w, mu)
    # A step of 1e-6 ends the completion; at this rate of convergence, 1e-4 may remain.
    np.testing.assert_allclose(completed.m2 @ np.eye(9), exact.m2 @ np.eye(9), atol=3e-4)
    np.testing.assert_allclose(completed.m3_dense(), exact.m3_dense(), atol=3e-4)
    raw = BernoulliMoments.from_data(rows, sample_weight=chance)
    assert np.abs((raw.m2 - exact.m2) @ np.eye(9)).max() > 0.1


def test_completion_and_correction_remove_the_bias():
    """Mean error of the probabilities over two samples: both at most half of that without."""
    errors = {"raw": [], "corrected": [], "completed": []}
    for seed in range(2):
        truth = make_bernoulli_mixture(5000, 20, 3, random_state=seed)
        moments = BernoulliMoments.from_data(truth.X)
        raw = found = sidiwo(moments, 3)
        for _ in range(3):
            w, mu = found.weights / found.weights.sum(), np.clip(found.centers, 0, 1)
            found = sidiwo(CorrectedMoments(moments, w, mu), 3)
        completed = sidiwo(ProductMoments.from_data(truth.X, n_components=3), 3)
        for name, one in (("raw", raw), ("corrected", found), ("completed", completed)):
            errors[name].append(recovery_error(np.clip(one.centers.T, 0, 1), truth.means))
    mean = {name: np.mean(each) for name, each in errors.items()}
    assert mean["corrected"] < 0.5 * mean["raw"]
    assert mean["completed"] < 0.5 * mean["raw"]
