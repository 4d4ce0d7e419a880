"""T eq. 6.5 and 6.6 for augmented rows, against loops over all triples of features."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.backends import RowBlocks, num_threads
from momentree.moments import AugmentedRawMoments, RawMoments


def draw(seed, n=15, p=4):
    """Rows with zeros, weights, factors and scales, one of them zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.6)
    scale = rng.uniform(0.5, 2, size=p)
    scale[seed % p] = 0.0
    return X, rng.integers(0, 3, size=n) + 0.5, rng.uniform(0.2, 2, size=n), scale


def literal(X, v, f, s, c):
    """The sums of the class, entry by entry."""
    v = v / v.sum()
    Y = np.array([f[i] * np.append(s * X[i], c) for i in range(len(X))])
    d = Y.shape[1]
    M1, M2, M3 = np.zeros(d), np.zeros((d, d)), np.zeros((d, d, d))
    for i in range(len(Y)):
        for a in range(d):
            M1[a] += v[i] * Y[i, a]
            for b in range(d):
                M2[a, b] += v[i] * Y[i, a] * Y[i, b]
                for e in range(d):
                    M3[a, b, e] += v[i] * Y[i, a] * Y[i, b] * Y[i, e]
    return M1, M2, M3


@pytest.mark.parametrize("constant", [0.0, 1.0, -2.5])
@pytest.mark.parametrize("seed", range(2))
def test_moments_are_their_sums(seed, constant):
    X, v, f, s = draw(seed)
    moments = AugmentedRawMoments(RowBlocks(sp.csr_array(X), block_nnz=7), v, f, s, constant)
    M1, M2, M3 = literal(X, v, f, s, constant)
    W = np.random.default_rng(seed).normal(size=(3, 5))
    np.testing.assert_allclose(moments.m1, M1, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(moments.m2 @ np.eye(5), M2, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(moments.m2 @ W[0], M2 @ W[0], rtol=1e-11)
    np.testing.assert_allclose(moments.m2.T @ W.T, M2 @ W.T, rtol=1e-11)
    H, T = moments.whitened_slices(W), moments.whitened_tensor(W)
    scale = np.abs(T).max()
    np.testing.assert_allclose(H, np.einsum("rst,as,bt->rab", M3, W, W), atol=1e-12 * scale)
    np.testing.assert_allclose(T, np.einsum("rst,ar,bs,ct->abc", M3, W, W, W), atol=1e-12 * scale)


def test_without_factors_scales_and_constant_they_are_the_raw_moments():
    """T eq. 6.5 and 6.6, with a last feature of zeros."""
    X, v, f, s = draw(3)
    rows = RowBlocks(sp.csr_array(X))
    one = AugmentedRawMoments(rows, v, np.ones_like(f), np.ones_like(s), 0.0)
    other = RawMoments.from_data(np.abs(X), sample_weight=v)
    one_of_abs = AugmentedRawMoments(RowBlocks(sp.csr_array(np.abs(X))), v, f**0, s**0, 0.0)
    W = np.random.default_rng(3).normal(size=(3, 5))
    np.testing.assert_allclose(one.m1[:4], X.T @ v / v.sum(), rtol=1e-12)
    np.testing.assert_allclose(one_of_abs.m1[:4], other.m1, rtol=1e-12)
    assert one.m1[4] == 0
    assert not one.whitened_slices(W)[4].any()
    np.testing.assert_allclose(
        one_of_abs.whitened_tensor(W), other.whitened_tensor(W[:, :4]), rtol=1e-10
    )


def test_threads_change_no_bit():
    X, v, f, s = draw(5, n=400, p=30)
    moments = AugmentedRawMoments(RowBlocks(sp.csr_array(X), block_nnz=50), v, f, s, 1.0)
    W = np.random.default_rng(5).normal(size=(4, 31))
    with num_threads(1):
        one = moments.whitened_slices(W), moments.whitened_tensor(W), moments.m1
    with num_threads(4):
        four = moments.whitened_slices(W), moments.whitened_tensor(W), moments.m1
    for a, b in zip(one, four, strict=True):
        np.testing.assert_array_equal(a, b)
