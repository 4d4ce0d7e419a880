"""Moments of several groups in the same passes: those of each group alone."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.backends import RowBlocks, counted_passes
from momentree.datasets import make_single_topic
from momentree.decomposition import sidiwo
from momentree.decomposition.sidiwo import pseudo_centers
from momentree.moments import GroupedMoments, SingleTopicMoments
from momentree.whitening import group_starts, whiten, whiten_groups

N, D, G = 240, 90, 3


@pytest.fixture(scope="module", params=["length", "uniform"])
def both(request):
    """Moments of three groups at once, with some documents in none, and of each group alone."""
    X = make_single_topic(N, D, 5, length=40, random_state=0).X
    rng = np.random.default_rng(0)
    own = rng.integers(-1, G, N)
    weight, per_token = rng.uniform(0.5, 2.0, N), rng.uniform(0.5, 1.5, N)
    first = rng.normal(size=(G, D, 4))
    rows = RowBlocks(X, block_nnz=500)
    arrays = {"sample_weight": weight, "count_per_token": per_token}
    at_once = GroupedMoments(
        rows, own, G, **arrays, uniform=request.param == "uniform", first=first
    )
    alone = [
        SingleTopicMoments.from_rows(
            rows.take(np.flatnonzero(own == j)),
            weighting=request.param,
            **{name: values[own == j] for name, values in arrays.items()},
        )
        for j in range(G)
    ]
    words = [weight[own == j] @ X[own == j] for j in range(G)]
    return at_once, alone, first, np.array(words), np.bincount(own + 1, weight)[1:]


def test_each_group_has_its_own_moments(both):
    at_once, alone, first, words, sizes = both
    rng = np.random.default_rng(1)
    V, W = rng.normal(size=(G, D, 2)), rng.normal(size=(G, 2, D))
    products, firsts, slices = at_once.times(V), at_once.times(first), at_once.slices_to_rotate(W)
    np.testing.assert_allclose(at_once.words, words, rtol=1e-12)
    np.testing.assert_allclose(at_once.sizes, sizes, rtol=1e-12)
    for j, moments in enumerate(alone):
        same = {"rtol": 1e-9, "atol": 1e-13}  # rounding of sums in another order
        np.testing.assert_allclose(at_once.m1[j], moments.m1, **same)
        np.testing.assert_allclose(products[j], moments.m2 @ V[j], **same)
        np.testing.assert_allclose(firsts[j], moments.m2 @ first[j], **same)
        H = moments.whitened_slices(W[j])
        np.testing.assert_allclose(slices[j], H - H[:, -1:, -1:] * np.eye(2), **same)
        np.testing.assert_allclose(at_once.times(V[j : j + 1], [j])[0], products[j], **same)
        assert at_once.has_triples[j]


def test_groups_are_whitened_as_each_alone(both):
    at_once, alone, *_ = both
    start = group_starts(at_once.m1, None, 4)
    found, directions = whiten_groups(at_once, 2, range(G), start, max_iter=40, tol=1e-11)
    assert np.shape(directions) == (G, D, 3)
    slices = at_once.slices_to_rotate(np.stack([white.W for white in found]))
    for j, moments in enumerate(alone):
        expected = whiten(moments, 2, tol=1e-12)
        np.testing.assert_allclose(found[j].W, expected.W, atol=1e-7 * np.abs(expected.W).max())
        np.testing.assert_allclose(found[j].eigenvalues, expected.eigenvalues, rtol=1e-9)
        centers = pseudo_centers(at_once.m1[j], found[j], slices[j]).centers
        expected_centers = sidiwo(moments, 2, whitening=expected, centers="rotation").centers
        np.testing.assert_allclose(centers, expected_centers, atol=1e-7)


def test_known_words_and_short_documents_change_nothing_but_time():
    lengths = np.array([1, 2, 3, 40, 50, 60] * 20)
    X = make_single_topic(len(lengths), D, 5, length=lengths, random_state=1).X
    rows, own, one = RowBlocks(X, block_nnz=300), np.arange(len(lengths)) % 2, np.ones(len(lengths))
    arrays = {"sample_weight": one, "count_per_token": one, "uniform": False}
    expected = GroupedMoments(rows, own, 2, **arrays)
    words = np.array([X[own == j].sum(axis=0) for j in range(2)], dtype=float)
    first = np.random.default_rng(0).normal(size=(2, D, 3))
    for found in (
        GroupedMoments(rows, own, 2, **arrays, words=words),
        GroupedMoments(rows, own, 2, **arrays, words=words, first=first),
    ):
        np.testing.assert_allclose(found.m1, expected.m1, rtol=1e-12)
        np.testing.assert_allclose(found.times(first), expected.times(first), atol=1e-12)
        slices = [one.slices_to_rotate(first.transpose(0, 2, 1)) for one in (found, expected)]
        np.testing.assert_allclose(*slices, atol=1e-12)


def test_a_step_of_all_groups_is_one_pass(both):
    at_once, *_ = both
    start = group_starts(at_once.m1, None, 4)
    with counted_passes() as read:
        whiten_groups(at_once, 2, range(G), start, max_iter=3, tol=0.0)
    assert read.n_rows == 3 * N


def test_a_group_without_triples_has_none():
    X = np.vstack([np.eye(3, 4, dtype=int), np.full((3, 4), 2)])
    one = np.ones(6)
    moments = GroupedMoments(
        RowBlocks(sp.csr_array(X)),
        np.repeat([0, 1], 3),
        3,
        sample_weight=one,
        count_per_token=one,
        uniform=False,
    )
    assert moments.has_triples.tolist() == [False, True, False]
    assert np.isfinite(moments.times(np.ones((3, 4, 1)))).all()


def test_starts_permute_with_features_and_drop_what_depends_on_others():
    rng = np.random.default_rng(0)
    m1 = rng.uniform(size=(2, 30))
    m1[:, 20:] = m1[:, 19:20]  # features that cannot be told apart
    order = rng.permutation(30)
    start = group_starts(m1, None, 3)
    spans, permuted = (
        Q @ Q.transpose(0, 2, 1) for Q in (start, group_starts(m1[:, order], None, 3))
    )
    np.testing.assert_allclose(permuted, spans[:, order][:, :, order], atol=1e-12)
    np.testing.assert_allclose(start.transpose(0, 2, 1) @ start, [np.eye(3)] * 2, atol=1e-12)
    root = np.sqrt(m1[0])
    again = group_starts(m1[:1], [np.stack([root, 2 * root], axis=1)], 3)
    assert np.count_nonzero(np.linalg.norm(again, axis=1) > 0.5) == 1
