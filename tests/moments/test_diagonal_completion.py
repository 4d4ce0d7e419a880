"""Completion of the diagonal: exact for matrices of low rank, and never worse than its start."""

import numpy as np
import pytest

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.moments import complete_diagonal
from tests.raising import raises


def low_rank(d, k, seed=0):
    mu = np.random.default_rng(seed).normal(size=(d, k))
    return mu @ mu.T


@pytest.mark.parametrize(("d", "k"), [(5, 1), (7, 2), (12, 3), (40, 5), (90, 10)])
def test_the_diagonal_of_a_matrix_of_low_rank_is_found(d, k):
    M2 = low_rank(d, k)
    start = M2 + np.diag(np.random.default_rng(1).uniform(0, 3, size=d))
    found = complete_diagonal(start, k)
    # The criterion is a square, so that entries are found to about the tolerance of 1e-10.
    np.testing.assert_allclose(found.matrix, M2, atol=1e-7 * np.abs(M2).max())
    assert found.converged
    assert found.residual < 1e-8
    assert found.values.shape == (k,)


def test_blocks_are_completed_too():
    M2, blocks = low_rank(16, 2), np.repeat(np.arange(8), 2)
    start = np.where(blocks[:, None] == blocks, 5.0, M2)
    np.testing.assert_allclose(complete_diagonal(start, 2, blocks=blocks).matrix, M2, atol=1e-6)


def test_limits_of_the_diagonal_hold_for_the_completion():
    M2 = low_rank(12, 2)
    limit = np.diag(M2) * 0.5
    loose = complete_diagonal(M2, 2, upper=np.diag(M2) * 2)
    np.testing.assert_allclose(loose.matrix, M2, atol=1e-7 * np.abs(M2).max())
    assert complete_diagonal(M2, 2, upper=limit).residual > 0.01


def test_the_scale_and_the_order_of_features_do_not_matter():
    M2 = low_rank(15, 3) + np.random.default_rng(2).normal(size=(15, 15)) * 0.01
    M2 = M2 + M2.T
    order = np.random.default_rng(3).permutation(15)
    found = complete_diagonal(M2, 3).matrix
    scaled = complete_diagonal(1e-6 * M2, 3).matrix
    np.testing.assert_allclose(scaled, 1e-6 * found, atol=1e-12)
    moved = complete_diagonal(M2[np.ix_(order, order)], 3).matrix
    np.testing.assert_allclose(moved, found[np.ix_(order, order)], atol=1e-6)


def test_refuses_bad_input():
    M2 = low_rank(6, 2)
    with raises(InvalidDataError, "diagonal_not_determined", known=15, free=20, rank=5):
        complete_diagonal(M2, 5)
    with raises(InvalidDataError, "not_symmetric", parameter="M2"):
        complete_diagonal(M2 + np.triu(np.ones((6, 6))), 2)
    with raises(InvalidDataError, "wrong_shape", parameter="M2"):
        complete_diagonal(M2[:4], 2)
    with raises(InvalidDataError, "not_finite", parameter="M2"):
        complete_diagonal(np.full((6, 6), np.nan), 2)
    with raises(InvalidDataError, "limits_crossed", feature=0):
        complete_diagonal(M2, 2, lower=np.ones(6), upper=np.zeros(6))
    with raises(InvalidDataError, "wrong_shape", parameter="blocks"):
        complete_diagonal(M2, 2, blocks=[0, 1])
    with raises(InvalidParameterError, "not_a_number", parameter="rank"):
        complete_diagonal(M2, 0)


def test_a_matrix_of_zeros_is_its_own_completion():
    assert np.array_equal(complete_diagonal(np.zeros((5, 5)), 1).matrix, np.zeros((5, 5)))
