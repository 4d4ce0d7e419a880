"""Moments between groups of columns: literal sums, exact recovery, estimates, missing values."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import least_squares, linear_sum_assignment

from momentree import decomposition
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.moments import ProductMoments

from ..raising import raises

METHODS = [
    "als", "eigendecomposition", "jennrich", "random_projections", "sidiwo", "svd_method", "svtd",
    "tensor_power_method",
]  # fmt: skip
GROUPS = {
    "columns": None,
    "pairs": np.repeat(np.arange(15), 2),
    "four views": np.repeat(np.arange(4), [3, 10, 9, 8]),
    "three views": np.repeat(np.arange(3), 10),
}


def model(k, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(k, 20.0)), rng.normal(size=(k, d))


def error(found, w, mu):
    assert found.n_components == len(w)
    cost = np.linalg.norm(found.centers.T[:, None] - mu, axis=2)
    order = linear_sum_assignment(cost)[1]
    return max(np.abs(found.centers.T - mu[order]).max(), np.abs(found.weights - w[order]).max())


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("k", [1, 4])
def test_exact_moments_give_the_parameters_back_by_every_decomposition(groups, k):
    w, mu = model(k, 30)
    moments = ProductMoments.from_parameters(w, mu, groups=GROUPS[groups])
    np.testing.assert_allclose(moments.m1, w @ mu, atol=1e-12)
    np.testing.assert_allclose(moments.m2 @ np.eye(30), (mu.T * w) @ mu, atol=1e-9)
    for method in METHODS:
        found = getattr(decomposition, method)(moments, k, random_state=0)
        assert error(found, w, mu) < 1e-6, method


def test_views_need_not_have_as_many_columns_as_there_are_components():
    """Three-view methods need k columns in each view; here two views have fewer."""
    w, mu = model(4, 14, seed=3)
    groups = np.repeat(np.arange(5), [2, 1, 4, 4, 3])
    found = decomposition.sidiwo(ProductMoments.from_parameters(w, mu, groups=groups), 4)
    assert error(found, w, mu) < 1e-6


def mixture(n=400, seed=0):
    """Two numbers and a square, yes/no columns, and a category of three levels."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = np.zeros((n, 9))
    X[:, 0] = rng.normal(np.where(y, 1.0, -1.0))
    X[:, 1] = X[:, 0] ** 2
    X[:, 2] = rng.normal(np.where(y, 0.5, -0.5))
    X[:, 3:6] = rng.random((n, 3)) < np.where(y, 0.8, 0.3)[:, None]
    X[
        np.arange(n),
        6 + np.where(rng.random(n) < np.where(y, 0.7, 0.2), 0, rng.integers(3, size=n)),
    ] = 1
    return X, np.array([0, 0, 1, 2, 3, 4, 5, 5, 5])


def distinct(groups, order):
    """Whether the groups of all indices of an entry differ."""
    one = groups[:, None] != groups
    return one if order == 2 else one[:, :, None] & one[:, None] & one[None]


