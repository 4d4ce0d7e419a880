"""L Hsu and Kakade 2013: moments of mixtures of spherical Gaussians."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree import decomposition
from momentree.datasets import make_spherical_gaussians
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.moments import SphericalGaussianMoments
from momentree.parameters import spherical_gaussian_parameters
from momentree.whitening import whiten
from tests.raising import raises

FORMS = [(k, variances) for k in (None, 2) for variances in ("shared", "own")]


def literal(X, v, k, variances, centered):
    """The theorem in the form of the lecture, entry by entry; k averages over eigenvectors."""
    n, d = X.shape
    v = v / v.sum()
    mean = sum(v[i] * X[i] for i in range(n))
    S = sum(v[i] * np.outer(X[i] - mean, X[i] - mean) for i in range(n))
    values, U = np.linalg.eigh(S)
    noise = 1 if k is None else d - k + 1
    variance = values[:noise].mean()
    Y, e = X, np.eye(d)
    if centered:
        Y = np.hstack([X - mean, np.full((n, 1), np.sqrt(values[-1]))])
        e = np.eye(d, d + 1)
    M1 = sum(v[i] * Y[i] for i in range(n))
    m = variance * M1
    if variances == "own":
        m = sum(
            v[i] * Y[i] * (U[:, a] @ (X[i] - mean)) ** 2 / noise
            for i in range(n)
            for a in range(noise)
        )
    M2 = sum(v[i] * np.outer(Y[i], Y[i]) for i in range(n)) - variance * e.T @ e
    M3 = sum(v[i] * np.einsum("a,b,c->abc", Y[i], Y[i], Y[i]) for i in range(n))
    for a in e:
        M3 -= np.einsum("a,b,c->abc", m, a, a)
        M3 -= np.einsum("a,b,c->abc", a, m, a)
        M3 -= np.einsum("a,b,c->abc", a, a, m)
    return M1, M2, M3


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize(("k", "variances"), FORMS)
def test_moments_are_those_of_the_theorem(k, variances, centered):
    rng = np.random.default_rng(3)
    X, v = rng.normal(size=(9, 4)) + 2.0, rng.uniform(1, 3, size=9)
    moments = SphericalGaussianMoments.from_data(
        X, n_components=k, variances=variances, centered=centered, sample_weight=v
    )
    M1, M2, M3 = literal(X, v, k, variances, centered)
    np.testing.assert_allclose(moments.m1, M1, atol=1e-12)
    np.testing.assert_allclose(moments.m2 @ np.eye(len(M1)), M2, atol=1e-12)
    np.testing.assert_allclose(moments.m3_dense(), M3, atol=1e-11)


def test_of_many_features_only_the_largest_eigenvectors_are_computed():
    X = np.random.default_rng(0).normal(size=(150, 70)) * np.geomspace(4, 1, 70)
    moments = SphericalGaussianMoments.from_data(X, n_components=3, variances="own", centered=True)
    values, U = np.linalg.eigh(np.cov(X.T, bias=True))
    Y = (X - X.mean(axis=0)) @ U[:, :-2]
    assert moments.variance == pytest.approx(values[:-2].mean(), rel=1e-9)
    g = ((X - X.mean(axis=0)) * np.square(Y).mean(axis=1)[:, None]).mean(axis=0)
    np.testing.assert_allclose(moments.weighted_variances[:-1], g, atol=1e-6)
    smallest = SphericalGaussianMoments.from_data(X)
    assert smallest.variance == pytest.approx(values[0], rel=1e-6)


def mixture(variances, k=4, d=9, shift=0.0):
    rng = np.random.default_rng(k)
    return rng.dirichlet(np.full(k, 9.0)), rng.normal(size=(k, d)) + shift, np.array(variances)


def points_of(w, mu, s):
    """Weighted points with the first three moments of a mixture of spherical Gaussians.

    Component i has the points mu_i +- sqrt(d s_i) e_a: their third central moments are zero.
    """
    d = mu.shape[1]
    steps = np.sqrt(d) * np.vstack([np.eye(d), -np.eye(d)])
    X = np.concatenate([m + np.sqrt(v) * steps for m, v in zip(mu, s, strict=True)])
    return X, np.repeat(w / (2 * d), 2 * d)


SHARED, OWN = [0.7] * 4, [0.2, 2.0, 0.7, 1.1]
METHODS = ["sidiwo", "svtd", "tensor_power_method", "als", "svd_method", "eigendecomposition",
           "jennrich", "random_projections"]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [None, 4])
@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("s", [SHARED, OWN])
def test_data_with_the_moments_of_a_mixture_return_its_parameters(s, centered, k, method):
    w, mu, s = mixture(s)
    X, v = points_of(w, mu, s)
    variances = "shared" if len(set(s)) == 1 else "own"
    moments = SphericalGaussianMoments.from_data(
        X, n_components=k, variances=variances, centered=centered, sample_weight=v
    )
    found = spherical_gaussian_parameters(moments, getattr(decomposition, method)(moments, 4))
    order = np.argsort(-w)
    np.testing.assert_allclose(found.weights, w[order], atol=1e-6)
    np.testing.assert_allclose(found.centers.T, mu[order], atol=1e-6)
    np.testing.assert_allclose(found.variances, s[order], atol=1e-6)


@pytest.mark.parametrize("centered", [False, True])
def test_exact_moments_are_those_of_data_with_the_same_moments(centered):
    w, mu, s = mixture(OWN)
    X, v = points_of(w, mu, s)
    exact = SphericalGaussianMoments.from_parameters(w, mu, s, centered=centered)
    data = SphericalGaussianMoments.from_data(
        X, variances="own", centered=centered, sample_weight=v
    )
    np.testing.assert_allclose(exact.m1[:9], data.m1[:9], atol=1e-12)
    np.testing.assert_allclose(exact.m3_dense()[:9, :9, :9], data.m3_dense()[:9, :9, :9], atol=1e-9)
    np.testing.assert_allclose(exact.shift, data.shift, atol=1e-12)
    assert exact.variance == pytest.approx(data.variance)
    found = spherical_gaussian_parameters(exact, decomposition.sidiwo(exact, 4))
    np.testing.assert_allclose(np.sort(found.variances), np.sort(s), atol=1e-6)


def test_means_on_a_line_through_the_origin_need_centered_moments():
    w, mu, s = np.array([0.5, 0.3, 0.2]), np.outer([1.0, 2.0, -1.0], np.ones(6)), np.full(3, 0.5)
    mu[1, 0] += 3.0  # three points of a plane that contains the origin
    X, v = points_of(w, mu, s)
    raw = SphericalGaussianMoments.from_data(X, sample_weight=v)
    assert whiten(raw, 3).rank == 2
    centered = SphericalGaussianMoments.from_data(X, sample_weight=v, centered=True)
    found = spherical_gaussian_parameters(centered, decomposition.sidiwo(centered, 3))
    np.testing.assert_allclose(found.centers.T, mu, atol=1e-6)


@pytest.mark.parametrize("shift", [1e3, 1e6])
def test_centered_moments_move_with_the_data(shift):
    X = make_spherical_gaussians(300, 6, 3, random_state=0).X
    found = []
    for move in (0.0, shift):
        moments = SphericalGaussianMoments.from_data(
            X + move, n_components=3, variances="own", centered=True
        )
        found.append(spherical_gaussian_parameters(moments, decomposition.sidiwo(moments, 3)))
    # The sums of X lose digits in proportion to the shift.
    np.testing.assert_allclose(found[1].centers - shift, found[0].centers, atol=1e-11 * shift)
    np.testing.assert_allclose(found[1].variances, found[0].variances, atol=1e-11 * shift)


@pytest.mark.parametrize("centered", [False, True])
def test_sparse_data_give_the_moments_of_dense_data(centered):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 7)) * (rng.random((40, 7)) < 0.3)
    sparse, dense = (
        SphericalGaussianMoments.from_data(T, n_components=2, variances="own", centered=centered)
        for T in (sp.coo_array(X), X + 1e-300)  # of which all values are stored
    )
    np.testing.assert_allclose(sparse.m3_dense(), dense.m3_dense(), atol=1e-13)
    eye = np.eye(len(sparse.m1))
    np.testing.assert_allclose(sparse.m2 @ eye, dense.m2 @ eye, atol=1e-14)


def test_the_error_falls_with_the_root_of_the_number_of_samples():
    w, mu, s = mixture(OWN, d=6)
    exact = SphericalGaussianMoments.from_parameters(w, mu, s).m3_dense()
    sizes, errors = [300, 1_800, 10_800], []
    for n in sizes:
        each = []
        for seed in range(12):
            sample = make_spherical_gaussians(
                n, 6, 4, weights=w, means=mu, variances=s, random_state=seed
            )
            moments = SphericalGaussianMoments.from_data(sample.X, n_components=4, variances="own")
            each.append(np.linalg.norm(moments.m3_dense() - exact))
        errors.append(np.mean(each))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    # Means of 12 errors, each with a spread of a third: 0.1 per mean, over log 36.
    assert -0.56 < slope < -0.44


@pytest.mark.parametrize("variances", ["shared", "own"])
def test_more_eigenvectors_than_one_reduce_the_error(variances):
    """The smallest of sixteen equal eigenvalues is too small; their mean is not."""
    s = 1.0 if variances == "shared" else [0.5, 1.0, 1.5, 1.0, 1.0]
    errors = {None: [], 5: []}
    for seed in range(3):
        sample = make_spherical_gaussians(2000, 20, 5, variances=s, random_state=seed)
        exact = SphericalGaussianMoments.from_parameters(
            sample.weights, sample.means, sample.variances
        )
        for k, found in errors.items():
            moments = SphericalGaussianMoments.from_data(
                sample.X, n_components=k, variances=variances
            )
            found.append(abs(moments.variance - exact.variance))
    # 16 variances of 2,000 samples; the smallest eigenvalue of 16 is (1 - (16 / 2000)^(1/2))^2.
    assert max(errors[5]) < 4 * 1.1 * np.sqrt(2 / (16 * 2000))
    assert min(errors[None]) > 0.1


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((4, 3)),
        np.ones((1, 3)),
        np.array([[0.0, 1.0, 2.0]] * 5 + [[1e12, 0.0, 1.0]]),
        np.hstack([np.random.default_rng(0).normal(size=(9, 1))] * 3),
    ],
    ids=["zeros", "one row", "outlier", "collinear"],
)
def test_degenerate_data_give_finite_moments(X):
    moments = SphericalGaussianMoments.from_data(X, n_components=2, variances="own", centered=True)
    assert np.isfinite(moments.m3_dense()).all()
    found = decomposition.sidiwo(moments, 2)
    parameters = spherical_gaussian_parameters(moments, found)
    assert np.isfinite(parameters.centers).all()
    assert (parameters.variances > 0).all()


@pytest.mark.parametrize(
    ("call", "error", "code"),
    [
        (lambda f: f([[np.nan, 1.0]]), InvalidDataError, "missing_in_moments"),
        (lambda f: f([[np.inf, 1.0]]), InvalidDataError, "infinite_value"),
        (lambda f: f([[1e101, 1.0]]), InvalidDataError, "huge_value"),
        (lambda f: f(np.ones((3, 2)), n_components=3), InvalidDataError, "no_eigenvalue_is_noise"),
        (lambda f: f([[1.0]], variances="all"), InvalidParameterError, "not_a_choice"),
        (lambda f: f([[1.0]], n_components=0), InvalidParameterError, "not_a_number"),
        (lambda f: f([[1.0]], centered="yes"), InvalidParameterError, "not_a_flag"),
        (lambda f: f(np.ones((0, 2))), InvalidDataError, "refused_by_sklearn"),
    ],
)
def test_bad_data_are_refused(call, error, code):
    with raises(error, code):
        call(SphericalGaussianMoments.from_data)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (([0.5, 0.4], np.eye(2), 1.0), "not_a_distribution"),
        (([1.0], [[np.nan]], 1.0), "not_finite"),
        (([1.0], [[1.0]], 0.0), "not_positive"),
        (([1.0], [[1.0]], [1.0, 1.0]), "wrong_shape"),
        (([1.0], [1.0], 1.0), "wrong_shape"),
    ],
)
def test_bad_parameters_are_refused(arguments, code):
    with raises(InvalidDataError, code):
        SphericalGaussianMoments.from_parameters(*arguments)
