"""Moments of the Poisson mixture, of LDA and of raw rows, against the papers' formulas."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfTransformer

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.moments import (
    LDAMoments,
    PoissonMoments,
    RawMoments,
    SingleTopicMoments,
    tfidf,
)


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


@pytest.mark.parametrize("seed", range(3))
def test_poisson_moments_are_the_proposition(seed):
    X = draw(seed)
    moments = PoissonMoments.from_data(X)
    M1, M2, M3 = literal_poisson(X)
    np.testing.assert_allclose(moments.m1, M1)
    np.testing.assert_allclose(moments.m2 @ np.eye(5), M2, atol=1e-12)
    np.testing.assert_allclose(moments.m3_dense(), M3, atol=1e-10)


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


@pytest.mark.parametrize("n", [1, 2, 4])
def test_lda_moments_have_the_bias_that_is_stated(n):
    """Every corpus of n documents of three words of two kinds, with its probability."""
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
        shares = rng.dirichlet(alpha, size=500)
        moments = LDAMoments.from_data(rng.multinomial(5, shares @ mu), alpha0=alpha.sum())
        seconds.append(moments.m2 @ np.eye(4))
        thirds.append(moments.m3_dense())
    exact = LDAMoments.from_parameters(alpha, mu)
    # The products of estimates in Theorem 3 are biased by the order of 1/n: below one such error.
    for found, true in ((seconds, exact.m2 @ np.eye(4)), (thirds, exact.m3_dense())):
        error = np.std(found, axis=0, ddof=1) / np.sqrt(40)
        assert (np.abs(np.mean(found, axis=0) - true) < 6 * error).all()


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


def test_raw_moments_are_means_of_powers():
    X = np.random.default_rng(0).random((20, 4))
    moments, w = RawMoments.from_data(X), np.full(20, 1 / 20)
    np.testing.assert_allclose(moments.m1, X.mean(axis=0))
    np.testing.assert_allclose(moments.m2 @ np.eye(4), X.T @ X / 20)
    np.testing.assert_allclose(moments.m3_dense(), np.einsum("n,na,nb,nc->abc", w, X, X, X))


MAKERS = {
    "single topic": SingleTopicMoments.from_data,
    "uniform": lambda X, **kw: SingleTopicMoments.from_data(X, weighting="uniform", **kw),
    "poisson": PoissonMoments.from_data,
    "lda": LDAMoments.from_data,
    "raw": RawMoments.from_data,
}


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 4))
def test_the_whitened_tensor_is_m3_in_three_directions(name, seed, k):
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, size=(15, 6)) + np.eye(15, 6, dtype=int) * 3
    moments, W = MAKERS[name](X), rng.normal(size=(k, 6))
    M3 = moments.m3_dense()
    T = moments.whitened_tensor(W)
    scale = np.abs(T).max()
    np.testing.assert_allclose(T, np.einsum("ar,rst,bs,ct->abc", W, M3, W, W), atol=1e-10 * scale)
    H = moments.whitened_slices(W)
    np.testing.assert_allclose(T, np.einsum("ar,rbc->abc", W, H), atol=1e-10 * scale)


@pytest.mark.parametrize("name", MAKERS)
def test_weights_repeat_samples(name):
    X = draw(7) + 1
    v = np.array([1, 2, 1, 3, 1, 1, 2, 1, 1, 1, 1, 2])
    a, b = MAKERS[name](X, sample_weight=v), MAKERS[name](np.repeat(X, v, axis=0))
    np.testing.assert_allclose(a.m3_dense(), b.m3_dense(), atol=1e-12)


def test_many_columns_go_through_the_data_in_parts():
    """More pairs than fit into one pass give the same slices as one direction at a time."""
    rng = np.random.default_rng(2)
    moments, W = SingleTopicMoments.from_data(draw(5, d=12)), rng.normal(size=(9, 12))
    H = moments.whitened_slices(W)
    for j in range(9):
        single = moments.whitened_slices(W[[j]])
        np.testing.assert_allclose(H[:, j, j], single[:, 0, 0], atol=1e-12)


def test_tfidf_is_that_of_scikit_learn_and_weights_repeat_documents():
    X = sp.csr_array(draw(6, n=20, d=9))
    found = tfidf(X, np.ones(20)).toarray()
    expected = TfidfTransformer().fit_transform(sp.csr_matrix(X)).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(tfidf(X * 1e25, np.ones(20)).toarray(), expected, atol=1e-6)
    v = np.arange(20) % 3 + 1
    repeated = tfidf(sp.csr_array(np.repeat(X.toarray(), v, axis=0)), np.ones(v.sum())).toarray()
    np.testing.assert_allclose(np.repeat(tfidf(X, v).toarray(), v, axis=0), repeated, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: LDAMoments.from_data(np.eye(3) * 4, alpha0=0), InvalidParameterError, "alpha0=0"),
        (lambda: LDAMoments.from_data(np.eye(3), alpha0=1), InvalidDataError, "three words"),
        (lambda: LDAMoments.from_parameters([1, 0], np.eye(2)), InvalidDataError, "alpha"),
        (lambda: LDAMoments.from_parameters(["a"], [[1.0]]), InvalidDataError, "alpha is no array"),
        (lambda: PoissonMoments.from_parameters(["a"], [[1.0]]), InvalidDataError, "weights is no"),
        (lambda: LDAMoments.from_parameters([1, 1], np.ones((2, 2))), InvalidDataError, "sum to 1"),
        (
            lambda: PoissonMoments.from_data([[1, 1]]).whitened_slices(np.eye(3)),
            InvalidDataError,
            "W",
        ),
        (
            lambda: PoissonMoments.from_data([[1, 1]]).whitened_tensor(np.ones(2)),
            InvalidDataError,
            "W",
        ),
        (lambda: PoissonMoments.from_data([[1, -1]]), InvalidDataError, "Negative"),
        (lambda: PoissonMoments.from_parameters([1.0], [[-1.0]]), InvalidDataError, "means"),
        (lambda: PoissonMoments.from_parameters([0.5], [[1.0]]), InvalidDataError, "sum to 1"),
        (lambda: PoissonMoments.from_parameters([1.0], [1.0]), InvalidDataError, "shapes"),
    ],
)
def test_bad_input_is_named(call, error, says):
    with pytest.raises(error, match=says):
        call()