@pytest.mark.parametrize("seed", range(2))
def test_the_completion_is_the_least_squares_fit_of_the_known_entries(seed):
    X, groups = mixture(seed=seed)
    v = np.random.default_rng(seed).integers(1, 4, size=len(X)).astype(float)
    moments = ProductMoments.from_data(X, n_components=2, groups=groups, sample_weight=v)
    v = v / v.sum()
    known = np.einsum("n,na,nb->ab", v, X, X) * distinct(groups, 2)
    M2 = moments.m2 @ np.eye(9)

    def residual(U):
        U = U.reshape(9, 2)
        return ((U @ U.T - known) * distinct(groups, 2)).ravel()

    values, vectors = np.linalg.eigh(M2)
    at = vectors[:, -2:] * np.sqrt(values[-2:])
    best = least_squares(residual, at.ravel() + 0.01, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    np.testing.assert_allclose(np.sum(residual(at.ravel()) ** 2) / 2, best.cost, rtol=1e-6)

    Q = vectors[:, -2:]
    M3 = np.einsum("n,na,nb,nc->abc", v, X, X, X) * distinct(groups, 3)
    basis = np.einsum("ai,bj,cl->abcijl", Q, Q, Q).reshape(729, 8)
    mask = distinct(groups, 3).ravel()
    core = np.linalg.lstsq(basis[mask], M3.ravel()[mask], rcond=None)[0]
    np.testing.assert_allclose(moments.m3_dense(), (basis @ core).reshape(9, 9, 9), atol=1e-5)


@pytest.fixture(scope="module")
def large():
    return mixture(60_000, seed=5)


def test_means_and_variances_are_estimated_without_bias(large):
    """Within six standard errors of a mean over the smaller component, 0.4 n samples."""
    X, groups = large
    found = decomposition.sidiwo(ProductMoments.from_data(X, n_components=2, groups=groups), 2)
    low, high = found.centers[:, np.argsort(found.centers[0])].T
    tolerance = 6 * np.sqrt(3.0) / np.sqrt(0.4 * len(X))
    np.testing.assert_allclose(low[[0, 2, 3, 6]], [-1, -0.5, 0.3, 0.2 + 0.8 / 3], atol=tolerance)
    np.testing.assert_allclose(high[[0, 2, 3, 6]], [1, 0.5, 0.8, 0.7 + 0.3 / 3], atol=tolerance)
    np.testing.assert_allclose(low[1] - low[0] ** 2, 1.0, atol=3 * tolerance)


def test_missing_values_leave_the_moments_unbiased(large):
    X, groups = large
    gaps = np.random.default_rng(0).random(X.shape) < 0.3
    gaps[:, 1], gaps[:, 7], gaps[:, 8] = gaps[:, 0], gaps[:, 6], gaps[:, 6]
    whole = ProductMoments.from_data(X, n_components=2, groups=groups)
    some = ProductMoments.from_data(np.where(gaps, np.nan, X), n_components=2, groups=groups)
    assert np.abs(some.m2 @ np.eye(9) - whole.m2 @ np.eye(9)).max() < 0.05
    found, base = decomposition.sidiwo(some, 2), decomposition.sidiwo(whole, 2)
    assert error(found, base.weights, base.centers.T) < 0.15


def test_weights_are_copies_and_order_and_form_do_not_matter():
    X, groups = mixture(120)
    rng = np.random.default_rng(1)
    v = rng.integers(1, 4, size=120)
    base = ProductMoments.from_data(X, n_components=2, groups=groups, sample_weight=v)
    order = rng.permutation(np.repeat(np.arange(120), v))
    for form in (X[order], sp.csc_array(X[order])):
        found = ProductMoments.from_data(form, n_components=2, groups=groups)
        np.testing.assert_allclose(found.m3_dense(), base.m3_dense(), atol=1e-4)


def test_products_do_not_need_dense_blocks_of_large_groups():
    """A group of more than 256 columns is never a dense matrix; columns of zeros change nothing."""
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=300)
    views = [rng.poisson(rng.gamma(1.0, size=(2, 4))[y]) for _ in range(3)]
    wide = [np.pad(x, [(0, 0), (0, 300)]) for x in views]
    one = ProductMoments.from_data(
        np.hstack(views), n_components=2, groups=np.repeat(np.arange(3), 4)
    )
    two = ProductMoments.from_data(
        sp.csr_array(np.hstack(wide)), n_components=2, groups=np.repeat(np.arange(3), 304)
    )
    at = np.concatenate([np.arange(4) + 304 * i for i in range(3)])
    np.testing.assert_allclose(
        (two.m2 @ np.eye(912))[np.ix_(at, at)], one.m2 @ np.eye(12), atol=1e-3
    )


X = np.eye(4)


@pytest.mark.parametrize(
    ("call", "kind", "code"),
    [
        (
            lambda: ProductMoments.from_data(X[:, :2], n_components=1),
            InvalidDataError,
            "too_few_groups",
        ),
        (
            lambda: ProductMoments.from_data(X, n_components=1, groups=[0, 0, 1, 1]),
            InvalidDataError,
            "too_few_groups",
        ),
        (
            lambda: ProductMoments.from_data(X, n_components=1, groups=[0, 1]),
            InvalidDataError,
            "wrong_shape",
        ),
        (
            lambda: ProductMoments.from_data(X, n_components=0),
            InvalidParameterError,
            "not_a_number",
        ),
        (
            lambda: ProductMoments.from_data(X * np.nan, n_components=1),
            InvalidDataError,
            "never_observed",
        ),
        (
            lambda: ProductMoments.from_parameters([1.0], [[1, np.inf, 2]]),
            InvalidDataError,
            "not_finite",
        ),
        (
            lambda: ProductMoments.from_parameters([0.5], [[1, 2, 2]]),
            InvalidDataError,
            "not_a_distribution",
        ),
    ],
)
def test_bad_input_is_refused(call, kind, code):
    with np.errstate(invalid="ignore"), raises(kind, code):
        call()


def test_equal_rows_have_one_component():
    found = decomposition.sidiwo(ProductMoments.from_data(np.ones((5, 4)), n_components=2), 2)
    assert found.n_components <= 2
    assert np.isfinite(found.centers).all()
