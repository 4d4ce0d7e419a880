"""S Theorem 3: moments of latent Dirichlet allocation, their bias and their limit."""

import itertools

import numpy as np
import pytest

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.moments import LDAMoments, SingleTopicMoments
from tests.raising import raises


def draw(seed, n=12, d=5):
    return np.random.default_rng(seed).poisson(1.5, size=(n, d))


def literal_lda(X, a):
    """S Theorem 3 on the dense estimates of S Theorem 1, unscaled."""
    raw = SingleTopicMoments.from_data(X)
    M1, M2, M3 = raw.m1, raw.m2 @ np.eye(X.shape[1]), raw.m3_dense()
    M12 = np.zeros_like(M3)
    for h, l, m in itertools.product(range(X.shape[1]), repeat=3):  # noqa: E741
        M12[h, l, m] = M2[h, l] * M1[m] + M2[l, m] * M1[h] + M2[m, h] * M1[l]
    cube = np.einsum("i,j,k->ijk", M1, M1, M1)
    second = M2 - a / (a + 1) * np.outer(M1, M1)
    third = M3 - a / (a + 2) * M12 + 2 * a**2 / ((a + 2) * (a + 1)) * cube
    return M1, second, third


@pytest.mark.parametrize("alpha0", [0.2, 1.0, 7.0])
def test_lda_moments_are_theorem_3_scaled(alpha0):
    X = draw(3) + 1
    moments = LDAMoments.from_data(X, alpha0=alpha0)
    M1, second, third = literal_lda(X, alpha0)
    np.testing.assert_allclose(moments.m1, M1)
    np.testing.assert_allclose(moments.m2 @ np.eye(5), (alpha0 + 1) * second, atol=1e-12)
    scale = (alpha0 + 1) * (alpha0 + 2) / 2
    np.testing.assert_allclose(moments.m3_dense(), scale * third, atol=1e-12)
    np.testing.assert_allclose(moments.m2 @ np.ones(5), (alpha0 + 1) * second @ np.ones(5))


def words_in_order(c, alpha, mu):
    """Each sequence of c words with its probability under LDA, topics summed out one by one."""
    k, d = mu.shape
    for words in itertools.product(range(d), repeat=c):
        p = 0.0
        for topics in itertools.product(range(k), repeat=c):
            term, seen = 1.0, np.zeros(k)
            for n, (w, j) in enumerate(zip(words, topics, strict=True)):
                term *= mu[j, w] * (alpha[j] + seen[j]) / (alpha.sum() + n)
                seen[j] += 1
            p += term
        yield words, p


@pytest.mark.parametrize("n", [1, 3])
def test_lda_moments_have_the_bias_that_is_stated(n):
    """Sum over all corpora of n documents of three words, from a vocabulary of two."""
    alpha, mu = np.array([0.3, 0.9]), np.array([[0.9, 0.1], [0.2, 0.8]])
    a, chances = alpha.sum(), {}
    for words, p in words_in_order(3, alpha, mu):
        chances[sum(words)] = chances.get(sum(words), 0.0) + p
    assert sum(chances.values()) == pytest.approx(1.0)
    mean = dict.fromkeys(("M2", "M3", "N1", "N1 N1", "N2", "N2 N1", "N1 N1 N1"), 0.0)
    for corpus in itertools.product(chances, repeat=n):
        p = np.prod([chances[ones] for ones in corpus])
        X = np.array([[3 - ones, ones] for ones in corpus])
        raw, ours = SingleTopicMoments.from_data(X), LDAMoments.from_data(X, alpha0=a)
        N1, N2 = raw.m1, raw.m2 @ np.eye(2)
        mean["M2"] += p * (ours.m2 @ np.eye(2))
        mean["M3"] += p * ours.m3_dense()
        mean["N1"] += p * N1
        mean["N2"] += p * N2
        mean["N1 N1"] += p * np.outer(N1, N1)
        mean["N2 N1"] += p * np.multiply.outer(N2, N1)
        mean["N1 N1 N1"] += p * np.multiply.outer(np.outer(N1, N1), N1)
    exact = LDAMoments.from_parameters(alpha, mu)
    N1 = mean["N1"]
    covariance = mean["N1 N1"] - np.outer(N1, N1)
    np.testing.assert_allclose(N1, exact.m1)
    np.testing.assert_allclose(mean["M2"], exact.m2 @ np.eye(2) - a * covariance, atol=1e-12)
    C = mean["N2 N1"] - np.multiply.outer(mean["N2"], N1)
    cross = C + C.transpose(2, 0, 1) + C.transpose(0, 2, 1)
    cube = mean["N1 N1 N1"] - np.multiply.outer(np.outer(N1, N1), N1)
    expected = exact.m3_dense() - 0.5 * a * (a + 1) * cross + a**2 * cube
    np.testing.assert_allclose(mean["M3"], expected, atol=1e-12)
    # One over n: Var(p) + E[p (1 - p)] / 3 with p the chance of the first word in a document.
    m = alpha @ mu[:, 0] / a
    variance = (mu[0, 0] - mu[1, 0]) ** 2 * alpha[0] * alpha[1] / (a**2 * (a + 1))
    expected = variance + (m * (1 - m) - variance) / 3
    assert n * covariance[0, 0] == pytest.approx(expected)


def test_lda_moments_of_pure_documents_are_those_of_one_topic():
    X = draw(4) + 1
    pure, one = LDAMoments.from_data(X, alpha0=1e-9), SingleTopicMoments.from_data(X)
    np.testing.assert_allclose(pure.m3_dense(), one.m3_dense(), atol=1e-8)


def test_lda_moments_converge_to_the_population():
    """Mean over independent corpora, entry by entry, within five standard errors."""
    rng = np.random.default_rng(0)
    alpha, mu = np.array([0.3, 0.5, 0.9]), rng.dirichlet(np.ones(4), size=3)
    thirds, seconds = [], []
    for _ in range(40):
        proportions = rng.dirichlet(alpha, size=500)
        moments = LDAMoments.from_data(rng.multinomial(5, proportions @ mu), alpha0=alpha.sum())
        seconds.append(moments.m2 @ np.eye(4))
        thirds.append(moments.m3_dense())
    exact = LDAMoments.from_parameters(alpha, mu)
    # Products of estimates have a bias of order 1/n, less than one standard error.
    for found, true in ((seconds, exact.m2 @ np.eye(4)), (thirds, exact.m3_dense())):
        error = np.std(found, axis=0, ddof=1) / np.sqrt(40)
        assert (np.abs(np.mean(found, axis=0) - true) < 6 * error).all()


@pytest.mark.parametrize(
    ("call", "error", "code"),
    [
        (
            lambda: LDAMoments.from_data(np.eye(3) * 4, alpha0=0),
            InvalidParameterError,
            "not_a_number",
        ),
        (lambda: LDAMoments.from_data(np.eye(3)), InvalidDataError, "no_document_of_three_words"),
        (
            lambda: LDAMoments.from_parameters([1, 0], np.eye(2)),
            InvalidDataError,
            "bad_concentrations",
        ),
        (lambda: LDAMoments.from_parameters(["a"], [[1.0]]), InvalidDataError, "not_numbers"),
        (
            lambda: LDAMoments.from_parameters([1, 1], np.ones((2, 2))),
            InvalidDataError,
            "not_a_distribution",
        ),
    ],
)
def test_bad_input_is_refused(call, error, code):
    with raises(error, code):
        call()
