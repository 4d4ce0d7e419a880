"""ASVTD: T Algorithm 2 as printed."""

import numpy as np
import pytest

from momentree.decomposition import asvtd
from momentree.exceptions import InvalidDataError
from tests.raising import raises


def sample(seed):
    rng = np.random.default_rng(seed)
    mu = rng.random((3, 7)) ** 2
    return (rng.random((150, 7)) < mu[rng.integers(3, size=150)]).astype(float)


def literal(x, k):
    """T Algorithm 2, line by line."""
    n, d = x.shape
    U, S, _ = np.linalg.svd(x.T @ x / n)
    inverse = np.diag(S[:k] ** -0.5) @ U[:, :k].T
    z = x @ inverse.T
    alpha, rotation, H = -np.inf, np.eye(k), []
    for i in range(d):
        H.append(z.T @ np.diag(x[:, i]) @ z / n)
        left, s, _ = np.linalg.svd(H[i])
        least = min(abs(s[a] - s[b]) for a in range(k) for b in range(k) if a != b)
        if least > alpha:
            alpha, rotation, feature = least, left, i
    M = np.array([np.diag(rotation.T @ H[i] @ rotation) for i in range(d)])
    return M, np.linalg.lstsq(M, x.mean(axis=0), rcond=None)[0], feature


@pytest.mark.parametrize("k", [2, 3])
def test_is_algorithm_2_of_the_thesis(k):
    x = sample(k)
    M, omega, feature = literal(x, k)
    found = asvtd(x, k)
    order = np.argsort(-np.maximum(omega, 0))
    assert found.diagnostics["feature"] == feature
    np.testing.assert_allclose(found.centers, M[:, order], atol=1e-10)
    np.testing.assert_allclose(found.weights, np.maximum(omega, 0)[order], atol=1e-10)


def test_weights_are_repetitions():
    x = sample(0)
    times = np.random.default_rng(0).integers(1, 4, size=len(x))
    weighted, repeated = asvtd(x, 2, sample_weight=times), asvtd(np.repeat(x, times, axis=0), 2)
    np.testing.assert_allclose(weighted.centers, repeated.centers, atol=1e-10)
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-10)


def test_other_values_than_zeros_and_ones_are_refused():
    with raises(InvalidDataError, "not_binary"):
        asvtd([[0, 1], [2, 1]], 1)
