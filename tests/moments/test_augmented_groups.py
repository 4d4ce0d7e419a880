"""Raw moments of several groups in the same passes: those of each group alone."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.backends import RowBlocks, counted_passes
from momentree.moments import AugmentedRawMoments
from momentree.moments.augmented import GroupedRawMoments
from momentree.whitening import whiten, whiten_groups

N, G = 200, 3


@pytest.fixture(scope="module", params=[20, 90], ids=["few columns", "many columns"])
def both(request):
    """Moments of three groups at once, with some samples in none, and of each group alone."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((N, request.param)) < rng.dirichlet(np.full(request.param, 9)) * 9)
    own = rng.integers(-1, G, N)
    weight, scale = rng.uniform(0.5, 2.0, N), rng.uniform(0.5, 1.5, N)
    view = {"column_scale": rng.uniform(0.5, 1.5, request.param), "constant": 0.7}
    rows = RowBlocks(X.astype(float), block_nnz=200)
    at_once = GroupedRawMoments(rows, own, G, sample_weight=weight, row_scale=scale, **view)
    alone = [
        AugmentedRawMoments(rows.take(np.flatnonzero(at)), weight[at], scale[at], *view.values())
        for at in (own == j for j in range(G))
    ]
    return at_once, alone, np.bincount(own + 1, weight)[1:]


def test_each_group_has_its_own_moments(both):
    at_once, alone, sizes = both
    rng = np.random.default_rng(1)
    d = at_once.m1.shape[1]
    V, W = rng.normal(size=(G, d, 3)), rng.normal(size=(G, 2, d))
    products, slices = at_once.times(V), at_once.whitened_slices(W)
    some = at_once.times(V[[2, 0]], [2, 0])
    same = {"rtol": 1e-9, "atol": 1e-12}  # rounding of sums in another order
    np.testing.assert_allclose(at_once.sizes, sizes, **same)
    np.testing.assert_allclose(some, products[[2, 0]], **same)
    for j, moments in enumerate(alone):
        np.testing.assert_allclose(at_once.m1[j], moments.m1, **same)
        np.testing.assert_allclose(products[j], moments.m2 @ V[j], **same)
        np.testing.assert_allclose(slices[j], moments.whitened_slices(W[j]), **same)


def test_groups_are_whitened_as_each_alone(both):
    at_once, alone, _ = both
    with counted_passes() as read:
        found, _ = whiten_groups(at_once, 2, [2, 0], tol=1e-3, max_iter=1)
    # A group of few columns needs one product, others 2 k + 4 of one column, at most.
    assert read.n_rows == N * (1 if at_once.m1.shape[1] < 64 else 8)
    for j, white in zip([2, 0], found, strict=True):
        expected = whiten(alone[j], 2, tol=1e-3, max_iter=1)
        np.testing.assert_allclose(white.W, expected.W, rtol=0, atol=1e-7)
        assert white.converged == expected.converged


def test_a_group_without_weight_has_moments_of_zero():
    moments = GroupedRawMoments(
        RowBlocks(sp.csr_array(np.eye(3))),
        np.array([0, 0, 1]),
        3,
        sample_weight=np.array([1.0, 1.0, 0.0]),
        row_scale=np.ones(3),
        column_scale=np.ones(3),
        constant=1.0,
    )
    assert moments.sizes.tolist() == [2, 0, 0]
    assert not moments.m1[1:].any()
