"""Moments of binary data: T eq. 4.6 to 4.11, missing values, T Theorem 4.3.1."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError
from momentree.moments import BernoulliMoments, RawMoments
from momentree.preprocessing import observation_rates
from tests.raising import raises


def draw(seed, n=40, d=6):
    return (np.random.default_rng(seed).random((n, d)) < 0.4).astype(float)


def with_gaps(X, rates, seed):
    gone = np.random.default_rng(seed).random(X.shape) > rates
    return np.where(gone, np.nan, X)


def literal_moments(X, v):
    """The formulas for missing values in the notes of the class, entry by entry."""
    n, d = X.shape
    v = v / v.sum()
    p = np.array([v[~np.isnan(X[:, i])].sum() for i in range(d)])
    Y = np.nan_to_num(X) / p
    c = 1 / p - 1
    M1, R2, M3 = np.zeros(d), np.zeros((d, d)), np.zeros((d, d, d))
    for s in range(n):
        for a in range(d):
            M1[a] += v[s] * Y[s, a]
            for b in range(d):
                R2[a, b] += v[s] * Y[s, a] * Y[s, b]
                for e in range(d):
                    M3[a, b, e] += v[s] * Y[s, a] * Y[s, b] * Y[s, e]
    for a in range(d):
        for b in range(d):
            for e in range(d):
                M3[a, b, e] -= (a == b) * c[a] * R2[a, e] + (a == e) * c[a] * R2[a, b]
                M3[a, b, e] -= (b == e) * c[b] * R2[a, b]
                M3[a, b, e] += (a == b == e) * c[a] * (2 * c[a] + 1) * M1[a]
    return M1, R2 - np.diag(c * M1), M3


@pytest.mark.parametrize("seed", range(3))
def test_moments_agree_with_the_notes(seed):
    rng = np.random.default_rng(seed)
    X = with_gaps(draw(seed, n=20, d=4), rng.uniform(0.5, 1, size=4), seed)
    v = rng.integers(1, 4, size=20).astype(float)
    moments = BernoulliMoments.from_data(X, sample_weight=v)
    M1, M2, M3 = literal_moments(X, v)
    np.testing.assert_allclose(moments.m1, M1)
    np.testing.assert_allclose(moments.m2 @ np.eye(4), M2, atol=1e-12)
    np.testing.assert_allclose(moments.m2 @ np.ones(4), M2 @ np.ones(4), atol=1e-12)
    np.testing.assert_allclose(moments.m3_dense(), M3, atol=1e-12)


def test_moments_of_complete_data_are_the_raw_moments():
    X = draw(4)
    one, other = BernoulliMoments.from_data(X), RawMoments.from_data(X)
    np.testing.assert_array_equal(one.m1, other.m1)
    np.testing.assert_array_equal(one.m2 @ np.eye(6), other.m2 @ np.eye(6))
    np.testing.assert_array_equal(one.m3_dense(), other.m3_dense())
    W = np.random.default_rng(4).normal(size=(3, 6))
    np.testing.assert_array_equal(one.whitened_tensor(W), other.whitened_tensor(W))


def test_missing_values_leave_every_entry_unbiased():
    """Mean over data sets with independent gaps, within five standard errors of complete data."""
    w, mu = np.array([0.6, 0.4]), np.array([[0.9, 0.2, 0.5, 0.7], [0.1, 0.6, 0.4, 0.3]])
    rates = np.array([0.5, 0.7, 0.9, 1.0])
    rng = np.random.default_rng(0)
    gaps = []
    for seed in range(100):
        X = (rng.random((400, 4)) < mu[rng.choice(2, size=400, p=w)]).astype(float)
        full = BernoulliMoments.from_data(X)
        some = BernoulliMoments.from_data(with_gaps(X, rates, seed))
        pairs = [(some.m1, full.m1), (some.m2 @ np.eye(4), full.m2 @ np.eye(4))]
        pairs.append((some.m3_dense(), full.m3_dense()))
        gaps.append(np.concatenate([(a - b).ravel() for a, b in pairs]))
    error = np.std(gaps, axis=0, ddof=1) / np.sqrt(len(gaps))
    # The rates are estimated too, which adds a bias of order 1/n: a tenth of the error.
    assert (np.abs(np.mean(gaps, axis=0)) <= 5 * error + 1e-12).all()
    # A wrong power of 1 / p would change an entry by 0.05 or more.
    assert np.median(error) < 3e-3


def test_off_diagonal_entries_converge_to_the_population():
    """T eq. 4.9 to 4.11; the diagonal converges to M1."""
    rng = np.random.default_rng(1)
    w, mu = np.array([0.7, 0.3]), rng.random((2, 5))
    exact = BernoulliMoments.from_parameters(w, mu)
    found = []
    for _ in range(60):
        X = rng.random((400, 5)) < mu[rng.choice(2, size=400, p=w)]
        moments = BernoulliMoments.from_data(X)
        found.append((moments.m2 @ np.eye(5), moments.m3_dense()))
    seconds, thirds = (np.array(part) for part in zip(*found, strict=True))
    a, b, c = np.indices((5, 5, 5))
    distinct = (a != b) & (b != c) & (a != c)
    for draws, true, where in (
        (seconds, exact.m2 @ np.eye(5), ~np.eye(5, dtype=bool)),
        (seconds, np.diag(exact.m1), np.eye(5, dtype=bool)),
        (thirds, exact.m3_dense(), distinct),
    ):
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
        assert (np.abs(draws.mean(axis=0) - true) < 5 * error)[where].all()


def test_data_may_be_of_any_type():
    pd = pytest.importorskip("pandas")
    X = with_gaps(draw(5), 0.8, 5)
    stored = sp.coo_array(np.nan_to_num(X, nan=2.0))
    stored.data[stored.data == 2.0] = np.nan
    base = BernoulliMoments.from_data(X).m3_dense()
    kept = stored.copy()
    frame = pd.DataFrame({f"c{i}": pd.array(X[:, i] == 1, dtype="boolean") for i in range(6)})
    for data in (stored, sp.csc_matrix(stored), pd.DataFrame(X), frame.mask(np.isnan(X))):
        np.testing.assert_allclose(BernoulliMoments.from_data(data).m3_dense(), base, atol=1e-14)
    np.testing.assert_array_equal(kept.data, stored.data)
    full = draw(5) > 0
    np.testing.assert_array_equal(
        BernoulliMoments.from_data(full).m3_dense(),
        BernoulliMoments.from_data(full.astype(int)).m3_dense(),
    )


def test_checked_rows_with_known_rates_give_the_same():
    X, v = with_gaps(draw(6), 0.7, 6), np.arange(40) % 3 + 1.0
    missing = sp.csr_array(np.isnan(X).astype(float))
    rates = observation_rates(missing, v)
    np.testing.assert_allclose(rates, ((~np.isnan(X)).T @ v) / v.sum())
    rows = RowBlocks(sp.csr_array(np.nan_to_num(X)))
    found = BernoulliMoments(rows, sample_weight=v, observation_rates=rates)
    base = BernoulliMoments.from_data(X, sample_weight=v)
    np.testing.assert_allclose(found.m3_dense(), base.m3_dense(), atol=1e-14)
    assert observation_rates(None, v) is None


@given(seed=st.integers(0, 10_000))
def test_weights_are_copies_and_columns_may_be_permuted(seed):
    rng = np.random.default_rng(seed)
    X, v = with_gaps(draw(seed), 0.8, seed), rng.integers(1, 4, size=40)
    base = BernoulliMoments.from_data(X, sample_weight=v).m3_dense()
    again = BernoulliMoments.from_data(np.repeat(X, v, axis=0)).m3_dense()
    np.testing.assert_allclose(again, base, atol=1e-12)
    at = rng.permutation(6)
    moved = BernoulliMoments.from_data(X[:, at], sample_weight=v).m3_dense()
    np.testing.assert_allclose(moved, base[np.ix_(at, at, at)], atol=1e-12)


def test_a_feature_that_is_never_observed_has_zero_moments():
    rows = RowBlocks(sp.csr_array(np.array([[1.0, 0.0], [0.0, 0.0]])))
    found = BernoulliMoments(rows, sample_weight=np.ones(2), observation_rates=np.array([1.0, 0.0]))
    np.testing.assert_array_equal(found.m2 @ np.eye(2), [[0.5, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: BernoulliMoments.from_data([[0, 1], [1, 2]]), "not_binary"),
        (lambda: BernoulliMoments.from_data([[0, 1], [-1, 0]]), "negative_not_binary"),
        (lambda: BernoulliMoments.from_data([[0.0, np.nan], [0.5, 0.0]]), "not_binary"),
        (lambda: BernoulliMoments.from_data([[np.nan, np.inf]]), "infinite_value"),
        (lambda: BernoulliMoments.from_data([["2020-01-01", "a"]]), "texts_not_counts"),
        (lambda: BernoulliMoments.from_data([[1.0, np.nan], [0, np.nan]]), "never_observed"),
        (
            lambda: BernoulliMoments.from_data([[1, 0], [0, np.nan]], sample_weight=[0, 1]),
            "never_observed",
        ),
        (lambda: BernoulliMoments.from_data([[1, 0]], sample_weight=[-1]), "bad_sample_weight"),
        (lambda: BernoulliMoments.from_parameters([1.0], [[0.5, 1.5]]), "not_a_probability"),
        (lambda: BernoulliMoments.from_parameters([1.0], [[-0.5, 0.5]]), "negative_or_not_finite"),
        (lambda: BernoulliMoments.from_parameters([0.5], [[0.5]]), "not_a_distribution"),
    ],
)
def test_bad_input_is_refused(call, code):
    with raises(InvalidDataError, code):
        call()
