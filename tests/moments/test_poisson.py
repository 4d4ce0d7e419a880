"""T Proposition 1.2.1: moments of mixtures of Poisson variables."""

import itertools

import numpy as np
import pytest

from momentree.exceptions import InvalidDataError
from momentree.moments import PoissonMoments
from tests.raising import raises


def draw(seed, n=12, d=5):
    return np.random.default_rng(seed).poisson(1.5, size=(n, d))


def literal_poisson(X):
    """T Proposition 1.2.1, entry by entry."""
    X = X.astype(float)
    n, d = X.shape
    M1 = X.mean(axis=0)
    M2 = np.einsum("nh,nl->hl", X, X) / n - np.diag(M1)
    M3 = np.einsum("nh,nl,nm->hlm", X, X, X) / n
    for h, l, m in itertools.product(range(d), repeat=3):  # noqa: E741 - the paper's index
        if h == l == m:
            M3[h, l, m] -= M1[h] + 3 * M2[h, h]
        elif l == m or h == m:
            M3[h, l, m] -= M2[h, l]
        elif h == l:
            M3[h, l, m] -= M2[h, m]
    return M1, M2, M3


@pytest.mark.parametrize("seed", range(3))
def test_poisson_moments_are_the_proposition(seed):
    X = draw(seed)
    moments = PoissonMoments.from_data(X)
    M1, M2, M3 = literal_poisson(X)
    np.testing.assert_allclose(moments.m1, M1)
    np.testing.assert_allclose(moments.m2 @ np.eye(5), M2, atol=1e-12)
    np.testing.assert_allclose(moments.m3_dense(), M3, atol=1e-10)


def test_poisson_moments_converge_to_the_population():
    rng = np.random.default_rng(1)
    w, mu = np.array([0.7, 0.3]), np.array([[2.0, 0.5, 1.0], [0.3, 3.0, 1.0]])
    found = []
    for _ in range(40):
        X = rng.poisson(mu[rng.choice(2, size=500, p=w)])
        found.append(PoissonMoments.from_data(X).m3_dense())
    exact = PoissonMoments.from_parameters(w, mu).m3_dense()
    error = np.std(found, axis=0, ddof=1) / np.sqrt(40)
    assert (np.abs(np.mean(found, axis=0) - exact) < 5 * error).all()


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: PoissonMoments.from_data([[1, -1]]), "negative_count"),
        (lambda: PoissonMoments.from_parameters(["a"], [[1.0]]), "not_numbers"),
        (lambda: PoissonMoments.from_parameters([1.0], [[-1.0]]), "negative_or_not_finite"),
        (lambda: PoissonMoments.from_parameters([0.5], [[1.0]]), "not_a_distribution"),
        (lambda: PoissonMoments.from_parameters([1.0], [1.0]), "wrong_shape"),
    ],
)
def test_bad_input_is_refused(call, code):
    with raises(InvalidDataError, code):
        call()
