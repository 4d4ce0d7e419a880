"""Fourth cumulants: against their literal definition, and exact for every decomposition."""

import numpy as np
import pytest

from momentree import decomposition
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import amari_distance
from momentree.moments import ICAMoments
from tests.raising import raises

METHODS = [
    "als", "eigendecomposition", "jennrich", "random_projections", "sidiwo", "svd_method", "svtd",
    "tensor_power_method",
]  # fmt: skip


def model(k, d, seed=0):
    rng = np.random.default_rng(seed)
    kappa = rng.uniform(1, 3, size=k) * np.where(np.arange(k) % 2, -0.4, 1)
    return rng.normal(size=(d, k)), kappa


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("k", "d"), [(1, 3), (2, 2), (5, 5), (5, 70)])
def test_exact_cumulants_give_the_mixing_back(method, k, d):
    """Kurtoses of both signs, as many features as sources and more."""
    A, kappa = model(k, d)
    moments = ICAMoments.from_parameters(A, kappa)
    found = getattr(decomposition, method)(moments, k, random_state=0)
    assert found.n_components == k
    assert amari_distance(np.linalg.pinv(found.centers), A) < 1e-6
    assert not found.diagnostics["reason"]


@pytest.mark.parametrize(("k", "d"), [(1, 1), (2, 2), (3, 8), (12, 12)])
def test_jade_of_exact_cumulants_gives_the_mixing_back(k, d):
    A, kappa = model(k, d)
    moments = ICAMoments.from_parameters(A, kappa)
    rotation, _, converged = decomposition.jade(moments)
    assert converged
    assert amari_distance(rotation @ moments.W, A) < 1e-6


def literal_cumulant(Z, v):
    """E zzzz - E zz E zz in three orders, entry by entry."""
    four = np.einsum("n,na,nb,nc,nd->abcd", v, Z, Z, Z, Z)
    two = np.einsum("n,na,nb->ab", v, Z, Z)
    for at in ("ab,cd->abcd", "ac,bd->abcd", "ad,bc->abcd"):
        four = four - np.einsum(at, two, two)
    return four


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(1)
    return rng.exponential(size=(400, 4)) @ rng.normal(size=(4, 4)), rng.uniform(size=400)


def test_slices_and_contractions_are_those_of_the_cumulant(sample):
    X, weight = sample
    moments = ICAMoments.from_data(X, sample_weight=weight)
    v = weight / weight.sum()
    Z = (X - v @ X) @ moments.W.T
    np.testing.assert_allclose((Z * v[:, None]).T @ Z, np.eye(4), atol=1e-10)
    C = literal_cumulant(Z, v)
    a, b = np.triu_indices(4)
    slices = moments.cumulant_slices() / np.where(a == b, 1, np.sqrt(2))[:, None, None]
    np.testing.assert_allclose(slices, C[a, b], atol=1e-10)
    u = np.random.RandomState(0).standard_normal(4)
    w = np.einsum("abcc,b->a", C, u)
    M3 = np.einsum("abcd,d->abc", C, w)
    E = moments.E
    np.testing.assert_allclose(moments.m1, E @ np.einsum("abc,b,c->a", M3, u, u), atol=1e-8)
    M2 = E @ np.einsum("abc,c->ab", M3, u) @ E.T
    np.testing.assert_allclose(moments.m2 @ np.eye(4), M2, atol=1e-8)
    dense = np.einsum("abc,ia,jb,lc->ijl", M3, E, E, E)
    np.testing.assert_allclose(moments.m3_dense(), dense, atol=1e-7)
    W = moments.W
    tensor = np.einsum("ijl,ai,bj,cl->abc", dense, W, W, W)
    np.testing.assert_allclose(moments.whitened_tensor(W), tensor, atol=1e-8)


def test_a_weight_of_two_is_two_copies(sample):
    X, _ = sample
    twice = ICAMoments.from_data(np.vstack([X, X[:100]])).cumulant_slices()
    weighted = ICAMoments.from_data(X, sample_weight=1.0 + (np.arange(400) < 100))
    np.testing.assert_allclose(weighted.cumulant_slices(), twice, atol=1e-9)


def test_fewer_sources_and_lower_ranks(sample):
    X, _ = sample
    assert len(ICAMoments.from_data(X, n_components=2).W) == 2
    constant = np.column_stack([X, np.full(400, 0.1), X[:, 0] + X[:, 1]])
    assert len(ICAMoments.from_data(constant).W) == 4
    units = X * [1e-9, 1.0, 1e9, 1e25]
    np.testing.assert_allclose(
        ICAMoments.from_data(units).cumulant_slices(),
        ICAMoments.from_data(X).cumulant_slices(),
        atol=1e-8,
    )


def test_refuses_bad_input():
    with raises(InvalidDataError, "no_spread"):
        ICAMoments.from_data(np.ones((5, 2)))
    with raises(InvalidDataError, "missing_count", row=1, column=0):
        ICAMoments.from_data([[0.0, 1.0], [np.nan, 2.0]])
    with raises(InvalidDataError, "huge_value", row=1, column=1):
        ICAMoments.from_data([[0.0, 1.0], [0.0, 1e200]])
    with raises(InvalidDataError, "mixing_rank", needed=2):
        ICAMoments.from_parameters(np.ones((3, 2)), [1.0, 2.0])
    with raises(InvalidDataError, "wrong_shape", parameter="kurtoses"):
        ICAMoments.from_parameters(np.eye(2), [1.0])
    with raises(InvalidDataError, "not_finite", parameter="mixing"):
        ICAMoments.from_parameters(np.full((2, 2), np.inf), [1.0, 2.0])
    with raises(InvalidParameterError, "too_many_sources", found=70, most=64):
        ICAMoments.from_data(np.random.default_rng(0).normal(size=(200, 70)))
