"""Moments of three views: the formulas of Anandkumar et al. 2014, section 3.3, literally."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from momentree import decomposition
from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.moments import MultiviewMoments, split_views
from tests.raising import raises

METHODS = (
    "sidiwo",
    "svtd",
    "tensor_power_method",
    "eigendecomposition",
    "svd_method",
    "random_projections",
    "jennrich",
    "als",
)


def draw(seed, n=60, sizes=(5, 4, 6), k=2):
    """Three binary views of a mixture."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return [(rng.random((n, d)) < rng.random((k, d))[y]).astype(float) for d in sizes]


def model(seed, k, sizes):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(k, 20.0)), [rng.random((k, d)) for d in sizes]


def literal(views, v, k):
    """The moments of the third view with dense loops over samples."""
    v = v / v.sum()
    x1, x2, x3 = views
    E12, E32, E31 = ((a.T * v) @ b for a, b in ((x1, x2), (x3, x2), (x3, x1)))
    U, S, Vt = np.linalg.svd(E12)
    inverse = Vt[:k].T @ np.diag(1 / S[:k]) @ U[:, :k].T
    d = x3.shape[1]
    M2, M3 = np.zeros((d, d)), np.zeros((d, d, d))
    for weight, a, b, c in zip(v, x1, x2, x3, strict=True):
        one, two = E32 @ inverse @ a, E31 @ inverse.T @ b
        M2 += weight * (np.outer(one, two) + np.outer(two, one)) / 2
        for order in itertools.permutations((one, two, c)):
            M3 += weight * np.einsum("a,b,c->abc", *order) / 6
    return v @ x3, M2, M3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [1, 2, 4])
def test_moments_are_those_of_the_paper_made_symmetric(seed, k):
    views = draw(seed)
    v = np.random.default_rng(seed).integers(1, 4, size=60).astype(float)
    moments = MultiviewMoments.from_data(views, n_components=k, sample_weight=v)
    M1, M2, M3 = literal(views, v, k)
    np.testing.assert_allclose(moments.m1, M1)
    np.testing.assert_allclose(moments.m2 @ np.eye(6), M2, atol=1e-9)
    np.testing.assert_allclose(moments.m2 @ np.ones(6), M2 @ np.ones(6), atol=1e-9)
    np.testing.assert_allclose(moments.m3_dense(), M3, atol=1e-9)
    assert moments.view_sizes == (5, 4, 6)
    assert moments.n_components == k
    np.testing.assert_allclose(moments.means, np.concatenate([v @ x for x in views]) / v.sum())


