"""Moments of the single-topic model against literal transcriptions of S Theorem 1 and Remark 3."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.moments import SingleTopicMoments
from tests.raising import raises


def literal_theorem_1(X):
    """S Theorem 1, entry by entry, for h <= i <= m, then made symmetric."""
    X = X.astype(float)
    d = X.shape[1]
    c = X.sum(axis=1)
    C2, C3 = (c * (c - 1)).sum(), (c * (c - 1) * (c - 2)).sum()
    M1 = X.sum(axis=0) / c.sum()
    M2, M3 = np.zeros((d, d)), np.zeros((d, d, d))
    for h, i in itertools.combinations_with_replacement(range(d), 2):
        M2[h, i] = M2[i, h] = sum(x[h] * (x[i] - (h == i)) for x in X) / C2
    for h, i, m in itertools.combinations_with_replacement(range(d), 3):
        if h < i < m:
            value = sum(x[h] * x[i] * x[m] for x in X)
        elif h == i == m:
            value = sum(x[h] * (x[i] - 1) * (x[m] - 2) for x in X)
        elif h == i:
            value = sum(x[h] * (x[i] - 1) * x[m] for x in X)
        else:
            value = sum(x[h] * x[i] * (x[m] - 1) for x in X)
        for p in itertools.permutations((h, i, m)):
            M3[p] = value / C3
    return M1, M2, M3


def literal_words(X):
    """Zou et al. (S Remark 3): average over documents of averages over distinct words."""
    d = X.shape[1]
    documents = [np.repeat(np.arange(d), x) for x in X]
    M1 = np.mean([np.bincount(w, minlength=d) / len(w) for w in documents if len(w)], axis=0)
    M2, M3 = [], []
    for words in documents:
        if len(words) >= 2:
            A = np.zeros((d, d))
            for p in itertools.permutations(words, 2):
                A[p] += 1
            M2.append(A / A.sum())
        if len(words) >= 3:
            B = np.zeros((d, d, d))
            for p in itertools.permutations(words, 3):
                B[p] += 1
            M3.append(B / B.sum())
    return M1, np.mean(M2, axis=0), np.mean(M3, axis=0)


counts = st.integers(0, 10_000).map(
    lambda seed: np.random.default_rng(seed).poisson(1.3, size=(6, 4))
)


def with_long_documents(X):
    """Theorem 1 divides by all documents; keep those of three words and more."""
    return X[X.sum(axis=1) >= 3]


@given(counts)
def test_length_weighting_is_theorem_1(X):
    X = with_long_documents(X)
    if len(X) == 0:
        return
    M1, M2, M3 = literal_theorem_1(X)
    found = SingleTopicMoments.from_data(X)
    np.testing.assert_allclose(found.m1, M1, atol=1e-13)
    np.testing.assert_allclose(found.m2 @ np.eye(4), M2, atol=1e-13)
    np.testing.assert_allclose(found.m3_dense(), M3, atol=1e-13)


@given(counts)
def test_uniform_weighting_averages_over_documents(X):
    if (X.sum(axis=1) >= 3).sum() == 0:
        return
    M1, M2, M3 = literal_words(X)
    found = SingleTopicMoments.from_data(X, weighting="uniform")
    np.testing.assert_allclose(found.m1, M1, atol=1e-13)
    np.testing.assert_allclose(found.m2 @ np.eye(4), M2, atol=1e-13)
    np.testing.assert_allclose(found.m3_dense(), M3, atol=1e-13)


def test_short_documents_do_not_affect_higher_moments():
    long = np.array([[3, 1, 0], [0, 2, 2]])
    short = np.array([[1, 0, 0], [0, 0, 1], [0, 0, 0]])
    alone = SingleTopicMoments.from_data(long)
    both = SingleTopicMoments.from_data(np.vstack([long, short]))
    np.testing.assert_allclose(both.m3_dense(), alone.m3_dense(), atol=1e-15)
    np.testing.assert_allclose(both.m2 @ np.eye(3), alone.m2 @ np.eye(3), atol=1e-15)


def moments_of(X, weighting):
    found = SingleTopicMoments.from_data(X, weighting=weighting)
    return found.m1, found.m2 @ np.eye(X.shape[1]), found.m3_dense()


def test_length_weighting_is_biased_where_length_depends_on_the_topic():
    """Topics of one word each, equally frequent, in documents of 10 and of 60 words."""
    X = np.array([[10, 0], [0, 60]])
    c = np.array([10.0, 60.0])
    for found, pairs in zip(
        moments_of(X, "length"), (c, c * (c - 1), c * (c - 1) * (c - 2)), strict=True
    ):
        weights = found[(np.arange(2),) * found.ndim]
        np.testing.assert_allclose(weights, pairs / pairs.sum())
    for found in moments_of(X, "uniform"):
        np.testing.assert_allclose(found[(np.arange(2),) * found.ndim], [0.5, 0.5])


def test_three_words_is_unbiased():
    """The mean over many draws is the moment of each document, averaged over documents."""
    X = np.array([[2, 1, 1], [0, 3, 1], [5, 0, 1], [1, 1, 0]])
    _, M2, M3 = literal_words(X[X.sum(axis=1) >= 3])
    copies = np.tile(X, (100, 1))  # drawn independently
    found = [
        SingleTopicMoments.from_data(copies, weighting="three_words", random_state=seed)
        for seed in range(30)
    ]
    for values, truth in (
        (np.array([f.m2 @ np.eye(3) for f in found]), M2),
        (np.array([f.m3_dense() for f in found]), M3),
    ):
        standard_error = values.std(axis=0, ddof=1) / np.sqrt(len(found)) + 1e-12
        assert (np.abs(values.mean(axis=0) - truth) / standard_error).max() < 5


def test_three_words_depends_on_its_seed_and_requires_whole_counts():
    X = np.random.default_rng(0).poisson(2.0, size=(20, 5))
    first, second, other = (
        SingleTopicMoments.from_data(X, weighting="three_words", random_state=s).m3_dense()
        for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)
    with raises(InvalidDataError, "three_words_need_whole_counts"):
        SingleTopicMoments.from_data(X + 0.5, weighting="three_words")


@pytest.mark.parametrize("weighting", ["length", "uniform", "three_words"])
def test_moments_converge_to_the_population_with_slope_minus_one_half(weighting):
    rng = np.random.default_rng(1)
    w, mu = np.array([0.5, 0.3, 0.2]), rng.dirichlet(np.ones(6), size=3)
    exact = SingleTopicMoments.from_parameters(w, mu).m3_dense()
    sizes, errors = np.array([200, 800, 3200]), []
    for n in sizes:
        trials = []
        for _ in range(5):
            lengths = rng.integers(3, 30, size=n)
            X = rng.multinomial(lengths, mu[rng.choice(3, size=n, p=w)])
            found = SingleTopicMoments.from_data(X, weighting=weighting, random_state=0)
            trials.append(np.linalg.norm(found.m3_dense() - exact))
        errors.append(np.mean(trials))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -0.65 < slope < -0.35


def test_population_moments_agree_with_their_definition():
    rng = np.random.default_rng(2)
    w, mu = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(5), size=3)
    exact = SingleTopicMoments.from_parameters(w, mu)
    np.testing.assert_allclose(exact.m1, w @ mu, atol=1e-15)
    np.testing.assert_allclose(
        exact.m2 @ np.eye(5), np.einsum("i,ia,ib->ab", w, mu, mu), atol=1e-15
    )
    M3 = np.einsum("i,ia,ib,ic->abc", w, mu, mu, mu)
    np.testing.assert_allclose(exact.m3_dense(), M3, atol=1e-15)
    W = rng.standard_normal((2, 5))
    np.testing.assert_allclose(
        exact.whitened_slices(W), np.einsum("ap,rpq,bq->rab", W, M3, W), atol=1e-14
    )


@given(st.integers(0, 10_000), st.sampled_from(["length", "uniform"]))
def test_weights_are_copies_and_order_does_not_matter(seed, weighting):
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.5, size=(8, 4)) + np.eye(8, 4, dtype=int) * 3
    v = rng.integers(0, 4, size=8)
    v[0] = 1
    W = rng.standard_normal((2, 4))
    rows, columns = rng.permutation(8), rng.permutation(4)
    base = SingleTopicMoments.from_data(X, weighting=weighting, sample_weight=v)
    repeated = SingleTopicMoments.from_data(np.repeat(X, v, axis=0), weighting=weighting)
    shuffled = SingleTopicMoments.from_data(
        X[rows][:, columns], weighting=weighting, sample_weight=v[rows]
    )
    np.testing.assert_allclose(repeated.m1, base.m1, atol=1e-13)
    np.testing.assert_allclose(repeated.whitened_slices(W), base.whitened_slices(W), atol=1e-12)
    np.testing.assert_allclose(
        shuffled.whitened_slices(W[:, columns]), base.whitened_slices(W)[columns], atol=1e-12
    )


def test_block_size_and_format_do_not_matter():
    rng = np.random.default_rng(4)
    X = rng.poisson(0.7, size=(200, 9))
    W, one = rng.standard_normal((2, 9)), np.ones(200)
    whole = SingleTopicMoments.from_rows(RowBlocks(sp.csr_array(X)), sample_weight=one)
    for size in (1, 7, 64):
        parts = SingleTopicMoments.from_rows(RowBlocks(sp.csr_array(X), size), sample_weight=one)
        np.testing.assert_allclose(parts.m2 @ W.T, whole.m2 @ W.T, atol=1e-14)
        np.testing.assert_allclose(parts.whitened_slices(W), whole.whitened_slices(W), atol=1e-13)
    for other in (
        sp.csc_matrix(X),
        sp.coo_array(X),
        X.astype(np.float32),
        sp.csr_matrix(X > 0) * 1,
    ):
        assert SingleTopicMoments.from_data(other).m1.sum() == pytest.approx(1.0)


def test_scaling_a_document_changes_only_its_weight():
    """Scaling a document by u is unbiased: it only changes the document's weight."""
    rng = np.random.default_rng(5)
    X = rng.poisson(1.0, size=(5, 4)) + np.array([3, 0, 0, 0])
    u = rng.uniform(0.3, 2.0, size=5)
    scaled = SingleTopicMoments.from_rows(
        RowBlocks(sp.csr_array(X * u[:, None])), sample_weight=np.ones(5), count_per_token=u
    )
    parts = [literal_theorem_1(x[None]) for x in X]
    c = X.sum(axis=1)
    for power, m, dense in (
        (c * (c - 1) * u**2, 1, scaled.m2 @ np.eye(4)),
        (c * (c - 1) * (c - 2) * u**3, 2, scaled.m3_dense()),
    ):
        expected = sum(p * part[m] for p, part in zip(power, parts, strict=True)) / power.sum()
        np.testing.assert_allclose(dense, expected, atol=1e-13)


