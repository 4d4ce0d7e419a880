"""Properties of all moments: whitened slices and tensor, weights, checks of W."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError
from momentree.moments import (
    AugmentedRawMoments,
    BernoulliMoments,
    CorrectedMoments,
    LDAMoments,
    MultiviewMoments,
    PoissonMoments,
    RawMoments,
    SingleTopicMoments,
    SphericalGaussianMoments,
)
from tests.raising import raises

D = 6


def draw(seed, n=15):
    return np.random.default_rng(seed).poisson(1.0, size=(n, D)) + np.eye(n, D, dtype=int) * 3


def with_gaps(X):
    rng = np.random.default_rng(int(X.sum()))
    return np.where(rng.random(X.shape) < 0.2, np.nan, X > 1)


def augmented(X, sample_weight=None):
    rng = np.random.default_rng(0)
    v = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    scale = rng.uniform(0.5, 2, size=D - 1)
    factor = 1.0 / (1.0 + X.sum(axis=1))
    return AugmentedRawMoments(RowBlocks(sp.csr_array(X[:, 1:])), v, factor, scale, -1.5)


def corrected(X, **weight):
    rng = np.random.default_rng(0)
    return CorrectedMoments(
        BernoulliMoments.from_data(X > 1, **weight), np.array([0.6, 0.4]), rng.random((D, 2))
    )


def spherical_gaussians(X, **parameters):
    """Moments of D - 1 features and a constant."""
    parameters = {"centered": True, "n_components": 2, **parameters}
    return SphericalGaussianMoments.from_data(X[:, 1:], **parameters)


MAKERS = {
    "single topic": SingleTopicMoments.from_data,
    "uniform": lambda X, **kw: SingleTopicMoments.from_data(X, weighting="uniform", **kw),
    "poisson": PoissonMoments.from_data,
    "lda": LDAMoments.from_data,
    "raw": RawMoments.from_data,
    "augmented": augmented,
    "binary": lambda X, **kw: BernoulliMoments.from_data(X > 1, **kw),
    "binary with gaps": lambda X: BernoulliMoments.from_data(with_gaps(X)),
    "corrected": corrected,
    "spherical Gaussians": SphericalGaussianMoments.from_data,
    "spherical Gaussians, own variances": lambda X, **kw: spherical_gaussians(
        X, variances="own", **kw
    ),
    "spherical Gaussians, centered": spherical_gaussians,
    "three views": lambda X, **kw: MultiviewMoments.from_data(
        [X[:, :3], X[:, 2:], X], n_components=2, **kw
    ),
}


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 4))
def test_slices_and_tensor_whiten_m3(name, seed, k):
    moments, W = MAKERS[name](draw(seed)), np.random.default_rng(seed).normal(size=(k, D))
    M3, H, T = moments.m3_dense(), moments.whitened_slices(W), moments.whitened_tensor(W)
    # Rounding is relative to the largest terms of the sums.
    scale = np.einsum("rst,ar,bs,ct->abc", np.abs(M3), *[np.abs(W)] * 3).max()
    np.testing.assert_allclose(H, np.einsum("rst,as,bt->rab", M3, W, W), atol=1e-12 * scale)
    np.testing.assert_allclose(T, np.einsum("rst,ar,bs,ct->abc", M3, W, W, W), atol=1e-12 * scale)
    np.testing.assert_allclose(H, H.transpose(0, 2, 1), atol=1e-14 * scale)
    for axes in ((1, 0, 2), (2, 1, 0)):
        np.testing.assert_allclose(M3, M3.transpose(axes), atol=1e-12 * np.abs(M3).max())
    np.testing.assert_allclose(moments.m2 @ W[0], (moments.m2 @ np.eye(D)) @ W[0], rtol=1e-9)
    np.testing.assert_allclose(moments.m2.T @ W.T, moments.m2 @ W.T, atol=1e-12 * scale)


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "binary with gaps"])
def test_a_weight_is_a_number_of_copies(name):
    X = draw(7, n=12)
    v = np.array([1, 2, 1, 3, 1, 1, 2, 1, 1, 1, 1, 2])
    one, copies = MAKERS[name](X, sample_weight=v), MAKERS[name](np.repeat(X, v, axis=0))
    np.testing.assert_allclose(one.m3_dense(), copies.m3_dense(), atol=1e-10)


@pytest.mark.parametrize("name", MAKERS)
def test_a_matrix_of_another_width_is_refused(name):
    moments = MAKERS[name](draw(0))
    for W in (np.ones((2, D - 1)), np.ones(D)):
        for method in (moments.whitened_slices, moments.whitened_tensor):
            with raises(InvalidDataError, "wrong_shape", parameter="W", expected=f"(k, {D})"):
                method(W)


def test_raw_moments_are_means_of_powers():
    X = np.random.default_rng(0).random((20, 4))
    moments, w = RawMoments.from_data(X), np.full(20, 1 / 20)
    np.testing.assert_allclose(moments.m1, X.mean(axis=0))
    np.testing.assert_allclose(moments.m2 @ np.eye(4), X.T @ X / 20)
    np.testing.assert_allclose(moments.m3_dense(), np.einsum("n,na,nb,nc->abc", w, X, X, X))


@pytest.mark.parametrize("name", ["single topic", "augmented", "three views"])
def test_many_directions_are_those_of_few(name):
    """Pairs of directions are computed some at a time; the cut changes nothing."""
    moments, W = MAKERS[name](draw(5)), np.random.default_rng(2).normal(size=(20, D))
    H = moments.whitened_slices(W)
    for some in ([0, 1], [7, 19], [13, 3, 18]):
        few = moments.whitened_slices(W[some])
        np.testing.assert_allclose(few, H[np.ix_(range(D), some, some)], atol=1e-9)