@pytest.mark.parametrize("k", [1, 3])
def test_exact_moments_are_those_of_the_third_view(k):
    w, mu = model(k, k, (6, 5, 4))
    moments = MultiviewMoments.from_parameters(w, mu)
    third = mu[2]
    np.testing.assert_allclose(moments.m1, w @ third)
    np.testing.assert_allclose(moments.m2 @ np.eye(4), (third.T * w) @ third, atol=1e-10)
    M3 = np.einsum("i,ia,ib,ic->abc", w, third, third, third)
    np.testing.assert_allclose(moments.m3_dense(), M3, atol=1e-9)
    cross = [(part.T * w) @ third for part in mu[:2]]
    np.testing.assert_allclose(moments.other_views(np.eye(4)), np.vstack(cross), atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("method", METHODS)
def test_every_decomposition_recovers_the_third_view(method, k):
    w, mu = model(k, k, (20, 30, 70))
    found = getattr(decomposition, method)(MultiviewMoments.from_parameters(w, mu), k)
    cost = np.linalg.norm(found.centers.T[:, None] - mu[2], axis=2)
    order = linear_sum_assignment(cost)[1]
    np.testing.assert_allclose(found.centers.T, mu[2][order], atol=1e-6)
    np.testing.assert_allclose(found.weights, w[order], rtol=1e-6)


def test_arpack_agrees_with_the_dense_solver():
    """Features that are always 0 change no moment, but more than 256 in both views need ARPACK."""
    views = draw(5, n=200, sizes=(12, 9, 7), k=3)
    wide = [sp.csr_array(np.pad(x, [(0, 0), (0, 300 - x.shape[1])])) for x in views]
    base = MultiviewMoments.from_data(views, n_components=3)
    found, again = (
        MultiviewMoments.from_data([*wide[:2], views[2]], n_components=3) for _ in range(2)
    )
    np.testing.assert_allclose(found.singular_values, base.singular_values)
    np.testing.assert_allclose(found.m3_dense(), base.m3_dense(), atol=1e-8)
    np.testing.assert_array_equal(found.m3_dense(), again.m3_dense())
    basis = MultiviewMoments.from_data(wide, n_components=3).third_basis
    projector = np.pad(base.third_basis @ base.third_basis.T, [(0, 293)] * 2)
    np.testing.assert_allclose(basis @ basis.T, projector, atol=1e-8)


def with_gaps(views, rates, seed):
    rng = np.random.default_rng(seed)
    return [np.where(rng.random(x.shape) < rates[: x.shape[1]], x, np.nan) for x in views]


def test_means_are_divided_by_the_observation_rate():
    views = with_gaps(draw(6), np.linspace(0.6, 1, 6), 6)
    rates = [(~np.isnan(x)).mean(axis=0) for x in views]
    found = MultiviewMoments.from_data(views, n_components=2)
    filled = [np.nan_to_num(x) / p for x, p in zip(views, rates, strict=True)]
    base = MultiviewMoments.from_data(filled, n_components=2)
    np.testing.assert_allclose(found.m3_dense(), base.m3_dense(), atol=1e-10)
    np.testing.assert_allclose(found.means, base.means)


def test_missing_values_leave_cross_moments_unbiased():
    """Mean over data sets of the difference to complete data, within five standard errors."""
    gaps = []
    for seed in range(40):
        views = draw(seed, n=300)
        full = MultiviewMoments.from_data(views, n_components=2)
        some = MultiviewMoments.from_data(
            with_gaps(views, np.linspace(0.5, 1, 6), seed), n_components=2
        )
        gaps.append((some.other_views(np.eye(6)) - full.other_views(np.eye(6))).ravel())
    error = np.std(gaps, axis=0, ddof=1) / np.sqrt(40)
    assert (np.abs(np.mean(gaps, axis=0)) < 5 * error).all()
    # Without division by the rate, an entry would be wrong by a tenth or more.
    assert np.median(error) < 1e-2


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_weights_are_copies_and_order_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    views, v = draw(seed), rng.integers(1, 4, size=60)
    base = MultiviewMoments.from_data(views, n_components=2, sample_weight=v).m3_dense()
    order = rng.permutation(np.repeat(np.arange(60), v))
    found = MultiviewMoments.from_data([x[order] for x in views], n_components=2).m3_dense()
    np.testing.assert_allclose(found, base, atol=1e-9 * max(1.0, np.abs(base).max()))


def test_views_may_be_of_any_type():
    views = [x * 2.5 - 1 for x in draw(8)]
    base = MultiviewMoments.from_data(views, n_components=2).m3_dense()
    forms = (sp.csc_array(views[0]), sp.coo_matrix(views[1]), views[2].tolist())
    found = MultiviewMoments.from_data(forms, n_components=2)
    np.testing.assert_allclose(found.m3_dense(), base, atol=1e-12)


def test_components_beyond_the_rank_are_omitted():
    w, mu = model(0, 2, (5, 5, 5))
    moments = MultiviewMoments([RowBlocks(sp.csr_array(x)) for x in mu], w, 4)
    assert len(moments.singular_values) == 2
    np.testing.assert_allclose(moments.m2 @ np.eye(5), (mu[2].T * w) @ mu[2], atol=1e-10)


def test_independent_views_have_no_components():
    moments = MultiviewMoments.from_data([np.eye(3), np.zeros((3, 2)), np.eye(3)], n_components=2)
    assert moments.singular_values.shape == (0,)
    found = decomposition.sidiwo(moments, 2)
    assert found.n_components == 0
    assert found.diagnostics["reason"].code == "rank_too_low"


@pytest.mark.parametrize("d", [3, 7, 99])
def test_a_split_contains_every_feature_once(d):
    parts = split_views(d, 1)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(d))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    for part in parts:
        np.testing.assert_array_equal(part, np.sort(part))
    for one, other in zip(split_views(d), split_views(d, 0), strict=True):
        np.testing.assert_array_equal(one, other)


def test_seeds_give_different_splits():
    assert len({tuple(split_views(30, seed)[0]) for seed in range(5)}) == 5


X = np.eye(4)


@pytest.mark.parametrize(
    ("call", "error", "code"),
    [
        (
            lambda: MultiviewMoments.from_data([X, X], n_components=1),
            InvalidDataError,
            "not_three_views",
        ),
        (
            lambda: MultiviewMoments.from_data([X, X, X[:3]], n_components=1),
            InvalidDataError,
            "views_of_different_samples",
        ),
        (
            lambda: MultiviewMoments.from_data([X, X, X * np.inf], n_components=1),
            InvalidDataError,
            "infinite_value",
        ),
        (
            lambda: MultiviewMoments.from_data([X, X, X], n_components=0),
            InvalidParameterError,
            "not_a_number",
        ),
        (
            lambda: MultiviewMoments.from_data([X, X, X * np.nan], n_components=1),
            InvalidDataError,
            "never_observed",
        ),
        (
            lambda: MultiviewMoments.from_parameters([0.5], [X, X, X]),
            InvalidDataError,
            "not_a_distribution",
        ),
        (
            lambda: MultiviewMoments.from_parameters([1.0], [X, X, X]),
            InvalidDataError,
            "wrong_shape",
        ),
        (
            lambda: MultiviewMoments.from_parameters([1.0], [[[1]], [[np.nan]], [[1]]]),
            InvalidDataError,
            "not_finite",
        ),
        (
            lambda: MultiviewMoments.from_data(draw(0), n_components=1).whitened_slices(X),
            InvalidDataError,
            "wrong_shape",
        ),
        (
            lambda: MultiviewMoments.from_parameters(["a"], [X, X, X]),
            InvalidDataError,
            "not_numbers",
        ),
        (lambda: split_views(2), InvalidParameterError, "not_a_number"),
        (lambda: split_views(3.0), InvalidParameterError, "not_a_number"),
        (lambda: split_views(9, "a"), InvalidParameterError, "not_a_random_state"),
    ],
)
def test_bad_input_is_refused(call, error, code):
    with np.errstate(invalid="ignore"), raises(error, code):
        call()