@pytest.mark.parametrize(
    ("X", "keywords", "error", "code"),
    [
        ([[1, -2]], {}, InvalidDataError, "negative_count"),
        ([[1.0, np.nan]], {}, InvalidDataError, "missing_count"),
        ([[np.inf, 1.0]], {}, InvalidDataError, "missing_count"),
        ([1, 2, 3], {}, InvalidDataError, "refused_by_sklearn"),
        ([["a", "b"]], {}, InvalidDataError, "texts_not_counts"),
        ([[1, 1], [0, 1]], {}, InvalidDataError, "no_document_of_three_words"),
        ([[3, 1]], {"weighting": "zou"}, InvalidParameterError, "not_a_choice"),
        ([[3, 1]], {"sample_weight": [-1.0]}, InvalidDataError, "bad_sample_weight"),
        ([[3, 1]], {"sample_weight": [1.0, 1.0]}, InvalidDataError, "wrong_shape"),
        ([[3, 1]], {"sample_weight": [0.0]}, InvalidDataError, "no_sample_weight"),
    ],
)
def test_from_data_refuses(X, keywords, error, code):
    with raises(error, code):
        SingleTopicMoments.from_data(X, **keywords)


@pytest.mark.parametrize(
    ("weights", "components"),
    [
        ([0.5, 0.6], np.eye(2)),
        ([0.5, 0.5], 2 * np.eye(2)),
        ([1.0], np.eye(2)),
        ([1.5, -0.5], np.eye(2)),
        (["half", "half"], np.eye(2)),
        ([0.5, 0.5], [[1.0, 0.0], [1.0]]),
        ([0.5, 0.5], sp.csr_array(np.eye(2))),
    ],
)
def test_from_parameters_refuses(weights, components):
    with pytest.raises(InvalidDataError):
        SingleTopicMoments.from_parameters(weights, components)
